# Kinds of fits over shards: each with the bytes of one store, or those numbers to rounding, by one
# process and by two that meet in a folder; and kills in the stages that only they have.
load helper

# 9,216 rows of bytes in one store and in three shards; and 3,000 rows of numbers, whose shards have
# sizes that are no multiples of anything.
setup_file() {
    file_folder || return
    table 9216 6 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int($j * 60 + 20 * (NR % 5)) } 1' >bytes.csv
    table 3000 5 7 | awk -F, -v OFS=, '{ $1 += NR / 1000; $2 *= $3 < 0.6 } 1' >numbers.csv
    store_and_shards one big bytes.csv 4096 6144 --dtype u8
    store_and_shards numbers odd numbers.csv 700 1999
    awk -v OFS=" " 'BEGIN { x = 5; for (i = 0; i < 6000; i++) { line = "0"; for (j = 1; j <= 400; j++) {
        x = (x * 16807) % 2147483647
        if (x % 40 == 0 || (i % 500 == 0 && i > 4000 && j > 350)) line = line OFS j ":" 1 + x % 5 }
        print line OFS "401:1" } }' >sparse.libsvm
    store_and_shards sparse parts sparse.libsvm 2048 4000
    store_and_shards counts cells sparse.libsvm 2048 4000 --rows total:100 --values log1p
}

setup() {
    own_folder || return
    ln -s "$BATS_FILE_TMPDIR"/*.{libsvm,csv} .
    cp -r "$BATS_FILE_TMPDIR"/{one,big,numbers,odd,sparse,parts,counts,cells} .
}

# both_ways STORE SHARDS NAME OPTION…: fits the store, and the shards by one process as NAME and by two
# as NAME2; the two have the same bytes.
both_ways() {
    local store=$1 shards=$2 name=$3
    shift 3
    nystream fit "$store" "$name" "$@" -q
    nystream fit "$shards" "$name" "$@" -q
    together 2 fit "$shards" "${name}2" "$@" --peers folder:2:meet -q
    same_exports "$shards $name" "$shards ${name}2"
}

# same_facts STORE SHARDS NAME KEY…: the reports agree in them, to 10 digits where they are numbers.
same_facts() {
    nystream info "$1" "$3" --json >one.json
    nystream info "$2" "$3" --json >big.json
    same_fields 1e-10 one.json big.json "${@:4}"
}

# bats file_tags=slow
@test "rows are placed by a model with the bytes of one store" {
    for stores in "one big" "numbers odd"; do
        read -r store shards <<<"$stores"
        nystream fit $store map --landmarks 40 --components 3 -q
        nystream export $store map --part model -o $store.nym -q
        both_ways $store $shards placed --model $store.nym
        same_exports "$store placed" "$shards placed"
        same_exports "$store placed" "$store map"
        [ "$(field "$(nystream info $shards placed --json)" same_bytes_as_one)" = true ]
        nystream rm $shards/shard-00001 placed
        ny -2 export $shards placed -o lost.npy
        nystream fit $shards placed --model $store.nym -q
        same_exports "$store placed" "$shards placed"
    done
    nystream fit numbers other --landmarks 20 --components 3 -q
    nystream export numbers other --part model -o other.nym -q
    usage "'placed' exists with other options" fit odd placed --model other.nym
}

@test "residuals that are certified are those of one store" {
    nystream fit one few --landmarks 20 --components 2 -q
    nystream export one few --part landmark-points -o points.csv -q
    for stores in "one big" "numbers odd"; do
        read -r store shards <<<"$stores"
        for rule in uniform rpcholesky; do
            both_ways $store $shards $rule --certify --select $rule --landmarks 40 --components 2
            same_facts $store $shards $rule residual_max residual_max_row residual_mean trace_error
            same_exports "$store $rule --part residuals" "$shards $rule --part residuals"
        done
    done
    both_ways one big given --certify --landmarks-points points.csv --components 2
    same_exports "one given --part residuals" "big given2 --part residuals"
}

@test "sums of all shards are made, merged with others, and gone on with" {
    local options="--landmarks-points points.csv --gamma 0.0002 --components 3"
    nystream fit one few --landmarks 30 --components 2 -q
    nystream export one few --part landmark-points -o points.csv -q
    ny -0 fit big map $options --until sums
    says "'map' has its sums" "map: 9,216 rows"
    nystream fit one map $options --until sums -q
    nystream merge one --name map -o one.nym --json -q >one.json
    nystream merge big/shard-* --name map -o big.nym --json -q >big.json
    [ "$(field "$(<big.json)" n)" = 9216 ]
    awk -v a="$(field "$(<one.json)" trace_error)" -v b="$(field "$(<big.json)" trace_error)" \
        'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (1e-10 * a) ^ 2) }'
    nystream rm big/shard-00001 map # the sums of the others stay, and are waited for
    ny -0 fit big map $options --until sums
    nystream merge big --name map -o again.nym -q
    cmp big.nym again.nym
    ny -2 merge big big --name map -o twice.nym
    nystream rm big/shard-00002 map
    ny -2 merge big --name map -o lost.nym
    ny -0 fit big map $options --until sums
    together 2 fit big map2 $options --until sums --peers folder:2:meet -q
    nystream merge big/shard-* --name map2 -o two.nym -q
    cmp big.nym two.nym
    cp -r big grown && head -n 10 "$BATS_FILE_TMPDIR/bytes.csv" >more.csv
    nystream import grown/shard-00001 more.csv --append -q
    ny merge grown --name map -o grown.nym
    says "the sum of 'map' lacks 10 rows"
    nystream fit big map $options -q
    nystream fit big straight $options -q
    same_exports "big map" "big straight"
}

@test "sparse rows in shards are fitted with landmarks as in one store" {
    for options in "--map kpca" "--map svd --select uniform --certify" "--map kpca --kernel cosine --probe 30" \
        "--map laplacian --kernel linear --averages implicit" "--map diffusion --kernel laplacian --gamma 0.02 --select uniform" \
        "--map pca --approx projected --scale unit" "--map kpca --inner randomized"; do
        options+=" --landmarks 40 --components 3 --precision f64"
        both_ways sparse parts f $options --restart
        nystream export sparse f -o sparse.csv -q
        nystream export parts f -o parts.csv -q
        within 1e-8 sparse.csv parts.csv
        for part in landmarks landmark-points; do
            same_exports "sparse f --part $part" "parts/shard-00001 f --part $part"
        done
        [[ $options != *probe* ]] || same_facts sparse parts f probe_error
        [[ $options != *certify* ]] || same_exports "sparse f --part residuals" "parts f --part residuals"
        least=$(nystream plan parts $options --json | sed -n 's/^  "memory_min_bytes": \([0-9]*\).*/\1/p')
        nystream fit parts least $options --memory "$least" --restart -q
    done
    nystream transform parts f --input part.1.sparse.libsvm -o new.csv -q
    sed -n '2049,4000p' parts.csv | within 1e-8 - new.csv
}

