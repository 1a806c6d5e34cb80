# Tests laplacian and diffusion: kernels divided by their degrees.
load helper

# Two clouds of 150 points, 12 apart.
clouds() {
    table 300 4 | awk -F, 'BEGIN {OFS = ","} {for (j = 1; j <= 4; j++) $j = 3 * $j + (NR > 150) * 6} 1'
}

clouds_store() {
    clouds >c.csv
    nystream import s c.csv -q
}

# largest_difference A.csv B.csv: over all entries.
largest_difference() {
    paste -d, "$1" "$2" | awk -F, '{
        for (j = 1; j <= NF / 2; j++) {d = $j - $(j + NF / 2); if (d < 0) d = -d; if (d > m) m = d}
    } END {printf "%.9f\n", m}'
}

@test "laplacian: one more eigenpair than components, the first one trivial" {
    clouds_store
    for approx in nystrom column projected; do
        ny -0 fit s $approx --map laplacian --approx $approx --select uniform --landmarks 200 \
            --components 3 --gamma 0.05 --json
        fields components=3 status=done
        nystream export s $approx --part eigenvalues -o values.csv
        [ "$(wc -l <values.csv)" = 4 ]
        awk '/nan/ || NR == 1 && ($1 < 0.9 || $1 > 1.1) {exit 1} NR > 1 && $1 > last {exit 1} {last = $1}' values.csv
        nystream export s $approx --part eigenvectors -o u.csv
        nystream export s $approx -o y.csv
        [ "$(head -n 1 u.csv | tr ',' '\n' | wc -l)" = 4 ]
        [ "$(head -n 1 y.csv | tr ',' '\n' | wc -l)" = 3 ]
        cut -d, -f2-4 u.csv | cmp - y.csv
        # the trivial vector has one sign, the next tells the clouds apart
        awk -F, 'NR == 1 {s = $1 > 0} ($1 > 0) != s {exit 1}' u.csv
        awk -F, 'NR == 1 {s = $1 > 0} ($1 > 0) != (NR <= 150 ? s : !s) {exit 1}' y.csv
    done
    has "s projected" trace_of=normalised passes=3
    [[ $output == *'"degrees":'* ]]
}

# bats test_tags=slow
@test "the eigenvalues of a divided kernel are those of the matrix itself" {
    clouds_store
    nystream fit s a --map laplacian --landmarks 300 --components 2 --gamma 0.05 -q
    # power iteration on D^-1/2 K D^-1/2, less its trivial eigenvector √d
    wanted=$(awk -F, '{for (j = 1; j <= 4; j++) x[NR, j] = $j} END {
        n = NR
        for (i = 1; i <= n; i++) for (k = 1; k <= n; k++) {
            s = 0
            for (j = 1; j <= 4; j++) s += (x[i, j] - x[k, j]) ^ 2
            K[i, k] = exp(-0.05 * s); d[i] += K[i, k]
        }
        for (i = 1; i <= n; i++) total += d[i]
        for (i = 1; i <= n; i++) v[i] = i <= 150 ? 1 : -1
        for (step = 0; step < 30; step++) {
            dot = 0; norm = 0
            for (i = 1; i <= n; i++) dot += v[i] * sqrt(d[i] / total)
            for (i = 1; i <= n; i++) {v[i] -= dot * sqrt(d[i] / total); norm += v[i] ^ 2}
            for (i = 1; i <= n; i++) v[i] /= sqrt(norm)
            value = 0
            for (i = 1; i <= n; i++) {
                w[i] = 0
                for (k = 1; k <= n; k++) w[i] += K[i, k] * v[k] / sqrt(d[i] * d[k])
                value += w[i] * v[i]
            }
            for (i = 1; i <= n; i++) v[i] = w[i]
        }
        printf "%.6f", value}' c.csv)
    nystream export s a --part eigenvalues -o values.csv
    awk -v w="$wanted" '/nan/ {exit 1} NR == 1 && ($1 - 1) ^ 2 > 1e-10 {exit 1} NR == 2 && ($1 - w) ^ 2 > 1e-9 {exit 1}' values.csv
}

@test "diffusion: eigenvalues to the power of --time, and the random walk" {
    clouds_store
    local fit="--map diffusion --landmarks 200 --components 2 --gamma 0.05 -q"
    nystream fit s one $fit
    nystream fit s half $fit --time 0.5
    nystream fit s three $fit --time 3
    nystream export s one --part eigenvalues -o values.csv
    for name in half one three; do nystream export s $name -o $name.csv; done
    nystream fit s l --map laplacian --landmarks 200 --components 2 --gamma 0.05 -q
    nystream export s l -o l.csv
    paste -d, l.csv half.csv one.csv three.csv | awk -F, '/nan/ {exit 1} NR == FNR {v[NR] = $1; next} {
        for (k = 1; k <= 2; k++) {
            if (($k * sqrt(v[k + 1]) - $(k + 2)) ^ 2 > 1e-12) exit 1
            if (($k * v[k + 1] - $(k + 4)) ^ 2 > 1e-12) exit 1
            if (($k * v[k + 1] ^ 3 - $(k + 6)) ^ 2 > 1e-12) exit 1
        }}' values.csv -
    ny -2 fit s a --map diffusion --time -1
    # ψ₀ of the walk is constant: what is left is ψ_k = u_k/u_1 up to scale
    nystream fit s walk $fit --normalize asymmetric --averages implicit
    nystream export s walk -o walk.csv
    nystream export s walk --part eigenvectors -o u.csv
    paste -d, u.csv walk.csv | awk -F, '/nan/ {exit 1} NR == FNR {v[NR] = $1; next} {
        d = $2 / $1 * v[2] - $4; if (d < 0) d = -d
        if (d > 1e-3 * ($4 < 0 ? -$4 : $4) + 1e-4) exit 1}' values.csv -
}

