#!/usr/bin/env bats
# --online: one pass selects and accumulates.
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
    nystream export big.nys on --part landmarks -o - >first.out
    nystream export big.nys two --part landmarks -o - | cmp first.out -
}

# Prints the trace errors of the rows of FILE: in one pass, and in two with the same landmarks.
both_errors() {
    nystream import both.nys "$1" -q
    nystream fit both.nys on --online --tolerance 0.05 --precision f64 --map svd --json -q >on.json
    nystream fit both.nys two --select greedy --tolerance 0.05 --precision f64 --map svd --json -q \
        --gamma "$(field "$(cat on.json)" gamma)" >two.json
    rm -rf both.nys
    echo "$(field "$(cat on.json)" trace_error) $(field "$(cat two.json)" trace_error)"
}

@test "the trace error is above that of two passes where landmarks come late" {
    sort -n "$BATS_FILE_TMPDIR/big.csv" >sorted.csv
    both_errors sorted.csv | awk '{ exit !($1 > 1.1 * $2 && $1 < 2 * $2) }'
}

@test "the trace error is that of two passes where landmarks come first" {
    both_errors "$BATS_FILE_TMPDIR/big.csv" | awk '{ exit !($1 > 0.999999 * $2 && $1 < 1.01 * $2) }'
}

@test "landmarks that are known give the ordinary fit" {
    big_store
    nystream select big.nys d --landmarks 30 -q
    nystream fit big.nys on --online --landmarks-from d -q
    nystream fit big.nys two --landmarks-from d -q
    nystream export big.nys on -o - >first.out
    nystream export big.nys two -o - | cmp first.out -
}

@test "what does not go in one pass is refused, with what to do" {
    big_store
    ny -2 fit big.nys a --online
    ny -2 fit big.nys a --online --tolerance 0.1 --select uniform
    ny -2 fit big.nys a --online --tolerance 0.1 --approx nystrom
    ny -2 fit big.nys a --online --tolerance 0.1 --map laplacian
    usage --online fit big.nys a --online --tolerance 0.1 --inner randomized
    ny -2 fit big.nys a --online --tolerance 0.1 --affine
    ny -2 fit big.nys a --online --tolerance 0.1 --certify
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
    nystream export big.nys on --part landmarks -o - >first.out
    nystream export big.nys scratch --part landmarks -o - | cmp first.out -
    awk -v a="$(field "$(cat full.json)" trace_error)" \
        -v b="$(field "$(cat scratch.json)" trace_error)" 'BEGIN { exit !(a < 1.01 * b && b < 1.01 * a) }'
    nystream import big.nys last.csv --append -q # what was frozen is looked at, too
    nystream fit big.nys frozen --update full -q
    nystream fit big.nys scratch $options --restart -q
    nystream export big.nys frozen --part landmarks -o - >first.out
    nystream export big.nys scratch --part landmarks -o - | cmp first.out -
}

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
    nystream export big.nys on -o - >first.out
    nystream export big.nys whole -o - | cmp first.out -
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
