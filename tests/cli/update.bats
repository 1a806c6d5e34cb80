# Tests fit --update: a store that grows, and a result that follows it.
load helper

# grown: a.nys with a result r of 300 rows, and 200 more rows.
grown() {
    store a.nys 300
    nystream fit a.nys r --landmarks 40 --quiet "$@"
    table 200 4 77 >more.csv
    nystream import a.nys more.csv --append --quiet
}

@test "frozen leaves old rows as they are and places new ones as transform does" {
    grown
    nystream export a.nys r -o before.csv
    ny -0 fit a.nys r --update frozen -v
    says "select and solve: nothing" "drift of the new rows from the rows of the fit: 0."
    nystream export a.nys r -o after.csv
    [ "$(wc -l <after.csv)" -eq $(($(wc -l <before.csv) + 200)) ]
    cmp before.csv <(head -n "$(wc -l <before.csv)" after.csv)
    nystream transform a.nys r --input more.csv -o placed.csv
    cmp <(tail -n 200 after.csv) <(tail -n 200 placed.csv)
}

@test "the report has this run's figures, and totals" {
    grown
    ny -0 fit a.nys r --update frozen --json
    has_keys "$output" mode landmarks_added updates total_rows_read total_flops total_seconds \
        drift_trace_error drift_residual_share drift_rows
    fields n=500 mode=frozen updates=1 drift_rows=200
    [ "$(field "$output" rows_read)" -le 400 ]
    [ "$(field "$output" total_rows_read)" -gt "$(field "$output" rows_read)" ]
    has "a.nys r" n=500
}

@test "a frozen update is taken back by the model, which it has not changed" {
    grown
    nystream export a.nys r -o before.csv -q
    nystream fit a.nys r --update frozen -q
    nystream export a.nys r --part model -o r.nym -q
    ny -2 truncate a.nys --keep 300 -q
    nystream truncate a.nys --keep 300 --drop-results -q
    nystream fit a.nys r --model r.nym -q
    within 1e-5 before.csv <(shown "a.nys r")
    nystream import a.nys more.csv --append -q
    ny -0 fit a.nys r --update frozen -q
    [ "$(field "$(nystream info a.nys r --json)" n)" = 500 ]
    table 200 4 9 | awk -F, -v OFS=, '{ for (k = 1; k <= NF; k++) $k = 90 + 90 * $k } 1' >far.csv
    nystream import a.nys far.csv --append -q 2>/dev/null
    ny export a.nys r -o behind.csv
    ny -0 fit a.nys r --update frozen # the only update of a model from elsewhere
    says "if they are right, a new fit of all rows takes them into its model"
    [[ $stderr != *"--update full"* ]]
    shows "made with             nystream fit a.nys r --model r.nym -q" info a.nys r
}

# as_from_scratch OPTION…: result r of a.nys is that of a fit with these options.
as_from_scratch() {
    nystream fit a.nys s "$@" --quiet
    agree "within 1e-5" "export a.nys r" "export a.nys s"
    same_exports "a.nys r --part landmarks" "a.nys s --part landmarks"
    nystream rm a.nys s
}

@test "full gives what a fit of all rows gives" {
    grown --gamma 2 --select uniform --precision f64 --kernel rbf
    ny -0 fit a.nys r --update full --json
    [ "$(field "$output" mode)" = full ]
    as_from_scratch --landmarks 40 --gamma 2 --select uniform --precision f64
}

