load helper
brought="s *.csv"

# 300 points of small whole numbers, 12 landmarks, and C = X X_Dᵀ by awk: exact in f32.
setup_file() {
    file_folder || return
    awk 'BEGIN {for (i = 0; i < 300; i++) printf "%d,%d,%d\n", (i * 37) % 11 - 5, (i * i) % 9 - 4, (i * 7) % 13 - 6}' >x.csv
    seq 5 24 290 | head -12 >d.csv
    awk -F, 'NR == FNR {want[$1] = ++m; next}
             {x[FNR - 1] = $1; y[FNR - 1] = $2; z[FNR - 1] = $3; if ((FNR - 1) in want) row[want[FNR - 1]] = FNR - 1}
             END {for (i = 0; i < 300; i++) for (j = 1; j <= m; j++) {
                 k = row[j]
                 printf "%d%s", x[i] * x[k] + y[i] * y[k] + z[i] * z[k], j < m ? "," : "\n"}}' d.csv x.csv >c.csv
    nystream import s x.csv -q
}

@test "precomputed columns give what the kernel gives" {
    for how in "--map svd --approx nystrom" "--map kpca --approx nystrom" "--map svd --approx projected" \
        "--map kpca --approx projected" "--map kpca --approx column"; do
        nystream fit s linear --kernel linear --landmarks-file d.csv $how --restart -q
        ny -0 fit s given --kernel precomputed --columns-file c.csv --landmarks-file d.csv $how --restart -q
        agree "within 1e-3" "export s linear" "export s given"
    done
    has "s given" trace_error=null
}

@test "the columns are known again by what is in them, not by their time" {
    nystream fit s a --kernel precomputed --columns-file c.csv --landmarks-file d.csv -q
    touch -d 2001-01-01 c.csv
    ny -0 fit s a --kernel precomputed --columns-file c.csv --landmarks-file d.csv -q
    sed -i '150s/^[^,]*/77/' c.csv
    ny -2 fit s a --kernel precomputed --columns-file c.csv --landmarks-file d.csv -q
}

@test "new points are placed by their kernel values" {
    nystream fit s given --kernel precomputed --columns-file c.csv --landmarks-file d.csv -q
    nystream export s given -o a.csv
    nystream transform s given --input c.csv -o b.csv
    within 1e-3 a.csv b.csv
    ny -3 transform s given --input x.csv -o b.csv
}

@test "columns of another shape are refused" {
    head -299 c.csv >short.csv
    ny -3 fit s a --kernel precomputed --columns-file short.csv --landmarks-file d.csv -q
    cut -d, -f1-11 c.csv >narrow.csv
    ny -3 fit s a --kernel precomputed --columns-file narrow.csv --landmarks-file d.csv -q
    ny -2 fit s a --kernel precomputed --landmarks-file d.csv -q
}

@test "eval of precomputed columns measures what needs no distances of the points" {
    seq 1 300 | awk '{print $1 % 3}' >labels.txt
    nystream import t x.csv --labels labels.txt -q
    nystream fit t given --kernel precomputed --columns-file c.csv --landmarks-file d.csv -q
    ny -0 eval t given --json
    [ "$(field "$output" purity)" != null ]
    fields trustworthiness=null relative_error=null
    [[ $output == *"its kernel is precomputed"* ]]
}

@test "negative eigenvalues are counted where all are found, and not said to be none elsewhere" {
    local how="--map svd --landmarks-file d.csv --restart --json -q"
    local kernel="--kernel polynomial --degree 1 --gamma 1 --coef0 -100"
    awk -F, '{for (j = 1; j <= NF; j++) printf "%d%s", $j - 100, j < NF ? "," : "\n"}' c.csv >less.csv
    for given in "$kernel" "--kernel precomputed --columns-file less.csv"; do
        nystream fit s a $how $given --approx nystrom --rank 12 >all.json 2>/dev/null
        [ "$(field "$(cat all.json)" negative_eigenvalues)" = 1 ]
        nystream fit s a $how $given --approx nystrom >few.json 2>/dev/null
        output=$(<few.json)
        fields negative_eigenvalues=null negative_share=null
    done
    nystream fit s a --map svd --approx exact $kernel --restart --json -q >few.json 2>/dev/null
    [ "$(field "$(cat few.json)" negative_eigenvalues)" = null ]
    nystream fit s a $how --approx nystrom --kernel rbf >few.json 2>/dev/null
    [ "$(field "$(cat few.json)" negative_eigenvalues)" = 0 ]
}
