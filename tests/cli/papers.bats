# The papers' experiments, small and on data made here: the tables that they print, what the papers
# say of their numbers, and the page that has them all.
load helper

setup_file() {
    export NYSTREAM="$NYSTREAM_BUILD/nystream" TMPDIR=$BATS_FILE_TMPDIR
    export PATH="$BATS_TEST_DIRNAME/../../data-tools/papers:$PATH"
    # Data of MNIST's form: smooth patterns of ten classes, bent and noisy; half of them are 0 or 1.
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

# paper NAME FIGURE…: makes the tables of a small run.
paper() {
    run -0 --separate-stderr "$1" --quick -o pictures "${@:2}"
}

# column TITLE NAME…: prints these columns of the first table with this in its title, row by row,
# without the intervals of numbers.
column() {
    /usr/bin/python3 - "$@" <<'END'
import glob, json, sys
tables = [t for path in glob.glob("pictures/*.json") for t in json.load(open(path))["tables"]]
table = next(t for t in tables if sys.argv[1] in t["title"])
at = [[str(name) for name in table["header"]].index(name) for name in sys.argv[2:]]
for row in table["rows"]:
    print(*(str(row[i]).split(" ±")[0] for i in at))
END
}

# bats file_tags=slow
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
    [ "$(column 'Figure 1(a)' data)" = MNIST ]
    prints 'MNIST  -'
    column 'Figure 1(b)' 1 2-5 6-10 11-25 | awk '{exit !(NF == 4 && $1 + $2 + $3 + $4 < 0)}'
    column 'Figure 2(a)' 10% 20% | awk '$1 >= 0 || $2 >= 0 {exit 1} END {exit NR != 1}'
    column 'Figure 2(b)' 10% 20% | awk '$1 <= 0 || $2 <= 0 {exit 1} END {exit NR != 1}'
    column 'Figure 2(d)' 10% 20% | awk '$1 <= 0 || $2 <= 0 {exit 1} END {exit NR != 1}'
    [ "$(column 'Figure 3,' data)" = MNIST ]
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

@test "talwalkar-2008: clusters and neighbours in Isomap's embeddings, and the graph's components" {
    paper talwalkar-2008 graph mnist
    column 'MNIST, digits, n = 500: components' t components |
        awk '$2 > last && NR > 1 {exit 1} {last = $2} END {exit NR != 4}'
    [ "$(column Clusters method | xargs)" = "PCA Isomap Nys-Iso Col-Iso Lap. Eig." ]
    [[ $(grep Nys-Iso <<<"$output" | head -n 1) =~ 59\.1\ +53\.3 ]]   # the paper's
    column 'Nearest neighbours' 'K = 1' | awk '$1 < 0 || $1 > 60 {exit 1} END {exit NR != 5}'
}

@test "accuracy: errors are told of components, and --accuracy beside a search of landmarks" {
    paper accuracy bars search
    column 'Error bars' data 'in 0.6…1.6, %' | awk '$1 != "mnist" || $2 < 80 {exit 1} END {exit NR != 1}'
    /usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip "scikit-learn is not installed"
    column 'right to 1 %' data 'ρ, %' | awk '$1 != "mnist" || $2 > 1.3 {exit 1} END {exit NR != 1}'
}

# closed FILE: fails unless the page is closed in itself: each id once, nothing from elsewhere.
closed() {
    /usr/bin/python3 - "$1" <<'END'
import collections, html.parser, sys
ids, wanted = collections.Counter(), set()
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                ids[value] += 1
            elif key in ("href", "src", "xlink:href") and not value.startswith("data:"):
                assert value[0] == "#", value
                wanted.add(value[1:])
Page().feed(open(sys.argv[1]).read())
assert wanted and wanted <= set(ids), wanted - set(ids)
assert max(ids.values()) == 1, ids.most_common(3)
END
}

@test "the page has what was made, what was not and why; a skipped run takes nothing away" {
    paper li-2010 2
    prints "holds: fewer experts of more columns: less error"
    run -0 --separate-stderr page pictures page.html
    closed page.html
    grep -q '<code>data-tools/papers/li-2010 --quick 2</code>' page.html
    grep -q '✓ fewer experts of more columns: less error' page.html
    grep -q '<td>480</td>' page.html
    grep -q 'statements hold (reduced sizes)' page.html
    grep -q 'not run: no record; its command makes one' page.html
    grep -q 'Webfaces-18M, pictures of single faces, is not at hand' page.html
    [ "$(grep -c '^<h2>' page.html)" = 6 ]
    cp page.html before.html
    NYSTREAM_DATA='' paper li-2010 2 1
    page pictures page.html
    grep -q '✓ fewer experts of more columns: less error' page.html
    grep -q 'not run: NYSTREAM_DATA is not set' page.html
    # A full run comes before a quick one.
    sed 's/"quick": true/"quick": false/; s/480/4800/' pictures/li-2010-2-quick.json \
        >pictures/li-2010-2.json
    page pictures page.html
    grep -q '<td>4800</td>' page.html
    run ! grep -q 'reduced sizes' page.html
}

@test "a page tells of an experiment that nystream refused, and the script fails" {
    NYSTREAM=/bin/false run -1 --separate-stderr li-2010 --quick -o pictures 2
    prints "failed: 2: nystream"
    page pictures page.html
    grep -q 'failed: nystream --version' page.html
}

# bats file_tags=
@test "without data each figure is skipped with a sentence" {
    unset NYSTREAM_DATA
    for name in li-2010 talwalkar-2013; do
        run -0 --separate-stderr $name --quick -o pictures 1
        prints "skipped: " "NYSTREAM_DATA is not set"
    done
    run -2 --separate-stderr li-2010 --quick 9
    says "9 is none of 1, "
}