# bats test_tags=slow
@test "full sums up rows of another scale as precisely as a fit of all rows" {
    local options="--map svd --kernel linear --approx projected --landmarks-file four.csv"
    seq 0 3 >four.csv # the landmarks span columns 1 to 4: half of the first rows, all of the later ones
    table 36864 8 3 | awk -F, -v OFS=, 'NR <= 4 { $5 = $6 = $7 = $8 = 0 } 1' >first.csv
    awk -F, -v OFS=, '{ for (j = 1; j <= 8; j++) $j *= j > 4 ? 0 : 100 } 1' first.csv >later.csv
    nystream import a.nys first.csv --dtype f32 -q
    ny fit a.nys r $options --json
    [ "$(field "$output" gram_precision)" = f32 ]
    nystream import a.nys later.csv --append -q
    ny -0 fit a.nys r --update full --json
    [ "$(field "$output" gram_precision)" = f64 ]
    nystream fit a.nys s $options -q
    same_exports "a.nys r" "a.nys s"
    # f32 rows that are added to sums in f32 stay so where a fit of all of them is in f32.
    nystream import b.nys first.csv --dtype f32 -q
    nystream fit b.nys r $options -q
    nystream import b.nys first.csv --append -q
    ny fit b.nys r --update full --json
    [ "$(field "$output" gram_precision)" = f32 ]
}

@test "residuals that a full update does not measure are no longer told of" {
    table 3000 3 | nystream import a.nys - --format csv --quiet
    nystream fit a.nys r --landmarks 100 --quiet
    [ "$(field "$(nystream info a.nys r --json)" residual_max)" != null ]
    table 300 3 9 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j *= 40 } 1' |
        nystream import a.nys - --format csv --append --quiet
    ny -0 fit a.nys r --update full --quiet
    [ "$(field "$(nystream info a.nys r --json)" residual_max)" = null ]
    ny -0 report a.nys -o page.html
    usage "has no residuals" plot a.nys r --color residual -o r.png
    usage "has no residuals" export a.nys r --part residuals -o residuals.npy
    nystream verify a.nys
}

@test "full takes in the rows that frozen updates have placed, also when none are new" {
    for select in rpcholesky uniform "greedy --tolerance 0.1"; do
        rm -rf a.nys
        case $select in greedy*) set -- ;; *) set -- --landmarks 40 ;; esac
        set -- "$@" --gamma 2 --precision f64 --select $select
        store a.nys 300
        nystream fit a.nys r "$@" -q
        table 200 4 77 >more.csv
        nystream import a.nys more.csv --append -q
        nystream fit a.nys r --update frozen -q
        ny -0 fit a.nys r --update full --json
        fields mode=full updates=2
        as_from_scratch "$@"
        ny fit a.nys r --update full
    done
}

@test "options come from the result; one that differs is refused with the difference" {
    grown
    usage "landmarks: 40 → 41" fit a.nys r --update full --landmarks 41
    usage "kernel: rbf → linear" fit a.nys r --update full --kernel linear
    ny -0 fit a.nys r --update full --landmarks 40 --kernel rbf
}

@test "an update needs no file of the fit" {
    store a.nys 300
    seq 0 10 290 >rows.txt
    nystream fit a.nys r --landmarks-file rows.txt -q
    table 200 4 77 >more.csv
    nystream import a.nys more.csv --append -q
    usage "(landmarks-file: rows.txt → ./rows.txt)" fit a.nys r --update full --landmarks-file ./rows.txt
    rm rows.txt # which the result has kept
    ny -0 fit a.nys r --update full --landmarks-file rows.txt
    [ "$(field "$(nystream info a.nys r --json)" updates)" = 1 ]
}

@test "without new rows nothing changes" {
    store a.nys 300
    nystream fit a.nys r --landmarks 40 --quiet
    nystream export a.nys r -o before.csv
    ny -0 fit a.nys r --update full
    writes before.csv "a.nys r"
    has "a.nys r" updates=0
}

@test "there must be a result to update, and one that can be" {
    store a.nys 300
    usage "nothing" fit a.nys nothing --update full
    nystream select a.nys d --landmarks 10 --quiet
    usage "dictionary" fit a.nys d --update full
    nystream graph a.nys g --quiet
    ny -2 fit a.nys g --update full
    ny -2 fit a.nys r --update sometimes
    nystream fit a.nys r --landmarks 20 --quiet
    usage --restart fit a.nys r --update full --restart
    ny -2 plan a.nys --update full
    nystream fit a.nys w --approx randomized --quiet
    table 50 4 78 >more.csv
    nystream import a.nys more.csv --append --quiet
    usage "--update full" fit a.nys w --update frozen
}

