load helper

@test "10,000 power cuts lose nothing that was acknowledged" {
    NYSTREAM_POWER_CUTS=10000 counted test_power_cut
}
