# Shared by the tests of src/guide/walk-throughs.md, or of the page that `page` names. A test's name
# begins with a section's number: its blocks are then files in the test's folder.
load ../cli/helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache NO_COLOR=1 LC_ALL=C
    export PATH=$NYSTREAM_BUILD/data-tools:$PATH
    unset NYSTREAM_MEMORY
    "$BATS_TEST_DIRNAME/../walk-through" "${BATS_TEST_DESCRIPTION%%.*}" . "${page-walk-throughs}"
}

# flattened LEAST: checks the correlation of the first component with the length along the spiral.
flattened() {
    paste <(od -An -v -tf4 -w8 -j 128 map.npy) <(od -An -v -tf4 -w8 -j 128 flat.npy) | awk -v least="$1" '
        { x += $1; y += $3; xx += $1 * $1; yy += $3 * $3; xy += $1 * $3 }
        END {
            r = (xy - x * y / NR) / sqrt((xx - x * x / NR) * (yy - y * y / NR)); r = r < 0 ? -r : r
            print "correlation " r
            exit !(r > least)
        }'
}
