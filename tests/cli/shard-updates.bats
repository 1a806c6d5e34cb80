# Updates of fits over shards: rows appended to any shard, placed by the model of all of them, with the
# bytes of one store, whatever was interrupted.
load helper
brought="one big new.csv"

# 9,216 rows of bytes in one store and in three shards, whose last one has fewer than there are
# landmarks; and 1,500 rows more.
setup_file() {
    file_folder || return
    table 10716 6 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int($j * 60 + 20 * (NR % 5)) } 1' >all.csv
    head -n 8232 all.csv >old.csv
    tail -n +8233 all.csv >new.csv
    store_and_shards one big old.csv 6144 8192 --dtype u8
    for store in one big; do
        nystream fit $store map --landmarks 60 --components 3 -q
    done
}

# grow: appends the new rows to both stores.
grow() {
    nystream import one new.csv --append -q
    nystream import big new.csv --append -q
}

# same NAME: the embeddings of both stores have the same bytes.
same() { same_exports "one $1" "big $1"; }

@test "new rows of the last shard are placed as in one store" {
    grow
    ny export big map -o old.npy
    [ "$(field "$(nystream info big map --json)" rows_behind)" = 2484 ]
    answers 0 "drift of the new rows" fit big map --update frozen -v
    nystream fit one map --update frozen -q
    same map
    nystream info one map --json >one.json
    nystream info big map --json >big.json
    same_fields 1e-9 one.json big.json n updates landmarks_added drift_rows rows_read \
        total_rows_read trace_error
    has "big map" n=10716 updates=1
    has "big/shard-00001 map" n=2048
    nystream verify big -q
    cp -r big before
    ny -0 fit big map --update frozen
    diff -r -x lock.mdb before big
}

# bats test_tags=slow
@test "clusters of all shards go with an update" {
    nystream eval big map --clusters 3 -q >eval.txt
    nystream report big map -o report.html -q
    grow
    ny -0 fit big map --update frozen
    ny -2 export big map --part clusters -o clusters.csv
    nystream report big map -o report.html -q
    nystream eval big map --clusters 3 -q >eval.txt
    [ "$(shown "big map --part clusters" | wc -l)" = 10716 ]
}

# bats test_tags=slow
@test "clusters go to their rows where another shard than the last has grown" {
    nystream eval big map --clusters 3 -q >eval.txt
    nystream export big map --part clusters -o before.csv -q
    nystream import big/shard-00000 new.csv --append -q
    nystream eval big map --clusters 3 -q >eval.txt
    writes before.csv "big map --part clusters"
}

@test "landmarks stay the same rows where another shard than the last has grown" {
    nystream export big map --part landmark-points -o before.csv -q
    nystream export big map --part landmarks -o numbers.csv -q
    awk '{ print $1 + ($1 >= 6144 ? 2484 : 0) }' numbers.csv >moved.csv
    awk '$1 >= 6144 { some = 1 } END { exit !some }' numbers.csv
    for store in one big; do nystream fit $store far --landmarks 20 --certify -q; done
    worst=$(field "$(nystream info one far --json)" residual_max_row)
    nystream import big/shard-00000 new.csv --append -q
    writes before.csv "big map --part landmark-points"
    writes moved.csv "big map --part landmarks"
    worst=$((worst + (worst >= 6144 ? 2484 : 0)))
    [ "$(field "$(nystream info big far --json)" residual_max_row)" = $worst ]
    nystream report big far -o report.html -q
    grep -q "row $worst, which" report.html
}

@test "residuals are those of the rows of the fit after an update, and nothing is damaged" {
    for store in one big; do nystream fit $store near --landmarks 60 --gamma 0.00001 -q; done
    [[ $(field "$(nystream info big near --json)" residual_max) == 0.* ]]
    cp -r big inner
    nystream export big near --part residuals -o old.csv -q
    nystream import inner/shard-00000 new.csv --append -q
    nystream fit inner near --update frozen -q
    nystream export inner near --part residuals -o inner.csv -q
    { head -n 6144 old.csv && yes nan | head -n 2484 && tail -n +6145 old.csv; } >moved.csv
    cmp moved.csv inner.csv
    grow
    for store in one big; do
        nystream fit $store near --update frozen -q
        nystream export $store near --part residuals -o $store.csv -q
    done
    cmp one.csv big.csv
    [ "$(grep -c '^nan$' big.csv)" = 2484 ]
    [ "$(grep -c inf big.csv)" = 0 ]
    nystream verify big -q
}