# bats file_tags=
@test "new sparse rows of the last shard are placed by the landmarks of all" {
    head -n 50 sparse.libsvm >more.libsvm
    for store in sparse parts; do
        nystream fit $store f --landmarks 40 --components 3 --precision f64 -q
        nystream import $store more.libsvm --append -q
        nystream fit $store f --update frozen -q
        nystream export $store f -o $store.csv -q
    done
    within 1e-8 sparse.csv parts.csv
    nystream export parts f --part model -o f.nym -q
    both_ways sparse parts placed --model f.nym
    same_exports "sparse placed" "parts placed"
}

# bats file_tags=slow
@test "landmarks are drawn by weight from the rows of all shards" {
    for stores in "one big" "numbers odd" "sparse parts"; do
        read -r store shards <<<"$stores"
        for map in "svd --kernel linear" "kpca --certify" "laplacian --kernel cosine"; do
            both_ways $store $shards f --map $map --select weighted --landmarks 40 --components 3 --precision f64 --restart
            same_exports "$store f --part landmarks" "$shards/shard-00001 f --part landmarks"
            agree "within 1e-7" "export $store f" "export $shards f"
        done
    done
}

@test "a greedy selection of all shards has the landmarks of one store" {
    while IFS='|' read -r store shards options; do
        options+=" --select greedy --components 2 --precision f64"
        both_ways $store $shards f $options --restart
        same_exports "$store f --part landmarks" "$shards/shard-00001 f --part landmarks"
        [[ $options == *--certify* ]] || continue # else a row that does not join has any bound below ε
        agree "within 1e-6" "export $store f --part residuals" "export $shards f --part residuals"
        [ $(nystream info $shards f --json | grep -c residual_max) -ge 1 ]
    done <<'END'
one|big|--landmarks 60 --certify
one|big|--landmarks 40 --no-pilot
one|big|--tolerance 0.1 --affine --certify
numbers|odd|--landmarks 50 --affine
numbers|odd|--tolerance 0.1 --certify
numbers|odd|--tolerance 1e-4 --landmarks 90 --map svd
sparse|parts|--landmarks 60 --certify
sparse|parts|--tolerance 0.95 --map svd
END
    ny -0 plan odd --select greedy --tolerance 0.1 --json
    [ "$(field "$output" landmarks)" -ge 40 ]
    nystream select numbers d --select greedy --tolerance 0.2 -q
    nystream select odd d --select greedy --tolerance 0.2 -q
    same_exports "numbers d --part landmark-points" "odd d --part landmark-points"
}

@test "a greedy selection of shards that is killed goes on to the same landmarks" {
    local options="--select greedy --landmarks 400 --components 2 --threads 1"
    nystream fit big straight $options -q
    fits_through_kills big shard-00001 map $options
    [ $kills -ge 2 ]
    same_exports "big straight" "big map"
}

