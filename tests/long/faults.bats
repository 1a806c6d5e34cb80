load helper

@test "every allocation, read, write, sync and map fails in turn" {
    NYSTREAM_EVERY_FAULT=1 counted test_api_faults
}
