# The stores of old versions can be made again, from their commits.
load helper

# is_made_again VERSION COMMIT: the archive that is made has the same jobs, and is small.
is_made_again() {
    git -C "$BATS_TEST_DIRNAME" cat-file -e "$2" 2>/dev/null || skip "no history here"
    "$BATS_TEST_DIRNAME/../../data-tools/golden" "$1" made.tar.xz
    tar -xf made.tar.xz
    tar -xf "$BATS_TEST_DIRNAME/../golden/$1.tar.xz" "$1/jobs" -O | cmp - "$1/jobs"
    [ "$(stat -c %s made.tar.xz)" -lt 1000000 ]
    ! git -C "$BATS_TEST_DIRNAME" worktree list | grep -q "$BATS_TEST_TMPDIR"
}

@test "version 1.0.0 is built, and leaves its jobs finished and interrupted" { is_made_again 1.0 8910236; }

@test "version 1.1.0 is built, and leaves its jobs finished and interrupted" { is_made_again 1.1 aa6fa985; }
