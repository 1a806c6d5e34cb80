# Certificates and eigenvalues against long-double references, over all of the grid.
load helper

# The worst case of each grid is printed.
grid() {
    local log=$BATS_TEST_TMPDIR/log
    "$@" "$NYSTREAM_BUILD/tests/property/test_certificate" >"$log" 2>&1 || { cat "$log"; return 1; }
    grep -E 'cases|too small|too large|eigenvalue ' "$log" >&3
}

@test "all cases of 600 rows" {
    grid env NYSTREAM_GRID=1
}

@test "one case in seven of 40,000 rows" {
    grid env NYSTREAM_GRID_MANY=40000:60:7
}

@test "some cases of 300,000 rows" {
    grid env NYSTREAM_GRID_MANY=300000:40:151
}
