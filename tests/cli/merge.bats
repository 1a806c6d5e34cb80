# Beyond one store: fits that end with their sums, sums that are merged, and rows that are placed by
# the model.
load helper
brought="part.? all landmarks.csv part.1.csv"

# Four stores of parts of one table, one of all of it, and landmarks that are no rows.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 5000 6 >all.csv
    table 70 6 99 >landmarks.csv
    head -n 30 all.csv >part.0.csv # fewer rows than landmarks
    sed -n 31,2500p all.csv >part.1.csv
    sed -n 2501,2548p all.csv >part.2.csv
    sed -n '2549,$p' all.csv >part.3.csv
    for part in 0 1 2 3; do
        nystream import part.$part part.$part.csv -q
    done
    nystream import all all.csv -q
}

shared="--landmarks-points landmarks.csv --gamma 0.4 --components 3"

# Leaves the sums of each part under `map`.
sum_up() {
    local part
    for part in 0 1 2 3; do
        nystream fit part.$part map $shared "$@" --until sums -q
    done
}

# placed NAME PART…: the model whole.nym places the rows of stores NAME.PART, in placed.csv.
placed() {
    local part
    for part in "${@:2}"; do
        nystream fit "$1.$part" placed --model whole.nym -q
        shown "$1.$part placed"
    done >placed.csv
}

@test "a part that has grown since is told, by fit and by merge" {
    sum_up
    table 40 6 7 >night.csv
    nystream import part.1 night.csv --append -q
    ny -0 fit part.1 map $shared --until sums
    answers 0 "5,000 rows of 4 parts in 3 components" merge part.? --name map -o old.nym
    nystream fit part.1 map $shared --until sums --restart -q
    ny -0 merge part.? --name map -o new.nym
    [[ $stderr != *lack* ]]
    says "5,040 rows of 4 parts in 3 components"
}

# bats test_tags=slow
@test "a result without sums is named, with what leaves some" {
    table 40 3 >rows.csv
    nystream import plain rows.csv -q
    nystream fit plain first --landmarks 9 -q
    usage "'first' in plain has no sums that can be merged" merge plain --name first -o no.nym
    [ ! -e no.nym ]
}

# bats test_tags=slow
@test "parts summed up, merged and placed are one fit of all rows" {
    while read -r options; do
        rm -rf part.? all && cp -r "$BATS_FILE_TMPDIR"/{part.?,all} .
        sum_up $options
        ny -0 merge part.? --name map -o whole.nym --json
        [ "$(field "$output" n)" = 5000 ]
        placed part 0 1 2 3
        nystream fit all map $shared $options -q
        near placed.csv <(shown "all map")
    done <<'END'
--map kpca
--map svd --kernel laplacian --approx column
--map kpca --kernel matern --nu 2.5
--map kpca --precision f64 --approx orthonystrom --averages landmarks
--map laplacian --averages landmarks --row-normalize --precision f64
--map diffusion --averages landmarks --normalize asymmetric --time 2 --precision f64
END
}

@test "principal components of all columns need no landmarks" {
    nystream import far.1 "$BATS_FILE_TMPDIR/part.1.csv" -q
    awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j += 50 * j } 1' "$BATS_FILE_TMPDIR/part.3.csv" >far.csv
    nystream import far.2 far.csv -q
    nystream import far "$BATS_FILE_TMPDIR/part.1.csv" far.csv -q
    for store in far.1 far.2 far; do
        nystream fit $store pc --map pca --approx exact --components 3 --until sums -q
    done
    answers 0 "exact; the 3 components hold" merge far.1 far.2 --name pc -o whole.nym
    nystream fit far pc -q
    nystream export far pc -o far.csv -q
    placed far 1 2
    near placed.csv far.csv
    has "far.1 placed" map=pca
    agree near "export far.1 placed --part mean" "export far pc --part mean"
    ny -2 merge far.1 part.1 --name pc -o whole.nym
}

