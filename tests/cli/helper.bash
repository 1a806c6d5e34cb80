# Shared by the tests of the command. Each test runs in a folder of its own; `nystream` is on PATH.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache NO_COLOR=1 LC_ALL=C
    unset NYSTREAM_MEMORY
}

# Runs the command; $status, $output (stdout) and $stderr are then as it left them, and $lines and
# $stderr_lines have their lines. `run --separate-stderr` does this with a temporary file of its own
# for each command, and the process that names it.
ny() {
    local said=$BATS_FILE_TMPDIR/said
    output=$(nystream "$@" 2>"$said") && status=0 || status=$?
    read -d '' -r stderr <"$said" || true
    IFS=$'\n' read -d '' -r -a lines <<<"$output" || true
    IFS=$'\n' read -d '' -r -a stderr_lines <<<"$stderr" || true
}

# Fails, showing what there was, unless the last run exited with STATUS.
exits() {
    [ "$status" -eq "$1" ] && return
    printf 'exit %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$1" "$output" "$stderr" >&2
    return 1
}

# says TEXT: checks that it is part of stderr. prints TEXT: checks that it is part of stdout.
says() {
    [[ $stderr == *"$1"* ]] && return
    printf 'not said: %s\nstderr: %s\n' "$1" "$stderr" >&2
    return 1
}

prints() {
    [[ $output == *"$1"* ]] && return
    printf 'not printed: %s\nstdout: %s\n' "$1" "$output" >&2
    return 1
}

silent() {
    [ -z "$output$stderr" ] && return
    printf 'not silent\nstdout: %s\nstderr: %s\n' "$output" "$stderr" >&2
    return 1
}

# usage TEXT: checks that the last run was refused as a usage error, in one sentence with TEXT.
usage() {
    exits 2 && says "$1" && [ -z "$output" ] && [[ $stderr == nystream:\ * ]]
}

# has_keys JSON KEY…: each key is there.
has_keys() {
    local json=$1 key
    shift
    for key in "$@"; do
        [[ $json == *"\"$key\":"* ]] && continue
        printf 'no key %s in %s\n' "$key" "$json" >&2
        return 1
    done
}

# field JSON KEY: prints the scalar after a key, the last one of the first line that has the key.
field() {
    local line="[^"$'\n'"]*" value="[^\",}"$'\n'"]*"
    [[ $1 =~ $line\"$2\":\ *\"?($value) ]] || return 0
    printf '%s\n' "${BASH_REMATCH[1]}"
}

# table ROWS COLUMNS [SEED]: prints numbers in [0,1) as CSV, the same ones each time.
table() {
    awk -v n="$1" -v d="$2" -v x="${3-1}" 'BEGIN {
        for (i = 0; i < n; i++)
            for (j = 0; j < d; j++) {
                x = (x * 16807) % 2147483647
                printf "%.6f%s", x / 2147483647, j < d - 1 ? "," : "\n"
            }
    }'
}

# npy_u8 ROWS COLUMNS: random bytes as npy.
npy_u8() {
    local header
    header=$(printf "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }" "$1" "$2")
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    head -c $(($1 * $2)) /dev/urandom
}

# npy_header FILE: the dictionary of an npy file.
npy_header() {
    head -c 256 "$1" | tr -d '\0' | grep -aoE "\{'descr'[^}]*\}" | head -n 1
}

# store NAME [ROWS [COLUMNS]]: makes a store with a table in it.
store() {
    table "${2-300}" "${3-4}" >"$1.csv"
    nystream import "$1" "$1.csv" --quiet
}

# spoil FILE OF AT: changes the bytes of FILE that are those of file OF from AT on (32 of them; grep
# would not find those that have a line's end among them).
spoil() {
    local at
    at=$(perl -e 'local $/; my ($in, $of, $from) = @ARGV; open my $f, "<:raw", $of or die; seek $f, $from, 0;
        read $f, my $bytes, 32; open $f, "<:raw", $in or die; print index <$f>, $bytes' "$@")
    [ "$at" -ge 0 ]
    printf 'damaged!' | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}

# Skips a test that looks at a terminal where script(1) cannot make one.
need_terminal() {
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "script makes no terminal here"
}

# near A.csv B.csv: checks that they agree to 1e-5 of the largest value, columns up to their sign, and
# have NaN in the same places.
near() {
    python3 - "$1" "$2" <<'PY'
import sys
a, b = ([list(map(float, line.split(","))) for line in open(name)] for name in sys.argv[1:])
if list(map(len, a)) != list(map(len, b)): sys.exit("%d and %d rows, or other columns" % (len(a), len(b)))
most = max(abs(y) for y in sum(b, []) if y == y)
for u, v in zip(zip(*a), zip(*b)):
    pairs = [(x, y) for x, y in zip(u, v) if x == x or y == y]
    sign = 1 if sum(x * y for x, y in pairs) >= 0 else -1
    for x, y in pairs:
        if not abs(x - sign * y) <= 1e-5 * most: sys.exit("%g and %g, of %g" % (x, y, most))
PY
}

# completes WANTED WORD…: the completion of bash, which has been sourced, offers this for the last word.
completes() {
    local wanted=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _nystream
    [ "${COMPREPLY[*]}" = "$wanted" ] || { echo "$*: ${COMPREPLY[*]}" >&2; return 1; }
}
