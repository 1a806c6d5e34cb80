# Exact fits of linear and cosine kernels by products with the rows themselves: their options, what
# they tell, what they refuse, and that they go on where they were stopped.
load helper
brought="*.nys t.libsvm d.npy"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 6000 --terms 9000 --length 60 --topics 8 --seed 2 -o t.libsvm
    nystream import t.nys t.libsvm -q
    npy_u8 3000 12 >d.npy
    nystream import d.nys d.npy -q
    # signed rows, whose products cancel; and rows of which every fiftieth has no value
    awk 'BEGIN { for (i = 0; i < 2500; i++) printf "%d %d,%d,%d,%d\n", i, i % 7 - 3, i % 5 - 2, 3 - i % 7, i % 2 * 2 - 1 }' |
        cut -d' ' -f2 >signed.csv
    nystream import signed.nys signed.csv -q
    awk 'BEGIN { for (i = 0; i < 2500; i++) print (i % 50 ? 1 " " i % 20 + 1 ":1 60:2" : "1") }' >empty.libsvm
    nystream import empty.nys empty.libsvm --dims 60 -q
}

# exact STATUS STORE NAME OPTION…: an exact fit ends so.
exact() { ny -"$1" fit "${@:2}" --approx exact; }

@test "the way, the side, residuals and all that was kept are told" {
    exact 0 t.nys a --map kpca --kernel cosine --components 4 --json
    fields way=krylov side=rows converged=4 rows_empty=0 trace_error=0.0
    [[ $output == *'"eigenvector_residuals": ['* ]]
    exact 0 d.nys a --map svd --kernel linear --components 4 --json
    [ "$(field "$output" side)" = columns ]
    exact 0 d.nys p --map pca --json
    fields way=scatter side=null
    ny fit d.nys few --kernel linear --landmarks 10 --json
    [ "$(field "$output" way)" = null ]
    head -n 300 t.libsvm >few.libsvm
    nystream import few.nys few.libsvm -q
    exact 0 few.nys a --kernel cosine --json
    [ "$(field "$output" way)" = kernel ]
    # few rows with so many values that K takes longer
    "$NYSTREAM_BUILD/data-tools/cells" -o full.npz --cells 1500 --features 20000 --mean 1100 --types 3 --binary
    nystream import full.nys full.npz -q
    exact 0 full.nys a --kernel cosine --components 2 --json -q
    [ "$(field "$output" way)" = krylov ]
    # options that products alone take ask for products
    for how in "few.nys b --kernel cosine --tol 1e-6" "few.nys c --kernel cosine --max-passes 30" "d.nys q --map pca --tol 1e-6"; do
        exact 0 $how --json
        fields way=krylov
    done
}

# bats test_tags=slow
@test "passes and operations of the report are those of the plan" {
    for name in t d; do
        planned=$(nystream plan $name.nys --map pca --approx exact --components 10 --json)
        nystream fit $name.nys p --map pca --approx exact --components 10 -q
        found=$(nystream info $name.nys p --json)
        for key in passes:3 flops:9; do # a basis costs by the square of the passes
            awk -v p="$(field "$planned" ${key%:*})" -v f="$(field "$found" ${key%:*})" -v most="${key#*:}" \
                'BEGIN {print p, f; exit !(f < most * p && p < most * f)}'
        done
    done
}

@test "--tol and --max-passes" {
    ny -2 plan t.nys --kernel cosine --approx projected --tol 1e-3
    ny -2 plan t.nys --kernel rbf --approx exact --tol 1e-3
    usage "tol" plan t.nys --kernel cosine --approx exact --tol 0
    exact 0 t.nys a --kernel cosine --components 9 --max-passes 2 --json
    says "as exact as --tol 0.0001 asks"
    [ "$(field "$output" converged)" -lt 9 ]
    exact 0 t.nys coarse --kernel cosine --components 9 --json -q
    passes=$(field "$output" passes)
    [ "$(field "$output" gram_precision)" = f32 ]
    exact 0 t.nys fine --kernel cosine --components 9 --tol 1e-10 --json -q
    [ "$(field "$output" gram_precision)" = f64 ]
    [ "$(field "$output" passes)" -gt "$passes" ]
    [ "$(field "$output" converged)" = 9 ]
}