@test "a map of a graph of the store says that the graph is to be made again first" {
    store s 400 3
    nystream graph s near --neighbors 5 --connect -q
    nystream fit s map --map eigenmaps --graph near -q
    table 100 3 5 >more.csv
    nystream import s more.csv --append -q
    ny -0 fit s map
    nystream graph s near --restart -q
    nystream fit s map --restart -q
    ny -0 fit s map
    [[ $stderr != *lacks* ]]
}

@test "whoever looks at a result that lacks rows is told of them" {
    local lacks="warning: 'r' lacks 200 rows that were appended since"
    grown
    has "a.nys r" rows_behind=200
    ny list a.nys
    [ "$output" = $'r\tdone\tlacks 200 rows appended since' ]
    ny list a.nys --json
    [[ $output == *'"resume": null, "map": '*', "rows_behind": 200}'* ]]
    for verb in "plot a.nys r -o r.png" "export a.nys r -o r.npy" "report a.nys r -o r.html" \
        "export a.nys r -o r.csv --with header"; do
        ny -0 $verb
        [ "$(grep -c lacks <<<"$stderr")" -eq 1 ]
    done
    ny export a.nys r --part eigenvalues -o values.npy
    [[ $stderr != *lacks* ]]
    nystream fit a.nys r --update frozen -q
    ny info a.nys r --json
    [[ $output != *rows_behind* ]]
    [ "$(nystream list a.nys)" = $'r\tdone' ]
    ny plot a.nys r -o r.png
    [[ $stderr != *lacks* ]]
    # A graph cannot be updated, and roads.nys has no points at all.
    nystream graph a.nys near -q
    nystream fit a.nys sheet --map isomap --landmarks 30 --connect -q
    table 50 4 78 >later.csv
    nystream import a.nys later.csv --append -q
    ny graph a.nys near
    ny plot a.nys sheet -o s.png
    printf '0 1\n1 2\n2 0\n' >edges.txt
    nystream graph roads.nys roads --edges edges.txt -q
    ny info roads.nys roads --json
    [[ $output != *rows_behind* ]]
}

@test "a budget that is too small is refused, and the result is as it was" {
    grown
    nystream export a.nys r -o before.csv
    ny -8 fit a.nys r --update full --memory 8M
    writes before.csv "a.nys r"
    ny -0 fit a.nys r --update full
}

# nan_rows FILE.csv: prints how many rows have no numbers.
nan_rows() {
    grep -ci nan "$1" || true
}

# bats test_tags=slow
@test "a row that no landmark reaches has no coordinates, and later nights go on" {
    store a.nys 300
    printf '900,900,900,900\n' >far.csv
    table 50 4 5 >good.csv
    for map in laplacian diffusion; do
        nystream fit a.nys $map --map $map --components 2 --landmarks 100 --gamma 1 --quiet
    done
    nystream import a.nys far.csv --append --header no --quiet
    for map in laplacian diffusion; do
        ny -0 fit a.nys $map --update frozen --quiet
        says "1 of 1 rows, the first of them row 300, are too far from all landmarks"
        [ "$(field "$(nystream info a.nys $map --json)" rows_unreached)" = 1 ]
    done
    nystream import a.nys good.csv --append --quiet
    ny -0 fit a.nys laplacian --update frozen --quiet
    [[ $stderr != *"too far from all landmarks"* ]]
    [ "$(field "$(nystream info a.nys laplacian --json)" rows_unreached)" = 1 ]
    nystream export a.nys laplacian -o all.csv --quiet
    [ "$(nan_rows all.csv)" -eq 1 ]
    ny -0 eval a.nys laplacian --clusters 2
    says "1 of 351 rows are left out, the first of them row 300"
    nystream export a.nys laplacian --part clusters -o stored.csv --quiet
    nystream export a.nys laplacian --part clusters -o stored.npy --quiet
    [[ $(npy_header stored.npy) == *"'<i8'"* ]]
    [ "$(grep -cx -e -1 stored.csv)" = 1 ]
    cat far.csv good.csv >both.csv
    nystream transform a.nys laplacian --input both.csv -o places.csv --clusters clusters.csv --quiet
    [ "$(nan_rows places.csv)" -eq 1 ]
    [ "$(grep -cx -e -1 clusters.csv)" = 1 ]
    shows "1 without a value" plot a.nys laplacian --terminal --color cluster
    nystream report a.nys -o page.html --quiet
    nystream verify a.nys
    nystream import a.nys far.csv --append --header no --quiet
    nystream fit a.nys diffusion --update frozen --quiet
    [ "$(field "$(nystream info a.nys diffusion --json)" rows_unreached)" = 2 ]
}