# bats test_tags=slow
@test "maps of all kinds and several updates have the bytes of one store" {
    local options store rows names=() name
    head -n 12 new.csv >few.csv
    while read -r options; do
        names+=("map${#options}")
        for store in one big; do
            nystream fit $store "map${#options}" --components 3 $options -q
        done
    done <<'END'
--map svd --landmarks 50 --select uniform --probe 20
--map kpca --approx nystrom --averages landmarks --landmarks 40 --kernel laplacian
--map pca --approx exact
--map kpca --approx projected --inner randomized --landmarks 90 --select uniform
--map diffusion --landmarks 50
END
    for rows in few new; do # the last shard has fewer rows than landmarks with the few
        for store in one big; do
            nystream import $store $rows.csv --append -q
            for name in "${names[@]}"; do nystream fit $store "$name" --update frozen -q; done
        done
    done
    for name in "${names[@]}"; do same "$name"; done
    has "big $name" updates=2 n=$((10716 + 12))
}

# nights: rows come to shard 0, to shard 2, and to shard 0 again, with an update after each two; in one
# store they come in the same order. Writes what the set is to have in one.csv, by the order of its
# rows: those of shard 0, 1 and 2, of which the first has 6,144 and the others 2,088.
nights() {
    head -n 1000 new.csv >first.csv
    sed -n '1001,1700p' new.csv >second.csv
    sed -n '1701,$p' new.csv >third.csv
    nystream import big/shard-00000 first.csv --append -q
    nystream import big second.csv --append -q
    nystream fit big map --update frozen -q
    nystream import big/shard-00000 third.csv --append -q
    for night in first second third; do
        nystream import one $night.csv --append -q
        nystream fit one map --update frozen -q
    done
}

# as_in_set PART: the rows of one store in the order of the set, with all nights in it.
as_in_set() {
    nystream export one map --part "$1" -o all.csv -q
    sed -n '1,6144p;8233,9232p;9933,$p' all.csv
    sed -n '6145,8232p;9233,9932p' all.csv
}

@test "rows of any shard are placed as in one store" {
    nystream export big map --part landmarks -o before.csv -q
    nights
    [ "$(field "$(nystream info big map --json)" rows_behind)" = 784 ]
    nystream fit big map --update frozen -q
    nystream export big map -o big.csv -q
    as_in_set embedding >one.csv
    cmp one.csv big.csv
    has "big map" n=10716 updates=2 rows_behind=
    awk '{ print $1 + ($1 >= 6144 ? 1784 : 0) }' before.csv >moved.csv
    writes moved.csv "big map --part landmarks"
    nystream verify big -q
    answers 0 "'map' is done already" fit big map --landmarks 60 --components 3
    [ "$(field "$(nystream fit big map --landmarks 60 --components 3 --json 2>/dev/null)" n)" = 10716 ]
}

