# src/guide/walk-throughs.md, as it stands there or nearly: tests/cli runs it at a small size.
load ../cli/walk-through

@test "1. from 70,000 images to a report" {
    export DATA=/usr/share/datasets/fashion-mnist
    [ -e $DATA/t10k-images-idx3-ubyte.gz ] || DATA=${NYSTREAM_DATA:-/nowhere}/fashion_mnist
    [ -e "$DATA/t10k-images-idx3-ubyte.gz" ] || skip "no dataset-fashion-mnist"
    run bash -eu steps.sh
    echo "$output"
    [ "$status" -eq 0 ]
    prints "kNN error"
    [[ $(npy_header held-out.npy) == *"(10000, 20)"* ]]
    [ "$(stat -c %s report.html)" -lt 5000000 ]
}

@test "2. Isomap of a hundred thousand points" {
    N=100000 bash -eu steps.sh
    flattened 0.9999
}
