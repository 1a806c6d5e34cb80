# Tests randomized and gaussian: approximations by products with all of K, as a user types them.
load helper
brought="s t.csv"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 5000 5 >t.csv
    nystream import s t.csv -q
}

# places TOLERANCE OPTION…: fits, and checks that training rows are placed where they were.
places() {
    local tolerance=$1
    shift
    ny -0 fit s a --json --restart "$@"
    [ "$(field "$output" status)" = done ]
    nystream export s a -o a.csv
    nystream transform s a --input t.csv -o b.csv
    alike "$tolerance" a.csv b.csv
}

@test "randomized: plan, fit, report, new points" {
    ny -0 plan s --approx randomized --components 3 --power 4 --json
    fields fits=true landmarks=null passes=5
    places 1e-4 --approx randomized --components 3 --rank 12 --power 4
    has "s a" landmarks=null select=null trace_error=null rank=12 passes=5 trace_of=centred
    # with no product, the range would be that of random numbers
    ny -2 fit s b --approx randomized --power 0
}

# bats file_tags=slow
@test "gaussian: plan, fit, report, new points" {
    ny -0 plan s --approx gaussian --landmarks 300 --json
    fields passes=1
    places 1e-3 --approx gaussian --landmarks 300
    has "s a" passes=1
    store small 300 5
    ny -0 fit small b --approx gaussian --landmarks 400 --components 2
    says "--landmarks 400 is more than the 300 rows"
}

@test "every map, in both precisions" {
    for map in svd pca kpca laplacian diffusion; do
        places 4e-3 --approx randomized --power 4 --rank 8 --map $map
        cp a.csv narrow.csv
        places 4e-3 --approx randomized --power 4 --rank 8 --map $map --precision f64
        alike 1e-4 narrow.csv a.csv
    done
    places 0.05 --approx randomized --power 4 --rank 8 --map diffusion --normalize asymmetric \
        --time 2 --row-normalize
    places 4e-3 --approx gaussian --landmarks 200 --map laplacian
}

@test "the leading eigenvalues are those that landmarks find, at more cost" {
    nystream fit s exactly --landmarks 1500 --components 4 --map svd -q
    nystream fit s randomized --approx randomized --components 4 --map svd --power 4 -q
    nystream fit s gaussian --approx gaussian --landmarks 400 --components 4 --map svd -q
    for name in exactly randomized gaussian; do
        nystream export s $name --part eigenvalues -o $name.csv
    done
    alike 1e-3 exactly.csv randomized.csv
    alike 1e-2 exactly.csv gaussian.csv
}

@test "the same bytes for any threads and budget, and new points in other types" {
    local options=(--approx randomized --components 3)
    nystream fit s a "${options[@]}" --threads 1 -q
    nystream fit s b "${options[@]}" --threads 3 -q
    least=$(nystream plan s "${options[@]}" --json | sed -n 's/.*"memory_min_bytes": \([0-9]*\).*/\1/p')
    nystream fit s c "${options[@]}" --memory "$least" -q
    agree cmp "transform s a --input t.csv --threads 2" \
        "transform s b --input t.csv --threads 1" npy
    for name in b c; do same_exports "s a" "s $name"; done
    agree "alike 1e-4" "transform s a --input t.csv --dtype f64" \
        "transform s a --input t.csv --memory 200M"
}

# bats file_tags=
@test "a budget that is too small is refused, and the one that is named works" {
    too_little fit s a --approx randomized --components 3 --memory 40M
    ny -0 fit s a --approx randomized --components 3 --memory "$least"
    ny -8 fit s b --approx randomized --components 3 --memory $((least - 1))
}

# bats file_tags=slow
@test "linear and cosine kernels are multiplied by their features" {
    # two passes for each block of columns; tiles of K where rows are few, or columns of the product many
    store few 2048 3
    while read -r passes call; do
        ny -0 $call --json
        fields passes="$passes"
    done <<'END'
6 plan s --approx randomized --components 3 --map svd --kernel linear
10 plan s --approx randomized --components 3 --map laplacian --kernel cosine --power 3
6 plan s --approx gaussian --landmarks 300 --map svd --kernel linear
6 fit s a --approx gaussian --landmarks 300 --map svd --kernel linear
3 plan few --approx randomized --components 3 --map svd --kernel linear
1 plan s --approx gaussian --landmarks 1250 --map svd --kernel linear
22 plan s --approx gaussian --landmarks 1249 --map svd --kernel linear
3 plan s --approx randomized --components 3 --map svd --kernel polynomial
END
    places 1e-4 --approx randomized --components 3 --map kpca --kernel cosine --power 3
    places 1e-4 --approx randomized --components 3 --map laplacian --kernel linear --power 3
}

@test "values by features in f32 are those by tiles in f64 of a polynomial of degree 1" {
    local map tiles=(--kernel polynomial --degree 1 --gamma 1 --coef0 0 --precision f64)
    sed 's/^/1000,/' t.csv | nystream import far - --format csv -q # far from the origin
    for map in svd kpca laplacian; do
        for store in s far; do
            ny -0 fit $store a --approx randomized --map $map --components 2 --kernel linear --restart -q
            ny -0 fit $store b --approx randomized --map $map --components 2 "${tiles[@]}" --restart -q
            agree "alike 1e-5" \
                "export $store a --part eigenvalues" "export $store b --part eigenvalues"
        done
    done
}

