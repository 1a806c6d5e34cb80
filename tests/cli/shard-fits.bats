# Fits over a store in shards: the bytes of one store, whatever was interrupted; refusals; and a shard
# that fails.
load helper
brought="one big odd numbers"

# 9,216 rows of bytes in one store, and the same in three shards; rows of numbers in shards whose
# sizes are no multiples of anything.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 9216 6 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int($j * 60 + 20 * (NR % 5)) } 1' >bytes.csv
    table 3000 5 7 | awk -F, -v OFS=, '{ $1 += NR / 1000 } 1' >numbers.csv # means differ between shards
    store_and_shards one big bytes.csv 4096 6144 --dtype u8
    store_and_shards numbers odd numbers.csv 700 1999
}

# fit_both NAME OPTIONS…: fits one store and the shards.
fit_both() {
    nystream fit one "$@" -q
    nystream fit big "$@" -q
}

@test "rows of bytes in shards give the bytes of one store" {
    while read -r options; do
        fit_both "map${#options}" --components 3 $options
        same_exports "one map${#options}" "big map${#options}"
    done <<'END'
--map svd --landmarks 50 --select uniform --probe 20
--map kpca --landmarks 60 --select rpcholesky --seed 5
--map kpca --approx nystrom --averages landmarks --landmarks 40 --kernel laplacian
--map kpca --landmarks 40 --kernel matern --nu 0.5
--map svd --landmarks 40 --kernel rational-quadratic --alpha 0.7
--map pca --approx exact
--map laplacian --accuracy 2%
--map kpca --approx projected --inner randomized --landmarks 90 --select uniform
END
}

@test "a report over shards is that of all rows" {
    nystream fit one map --landmarks 50 --components 3 --probe 20 --json -q >one.json
    nystream fit big map --landmarks 50 --components 3 --probe 20 --json -q >big.json
    # sums of shards are those of one store to rounding
    same_fields 1e-12 one.json big.json n d landmarks rows_read passes gamma trace_error \
        probe_columns
    has "big map" n=9216
    has "big/shard-00001 map" n=2048
    answers 0 "is done already" fit big map --landmarks 50 --components 3 --probe 20
    same_exports "one map --part landmarks" "big/shard-00002 map --part landmarks"
}

# bats test_tags=slow
@test "measures and clusters of shards are those of one store" {
    fit_both map --map kpca --landmarks 40 --components 3
    nystream eval one map --clusters 5 --sample 500 --json >one.json
    nystream eval big map --clusters 5 --sample 500 --json >big.json
    same_fields 0 one.json big.json inertia iterations trustworthiness distance_error
    same_exports "one map --part clusters" "big map --part clusters"
    [ "$(shown "big map --part clusters" | sort -u | wc -l)" = 5 ]
    fit_both other --map svd --landmarks 40 --components 3
    nystream eval big map --against other --json >big.json
    [ "$(field "$(<big.json)" alignment_error)" != null ]
}

# bats test_tags=slow
@test "clusters of one shard are not taken for those of all" {
    nystream fit big map --landmarks 40 --components 3 -q
    nystream eval big map --clusters 3 -q >eval.txt
    nystream eval big/shard-00001 map --clusters 5 -q >eval.txt
    ny -2 export big map --part clusters -o clusters.csv
    nystream report big map -o report.html -q
    [[ $(nystream info big map --json) != *clustering* ]]
    nystream eval big map --clusters 3 -q >eval.txt
    [ "$(shown "big map --part clusters" | sort -u | wc -l)" = 3 ]
    [[ $(nystream info big map --json) == *clustering* ]]
}

@test "a result that a shard has lost is made whole by the same command" {
    nystream fit big map --landmarks 50 -q
    nystream export big map -o before.npy -q
    nystream rm big/shard-00001 map
    ny -2 export big map -o after.npy
    nystream fit big map --landmarks 50 -q
    writes before.npy "big map"
}

