load helper

@test "more than 1,000 kills of imports and appends leave nothing behind" {
    NYSTREAM_KILLS=340 counted test_import_kill
}
