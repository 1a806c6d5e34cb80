# The errors of components, and --accuracy, beside dense float64 of all rows.
load helper

setup() {
    /usr/bin/python3 -c 'import numpy, scipy' 2>/dev/null || skip "no python3-numpy, -scipy"
}

# tables PROGRAM WORD…: prints the tables of a program of this folder.
tables() {
    local log=$BATS_TEST_TMPDIR/log code=0
    /usr/bin/python3 -B "$BATS_TEST_DIRNAME/$1" "${@:2}" >"$log" 2>&1 || code=$?
    cat "$log" >&3
    return $code
}

data() {
    [ -n "${NYSTREAM_DATA-}" ] || skip "NYSTREAM_DATA is not set"
}

@test "errors of components of made-up rows" {
    tables component_errors.py 1 blobs duplicates offset
}

@test "errors of components of real sets" {
    data
    tables component_errors.py 2 mnist fashion kdd skin terrain pbmc tdt2
}

@test "--accuracy, beside the fewest landmarks that would do" {
    data
    tables accuracy.py skin terrain kin8nm mnist fashion letter housing beats quickdraw tdt2
}
