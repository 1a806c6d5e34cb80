# Imports whose rows are dealt out to the shards of a store: the rows of one store, by one process or
# several, and after kills; files that cannot be cut; refusals.
load helper
brought="*.npy *.csv *.txt"

# 10,500 rows of bytes with labels, in one npy, in three, as bvecs and in two tables of text.
setup_file() {
    file_folder || return
    npy_u8 10500 12 >all.npy
    tail -c $((10500 * 12)) all.npy >bytes
    part() { # NAME FIRST ROWS
        npy_u8 "$3" 12 | head -c 128 >"$1"
        tail -c +$(($2 * 12 + 1)) bytes | head -c $(($3 * 12)) >>"$1"
    }
    part a.npy 0 3000
    part b.npy 3000 100
    part c.npy 3100 7400
    od -An -v -tu1 -w12 bytes | sed 's/^ *//; s/  */,/g' >all.csv
    awk '{ print "cat\ndog\nfish" }' all.csv | head -n 10500 | paste -d, all.csv - >words.csv
    head -n 4000 words.csv >0.csv
    tail -n +4001 words.csv >1.csv
    seq 10500 >labels.txt
    nystream import one all.npy --labels labels.txt -q
    nystream export one --part points -o points.npy -q
    nystream export one --part labels -o labels.npy -q
}

# holds STORE: it has the points of all rows, in their order.
holds() {
    nystream export "$1" --part points -o holds.npy -q
    cmp holds.npy points.npy
}

@test "rows of one file or of several are dealt out, cut at multiples of 2,048" {
    answers 0 "10,500 rows of 12 columns imported" import big all.npy --labels labels.txt --shards 4
    holds big
    writes labels.npy "big --part labels"
    ny info big
    prints "- shard 0             rows 0 to 2047" "- shard 1             rows 2048 to 6143"
    prints "- shard 3             rows 8192 to 10499"
    [[ $output != *multiple* ]]
    nystream import three a.npy b.npy c.npy --shards 3 --json >json
    holds three
    output=$(<json)
    fields n=10500 rows=10500 bytes=126000
    nystream import whole a.npy b.npy c.npy --shards 1 -q
    holds whole
    cp -r "$BATS_FILE_TMPDIR/one" .
    nystream fit one map --landmarks 40 --components 3 -q
    nystream fit three map --landmarks 40 --components 3 -q
    same_exports "one map" "three map"
}

@test "bvecs, IDX and rows of other types are cut, too" {
    text=$(tail -c $((10500 * 12)) all.npy | od -An -v -tx1 -w12 | sed 's/ /\\x/g; s/^/\\x0c\\x00\\x00\\x00/' | tr -d '\n')
    printf '%b' "$text" >all.bvecs
    { printf '\0\0\10\2\0\0\51\4\0\0\0\14' && tail -c $((10500 * 12)) all.npy; } >all.idx
    nystream import v all.bvecs --shards 3 -q
    holds v
    nystream import i all.idx --shards 2 -q
    holds i
    nystream import f all.npy --shards 2 --dtype f32 --columns 2-3 -q
    nystream import g all.npy --dtype f32 --columns 2-3 -q
    same_exports "f --part points" "g --part points"
}

@test "processes share an import, with the rows of one" {
    together 3 import big a.npy b.npy c.npy --shards 5 --peers folder:3:meet
    [ "$(cat said.* | grep -c '10,500 rows of 12 columns imported')" = 1 ]
    holds big
    nystream import alone a.npy b.npy c.npy --shards 5 -q
    nystream info big | grep shard >first.out
    nystream info alone | grep shard | diff first.out -
    nystream import big b.npy --append -q
    [ "$(field "$(nystream info big --json)" n)" = 10600 ]
}

# at_once COMMAND COMMAND: two processes share an import; $codes is how they end.
at_once() {
    nystream $1 --shards 2 --peers folder:meet >said.0 2>&1 3>&- &
    local first=$!
    nystream $2 --shards 2 --peers folder:meet >said.1 2>&1 3>&- &
    codes=
    for pid in $first $!; do wait $pid && codes+=0, || codes+=$?,; done
}

@test "one process that fails ends the others, and so do other files" {
    nystream import big --shard 0/2 <(head -n 5 all.csv) --format csv -q # is f32
    at_once "import big all.npy" "import big all.npy"
    [[ $codes =~ ^[23],[23],$ ]] || { echo "$codes"; cat said.*; false; }
    at_once "import new all.npy" "import new a.npy c.npy"
    [ "$codes" = 2,2, ] || { echo "$codes"; cat said.*; false; }
    grep -q "has other files or options" said.0 said.1
}

