# The tests that `make check-faults` tries a few hundred times are tried here thousands of times.
load ../cli/helper

# counted PROGRAM: runs a program of tests/fault, and passes on what it counted.
counted() {
    local output
    output=$("$NYSTREAM_BUILD/tests/fault/$1" 2>&1) || { echo "$output"; return 1; }
    grep counted: <<<"$output" >&3
}
