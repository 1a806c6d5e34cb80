# Columns that are chosen: fit --features.
load helper
brought="x.csv new.csv"

# 300 rows of 30 columns of counts, one column full, one constant, one empty, in x.csv; 40 new rows
# in new.csv. `chosen RULE` writes the columns that a rule keeps, by its definition.
setup_file() {
    file_folder || return
    python3 - <<'PY'
import random
random.seed(5)
def row():
    mean = [4 / (1 + j / 3) * random.choice((0.2, 1 + j % 5)) for j in range(30)]
    x = [min(99, int(random.expovariate(1 / m))) for m in mean]
    x[3], x[7], x[11] = 2 + x[3], 5, 0
    return x
for name, n in (("x", 300), ("new", 40)):
    with open(name + ".csv", "w") as file:
        for i in range(n): print(*row(), sep=",", file=file)
PY
}

# chosen variance:N|variable:N|min-rows:N [TOTAL]: the columns of x.csv, one a line, ascending.
# variable is of the values, or of rows scaled to the sum TOTAL.
chosen() {
    python3 - "$@" <<'PY'
import math, sys
rule, n = sys.argv[1].split(":")
n = int(n)
x = [list(map(float, line.split(","))) for line in open("x.csv")]
if len(sys.argv) > 2: x = [[v * float(sys.argv[2]) / sum(r) for v in r] for r in x]
rows, d = len(x), len(x[0])
mean = [sum(r[j] for r in x) / rows for j in range(d)]
var = [sum((r[j] - mean[j]) ** 2 for r in x) / (rows - 1) for j in range(d)]
if rule == "variance": score = var
if rule == "min-rows": score = [sum(r[j] != 0 for r in x) for j in range(d)]
if rule == "variable":
    mean = [m or 1e-12 for m in mean]
    disp = [math.log(v / m) if v > 0 else None for v, m in zip(var, mean)]
    mean = [math.log1p(m) for m in mean]
    low, high = min(mean), max(mean)
    edge = [low + i * ((high - low) / 20) for i in range(20)] + [high]
    edge[0] -= (high - low) * 0.001
    bin = [next(i for i in range(20) if edge[i] < m <= edge[i + 1]) for m in mean]
    score = [-math.inf] * d
    for b in set(bin):
        of = [disp[j] for j in range(d) if bin[j] == b and disp[j] is not None]
        if not of: continue
        a = sum(of) / len(of)
        s = math.sqrt(sum((y - a) ** 2 for y in of) / (len(of) - 1)) if len(of) > 1 else 0
        for j in range(d):
            if bin[j] == b and disp[j] is not None: score[j] = (disp[j] - a) / s if s else 1
if rule == "min-rows": keep = [j for j in range(d) if score[j] >= n]
else: keep = sorted(sorted(range(d), key=lambda j: (-score[j], j))[:n])
print(*keep, sep="\n")
PY
}

# narrow IN.csv OUT.csv COLUMNS: writes the columns of the list alone.
narrow() {
    cut -d, -f"$(awk '{print $1 + 1}' "$3" | paste -sd,)" "$1" > "$2"
}

# kept NAME: the columns that a result of x has kept, one a line.
kept() {
    nystream export x "$1" --part features -o kept.csv -q
    cat kept.csv
}

# bats test_tags=slow
@test "each rule keeps the columns of its definition, in both layouts, prepared or not" {
    for layout in dense sparse; do
        rm -rf x
        nystream import x x.csv --dtype u8 --layout $layout -q
        for rule in variance:7 variable:6 variable:1 min-rows:150 min-rows:300 variance:30; do
            ny -0 fit x f --map svd --kernel linear --approx exact --features $rule --restart --json
            diff <(kept f) <(chosen $rule)
            [ "$(field "$output" features)" = $rule ]
            [ "$(field "$output" features_kept)" = "$(chosen $rule | wc -l)" ]
        done
        rm -rf x
        nystream import x x.csv --dtype u8 --layout $layout --rows total:1000 --values log1p -q
        for rule in variable:6 variable:15; do
            nystream fit x f --map pca --features $rule --restart -q
            diff <(kept f) <(chosen $rule 1000)
        done
    done
}

# bats test_tags=slow
@test "a fit is that of the columns alone, for maps, methods, scales and new rows" {
    chosen variance:12 > list
    narrow x.csv few.csv list
    narrow new.csv fewnew.csv list
    for layout in dense sparse; do
        rm -rf x few
        nystream import x x.csv --layout $layout -q
        nystream import few few.csv --layout $layout -q
        for options in "--map pca" "--map svd --kernel cosine --approx exact" \
            "--map laplacian --kernel cosine --approx exact" \
            "--kernel rbf --gamma 0.05 --landmarks 30" "--kernel laplacian --landmarks 30" \
            "--map diffusion --kernel cosine --landmarks 30" "--kernel rbf --approx gaussian --landmarks 200"; do
            for scale in none standard idf-smooth; do
                # Centred rows have negative similarities, which those maps refuse.
                [[ $scale != standard || $options != *"laplacian --kernel cosine"* ]] || continue
                [[ $scale != standard || $options != *diffusion* ]] || continue
                nystream fit x f $options --features list --scale $scale --precision f64 --restart -q
                nystream fit few f $options --scale $scale --precision f64 --restart -q
                echo "$layout $options $scale"
                agree near "export x f" "export few f"
                agree near "transform x f --input new.csv" "transform few f --input fewnew.csv"
            done
        done
    done
}

