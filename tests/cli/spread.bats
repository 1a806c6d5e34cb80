#!/usr/bin/env bats
# Tests the drift of results without landmarks: how far new rows spread along the components, and
# beside them.
load helper

# tables: t.csv has 3,000 rows of six columns of which three pairs are nearly alike, night.csv has
# 400 more; in swapped.csv two columns of them have changed places, which have the same mean and
# scale. The same as t.svm, night.svm, swapped.svm.
tables() {
    local name
    awk 'function normal() {return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand())}
        BEGIN {srand(3); for (i = 0; i < 3400; i++) {
            a = 5 + 3 * normal(); b = 5 + 3 * normal(); c = 5 + 3 * normal()
            printf "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", a, b, c, a + 1.4 * normal(), b + 1.4 * normal(), c + 1.4 * normal()
        }}' >all.csv
    head -n 3000 all.csv >t.csv
    tail -n 400 all.csv >night.csv
    awk -F, -v OFS=, '{v = $1; $1 = $2; $2 = v} 1' night.csv >swapped.csv
    for name in t night swapped; do
        awk -F, '{line = 1; for (k = 1; k <= NF; k++) line = line " " k ":" $k; print line}' \
            $name.csv >$name.svm
    done
}

# beyond FIGURE LEAST MOST: the figure is between these.
beyond() {
    awk -v v="$1" -v l="$2" -v m="$3" 'BEGIN {exit !(v != "null" && v > l && v < m)}'
}

columns="are they on the same scale, with the columns in the same order?"

@test "transform: columns of like values that changed places are told without landmarks" {
    local options
    tables
    nystream import s t.csv -q
    nystream import w t.svm -q
    for options in "s --map pca --components 3" "s --map pca --components 6" \
        "s --map pca --scale standard --components 3" "s --map kpca --kernel linear --components 3" \
        "s --map svd --kernel linear --components 3" "s --map pca --precision f64 --components 6" \
        "w --map pca --components 3" "w --map kpca --kernel linear --components 6"; do
        printf '%s\n' "$options"
        # shellcheck disable=SC2086 # several words
        set -- $options
        nystream fit "$1" m --approx exact "${@:2}" --restart -q
        ny transform "$1" m --input night.csv -o o.npy --json
        exits 0
        [ -z "$stderr" ]
        has_keys "$output" drift_ratio drift_ratio_error
        beyond "$(field "$output" drift_ratio)" 0.8 1.3
        beyond "$(field "$output" drift_ratio_error)" 0.01 0.1
        ny transform "$1" m --input swapped.csv -o o.npy --json
        beyond "$(field "$output" drift_distance)" 0.8 1.2
        beyond "$(field "$output" drift_ratio)" 3 20
        says "in mean squares, "
        says "of the rows of the fit: $columns"
    done
    nystream fit s m --map pca --components 3 --restart -q
    ny transform s m --input swapped.csv -o o.npy -q
    says "warning: drift: the components leave out of swapped.csv, in mean squares, "
    nystream fit s m --map pca --components 6 --restart -q
    ny transform s m --input swapped.csv -o o.npy -q
    says "warning: drift: along the components is the spread of swapped.csv, in mean squares, "
}

@test "a frozen update tells them, too, and by the same figures" {
    local count night told key placed
    tables
    nystream import new t.csv -q
    for count in 3 6; do
        nystream fit new m$count --map pca --components $count -q
    done
    for night in night swapped; do
        rm -rf s
        cp -r new s
        nystream import s $night.csv --append -q
        for count in 3 6; do
            placed=$(nystream transform s m$count --input $night.csv -o o.npy --json 2>transform.txt)
            ny fit s m$count --update frozen -q
            exits 0
            told=$stderr
            ny info s m$count --json
            [ "$(field "$output" drift_rows)" = 400 ]
            for key in drift_trace_error drift_trace_error_fitted drift_ratio drift_ratio_error; do
                [ "$(field "$output" $key)" = "$(field "$placed" $key)" ]
            done
            [ "$(field "$output" drift_largest)" = "$(field "$placed" drift_trace_error)" ]
            if [ $night = night ]; then
                [ -z "$told" ]
                beyond "$(field "$output" drift_ratio)" 0.8 1.3
            else
                [[ $told == *"of the rows of the fit: $columns If not, take them out again by truncate; if they are right, --update full takes them into the model"* ]]
            fi
        done
        ny info s m3
        prints "drift: trace error "
        prints "drift: spread "
        prints "drift: spread error "
        prints "drift of fitted rows "
    done
    # A full update takes the rows in, and measures none.
    ny fit s m3 --update full -q
    exits 0
    [ -z "$stderr" ]
    [ "$(field "$(nystream info s m3 --json)" drift_ratio)" = null ]
}