@test "new points are placed where the fit placed them, with their own degrees" {
    clouds_store
    for how in "laplacian" "laplacian --approx nystrom" "laplacian --row-normalize" \
        "diffusion --normalize asymmetric --time 2" "diffusion --precision f64"; do
        nystream fit s r --map $how --landmarks 100 --components 2 --gamma 0.05 --restart -q
        nystream export s r --part model -o r.nym
        for model in "s r" r.nym; do
            nystream transform $model --input c.csv -o t.csv
            writes t.csv "s r"
        done
    done
}

@test "--row-normalize: rows of length one, for any map" {
    clouds_store
    for map in laplacian kpca; do
        nystream fit s $map --map $map --row-normalize --landmarks 100 --gamma 0.05 -q
        nystream export s $map -o y.csv
        awk -F, '/nan/ {exit 1} {l = $1 ^ 2 + $2 ^ 2; if (l < 0.9999 || l > 1.0001) exit 1}' y.csv
        nystream export s $map --part eigenvectors -o u.csv
        ! cmp -s y.csv u.csv || false
    done
}

@test "rows that no landmark reaches: which, how many, and above 1 % exit 7 with what to do" {
    { clouds; printf '%s\n' 1e4,1e4,1e4,1e4 2e4,2e4,2e4,2e4; } >two.csv
    { cat two.csv; printf '%s\n' 3e4,3e4,3e4,3e4 4e4,4e4,4e4,4e4; } >far.csv
    nystream import s far.csv -q
    nystream import t two.csv -q
    for approx in nystrom column "projected --averages landmarks" projected; do
        # landmarks: rows of the clouds alone
        seq 0 2 298 >d.csv
        ny -7 fit s a --map laplacian --approx $approx --landmarks-file d.csv --gamma 0.05 -q
        says "4 of 304 rows, the first of them row 300, have degrees that are negative or zero" "rpcholesky"
        ny -0 fit t a --map laplacian --approx $approx --landmarks-file d.csv --gamma 0.05 --restart -q
        says "2 of 302 rows, the first of them row 300, are too far from all landmarks"
        [ "$(shown "t a" | grep -ci nan)" = 2 ]
    done
    nystream fit s a --map laplacian --select greedy --tolerance 0.5 --gamma 0.05 -q
    printf '%s\n' 1,1,1,1 9e4,9e4,9e4,9e4 8e4,8e4,8e4,8e4 >new.csv
    answers 7 "row 1" transform s a --input new.csv -o t.csv
    [ ! -e t.csv ]
}

@test "a landmark whose degree vanishes has no place, and leaves the other rows theirs" {
    awk 'BEGIN {
        for (i = 0; i < 300; i++) {
            by = i == 7 ? 1e-8 : 1
            printf "%.9g,%.9g,%.9g\n", by * (2 + cos(i)), by * (2 + sin(2 * i)), by * (2 + cos(3 * i))
        }
    }' >tiny.csv
    nystream import s tiny.csv --dtype f64 -q
    seq 100 115 >without.csv
    { seq 100 115; echo 7; } >with.csv
    for inner in exact randomized; do
        for name in with without; do
            ny -0 fit s $name --map diffusion --normalize asymmetric --kernel linear --precision f64 \
                --landmarks-file $name.csv --inner $inner --restart
            says "1 of 300 rows, the first of them row 7"
            nystream export s $name -o $name.rows.csv -q
        done
        paste -d, with.rows.csv without.rows.csv | awk -F, '
            NR != 8 {for (j = 1; j <= 2; j++) {e = $j - $(j + 2); if (e * e > 1e-12) exit 1}}
            END {exit NR != 300}'
        sed -n 8p with.rows.csv | grep -qi nan
    done
}

@test "what does not go with a divided kernel is refused" {
    clouds_store
    ny -2 fit s a --map laplacian --time 2
    ny -2 fit s a --map kpca --normalize asymmetric
    usage --affine fit s a --map diffusion --affine
    usage --averages fit s a --map laplacian --approx nystrom --averages implicit
    ny -2 fit s a --map laplacian --components 5 --rank 5
    usage --components fit s a --map laplacian --components 50 --landmarks 50
}

@test "degrees of rows that hardly reach a landmark: what f32 makes of them is said" {
    clouds_store
    seq 0 2 148 >d.csv # of the first cloud alone
    ny -0 fit s a --map laplacian --landmarks-file d.csv --gamma 0.08 -q
    says "first eigenvalue is 1.0"
    ny -0 fit s b --map laplacian --landmarks-file d.csv --gamma 0.03 -q
    silent
}

@test "diffusion at time 0 is its eigenvectors, by a kernel and by a graph" {
    store s 200 3
    nystream fit s a --map diffusion --time 0 --landmarks 50 --components 3 -q
    nystream fit s g --map diffusion --time 0 --neighbors 8 --connect --components 3 -q
    for name in a g; do
        nystream export s $name -o $name.csv
        paste -d, $name.csv <(shown "s $name --part eigenvectors") | awk -F, '
            {for (k = 1; k <= 3; k++) {d = $k - $(k + 4); if (d * d > 1e-12) bad++; if ($k != 0) seen++}}
            END {exit !(NR == 200 && !bad && seen > 500)}'
    done
    has "s a" time=0
}
