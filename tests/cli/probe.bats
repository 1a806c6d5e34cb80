# Tests fit --probe: the error of any fit, from some columns of K.
load helper

# bats test_tags=slow
@test "every method says its error; without --probe the keys are null" {
    table 900 4 >t.csv
    nystream import s t.csv -q
    for approx in nystrom column orthonystrom ensemble projected exact randomized gaussian; do
        ny -0 fit s "$approx" --approx $approx --probe 200 --components 5 --json -q
        [ "$(field "$output" probe_columns)" = 200 ]
        error=$(field "$output" probe_error)
        awk -v e="$error" -v s="$(field "$output" probe_standard_error)" \
            'BEGIN {exit !(e > 0 && e < 1.2 && s > 0 && s < e / 2)}'
        [[ $output == *'"probe":'* ]] # seconds of the stage
    done
    has "s gaussian" probe_columns=200
    ny -0 fit s none --json -q
    for key in probe_columns probe_error probe_standard_error; do
        [ "$(field "$output" $key)" = null ]
    done
}

@test "in words: fit, info, plan and help" {
    store s 1500 6
    ny -0 fit s a --approx column --landmarks 100 --probe 100
    says "probe error 0." " ± 0.0" "100 columns"
    ny -0 info s a
    prints "probe error" "probe columns"
    ny -0 plan s --approx column --landmarks 100 --probe 100 --json
    [ "$(field "$output" passes)" = 3 ]
    [[ $output == *'"probe":'* ]]
    shows "--probe R" fit --help
    answers 0 "certificate           component" fit s b --approx column --landmarks 100
}

@test "of all rows it is exact, and more columns than rows are all of them" {
    store s 300 5
    ny -0 fit s a --probe 300 --landmarks 50 --json -q
    [ "$(field "$output" probe_standard_error)" = 0.0 ]
    ny -0 fit s b --probe 5000 --landmarks 50 --json -q
    fields probe_columns=300 probe_standard_error=0.0
}

@test "what cannot be is refused, and other columns are another job" {
    store s 200 3
    seq 0 9 >d.csv
    awk 'BEGIN {for (i = 0; i < 200; i++) {for (j = 0; j < 9; j++) printf "1,"; print "1"}}' >c.csv
    usage --probe fit s a --kernel precomputed --columns-file c.csv --landmarks-file d.csv --probe 5 -q
    usage --probe fit s a --probe 0 -q
    usage --probe select s a --probe 5 -q
    nystream fit s a --landmarks 50 --probe 5 -q
    usage "probe: 5 → 6" fit s a --landmarks 50 --probe 6 -q
    nystream fit s a --landmarks 50 --probe 5 -q
}

# bats test_tags=slow
@test "sparse rows and dense ones have the same error" {
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 400 --terms 2000 --length 25 --topics 2 --seed 1 -o t.libsvm
    nystream import s.nys t.libsvm
    nystream import d.nys t.libsvm --layout dense
    for map in svd kpca laplacian pca; do
        for store in s d; do
            ny -0 fit $store.nys $map --map $map --approx nystrom --landmarks 60 --probe 50 \
                --precision f64 --json -q
            error=$(field "$output" probe_error)
            [ $store = s ] && first=$error
        done
        awk -v a="$first" -v b="$error" 'BEGIN {d = a - b; exit !(d * d <= 1e-16 * a * a)}'
    done
}

@test "nothing that served the probe alone is kept" {
    store s 5000 3
    nystream fit s a --landmarks 50 --probe 20 -q
    nystream fit s b --landmarks 50 -q
    [ "$(nystream list s | wc -l)" -eq 2 ]
    ny -4 transform s a --input s/missing.csv -o x.npy
    same_exports "s a --part model" "s b --part model" nym
    ny -0 verify s
}