@test "columns are weighed and chosen by the rows of all shards" {
    while IFS='|' read -r store shards options; do
        options+=" --components 3 --precision f64"
        both_ways $store $shards f $options --restart
        agree "within 1e-8" "export $store f" "export $shards f"
        [[ $options != *"map pca --approx exact"* ]] ||
            agree "within 1e-8" "export $store f --part axes" "export $shards f --part axes"
        [[ $options == *--features* ]] || continue
        for shard in 0 2; do
            same_exports "$store f --part features" "$shards/shard-0000$shard f --part features" csv
        done
    done <<'END'
sparse|parts|--scale idf --landmarks 40 --kernel cosine
sparse|parts|--scale idf-smooth --map svd --kernel linear --approx exact --tol 1e-9
numbers|odd|--scale idf --landmarks 30 --features min-rows:1000
sparse|parts|--features min-rows:140 --landmarks 40
sparse|parts|--map laplacian --kernel cosine --approx exact --tol 1e-9
sparse|parts|--features variance:50 --map pca --approx exact --tol 1e-9
sparse|parts|--features variable:60 --landmarks 40
counts|cells|--features variable:60 --landmarks 40 --certify
numbers|odd|--features variance:3 --scale standard --landmarks 30
END
    nystream transform odd f --input part.1.numbers.csv -o new.csv -q
    shown "odd f" | sed -n '701,1999p' | within 1e-8 - new.csv
}

# bats file_tags=
@test "weights of columns that are whole numbers leave the bytes of one store" {
    local options="--approx nystrom --averages landmarks --landmarks 40 --components 3"
    awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int($j / 20) * ((NR + j) % 3 > 0) } 1' bytes.csv >zeros.csv
    store_and_shards none some zeros.csv 4096 6144 --dtype u8
    for scale in none idf idf-smooth; do
        nystream fit none $scale --scale $scale $options -q
        nystream fit some $scale --scale $scale $options -q
        same_exports "none $scale" "some $scale"
        [ "$(field "$(nystream info some $scale --json)" same_bytes_as_one)" = true ]
    done
}

# bats file_tags=slow
@test "a selection alone is one of the rows of all shards, whose landmarks fits take" {
    while read -r store shards check options; do # in odd, BLAS meets rows at other places of a tile
        nystream select $store d --landmarks 300 --restart $options -q
        nystream select $shards d --landmarks 300 --restart $options -q
        together 2 select $shards d2 --landmarks 300 --restart $options --peers folder:2:meet -q
        for part in landmarks landmark-points; do
            same_exports "$store d --part $part" "$shards d --part $part"
            same_exports "$store d --part $part" "$shards d2 --part $part"
        done
        [ $check = : ] || agree $check "export $store d --part residuals" "export $shards d --part residuals"
        nystream rm $shards/shard-00001 d
        ny -2 export $shards d --part landmarks -o lost.npy
        nystream select $shards d --landmarks 300 $options -q
        same_exports "$store d --part landmarks" "$shards d --part landmarks"
        nystream fit $store map --landmarks-from d --components 2 --restart -q
        nystream fit $shards map --landmarks-from d --components 2 --restart -q
        same_exports "$store map --part landmark-points" "$shards map --part landmark-points"
    done <<'END'
one big cmp
numbers odd near
sparse parts : --kernel laplacian
END
    usage "'d' are rows of all shards; give the path of the store" export parts/shard-00001 d --part landmark-points -o lost.csv
    usage "rows of all shards" fit parts/shard-00001 own --landmarks-from d
    has "odd d" n=3000 landmarks=300
    nystream verify odd -q
    head -n 3 numbers.csv >more.csv
    nystream import odd more.csv --append -q
    nystream fit odd more --landmarks-from d --components 2 -q
    nystream import odd/shard-00001 more.csv --append -q
    usage "fit it anew with --restart" fit odd most --landmarks-from d --components 2
    nystream export odd d --part landmark-points -o points.csv -q # rows that have other numbers now
    writes points.csv "numbers d --part landmark-points"
}

# In one store vectors are of the rows where these are fewer; over shards only those of genotypes are.
@test "shards with fewer rows than columns are fitted as one store" {
    table 300 400 3 | awk -F, '{ for (j = 1; j <= 400; j++) printf "%s%s", j % 7 == NR % 7 ? $j + 9 / (1 + NR % 7) : 0.1 * $j, j < 400 ? "," : "\n" }' >wide.csv
    store_and_shards wide wides wide.csv 120 190
    awk -F, '{ printf "0"; for (j = 1; j <= NF; j++) if (j % 7 == NR % 7 || j % 11 == 0) printf " %d:%s", j, $j; print "" }' wide.csv >wide.libsvm
    store_and_shards thin thins wide.libsvm 120 190 --dims 400
    while IFS='|' read -r options; do
        for store in wide thin; do
            both_ways $store ${store}s f $options --approx exact --components 3 --precision f64 --tol 1e-9 --restart
            agree "within 1e-6" "export $store f" "export ${store}s f"
        done
    done <<'END'
--map pca
--map svd --kernel linear
--map laplacian --kernel cosine
END
}
