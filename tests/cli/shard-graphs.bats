# Graphs, and maps of them, over a store in shards: the bytes of one store with all rows, whatever was
# interrupted; rows that come and go; and a place of their own.
load helper
brought="one big sparse spread rows.csv"

# 6,500 rows in one store and in three shards whose sizes are no multiples of anything: numbers, and
# sparse rows of counts.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 6500 5 7 >rows.csv
    table 1500 24 3 | awk -F, '{ printf NR % 3; for (j = 1; j <= NF; j++) if ($j < 0.3) printf " %d:%d", j, 1 + $j * 30; print "" }' >counts.svm
    store_and_shards one big rows.csv 2300 3001
    store_and_shards sparse spread counts.svm 700 701
}

# both VERB NAME OPTIONS…: makes a result of one store and of the shards, of either kind of rows.
both() {
    nystream "$1" "$one" "${@:2}" -q && nystream "$1" "$big" "${@:2}" -q
}

# same NAME PART…: both have these parts in common.
same() {
    local part
    for part in "${@:2}"; do same_exports "$one $1 --part $part" "$big $1 --part $part" || return; done
}

@test "graphs and maps of shards have the bytes of those of one store" {
    for one in one sparse; do
        [ $one = one ] && big=big || big=spread
        both graph near --neighbors 8 --connect
        same near neighbors distances components
        both fit eigen --map eigenmaps --graph near --components 3
        both fit own --map isomap --neighbors 6 --connect --landmarks 90 --components 2
        for name in eigen own; do same $name embedding eigenvalues rows; done
    done
    both graph cosine --metric cosine --neighbors 5
    same cosine neighbors distances
    one=one big=big
    for options in "--knn tree" "--knn sieve" "--knn exact --scale standard" "--mutual --sweep 2,4"; do
        both graph way${#options} --neighbors 6 $options
        same way${#options} neighbors distances
    done
    npy_u8 4096 300 >wide.npy # too wide for a tree: the sieve goes over the rows in 18 passes
    nystream import wide wide.npy -q
    nystream import wides wide.npy --shards 2 -q
    one=wide big=wides
    both graph sifted --knn sieve --neighbors 3
    same sifted neighbors distances
    one=one big=big
    seq 0 6498 | awk '{ print $1, $1 + 1, 2 }' >edges.txt
    both graph given --edges edges.txt
    same given components
    same_exports "one given --part graph" "big given --part graph" txt
}

@test "what reads them reads all rows: new rows, paths, measures, pictures" {
    one=one big=big
    head -n 200 rows.csv >new.csv
    both graph near --neighbors 8 --connect
    both fit iso --map isomap --graph near --landmarks 90 --components 2
    for store in one big; do
        nystream transform $store iso --input new.csv -o $store.iso.csv -q
        nystream transform $store near --input new.csv --neighbors 4 -o $store.near.csv -q
        nystream path $store near --from 5 --to 6400 >$store.path
        nystream eval $store iso --neighbors 5 --sample 300 --json |
            grep -vE '"(seconds|memory|peak|store)' >$store.json
        nystream plot $store iso --color 2 -o $store.svg -q
        nystream report $store -o $store.html -q
        nystream info $store iso --json >info.$store
    done
    cmp one.iso.csv big.iso.csv
    cmp one.near.csv big.near.csv
    cmp one.path big.path
    cmp one.json big.json
    cmp one.svg big.svg
    for key in n d edges components eigenvalues; do
        [ "$(field "$(<info.one)" $key)" = "$(field "$(<info.big)" $key)" ]
    done
    grep -q isomap big.html
    ny -0 list big
    [ "$output" = $'iso\tdone\nnear\tdone' ]
}

@test "a plan is that of all rows, and its budget works" {
    for options in "--map isomap --landmarks 90" "--map eigenmaps --neighbors 12"; do
        least=$(field "$(nystream plan big $options --json)" memory_min_bytes)
        [ "$least" -gt "$(field "$(nystream plan one $options --json)" memory_min_bytes)" ]
        ny -8 fit big map${#options} $options --memory $((least - 100000))
        nystream fit big map${#options} $options --memory "$least" -q
    done
    cmp <(nystream plan sparse --gamma-grid 0.01,0.1 --scale idf) \
        <(nystream plan spread --gamma-grid 0.01,0.1 --scale idf) # weights are counted in a pass
    [ "$(ls big)" = "$(printf '%s\n' shard-0000{0,1,2} shards shards.lock whole)" ]
}

# bats test_tags=slow
@test "graphs and maps that are killed go on to the same bytes" {
    local kills=0 options="--map isomap --neighbors 9 --connect --landmarks 400 --threads 1"
    nystream fit big straight $options -q
    for signal in KILL TERM; do
        for wait in 0.03 0.08 0.15 0.25 0.4 0.6; do
            nystream fit big $signal $options -q 2>err & # the options name the same work
            sleep $wait
            kill -s $signal $! 2>/dev/null || true
            wait $! 2>/dev/null && break || kills=$((kills + 1))
            nystream verify big -q
        done
        ny -0 fit big $signal $options -q
        same_exports "big straight" "big $signal"
    done
    [ $kills -ge 4 ]
}

@test "rows behind those of a graph leave it as it is, rows before them make it another one" {
    nystream graph big near --neighbors 4 -q
    nystream export big near --part neighbors -o near.npy -q
    nystream import big rows.csv --append -q # to the last shard
    writes near.npy "big near --part neighbors"
    has "big near" n=6500 rows_behind=6500
    nystream import big/shard-00000 rows.csv --append -q
    usage "make it again with --restart" export big near --part neighbors -o other.npy
    usage "make it again with --restart" graph big near --neighbors 4
    usage "make it again with --restart" transform big near --input rows.csv --neighbors 4 -o other.npy
    ny -0 list big
    ny -0 verify big
    nystream graph big near --neighbors 4 --restart -q
    [ "$(field "$(nystream info big near --json)" n)" = 19500 ]
}

@test "rows that a graph has stay, and a shard that is another one has others" {
    nystream graph big near --neighbors 4 -q
    ny -2 truncate big/shard-00002 --keep 10
    usage "'near' has rows of all shards" truncate big/shard-00000 --keep 10
    nystream rm big near
    [ -z "$(nystream list big)" ]
    nystream truncate big/shard-00000 --keep 2200 -q
    nystream graph big near --neighbors 4 -q
    rm -r big/shard-00001 && tail -n 701 rows.csv >other.csv
    nystream import big --shard 1/3 other.csv -q # as many rows
    ny -2 export big near --part neighbors -o other.npy
    nystream graph big near --neighbors 4 --restart -q
    nystream import big --shard 3/4 rows.csv -q
    ny -2 export big near --part neighbors -o other.npy
    mv big/shard-00003 away
    ny -2 graph big near --neighbors 4 --restart
    ny -2 info big near
}

@test "results of shards and of all rows are kept apart" {
    nystream graph big near --neighbors 4 -q
    nystream fit big map --landmarks 20 --components 2 -q
    usage "kept apart" fit big near --map pca
    usage "kept apart" fit big map --map isomap
    usage "kept apart" graph big map --restart
    usage "exists and is a graph" fit big near --landmarks 30
    ny -2 fit big near --update full
    nystream report big map -o map.html -q
    nystream report big near -o near.html -q
    [ "$(nystream list big)" = $'map\tdone\nnear\tdone' ]
    nystream rm big map && nystream rm big near
    ny -2 rm big near
}

@test "damage to what is of all rows is found, and set aside" {
    nystream fit big map --map isomap --landmarks 50 --components 2 -q
    nystream export big map -o map.npy -q
    spoil big/whole/results/data.mdb map.npy 4096
    ny -5 verify big --json
    [ "$(field "$output" results_damaged)" = 1 ]
    nystream repair big -q
    ny -0 verify big
    [ -z "$(nystream list big)" ]
    nystream fit big map --map isomap --landmarks 50 --components 2 -q
    writes map.npy "big map"
    nystream compact big -q
    writes map.npy "big map"
}

# bats test_tags=slow
@test "a process maps more shards than its address space has large maps for" {
    npy_u8 552960 1 >rows.npy # 270 units
    nystream import many rows.npy --shards 270 -q
    echo "0 552959 2" >edges.txt
    nystream graph many far --edges edges.txt -q 2>/dev/null
    ny -0 path many far --from 0 --to 552959
    [ "$output" = $'0\t0\n552959\t2' ]
}
