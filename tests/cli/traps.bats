# Silent traps in tables: rows that go, labels that become coordinates, a header
# that becomes a row, and files that are not read as they were meant.
load helper

nan_table() {
    printf 'x,y,z\n1,2,0.5\nnan,4,1.5\n5,6,1\n7,inf,0\n9,1,1\n2,2,0\n' >n.csv
}

# bats test_tags=slow
@test "embed --nan drop says how many rows went, and which" {
    nan_table
    ny -0 embed n.csv -o out.csv --nan drop
    [ "$(wc -l <out.csv)" -eq 4 ]
    ny embed n.csv -o out.csv --nan drop --json
    [ "$(field "$output" dropped)" = 2 ]
    [[ ${output//[[:space:]]/} == *'"dropped_rows":[1,3]'* ]]
    ny -0 embed n.csv -o out.csv --nan drop --online --select greedy --tolerance 0.01 --json
    [ "$(field "$output" dropped)" = 2 ]
    sed -i '/nan\|inf/d' n.csv
    ny embed n.csv -o out.csv --json
    [ "$(field "$output" dropped)" = 0 ]
    [[ ${output//[[:space:]]/} == *'"dropped_rows":[]'* ]]
}

@test "import --nan drop says which rows went, of several files" {
    nan_table
    ny -0 import j n.csv n.csv --nan drop --json
    fields dropped=4
    [[ ${output//[[:space:]]/} == *'"dropped_rows":[1,3,7,9]'* ]]
}

@test "embed --nan keep: the output has the rows of the input" {
    nan_table
    nystream embed n.csv -o drop.csv --nan drop -q
    ny -0 embed n.csv -o keep.csv --nan keep
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
    ny -3 embed n.csv -o none.csv
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
            ny -0 transform $placer --input holes.csv -o kept.csv --nan keep --threads $threads
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
    ny -3 transform s a --input holes.csv -o no.csv
    says "holes.csv, line 1, column 2: 'nan' is not a finite number; --nan keep gives such rows NaN"
    ny -2 transform s a --input holes.csv -o no.csv --nan drop
    sed 's/^[^,]*/nan/' whole.csv >none.csv
    ny -3 transform s a --input none.csv -o no.csv --nan keep
    nystream graph s g -q
    ny -2 transform s g --input holes.csv -o no.npy --nan keep
    [ ! -e no.csv ] && [ ! -e no.npy ]
}

@test "embed --nan keep of a graph: rows outside of it are NaN, too" {
    { table 60 2; echo nan,1; table 8 2 | awk -F, '{print $1 + 500 "," $2 + 500}'; } >t.csv
    ny -0 embed t.csv -o out.csv --map isomap --neighbors 6 --nan keep
    [ "$(wc -l <out.csv)" -eq 69 ]
    [ "$(sed -n '61,69p' out.csv | tr -d -- - | sort -u)" = nan,nan ]
}

@test "rows that are appended once more are told by their names" {
    { echo cell,a,b; awk -v OFS=, 'BEGIN {for (i = 0; i < 9000; i++) print "c" i, i, i * i % 97}'; } >t.csv
    { echo cell,a,b; awk -v OFS=, 'BEGIN {for (i = 8990; i < 9050; i++) print "c" i, i, i * i % 97}'; } >next.csv
    nystream import s t.csv --id-column cell -q
    ny -0 import s next.csv --id-column cell --append
    [[ $stderr != *warning* ]]
    { echo cell,a,b; for i in {1..30}; do echo "c$i,$i,7"; done; for i in {1..60}; do echo "d$i,$i,7"; done; } >third.csv
    cp -r s some
    ny import some third.csv --id-column cell --append --expect-rows 9060 -q
    [[ $stderr != *"--expect-rows"* ]]
    ny -0 import s t.csv --id-column cell --append --shuffle -q
    says "warning: 9000 of the 9000 rows to append have names that rows of s already have"
    sed 's/^c/d/' t.csv | sed '1s/.*/cell,a,b/' >other.csv
    ny -0 import s other.csv --id-column cell --append
    [[ $stderr != *"appended before"* ]]
}

@test "a test that reads files of NYSTREAM_DATA takes an empty name for none" {
    local program=$NYSTREAM_BUILD/tests/unit/test_reader_text
    [ ! -x "$program" ] || NYSTREAM_DATA='' "$program" >/dev/null 2>&1
    # each test, tool and page that reads it, by shell or Python, has another name where it is empty
    cd "$BATS_TEST_DIRNAME/../.."
    run -1 grep -rnE '\$\{NYSTREAM_DATA-\}/|environ.get\("NYSTREAM_DATA", ' tests/bench tests/cli tests/long \
        tests/python src/guide data-tools --exclude=traps.bats
}
