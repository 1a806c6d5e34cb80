# Counts that are prepared as they are read (import --rows, --values): whatever reads a store of
# them, it is like a store of the prepared values.
load helper
brought="*.csv *.svm"

# 300 rows of 30 counts, one of them without any; what total:10000 and log1p make of them, in digits
# that give the same f32; and the same rows in LIBSVM's format.
setup_file() {
    file_folder || return
    python3 - <<'PY'
import math, random, struct
random.seed(5)
rows = [[int(random.expovariate(1) * (j % 5)) if random.random() < 0.4 else 0 for j in range(30)]
        for i in range(300)]
rows[7] = [0] * 30
def narrow(x):
    return struct.unpack("f", struct.pack("f", x))[0]
def prepared(row):
    return [narrow(math.log1p(x * (10000 / sum(row)))) if x else 0 for x in row]
def write(name, table):
    with open(name, "w") as file:
        for row in table:
            print(*(format(x, ".9g") for x in row), sep=",", file=file)
write("counts.csv", rows)
write("new.csv", rows[20:60])
write("prepared.csv", map(prepared, rows))
write("prepared_new.csv", map(prepared, rows[20:60]))
for name, some in ("counts.svm", rows), ("new.svm", rows[20:60]):
    with open(name, "w") as file:
        for row in some:
            print(0, *(f"{j + 1}:{x}" for j, x in enumerate(row) if x), file=file)
PY
}

log='--rows total:10000 --values log1p'

# bats test_tags=slow
@test "fits, new rows, models, appends and graphs see prepared values" {
    for layout in dense sparse; do
        nystream import c$layout counts.csv --dtype u8 $log --layout $layout -q
        nystream import p$layout prepared.csv --layout $layout -q
        for options in "--map pca" "--map kpca --landmarks 40" "--scale standard --landmarks 20" \
            "--map isomap --neighbors 20 --connect" "--approx randomized --map svd"; do
            for s in c p; do nystream fit $s$layout f $options --seed 1 --restart -q; done
            same_exports "c$layout f" "p$layout f"
            places="transform c$layout f --input new.csv --dtype u8"
            agree cmp "$places" "transform p$layout f --input prepared_new.csv" npy
            [[ $options == *isomap* || $options == *randomized* ]] && continue
            nystream export c$layout f --part model -o m.nym -q
            agree cmp "$places" "transform m.nym --input new.csv --dtype u8" npy
        done
        nystream import c$layout new.csv --append -q
        nystream import p$layout prepared_new.csv --append -q
        for s in c p; do
            nystream fit $s$layout f --update full -q
            nystream info $s$layout --json | grep -E 'mean|"n"' >$s.txt
        done
        same_exports "c$layout f" "p$layout f"
        cmp c.txt p.txt
        nystream verify c$layout
    done
}

@test "a sparse file goes in, and new rows of it, dense or sparse" {
    nystream import c counts.svm --layout sparse $log -q
    nystream import p prepared.csv --layout sparse -q
    for s in c p; do nystream fit $s f --landmarks 30 -q; done
    same_exports "c f" "p f"
    nystream transform p f --input prepared_new.csv -o p.npy -q
    for input in new.svm new.csv; do
        nystream transform c f --input $input -o c.npy -q
        cmp c.npy p.npy
    done
}

@test "info and import tell of it; the store keeps the type that came in" {
    ny -0 import c counts.csv --dtype u8 $log --json
    [ "$(field "$output" prepared_rows)" = total:10000 ]
    ny -0 info c
    prints "stored as             u8" "rows prepared         total:10000" "values prepared       log1p"
    prints "element type          f32"
    nystream import plain counts.csv --dtype u8 -q
    [ "$(field "$(nystream info plain --json)" bytes)" = "$(field "$(nystream info c --json)" bytes)" ]
    [ "$(field "$(nystream info plain --json)" prepared_rows)" = null ]
}

