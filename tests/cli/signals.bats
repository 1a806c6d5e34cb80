# SIGHUP, SIGINT and SIGTERM: a clean stop with a line that resumes, and an end at once when a second one is sent.
load helper
brought=s

# A fit of some seconds: 60,000 rows, 1,500 landmarks, one thread.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 60000 8 >big.csv
    nystream import s big.csv -q
}
slow="--landmarks 1500 --components 2 --threads 1"

# Runs a command in the background as from a terminal: a shell has its own background jobs ignore
# SIGINT, and what is ignored stays so.
start() {
    exec env --default-signal=HUP,INT "$@"
}

# Starts a fit or another command, and sends a signal when the result is under way, which ends it so.
interrupt() { # SIGNAL STATUS STORE COMMAND…
    local signal=$1 code=$2 store=$3 pid
    shift 3
    start "$@" 2>err >out &
    pid=$!
    await '[[ $(nystream list "$store") == *running* ]]' || true
    sleep 0.3
    kill -s "$signal" $pid
    ends $pid "$code"
}

# bats test_tags=slow
@test "a fit stops on SIGINT, says how to go on, and ends with the same bytes" {
    interrupt INT 130 s nystream fit s "whole" $slow --restart
    grep -Eqx "nystream: (interrupted in stage [a-z]+(, at [0-9]+ %)?|stopped during .*)" err
    grep -qx "resume with: nystream fit s whole --landmarks 1500 --components 2 --threads 1" err
    ny list s
    [[ $output == "whole	interrupted"* ]]
    ny -2 export s whole -o x.npy
    nystream fit s whole $slow -q
    nystream fit s other $slow -q
    same_exports "s whole" "s other"
}

# bats test_tags=slow
@test "a map of a graph that was interrupted tells its stage, and no number of rows" {
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 30000 -o - | nystream import r - -q
    nystream graph r g --knn sieve --neighbors 10 -q
    interrupt INT 130 r nystream fit r e --map isomap --landmarks 3000 --graph g --threads 1
    ny -0 info r e
    [[ $output =~ progress\ +(select|accumulate|solve|project)$'\n'resume\ with ]]
    [[ $output != *certificate* ]] # there is none yet
    has "r e" rows_done=null
    ny info r g
    [[ $output != *progress* ]]
}

@test "SIGTERM is 143, and the line is in the JSON" {
    interrupt TERM 143 s nystream fit s a $slow --json
    [ "$(wc -l <err)" -eq 1 ]
    grep -q '"code":143,"kind":"terminated"' err
    grep -q '"resume":"nystream fit s a --landmarks 1500 --components 2 --threads 1 --json"' err
    [ ! -s out ]
}

# bats file_tags=slow
@test "SIGHUP is 129, after a checkpoint that the next run goes on from" {
    interrupt HUP 129 s nystream fit s a $slow
    grep -q "hung up" err
    grep -qx "resume with: nystream fit s a --landmarks 1500 --components 2 --threads 1" err
    ny list s
    [[ $output == "a	interrupted"* ]]
}

@test "a signal that is ignored from the start stays ignored" {
    env --ignore-signal=HUP,INT nystream fit s a $slow -q 2>err &
    pid=$!
    await '[[ $(nystream list s) == *running* ]]' || true
    for signal in HUP INT INT HUP; do
        kill -s $signal $pid
    done
    wait $pid
    ny list s
    [ "$output" = "a	done" ]
}

@test "the line that resumes is quoted for the shell" {
    mv s "it's a store"
    interrupt INT 130 "it's a store" nystream fit "it's a store" a $slow
    grep -qF "resume with: nystream fit 'it'\''s a store' a --landmarks 1500 --components 2 --threads 1" err
    eval "$(sed -n 's/^resume with: //p' err) -q"
}

# bats file_tags=
@test "an import that waits for its input stops within two seconds" {
    mkfifo pipe
    exec 7<>pipe
    table 1000 3 >&7
    start nystream import t - --format csv <pipe 2>err 7>&- &
    local pid=$! from
    await 'grep -qs "^$pid " t/locks/points.lock'
    sleep 0.2
    from=$SECONDS
    kill -INT $pid
    ends $pid 130
    exec 7>&-
    [ $((SECONDS - from)) -le 2 ]
    grep -q "^resume with: nystream import t - --format csv" err
}