@test "components beyond the columns are zero, with a warning" {
    exact 0 d.nys all --map svd --kernel cosine --components 12 -q
    exact 0 d.nys a --map svd --kernel cosine --components 13
    says "only 12 of 13 components are above rounding: the others are zero"
    nystream export d.nys all -o all.csv -q
    sed 's/$/,0/' all.csv | cmp - <(shown "d.nys a")
    exact 0 d.nys b --map laplacian --kernel cosine --components 12
    says "only 12 of 13 components"
    exact 0 d.nys c --map laplacian --kernel cosine --components 11
    [[ $stderr != *"only 12"* ]]
}

@test "rows without degree, and rows without values" {
    exact 7 signed.nys a --map laplacian --kernel linear
    says "rows, the first of them row 3, have degrees that are negative or zero to rounding"
    exact 0 signed.nys a --map svd --kernel linear
    exact 7 empty.nys a --map laplacian --kernel cosine
    says "50 of 2500 rows have no value, the first of them row 0"
    awk 'BEGIN { for (i = 0; i < 2500; i++) print (i % 200 ? 1 " " i % 20 + 1 ":1 60:2" : "1") }' >less.libsvm
    nystream import less.nys less.libsvm --dims 60 -q
    exact 0 less.nys a --map laplacian --kernel cosine
    says "13 of 2500 rows have no value, the first of them row 0: their coordinates are 0"
    # eval compares all rows with K, in which those without a value have nothing
    head -n 400 less.libsvm >small.libsvm
    nystream import small.nys small.libsvm --dims 60 -q
    exact 0 small.nys a --map laplacian --kernel cosine --tol 1e-4
    says "2 of 400 rows have no value"
    ny -0 eval small.nys a --clusters 3 --json
    [[ $(field "$output" relative_error) == 0.* ]]
    exact 0 empty.nys a --map svd --kernel cosine --components 3
    says "50 of 2500 rows have no value, the first of them row 0: they are placed as zero rows"
    exact 0 empty.nys b --map svd --kernel cosine --components 61
    says "only 20 of 61 components are above rounding" # as many rows differ
}

# bats test_tags=slow
@test "the same bytes with any threads and budget, and after interruptions" {
    local how=(--map laplacian --kernel cosine --approx exact --components 12) least threads delay stopped=0
    nystream fit t.nys a "${how[@]}" -q
    nystream export t.nys a -o a.npy -q
    least=$(field "$(nystream plan t.nys --json "${how[@]}" --threads 1)" memory_min_bytes)
    ny -8 fit t.nys small "${how[@]}" --threads 1 --memory $((least - 1))
    says "this fit needs $least bytes"
    for threads in 1 3; do
        nystream fit t.nys t$threads "${how[@]}" --threads $threads --memory "$((threads > 1 ? 3 * least : least))" -q
        writes a.npy "t.nys t$threads"
    done
    for delay in 0.10 0.15 0.20 0.30 0.40 0.60 0.9 1.4 2; do # the last ones where the machine is busy
        [[ $delay == 0.?? ]] || [ $stopped = 0 ] || continue
        timeout -s INT $delay nystream fit t.nys i$delay "${how[@]}" -q 2>/dev/null && continue
        ny info t.nys i$delay
        [ $status = 0 ] || continue # it had not begun
        stopped=$((stopped + 1))
        nystream fit t.nys i$delay -q
        writes a.npy "t.nys i$delay"
    done
    [ $stopped -gt 0 ]
}