@test "a fit that ends with its sums goes on to its own model, and keeps the sums" {
    ny -0 fit part.1 map $shared --until sums
    has "part.1 map" stage=solve status=summed
    [[ $(nystream list part.1) == *map*summed* ]]
    [ "$(field "$output" resume)" = "nystream fit part.1 map" ] # the same command again ends there
    ny -0 fit part.1 map $shared --until sums
    ny export part.1 map -o map.npy
    [[ $stderr != *until* ]]
    ny -0 fit part.1 map -q
    has "part.1 map" status=done
    nystream fit part.1 straight $shared -q
    agree cmp "merge part.1 --name map" "merge part.1 --name straight" nym
    same_exports "part.1 map" "part.1 straight"
    ny -0 fit part.1 map $shared --until sums # nothing is left to do
    says "done already"
}

# bats test_tags=slow
@test "an interrupted sum goes on, to the same bytes" {
    table 300000 6 5 >big.csv
    nystream import big big.csv -q
    nystream fit big straight $shared --until sums -q
    nystream fit big map $shared --until sums --threads 1 -q &
    await 'nystream info big map --json 2>/dev/null | grep -q accumulate' || true
    kill -TERM $! || true # it may have ended
    wait $! || [ $? -eq 143 ]
    ny merge big --name map -o map.nym
    [ "$status" -eq 0 ] || exits 2
    nystream fit big map $shared --until sums -q
    agree cmp "merge big --name map" "merge big --name straight" nym
}

@test "rows that a model places are a result like others" {
    sum_up
    nystream merge part.? --name map -o whole.nym -q
    ny -0 fit part.1 placed --model whole.nym
    [[ $stderr != *certificate* ]]
    for options in "--model whole.nym" ""; do
        ny fit part.1 placed $options
        says "done already"
    done
    nystream transform part.1 placed --input part.1.csv -o new.npy -q
    writes new.npy "part.1 placed"
    nystream import part.1 "$BATS_FILE_TMPDIR/part.0.csv" --append -q
    usage "--update frozen" fit part.1 placed --update full
    ny -0 fit part.1 placed --update frozen --json
    [ "$(field "$output" n)" = 2500 ]
    nystream transform whole.nym --input "$BATS_FILE_TMPDIR/part.0.csv" -o - >new.csv
    nystream export part.1 placed -o - | tail -c $((30 * 3 * 4)) >last
    tail -c $((30 * 3 * 4)) new.csv | cmp - last
    ny -2 fit part.1 placed --restart
    nystream fit part.1 placed --model whole.nym --restart -q
    nystream plot part.1 placed -o placed.png -q
    nystream report part.1 placed -o placed.html -q
    nystream eval part.1 placed --measures distances -q
    nystream verify part.1
}

@test "a model places as few rows as there are" {
    sum_up
    nystream merge part.? --name map -o whole.nym -q
    for rows in 1 2; do
        head -n $rows "$BATS_FILE_TMPDIR/part.0.csv" >few.csv
        nystream import few.$rows few.csv -q
        ny -0 fit few.$rows placed --model whole.nym
        nystream transform whole.nym --input few.csv -o new.npy -q
        writes new.npy "few.$rows placed"
        nystream report few.$rows placed -o placed.html -q
        nystream verify few.$rows
    done
    usage "cannot be measured" eval few.1 placed --measures reconstruction
    ny -0 eval few.2 placed --measures reconstruction
}

@test "new rows of a divided kernel are judged and placed by its model" {
    sum_up --map laplacian --averages landmarks
    nystream merge part.? --name map -o whole.nym -q
    nystream fit part.1 placed --model whole.nym -q
    nystream import part.1 "$BATS_FILE_TMPDIR/part.0.csv" --append -q
    answers 0 "drift of the new rows" fit part.1 placed --update frozen
}