# bats file_tags=slow
@test "a second signal ends it at once, and the store is safe" {
    start nystream fit s a $slow -q 2>err &
    local pid=$! code=0
    sleep 1
    kill -INT $pid
    kill -TERM $pid 2>/dev/null
    wait $pid || code=$?
    [ "$code" -eq 130 ] || [ "$code" -eq 143 ]
    ny -0 verify s
}

@test "a signal that comes again at once, as timeout sends it, is one request" {
    for verb in "fit s a" "embed $BATS_FILE_TMPDIR/big.csv -o e.npy --tmpdir ."; do
        start nystream $verb $slow -q 2>err &
        pid=$!
        await '[[ $(nystream list s) == *running* ]] || grep -q "(deleted)" /proc/$pid/maps' || true
        sleep 0.3
        for _ in 1 2 3 4 5 6; do
            kill -TERM $pid 2>/dev/null || true
            sleep 0.002
        done
        ends $pid 143
        grep -q "terminated\|stopped during" err
        [ -z "$(ls -d .nystream-* 2>/dev/null)" ]
    done
    ny list s
    [[ $output == "a	interrupted"* ]]
}

# Prints the time in milliseconds.
now() {
    echo $(($(date +%s%N) / 1000000))
}

# Makes slow.so, with which LAPACK's solver of tridiagonal eigenproblems takes minutes, as that of
# very many landmarks would. It cannot be asked to stop.
slow_solver() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "its runtime wants to be loaded first"
    cat >slow.c <<'END'
#include <fcntl.h>
#include <unistd.h>

int LAPACKE_dstein_work(void);
int LAPACKE_dstein_work(void)
{
    close(creat("solving", 0600));
    for (int i = 0; i < 240; i++)
        usleep(500000);
    return 1;
}
END
    ${CC:-cc} -shared -fPIC slow.c -o slow.so
}

@test "a solve that cannot be asked is left within two seconds, to be resumed" {
    slow_solver
    local slow_solve="--approx nystrom --inner exact --landmarks 300 --kernel linear --threads 1"
    LD_PRELOAD=$PWD/slow.so nystream fit s a $slow_solve --json 2>err >out &
    local pid=$! from
    await 'nystream info s a --json 2>/dev/null | grep -q "\"stage\": \"solve\""'
    sleep 0.3
    from=$(now)
    kill -TERM $pid
    ends $pid 143
    [ $(($(now) - from)) -le 2500 ]
    grep -q '"code":143,"kind":"terminated"' err
    grep -qF "\"resume\":\"nystream fit s a $slow_solve --json\"" err
    ny list s
    [[ $output == "a	interrupted"* ]]
    ny -0 verify s
}

@test "embed is left within two seconds too, and leaves nothing" {
    cp "$BATS_FILE_TMPDIR/big.csv" .
    slow_solver
    LD_PRELOAD=$PWD/slow.so start nystream embed big.csv -o e.npy --approx nystrom --inner exact \
        --landmarks 300 --kernel linear --threads 1 -q 2>err &
    local pid=$! from
    await '[ -e solving ]'
    sleep 0.3
    from=$(now)
    kill -INT $pid
    ends $pid 130
    [ $(($(now) - from)) -le 2500 ]
    grep -q 'stopped during a long step; nothing was changed' err
    run ! grep -q 'resume with' err
    [ -z "$(ls -d .nystream-* 2>/dev/null)" ]
}

@test "an import that was interrupted goes on to the same points" {
    table 300000 6 >long.csv
    mkfifo pipe
    exec 7<>pipe
    start nystream import long.nys - --format csv --memory 32M --json <pipe >out 2>err 7>&- &
    local pid=$!
    head -c 14000000 long.csv >&7 # most of it is read, and staged, when this ends
    kill -INT $pid
    ends $pid 130
    exec 7>&-
    grep -q '"resume":"nystream import long.nys - --format csv --memory 32M --json"' err
    # An import that was cut before its first commit leaves no store; later, no rows for readers.
    [ ! -e long.nys ] || [ "$(field "$(nystream info long.nys --json)" n)" -eq 0 ]
    nystream import long.nys - --format csv --memory 32M -q <long.csv
    nystream import whole.nys long.csv -q
    same_exports "long.nys --part points" "whole.nys --part points"
}

@test "bench stops without a report" {
    start nystream bench >out 2>err &
    local pid=$!
    sleep 0.2
    kill -INT $pid
    ends $pid 130
    [ ! -s out ]
}
