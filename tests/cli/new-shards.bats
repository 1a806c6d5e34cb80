# A store in shards that gets one more, whose rows come into its results, and one whose shard is away
# for a while.
load helper
brought="one big before new.csv"

# 10,716 rows of bytes, of which three shards have 8,232; a fourth is to have 1,500 of the others.
setup_file() {
    file_folder || return
    table 9732 6 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int($j * 60 + 20 * (NR % 5)) } 1' >all.csv
    head -n 8192 all.csv >old.csv
    tail -n +8193 all.csv >new.csv
    store_and_shards one big old.csv 4096 6144 --dtype u8
    for store in one big; do
        nystream fit $store map --landmarks 60 --components 3 -q
        nystream fit $store exact --map pca --approx exact --components 3 -q
    done
    cp -r big before
    nystream import big --shard 3/4 new.csv --dtype u8 -q
    nystream import one new.csv --append -q
}

@test "a new shard comes behind the last one, where all of these are there" {
    usage "has 4 shards; give --shard I/4" import big --shard 5/6 new.csv --dtype u8
    usage "has 3 shards; give --shard I/3" import before --shard 2/4 new.csv --dtype u8
    sed '1s/,/,1,/' new.csv >broken.csv
    ny -3 import before --shard 3/4 broken.csv --dtype u8
    nystream import before --shard 3/4 new.csv --dtype u8 -q # what has failed is taken back
    ny -2 import before --shard 3/4 new.csv --dtype u8
    nystream import begun --shard 0/3 new.csv --dtype u8 -q
    usage "has 3 shards; give --shard I/3" import begun --shard 3/4 new.csv --dtype u8
    nystream verify big
    nystream list big | grep -q "map.*done"
    usage "lacks shards of big that have joined since; update it" export big map -o map.npy
    [ "$(field "$(nystream info big map --json)" rows_behind)" = 1540 ]
    usage "exists for another number of shards" fit big map --landmarks 60 --components 3
}

@test "a host with a disk of its own joins with a new shard" {
    for host in 0 1 2; do
        mkdir -p host-$host/big
        cp before/shards host-$host/big
        cp -r before/shard-0000$host host-$host/big
    done
    mkdir host-3 meeting
    ny -2 import host-3/big --shard 4/5 new.csv --dtype u8 --like host-0/big
    nystream import host-3/big --shard 3/4 new.csv --dtype u8 --like host-0/big -q
    for host in 0 1 2; do
        cp host-3/big/shards host-$host/big
    done
    for host in 0 1 2 3; do
        nystream fit host-$host/big map --update full -q --peers folder:4:meeting 3>&- &
    done
    wait
    for host in 0 1 2 3; do
        nystream verify host-$host/big -q
        nystream export host-$host/big/shard-0000$host map -o rows.csv -q
        cat rows.csv >>hosts.csv
    done
    nystream fit one map --update full -q
    writes hosts.csv "one map"
}

# bats test_tags=slow
@test "an update comes to a new shard with the bytes of one store" {
    for mode in frozen full; do
        for store in one big; do
            cp -r $store $store.$mode
            for name in map exact; do
                nystream fit $store.$mode $name --update $mode -q
                nystream export $store.$mode $name -o $store.$name.npy -q
            done
            nystream info $store.$mode map --json >$store.json
        done
        cmp one.map.npy big.map.npy
        cmp one.exact.npy big.exact.npy
        same_fields 0 one.json big.json n updates landmarks mode drift_rows
        same_fields 1e-6 one.json big.json trace_error
        same_exports "one.$mode map --part errors" "big.$mode map --part errors" csv
        nystream verify big.$mode -q
        answers 0 "has all rows" fit big.$mode map --update $mode
    done
    nystream import big.frozen/shard-00001 new.csv --append -q # rows come to any shard again
    nystream fit big.frozen map --update full -q
    [ "$(field "$(nystream info big.frozen map --json)" n)" = 11272 ]
    nystream export big.frozen map --part landmark-points -o points.csv -q
    nystream verify big.frozen -q
}

# bats test_tags=slow
@test "updates that come to a new shard and are killed end with the same bytes" {
    build_ends
    for mode in frozen full; do
        cp -r big whole
        nystream fit whole map --update $mode -q
        nystream export whole map -o whole.npy -q
        code=9
        for ((sync = 0; code == 9; sync++)); do
            cp -r big killed
            code=0
            ends_at $sync nystream fit killed map --update $mode -q || code=$?
            nystream info killed map --json >info.json
            nystream fit killed map --update $mode -q
            writes whole.npy "killed map"
            nystream verify killed -q
            rm -r killed
        done
        [ $code -eq 0 ]
        [ $sync -ge 12 ]
        rm -r whole
    done
}

# bats test_tags=slow
@test "processes that meet bring a result to a new shard" {
    meet_for_update
    writes alone.npy "big map"
}

@test "a result that a shard has lost is not taken for one of a new shard" {
    nystream fit big map --update frozen -q
    nystream rm big/shard-00003 map -q
    ny -2 fit big map --update frozen
    ny -5 verify big
}

@test "while a shard is away some verbs go on, and all is as before when it is back" {
    mkdir disk
    nystream export before map -o map.npy -q
    mv before/shard-00001 disk
    while read -r command; do
        usage "before lacks 1 of its 3 shards: 1; import them, or move or link them here" $command
    done <<'END'
export before map -o out.npy
eval before map --clusters 3
report before map -o out.html
fit before map --update frozen
fit before map --update full
fit before other --landmarks 20
select before chosen --landmarks 20
import before new.csv --append
plan before
END
    while read -r command; do
        answers 0 "shards of before that are not here are left out: 1" $command
    done <<'END'
verify before
compact before
repair before
END
    ny -0 info before
    ny -0 info before map
    ny -0 list before
    nystream transform before map --input new.csv -o placed.npy -q
    nystream import before/shard-00000 new.csv --append -q
    mv disk/shard-00001 before
    nystream verify before -q
    cmp map.npy <(shown "before map" npy)
    nystream fit before map --update frozen -q
    [ "$(field "$(nystream info before map --json)" n)" = 9732 ]
}
