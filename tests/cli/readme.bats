# README.md: its commands run as they are pasted, in the order of the page; its C program compiles
# and runs.
load helper

export ASAN_OPTIONS=detect_leaks=0 # fontconfig keeps what it has read

page=$BATS_TEST_DIRNAME/../../README.md

# block KIND NUMBER: prints the NUMBERth block of that kind.
block() {
    awk -v kind="$1" -v wanted="$2" '
        /^```/ && inside { inside = 0; next }
        $0 == "```" kind { inside = ++seen == wanted; next }
        inside' "$page"
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    export PATH=$NYSTREAM_BUILD:$NYSTREAM_BUILD/data-tools:$PATH
}

@test "start in a minute" {
    bash -eu -o pipefail <(block sh 1)
    [[ $(npy_header flat.npy) == *"(20000, 2)"* ]]
}

# bats test_tags=slow
@test "step by step" {
    [ -e /usr/share/datasets/fashion-mnist ] || skip "dataset-fashion-mnist is not installed"
    bash -eu -o pipefail <(block sh 2)
    [[ $(npy_header map.npy) == *"(60000, 50)"* ]]
    [[ $(npy_header new.npy) == *"(10000, 50)"* ]]
    [ -s map.html ]
}

@test "every block of commands has its test, and fits the page" {
    [ "$(grep -c '^```sh$' "$page")" -eq 2 ]
    [ "$(wc -l <"$page")" -le 125 ]
    [ "$(LC_ALL=C.UTF-8 wc -L <"$page")" -le 100 ]
}
