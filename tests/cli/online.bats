# --online: one pass selects and accumulates. (property/test_online.c recomputes the numbers and the certificate.)
load helper
brought="big.nys some.nys shards parts"

# 20,000 rows: two batches; and in three shards, of which the first two have rows of the first batch, and
# the last two of the second one. The sparse rows are in shards of sizes that are no multiples of units.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 20000 4 >big.csv
    store_and_shards big.nys shards big.csv 6144 18432
    awk -F, '{ printf "0"; for (j = 1; j <= NF; j++) if ($j > 0.3) printf " %d:%s", 9 * j, $j; print "" }' big.csv >some.libsvm
    store_and_shards some.nys parts some.libsvm 4096 10240 --layout sparse --dims 40
}

@test "one pass selects and accumulates, one projects" {
    ny -0 fit big.nys on --online --tolerance 0.1 --json
    fields online=true select=greedy passes=2 rows_read=40000
    ny fit big.nys two --select greedy --no-affine --tolerance 0.1 --json
    fields online=false passes=3
    same_exports "big.nys on --part landmarks" "big.nys two --part landmarks"
}

@test "what does not go in one pass is refused, with what to do" {
    ny -2 fit big.nys a --online
    for options in "--select uniform" "--approx nystrom" "--map laplacian" "--inner randomized" --affine --certify; do
        ny -2 fit big.nys a --online --tolerance 0.1 $options
    done
}

# bats test_tags=slow
@test "an update goes on with new rows, as the one pass would have" {
    local options="--online --tolerance 0.01 --precision f64 --gamma 2"
    nystream fit big.nys on $options -q
    nystream fit big.nys frozen $options -q
    table 500 4 77 >more.csv
    nystream import big.nys more.csv --append -q
    ny -0 fit big.nys on --update full --json
    [ "$(field "$output" n)" = 20500 ]
    [ "$(field "$output" rows_read)" -lt 24000 ] # all to embed, the new ones to select
    printf '%s' "$output" >full.json
    ny -0 fit big.nys frozen --update frozen --json
    [ "$(field "$output" n)" = 20500 ]
    head -n 100 more.csv >last.csv
    nystream fit big.nys scratch $options --json >scratch.json
    same_exports "big.nys on --part landmarks" "big.nys scratch --part landmarks"
    awk -v a="$(field "$(cat full.json)" trace_error)" \
        -v b="$(field "$(cat scratch.json)" trace_error)" 'BEGIN { exit !(a < 1.01 * b && b < 1.01 * a) }'
    nystream import big.nys last.csv --append -q # what was frozen is looked at, too
    nystream fit big.nys frozen --update full -q
    nystream fit big.nys scratch $options --restart -q
    same_exports "big.nys frozen --part landmarks" "big.nys scratch --part landmarks"
}

# bats test_tags=slow
@test "an interrupted one goes on and ends with the same bytes, whatever the threads" {
    nystream fit big.nys on --online --tolerance 1e-3 --threads 1 2>/dev/null &
    pid=$!
    until [ -n "$(nystream list big.nys)" ]; do sleep 0.02; done
    sleep 0.2
    kill -TERM $pid || true # it may have ended
    wait $pid || true
    nystream fit big.nys on --online --tolerance 1e-3 --threads 2 -q
    nystream fit big.nys whole --online --tolerance 1e-3 --threads 1 -q
    same_exports "big.nys on" "big.nys whole"
}

@test "the plan counts one pass less" {
    ny plan big.nys --online --tolerance 0.1 --json
    [ "$(field "$output" passes)" = 2 ]
    ny -8 fit big.nys a --online --tolerance 1e-4 --landmarks 3000 --memory 40M
}

@test "embed takes a pipe, however it is cut, as it takes the file" {
    ny -0 embed "$BATS_FILE_TMPDIR/big.csv" -o file.npy --online --tolerance 0.1
    { head -c 1001; sleep 0.1; head -c 300000; cat; } <"$BATS_FILE_TMPDIR/big.csv" |
        nystream embed - -o pipe.npy --online --tolerance 0.1 --threads 1 -q
    cmp file.npy pipe.npy
    nystream fit big.nys on --online --tolerance 0.1 -q
    writes file.npy "big.nys on"
}

