# Shared by the benchmarks: medians and ratios, walls, rows of the table, a folder for the data.
#
# BENCH_RECORD=FILE appends each row of a table to FILE as well, behind the date, the commit, the
# machine, the versions of other programs and the command, so that rows of several sittings stand
# together. tests/bench/record.tsv was made so.
set -eu
build=$(realpath "${BUILD:-build}")
here=$(mktemp -d "${TMPDIR:-/tmp}/nystream-bench-XXXXXX")
export PATH="$build:$build/data-tools:$build/tests/bench:$PATH"
. tests/cli/cgroup.bash
BATS_TEST_NUMBER=0
# All multiply with the kernels that the command has: OpenBLAS may not know this CPU by itself.
kernels=$(nystream bench --json -q | sed -n 's/.*"key": "\(.*\) MAX_THREADS.*/\1/p') # avx2, 2 threads, OpenBLAS … Zen
core=${kernels##* }
[ -z "$core" ] || export OPENBLAS_CORETYPE="$core"

# find_python: sets $python to a Python whose numpy multiplies with the kernels of OpenBLAS that are the
# quickest here: those that OpenBLAS takes by itself, or others that this CPU can run.
find_python() {
    local kernel seconds least=
    python=/usr/bin/python3
    $python -c 'import numpy' 2>/dev/null || return 0
    for kernel in "" Haswell SkylakeX; do
        [ "$kernel" != SkylakeX ] || grep -q avx512vl /proc/cpuinfo || continue
        seconds=$(env -u OPENBLAS_CORETYPE ${kernel:+OPENBLAS_CORETYPE=$kernel} /usr/bin/python3 -c '
import numpy, time
A = numpy.ones((1500, 1500), numpy.float32)
def took(start): A @ A; return time.perf_counter() - start
print(min(took(time.perf_counter()) for _ in range(7)))')
        [ -z "$least" ] || awk -v a="$seconds" -v b="$least" 'BEGIN {exit !(a < 0.95 * b)}' || continue
        least=$seconds python="env -u OPENBLAS_CORETYPE ${kernel:+OPENBLAS_CORETYPE=$kernel} /usr/bin/python3"
    done
}

clean_up() {
    remove_cgroup
    rm -rf "$here"
    exec >&-
    [ -z "${recorder-}" ] || wait "$recorder"
}
trap clean_up EXIT

# circumstances COMMAND…: date, commit ("+" where the tree differs from it), machine, versions and
# the command, separated by tabs.
circumstances() {
    local commit
    commit=$(git describe --always --dirty=+ 2>/dev/null) || commit=$(nystream version | head -n 1)
    printf '%s\t%s\t%s, %s, %d CPUs, %d GB\t%s\t%s' "$(date -u +%F)" "$commit" \
        "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" "${kernels%%,*}" "$(nproc)" \
        "$(awk '/^MemTotal/ {printf "%.0f", $2 / 2 ^ 20}' /proc/meminfo)" \
        "$(dpkg-query -W -f '${Package} ${Version}, ' libopenblas0-pthread python3-{numpy,scipy,sklearn,pynndescent,hnswlib,faiss} 2>/dev/null | sed 's/, $//')" \
        "$*"
}

# record HEAD FILE: passes its input on line by line, and appends the rows of tables in it to FILE
# behind HEAD. A line is held back until the next one tells that it is no head of a table.
record() {
    local head=$1 file=$2 body='' row='' text
    keep() { [ -z "$body" ] || [ -z "$row" ] || printf '%s\t%s\n' "$head" "$row" >>"$file"; }
    while IFS= read -r text; do
        printf '%s\n' "$text"
        case $text in
        '|---'* | '| ---'*) body=1 row='' ;;
        '|'*) keep; row=$text ;;
        *) keep; body='' row='' ;;
        esac
    done
    keep
}
if [ -n "${BENCH_RECORD-}" ]; then
    exec > >(record "$(circumstances "$0" "$@")" "$BENCH_RECORD")
    recorder=$!
fi

median() { sort -g | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.2f", a / b}'; }
now() { date +%s.%N; }
line() { printf '| %s | %s | %s |\n' "$@"; }
has() { case " $rows " in *" $1 "*) ;; *) return 1 ;; esac; }

# Seconds of a command's wall.
wall() {
    local start
    start=$(now)
    "$@" >"$here/log" 2>&1 || { cat "$here/log" >&2; exit 1; }
    awk -v a="$start" -v b="$(now)" 'BEGIN {print b - a}'
}

# products METHOD SIZE…: seconds of the matrix products alone; by python3-scipy.
products() { $python tests/bench/products.py "$@"; }

# held MIB COMMAND…: runs it in a memory cgroup for that budget, if one can be made.
held() {
    local budget=$(($1 << 20)) status=0
    shift
    new_cgroup || { "$@"; return; }
    within "$budget" "$@" || status=$?
    no_oom >&2 || status=1
    remove_cgroup
    return $status
}
# One of its own: that of held() may not be gone yet.
confined() { local BATS_TEST_NUMBER=1; if new_cgroup; then remove_cgroup; echo "in a cgroup"; else echo "no cgroup here"; fi; }

# Prints a number of a JSON report: of FILE KEY.
of() { awk -F'[:,]' -v key="\"$2\"" '$1 ~ key && $2 ~ /^ *[0-9]/ {print $2 + 0; exit}' CONVFMT=%.17g OFMT=%.17g "$1"; }
