# Damaged data is named, and the rest can be saved: verify, export --skip-damaged, repair.
load helper

# A store whose values are kept as they are, so that bytes of a row are found in the file.
setup_file() {
    file_folder || return
    awk 'BEGIN { x = 7
        for (i = 0; i < 12000; i++)
            for (j = 0; j < 64; j++) {
                x = (x * 16807) % 2147483647
                printf "%.6f%s", x / 2147483647, j < 63 ? "," : "," (i % 3) "\n"
            }
    }' >all.csv
    nystream import whole all.csv --label-column 65 --codec raw --dtype f32 -q
    nystream fit whole old $fit_options -q
    nystream export whole old -o old.npy
}

fit_options="--approx nystrom --select uniform --landmarks 40 --components 30 --kernel polynomial --map svd"

setup() {
    own_folder || return
    cp -r "$BATS_FILE_TMPDIR/whole" s
    cp "$BATS_FILE_TMPDIR/old.npy" .
}

row_bytes=$((30 * 4)) # of old.npy, behind a header of 128 bytes

# Damages the block in the middle of the file.
spoil_points() {
    local data=$BATS_FILE_TMPDIR/whole/points/data.mdb
    spoil s/points/data.mdb "$data" $(($(stat -c %s "$data") / 2))
}

first_lost() { sed -nE 's/^rows ([0-9]+) to ([0-9]+): lost$/\1/p' <<<"$output"; }
last_lost() { sed -nE 's/^rows ([0-9]+) to ([0-9]+): lost$/\2/p' <<<"$output"; }

@test "export --skip-damaged: NaN in the rows of a damaged chunk, all others as they were" {
    spoil s/results/data.mdb old.npy $((128 + 100 * row_bytes))
    ny -5 verify s
    prints "result 'old', embedding, chunk 0" "rows 0 to "
    ny -5 verify s --json
    prints '"result": "old"'
    [ "$(field "$output" results_damaged)" = 1 ]
    ny -5 export s old -o out.csv
    [ ! -e out.csv ]
    answers 0 "rows of the embedding of 'old' are damaged" export s old -o out.csv --skip-damaged
    [ "$(wc -l <out.csv)" = 12000 ]
    nystream export "$BATS_FILE_TMPDIR/whole" old -o good.csv
    lost=$(grep -c '^nan' out.csv)
    [ "$lost" -gt 100 ]
    [ "$lost" -lt 12000 ]
    says "$lost rows"
    [ "$(head -n "$lost" out.csv | grep -c '^nan')" = "$lost" ]
    cmp <(tail -n +$((lost + 1)) out.csv) <(tail -n +$((lost + 1)) good.csv)
    ny -0 export s old -o out.npy --skip-damaged
    cmp <(tail -c +$((129 + lost * row_bytes)) out.npy) \
        <(tail -c +$((129 + lost * row_bytes)) old.npy)
}

@test "export --skip-damaged of a sound result is the same" {
    ny -0 export s old -o out.npy --skip-damaged -q
    [ -z "$stderr" ]
    cmp out.npy old.npy
}

@test "repair: lost rows keep their numbers, and a fit covers the others" {
    spoil_points
    ny -5 verify s
    prints "points of block " "rows "
    ny -5 fit s new $fit_options
    ny -0 repair s
    first=$(first_lost) last=$(last_lost)
    [ "$last" -gt "$first" ]
    ny -0 verify s
    has s n=12000 lost=$((last - first + 1))
    writes old.npy "s old"
    answers 0 "are lost" fit s new $fit_options --restart
    # These rows in a store of their own give the same bytes.
    sed "$((first + 1)),$((last + 1))d" "$BATS_FILE_TMPDIR/all.csv" >rest.csv
    nystream import rest rest.csv --label-column 65 --dtype f32 -q
    nystream fit rest new $fit_options -q
    for part in embedding labels; do
        same_exports "s new --part $part" "rest new --part $part"
    done
    cmp <(shown "s new --part rows") <(seq 0 11999 | sed "$((first + 1)),$((last + 1))d")
    nystream export s new --part landmarks -o a.csv
    nystream export rest new --part landmarks -o b.csv
    cmp a.csv <(awk -v f="$first" -v l="$last" '{ print $1 < f ? $1 : $1 + l - f + 1 }' b.csv)
}

@test "new rows are placed by results from before and after rows were lost" {
    head -3 "$BATS_FILE_TMPDIR/all.csv" | cut -d, -f1-64 >new.csv
    nystream fit s rpcholesky --landmarks 20 -q
    nystream transform s rpcholesky --input new.csv -o whole.csv -q
    spoil_points
    nystream repair s -q
    nystream fit s after --landmarks 20 -q
    for name in rpcholesky after; do
        ny -0 transform s $name --input new.csv -o $name.csv --json
        [[ $(field "$output" drift_trace_error) == 0.* ]]
    done
    cmp whole.csv rpcholesky.csv
    [ "$(wc -l <after.csv)" = 3 ]
}

