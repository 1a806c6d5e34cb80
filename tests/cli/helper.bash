# Shared by the tests of the command. Each test runs in a folder of its own; `nystream` is on PATH.
bats_require_minimum_version 1.5.0

own_folder() {
    set +T # no trap before each line of the functions: it takes as long as a third of a command
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache NO_COLOR=1 LC_ALL=C
    unset NYSTREAM_MEMORY
}

# file_folder: the same for what is made once, before the tests of a file.
file_folder() {
    cd "$BATS_FILE_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache NO_COLOR=1 LC_ALL=C
}

# A file may say in $brought what of its folder each test finds a copy of in its own.
setup() {
    own_folder || return
    [ -z "${brought-}" ] || (cd "$BATS_FILE_TMPDIR" && cp -r $brought "$BATS_TEST_TMPDIR")
}

# ny [-STATUS] COMMAND…: runs the command; $status, $output (stdout) and $stderr are then as it left
# them, and $lines and $stderr_lines have their lines. With -STATUS it fails unless the command exits so.
# `run --separate-stderr` does this with a temporary file of its own for each command, and the process
# that names it.
ny() {
    local said=$BATS_FILE_TMPDIR/said wanted=
    [[ ${1-} != -[0-9]* ]] || { wanted=${1#-}; shift; }
    output=$(nystream "$@" 2>"$said") && status=0 || status=$?
    read -d '' -r stderr <"$said" || true
    IFS=$'\n' read -d '' -r -a lines <<<"$output" || true
    IFS=$'\n' read -d '' -r -a stderr_lines <<<"$stderr" || true
    [ -z "$wanted" ] || exits "$wanted"
}

# Fails, showing what there was, unless the last run exited with STATUS.
exits() {
    [ "$status" -eq "$1" ] && return
    printf 'exit %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$1" "$output" "$stderr" >&2
    return 1
}

# contains VARIABLE TEXT…: fails, showing it, unless each TEXT is part of the variable.
contains() {
    local text
    for text in "${@:2}"; do
        [[ ${!1} == *"$text"* ]] && continue
        printf 'not in %s: %s\n%s\n' "$1" "$text" "${!1}" >&2
        return 1
    done
}

# says TEXT…: checks that each is part of stderr. prints TEXT…: checks that each is part of stdout.
says() { contains stderr "$@"; }
prints() { contains output "$@"; }

# answers STATUS TEXT COMMAND…: it exits so, and TEXT is part of stderr. shows TEXT COMMAND…: it
# succeeds, and TEXT is part of stdout.
answers() { ny "-$1" "${@:3}" && says "$2"; }
shows() { ny -0 "${@:2}" && prints "$1"; }

silent() {
    [ -z "$output$stderr" ] && return
    printf 'not silent\nstdout: %s\nstderr: %s\n' "$output" "$stderr" >&2
    return 1
}

# usage TEXT [COMMAND…]: the command, or the last one, is refused as a usage error, in one sentence
# with TEXT.
usage() {
    [ $# -eq 1 ] || ny "${@:2}"
    exits 2 && says "$1" && [ -z "$output" ] && [[ $stderr == nystream:\ * ]]
}

# fields KEY=VALUE…: the output has these scalars.
fields() {
    local pair
    for pair; do
        [ "$(field "$output" "${pair%%=*}")" = "${pair#*=}" ] && continue
        printf 'not %s: %s\n' "$pair" "$output" >&2
        return 1
    done
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

# same_fields SHARE ONE.json OTHER.json KEY…: both files have these scalars: numbers that differ by
# no more than a share of them, or for 0 the same texts.
same_fields() {
    local key
    for key in "${@:4}"; do
        awk -v most="$1" -v key="$key" '{ print key, $0 >"/dev/stderr"
            exit NF != 2 || ($1 "" != $2 "" && !(most && ($1 - $2) ^ 2 <= ($1 * most) ^ 2)) ||
                 (most && $1 + 0 != $1)
        }' <<<"$(field "$(<"$2")" "$key") $(field "$(<"$3")" "$key")" || return
    done
}

# has "STORE [NAME]" KEY=VALUE…: info tells these of the store or the result.
has() {
    ny -0 info $1 --json && fields "${@:2}"
}

# writes FILE EXPORT: `nystream export` with these words writes the bytes of FILE.
# same_exports EXPORT EXPORT [ENDING]: it writes the same bytes with either, to a file that ends so (npy).
writes() {
    local to=$BATS_FILE_TMPDIR/written.${1##*.}
    nystream export $2 -o "$to" -q && cmp "$to" "$1"
}

same_exports() {
    local to=$BATS_FILE_TMPDIR/export.${3-npy}
    nystream export $1 -o "$to" -q && writes "$to" "$2"
}

# same_lists GRAPH GRAPH [STORE]: two graphs of a store (s) have the same bytes.
same_lists() {
    same_exports "${3-s} $1 --part neighbors" "${3-s} $2 --part neighbors" &&
        same_exports "${3-s} $1 --part distances" "${3-s} $2 --part distances"
}

# agree CHECK COMMAND COMMAND [ENDING]: what the two commands write to files that end so (csv) passes
# the check: cmp, near, "within MOST" or "alike SHARE".
agree() {
    local to=$BATS_FILE_TMPDIR/agree ending=${4-csv}
    nystream $2 -o "$to.1.$ending" -q && nystream $3 -o "$to.2.$ending" -q &&
        $1 "$to.1.$ending" "$to.2.$ending"
}

# within MOST A.csv B.csv: they have as many rows and columns, and no two of their numbers differ by
# more. (awk finds NaN neither greater nor less than any number.)
within() {
    paste -d, "$2" "$3" | awk -F, -v most="$1" '
        NF % 2 || /nan|(^|,)(,|$)/ { bad = 1 }
        { for (j = 1; j <= NF / 2; j++) if (($j - $(j + NF / 2)) ^ 2 > most ^ 2) bad = 1 }
        END { exit bad || !NR }'
}

# alike SHARE A.csv B.csv: no two of their numbers differ by more than a share of the largest one.
alike() {
    within "$(awk -F, -v share="$1" '{ for (j = 1; j <= NF; j++) if ($j ^ 2 > most ^ 2) most = $j }
        END { printf "%.17g", share * most }' "$2")" "$2" "$3"
}

# too_little COMMAND…: it is refused for its budget; $least is the number of bytes that it asks for.
too_little() {
    ny -8 "$@"
    least=$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")
    [ -n "$least" ]
}

# ends PID STATUS [FILE]: a process ends so; $stderr is what it has written to FILE (err).
ends() {
    status=0
    wait "$1" || status=$?
    output='' stderr=$(<"${3-err}")
    exits "$2"
}

# together COUNT COMMAND…: so many processes run the command at once, and succeed; what they say is in
# said.0 and the next ones.
together() {
    local pids=() pid codes=
    for ((pid = 0; pid < $1; pid++)); do
        nystream "${@:2}" >"said.$pid" 2>&1 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" && codes+=0 || codes+=$?; done
    [[ $codes =~ ^0+$ ]] || { cat said.* >&2; return 1; }
}

# shown EXPORT [ENDING]: prints what `nystream export` with these words writes to a file that ends so (csv).
shown() {
    local to=$BATS_FILE_TMPDIR/shown.${2-csv}
    nystream export $1 -o "$to" -q && cat "$to"
}

# await CONDITION: returns as soon as this shell text succeeds, and fails where it has not in 500 tries.
await() {
    local await_tries
    for ((await_tries = 0; await_tries < 500; await_tries++)); do
        ! eval "$1" || return 0
        sleep 0.02
    done
    echo "never: $1" >&2
    return 1
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

# store_and_shards STORE SHARDS CSV FIRST SECOND OPTION…: imports all rows into STORE, and into three
# SHARDS those up to row FIRST, up to SECOND, and the others.
store_and_shards() {
    local store=$1 shards=$2 file=$3 first=$4 second=$5
    shift 5
    nystream import "$store" "$file" "$@" -q
    head -n "$first" "$file" >part.0."${file##*/}"
    head -n "$second" "$file" | tail -n +$((first + 1)) >part.1."${file##*/}"
    tail -n +$((second + 1)) "$file" >part.2."${file##*/}"
    for shard in 0 1 2; do
        nystream import "$shards" --shard $shard/3 part.$shard."${file##*/}" "$@" -q
    done
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
    _nystream_words
    [ "${COMPREPLY[*]}" = "$wanted" ] || { echo "$*: ${COMPREPLY[*]}" >&2; return 1; }
}

# build_ends: builds what ends_at needs.
build_ends() {
    cat >ends.c <<'END'
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int calls;
int fdatasync(int fd)
{
    if (atomic_fetch_add(&calls, 1) == atoi(getenv("SYNC"))) _exit(9);
    return fsync(fd);
}
END
    cc -shared -fPIC -o ends.so ends.c
}

# ends_at N COMMAND…: runs it, but it ends at its sync number N, as by a kill, with exit code 9.
ends_at() {
    SYNC=$1 LD_PRELOAD=$PWD/ends.so "${@:2}"
}

# stopped_when CONDITION SIGNAL STATUS COMMAND…: the command gets the signal as soon as this shell
# text succeeds, if it ever does, and ends so; its words are in err.
stopped_when() {
    "${@:4}" 2>err 3>&- &
    local pid=$!
    await "$1" || true
    kill -s "$2" $pid
    ends $pid "$3"
}

# fits_through_kills STORE SHARD NAME OPTIONS…: fits until it is done, ended by KILL and TERM in turn,
# later each time, which damages nothing and counts rows once; every third time SHARD, if any, begins
# anew. $kills counts.
fits_through_kills() {
    local store=$1 shard=$2 name=$3 wait=20 pid code rows
    rows=$(field "$(nystream info "$store" --json)" n)
    shift 3
    kills=0
    while :; do
        nystream fit "$store" "$name" "$@" -q 2>err &
        pid=$!
        sleep "0.$(printf %03d $wait)"
        kill -$( ((kills % 2)) && echo TERM || echo KILL) $pid 2>/dev/null || true
        code=0
        wait $pid 2>/dev/null || code=$?
        [ $code -ne 0 ] || return 0
        [ $code -ge 129 ] || { cat err >&2; return 1; }
        nystream verify "$store" -q
        [ "$(field "$(nystream info "$store" "$name" --json 2>err || echo "\"n\": $rows")" n)" = "$rows" ]
        [ -z "$shard" ] || [ $((kills % 3)) -ne 2 ] ||
            nystream rm "$store/$shard" "$name" -q || true
        kills=$((kills + 1)) wait=$((wait < 640 ? wait * 3 / 2 + 5 : 999))
    done
}

# A full update of result map of the shards big: by one process, into alone.npy, and by two that meet,
# whose words are in said.0 and said.1.
meet_for_update() {
    cp -r big alone
    nystream fit alone map --update full -q
    nystream export alone map -o alone.npy -q
    together 2 fit big map --update full --peers folder:2:meet
}
