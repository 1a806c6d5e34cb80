# The papers' experiments, small and on data made here: the tables that they print, and what the
# papers say of their numbers.
load helper

setup_file() {
    export NYSTREAM="$NYSTREAM_BUILD/nystream" TMPDIR=$BATS_FILE_TMPDIR
    export PATH="$BATS_TEST_DIRNAME/../../data-tools/papers:$PATH"
    # Of MNIST's form: smooth patterns of ten classes, bent and noisy; half of them are 0 or 1.
    mkdir -p "$BATS_FILE_TMPDIR/data/mnist"
    /usr/bin/python3 - "$BATS_FILE_TMPDIR/data/mnist" <<'END' || true
import gzip, struct, sys
import numpy as np
random = np.random.default_rng(1)
n, t = 4000, np.linspace(0, 3, 28)
few, many = random.integers(2, size=n), random.integers(2, 10, size=n)
labels = np.where(random.random(n) < 0.5, few, many)
a, b, c = (random.normal(labels * step, 0.3) for step in (0.7, 1.1, 1.9))
waves = np.sin(a[:, None, None] + b[:, None, None] * t[:, None] + c[:, None, None] * t)
images = np.clip(128 + 100 * waves + random.normal(0, 15, waves.shape), 0, 255).astype(np.uint8)
for name, head, body in (("images-idx3", (0x803, n, 28, 28), images),
                         ("labels-idx1", (0x801, n), labels.astype(np.uint8))):
    with gzip.open(f"{sys.argv[1]}/train-{name}-ubyte.gz", "wb", 1) as file:
        file.write(struct.pack(f">{len(head)}I", *head) + body.tobytes())
END
}

setup() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "too slow under a sanitizer"
    /usr/bin/python3 -c 'import numpy, scipy' 2>/dev/null || skip "numpy or scipy is not installed"
    cd "$BATS_TEST_TMPDIR" || return
    export NYSTREAM_DATA=$BATS_FILE_TMPDIR/data OPENBLAS_NUM_THREADS=1
}

# paper NAME FIGURE…: the tables of a small run.
paper() {
    run --separate-stderr "$1" --quick -o pictures "${@:2}"
    exits 0
}

# column TITLE NAME…: under the first title that has this text, row by row what is in these columns;
# of a number with its interval the number.
column() {
    awk -v title="$1" -v names="${*:2}" '
        index($0, title) {on = 1; next}
        on && (!NF || /^\(|^picture|^error/) {exit}
        !on {next}
        {gsub(/ ± [^ ]*/, "")}
        on == 1 {
            on = 2; n = split(names, name, " ")
            for (i = 1; i <= n; i++) for (j = 1; j <= NF; j++) if ($j == name[i]) at[i] = j - NF
            next
        }
        {for (i = 1; i <= n; i++) printf " %s", $(NF + at[i]); print ""}' <<<"$output"
}

@test "li-2010: more columns, less error, and the randomized inner solver costs little of it" {
    paper li-2010 1
    [ "$(column 'CPU seconds' m | xargs)" = "60 120 240" ]
    column 'relative error' nys our ens r-svd | awk '
        $1 <= 0 || $2 > 1.1 * $1 || $2 < 0.9 * $1 || $4 > $1 {exit 1}
        NR > 1 && ($1 >= last || $3 < $1) {exit 1} # experts of 60 columns each do not make up for W
        {last = $1}
        END {if (NR != 3) exit 1}'
}

@test "li-2010: one expert of all columns is the plain method" {
    paper li-2010 2
    column 'relative error' ens our | awk '
        {first = NR == 1 ? $1 : first; last = $1; our = $2}
        END {if (NR != 4 || last >= first || last > 1.05 * our || last < 0.9 * our) exit 1}'
}

@test "talwalkar-2013: column sampling has the better vectors, nystrom the better reconstruction" {
    paper talwalkar-2013 1 2
    prints "skipped: ABN: there is no abalone/abalone.csv in NYSTREAM_DATA"
    [ "$(column 'Figure 1(a)' data)" = " MNIST" ]
    column 'Figure 1(b)' 1 2-5 6-10 11-25 | awk '{exit !(NF == 4 && $1 + $2 + $3 + $4 < 0)}'
    column 'Figure 2(a)' 10% 20% | awk '$1 >= 0 || $2 >= 0 {exit 1} END {exit NR != 1}'
    column 'Figure 2(b)' 10% 20% | awk '$1 <= 0 || $2 <= 0 {exit 1} END {exit NR != 1}'
    column 'Figure 2(d)' 10% 20% | awk '$1 <= 0 || $2 <= 0 {exit 1} END {exit NR != 1}'
    [ "$(column 'Figure 3,' data)" = " MNIST" ]
}

@test "ouimet-2005: a small dictionary nearly does what all points do" {
    paper ouimet-2005 table1 4
    [ "$(column 'Table 1' map method n | grep -c 'kpca greedy 500')" = 3 ]
    [ "$(column 'Table 1' map method n | grep -c 'laplacian greedy 500')" = 3 ]
    # kernel PCA: all points projected on a dictionary, against the eigenvectors of as many points
    column 'Figure 4, MNIST 0/1, kpca' m greedy nystrom full | awk '
        $1 <= m {exit 1} {m = $1; good = $2 < $3 && $2 < 1.5 * $4} END {exit !(NR == 3 && good)}'
}

@test "homrighausen-2011: the plane of the fishbowl is found, and digits are named" {
    paper homrighausen-2011 fishbowl
    column Fishbowl 15 | awk '$1 < 0.9 {exit 1} END {exit !(NR == 4 && $1 > 0.999)}' # projected
    command -v liblinear-train >/dev/null || skip "liblinear is not installed"
    paper homrighausen-2011 mnist
    column Digits correct | awk '$1 < 60 || $1 > 100 {exit 1} END {exit NR != 5}'
}

@test "without data each figure is skipped with a sentence" {
    unset NYSTREAM_DATA
    for name in li-2010 talwalkar-2013; do
        run --separate-stderr $name --quick -o pictures 1
        exits 0
        prints "skipped: "
        prints "NYSTREAM_DATA is not set"
    done
    run --separate-stderr li-2010 --quick 9
    exits 2
    says "9 is none of 1, "
}
