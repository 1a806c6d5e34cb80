# The stores of an old version can be made again, from its commit.
load helper

@test "version 1.0.0 is built, and leaves its jobs finished and interrupted" {
    git -C "$BATS_TEST_DIRNAME" cat-file -e 8910236 2>/dev/null || skip "no history here"
    "$BATS_TEST_DIRNAME/../../data-tools/golden-1.0" made.tar.gz
    tar -xzf made.tar.gz
    tar -xzf "$BATS_TEST_DIRNAME/../golden/1.0.tar.gz" 1.0/jobs -O | cmp - 1.0/jobs
    [ "$(stat -c %s made.tar.gz)" -lt 1000000 ]
    ! git -C "$BATS_TEST_DIRNAME" worktree list | grep -q "$BATS_TEST_TMPDIR"
}
