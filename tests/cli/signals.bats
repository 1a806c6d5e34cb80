# SIGINT and SIGTERM: a clean stop with a line that resumes, and an end at once when sent twice.
load helper

# A fit of some seconds: 60,000 rows, 3,000 landmarks.
big_store() {
    table 60000 8 >big.csv
    nystream import s big.csv -q
}
slow="--landmarks 3000 --components 2"

# Waits until the fit runs, then sends a signal; $code is its exit status.
interrupt() { # SIGNAL COMMAND…
    local signal=$1 pid
    shift
    "$@" 2>err >out &
    pid=$!
    sleep 1
    kill -s "$signal" $pid
    code=0
    wait $pid || code=$?
}

@test "a fit stops on SIGINT, says how to go on, and ends with the same bytes" {
    big_store
    interrupt INT nystream fit s "whole" $slow --restart
    [ "$code" -eq 130 ]
    grep -qx "resume with: nystream fit s whole --landmarks 3000 --components 2" err
    ny list s
    [ "$output" = "whole	interrupted" ]
    ny export s whole -o x.npy
    exits 2
    nystream fit s whole $slow -q
    nystream fit s other $slow -q
    nystream export s whole -o whole.npy
    nystream export s other -o other.npy
    cmp whole.npy other.npy
}

@test "SIGTERM is 143, and the line is in the JSON" {
    big_store
    interrupt TERM nystream fit s a $slow --json
    [ "$code" -eq 143 ]
    [ "$(wc -l <err)" -eq 1 ]
    grep -q '"code":143,"kind":"terminated"' err
    grep -q '"resume":"nystream fit s a --landmarks 3000 --components 2 --json"' err
    [ ! -s out ]
}

@test "the line that resumes is quoted for the shell" {
    big_store
    mv s "it's a store"
    interrupt INT nystream fit "it's a store" a $slow
    [ "$code" -eq 130 ]
    grep -qF "resume with: nystream fit 'it'\''s a store' a --landmarks 3000 --components 2" err
    eval "$(sed -n 's/^resume with: //p' err) -q"
}

@test "an import that waits for its input stops within two seconds" {
    mkfifo pipe
    exec 7<>pipe
    table 1000 3 >&7
    nystream import s - --format csv <pipe 2>err 7>&- &
    local pid=$! code=0 from
    sleep 0.7
    from=$SECONDS
    kill -INT $pid
    wait $pid || code=$?
    exec 7>&-
    [ "$code" -eq 130 ]
    [ $((SECONDS - from)) -le 2 ]
    grep -q "^resume with: nystream import s - --format csv" err
}

@test "a second signal ends it at once, and the store is safe" {
    big_store
    nystream fit s a --landmarks 4000 --approx projected -q 2>err &
    local pid=$! code=0
    sleep 1
    kill -INT $pid
    kill -TERM $pid 2>/dev/null
    wait $pid || code=$?
    [ "$code" -eq 130 ] || [ "$code" -eq 143 ]
    ny verify s
    exits 0
}
