load helper

@test "every allocation, read, write, sync and map fails in turn: files" {
    NYSTREAM_EVERY_FAULT=1 counted test_api_faults
}

@test "every allocation, read, write, sync and map fails in turn: fits" {
    NYSTREAM_EVERY_FAULT=1 counted test_fit_faults
}

@test "every allocation, read, write, sync and map fails in turn: graphs" {
    NYSTREAM_EVERY_FAULT=1 counted test_graph_faults
}