@test "a shard may have fewer rows than the result has components" {
    head -n 2 "$BATS_FILE_TMPDIR/numbers.csv" >few.csv
    nystream import small --shard 0/3 "$BATS_FILE_TMPDIR/part.0.numbers.csv" -q
    nystream import small --shard 1/3 few.csv -q
    nystream import small --shard 2/3 "$BATS_FILE_TMPDIR/part.2.numbers.csv" -q
    nystream fit small map --landmarks 60 --components 6 -q
    nystream export small map -o map.csv -q
    [ "$(grep -c , map.csv)" = $((700 + 2 + 1001)) ]
    nystream transform small map --input few.csv -o few.map.csv -q
    sed -n '701,702p' map.csv | within 1e-6 - few.map.csv
    nystream eval small map --clusters 3 -q
    nystream eval small/shard-00001 map --measures reconstruction -q
    nystream verify small
    nystream import small few.csv --append -q
    nystream fit small map --update frozen -q
}

# bats file_tags=slow
@test "rows of numbers in shards of any size give the fit of one store to rounding" {
    for map in "kpca --landmarks 40" "laplacian --landmarks 40 --averages implicit --probe 30" \
        "diffusion --landmarks 40 --time 2" "pca --landmarks 40 --approx projected" \
        "svd --landmarks 40 --scale standard" "laplacian --kernel cosine --approx exact --tol 1e-9" "svd --kernel linear --approx exact --tol 1e-9"; do
        nystream fit numbers f --map $map --components 3 --precision f64 --restart -q
        nystream fit odd f --map $map --components 3 --precision f64 --restart -q
        agree "within 1e-9" "export numbers f" "export odd f"
    done
    head -n 5 "$BATS_FILE_TMPDIR/part.1.numbers.csv" >new.csv
    nystream transform odd f --input new.csv -o placed.csv -q
    shown "odd f" | sed -n '701,705p' | within 1e-9 placed.csv -
}

# in_shards COUNT FILE OPTION…: the rows of a csv, in as many shards of the same size, fitted; the
# model is COUNT.nym.
in_shards() {
    local count=$1 rows shard
    rows=$(wc -l <"$2")
    for ((shard = 0; shard < count; shard++)); do
        [ -d in$count/shard-0000$shard ] ||
            tail -n +$((1 + shard * rows / count)) "$2" | head -n $((rows / count)) |
            nystream import in$count --shard $shard/$count - --format csv ${dtype:+--dtype $dtype} -q
    done
    nystream fit in$count f --landmarks 60 --restart -q "${@:3}"
    nystream export in$count f --part model -o $count.nym -q
}

@test "rows of numbers have the same bytes in any number of shards" {
    local options dtype=
    table 36864 5 3 | awk -F, -v OFS=, '{ $1 += NR / 1000; $2 *= exp(9 * rand()) } 1' >numbers.csv
    while read -r options; do
        in_shards 2 numbers.csv $options
        in_shards 3 numbers.csv $options
        cmp 2.nym 3.nym
    done <<'END'
--approx nystrom
--approx nystrom --scale standard
--approx projected --scale unit
--approx projected --kernel laplacian --select uniform
END
    [ "$(nystream info in2 f --json | grep -c '"gram_precision": "f32"')" -eq 1 ]
}

@test "whole numbers have the model of one store in any number of shards" {
    local dtype=i16
    table 36864 5 3 | awk -F, -v OFS=, '{ for (j = 1; j <= 5; j++) $j = int($j * 900 * exp(-2 * (NR % 3))) } 1' >whole.csv
    nystream import whole whole.csv --dtype i16 -q
    nystream fit whole f --landmarks 60 -q
    nystream export whole f --part model -o whole.nym -q
    for shards in 2 3; do
        in_shards $shards whole.csv
        cmp $shards.nym whole.nym
        [ "$(field "$(nystream info in$shards f --json)" same_bytes_as_one)" = true ]
    done
}

