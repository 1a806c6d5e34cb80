# Columns weighed by how many rows have a value in them: fit --scale idf, idf-smooth.
load helper

# 400 rows of 40 columns, the rarer the farther to the right; column 1 full where that is asked,
# column 40 empty. With them the same rows times the weights, and 50 new ones of both.
weighed() {
    python3 - "$1" "$2" <<'PY'
import math, random, sys
random.seed(3)
smooth, full = sys.argv[1] == "smooth", sys.argv[2] == "full"
def row():
    x = [random.randint(1, 4) if random.random() < 0.8 / (1 + j / 6) else 0 for j in range(39)] + [0]
    if full: x[0] = 2
    return x
rows, new = [row() for i in range(400)], [row() for i in range(50)]
n, df = 400, [sum(x[j] != 0 for x in rows) for j in range(40)]
if smooth: weight = [math.log((1 + n) / (1 + k)) + 1 for k in df]
else: weight = [math.log(n / k) if 0 < k < n else 0 for k in df]
for name, table, w in (("x", rows, None), ("wx", rows, weight), ("new", new, None),
                       ("wnew", new, weight)):
    with open(name + ".csv", "w") as file:
        for x in table:
            print(*(repr(v * w[j]) if w else v for j, v in enumerate(x)), sep=",", file=file)
PY
}

# bats test_tags=slow
@test "weights are those of the formulas, for both layouts, maps and new rows" {
    for smooth in plain smooth; do
        weighed $smooth some
        scale=idf
        [ $smooth = plain ] || scale=idf-smooth
        for layout in dense sparse; do
            rm -rf x wx
            nystream import x x.csv --dtype u8 --layout $layout -q
            nystream import wx wx.csv --dtype f64 --layout $layout -q
            for options in "--map pca" "--map svd --kernel cosine --approx exact" \
                "--map svd --kernel linear --landmarks 30" "--kernel rbf --gamma 0.05 --landmarks 30" \
                "--map laplacian --kernel cosine --approx exact"; do
                nystream fit x f $options --scale $scale --precision f64 --restart -q
                nystream fit wx f $options --precision f64 --restart -q
                agree near "export x f" "export wx f"
                agree near "transform x f --input new.csv" "transform wx f --input wnew.csv"
            done
        done
    done
}

# bats test_tags=slow
@test "rows are counted by any number of threads, for weights and for choices" {
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 9000 --terms 2000 -o text.svm
    nystream import t text.svm --layout sparse -q
    nystream import d text.svm --layout dense -q
    for threads in 1 2 5; do
        for s in t d; do
            nystream fit $s f --map svd --kernel cosine --approx exact --scale idf --features min-rows:40 \
                --threads $threads --restart -q
            nystream export $s f --part features -o $s$threads.csv -q
            nystream export $s f -o $s$threads.npy -q
            cmp $s$threads.npy ${s}1.npy
            cmp $s$threads.csv t1.csv
        done
    done
    # as awk counts them
    tr ' ' '\n' <text.svm | awk -F: 'NF == 2 {df[$1]++} END {for (k in df) n += df[k] >= 40; print n}' >count
    [ "$(grep -c '[0-9]' t1.csv)" = "$(cat count)" ]
}

@test "columns of all rows weigh nothing, and are refused where there are no others" {
    weighed plain full
    nystream import x x.csv --layout sparse -q
    nystream fit x f --map svd --kernel cosine --approx exact --scale idf -q
    nystream fit x g --map svd --kernel cosine --approx exact --scale idf-smooth -q
    printf '1,0\n2,0\n3,0\n' | nystream import none - -q
    ny -3 fit none f --map svd --kernel linear --approx exact --scale idf
}

@test "an update keeps the weights" {
    weighed plain some
    nystream import x x.csv --layout sparse -q
    nystream fit x f --map pca --scale idf -q
    cp -r x kept
    for mode in full frozen; do
        rm -rf x && cp -r kept x
        nystream transform x f --input new.csv -o before.csv -q
        nystream import x new.csv --append -q
        ny -0 fit x f --update $mode
        [[ $stderr != *"have moved"* ]]
        nystream export x f -o after.csv -q
        [ $mode = full ] || cmp before.csv <(tail -n 50 after.csv)
    done
}

# bats test_tags=slow
@test "graphs and selections take the weights; the least budget of a plan is enough" {
    weighed plain some
    nystream import x x.csv --layout sparse -q
    nystream import wx wx.csv --dtype f64 --layout sparse -q
    nystream graph x g --neighbors 5 --metric cosine --scale idf -q
    nystream graph wx g --neighbors 5 --metric cosine -q
    for s in x wx; do nystream export $s g --part neighbors -o $s.csv -q; done
    # Rows of equal distance may change places: nearly all rows have the same neighbours.
    [ "$(diff x.csv wx.csv | grep -c '^<')" -lt 20 ]
    least=$(field "$(nystream plan x --map pca --scale idf --json)" memory_min_bytes)
    nystream fit x h --map pca --scale idf --memory "$least" -q
    least=$(field "$(nystream plan x --landmarks 20 --scale idf --gamma 0.1 --json)" memory_min_bytes)
    nystream fit x h2 --landmarks 20 --scale idf --gamma 0.1 --memory "$least" -q
}
