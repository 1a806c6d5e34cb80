# Rows at the end of a store are taken out: what readers see then is what they saw before the rows
# came, to the bit, whatever the rows are and wherever the cut goes.
load helper

# Prints the report of a store, without what is of the file on the disk.
told() { nystream info "$1" --json | grep -v '"store_bytes"'; }

# same_told STORE REF: the reports of both are the same, but for when rows came.
same_told() { diff <(told "$1" | grep -v '"time"') <(told "$2" | grep -v '"time"'); }

# like STORE REF PART…: checks that readers see the same in both, now and after more rows and fits.
like() {
    local store=$1 ref=$2 part
    shift 2
    diff <(told "$store") <(told "$ref")
    for part in points "$@"; do same_exports "$store --part $part" "$ref --part $part" csv; done
    nystream verify "$store" -q
    for part in "$store" "$ref"; do nystream fit "$part" f --landmarks 20 --scale standard -q; done
    same_exports "$store f" "$ref f"
    same_exports "$store f --part model" "$ref f --part model" nym
}

# more STORE REF NIGHT OPTION…: the next night goes into both, and an update takes it in.
more() {
    local part store=$1 ref=$2 night=$3
    shift 3
    for part in "$store" "$ref"; do
        nystream import "$part" "$night" --append "$@" -q
        nystream fit "$part" f --update full -q
    done
    same_exports "$store f" "$ref f"
    same_told "$store" "$ref"
    nystream verify "$store" -q
}

# Two nights of dense rows, in blocks of 1,024; a bad one, and a good one after it.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 3000 200 1 >one.csv
    table 700 200 2 >two.csv
    table 2500 200 3 | sed 's/0\./9./g' >bad.csv
    table 600 200 4 >good.csv
    nystream import s one.csv -q
    nystream import s two.csv --append -q
    cp -r s ref
    nystream import s bad.csv --append -q
}

nights() {
    cp -r "$BATS_FILE_TMPDIR"/{s,ref,*.csv} .
}

# bats file_tags=slow
@test "a bad night is taken out as if it had never come; info tells where it began" {
    nights
    ny info s
    prints "imports               3" "rows 3700 to 6199, " "Z, bad.csv"
    ny info s --json
    [ "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["imports"][2]["first"])' <<<"$output")" = 3700 ]
    shows "s: 3,700 rows, was 6,200" truncate s --keep 3700
    like s ref
    more s ref good.csv
    shows "nothing to remove" truncate s --keep 4300
}

@test "any cut is right: between blocks, within one, within an import, and down to one row" {
    nights
    for keep in 3072 1500 3001 1; do
        rm -rf t u
        cp -r s t
        ny -0 truncate t --keep $keep --json
        [ "$(field "$output" rows_removed)" -eq $((6200 - keep)) ]
        head -n $keep <(cat one.csv two.csv) >u.csv
        nystream import u u.csv -q
        same_exports "t --part points" "u --part points"
        nystream verify t -q
        [ "$(nystream info t --json | grep -c '"first"')" -eq $((keep > 3000 ? 2 : 1)) ]
        [ $keep -gt 1 ] || continue
        for s in t u; do nystream fit $s f --landmarks 20 -q; done
        [ $keep -gt 3000 ] || same_exports "t f" "u f" # two imports have other last bits than one
    done
}

@test "labels that are words, rows that were dropped and names of classes go back" {
    (echo 'x,y,what' && table 2999 2 | awk -F, '{print $0 "," (NR % 3 ? "a" : "b")}') >one.csv
    (echo 'x,y,what' && echo ',0.5,a' && table 500 2 9 | awk -F, '{print $0 "," (NR % 2 ? "wrong" : "a")}') >bad.csv
    (echo 'x,y,what' && table 300 2 5 | awk -F, '{print $0 ",c"}') >good.csv
    nystream import s one.csv --label-column what -q
    cp -r s ref
    nystream import s bad.csv --label-column what --append --nan drop -q
    ny export s --part classes -o -
    prints wrong
    has s dropped=1
    nystream truncate s --keep 2999 -q
    like s ref labels source classes
    more s ref good.csv --label-column what
    ny export s --part classes -o -
    prints c
}

@test "row numbers of shuffled rows stay those of their files" {
    table 3000 20 >one.csv
    table 3000 20 2 >bad.csv
    nystream import s one.csv --shuffle -q
    cp -r s ref
    nystream import s bad.csv --append --shuffle -q
    nystream truncate s --keep 3000 -q
    like s ref source
}

# counts ROWS SEED: LIBSVM rows of a label and some 20 counts in 300 columns.
counts() {
    awk -v n="$1" -v x="$2" 'BEGIN {
        for (i = 0; i < n; i++) {
            printf "%d", i % 3
            for (j = 1; j <= 300; j++) {
                x = (x * 16807) % 2147483647
                if (x % 15 == 0) printf " %d:%d", j, x % 250 + 1
            }
            print ""
        }
    }'
}

