# Plans foretell time and memory: they count all that a fit does, and no more than it holds.
load helper

setup() { file_folder; }

stage() { awk -v key="\"$2\":" '/"stages"/ {on = 1} on && $1 == key {print $2 + 0; exit}' <<<"$1"; } # JSON STAGE

# True where A is at least F times B.
at_least() { awk -v a="$1" -v f="$2" -v b="$3" 'BEGIN {exit !(a >= f * b)}'; }

@test "statistics, selection and the range of seconds are in a plan" {
    npy_u8 40000 3 >thin.npy
    nystream import thin.nys thin.npy -q
    ny -0 plan thin.nys --scale standard --landmarks 600 --json
    at_least "$(stage "$output" stats)" 1 0.01
    at_least "$(stage "$output" select)" 0.2 "$(stage "$output" accumulate)"
    at_least "$(field "$output" seconds)" 1 "$(field "$output" seconds_low)"
    at_least "$(field "$output" seconds_high)" 1 "$(field "$output" seconds)"
    ny plan thin.nys --landmarks 600
    [[ $output =~ "time                  about "[^\n]*" to " ]]
}

@test "the pairs that a width is taken from are dear where rows are wide" {
    npy_u8 300 20000 >wide.npy
    nystream import wide.nys wide.npy -q
    ny plan wide.nys --landmarks 20 --select uniform --json
    at_least "$(stage "$output" stats)" 2 "$(stage "$output" project)"
    ny plan wide.nys --landmarks 20 --select uniform --kernel linear --json
    at_least 0.2 1 "$(stage "$output" stats)"
}

@test "one unit of rows is shared out to all threads" {
    npy_u8 2048 4000 >one.npy
    nystream import one.nys one.npy -q
    for threads in 1 2; do
        ny plan one.nys --select uniform --approx nystrom --landmarks 400 --gamma 1e-7 --threads $threads --json
        stage "$output" project >"project.$threads"
    done
    at_least "$(cat project.1)" 1.4 "$(cat project.2)"
}

@test "a plan and its run count the same passes, but those of a selection that the data decide about" {
    table 400 3 >t.csv
    nystream import t t.csv -q
    certain() { # passes that are known beforehand
        local selecting
        selecting=$(field "$output" selection_passes)
        selecting=${selecting/null/}
        echo $(($(field "$output" passes) - ${selecting:-0}))
    }
    while read -r options; do
        ny plan t --landmarks 60 $options --json
        certain >planned
        ny -0 fit t a --landmarks 60 $options --restart --json
        certain >counted
        cmp planned counted || { echo "$options" >&2; return 1; }
    done <<'END'
--select rpcholesky
--select rpcholesky --map laplacian --probe 8
--select greedy
--select greedy --tolerance 0.1
--select uniform
--select uniform --approx nystrom --certify
--select weighted --map svd --kernel polynomial
--features variance:2
END
    ny fit t a --landmarks 60 --restart
    [[ $stderr =~ plan:\ 2\ passes\ plus\ landmark\ selection,\  ]]
    [[ $stderr =~ time\ .*,\ 2\ passes\ plus\ ([0-9]+)\ for\ landmark\ selection ]]
    ny info t a
    prints $'\npasses                2 plus '"${BASH_REMATCH[1]} for landmark selection"$'\n'
    [ "$(field "$(nystream info t a --json)" passes)" = $((2 + BASH_REMATCH[1])) ]
    ny plan t --landmarks 60
    prints $'passes                2 plus landmark selection\n'
    ny select t chosen --landmarks 60
    ny info t chosen
    prints $'\npasses                '"${BASH_REMATCH[1]} for landmark selection"$'\n'
    ny fit t a --landmarks 60 --select uniform --restart
    says "plan: 2 passes, " ", 2 passes"
    [[ $stderr != *"landmark selection"* ]]
}

