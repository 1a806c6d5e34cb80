# Tests drift: whether new rows are like those of the fit is told by transform, append and update, by
# one figure and in the same words.
load helper
brought="t.csv t.svm night.csv night.svm bad.csv bad.svm"

# t.csv has 1,200 rows of six columns, of which three pairs are nearly alike; night.csv has
# 400 more; in bad.csv two columns of these, of the same mean and scale, have changed places. The
# same as .svm.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    awk 'function normal() {return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand())}
        BEGIN {srand(3); for (i = 0; i < 1600; i++) {
            a = 5 + 3 * normal(); b = 5 + 3 * normal(); c = 5 + 3 * normal()
            printf "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", a, b, c, a + normal(), b + normal(), c + normal()
        }}' >all.csv
    head -n 1200 all.csv >t.csv
    tail -n 400 all.csv >night.csv
    awk -F, -v OFS=, '{v = $1; $1 = $2; $2 = v} 1' night.csv >bad.csv
    for name in t night bad; do
        awk -F, '{line = 1; for (k = 1; k <= NF; k++) line = line " " k ":" $k; print line}' $name.csv >$name.svm
    done
}

columns="are they on the same scale, with the columns in the same order?"

# no_drift FILE [NAME]: transform of these rows to s says that they are like those of the fit.
no_drift() {
    ny -0 transform s "${2:-m}" --input "$1" -o o.npy --json
    [ -z "$stderr" ]
    awk -v d="$(field "$output" drift)" 'BEGIN {exit !(d != "null" && d < 0.2)}'
}

# unlike FILE [NAME]: it warns of them.
unlike() {
    ny -0 transform s "${2:-m}" --input "$1" -o o.npy -q
    says "warning: drift of $1 from the rows of the fit: " ": $columns"
}

@test "columns that changed places and other units are told, by landmarks and by components" {
    awk -F, -v OFS=, '{$1 *= 10} 1' night.csv >units.csv
    awk -F, -v OFS=, '{for (k = 1; k <= NF; k++) $k /= 10} 1' night.csv >small.csv
    nystream import s t.csv -q
    for options in "--landmarks 100" "--landmarks 100 --map laplacian --gamma 1e-3" "--map pca --components 3" \
        "--map pca --scale standard --components 6" "--map pca --precision f64" \
        "--map svd --kernel linear --approx exact --components 3" "--map svd --kernel cosine --approx exact --components 3"; do
        printf '%s\n' "$options"
        nystream fit s m $options --restart -q
        no_drift night.csv
        no_drift t.csv # the rows of the fit themselves
        unlike bad.csv
        [[ $options == *@(cosine|laplacian)* ]] || unlike small.csv
        [[ $options == *laplacian* ]] || unlike units.csv # which no landmark reaches
    done
}

@test "transform and update tell it in the same words, by the same figures" {
    nystream import s t.csv -q
    nystream fit s m --landmarks 100 -q
    nystream fit s p --map pca --components 3 -q
    for name in m p; do
        for file in night bad; do
            cp -r s u
            ny transform u $name --input $file.csv -o o.npy --json
            [ "$file" = night ] || says "drift of $file.csv from the rows of the fit: 0."
            placed=$output
            nystream import u $file.csv --append -q
            ny -0 fit u $name --update frozen -q
            [ "$file" = night ] && [ -z "$stderr" ] ||
                says "$columns If not, take them out again by truncate; if they are right, --update full takes them into the model"
            updated=$(nystream info u $name --json)
            for key in drift drift_trace_error drift_trace_error_fitted drift_rows; do
                awk -v p="$(field "$placed" $key)" -v u="$(field "$updated" $key)" \
                    'BEGIN { exit !(p > 0 && (p - u) ^ 2 < 1e-10) }'
            done
            rm -r u
        done
    done
}