@test "a frozen update without landmarks says what the components leave out" {
    tables
    nystream import s t.csv -q
    nystream fit s m --map pca --components 3 -q
    nystream import s night.csv --append -q
    ny fit s m --update frozen
    exits 0
    says "drift: the components leave out "
    says "% of the variance of the new rows, and "
    says "% of that of the rows of the fit"
    awk -F, -v OFS=, '{for (k = 1; k <= NF; k++) $k *= 1000} 1' night.csv >far.csv
    nystream import s far.csv --append -q 2>import.txt
    ny fit s m --update frozen -q
    exits 0
    says "warning: drift: the new rows: distances from the mean of the fit are "
    says " times those of its own rows; the components leave out "
    says "$columns If not, take them out again by truncate"
}

@test "a few rows, and one outlier among many, are no spread" {
    tables
    nystream import s t.csv -q
    nystream fit s m --map pca --components 6 -q
    head -n 16 swapped.csv >few.csv
    ny transform s m --input few.csv -o o.npy --json
    [ -z "$stderr" ]
    [ "$(field "$output" drift_ratio)" = null ]
    ny transform s m --input <(head -n 1 few.csv) --format csv -o o.npy --json
    exits 0
    [ "$(field "$output" drift_ratio)" = null ]
    { cat night.csv; echo 1000,5,5,5,5,5; } >one.csv
    ny transform s m --input one.csv -o o.npy --json
    [ -z "$stderr" ]
    beyond "$(field "$output" drift_ratio)" 10 10000
    beyond "$(field "$output" drift_distance)" 10 10000
}

@test "rows like nearly all of a fit of which a few are far from all others are no spread" {
    tables
    { cat t.csv; for _ in 1 2 3; do echo 5000,5000,5000,5,5,5; done; } >far.csv
    nystream import s far.csv -q
    nystream fit s m --map pca --components 1 -q
    ny transform s m --input night.csv -o o.npy --json
    [ -z "$stderr" ]
    awk -v e="$(field "$output" drift_trace_error)" -v f="$(field "$output" drift_trace_error_fitted)" \
        'BEGIN {exit !(e > 10 * f)}'
}

@test "a column with one value among few rows of a fit, which scale it, is no spread" {
    awk 'BEGIN {srand(4); for (i = 0; i < 400; i++) print rand() "," rand() "," (i == 7 || (i > 300 && i % 3 == 0))}' >all.csv
    head -n 300 all.csv >t.csv
    tail -n 100 all.csv >night.csv
    nystream import s t.csv -q
    nystream fit s m --map pca --scale standard --components 3 -q
    ny transform s m --input night.csv -o o.npy --json
    beyond "$(field "$output" drift_trace_error_fitted)" -1 1e-6
    [ "$(field "$output" drift_ratio)" = null ]
}

@test "columns that are constant or follow from others do not count in the spread" {
    awk 'BEGIN {srand(2); for (i = 0; i < 1500; i++) {x = rand(); y = rand(); print x "," y "," x + y ",7," 2 * x}}' >all.csv
    head -n 1000 all.csv >t.csv
    tail -n 500 all.csv >night.csv
    nystream import s t.csv -q
    awk -F, -v OFS=, '{$3 += 0.1 * (NR % 2)} 1' night.csv >broken.csv
    for precision in f32 f64; do
        nystream fit s m --map pca --components 5 --precision $precision --restart -q 2>fit.txt
        ny transform s m --input night.csv -o o.npy --json
        exits 0
        [ -z "$stderr" ]
        beyond "$(field "$output" drift_ratio)" 0.8 1.3
        ny transform s m --input broken.csv -o o.npy -q # a column no longer follows from others
        says "warning: drift: the components leave out of broken.csv, in mean squares, "
    done
    nystream import s night.csv --append -q
    ny fit s m --update frozen -q
    exits 0
    [ -z "$stderr" ]
}