@test "updates, a model and a job that is gone on with keep the columns, without the file" {
    nystream import x x.csv --layout sparse -q
    printf '20\n1\n5\n9\n' > list
    nystream fit x f --map pca --features list -q
    nystream fit x g --map pca --features variance:9 -q
    kept g > g.list
    rm list
    cp -r x whole
    nystream export x f --part model -o m.nym -q
    for mode in full frozen; do
        rm -rf x && cp -r whole x
        nystream transform x f --input new.csv -o before.csv -q
        nystream transform m.nym --input new.csv -o again.csv -q
        cmp before.csv again.csv
        nystream import x new.csv --append -q
        for name in f g; do
            ny -0 fit x $name --update $mode --json
            [[ $stderr != *"have moved"* ]]
        done
        [ "$(kept f | paste -sd' ')" = "1 5 9 20" ]
        cmp g.list <(kept g)
        fields features=variance:9 features_kept=9
        nystream export x f -o after.csv -q
        [ $mode = full ] || cmp before.csv <(tail -n 40 after.csv)
    done
}

@test "another list under the same name is another job" {
    nystream import x x.csv -q
    seq 3 9 > list
    nystream fit x f --map pca --features list -q
    answers 0 "done already" fit x f --map pca --features list
    seq 9 -1 3 > list # the order says nothing
    nystream fit x f --map pca --features list -q
    seq 3 8 > list
    ny -2 fit x f --map pca --features list
}

@test "what is no choice of columns is refused, with what it could be" {
    nystream import x x.csv -q
    for spec in variable:0 variance:x min-rows: variable variance:31 varible:9; do
        ny -2 fit x f --map pca --features $spec
    done
    ny -3 fit x f --map pca --features min-rows:301
    ny -4 fit x f --map pca --features nowhere
    ny -4 fit x f --map pca --features 20
    for list in '1\ngene\n' '1\n\n-2\n' '4\n30\n77\n' '4\n1\n4\n2\n4\n1\n' '\n \n' '7\n11\n'; do
        printf "$list" > list
        ny -3 fit x f --map pca --features list
    done
    printf '1,2\n3,-4\n5,6\n' | nystream import signed - -q
    ny -3 fit signed f --map pca --features variable:1
    says "row 1, column 1 (both from 0) of signed is -4"
    ny info x
    [[ $output != *" f "* ]]
}

@test "rows that have nothing in the columns that are left" {
    printf '1,0,2\n0,3,1\n2,1,0\n4,0,0\n0,5,5\n1,1,1\n' > x.csv
    nystream import x x.csv --layout sparse -q
    printf '0\n' > list
    ny -0 fit x f --map svd --kernel cosine --approx exact --tol 1e-4 --features list --components 1 --json
    says "2 of 6 rows have no value, the first of them row 1"
    fields rows_empty=2
    ny -7 fit x g --map laplacian --kernel cosine --approx exact --tol 1e-4 --features list --components 1
}

# bats test_tags=slow
@test "graphs and selections go by the columns; threads and budgets change nothing" {
    chosen variable:8 > list
    narrow x.csv few.csv list
    narrow new.csv fewnew.csv list
    for layout in dense sparse; do
        rm -rf x few
        nystream import x x.csv --layout $layout -q
        nystream import few few.csv --layout $layout -q
        nystream graph x g --neighbors 5 --metric cosine --features variable:8 -q
        nystream graph few g --neighbors 5 --metric cosine -q
        diff list <(kept g)
        for s in x few; do nystream export $s g --part neighbors -o $s.near.csv -q; done
        nystream transform x g --input new.csv -o x.new.csv -q
        nystream transform few g --input fewnew.csv -o few.new.csv -q
        [ "$(diff x.new.csv few.new.csv | grep -c '^<')" -lt 5 ]
        # Rows of equal distance may change places: nearly all rows have the same neighbours.
        [ "$(diff x.near.csv few.near.csv | grep -c '^<')" -lt 20 ]
        nystream select x d --landmarks 10 --kernel cosine --features list -q
        diff list <(kept d)
        nystream fit x i --map isomap --features list --landmarks 50 -q
        diff list <(kept i)
    done
    rm -rf x
    nystream import x x.csv --rows total:100 --values log1p --layout sparse -q
    least=$(field "$(nystream plan x --map pca --features variable:8 --scale idf --json)" memory_min_bytes)
    nystream fit x a --map pca --features variable:8 --scale idf --memory "$least" --threads 1 -q
    nystream fit x b --map pca --features variable:8 --scale idf --threads 2 -q
    same_exports "x a" "x b"
}

@test "a file names columns, where they have names" {
    {
        seq -f "gene%g" -s, 0 29
        cat x.csv
    } >named.csv
    nystream import named.nys named.csv -q
    seq 2 9 >numbers
    sed 's/^/gene/' numbers | sort -r >names
    nystream fit named.nys by-number --features numbers --map pca --approx exact --components 2 -q
    nystream fit named.nys by-name --features names --map pca --approx exact --components 2 -q
    for name in by-number by-name; do
        diff numbers <(shown "named.nys $name --part features")
    done
    same_exports "named.nys by-number" "named.nys by-name"
    # Unknown names are listed, numbers among names are names, and a name may come once.
    for names in 'gene1\nABC\nDEF\n3\n' 'gene1\ngene2\ngene1\n'; do
        printf "$names" >wrong
        ny -3 fit named.nys x --features wrong --map pca --approx exact --components 1 -q
    done
    # A word is no column if columns have no names.
    nystream import plain.nys x.csv -q
    run -3 nystream fit plain.nys x --features names --map pca --approx exact --components 1 -q
    prints "is not a column number"
}