@test "drift: sparse rows, many rows, and shards" {
    nystream import s t.svm -q
    for options in "--landmarks 100" "--map pca --components 3"; do
        printf '%s\n' "$options"
        nystream fit s m $options --restart -q
        no_drift night.svm
        unlike bad.svm
    done
    rm -r s
    head -n 700 t.csv >one.csv
    tail -n 500 t.csv >two.csv
    nystream import s one.csv two.csv --shards 2 -q
    nystream fit s m --landmarks 100 -q
    nystream fit s p --map pca --components 3 -q
    for name in m p; do
        no_drift night.csv $name
        unlike bad.csv $name
    done
    for _ in {1..20}; do cat night.csv; done >long.csv
    no_drift long.csv
    awk -v n="$(field "$output" drift_rows)" 'BEGIN {exit !(n >= 1024 && n <= 2048)}'
}

# bats test_tags=slow
@test "what is no drift: a few rows, one outlier, a fit of all rows, a poor fit" {
    nystream import s t.csv -q
    nystream fit s m --landmarks 100 -q
    nystream fit s p --map pca --components 3 -q
    nystream fit s poor --landmarks 5 --gamma 1 -q
    nystream fit s whole --landmarks 1200 -q
    sed '123s/.*/900,900,900,900,900,900/' night.csv >outlier.csv
    head -n 3 bad.csv >few.csv
    for name in m p poor whole; do
        no_drift night.csv $name
        no_drift outlier.csv $name
        ny transform s $name --input few.csv -o o.npy -q
        [ -z "$stderr" ]
    done
    unlike bad.csv whole
    nystream export s m --part model -o m.nym -q # a model alone does not know the rows of its fit
    ny -0 transform m.nym --input bad.csv -o o.npy --json
    [ -z "$stderr" ]
    [ "$(field "$output" drift)" = null ]
    rm -r s # half of the rows of a small fit are not taken for landmarks
    head -n 400 t.csv >part.csv
    nystream import s part.csv -q
    nystream fit s m --landmarks 400 -q
    no_drift night.csv
    unlike bad.csv
}

@test "rows that were appended since are not rows of the fit" {
    nystream import s t.csv -q
    nystream fit s m --landmarks 100 -q
    for _ in 1 2 3; do nystream import s bad.csv --append -q; done
    nystream fit s m --update frozen -q
    no_drift night.csv
    unlike bad.csv
}

@test "columns that are constant or follow from others: rounding is no drift" {
    awk -F, -v OFS=, '{print $1, $2, 7, $1 + $2}' t.csv >u.csv
    awk -F, -v OFS=, '{print $1, $2, 7, $1 + $2}' night.csv >more.csv
    awk -F, -v OFS=, '{print $1, $2, 7, $1 - $2}' night.csv >other.csv
    nystream import s u.csv -q
    for components in 2 4; do
        nystream fit s m --map pca --components $components --restart -q
        no_drift more.csv
        unlike other.csv
    done
}

@test "maps of a graph tell new rows that are farther from all others than these are" {
    nystream import s t.csv -q
    nystream fit s flat --map isomap --landmarks 40 --connect -q
    nystream fit s open --map eigenmaps --connect --edge-weights binary -q
    awk -F, -v OFS=, '{$1 *= 10} 1' night.csv >units.csv
    awk -F, -v OFS=, '{for (i = 1; i <= NF; i++) $i += 0.001} 1' t.csv >near.csv
    for name in flat open; do
        for file in t night near; do
            ny -0 transform s $name --input $file.csv -o o.npy -q
            [ -z "$stderr" ]
        done
        for file in units bad; do
            ny -0 transform s $name --input $file.csv -o o.npy -q
            says "warning: drift of the new rows from the rows of the fit: "
        done
    done
}

@test "--strict: a run that warned exits 9, though all was done" {
    nystream import s t.csv -q --strict
    nystream fit s m --landmarks 100 -q --strict
    nystream transform s m --input night.csv -o night.npy -q --strict
    ny -9 transform s m --input bad.csv -o bad.npy -q --strict
    [ -s bad.npy ]
    nystream import s bad.csv --append -q --strict
    ny -9 fit s m --update frozen --json --strict
    [ "$(field "$output" n)" = 1600 ]
    ny -2 fit s m --update sideways --strict # another error is told as it is
    nystream help --man | grep -q 'With \\-\\-strict, 9 also says'
}