@test "an append has the words of the store, or none" {
    nystream import c counts.csv $log -q
    nystream import c new.csv --append --rows total:1e4 -q
    ny -2 import c new.csv --append --values sqrt
    usage "total:10000" import c new.csv --append --rows none
    nystream import plain new.csv -q
    usage "--rows none --values raw" import plain new.csv --append --values log1p
    [ "$(field "$(nystream info c --json)" n)" = 340 ]
}

@test "values that cannot be prepared are refused with row and column" {
    printf '1,2\n3,-4\n' >t.csv
    answers 3 "row 1, column 1 (both from 0): -4 cannot be prepared" import s t.csv --values sqrt
    says "negative values look scaled already: import without them, or import the counts"
    [ ! -e s ]
    printf '0 1:1\n0 2:-1\n' >t.svm
    answers 3 "row 1, column 1 (both from 0): -1" import s t.svm --values log1p --layout sparse
    printf '1,2\n3,1\n' | nystream import s - --values log1p -q
    nystream fit s f --map pca --components 1 -q
    ny -3 transform s f --input t.csv -o o.npy
    [ ! -e o.npy ]
    for rows in total total:0 total:-1 total:x halves; do
        ny -2 import new t.csv --rows $rows
    done
}

# bats test_tags=slow
@test "embed prepares as import does" {
    agree cmp "embed counts.csv --landmarks 30 $log" "embed prepared.csv --landmarks 30" npy
}

# bats test_tags=slow
@test "--min-values leaves rows out, and counts them" {
    printf '1,0,2\n0,0,0\n3,4,5\n0,7,0\n0,0,6\n1,1,0\n' >t.csv
    printf '0 1:1 3:2\n0\n0 1:3 2:4 3:5\n0 2:7\n0 2:0 3:6\n0 1:1 2:1\n' >t.svm
    for format in csv svm; do
        for layout in dense sparse; do
            ny -0 import s t.$format --min-values 2 --layout $layout
            says "t.$format: 3 rows with fewer than 2 values are left out"
            rm -r s
            ny import s t.$format --min-values 2 --layout $layout --json
            fields n=3 rows=3
            [ "$(tr -d ' \n' <<<"$output" | grep -o '"dropped_rows":\[1,3,4\]')" ]
            nystream import s t.$format --append -q
            [ "$(field "$(nystream info s --json)" dropped)" = 3 ]
            nystream fit s f --map pca --components 1 -q
            [ "$(shown "s f --part source" | head -n 3 | tr '\n' ' ')" = "0 2 5 " ]
            rm -r s
        done
    done
    ny -3 import s t.csv --min-values 4
    [ ! -e s ]
    printf '1,0,2\nnan,1,1\n0,0,3\n' >n.csv
    ny -3 import s n.csv --min-values 3 --nan drop
    [ ! -e s ]

    seq 6 >l.txt
    nystream import s t.csv t.csv --min-values 2 --shuffle --seed 3 -q
    [ "$(field "$(nystream info s --json)" n)" = 6 ]
    nystream import l t.csv --min-values 2 --labels l.txt -q
    nystream fit l f --map pca --components 1 -q
    [ "$(shown "l f --part labels" | tr '\n' ' ')" = "1 3 6 " ]
    nystream import big counts.csv --min-values 9 -q
    [ "$(field "$(nystream info big --json)" n)" = \
        "$(awk -F, '{ k = 0; for (j = 1; j <= NF; j++) k += $j != 0 } k >= 9' counts.csv | wc -l)" ]
}

@test "export writes the points as fits see them, and with --raw as they came" {
    for layout in dense sparse; do
        nystream import c$layout counts.csv --dtype u8 --layout $layout $log -q
        nystream import p$layout prepared.csv --layout $layout -q
        for s in c p; do nystream fit $s$layout f --map pca -q; done
        same_exports "c$layout f --part points" "p$layout f --part points"
        writes counts.csv "c$layout f --part points --raw"
    done
}
