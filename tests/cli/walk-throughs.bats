# src/guide/walk-throughs.md: its commands, as they stand there, at a small size.
load walk-through

# Sets of images with labels, named as Fashion-MNIST is.
make_images() {
    local digit
    mkdir images
    {
        printf '\0\0\10\3\0\0\0\12\0\0\0\10\0\0\0\10'
        for digit in 0 1 2 3 4 5 6 7 8 9; do
            head -c $((digit * 6)) /dev/zero | tr '\0' '\310'
            head -c $((64 - digit * 6)) /dev/zero
        done
    } >originals
    printf '\0\0\10\1\0\0\0\12\0\1\2\3\4\5\6\7\10\11' >labels
    infinite-digits originals labels -n 400 -o train --labels-out train-labels
    infinite-digits originals labels --first 400 -n 100 -o t10k
    gzip -c train >images/train-images-idx3-ubyte.gz
    gzip -c train-labels >images/train-labels-idx1-ubyte.gz
    gzip -c t10k >images/t10k-images-idx3-ubyte.gz
}

@test "1. from images to a report" {
    make_images
    DATA=images M=50 run bash -eu steps.sh
    echo "$output"
    [ "$status" -eq 0 ]
    prints purity
    [[ $(npy_header held-out.npy) == *"(100, 20)"* ]]
    [ -s map.png ] && grep -q "Fashion-MNIST" report.html
}

@test "2. Isomap of a swiss roll: its first component is the length along the spiral" {
    N=3000 bash -eu steps.sh
    [ -s map.png ]
    flattened 0.999
}

@test "3. from Python" {
    PYTHON=/usr/bin/python3
    $PYTHON -c 'import numpy' || skip "no numpy"
    PYTHON=$PYTHON run bash -eu steps.sh
    echo "$output"
    [ "$status" -eq 0 ]
    prints "rows (20000, 5)" "trace error 0."
}