@test "a solve by several threads has the bytes of one store, whatever the other shards do meanwhile" {
    local large="--approx nystrom --select uniform --landmarks 2100 --gamma 0.01 --components 3" shard
    table 12288 6 3 | awk -F, -v OFS=, '{ for (j = 1; j <= 6; j++) $j = int($j * 60) } 1' >many.csv
    nystream import all many.csv --dtype u8 -q
    nystream fit all f $large -q
    nystream export all f --part model -o all.nym -q
    for shard in 0 1 2 3 4 5; do
        tail -n +$((1 + shard * 2048)) many.csv | head -n 2048 |
            nystream import six --shard $shard/6 - --format csv --dtype u8 -q
    done
    for _ in 1 2 3 4; do # a shard that is late would end the leader's threads, or have them itself
        nystream fit six f $large --restart -q
        writes all.nym "six f --part model"
    done
}

# bats file_tags=
@test "a result over shards says whether it has the bytes of one store, or why not" {
    while IFS='|' read -r store options differs; do
        ny -0 fit $store b --components 2 $options --restart --json
        [ "$(field "$output" same_bytes_as_one)" = "$([ "$differs" = null ] && echo true || echo false)" ]
        [ "$(field "$output" differs)" = "$differs" ]
    done <<'END'
big|--approx nystrom --averages landmarks --landmarks 20|null
big|--landmarks 20 --scale standard|columns are scaled by their statistics
big|--landmarks 20|sums are f64
big|--landmarks 20 --inner randomized|products are f64
big|--landmarks 20 --map laplacian|K is divided by degrees
odd|--landmarks 20|a shard but the last has a number of rows that is no multiple of 2
END
}

@test "a row that no landmark reaches has its number among all rows" {
    seq 0 9 >few.csv
    while read -r last code told; do
        sed "1500,${last}s/.*/900,900,900,900,900/" "$BATS_FILE_TMPDIR/numbers.csv" >far.csv
        nystream import far$last --shard 0/2 <(head -n 1000 far.csv) --format csv -q
        nystream import far$last --shard 1/2 <(tail -n +1001 far.csv) --format csv -q
        ny -"$code" fit far$last map --map laplacian --landmarks-file few.csv --gamma 1 --components 2
        says "$told"
    done <<'END'
1500 0 1 of 3000 rows, the first of them row 1499, are too far from all landmarks
1540 7 41 of 3000 rows, the first of them row 1499
END
}

# bats test_tags=slow
@test "processes with budgets of their own take the same steps" {
    npy_u8 2048 784 >0.npy
    npy_u8 2000 784 >1.npy
    nystream import wide --shard 0/2 0.npy -q
    nystream import wide --shard 1/2 1.npy -q
    nystream fit wide alone --landmarks 30 --components 2 -q
    nystream fit wide map --landmarks 30 --components 2 --memory 120M --peers folder:meeting -q &
    nystream fit wide map --landmarks 30 --components 2 --memory 2G --peers folder:meeting -q
    wait $!
    same_exports "wide alone" "wide map"
}

# bats test_tags=slow
@test "shards that are killed on their way end with the same bytes" {
    local options="--map laplacian --averages implicit --landmarks 250 --components 4 --probe 40 --threads 1"
    nystream fit big straight $options -q
    fits_through_kills big "" map $options
    [ $kills -ge 2 ]
    same_exports "big straight" "big map"
    nystream verify big -q
}

@test "a shard that has come less far takes the others along" {
    for options in "--landmarks 30 --probe 10" "--select greedy --tolerance 0.3"; do
        nystream fit big whole $options --components 2 --restart -q
        nystream export big whole -o whole.npy -q
        for shard in 0 2; do
            nystream rm big/shard-0000$shard whole -q
            ny export big whole -o lost.npy -q
            [ "$status" -ne 0 ]
            ny -0 fit big whole $options --components 2 -q
            writes whole.npy "big whole"
        done
    done
}

