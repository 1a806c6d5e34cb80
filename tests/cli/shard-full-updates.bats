# Full updates of fits over shards: new rows come into the model, with the bytes of one store that had
# the same updates, whatever was interrupted.
load helper
brought="one big new.csv"

# 9,216 rows of bytes in one store and in three shards, and 1,500 rows more.
setup_file() {
    file_folder || return
    table 10716 6 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int($j * 60 + 20 * (NR % 5)) } 1' >all.csv
    head -n 8232 all.csv >old.csv
    tail -n +8233 all.csv >new.csv
    store_and_shards one big old.csv 6144 8192 --dtype u8
    nystream fit big map --landmarks 60 --components 3 -q
}

in_update='has "big large" update=running 2>/dev/null'

# grow_shards: appends rows to all shards.
grow_shards() {
    sed -n '1,1000p' new.csv >first.csv
    sed -n '1001,1700p' new.csv >second.csv
    sed -n '1701,$p' new.csv >third.csv
    nystream import big/shard-00000 first.csv --append -q
    nystream import big/shard-00001 second.csv --append -q
    nystream import big third.csv --append -q
}

# bats test_tags=slow
@test "full updates of maps of all kinds have the bytes of one store" {
    while read -r options; do
        name=map${#options}
        for store in one big; do
            cp -r $store $store.grown
            nystream fit $store.grown "$name" --components 3 $options -q
            nystream import $store.grown new.csv --append -q
            nystream fit $store.grown "$name" --update full -q
            nystream export $store.grown "$name" -o $store.npy -q
            nystream info $store.grown "$name" --json >$store.json
        done
        cmp one.npy big.npy
        same_fields 0 one.json big.json n updates landmarks landmarks_added passes mode gamma
        same_fields 1e-9 one.json big.json trace_error
        nystream verify big.grown -q
        rm -r one.grown big.grown
    done <<'END'
--landmarks 60
--map svd --landmarks 50 --select uniform --probe 20
--approx nystrom --averages landmarks --landmarks 40 --kernel laplacian
--map pca --approx exact
--select greedy --tolerance 0.3
--map laplacian --accuracy 2%
--approx projected --inner randomized --landmarks 90 --select uniform
END
}

# bats test_tags=slow
@test "sums that a full update has moved are said to be rounded" {
    table 45000 5 3 | awk -F, -v OFS=, '{ for (j = 1; j <= 5; j++) $j = int($j * 900 * exp(-2 * (NR % 3))) } 1' >w.csv
    head -n 20480 w.csv >0.csv
    sed -n '20481,36864p' w.csv >1.csv
    for shard in 0 1; do nystream import two --shard $shard/2 $shard.csv --dtype i16 -q; done
    ny -0 fit two map --landmarks 60 --select greedy --components 3 --json
    fields gram_precision=f32 same_bytes_as_one=true
    tail -n +36865 w.csv | nystream import two - --format csv --append -q
    ny -0 fit two map --update full --json
    fields gram_precision=f32 same_bytes_as_one=false differs="sums were rounded"
    [ "$(field "$output" landmarks_added)" -gt 0 ]
}

@test "a full update goes on from the sums of each shard where the landmarks stay" {
    sed -n '1,50p' "$BATS_FILE_TMPDIR/all.csv" >points.csv
    for store in one big; do
        nystream fit $store given --landmarks-points points.csv --components 3 -q
        nystream import $store new.csv --append -q
        ny -0 fit $store given --update full --json -v
        printf '%s\n' "$output" >$store.json
        nystream export $store given -o $store.npy -q
    done
    cmp one.npy big.npy
    [ "$(field "$(<one.json)" rows_read)" = "$(field "$(<big.json)" rows_read)" ]
}

@test "landmarks are the same rows after shards in front of theirs have grown" {
    nystream export big map --part landmarks -o numbers.csv -q
    nystream fit big named --landmarks-file numbers.csv --components 3 -q
    nystream export big named --part landmark-points -o before.csv -q
    grow_shards
    nystream fit big named --update full -q
    writes before.csv "big named --part landmark-points"
    awk '{ print $1 + ($1 >= 6144 ? 1000 : 0) + ($1 >= 8192 ? 700 : 0) }' numbers.csv >moved.csv
    writes moved.csv "big named --part landmarks"
    [ "$(field "$(nystream info big named --json)" landmarks_added)" = 0 ]
    answers 0 "has all rows" fit big named --update full
}

@test "rows that were placed are taken in by a full update, and more are placed then" {
    grow_shards
    cp -r big straight
    nystream fit big map --update frozen -q
    nystream fit big map --update full -q
    nystream fit straight map --update full -q
    same_exports "straight map" "big map"
    nystream import big/shard-00001 first.csv --append -q
    nystream fit big map --update frozen -q
    agree cmp "transform big map --input first.csv" "transform straight map --input first.csv" npy
    [ "$(field "$(nystream info big map --json)" n)" = 11716 ]
    nystream verify big -q
    nystream fit big map --update full -q # which counts those of shard 1
    [ "$(field "$(nystream info big map --json)" updates)" = 4 ]
}

# bats file_tags=slow
@test "full updates that are killed at any sync end with the same bytes" {
    local sync=0 states="" code=9 shard
    build_ends
    grow_shards
    cp -r big whole
    nystream fit whole map --update full -q
    nystream export whole map -o whole.npy -q
    while [ $code -eq 9 ]; do
        cp -r big killed
        code=0
        ends_at $sync nystream fit killed map --update full -q || code=$?
        for shard in 0 1 2; do # its rows, and whether the update is there
            nystream info killed/shard-0000$shard map --json >info.json
            states+=$(field "$(<info.json)" n)$(field "$(<info.json)" update),
        done
        states+=' '
        if [ $code -eq 9 ] && [[ $states == *6144interrupted,2048interrupted,40interrupted,' ' ]]; then
            rm -rf made
            cp -r killed made
        fi
        nystream fit killed map --update full -q
        writes whole.npy "killed map"
        nystream verify killed -q
        [ "$(field "$(nystream info killed map --json)" updates)" = 1 ]
        rm -r killed
        sync=$((sync + 1))
    done
    [ $code -eq 0 ]
    [ $sync -ge 20 ]
    grep -q "6144null,.*interrupted" <<<"$states" # some have begun
    cp -r made shown # all updates are made in it, and none is shown
    nystream fit shown map --update full -q
    for shard in 0 1 2; do
        cp -r made torn
        usage "has a full update that was interrupted" fit torn map --update frozen
        rm -r torn/shard-0000$shard
        cp -r shown/shard-0000$shard torn
        ny -0 fit torn map --update full
        [[ $stderr != *abandoned* ]]
        writes whole.npy "torn map"
        rm -r torn
    done
}

@test "processes that meet take rows into the model together" {
    grow_shards
    meet_for_update
    [ "$(cat said.* | grep -c 'map: 10,716 rows')" = 1 ]
    writes alone.npy "big map"
}

@test "a full update that was interrupted is told, and resume goes on" {
    nystream fit big large --landmarks 900 -q
    grow_shards
    stopped_when "$in_update" KILL 137 nystream fit big large --update full -q
    has "big large" update=interrupted n=8232
    prints '"resume": "nystream fit big large --update full -q"'
    nystream fit big large -q # with the options that it has
    has "big large" n=10716 update=null
}

@test "rows that come while a full update was interrupted are taken in as well" {
    nystream fit big large --landmarks 900 -q
    grow_shards
    stopped_when "$in_update" KILL 137 nystream fit big large --update full -q
    nystream import big/shard-00000 first.csv --append -q
    ny -0 fit big large --update full
    [ "$(field "$(nystream info big large --json)" n)" = 11716 ]
    nystream verify big -q
}