@test "the first row without a value is that of all units, and of all shards" {
    awk 'BEGIN { for (i = 0; i < 5000; i++) print (i == 700 || i == 4500 ? "1" : "1 " i % 20 + 1 ":1 60:2") }' >rows.libsvm
    nystream import one.nys rows.libsvm --dims 60 -q
    exact 0 one.nys f --map svd --kernel linear --components 2
    says "2 of 5000 rows have no value, the first of them row 700:"
    head -n 700 rows.libsvm >0.libsvm
    tail -n +701 rows.libsvm | sed 's/$/ 61:1/; 4000,$s/$/ 62:1 63:1 64:1 65:1/; 1s/ .*//; 3801s/ .*//' >1.libsvm
    cat 0.libsvm 1.libsvm >all.libsvm
    nystream import all.nys all.libsvm --dims 65 -q
    nystream import big --shard 0/2 0.libsvm --dims 65 -q
    nystream import big --shard 1/2 1.libsvm --dims 65 -q # whose rows are fuller
    for store in all.nys big; do
        exact 0 $store f --map svd --kernel linear --components 2
        says "2 of 5000 rows have no value, the first of them row 700:"
        nystream export $store f -o $store.csv -q
        nystream export $store --part points -o $store.npy -q
    done
    within 3.1e-5 all.nys.csv big.csv
    cmp all.nys.npy big.npy
}

@test "the probe of an update knows the means that have moved, as that of a new fit" {
    rows() { # NUMBER MULTIPLIER: rows of sparse values of this size
        awk -v n="$1" -v a="$2" 'BEGIN { x = 7; for (i = 0; i < n; i++) { line = 0
            for (j = 1; j <= 30; j++) {
                x = (x * 16807) % 2147483647
                if (x % 3 == 0) line = line " " j ":" a + x % 7 * (j < 5) }
            print line } }'
    }
    rows 700 1 >early.libsvm
    rows 900 9 >late.libsvm
    nystream import s early.libsvm --layout sparse -q
    exact 0 s f --map pca --components 2 --probe 80 -q
    ny import s late.libsvm --append -q
    ny -0 fit s f --update full -q
    exact 0 s g --map pca --components 2 --probe 80 -q
    for name in f g; do
        field "$(nystream info s $name --json)" probe_error >$name.csv
    done
    within 3.1e-5 f.csv g.csv
    [ "$(awk '{ print ($1 > 0.01 && $1 < 1) }' g.csv)" = 1 ]
}

@test "few rows leave those without values out, too" {
    awk 'BEGIN { for (i = 0; i < 300; i++) if (i % 150 != 7) print i % 3 + 1 "," i % 7 "," 1 + i % 5 }' >whole.csv
    awk 'BEGIN { for (i = 0; i < 300; i++) print (i % 150 != 7 ? i % 3 + 1 "," i % 7 "," 1 + i % 5 : "0,0,0") }' >holes.csv
    sed '1s/.*/0,0,0/; 2s/.*/0,0,0/' holes.csv >many.csv
    for out in whole holes many; do
        nystream import $out.nys $out.csv -q
    done
    for map in laplacian diffusion; do
        exact 0 whole.nys $map --map $map --kernel cosine --components 2 -q
        nystream export whole.nys $map -o whole.$map.csv -q
        nystream export whole.nys $map --part eigenvalues -o whole.values.csv -q
        exact 0 holes.nys $map --map $map --kernel cosine --components 2
        says "2 of 300 rows, the first of them row 7, are too far from all landmarks"
        nystream export holes.nys $map -o holes.$map.csv -q
        nystream export holes.nys $map --part eigenvalues -o holes.values.csv -q
        [ "$(grep -c "nan,nan" holes.$map.csv)" = 2 ]
        within 3.1e-5 holes.values.csv whole.values.csv
        within 3.1e-5 <(grep -v nan holes.$map.csv) whole.$map.csv
    done
    exact 7 many.nys a --map laplacian --kernel cosine
    says "4 of 300 rows have only kernel values of 0 and therefore no degree, which is more than 1 %; leave rows without values out of the store"
}

# bats test_tags=slow
@test "new rows of very many columns are placed with little memory" {
    awk 'BEGIN { for (i = 0; i < 2100; i++) printf "1 %d:1 %d:2 400000:1\n", i % 3 + 1, 9 * i + 9 }' >w.libsvm
    nystream import w.nys w.libsvm -q
    exact 0 w.nys a --map svd --kernel linear --components 1 -q
    ny -0 transform w.nys a --input w.libsvm -o b.npy --memory 128M --threads 2 -q
    writes b.npy "w.nys a"
}