@test "an import that is killed is gone on with by the same command" {
    for delay in 0.004 0.01 0.015 0.02 0.025 0.03; do
        timeout -s KILL $delay nystream import big a.npy b.npy c.npy --shards 5 -q || true
    done
    nystream import big a.npy b.npy c.npy --shards 5 -q || [ $? -eq 2 ]
    holds big
    ny -2 import big a.npy b.npy c.npy --shards 5
    rm -r big/shard-00003
    ny -0 import big a.npy b.npy c.npy --shards 5
    says "shard 0 of big exists already and is left as it is" "2,048 rows of 12 columns imported"
    holds big
}

@test "an import is not gone on with from files that have changed, or by other options" {
    nystream import big a.npy b.npy c.npy --shards 5 -q
    nystream import words 0.csv 1.csv --label-column 13 --shards 2 -q
    refused() { # STORE, and how it was imported
        cp "$1/shards" before
        ny -3 import "$@"
        cmp before "$1/shards"
        [ ! -e "$1/shard-00001" ]
    }
    rm -r big/shard-00001 words/shard-00001
    cp -p b.npy kept.npy
    for change in 200 1300; do # bytes near the beginning, or the end, and the time as it was
        printf X | dd of=b.npy bs=1 seek=$change conv=notrunc status=none
        touch -r kept.npy b.npy
        refused big a.npy b.npy c.npy --shards 5
        cp -p kept.npy b.npy
    done
    cp -p c.npy later.npy
    touch c.npy
    refused big a.npy b.npy c.npy --shards 5
    cp -p later.npy c.npy
    refused big a.npy c.npy --shards 5
    refused big a.npy b.npy c.npy --shards 5 --codec raw
    printf '1,2\n' >>1.csv
    refused words 0.csv 1.csv --label-column 13 --shards 2
    nystream import big a.npy b.npy c.npy --shards 5 -q
    holds big
    nystream import marked all.npy --labels labels.txt --shards 2 -q
    rm -r marked/shard-00001
    tac labels.txt >turned && mv turned labels.txt
    refused marked all.npy --labels labels.txt --shards 2
}

@test "a single file that has changed is not gone on with either" {
    npy_u8 400000 64 >large.npy
    bash -c "trap '' XFSZ; ulimit -f 16000; nystream import s large.npy --memory 32M -q" 2>err || [ $? -eq 4 ]
    cp -r s again
    ny -0 import s large.npy
    touch large.npy # as large as before, of the same name
    answers 0 "it starts over" import again large.npy
    [[ $stderr != *"it resumes after"* ]]
}

@test "files whose rows cannot be counted go to one shard as a whole" {
    ny -0 import big 0.csv 1.csv --label-column 13 --dtype u8 --shards 2
    holds big
    ny info big
    prints "- shard 0             rows 0 to 3999" "uneven shards         0 (rows not a multiple of 2,048)"
    nystream import one words.csv --label-column 13 --dtype u8 -q
    for part in labels points; do same_exports "big --part $part" "one --part $part"; done
    nystream import kept a.npy b.npy c.npy --min-values 12 --shards 2 --json >json
    nystream import left a.npy b.npy c.npy --min-values 12 -q
    for part in points source; do
        same_exports "kept --part $part" "left --part $part"
    done
    [ "$(field "$(<json)" dropped)" = "$(field "$(nystream info left --json)" dropped)" ]
    for part in 0 1 2 3 4 5; do head -n 700 all.csv >part.$part.csv; done
    nystream import even part.?.csv --shards 3 -q
    shows "- shard 1             rows 1400 to 2799" info even
}

@test "what cannot be dealt out is refused, with what to do" {
    ny -2 import big all.npy --shards 9
    ny -2 import big words.csv --shards 2 --label-column 13
    ny -2 import big - --shards 2
    ny -2 import big <(cat all.csv) --shards 2
    ny -2 import big a.npy c.npy --labels labels.txt --shards 2
    while read -r options; do
        ny -2 import big all.npy $options
    done <<'END'
--shards 2 --shard 0/2
--shards 2 --append
--shards 2 --expect-rows 0
--shards 2 --shuffle
--shards 0
--shards 100001
--peers folder:meet
--shards 2 --peers folder:3:meet
END
    [ ! -e big ]
    nystream import plain a.npy -q
    ny -2 import plain a.npy --shards 1
    nystream import big all.npy --shards 2 -q
    usage "big has 2 shards" import big all.npy --shards 3
    ny -2 import big c.npy --shards 2
}
