load helper

@test "200 kills of each fit, selection and reader leave nothing behind" {
    NYSTREAM_KILLS=200 counted test_job_kill
}
