# A certificate says in words what its numbers mean.
load helper

# near N: N rows of four columns, three quarters of which are near copies of ten of them.
near() {
    awk -v n="$1" 'BEGIN {
        srand(4)
        for (i = 0; i < n; i++) {
            k = i % 4 ? i % 10 : i
            printf "%.9g,%.9g,%.9g,%.9g\n", sin(k * 7.1) + 1e-7 * rand(), cos(k * 3.3), sin(k * 1.7), cos(k * 0.9)
        }
    }'
}

@test "a residual of rounding size is below 1e-12, and so is the trace error" {
    store s 300 2
    ny -0 fit s a --map svd --kernel linear --landmarks 20 --certify
    says "largest residual below 1e-12 (a squared distance)"
    ny -0 fit s b --map svd --kernel linear --landmarks 20 --certify --json
    awk -v e="$(field "$output" trace_error)" 'BEGIN {exit !(e >= 0 && e < 1e-12)}'
}

@test "the largest residual has its row, and is at most k(x,x)" {
    table 600 4 | awk 'NR == 8 { print "900,900,900,900"; next } 1' | nystream import s - --format csv -q
    ny -0 fit s a --gamma 0.3 --landmarks 10 --certify
    says "largest residual 1 of k(x,x) = 1: at least one row is not represented by the landmarks at all, the first of them row 7"
    has "s a" residual_max=1.0 residual_max_row=7
    nystream export s a --part residuals -o residuals.csv
    [ "$(sort -g residuals.csv | tail -n 1)" = "$(sed -n 8p residuals.csv)" ]
    ny fit s b --kernel linear --landmarks 2 --certify --precision f64
    says "(a squared distance): that of row " ", which the landmarks represent least"
    ny fit s c --kernel linear --landmarks 4 --certify --precision f64
    says "below 1e-12 (a squared distance): that of the row which the landmarks represent least"
}

@test "landmarks that f32 takes for equal are told, with the cure" {
    near 2000 >near.csv
    nystream import s near.csv -q
    ny -0 fit s u --select uniform --approx projected --landmarks 200
    says "landmarks count: the others are nearly equal to them in f32; --select rpcholesky"
    ny -0 fit s r --select rpcholesky --approx projected --landmarks 60
    [[ $stderr != *"nearly equal"* ]]
}

@test "columns that differ much in scale under a linear kernel are told, with the cure" {
    awk 'BEGIN {srand(5); for (i = 0; i < 900; i++) printf "%.9g,%.9g,%.9g,%.9g\n", 1e9 * rand(), 10 * rand(), 1e-3 * rand(), 1e-4 * rand()}' >scales.csv
    nystream import s scales.csv --dtype f64 -q
    ny -0 fit s a --map svd --kernel linear --select uniform --landmarks 50 --precision f64
    says "directions of the landmarks are above rounding" "--scale standard"
    ny -0 fit s b --map svd --kernel linear --select uniform --landmarks 50 --precision f64 --scale standard
    [[ $stderr != *"above rounding: the columns"* ]]
}

@test "small directions that are lost beside outliers are told, with the cure" {
    awk 'BEGIN {
        srand(5)
        for (i = 0; i < 900; i++) {
            far = i % 300 == 7 ? 3000 : 1; x = far * (rand() - .5); y = far * (rand() - .5)
            printf "%.9g,%.9g,%.9g,%.9g\n", x, y, x + 5 * rand(), y + 2 * rand()
        }
    }' >far.csv
    nystream import s far.csv -q
    ny -0 fit s a --map pca --scale standard --components 4 --approx projected
    says "only 3 of 4 directions are above rounding in f32, because some rows lie far outside"
    says "what rounding leaves out"
    ny -0 fit s b --map pca --scale standard --components 4 --approx projected --precision f64
    [[ $stderr != *"above rounding"* ]]
    ny -0 fit s c --map pca --scale standard --components 4
    for name in b c; do nystream export s $name --part eigenvalues -o $name.csv -q; done
    paste b.csv c.csv | awk 'NR == 4 { found = $1 > 0.99 * $2 && $1 < 1.01 * $2 } END { exit !found }'
}

@test "what fewer pairs or a hull leave out of K is not put down to rounding" {
    store s 300 6
    for options in "--rank 3" "--inner randomized" "--affine --landmarks 6 --select rpcholesky"; do
        answers 0 "what the landmarks leave out of K" fit s a --map pca $options --restart
        [[ $stderr != *"above rounding"* ]]
    done
}

@test "residuals of the span are told apart from those of the affine hull" {
    store s 300 3
    ny -0 fit s a --select uniform --landmarks 20 --approx projected --affine --certify
    says "rows may be farther from their affine hull"
    ny -0 fit s b --select uniform --landmarks 20 --approx projected --certify
    [[ $stderr != *"affine hull"* ]]
}

@test "components whose eigenvalues the errors do not tell apart are named, and no others" {
    for stretch in 1 2; do # a square of points, and a rectangle
        awk -v s=$stretch 'BEGIN {for (i = 0; i < 3600; i++) print s * (i % 60) / 60 "," int(i / 60) / 60}' |
            nystream import s$stretch - --format csv -q
        ny -0 fit s$stretch a --components 2 --landmarks 12 --gamma 1
        says "components 1-2 are right to"
        grep -c "components 1-2 may be turned" <<<"$stderr" >>told || true
    done
    [ "$(cat told)" = $'1\n0' ]
}
