load helper

# Stores of every format open, read, place points and grow (tests/golden/README.md).
setup_file() {
    golden=$BATS_TEST_DIRNAME/../golden
    export golden
}

# The names of copies of all of them.
copies() {
    cp -r "$golden"/format-* . && ls -d format-*
}

@test "an old store is whole, and its results are what they were" {
    for old in $(copies); do
        ny verify $old
        exits 0
        nystream export $old a -o a.csv
        cmp a.csv $old/a.csv
        nystream export $old g --part landmarks -o g.csv
        cmp g.csv $old/g-landmarks.csv
    done
}

@test "an old model places the points where they were" {
    for old in $(copies); do
        nystream transform $old a --input $old/points.csv -o t.csv
        paste -d, $old/a.csv t.csv | awk -F, '{
            for (j = 1; j <= 2; j++) {d = $j - $(j + 2); if (d < 0) d = -d; if (d > 1e-5) bad++}
        } END {exit bad > 0 || NR != 200}'
    done
}

@test "an old store grows" {
    for old in $(copies); do
        nystream import $old $old/points.csv --append -q
        ny info $old --json
        [ "$(field "$output" n)" = 400 ]
        nystream fit $old new --landmarks 20 --gamma 0.0005 -q
        nystream rm $old g
        ny verify $old
        exits 0
    done
}

@test "an old result takes new rows in" {
    for old in $(copies); do
        nystream import $old $old/points.csv --append -q
        ny fit $old a --update frozen --json
        exits 0
        [ "$(field "$output" n)" = 400 ]
        nystream export $old a -o a.csv
        cmp <(head -n 200 a.csv) $old/a.csv
        nystream import $old $old/points.csv --append -q
        for name in a g; do
            ny fit $old "$name" --update full --json
            exits 0
            [ "$(field "$output" n)" = 600 ]
        done
        ny verify $old
        exits 0
    done
}

@test "a program that knows the written format alone reads them" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an instrumented library does not link by itself"
    local libraries
    libraries=$(pkg-config --cflags --libs lmdb liblz4 libxxhash) || skip "no headers to read with"
    # shellcheck disable=SC2086  # words are meant
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra "$BATS_TEST_DIRNAME/external/read_store.c" -o read_store \
        $libraries
    for old in $(copies); do
        ./read_store $old a 2 >rows.csv
        tail -n 200 rows.csv | cmp - $old/a.csv
        head -n 200 rows.csv | paste -d, - $old/points.csv | awk -F, '{
            d = NF / 2
            for (j = 1; j <= d; j++) if ($j - $(j + d) > 1e-6 * $j || $(j + d) - $j > 1e-6 * $j) bad++
        } END {exit bad > 0 || NR != 200}'
    done
    awk 'BEGIN {for (i = 0; i < 90000; i++) print i % 7 ",0,0,1.5"}' >rows.csv # more than a block
    nystream import packed rows.csv --dtype f32 -q
    nystream fit packed a --landmarks 5 --components 2 -q
    nystream export packed a -o a.csv
    nystream info packed --json >info
    [ "$(field "$(cat info)" compressed_bytes)" -lt "$(field "$(cat info)" bytes)" ]
    ./read_store packed a 2 | cmp - <(cat rows.csv a.csv)
}

@test "an old store is compacted" {
    local held
    for old in $(copies); do
        nystream rm $old g
        held=$(du -sb $old | cut -f1)
        nystream compact $old -q
        [ "$(du -sb $old | cut -f1)" -le "$held" ]
        ny verify $old
        exits 0
        nystream export $old a -o a.csv
        cmp a.csv $old/a.csv
        nystream import $old $old/points.csv --append -q
    done
}