@test "new rows are placed by the result and by its model" {
    exact 0 t.nys a --map diffusion --normalize asymmetric --kernel cosine --components 5 -q
    nystream export t.nys a --part model -o a.nym -q
    for model in "t.nys a" a.nym; do
        nystream transform $model --input t.libsvm -o b.npy -q
        writes b.npy "t.nys a"
    done
    ny -3 transform a.nym --input d.npy -o e.npy
    nystream verify t.nys -q
}

@test "rows of the other sign have the same kernel, and the same asymmetric map" {
    table 2500 60 >plus.csv
    sed -E 's/(^|,)/\1-/g' plus.csv >minus.csv
    for rows in plus minus; do
        nystream import $rows.nys $rows.csv -q
        exact 0 $rows.nys f --map diffusion --normalize asymmetric --kernel cosine --components 2 --json
        [ "$(field "$output" way)" = krylov ]
        nystream export $rows.nys f -o $rows.out.csv -q
    done
    within 1e-5 plus.out.csv minus.out.csv
}

# bats test_tags=slow
@test "a result from all of K does not become one by products when rows arrive" {
    head -n 2000 t.libsvm >few.libsvm
    tail -n +2001 t.libsvm >more.libsvm
    nystream import few.nys few.libsvm --dims 9000 -q
    exact 0 few.nys a --map svd --kernel cosine -q
    nystream import few.nys more.libsvm --append -q
    usage "'a' was computed from all of K when there were fewer rows" fit few.nys a --update full
    exact 0 few.nys a --map svd --kernel cosine --restart -q
}

@test "passes that end before there are as many vectors as components" {
    exact 0 t.nys a --map svd --kernel cosine --components 60 --max-passes 1
    says "after 1 pass, only 0 of 60 eigenvalues" "28 of 60 eigenvalues were not reached: they are null, and their coordinates 0"
    nystream verify t.nys -q
}

# scaled FACTOR NAME: the values of five.csv times this, in f64.
scaled() {
    awk -F, -v by="$1" '{for (j = 1; j <= NF; j++) printf "%s%s", $j * by, j < NF ? "," : "\n"}' five.csv |
        nystream import "$2" - --format csv --dtype f64 -q
}

@test "values that are too small or large for the digits of products are refused" {
    local how=(--kernel linear --components 2 --tol 1e-4)
    table 3000 5 >five.csv
    scaled 1 one.nys
    scaled 1e-21 small.nys
    scaled 1e-70 tiny.nys
    scaled 1e18 large.nys
    exact 7 small.nys a --map svd "${how[@]}"
    says "the squares of the values are 3" "e-43 on average, too small for products in f32; give --precision f64, or rescale the data"
    exact 0 small.nys b --map svd "${how[@]}" --precision f64 -q
    exact 0 one.nys b --map svd "${how[@]}" --precision f64 -q
    nystream export small.nys b --part eigenvalues -o small.csv -q
    paste -d, small.csv <(shown "one.nys b --part eigenvalues") | awk -F, '
        { r = $1 / $2 * 1e42 - 1; if (!($2 > 0 && r * r < 1e-10)) bad = 1 }
        END { exit bad || NR != 2 }'
    exact 7 tiny.nys a --map svd "${how[@]}" --precision f64
    says "too small for products in f64; rescale the data"
    exact 7 large.nys a --map laplacian "${how[@]}"
    says "the degrees are 3" "e+39 on average, too large for products in f32"
    exact 0 large.nys a --map laplacian "${how[@]}" --precision f64 -q
}

@test "a value that brings products beyond f32 is told" {
    table 6000 12 | awk -F, -v OFS=, 'NR == 77 { $3 = "7e19" } 1' | nystream import far.nys - --format csv -q
    exact 7 far.nys a --map svd --kernel linear --tol 1e-4
    says "products with the rows are not finite in f32; look for huge values in the data"
}