@test "over shards one pass gives the bytes of one store" {
    while IFS='|' read -r store shards options; do
        nystream fit $store on --online --components 3 $options --restart -q
        ny -0 fit $shards on --online --components 3 $options --restart --json
        fields passes=2 rows_read=40000
        for part in embedding landmarks residuals; do
            same_exports "$store on --part $part" "$shards on --part $part"
        done
    done <<'END'
big.nys|shards|--tolerance 0.01
big.nys|shards|--tolerance 0.3 --kernel laplacian --gamma 1 --precision f64
big.nys|shards|--tolerance 0.01 --kernel linear --map pca
some.nys|parts|--tolerance 0.1
some.nys|parts|--tolerance 0.1 --kernel linear --map svd
END
    nystream fit big.nys on --online --tolerance 0.01 --restart -q
    together 2 fit shards on --online --tolerance 0.01 --restart --peers folder:2:meet -q
    same_exports "big.nys on --part model" "shards on --part model" nym
    [ "$(field "$(nystream info shards on --json)" same_bytes_as_one)" = true ]
}

@test "shards of any size have the landmarks of one store" {
    for shard in {0..24}; do # of 800 rows: a batch is in 21 of them
        tail -n +$((1 + shard * 800)) "$BATS_FILE_TMPDIR/big.csv" | head -n 800 |
            nystream import many --shard $shard/25 - --format csv -q
    done
    nystream fit big.nys on --online --tolerance 0.05 --json -q >one.json
    nystream fit many on --online --tolerance 0.05 --json -q >many.json
    same_exports "big.nys on --part landmarks" "many on --part landmarks"
    awk -v a="$(field "$(<one.json)" trace_error)" -v b="$(field "$(<many.json)" trace_error)" \
        'BEGIN { exit !(a < 1.05 * b && b < 1.05 * a) }'
}

@test "landmarks join among rows that a frozen update has summed" {
    nystream fit big.nys on --online --tolerance 0.01 --gamma 2 -q
    table 500 4 77 | awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j *= 2 } 1' >far.csv
    nystream import big.nys far.csv --append -q
    nystream fit big.nys on --update frozen -q
    ny -0 fit big.nys on --update full --json
    [ "$(field "$output" landmarks_added)" -gt 0 ]
    fields rows_read=22568 # all to embed, those of the last two units to select
    nystream fit big.nys scratch --online --tolerance 0.01 --gamma 2 -q
    same_exports "big.nys scratch --part landmarks" "big.nys on --part landmarks"
}

# bats file_tags=slow
@test "updates of shards place the rows of one store, and go over all rows anew" {
    local options="--online --tolerance 0.05 --components 3" store
    table 500 4 77 >more.csv
    for store in big.nys shards; do
        nystream fit $store frozen $options -q
        nystream import $store more.csv --append -q
        nystream fit $store frozen --update frozen -q
    done
    same_exports "big.nys frozen" "shards frozen"
    nystream fit shards frozen --update full -q
    nystream fit shards scratch $options -q
    same_exports "shards scratch" "shards frozen"
    nystream verify shards -q
}

@test "shards that are killed on their way end with the bytes of one store" {
    local options="--online --tolerance 1e-3 --components 3 --threads 1"
    nystream fit big.nys on $options -q
    fits_through_kills shards shard-00001 on $options
    [ $kills -ge 2 ]
    same_exports "big.nys on" "shards on"
    same_exports "big.nys on --part landmarks" "shards on --part landmarks"
}

@test "the least budget of its plan is enough for shards, and no less" {
    local options="--online --tolerance 1e-4 --landmarks 200 --components 3" least
    ny plan shards $options --json
    least=$(field "$output" memory_min_bytes)
    [ "$(field "$output" passes)" = 2 ]
    ny -8 fit shards on $options --memory $((least - 65536)) # of which each shard has a third
    nystream fit shards on $options --memory "$least" -q
    nystream fit big.nys on $options -q
    same_exports "big.nys on" "shards on"
}
