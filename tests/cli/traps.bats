# Silent traps in tables: rows that go, labels that become coordinates, a header
# that becomes a row, and files that are not read as they were meant.
load helper

nan_table() {
    printf 'x,y,z\n1,2,0.5\nnan,4,1.5\n5,6,1\n7,inf,0\n9,1,1\n2,2,0\n' >n.csv
}

# bats test_tags=slow
@test "embed --nan drop says how many rows went, and which" {
    nan_table
    ny embed n.csv -o out.csv --nan drop
    exits 0
    says "n.csv: 2 rows with NaN or infinity are left out: lines 3, 5"
    [ "$(wc -l <out.csv)" -eq 4 ]
    ny embed n.csv -o out.csv --nan drop --json
    [ "$(field "$output" dropped)" = 2 ]
    [[ ${output//[[:space:]]/} == *'"dropped_rows":[1,3]'* ]]
    ny embed n.csv -o out.csv --nan drop --online --select greedy --tolerance 0.01 --json
    exits 0
    [ "$(field "$output" dropped)" = 2 ]
    sed -i '/nan\|inf/d' n.csv
    ny embed n.csv -o out.csv --json
    [ "$(field "$output" dropped)" = 0 ]
    [[ ${output//[[:space:]]/} == *'"dropped_rows":[]'* ]]
}

@test "import --nan drop says it, too, of every kind of file" {
    nan_table
    ny import s n.csv --nan drop
    says "n.csv: 2 rows with NaN or infinity are left out: lines 3, 5"
    ny import j n.csv n.csv --nan drop --json
    [ "$(field "$output" dropped)" = 4 ]
    [[ ${output//[[:space:]]/} == *'"dropped_rows":[1,3,7,9]'* ]]
    printf '1 1:1\n1 1:nan 2:3\n1 2:1\n' >n.svm
    ny import l n.svm --nan drop
    says "n.svm: 1 row with NaN or infinity is left out: line 2"
    { npy_u8 1 4 | sed 's/|u1/<f4/; s/(1, 4)/(2, 2)/' | head -c 128; printf '\0\0\300\177\0\0\0\0\0\0\0\0\0\0\200\77'; } >n.npy
    ny import b n.npy --nan drop
    says "n.npy: 1 row with NaN or infinity is left out: row 0 (from 0)"
    seq 1 20 | awk '{print NR % 2 ? "nan,1" : NR ",2"}' >many.csv
    ny import m many.csv --nan drop
    says "10 rows with NaN or infinity are left out: lines 1, 3, 5, 7, 9, …"
}

@test "embed --nan keep: the output has the rows of the input" {
    nan_table
    nystream embed n.csv -o drop.csv --nan drop -q
    ny embed n.csv -o keep.csv --nan keep
    exits 0
    says "n.csv: 2 rows with NaN or infinity kept as NaN: lines 3, 5"
    [ "$(wc -l <keep.csv)" -eq 6 ]
    [ "$(sed -n '2p;4p' keep.csv | tr -d -- - | sort -u)" = nan,nan ]
    sed '2d;4d' keep.csv | cmp - drop.csv
    ny embed n.csv -o keep.npy --nan keep --precision f64 --json
    [[ $(npy_header keep.npy) == *"'<f8'"*"(6, 2)"* ]]
    [ "$(field "$output" dropped)" = 2 ]
    ny embed n.csv -o all.npy --nan keep -q --columns z
    [[ $(npy_header all.npy) == *"(6, 2)"* ]]
    printf '1,2\n3,4\nnan,1\n8,9\nnan,nan\n' >end.csv # missing rows at the end
    nystream embed end.csv -o end-out.csv --nan keep -q
    [ "$(wc -l <end-out.csv)" -eq 5 ]
    ny embed n.csv -o none.csv
    exits 3
    says "'nan' is not a finite number; --nan drop leaves such rows out"
}

@test "transform --nan keep: new rows without a place are NaN, and have no cluster" {
    table 5000 4 9 >t.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 40 -q
    nystream eval s a --measures clusters --clusters 3 -q >/dev/null
    nystream export s a --part model -o a.nym -q
    # Rows at the ends, side by side, in the last unit, and around whole ones.
    awk -F, -v OFS=, 'NR==1 || NR==2 || NR==7 || NR==4096 || NR==4097 || NR==5000 {$2 = "nan"} 1' \
        t.csv >holes.csv
    awk -F, '$2 != "nan"' holes.csv >whole.csv
    for placer in "s a" a.nym; do
        for threads in 1 3; do
            ny transform $placer --input holes.csv -o kept.csv --nan keep --threads $threads
            exits 0
            says "holes.csv: 6 rows with NaN or infinity kept as NaN: lines 1, 2, 7, 4096, 4097, …"
            [ "$(grep -c 'kept as NaN' <<<"$stderr")" -eq 1 ]
            nystream transform $placer --input whole.csv -o placed.csv -q
            [ "$(grep -n nan,nan kept.csv | cut -d: -f1 | xargs)" = "1 2 7 4096 4097 5000" ]
            grep -v nan kept.csv | cmp - placed.csv
        done
    done
    nystream transform s a --input holes.csv -o kept.npy --clusters c.csv --nan keep -q
    [[ $(npy_header kept.npy) == *"(5000, 2)"* ]]
    nystream transform s a --input whole.csv -o placed.npy --clusters whole-c.csv -q
    [ "$(grep -c '^-1$' c.csv)" -eq 6 ]
    grep -vx -e -1 c.csv | cmp - whole-c.csv
    ny transform s a --input holes.csv -o no.csv
    [ "$status" -eq 3 ]
    says "holes.csv, line 1, column 2: 'nan' is not a finite number; --nan keep gives such rows NaN"
    ny transform s a --input holes.csv -o no.csv --nan drop
    usage "--nan drop: the output of transform has one row for each row of its input; --nan keep"
    sed 's/^[^,]*/nan/' whole.csv >none.csv
    ny transform s a --input none.csv -o no.csv --nan keep
    [ "$status" -eq 3 ]
    says "each of its 4994 rows holds NaN or Inf, so --nan keep leaves none"
    nystream graph s g -q
    ny transform s g --input holes.csv -o no.npy --nan keep
    usage "--nan keep: 'g' is a graph, and rows with NaN have no neighbors; remove them from the input"
    [ ! -e no.csv ] && [ ! -e no.npy ]
}

@test "embed --nan keep of a graph: rows outside of it are NaN, too" {
    { table 60 2; echo nan,1; table 8 2 | awk -F, '{print $1 + 500 "," $2 + 500}'; } >t.csv
    ny embed t.csv -o out.csv --map isomap --neighbors 6 --nan keep
    exits 0
    [ "$(wc -l <out.csv)" -eq 69 ]
    [ "$(sed -n '61,69p' out.csv | tr -d -- - | sort -u)" = nan,nan ]
}

@test "what was read as what is said" {
    printf 'a,b,c\n1,2,3\n4,5,6\n' >t.csv
    ny import s1 t.csv
    says "t.csv: header: 3 names; columns 1-3"
    ny import s2 t.csv --label-column b --columns a,c
    says "t.csv: header: 3 names; columns 1,3; labels: column 2 ('b')"
    printf '1,2\n3,4\n' >u.csv
    ny import s3 u.csv
    says "u.csv: no header; columns 1-2"
    ny import s4 u.csv -q
    silent
}

@test "transform: rows on another scale are told by their drift" {
    table 400 4 >t.csv
    table 200 4 77 >new.csv
    awk -F, '{for (k = 1; k <= 4; k++) $k *= 1000} {print}' OFS=, new.csv >far.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 60 -q
    nystream export s a --part model -o a.nym
    ny transform s a --input new.csv -o new.npy --json
    exits 0
    [ -z "$stderr" ]
    has_keys "$output" rows drift_trace_error drift_standard_error drift_trace_error_fitted \
        drift_rows seconds
    [ "$(field "$output" rows)" = 200 ]
    awk -v e="$(field "$output" drift_trace_error)" -v f="$(field "$output" drift_trace_error_fitted)" \
        'BEGIN {exit !(e > 0 && e < 0.2 && e < 10 * f)}'
    ny transform s a --input far.csv -o far.npy -q
    exits 0
    says "warning: drift: the landmarks leave out 100 % of the trace of far.csv, far more than of the rows of the fit ("
    says "): are they on the same scale, with the columns in the same order?"
    [ "$(head -c 128 far.npy | wc -c)" -eq 128 ]
    ny transform s a --input far.csv -o far.npy --json
    says '{"warning":'
    awk -v e="$(field "$output" drift_trace_error)" 'BEGIN {exit !(e > 0.99)}'
    ny transform a.nym --input far.csv -o far.npy --json
    says "leave out 100 % of the trace of far.csv"
    [ "$(field "$output" drift_trace_error_fitted)" = null ]
    ny transform a.nym --input new.csv -o new.npy -q
    silent
    ny transform s a --input t.csv -o - --json
    exits 2
    says "--json and -o - both write to the standard output"
}

@test "transform compares new rows with those of the fit, and not with rows appended since" {
    table 400 4 >t.csv
    awk -F, '{for (k = 1; k <= 4; k++) $k *= 1000} {print}' OFS=, t.csv >far.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 60 -q
    ny transform s a --input far.csv -o far.npy --json
    fitted=$(field "$output" drift_trace_error_fitted)
    nystream import s far.csv --append -q
    ny transform s a --input far.csv -o far.npy --json
    [ "$(field "$output" drift_trace_error_fitted)" = "$fitted" ]
    nystream fit s a --update frozen -q
    ny transform s a --input far.csv -o far.npy --json
    [ "$(field "$output" drift_trace_error_fitted)" = "$fitted" ]
    says "far more than of the rows of the fit ("
}

# same_drift NIGHT: transform of these rows says nothing, and finds the drift that the update finds
# which takes them in.
same_drift() {
    local placed updated key
    ny transform s a --input "$1" -o out.npy --json
    exits 0
    [ -z "$stderr" ]
    placed=$output
    nystream import s "$1" --append -q
    ny fit s a --update frozen -q
    exits 0
    [ -z "$stderr" ]
    updated=$(nystream info s a --json)
    [ "$(field "$placed" drift_rows)" = "$(field "$updated" drift_rows)" ]
    for key in drift_trace_error drift_standard_error; do
        awk -v p="$(field "$placed" $key)" -v u="$(field "$updated" $key)" \
            'BEGIN { exit !(p > 0 && (p - u) ^ 2 < 1e-12) }'
    done
}

@test "one outlier among some hundred new rows is no drift, and transform and update agree" {
    table 3000 3 >t.csv
    table 400 3 77 | sed '123s/.*/9,9,9/' >night.csv
    table 5000 3 78 >long.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 300 -q
    same_drift night.csv
    [ "$(field "$(nystream info s a --json)" drift_rows)" = 400 ]
    # The mean alone is far more than that of the fit.
    awk -v e="$(field "$(nystream info s a --json)" drift_trace_error)" \
        -v f="$(field "$(nystream info s a --json)" drift_trace_error_fitted)" \
        'BEGIN { exit !(e > 1e-3 && e > 10 * f) }'
    same_drift long.csv
    awk -v n="$(field "$(nystream info s a --json)" drift_rows)" 'BEGIN { exit !(n >= 1024 && n <= 2048) }'
    # Forty such rows are a drift, to both.
    table 400 3 79 | sed '1~10s/.*/9,9,9/' >bad.csv
    ny transform s a --input bad.csv -o out.npy -q
    exits 0
    says "warning: drift: the landmarks leave out 10 % of the trace of bad.csv, far more than of the rows of the fit ("
    nystream import s bad.csv --append -q
    ny fit s a --update frozen -q
    says "warning: drift: the landmarks leave out 10 % of the trace of the new rows, far more than of the rows of the fit ("
}

@test "transform: drift of many rows, of sparse ones, and of results that have no landmarks" {
    table 9000 3 >t.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 30 --precision f64 -q
    ny transform s a --input t.csv -o out.npy --json # more rows than the sample holds
    [ "$(field "$output" rows)" = 9000 ]
    awk -v n="$(field "$output" drift_rows)" 'BEGIN {exit !(n >= 1024 && n <= 2048)}'
    nystream fit s p --map pca --approx exact -q
    ny transform s p --input t.csv -o out.npy --json # maps of the rows themselves measure all
    [ "$(field "$output" drift_rows)" = 9000 ]
    awk 'BEGIN {for (i = 0; i < 300; i++) print 1, (i % 50 + 1) ":1", (i % 7 + 60) ":2"}' >t.svm
    nystream import sparse t.svm -q
    nystream fit sparse a --landmarks 20 -q
    ny transform sparse a --input t.svm -o out.npy --json
    exits 0
    [ "$(field "$output" drift_rows)" = 300 ]
    table 300 3 >u.csv
    nystream import g u.csv -q
    nystream fit g iso --map isomap --landmarks 30 -q
    ny transform g iso --input u.csv -o out.npy --json
    exits 0
    [ "$(field "$output" drift_trace_error)" = null ]
}

@test "transform: rows on another scale are told by the variance that components leave out" {
    local options share fitted
    table 3000 8 >t.csv
    awk -F, -v OFS=, '{$1 *= 1000; $3 *= 1000} 1' t.csv >far.csv
    awk '{split($0, v, ","); line = 1; for (k = 1; k <= 8; k++) line = line " " k ":" v[k]; print line}' \
        t.csv >t.svm
    nystream import s t.csv -q
    nystream import w t.svm -q
    for options in "s --map pca" "s --map pca --approx projected --landmarks 50" "s --map pca --scale standard" "s --map kpca --kernel linear" \
        "s --map svd --kernel linear" "w --map pca" "w --map kpca --kernel linear" \
        "w --map kpca --kernel cosine" "s --map svd --kernel cosine"; do
        # shellcheck disable=SC2086 # several words
        set -- $options
        nystream fit "$1" m --approx exact "${@:2}" --components 3 --restart -q
        ny transform "$1" m --input t.csv -o out.npy --json # the rows of the fit
        exits 0
        [ -z "$stderr" ]
        share=$(field "$output" drift_trace_error) fitted=$(field "$output" drift_trace_error_fitted)
        printf '%s: %s %s\n' "$options" "$share" "$fitted"
        awk -v e="$share" -v f="$fitted" -v d="$(field "$output" drift_distance)" \
            -v k="$(field "$(nystream info "$1" m --json)" variance_kept)" \
            'BEGIN {exit !((e - f) ^ 2 < 1e-10 && (e + k - 1) ^ 2 < 1e-10 && (d - 1) ^ 2 < 1e-10)}'
        [[ $options == *cosine ]] && continue # all rows have length 1
        ny transform "$1" m --input far.csv -o far.npy -q
        exits 0
        says "warning: drift: far.csv: distances from the mean of the fit are "
        says " times those of its own rows; the components leave out "
        says "are they on the same scale, with the columns in the same order?"
    done
    nystream export s m --part model -o m.nym # a model alone does not know the rows of its fit
    ny transform m.nym --input far.csv -o far.npy --json
    exits 0
    [ "$(field "$output" drift_trace_error)" = null ]
}

@test "transform: rows that updates have placed do not count in the spread of the fit" {
    local name
    table 200 6 >t.csv
    nystream import s t.csv -q
    nystream fit s exact --map pca --approx exact --components 3 -q
    nystream fit s landmarks --map svd --kernel linear --landmarks 6 --components 3 -q
    for _ in {1..11}; do cat t.csv; done | nystream import s - --format csv --append -q
    for name in exact landmarks; do
        nystream fit s $name --update frozen -q
        ny transform s $name --input t.csv -o out.npy --json
        exits 0
        [ -z "$stderr" ]
        awk -v d="$(field "$output" drift_distance)" 'BEGIN {exit !((d - 1) ^ 2 < 1e-8)}'
    done
}

@test "rows that are appended once more are told by their names" {
    { echo cell,a,b; awk -v OFS=, 'BEGIN {for (i = 0; i < 9000; i++) print "c" i, i, i * i % 97}'; } >t.csv
    { echo cell,a,b; awk -v OFS=, 'BEGIN {for (i = 8990; i < 9050; i++) print "c" i, i, i * i % 97}'; } >next.csv
    nystream import s t.csv --id-column cell -q
    ny import s next.csv --id-column cell --append
    exits 0
    says "10 of the 60 rows to append have names that rows of s already have, the first of them 'c8990'"
    says "takes the new rows out again; --expect-rows refuses rows that come twice"
    [[ $stderr != *warning* ]]
    { echo cell,a,b; for i in {1..30}; do echo "c$i,$i,7"; done; for i in {1..60}; do echo "d$i,$i,7"; done; } >third.csv
    cp -r s some
    ny import some third.csv --id-column cell --append --expect-rows 9060 -q
    says "warning: 30 of the 90 rows to append have names that rows of some already have, the first of them 'c"
    [[ $stderr != *"--expect-rows"* ]]
    ny import s t.csv --id-column cell --append --shuffle -q
    exits 0
    says "warning: 9000 of the 9000 rows to append have names that rows of s already have"
    says "the first of them 'c0': were they appended before?"
    says "were they appended before? If so, 'nystream truncate s --keep 9060' takes the new rows out"
    sed 's/^c/d/' t.csv | sed '1s/.*/cell,a,b/' >other.csv
    ny import s other.csv --id-column cell --append
    exits 0
    [[ $stderr != *"appended before"* ]]
}

@test "new rows on another scale: maps of a graph warn of it, too" {
    table 400 3 >t.csv
    nystream import s t.csv -q
    nystream fit s flat --map isomap --landmarks 40 --connect -q
    nystream fit s open --map eigenmaps --connect --edge-weights binary -q
    awk -F, -v OFS=, '{for (i = 1; i <= NF; i++) $i += 0.001} 1' t.csv >near.csv
    awk -F, -v OFS=, '{for (i = 1; i <= NF; i++) $i *= 1000} 1' t.csv >units.csv
    awk -F, -v OFS=, 'NR <= 190 {for (i = 1; i <= NF; i++) $i *= 1000} 1' t.csv >some.csv
    for name in flat open; do
        for file in near some; do
            ny transform s $name --input $file.csv -o o.csv
            exits 0
            [[ $stderr != *"same scale"* ]]
        done
        ny transform s $name --input units.csv -o o.csv
        exits 0
        says "of 400 new rows are over 4 times as far from the nearest row of '$name' as its rows are"
        says "are they on the same scale, with the columns in the same order?"
    done
}

# times FACTOR IN OUT: writes a table with all numbers times a factor.
times() {
    awk -F, -v OFS=, -v f="$1" '{for (i = 1; i <= NF; i++) $i *= f} 1' "$2" >"$3"
}

# quiet_about_lengths STORE NAME FILE: these rows are as long as those of the fit.
quiet_about_lengths() {
    ny transform "$1" "$2" --input "$3" -o o.csv
    exits 0
    [[ $stderr != *"of the length that nearly all"* ]]
}

@test "new rows on a smaller scale are told by their lengths" {
    awk 'BEGIN {srand(1); for (i = 0; i < 600; i++) {
        for (k = 0; k < 12; k++) printf "%s%.4f", k ? "," : "", 3 * (k % 3 == i % 3) + 2 * rand()
        print ""}}' >all.csv
    head -n 400 all.csv >t.csv
    tail -n 200 all.csv >held.csv
    times 0.1 held.csv small.csv
    nystream import s t.csv -q
    nystream fit s rbf --landmarks 100 -q
    nystream fit s linear --kernel linear --landmarks 12 -q
    nystream fit s pca --map pca --approx exact -q
    nystream fit s cosine --kernel cosine --landmarks 50 -q
    nystream export s rbf --part model -o rbf.nym -q
    for name in rbf linear pca; do
        quiet_about_lengths s $name held.csv
        awk 'NR % 3 == 0' held.csv >one.csv # of one cluster
        quiet_about_lengths s $name one.csv
        head -n 10 small.csv >few.csv
        quiet_about_lengths s $name few.csv
        ny transform s $name --input small.csv -o o.csv -q
        exits 0
        says "warning: half of the rows of small.csv have at most 1/"
        says "of the length that nearly all rows of the fit (19 in 20) have: are they on the same scale?"
    done
    quiet_about_lengths s cosine small.csv # which has no lengths
    ny transform rbf.nym --input held.csv -o o.csv
    exits 0
    [[ $stderr != *"of the length that nearly all"* ]]
    ny transform rbf.nym --input small.csv -o o.csv
    exits 0
    says "half of the rows of small.csv have at most 1/"
    # rows near the origin are short in the fit, too
    awk -F, -v OFS=, 'NR % 3 == 0 {for (i = 1; i <= NF; i++) $i *= 0.1} 1' t.csv >some.csv
    nystream import near some.csv -q
    nystream fit near rbf --landmarks 100 -q
    quiet_about_lengths near rbf one.csv
    quiet_about_lengths near rbf small.csv
}

@test "a test that reads files of NYSTREAM_DATA takes an empty name for none" {
    local program=$NYSTREAM_BUILD/tests/unit/test_reader_text
    [ ! -x "$program" ] || NYSTREAM_DATA='' "$program" >/dev/null 2>&1
    # each test, tool and page that reads it, by shell or Python, has another name where it is empty
    cd "$BATS_TEST_DIRNAME/../.."
    run grep -rnE '\$\{NYSTREAM_DATA-\}/|environ.get\("NYSTREAM_DATA", ' tests/bench tests/cli tests/long \
        tests/python src/guide data-tools --exclude=traps.bats
    [ "$status" = 1 ]
}
