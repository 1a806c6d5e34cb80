# The programs of tests/fault that kill, with many more kills than `make check` has time for.
load ../cli/helper

@test "200 kills of each import and fit leave nothing behind" {
    NYSTREAM_KILLS=200 timeout 850 "$NYSTREAM_BUILD/tests/fault/test_job_kill"
}