# by_features DELAY…: fits two ways with other threads and budgets, and interrupted after DELAYs.
by_features() {
    local how least threads delay stopped=0 n=0
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 6000 --terms 9000 --length 60 --topics 8 --seed 2 -o t.libsvm
    nystream import text t.libsvm -q
    for how in "--approx randomized --map laplacian --components 12 --power 4" \
        "--approx gaussian --map kpca --landmarks 150"; do
        read -ra how <<<"$how --kernel cosine"
        n=$((n + 1))
        nystream fit text a$n "${how[@]}" -q
        nystream export text a$n -o a.npy -q
        least=$(field "$(nystream plan text --json "${how[@]}" --threads 1)" memory_min_bytes)
        ny -8 fit text small "${how[@]}" --threads 1 --memory $((least - 1))
        says "this fit needs $least bytes"
        for threads in 1 3; do
            nystream fit text t$n$threads "${how[@]}" --threads $threads -q \
                --memory "$((threads > 1 ? 3 * least : least))"
            writes a.npy "text t$n$threads"
        done
        for delay in "$@" 0.5 0.8 1.3 2; do # the last ones where the machine is busy
            [[ " $* " == *" $delay "* ]] || [ $stopped -lt $n ] || continue
            timeout -s INT $delay nystream fit text i$n$delay "${how[@]}" -q 2>/dev/null && continue
            ny info text i$n$delay
            [ $status = 0 ] || continue # it had not begun
            stopped=$((stopped + 1))
            nystream fit text i$n$delay -q
            writes a.npy "text i$n$delay"
        done
    done
    [ $stopped -gt 0 ]
}

@test "by features, the same bytes with any threads and budget, and after interruptions" {
    by_features 0.05 0.12 0.22 0.30
}

@test "by features, the same bytes after interruptions at more places" {
    by_features 0.05 0.08 0.10 0.12 0.15 0.18 0.22 0.26 0.30
}

@test "kernel values too small for the digits of f32 are refused" {
    local approx=(--approx randomized --components 3 --kernel linear) rows
    for rows in 5000 2000; do # by features, and by tiles
        head -n $rows t.csv | awk -F, '{for (j = 1; j <= NF; j++) printf "%s%s", $j * 2e-21, j < NF ? "," : "\n"}' |
            nystream import small$rows - --format csv --dtype f64 -q
        ny -7 fit small$rows a "${approx[@]}" --map svd
        ny -7 fit small$rows b "${approx[@]}" --map laplacian
        ny -0 fit small$rows c "${approx[@]}" --map svd --precision f64 -q
    done
}

# bats file_tags=
@test "options that do not act are refused" {
    usage "--select does not act with --approx randomized" fit s a --approx randomized --select uniform
    usage "--landmarks does not act with --approx randomized" fit s a --approx randomized --landmarks 10
    usage "--landmarks-from does not act with --approx gaussian" fit s a --approx gaussian --landmarks-from b
    usage "--averages does not act with --approx gaussian" fit s a --approx gaussian --averages implicit
    usage "does not act with --approx gaussian" fit s a --approx gaussian --select greedy --tolerance 0.1
    usage "--columns-file does not act with --approx randomized" fit s a --approx randomized --kernel precomputed --columns-file t.csv
    ny -2 fit s a --approx randomized --kernel precomputed
    usage "needs more rows than 5000" fit s a --approx randomized --components 6000
    usage "needs more landmarks than 10" fit s a --approx gaussian --landmarks 10 --components 11
}

@test "there is no model apart from the store" {
    nystream fit s a --approx randomized -q
    usage "places new points by comparing them with all points of the store" export s a --part model -o a.nym
    ny -2 export s a --part landmarks -o a.npy
    [ ! -e a.nym ] && [ ! -e a.npy ]
}

@test "a row that has no degree is named" {
    { cat t.csv; echo -1,-1,-1,-1,-1; } >far.csv
    nystream import far far.csv -q
    ny -7 fit far a --approx randomized --map laplacian --kernel linear
    says "1 of 5001 rows, the first of them row 5000," "negative or zero"
    nystream import more t.csv -q
    nystream fit more a --approx randomized --map laplacian --gamma 50 -q
    printf '900,900,900,900,900\n' >new.csv
    ny -0 transform more a --input new.csv -o new.out.csv
    says "1 of 1 rows, the first of them row 0, are too far from all landmarks"
    cat new.csv new.csv >two.csv
    answers 7 "row 0" transform more a --input two.csv -o two.out.csv
}

@test "a new row whose degree is hardly a millionth of the mean has no place" {
    awk 'BEGIN { for (i = 0; i < 300; i++) print i * 37 % 300 / 300 "," i * 113 % 300 / 300 }' >square.csv
    nystream import square square.csv -q
    printf '0.5,0.5\n0.5,3.5\n0.5,4.5\n' >new.csv # the last degree is e^-12 and not 0
    for precision in f64 f32; do
        nystream fit square a --approx randomized --map laplacian --gamma 1 --components 2 \
            --precision $precision --restart -q
        ny -0 transform square a --input new.csv -o new.out.csv
        says "1 of 3 rows, the first of them row 2, are too far from all landmarks"
        [ "$(grep -c nan new.out.csv)" = 1 ]
    done
}
