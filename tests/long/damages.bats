load helper

@test "16,000 damaged stores are read right or refused" {
    NYSTREAM_DAMAGES=4 counted test_store_damage
}