@test "repair of a sound store does nothing; of damaged results removes them" {
    shows "nothing is damaged" repair s
    nystream fit s other $fit_options --seed 3 -q
    spoil s/results/data.mdb old.npy $((128 + 100 * row_bytes))
    ny -0 repair s --json
    prints '"removed": [' '"old"'
    ny -0 verify s
    ny list s
    [ "$output" = "other	done" ]
    nystream fit s old $fit_options -q
    writes old.npy "s old"
}

@test "repair cannot do everything" {
    ny -4 repair missing
    printf 'nothing of a store' >s/points/data.mdb
    ny -5 repair s
}

# The rows of a CSV file that are all NaN, as "first last count".
nan_rows() { awk '/^nan(,nan)*$/ { if (!n++) first = NR - 1; last = NR - 1 } END { print first, last, n }' "$1"; }

# bats file_tags=slow
@test "lost rows stay lost when an append fills up their block" {
    local data=$BATS_FILE_TMPDIR/whole/points/data.mdb share
    for share in 95 90 85 80 75; do # of the file, until the short last block is met
        cp "$data" s/points/data.mdb
        spoil s/points/data.mdb "$data" $(($(stat -c %s "$data") * share / 100))
        [[ $(nystream verify s 2>/dev/null) == "block 2 (rows 8192 to 11999): points"* ]] && break
    done
    ny -0 repair s
    [ "$output" = "rows 8192 to 11999: lost" ]
    head -n 1000 "$BATS_FILE_TMPDIR/all.csv" >more.csv
    cat "$BATS_FILE_TMPDIR/all.csv" more.csv >both.csv
    nystream import both both.csv --label-column 65 --dtype f32 -q
    nystream export both --part points -o both.csv
    for n in 12000 13000; do
        [ $n = 12000 ] || nystream import s more.csv --label-column 65 --append -q
        ny -5 export s --part points -o lost.csv
        [ ! -e lost.csv ]
        ny -0 export s --part points -o left.csv --skip-damaged
        says "3808 rows of the points of 'points' are damaged"
        [ "$(nan_rows left.csv)" = "8192 11999 3808" ]
        cmp <(sed 8193,12000d left.csv) <(head -n $n both.csv | sed 8193,12000d)
        ny -5 eval s old
    done
    ny -0 verify s
    ny -0 export s --part labels -o labels.csv # they are there
    [ "$(wc -l <labels.csv)" = 13000 ]
    ny -5 truncate s --keep 12000 --drop-results # those that stay have to be there
    says "rows of s that would be kept are lost"
    has s n=13000 lost=3808
    nystream truncate s --keep 8192 --drop-results -q
    has s n=8192 lost=0
    nystream export s --part points -o left.csv
    cmp left.csv <(head -n 8192 both.csv)
}

@test "repair of sparse rows whose last block is lost; more are appended" {
    awk 'BEGIN { for (i = 0; i < 70000; i++)
        printf "1 %d:%d %d:2 %d:%d\n", i % 90 + 1, i % 7 + 1, i % 90 + 200, i % 50 + 400, i % 11 + 1 }' >t.svm
    nystream import sparse t.svm --codec raw -q
    head -n 65536 t.svm >first.svm
    pages=$(($(stat -c %s sparse/points/data.mdb) / 4096))
    for ((page = pages - 1; page > 2; page--)); do
        rm -rf t
        cp -r sparse t
        printf 'damaged!' | dd of=t/points/data.mdb bs=4096 seek=$page conv=notrunc status=none
        [[ $(nystream verify t 2>/dev/null) == "block 2 (rows 65536 to 69999): points"* ]] && break
    done
    ny -0 repair t
    [ "$output" = "rows 65536 to 69999: lost" ]
    nystream import t t.svm --append -q
    ny -0 verify t
    has t n=140000 lost=4464
    nystream import rest first.svm t.svm -q
    nystream fit t a --landmarks 30 --kernel linear --map svd --select uniform -q
    nystream fit rest a --landmarks 30 --kernel linear --map svd --select uniform -q
    same_exports "t a" "rest a"
}

# same_as NAME OTHER: landmarks and rows are the same, coordinates to rounding.
same_as() {
    local part
    for part in landmarks rows; do same_exports "s $1 --part $part" "s $2 --part $part"; done
    nystream export s "$1" -o a.csv
    nystream export s "$2" -o b.csv
    paste -d, a.csv b.csv |
        awk -F, '{ for (i = 1; i <= NF / 2; i++) {
                       if (($i ~ /nan/) != ($(i + NF / 2) ~ /nan/)) bad = 1
                       a = $i - $(i + NF / 2)
                       if (a * a > 1e-8) bad = 1 } }
                 END { exit bad || NR < 1000 }'
}