# ends_in STAGE STORE NAME OPTIONS…: fits, and kills it while its last shard is in this stage; again
# where the stage was over too soon, or a shard is still in the first one, from which all start over.
ends_in() {
    local stage=$1 store=$2 name=$3 pid tries
    shift 3
    for tries in {1..20}; do
        nystream fit "$store" "$name" "$@" -q &
        pid=$!
        until is_in "$stage" "$store/shard-00002" "$name"; do
            kill -0 $pid || break
        done
        kill -KILL $pid || true
        wait $pid || true
        if is_in "$stage" "$store/shard-00002" "$name" &&
            ! is_in stats "$store/shard-00000" "$name" &&
            ! is_in stats "$store/shard-00001" "$name"; then
            return 0
        fi
        nystream rm "$store" "$name" -q
    done
    return 1
}

# is_in STAGE SHARD NAME
is_in() {
    nystream info "$2" "$3" --json 2>err | grep -q '"stage": "'"$1"'"'
}

# takes_along BEHIND AHEAD OPTIONS…: of two stores of the same fit, one ended earlier, puts a shard of
# each among those of the other. Both end with the bytes of a fit that was not ended.
takes_along() {
    local behind=$1 ahead=$2 mixed facts='"probe_error"|"inner_passes"'
    shift 2
    nystream fit big whole "$@" -q
    nystream export big whole -o whole.npy -q
    nystream info big whole --json | grep -E "$facts" >whole.facts
    for mixed in "$behind $ahead" "$ahead $behind"; do
        rm -rf mixed
        cp -r "${mixed% *}" mixed
        rm -r mixed/shard-00001
        cp -r "${mixed#* }/shard-00001" mixed
        cp "$behind/shards" mixed # which does not know more than a kill has left
        ny -0 fit mixed map "$@" -q
        writes whole.npy "mixed map"
        nystream info mixed map --json | grep -E "$facts" >again.facts
        cmp whole.facts again.facts
    done
    nystream rm big whole -q
}

# bats file_tags=slow
@test "a selection that was ended goes on where the last shard has grown" {
    local options="--landmarks 1500 --components 2"
    nystream fit big straight $options -q
    ends_in select big map $options
    for _ in 1 2; do nystream import big "$BATS_FILE_TMPDIR/bytes.csv" --append -q; done
    answers 0 "18432 rows were appended since 'map' began, and not in it" fit big map $options
    same_exports "big straight" "big map"
}

@test "a fit that was ended is not gone on with where another shard than the last has grown" {
    local options="--landmarks 40 --components 2 --probe 3000"
    ends_in probe big map $options
    head -n 10 "$BATS_FILE_TMPDIR/bytes.csv" >more.csv
    nystream import big/shard-00000 more.csv --append -q
    usage "now; fit it anew with --restart" fit big map $options
    nystream fit big map $options --restart -q
    [ "$(field "$(nystream info big map --json)" n)" = 9226 ]
}

@test "a shard whose probe is over helps one that is in it" {
    for map in "kpca" "laplacian --averages implicit"; do
        options="--map $map --landmarks 40 --components 2 --probe 3000"
        rm -rf probes done
        cp -r big probes
        ends_in probe probes map $options
        cp -r probes done
        nystream fit done map $options -q
        takes_along probes done $options
    done
}

@test "a shard whose products are made helps one that has begun with them" {
    local options="--map kpca --inner randomized --landmarks 800 --components 4"
    cp -r big begun
    cp -r big made
    ends_in accumulate begun map $options
    ends_in solve made map $options
    takes_along begun made $options
}

# knows STORE: its first shard has begun with sums, and so knows what f32 would lose.
knows() {
    is_in accumulate "$1/shard-00000" map &&
        [ "$(field "$(nystream info "$1/shard-00000" map --json)" gram_precision)" != null ]
}