@test "a fit leaves up to 1 % of its rows without coordinates where no landmark reaches them" {
    table 300 4 | awk 'NR == 9 { print "900,900,900,900"; next } 1' |
        nystream import a.nys - --format csv --quiet
    ny -0 fit a.nys r --map laplacian --landmarks 20 --gamma 1 --select uniform --probe 10 --quiet
    says "1 of 300 rows, the first of them row 8, are too far from all landmarks"
    says "a wider one (a smaller --gamma) may reach them"
    [ "$(field "$(nystream info a.nys r --json)" rows_unreached)" = 1 ]
    nystream export a.nys r -o r.csv --quiet
    [ "$(nan_rows r.csv)" -eq 1 ]
    table 300 4 | awk 'NR > 8 && NR < 12 { print 900 * NR ",900,900,900"; next } 1' |
        nystream import c.nys - --format csv --quiet
    ny -0 fit c.nys r --map laplacian --landmarks 20 --gamma 1 --select uniform --quiet
    says "3 of 300 rows, the first of them row 8, are too far from all landmarks"
    table 300 4 | awk 'NR > 8 && NR < 17 { print 900 * NR ",900,900,900"; next } 1' |
        nystream import b.nys - --format csv --quiet
    ny -7 fit b.nys r --map laplacian --landmarks 20 --gamma 1 --select uniform --quiet
    says " of 300 rows, the first of them row 8, have degrees that are negative or zero to rounding, more than 1 %"
    says "--select rpcholesky, more landmarks or a wider kernel"
    ny -7 fit b.nys r --map laplacian --landmarks 3 --gamma 1 --quiet
    [[ $stderr != *"rpcholesky"* ]]
}

@test "eval leaves out the rows that no landmark reaches, wherever they are" {
    local far='^(1|8|9|10|69000)$'
    table 70000 4 | awk -F, -v far="$far" '{ print NR ~ far ? 900 * NR ",900,900,900" : $0, NR * NR % 5 }' OFS=, |
        nystream import a.nys - --format csv --label-column 5 --quiet
    ny -0 fit a.nys r --map laplacian --landmarks 20 --gamma 1 --select uniform --seed 3 --components 2 --precision f64 --quiet
    says "5 of 70000 rows, the first of them row 0, are too far from all landmarks"
    ny -0 eval a.nys r --measures clusters --clusters 4 --json
    says "5 of 70000 rows are left out, the first of them row 0"
    nystream export a.nys r --part clusters -o clusters.csv --quiet
    [ "$(grep -nx -e -1 clusters.csv | cut -d: -f1 | tr '\n' ' ')" = "1 8 9 10 69000 " ]
    nystream export a.nys --part labels -o labels.csv --quiet
    paste -d, clusters.csv labels.csv | grep -v ^-1 | awk -F, '
        { if (++count[$1, $2] > most[$1]) most[$1] = count[$1, $2] }
        END { for (c in most) sum += most[c]; printf "%.9f\n", sum / NR }' >purity
    [ "$(printf %.9f "$(field "$output" purity)")" = "$(cat purity)" ]
}