@test "rows are lost, others appended, and results of the rows that are left updated" {
    local kernel="--kernel polynomial --map svd --precision f64" all
    spoil_points
    ny -0 repair s
    nystream fit s uniform --approx projected --select uniform --landmarks 40 $kernel -q
    nystream fit s greedy --select greedy --tolerance 0.5 --landmarks 60 $kernel -q
    nystream fit s online --online --tolerance 0.5 --landmarks 60 $kernel -q
    nystream fit s frozen --approx projected --select uniform --landmarks 40 $kernel -q
    nystream export s frozen -o before.csv
    head -n 12000 "$BATS_FILE_TMPDIR/all.csv" | tac >more.csv
    nystream import s more.csv --label-column 65 --append -q
    cp s/points/data.mdb grown
    spoil s/points/data.mdb grown $(($(stat -c %s grown) * 8 / 10)) # of them, too
    ny -0 repair s
    [ "$(first_lost)" -gt 12000 ]
    for name in uniform greedy online; do
        ny -0 fit s $name --update full --json
        all=$(field "$output" n)
    done
    ny -0 fit s frozen --update frozen --json
    [ "$(field "$output" n)" -eq "$all" ]
    cmp before.csv <(shown "s frozen" | head -n "$(wc -l <before.csv)")
    same_exports "s frozen --part rows" "s uniform --part rows"
    while read -r name options; do
        nystream fit s "${name}2" $options $kernel -q
        same_as "$name" "${name}2"
    done <<'END'
uniform --approx projected --select uniform --landmarks 40
greedy --select greedy --tolerance 0.5 --landmarks 60
online --online --tolerance 0.5 --landmarks 60
END
    ny -5 fit s old --update full # of rows that are lost since
}

@test "an update that met damage begins anew once the rows are lost" {
    table 5000 64 3 | awk '{ print $0 "," NR % 3 }' >more.csv
    nystream import s more.csv --label-column 65 --codec raw --append -q
    cp s/points/data.mdb grown
    for share in 95 90 85 80 75 70 65 60 55 50 45 40; do # of the file, until block 3 is met
        cp grown s/points/data.mdb
        spoil s/points/data.mdb grown $(($(stat -c %s grown) * share / 100))
        [[ $(nystream verify s 2>/dev/null) == "block 3 (rows 12288 to 16383): points"* ]] && break
    done
    cp -r s t
    for update in frozen full; do
        ny -5 fit s old --update $update
        [ "$(field "$(nystream info s old --json)" update)" = interrupted ]
        nystream repair s -q
        ny -0 fit s old --update $update
        [ "$(field "$(nystream info s old --json)" n)" = 12904 ]
        rm -rf s
        cp -r t s
    done
}

@test "new rows find no neighbors by a graph whose rows were lost since" {
    head -3 "$BATS_FILE_TMPDIR/all.csv" | cut -d, -f1-64 >new.csv
    nystream graph s g --neighbors 3 -q
    nystream transform s g --input new.csv -o near.npy -q
    spoil_points
    run -5 nystream transform s g --input new.csv -o lost.npy
    nystream repair s -q
    run -5 nystream transform s g --input new.csv -o lost.npy
    [ ! -e lost.npy ]
}

@test "a map of a graph that has rows lost since has all of them, and places none" {
    head -3 "$BATS_FILE_TMPDIR/all.csv" | cut -d, -f1-64 >new.csv
    nystream graph s g --neighbors 6 -q
    nystream fit s before --map isomap --graph g --landmarks 20 -q
    nystream export s before -o before.csv -q
    spoil_points
    nystream repair s -q
    run -0 --separate-stderr nystream fit s after --map isomap --graph g --landmarks 20 -q
    [ -z "$stderr" ] # none of its rows is lost
    writes before.csv "s after"
    ny info s after --json
    [[ $output == *'"lost": null'* ]]
    [ "$(shown "s after --part rows" | tail -1)" = 11999 ]
    for map in before after; do
        run -5 nystream transform s $map --input new.csv -o lost.npy
        [ ! -e lost.npy ]
    done
}

# bats file_tags=
@test "a result that is older than the loss of its rows is reported, without images" {
    nystream report s old -o whole.html -q
    grep -q '"images":{' whole.html
    spoil_points
    ny -5 report s old -o page.html
    nystream repair s -q
    for image in auto 8x8; do
        answers 0 "are lost" report s old -o page.html --image $image
        grep -q '"images":null' page.html
        rm page.html
    done
    nystream fit s new $fit_options -q 2>/dev/null
    ny report s new -o page.html -q
    silent
    grep -q '"images":{' page.html
}