@test "a shard that knows what f32 sums would lose goes on with one that does not" {
    local options="--landmarks 1500 --components 2 --threads 1" wait
    cp -r big before
    ends_in accumulate before map $options
    if knows before; then return 1; fi
    for wait in $(awk 'BEGIN { for (s = 0.1; s < 120; s *= 1.1) print s }'); do
        rm -rf behind
        cp -r before behind
        timeout "$wait" nystream fit behind map $options -q || true
        ! knows behind || break
    done
    knows behind
    takes_along before behind $options
}

# caught NAME OPTIONS…: in caught, the shards as a kill in the midst of pass 2 has left them; a job
# that is killed before goes on.
caught() {
    local wait=0 pid stage=done
    until [ "$stage" = project ]; do
        if [ "$stage" = done ]; then
            rm -rf caught
            cp -r big caught
        fi
        nystream fit caught "$@" -q 2>err &
        pid=$!
        wait=$(((wait + 7) % 400))
        sleep "0.$(printf %03d $wait)"
        kill -TERM $pid 2>/dev/null || true
        wait $pid 2>/dev/null && stage=done ||
            stage=$(field "$(nystream info caught "$1" --json 2>err)" stage)
    done
}

@test "check rows are the same where some shards go on in pass 2, and others begin it" {
    local options="--landmarks 250 --components 4 --threads 1 --check-rows 256" shard
    cp -r big whole
    nystream fit whole map $options -q
    nystream export whole map -o whole.npy -q
    nystream export whole map --part errors -o errors.csv -q
    caught map $options
    for shard in none 0 1 2; do
        rm -rf mixed
        cp -r caught mixed
        [ $shard = none ] || rm -r mixed/shard-0000$shard
        [ $shard = none ] || cp -r whole/shard-0000$shard mixed
        nystream fit mixed map $options -q
        writes whole.npy "mixed map"
        writes errors.csv "mixed map --part errors"
    done
}

# bats file_tags=
@test "the number of threads and the budget change no byte of shards" {
    nystream fit big a --landmarks 70 --components 3 --threads 1 --memory 400M -q
    nystream fit big b --landmarks 70 --components 3 --threads 6 -q
    same_exports "big a" "big b"
}

# seconds_of FILE STAGE: of a plan as JSON.
seconds_of() {
    sed -n '/"stages": {/,/}/s/.*"'"$2"'": \([0-9.e+-]*\).*/\1/p' "$1"
}

# bats file_tags=slow
@test "a plan of shards is that of all of them in one process" {
    ny -0 plan big --landmarks 500 --json
    has_keys "$output" exchange_bytes exchange_seconds
    least=$(field "$output" memory_min_bytes)
    each=$(sed -n '/"shards": {/,/}/p' <<<"$output")
    [ "$(field "$each" count)" = 3 ]
    # Three processes with a shard each are three processes; one with three shards is one.
    alone=$(($(field "$each" memory_min_bytes) - 64 * 1048576))
    [ $((3 * alone - least)) -gt $((28 * 1048576)) ]
    ny plan big --landmarks 500
    prints "3; a process with one shard needs at least" "and the shards exchange 979 KiB"
    ny -8 fit big x --landmarks 500 --memory $((least - 131072)) --components 2
    says "needs $least bytes"
    ny -8 fit big x --landmarks 500 --memory 20M --components 2 # little more than the process takes
    says "needs $least bytes"
    nystream fit big x --landmarks 500 --memory "$least" --components 2 -q
    usage "take --approx projected" plan big --approx gaussian
    shows "the plan takes longer" plan big --landmarks 500 --time-limit 0.00001
    ny -8 fit big late --landmarks 500 --time-limit 0.00001
    # A plan so short takes rates that are kept, or guessed: the problem is solved once, not by each.
    nystream plan one --landmarks 40 --threads 1 --json >one.json
    nystream plan big --landmarks 40 --threads 1 --json >big.json
    awk -v one="$(seconds_of one.json solve)" -v big="$(seconds_of big.json solve)" \
        'BEGIN { exit !(one > 0 && big < 1.01 * one && big > 0.99 * one) }'
    awk -v all="$(field "$(<big.json)" seconds)" 'NF && $1 != "#" { sum += $1 }
        END { exit !(sum < 1.001 * all && sum > 0.999 * all) }' <<<"$(for stage in stats select \
        degrees accumulate solve project probe; do seconds_of big.json $stage; done)"
}