@test "where the rank ends a selection, all rows are read to see it" {
    npy_u8 20000 600 >rank.npy
    nystream import rank.nys rank.npy -q
    for rule in greedy rpcholesky; do
        for landmarks in 500 600; do
            ny -0 plan rank.nys --kernel linear --select $rule --landmarks $landmarks --json
            field "$output" passes >passes.$landmarks
        done
        [ "$(cat passes.600)" -gt "$(cat passes.500)" ]
    done
}

@test "sparse rows are billed by what they hold, not by their columns" {
    awk 'BEGIN {srand(1); for (i = 0; i < 4000; i++) {c = 1 + int(rand() * 1000); printf "0"
        for (k = 0; k < 40; k++) {printf " %d:1.5", c; c += 1 + int(rand() * 9000)} print ""}}' >s.libsvm
    nystream import sparse.nys s.libsvm --dims 400000 -q
    ny plan sparse.nys --landmarks 50 --json
    at_least 200000000 1 "$(field "$output" memory_min_bytes)"
}

# Compares the plan of a shape with that of a store that has it, with some options: the figures
# that do not rest on a sample of the rows are equal.
equal_plans() { # SHAPE STORE OPTION…
    local shape=$1 store=$2 of_shape key
    shift 2
    ny -0 plan --shape "$shape" "$@" --json
    of_shape=$output
    ny plan "$store" "$@" --json
    for key in passes flops memory_min_bytes disk_bytes landmarks fits; do
        [ "$(field "$of_shape" $key)" = "$(field "$output" $key)" ] || echo "$key: $of_shape" >&2
        [ "$(field "$of_shape" $key)" = "$(field "$output" $key)" ]
    done
}

@test "a shape is planned as the points that have it" {
    npy_u8 6000 30 >p.npy
    nystream import p.nys p.npy -q
    equal_plans 6000,30,u8 p.nys
    equal_plans 6e3,30,u8 p.nys --map laplacian --landmarks 200 --components 9 --precision f64
    equal_plans 6000,30,u8 p.nys --map pca --approx exact
    equal_plans 6000,30,u8 p.nys --map isomap --landmarks 100
    equal_plans 6000,30,u8 p.nys --scale standard --memory 100M
    nystream import doubles.nys p.npy --dtype f64 -q
    equal_plans 6000,30,f64 doubles.nys --select uniform
    ny -0 plan --shape 1e9,200 --memory 2G
    prints "at most 745 GiB" "fits                  no"
    ny plan --shape 1e6,30000,1e9 --map pca --memory 2G
    prints "at most 7.45 GiB" "fits                  yes"
    ny -0 plan --shape 2e6,3 --map isomap --landmarks 100 --memory 2G # near nodes of so many are neighbours in memory
}

@test "a shape that is none, and what needs the points, are refused" {
    for shape in 5 a,b 5,0 5,1.5 5,-1 5,5,5,f32,5 5,5,u16 5,5,u8,u8 "5,5,7,8" ""; do
        ny -2 plan --shape "$shape"
    done
    ny -3 plan --shape 1,5
    for shape in 1e9,5e9 1e6,2e7,1e9; do
        ny -2 plan --shape $shape
    done
    ny -2 plan --shape 10,10,101
    ny -2 plan
    ny -2 plan --shape 1e4,9 --select greedy --tolerance 0.1
    ny -0 plan --shape 1e4,9 --select greedy --tolerance 0.1 --landmarks 100
    for options in --gamma-grid "--features variable:3"; do
        usage "but --shape 1e4,9 gives only their shape" plan --shape 1e4,9 $options
    done
}

