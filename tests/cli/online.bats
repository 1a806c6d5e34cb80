#!/usr/bin/env bats
# --online: one pass selects and accumulates. (property/test_online.c recomputes the numbers and the certificate.)
load helper

# 20,000 rows: two batches.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 20000 4 >big.csv
    nystream import big.nys big.csv -q
}

big_store() {
    cp -r "$BATS_FILE_TMPDIR/big.nys" .
}

@test "one pass selects and accumulates, one projects" {
    big_store
    ny -0 fit big.nys on --online --tolerance 0.1 --json
    fields online=true select=greedy passes=2 rows_read=40000
    ny fit big.nys two --select greedy --no-affine --tolerance 0.1 --json
    fields online=false passes=3
    same_exports "big.nys on --part landmarks" "big.nys two --part landmarks"
}

@test "what does not go in one pass is refused, with what to do" {
    big_store
    ny -2 fit big.nys a --online
    for options in "--select uniform" "--approx nystrom" "--map laplacian" "--inner randomized" --affine --certify; do
        ny -2 fit big.nys a --online --tolerance 0.1 $options
    done
}

# bats test_tags=slow
@test "an update goes on with new rows, as the one pass would have" {
    big_store
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
    big_store
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
    big_store
    ny plan big.nys --online --tolerance 0.1 --json
    [ "$(field "$output" passes)" = 2 ]
    ny -8 fit big.nys a --online --tolerance 1e-4 --landmarks 3000 --memory 40M
}

@test "embed takes a pipe, however it is cut, as it takes the file" {
    ny -0 embed "$BATS_FILE_TMPDIR/big.csv" -o file.npy --online --tolerance 0.1
    { head -c 1001; sleep 0.1; head -c 300000; cat; } <"$BATS_FILE_TMPDIR/big.csv" |
        nystream embed - -o pipe.npy --online --tolerance 0.1 --threads 1 -q
    cmp file.npy pipe.npy
    big_store
    nystream fit big.nys on --online --tolerance 0.1 -q
    writes file.npy "big.nys on"
}