@test "new rows most of which no landmark reaches are refused, as of another scale" {
    store a.nys 300
    nystream fit a.nys r --map diffusion --landmarks 50 --gamma 1 --quiet
    table 50 4 5 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = 900 + $j } 1' >far.csv
    ny -7 transform a.nys r --input far.csv -o places.npy
    says "no landmark reaches 50 of 50 new rows, the first of them row 0"
    says "are they on the scale of the rows of the fit"
    [ ! -e places.npy ]
    { table 4 4 6; printf 'nan,1,1,1\n900,900,900,900\n'; table 4 4 7; } >mixed.csv
    answers 0 "the first of them row 5" transform a.nys r --input mixed.csv -o places.csv --nan keep
    [ "$(nan_rows places.csv)" -eq 2 ]
}

@test "rows that no landmark reaches end an update, and the result is as it was" {
    store a.nys 300
    nystream fit a.nys r --map laplacian --landmarks 20 --gamma 1 --select uniform --quiet
    nystream export a.nys r -o before.csv
    printf '900,900,900,900\n901,900,900,900\n' >far.csv
    nystream import a.nys far.csv --append --header no --quiet
    ny -7 fit a.nys r --update frozen
    writes before.csv "a.nys r"
    has "a.nys r" status=done n=300
}

@test "several updates in a row, and what is left in the store is sound" {
    grown
    for i in 1 2 3; do
        nystream fit a.nys r --update $([ $i = 2 ] && echo frozen || echo full) --quiet
        table 150 4 $((90 + i)) >more.csv
        nystream import a.nys more.csv --append --quiet
    done
    has "a.nys r" updates=3 n=800
    nystream verify a.nys
    ny -0 rm a.nys r
    ny list a.nys
    [ -z "$output" ]
}

@test "who reads while a result is updated gets the old one or the new one" {
    store a.nys 30000 6
    nystream fit a.nys r --landmarks 100 --select uniform --quiet
    table 9000 6 99 >more.csv
    nystream import a.nys more.csv --append --quiet
    nystream export a.nys r -o old.npy
    cp -r a.nys b.nys
    nystream fit b.nys r --update full --quiet
    nystream export b.nys r -o new.npy
    nystream fit a.nys r --update full --quiet &
    for i in {1..200}; do
        nystream export a.nys r -o seen.npy
        cmp -s seen.npy old.npy || cmp -s seen.npy new.npy
        kill -0 $! 2>/dev/null || break
    done
    wait $!
    writes new.npy "a.nys r"
}

@test "info keeps the largest drift of frozen updates, with its rows, until a full one" {
    table 300 4 5 >rows.csv
    awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = 0.7 + $j } 1' rows.csv | head -n 200 >far.csv
    table 250 4 6 >near.csv
    nystream import d.nys rows.csv -q
    nystream fit d.nys map --map diffusion --components 3 --landmarks 40 --gamma 1 -q
    [ "$(field "$(nystream info d.nys map --json)" drift_largest)" = null ]
    nystream import d.nys far.csv --append -q
    ny fit d.nys map --update frozen -q
    says "warning: drift of the new rows"
    before=$(nystream info d.nys map --json)
    [ "$(field "$before" drift_largest)" = "$(field "$before" drift_trace_error)" ]
    nystream import d.nys near.csv --append -q
    ny fit d.nys map --update frozen -q
    [ -z "$stderr" ]
    has "d.nys map" drift_largest="$(field "$before" drift_largest)" drift_largest_first=300 drift_largest_rows=200 \
        drift_rows=250 drift_trace_error_fitted="$(field "$before" drift_trace_error_fitted)"
    ny info d.nys map
    prints "drift: trace error " "drift of fitted rows " "largest drift "
    [[ $output == *"largest drift: rows "*" 200"*"largest drift: start "*" 300"* ]]
    nystream fit d.nys map --update full -q
    has "d.nys map" drift_largest=null drift_largest_first=null drift_largest_rows=null drift_trace_error_fitted=null
}