# bats test_tags=slow
@test "a model places rows of another type" {
    awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int(200 * $j) } 1' part.1.csv >bytes.csv
    awk -F, -v OFS=, '{ for (j = 1; j <= NF; j++) $j = int(200 * $j) } 1' landmarks.csv >l.csv
    for dtype in u8 i16 f32 f64; do
        nystream import of.$dtype bytes.csv --dtype $dtype -q
        nystream fit of.$dtype map --landmarks-points l.csv --gamma 1e-5 --until sums -q
        nystream merge of.$dtype --name map -o $dtype.nym -q
    done
    for dtype in u8 i16 f64; do
        nystream fit of.$dtype placed --model f32.nym -q
        nystream fit of.f32 by.$dtype --model $dtype.nym -q
        near <(shown "of.$dtype placed") <(shown "of.f32 by.$dtype" "$dtype.csv")
    done
    ny -3 merge of.u8 of.f32 --name map -o no.nym
}

# bats test_tags=slow
@test "sparse and prepared rows" {
    for part in 0 1; do
        awk -v part=$part 'BEGIN {
            for (i = 0; i < 400; i++) {
                line = "0"
                for (k = 0; k < 4; k++)
                    line = line " " 1 + k * 20 + (i * 7 + k * part + i % 3) % 19 ":" 1 + (i * k + part) % 9
                print line
            }
        }' >$part.svm
        nystream import s.$part $part.svm --dims 90 --rows total:100 --values log1p -q
    done
    nystream import s $PWD/0.svm $PWD/1.svm --dims 90 --rows total:100 --values log1p -q
    nystream fit s own --kernel cosine --landmarks 20 -q
    nystream export s own --part landmark-points -o l.npy -q
    for store in s.0 s.1 s; do
        nystream fit $store map --kernel cosine --landmarks-points l.npy --until sums -q
    done
    nystream merge s.0 s.1 --name map -o whole.nym -q
    nystream fit s map -q
    nystream export s map -o s.csv -q
    placed s 0 1
    near placed.csv s.csv
    nystream import raw 0.svm --dims 90 -q
    ny -3 fit raw placed --model whole.nym
    answers 3 "columns, but whole.nym has 90" fit all placed --model whole.nym
}

@test "fits whose sums cannot be added are refused before they run" {
    usage "--landmarks-points" fit part.1 x --landmarks 9 --until sums
    usage "--gamma as a number" fit part.1 x --landmarks-points landmarks.csv --until sums
    usage "--scale" fit part.1 x $shared --scale standard --until sums
    usage "--averages landmarks" fit part.1 x $shared --map laplacian --until sums
    usage "--probe" fit part.1 x $shared --probe 3 --until sums
    usage "--until does not act with --approx nystrom" fit part.1 x $shared --approx nystrom --until sums
    usage "--until does not act with --map pca" fit part.1 x --landmarks-points landmarks.csv --map pca --until sums
    usage "--until does not act with --approx exact" fit part.1 x --kernel linear --approx exact --tol 1e-3 --until sums
    usage "--until" fit part.1 x --map isomap --until sums
    ny -2 fit part.1 x --update frozen --until sums
    [ -z "$(nystream list part.1)" ]
}

@test "models that place no rows of a store are refused" {
    nystream fit part.1 exact --kernel linear --approx exact --tol 1e-3 -q
    nystream export part.1 exact --part model -o exact.nym -q
    usage "has no landmarks" fit part.1 x --model exact.nym
    ny -5 fit part.1 x --model part.1.csv
    ny -4 fit part.1 x --model none.nym
    nystream fit part.1 map $shared -q
    nystream export part.1 map --part model -o map.nym -q
    usage --components fit part.1 x --model map.nym --components 2
    usage --until fit part.1 x --model map.nym --until sums
    usage "exists with other options" fit part.1 map --model map.nym
    ny -2 fit part.1 exact --update frozen --model map.nym
}

@test "a budget too small for merging says so, and writes nothing" {
    sum_up
    ny -8 merge part.? --name map -o whole.nym --memory 1M
    [ ! -e whole.nym ]
}