@test "a process with one shard needs what the plan of shards tells" {
    each=$(field "$(nystream plan big --landmarks 500 --json | sed -n '/"shards": {/,/}/p')" memory_min_bytes)
    for less in 131072 0; do
        for shard in 0 1 2; do
            nystream fit big x --landmarks 500 --memory $((each - less)) --components 2 -q \
                --peers folder:meet >said.$shard 2>&1 3>&- &
        done
        status=0
        for shard in $(jobs -p); do wait "$shard" || status=$?; done
        [ $status = $((less ? 8 : 0)) ] || { cat said.*; false; }
    done
}

@test "the least budget that a plan of shards tells is enough for wide rows" {
    npy_u8 4096 784 >0.npy
    npy_u8 3000 784 >1.npy
    nystream import wide --shard 0/2 0.npy -q
    nystream import wide --shard 1/2 1.npy -q
    while read -r options; do
        ny plan wide --components 3 $options --json
        least=$(field "$output" memory_min_bytes)
        nystream fit wide map --components 3 $options --memory "$least" --restart -q
    done <<'END'
--landmarks 300 --select uniform --probe 100
--landmarks 300 --approx nystrom --averages landmarks
--map pca --approx exact
END
}

# bats file_tags=
@test "what does not go over shards is refused, with what does" {
    while IFS='|' read -r options words; do
        ny -2 fit big x --components 2 $options
    done <<'END'
--columns-file none.npy|fit a store that has all rows
--approx exact --map kpca|take --approx projected
--approx gaussian|take --approx projected
--update full|--update frozen places the new rows
END
    [ -z "$(nystream list big)" ]
    ny -8 fit big x --landmarks 3000 --memory 200M
}

@test "a shard that fails ends all of them, and says which it was" {
    nystream fit big/shard-00001 map --landmarks 20 --components 2 -q
    ny -2 fit big map --landmarks 30 --components 2
    nystream fit big all --landmarks 20 --components 2 -q
    ny -2 fit big/shard-00002 all --landmarks 20 --components 2
    ny -2 fit big/shard-00002 all --update frozen
    usage "exists with other options" fit big all --landmarks 30 --components 2
    ny -0 fit big other --landmarks 30 --components 2 --json -q
    printf 'damaged' | dd of=big/shard-00001/points/data.mdb bs=1 seek=20000 conv=notrunc 2>/dev/null
    answers 5 "shard 1" fit big third --landmarks 30 --components 2
    [ "$(nystream list big/shard-00001 | grep -c third)" -le 1 ]
}

@test "landmarks of a result of all shards are not taken for rows of one of them" {
    nystream fit one map --landmarks 50 -q
    nystream fit big map --landmarks 50 -q
    nystream export one map --part landmark-points -o one.csv -q
    for path in big big/shard-00000 big/shard-00001 big/shard-00002; do
        writes one.csv "$path map --part landmark-points"
    done
    nystream export one map --part landmarks -o rows.csv -q
    awk '$1 >= 4096 && $1 < 6144 { print $1 - 4096 }' rows.csv | sort -n >wanted
    [ -s wanted ]
    nystream report big/shard-00001 map -o page.html -q
    grep -o '"landmarks":"[^"]*"' page.html | head -n 1 | cut -d'"' -f4 | base64 -d |
        od -An -v -tf8 -w8 | awk '{ print $1 + 0 }' | sort -n | cmp - wanted
    nystream fit big again --landmarks-from map -q
    ny -2 fit big/shard-00001 own --landmarks-from map
}