@test "what takes longer than --time-limit does not run" {
    table 900 4 >t.csv
    nystream import t.nys t.csv -q
    ny plan t.nys --landmarks 200 --time-limit 1h --json
    [ "$(field "$output" time_limit)" = 3600.0 ]
    has_keys "$output" within_time_limit
    shows "1 h 00 min: the plan is within it" plan t.nys --landmarks 200 --time-limit 1h
    shows "the plan takes longer" plan t.nys --landmarks 200 --time-limit 0.0001s
    for verb in fit graph; do
        ny -8 $verb t.nys a --time-limit 0.0001s
        ny list t.nys
        [[ $output != *a* ]]
        ny -0 $verb t.nys $verb --time-limit 1h
    done
    printf '0 1\n1 2\n' >edges.txt
    ny -8 graph g.nys g --edges edges.txt --time-limit 0.00000001
    table 300 4 >more.csv
    nystream import t.nys more.csv --append -q
    ny -8 fit t.nys fit --update frozen --time-limit 0.00001
    ny -0 fit t.nys fit --update frozen --time-limit 1m
    ny -8 embed t.csv -o e.npy --time-limit 0.00001
    [ ! -e e.npy ]
}

# bats test_tags=slow
@test "a frozen update is planned by its new rows, and by what it does besides" {
    npy_u8 100000 16 >t.npy
    npy_u8 400 16 >new.npy
    nystream import grows.nys t.npy -q
    nystream fit grows.nys a --landmarks 400 -q
    nystream import grows.nys new.npy --append -q
    ny plan grows.nys --landmarks 400 --json
    half=$(awk -v all="$(field "$output" seconds)" 'BEGIN { print all / 2 }')
    # Three stages commit, and the drift is measured.
    ny -8 fit grows.nys a --update frozen --time-limit 0.02
    ny -0 fit grows.nys a --update frozen --time-limit "$half"
}

# bats test_tags=slow
@test "the limit is compared with what is left of a job" {
    npy_u8 60000 16 >t.npy
    nystream import left.nys t.npy -q
    nystream select left.nys d --select uniform --landmarks 300 -q
    nystream export left.nys d --part landmark-points -o d.npy -q
    options=(--landmarks-points d.npy --gamma 0.0001 --components 2)
    ny plan left.nys "${options[@]}" --json
    limit=$(awk -v all="$(field "$output" seconds)" -v pass="$(stage "$output" accumulate)" \
        'BEGIN { print all - pass / 2 }')
    nystream fit left.nys map "${options[@]}" --until sums -q
    ny -8 fit left.nys other "${options[@]}" --time-limit "$limit"
    ny -0 fit left.nys map "${options[@]}" --time-limit "$limit"
}

# Columns of 64 values are worth keeping, where a 16th of the budget has room.
# bats test_tags=slow
@test "columns that have room are computed in one pass, and the result has the same bytes" {
    local option kept anew least columns=$((4 * 5000 * 300))
    table 5000 64 >p.csv
    nystream import s.nys p.csv -q
    for option in "--map kpca" "--map laplacian" "--map kpca --inner randomized --components 2" \
        "--map kpca --precision f64" "--approx nystrom --certify"; do
        set -- --landmarks 300 --seed 1 $option
        kept=$(nystream plan s.nys --json --memory 2G "$@")
        least=$(field "$kept" memory_min_bytes)
        anew=$(nystream plan s.nys --json --memory "$least" "$@")
        at_least "$(field "$kept" columns_kept_bytes)" 1 "$columns"
        [ "$(field "$anew" columns_kept_bytes)" = "" ]
        at_least "$(field "$anew" flops)" 1.1 "$(field "$kept" flops)"
        nystream fit s.nys kept --restart --memory 2G -q "$@"
        nystream fit s.nys anew --restart --memory "$least" -q "$@"
        same_exports "s.nys kept" "s.nys anew"
        kept=$(nystream info s.nys kept --json)
        at_least "$(field "$kept" columns_kept_bytes)" 1 "$columns"
        at_least "$(field "$(nystream info s.nys anew --json)" flops)" 1.1 "$(field "$kept" flops)"
    done
    nystream plan s.nys --memory 2G --landmarks 300 | grep -q "are kept between passes"
    # Three columns cost less than a copy.
    table 5000 3 >narrow.csv
    nystream import narrow.nys narrow.csv -q
    [ "$(field "$(nystream plan narrow.nys --json --landmarks 300)" columns_kept_bytes)" = "" ]
}