@test "bytes, packed or as they are, and counts that are prepared" {
    counts 600 1 >one.libsvm
    counts 500 2 >bad.libsvm
    for options in "--layout dense --dtype u8" "--layout dense --dtype u8 --codec raw" "--layout sparse" \
        "--layout dense --rows total:100 --values log1p" "--layout sparse --rows unit --values log1p"; do
        rm -rf s ref
        nystream import s one.libsvm --dims 300 $options -q
        cp -r s ref
        nystream import s bad.libsvm --append $options -q
        nystream import s bad.libsvm --append -q
        nystream truncate s --keep 600 -q
        like s ref labels
        more s ref bad.libsvm
    done
}

@test "sparse rows and bytes in several blocks, cut within one" {
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 9000 --terms 2000 --length 25 --topics 2 -o one.libsvm
    nystream import t one.libsvm --dims 2000 -q
    [ "$(field "$(nystream info t --json)" blocks)" -gt 2 ]
    cp -r t u
    nystream import t one.libsvm --append -q
    nystream truncate t --keep 9000 -q
    like t u labels

    npy_u8 5000 900 >one.npy
    npy_u8 3000 900 >bad.npy
    nystream import s one.npy -q
    cp -r s ref
    nystream import s bad.npy --append -q
    nystream truncate s --keep 5000 -q
    like s ref
}

# bats file_tags=
@test "names of rows and columns stay with their rows" {
    mkdir one bad
    for night in one bad; do
        (
            echo '%%MatrixMarket matrix coordinate integer general'
            echo '4 900 1800'
            seq 900 | awk '{print $1 % 4 + 1, $1, $1 % 7 + 1; print ($1 + 1) % 4 + 1, $1, $1 % 5 + 1}'
        ) >$night/matrix.mtx
        seq -f "$night-%g" 900 >$night/barcodes.tsv
        printf 'E1\tA\nE2\tB\nE3\tC\nE4\tD\n' >$night/features.tsv
    done
    nystream import s one/matrix.mtx --transpose -q
    cp -r s ref
    nystream import s bad/matrix.mtx --transpose --append -q
    nystream truncate s --keep 900 -q
    diff <(told s) <(told ref)
    for part in ids columns; do same_exports "s --part $part" "ref --part $part" txt; done
    nystream truncate s --keep 7 -q
    [ "$(nystream export s --part ids -o - -q | xargs)" = "$(head -n 7 one/barcodes.tsv | xargs)" ]
    nystream verify s -q
}

# bats test_tags=slow
@test "results that have rows which go are named and stay, unless --drop-results removes them" {
    nights
    nystream fit ref kept --landmarks 20 -q
    rm -rf s
    cp -r ref s
    nystream import s bad.csv --append -q
    nystream fit s updated --landmarks 20 -q
    cp -r s before
    nystream fit s chosen --landmarks 10 -q
    nystream truncate before --keep 6200 -q
    ny -2 truncate s --keep 3700
    has s n=6200
    [ "$(nystream list s | cut -f 1 | xargs)" = "chosen kept updated" ]
    ny -0 truncate s --keep 3700 --drop-results
    prints "result 'chosen': removed" "result 'updated': removed"
    [ "$(nystream list s)" = "$(printf 'kept\tdone')" ]
    same_exports "s kept" "ref kept"
    nystream verify s -q
}

# bats test_tags=slow
@test "a result that an update took the rows into goes, and one whose update was to does" {
    nights
    rm -rf s
    nystream fit ref f --landmarks 20 -q
    cp -r ref s
    nystream import s bad.csv --append -q
    nystream fit s f --update frozen -q
    ny -2 truncate s --keep 3700
    nystream truncate s --keep 3700 --drop-results -q
    [ -z "$(nystream list s)" ]
}

@test "mistakes change nothing" {
    nights
    for keep in 0 -1 1.5 many ''; do
        ny -2 truncate s --keep "$keep"
    done
    usage "truncate needs --keep" truncate s
    ny -2 truncate s --keep 6201
    ny -4 truncate nothing --keep 1
    has s n=6200
    table 150 4 >t.csv
    for k in 0 1; do
        nystream import big t.csv --shard $k/2 -q
    done
    ny -2 truncate big --keep 3
    nystream truncate big/shard-00001 --keep 10 -q
    [ "$(field "$(nystream info big --json)" n)" = $((150 + 10)) ]
}

@test "a job that runs keeps its rows, and so does an import" {
    nights
    mkdir -p s/locks
    exec 9>s/locks/name-running.lock
    flock 9
    ny -6 truncate s --keep 3700
    exec 9>s/locks/points.lock
    flock 9
    ny -6 truncate s --keep 3700
    exec 9>&-
    has s n=6200
    rm s/locks/name-running.lock
    nystream truncate s --keep 3700 -q
    nystream verify s -q
}

@test "an import that was cut short before is not gone on with" {
    nights
    nystream truncate s --keep 3700 -q
    nystream import s bad.csv --append -q
    nystream truncate s --keep 3700 -q
    nystream import s good.csv --append -q
    nystream import ref good.csv --append -q
    same_told s ref
}