@test "pictures and models know the rows of a fit whose shards have grown" {
    nights
    nystream fit big map --update frozen -q
    nystream export one map --part model -o one.nym -q
    nystream export big map --part model -o big.nym -q
    [ "$(field "$(nystream info big.nym --json)" n)" = "$(field "$(nystream info one.nym --json)" n)" ]
    agree cmp "transform one map --input new.csv" "transform big map --input new.csv" npy
    nystream export big map --part landmarks -o numbers.csv -q
    inner=$(awk '$1 < 6144' numbers.csv | wc -l) # shard 0 has got rows behind its own of the fit
    nystream report big/shard-00000 map -o report.html -q
    [ "$(grep -o '"landmarks":"[^"]*' report.html | head -n 1 | cut -d '"' -f 4 | base64 -d | wc -c)" = $((8 * inner)) ]
}

# bats test_tags=slow
@test "updates of several shards that are killed at any moment end with the same bytes" {
    local delay kills=0
    nights
    as_in_set embedding >one.csv
    nystream import big/shard-00001 first.csv --append -q
    cp -r big whole
    nystream fit whole map --update frozen -q
    nystream export whole map -o whole.csv -q
    { sed -n '1,7928p' one.csv; } >one.0
    sed -n '1,7928p' whole.csv | cmp - one.0
    for delay in 0.006 0.012 0.02 0.025 0.03 0.04 0.05; do
        cp -r big "big.$delay"
        timeout -s KILL $delay nystream fit "big.$delay" map --update frozen --threads 1 -q || kills=$((kills + 1))
        nystream info "big.$delay" map --json >info.json
        nystream fit "big.$delay" map --update frozen -q
        writes whole.csv "big.$delay map"
        nystream verify "big.$delay" -q
        rm -r "big.$delay"
    done
    [ $kills -ge 1 ]
}

@test "a fit that is done already tells the rows that it lacks, and no others" {
    ny -0 fit big map --landmarks 60 --components 3
    [[ $stderr != *lacks* ]]
    nystream import big/shard-00000 new.csv --append -q
    answers 0 "'map' lacks 2484 rows" fit big map --landmarks 60 --components 3
    [ "$(grep -c lacks <<<"$stderr")" = 1 ]
}

@test "rows that are far from those of the fit are told by their numbers of now, and how they come in" {
    awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = 255 - $j } 1' new.csv >far.csv
    nystream import big/shard-00001 far.csv --append -q
    answers 0 "--update full takes them into the model" fit big map --update frozen
    nystream import big/shard-00000 new.csv --append -q
    [ "$(field "$(nystream info big map --json)" drift_largest_first)" = $((8192 + 2484)) ]
}

@test "rows of another shard than the last are taken out again" {
    nystream import big/shard-00000 new.csv --append -q
    ny -0 truncate big/shard-00000 --keep 6144
    answers 0 "'map' has all rows of big/shard-00002" fit big map --update frozen
    [ "$(field "$(nystream info big map --json)" n)" = 8232 ]
}

# bats test_tags=slow
@test "an update that is killed at any moment ends with the same bytes" {
    local delay code kills=0
    grow
    nystream fit one map --update frozen -q
    for delay in 0.004 0.008 0.012 0.016 0.02 0.03; do
        cp -r big "big.$delay"
        (cd "big.$delay" && timeout -s KILL $delay nystream fit . map --update frozen --threads 1 -q) || kills=$((kills + 1))
        nystream fit "big.$delay" map --update frozen -q
        nystream export "big.$delay" map -o killed.npy -q
        writes killed.npy "one map"
        [ "$(field "$(nystream info "big.$delay" map --json)" updates)" = 1 ]
        nystream verify "big.$delay" -q
        rm -r "big.$delay"
    done
    [ $kills -ge 1 ]
}

# bats test_tags=slow
@test "an update that was interrupted is told, and the same command goes on" {
    nystream fit big large --landmarks 900 -q
    for shard in 0 2; do
        cp -r big "big$shard"
        nystream import "big$shard/shard-0000$shard" new.csv --append -q
        stopped_when 'has "big$shard large" update=running 2>/dev/null' KILL 137 \
            nystream fit "big$shard" large --update frozen -q
        has "big$shard large" update=interrupted n=8232
        prints '"resume": "nystream fit big'$shard' large --update frozen -q"'
        nystream fit "big$shard" large --update frozen -q
        has "big$shard large" n=10716 update=null
    done
}

@test "processes that meet update together" {
    nights
    together 2 fit big map --update frozen --peers folder:2:meet
    [ "$(cat said.* | grep -c 'map: 10,716 rows')" = 1 ]
    as_in_set embedding >one.csv
    writes one.csv "big map"
}

@test "what an update over shards does not do is refused, with what to do" {
    ny import big new.csv --append -q
    [ -z "$stderr" ]
    nystream import one new.csv --append -q
    usage "none" fit big none --update frozen
    usage "landmarks: 60 → 61" fit big map --update frozen --landmarks 61
    ny -2 fit big/shard-00002 map --update frozen
    ny -0 fit big map --landmarks 60 --components 3
    for shard in 0 1 2; do nystream fit big/shard-0000$shard own --landmarks 20 -q; done
    ny -2 fit big own --update frozen
    nystream rm big/shard-00001 map
    usage "other rows than shard 0" fit big map --landmarks 60 --components 3
}