@test "a few pairs of all of K are planned by products, not by its reduction" {
    ny -0 plan --shape 10000,784,u8 --kernel rbf --approx exact --components 2 --json
    few=$output
    ny -0 plan --shape 10000,784,u8 --kernel rbf --approx exact --components 3000 --json
    all=$(stage "$output" solve)
    awk -v few="$(field "$few" flops)" -v all="$(field "$output" flops)" \
        'BEGIN { K = 784e8; exit !(few - K > 4e10 && few - K < 8e10 && all - K > 1.3e12) }' # which both make
    at_least "$all" 1.5 "$(stage "$few" solve)"
    # Pairs that do not settle are found by the reduction after all; rates of two plans may differ.
    at_least "$(field "$few" seconds_high)" 8 "$(field "$few" seconds)"
}

@test "columns are computed once before they are kept, and few tiles wait for the largest" {
    for inner in randomized exact; do
        ny -0 plan --shape 20000,784,u8 --precision f64 --inner $inner --landmarks 1000 --json
        stage "$output" accumulate >"$inner"
    done
    at_least "$(<randomized)" 0.5 "$(<exact)"
    for rows in 2048 4096; do # of a tile, and of three
        ny -0 plan --shape $rows,400 --map isomap --threads 2 --landmarks 100 --json
        stage "$output" neighbors >"$rows"
    done
    at_least "$(<2048)" 0.5 "$(<4096)"
}

# bats test_tags=slow
@test "exact fits of documents are planned by the products that they take, and by columns far apart" {
    local exact="--map svd --kernel cosine --approx exact"
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 6000 --terms 9000 -o - | nystream import docs.nys - --format libsvm --dims 9000 -q
    # The pairs behind the 20 topics lie close together, so that many products tell them apart.
    for k in 60 15; do
        ny -0 plan docs.nys $exact --components $k --json
        planned=$(field "$output" passes)
        ny -0 fit docs.nys topics.$k $exact --components $k --json -q
        at_least "$planned" 0.7 "$(field "$output" passes)"
        at_least "$(field "$output" passes)" 0.7 "$planned"
    done
    # Rows have too few values for ranges of so many columns, and each value goes to memory.
    ny plan --shape 1e6,47236,77e6 $exact --components 100 --json
    far=$(stage "$output" accumulate)
    at_least "$(field "$output" seconds_high)" 3.5 "$(field "$output" seconds)"
    ny plan --shape 1e6,4000,77e6 $exact --components 100 --json
    at_least "$far" 1.8 "$(stage "$output" accumulate)"
    ny plan --shape 1e6,4000,77e6 $exact --components 100 --max-passes 14 --json
    at_least 3.5 1 "$(awk -v a="$(field "$output" seconds_high)" -v b="$(field "$output" seconds)" 'BEGIN { print a / b }')"
}

@test "components beyond the columns are told before a fit" {
    store s 300 4
    ny -0 plan s --map pca --components 7
    ny -0 plan s --map pca --components 4
    [ -z "$stderr" ]
    ny -0 plan s --components 7
    [ -z "$stderr" ]
}

@test "few wide rows are planned by the rows there are" {
    awk 'BEGIN { for (i = 0; i < 3; i++) for (j = 0; j < 50000; j++) printf "%d%s", (i + 1) * j % 17, j < 49999 ? "," : "\n" }' >t.csv
    nystream import w t.csv -q --header no
    run --separate-stderr nystream plan w --components 1 --json --memory 8G
    memory=$(sed -nE 's/.*"memory_min_bytes": ([0-9]+).*/\1/p' <<<"$output")
    [ "$memory" -lt 200000000 ] # 257 rows of f32 and f64 would take twice as much
    nystream fit w small --components 1 --memory "$memory" -q
    nystream fit w large --components 1 --memory 8G -q
    cmp <(nystream export w small -o - -q) <(nystream export w large -o - -q)
}
