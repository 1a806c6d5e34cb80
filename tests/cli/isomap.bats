# Tests fit --map isomap: graphs made or named, components, landmarks, and refusals.
load helper

# A ring of 40 points, ten points in a line far away, and one alone.
ring() {
    awk 'BEGIN {
        for (i = 0; i < 40; i++) printf "%.6f,%.6f\n", cos(i * 0.157), sin(i * 0.157)
        for (i = 0; i < 10; i++) printf "%.6f,50\n", 50 + i * 0.1
        print "900,900"
    }' >ring.csv
    seq 0 50 >labels.txt
    nystream import r.nys ring.csv --labels labels.txt -q
    nystream graph r.nys g --neighbors 2 -q
}

# same_parts NAME NAME PART…: two results of r.nys have these parts in common.
same_parts() {
    local part
    for part in "${@:3}"; do same_exports "r.nys $1 --part $part" "r.nys $2 --part $part" || return; done
}

@test "a fit makes its own graph, or takes one that is there: the same bytes" {
    ring
    ny -0 fit r.nys own --map isomap --neighbors 2 --landmarks 12 --json
    says "11 of 51 rows (21.57 %) are not in the largest component"
    has_keys "$output" embedded graph paths residual_variance distance_preservation sampled_pairs
    fields embedded=40 approx=nystrom kernel=null
    [[ $output == *'"neighbors": 2'* ]]
    ny -0 fit r.nys other --map isomap --graph g --landmarks 12 --json -q
    [[ $output == *'"name": "g"'* ]]
    same_parts own other embedding landmarks rows eigenvectors
    same_parts own g neighbors distances components
    usage "has no neighbors" export r.nys other --part neighbors -o n.npy
    ny -0 path r.nys own --from 0 --to 3 --json
    [ "$(nystream fit r.nys other --map isomap --graph g --landmarks 12 2>&1)" != "" ]
}

# Each thread has 66 bytes a node for 16 paths at a time, and 18 for four; 32 sources are kept.
# bats test_tags=slow
@test "a small budget has fewer paths at a time and finds them twice, and the same bytes" {
    local least usual part disk kept=$((150000 * 32 * 4))
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 150000 -o roll.npy
    nystream import r.nys roll.npy -q
    nystream graph r.nys g --connect -q
    ny -0 plan r.nys --map isomap --graph g --landmarks 20 --threads 1 --memory 1G --json
    least=$(field "$output" memory_min_bytes)
    usual=$(sed -nE '/"stage_memory_bytes"/,/}/ s/.*"project": ([0-9]+).*/\1/p' <<<"$output")
    [ "$least" -lt "$usual" ] || { echo "$least for $usual" >&2; return 1; }
    disk=$(field "$output" disk_bytes)
    [ "$(field "$output" columns_kept_bytes)" = "$kept" ]
    ny plan r.nys --map isomap --graph g --landmarks 20 --threads 1 --memory "$least" --json
    [ "$(field "$output" columns_kept_bytes)" = "" ]
    exits 0 # the edges are in a file: 8 bytes for each of three or more of a node, twice
    [ "$(field "$output" disk_bytes)" -gt $((disk + 150000 * 72)) ]
    ny -0 fit r.nys much --map isomap --graph g --landmarks 20 --memory 1G -q
    ny -0 fit r.nys little --map isomap --graph g --landmarks 20 --memory "$least" -q
    same_parts much little embedding eigenvectors landmarks rows
    [ "$(field "$(nystream info r.nys much --json)" columns_kept_bytes)" = "$kept" ]
    [ "$(field "$(nystream info r.nys little --json)" columns_kept_bytes)" = null ]
    [ "$(field "$(nystream info r.nys much --json)" residual_variance)" = \
        "$(field "$(nystream info r.nys little --json)" residual_variance)" ]
    ny -8 fit r.nys none --map isomap --graph g --landmarks 20 --memory $((least - 4096))
}

# bats test_tags=slow
@test "a graph of more than 2^20 rows in no order has the same bytes in memory and in pages" {
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 1100000 -o roll.npy
    nystream import r.nys roll.npy --shuffle -q
    nystream graph r.nys g --neighbors 5 -q
    least=$(field "$(nystream plan r.nys --map isomap --graph g --landmarks 20 --json)" memory_min_bytes)
    ny -0 fit r.nys much --map isomap --graph g --landmarks 20 --memory 1G -q
    ny -0 fit r.nys little --map isomap --graph g --landmarks 20 --memory "$least" --threads 1 -q
    same_parts much little embedding eigenvectors landmarks rows
    for fact in residual_variance distance_preservation; do
        [ "$(field "$(nystream info r.nys much --json)" $fact)" = \
            "$(field "$(nystream info r.nys little --json)" $fact)" ]
    done
}

# bats test_tags=slow
@test "a search of pages that is killed goes on, and ends with the same bytes" {
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 150000 -o roll.npy
    nystream import r.nys roll.npy -q
    nystream graph r.nys g --connect -q
    least=$(field "$(nystream plan r.nys --map isomap --graph g --landmarks 20 --json)" memory_min_bytes)
    nystream fit r.nys whole --map isomap --graph g --landmarks 20 --memory 1G -q
    for seconds in 0.7 1.4 2.1 2.8; do
        run timeout -s KILL $seconds nystream fit r.nys killed --map isomap --graph g --landmarks 20 --memory "$least" -q
    done
    ny -0 fit r.nys killed --map isomap --graph g --landmarks 20 --memory "$least" -q
    same_parts whole killed embedding eigenvectors landmarks rows
}

@test "what keeps all distances is said to keep them" {
    for n in 76 97 118; do
        seq 0 $n | sed 's/$/,0/' >line.csv
        nystream import line$n.nys line.csv --header no -q
        ny -0 fit line$n.nys e --map isomap --neighbors 2 --approx exact --components 1 \
            --precision f64 --json -q
        awk -v kept="$(field "$output" distance_preservation)" \
            'BEGIN { exit !(kept > 0.9999999 && kept <= 1) }'
    done
}

@test "what rounding leaves of no residual variance is not negative" {
    printf '%s\n' 0,0 0,6 2,0 2,6 >rectangle.csv
    nystream import t.nys rectangle.csv -q
    ny -0 fit t.nys flat --map isomap --neighbors 3 --json
    [[ $(field "$output" residual_variance) == [0-9]* ]]
}

@test "a row is no pair with itself" {
    awk 'BEGIN {
        for (i = 0; i < 8; i++)
            printf "%.6f,%.6f\n", cos(i * atan2(0, -1) / 4), sin(i * atan2(0, -1) / 4)
    }' >octagon.csv
    nystream import o.nys octagon.csv -q
    ny -0 fit o.nys ring --map isomap --neighbors 2 --approx exact --json
    # of paths 1, 1, 2, 2, 3, 3, 4 and chords; 0.0583 with the 0 of a row itself
    awk -v v="$(field "$output" residual_variance)" 'BEGIN { exit !(v > 0.0608 && v < 0.0658) }'
    printf '0\n1\n' >two.csv
    nystream import two.nys two.csv -q
    ny -0 fit two.nys line --map isomap --neighbors 1 --components 1 --approx exact --json
    [[ $output == *'"residual_variance": null'* ]]
}

@test "with --connect all rows are embedded" {
    ring
    for map in "isomap --landmarks 12" "eigenmaps --edge-weights binary"; do
        answers 0 "1 edges of" fit r.nys e --map $map --neighbors 2 --connect --restart -v
        has "r.nys e" embedded=51 bridges=1
        [ "$(shown "r.nys e" | wc -l)" = 51 ]
    done
    ny -0 plan r.nys --map isomap --neighbors 2 --connect
    usage --connect fit r.nys e --map isomap --graph g --connect
    usage "does not act with --map kpca" fit r.nys e --connect
}

@test "parts are of the rows that are embedded" {
    ring
    ny -0 fit r.nys e --map isomap --neighbors 2 --approx exact --components 1 -q
    seq 0 39 | cmp - <(shown "r.nys e --part rows")
    seq 0 39 | cmp - <(shown "r.nys e --part labels")
    seq 0 39 | cmp - <(shown "r.nys e --part source")
    [ "$(shown "r.nys e" | wc -l)" = 40 ]
    ny -2 export r.nys e --part model -o e.nym
    shows "rows embedded" info r.nys e
}

@test "neighbours and their distances are those of any precision of the coordinates" {
    ring
    for map in isomap eigenmaps; do
        nystream fit r.nys "$map" --map "$map" --neighbors 2 -q
        nystream fit r.nys "$map.f64" --map "$map" --neighbors 2 --precision f64 -q
        same_parts "$map" "$map.f64" neighbors distances components
        same_parts g "$map.f64" neighbors distances components
    done
}

@test "landmarks: given ones must be in the component, others are" {
    ring
    printf '0\n13\n27\n' >in.csv
    printf '0\n45\n27\n' >out.csv
    ny fit r.nys e --map isomap --graph g --landmarks-file in.csv --header no -q
    ny -0 fit r.nys given --map isomap --graph g --landmarks-file in.csv -q
    writes in.csv "r.nys given --part landmarks"
    ny -3 fit r.nys bad --map isomap --graph g --landmarks-file out.csv
    says "names row 45 at position 1 (from 0), which is not in the largest component"
    ny -0 fit r.nys many --map isomap --graph g --landmarks 45
    says "more than the 40 rows of the largest component"
    usage "needs more landmarks than 2" fit r.nys few --map isomap --graph g --landmarks 2 --components 3
}

# On the ring, the second landmark is opposite to the first, and the next two lie between them.
@test "landmarks as far from one another as can be" {
    ring
    for threads in 1 3; do
        ny -0 fit r.nys far --map isomap --graph g --select maxmin --landmarks 4 --threads $threads --restart -q
        nystream export r.nys far --part landmarks -o l.csv
        sort -n l.csv | awk 'NR > 1 { print $1 - last } { last = $1 }' | grep -cE '^(9|10|11)$' | grep -qx 3
    done
    ny -0 plan r.nys --map isomap --graph g --select maxmin --landmarks 4
}

@test "options that a map of a graph does not take, and those that only it takes" {
    ring
    for option in "--gamma 1" "--kernel rbf" "--certify" "--rank 3" "--averages implicit" \
        "--tolerance 0.1"; do
        usage "does not act with --map isomap" fit r.nys e --map isomap $option
    done
    for option in "--neighbors 3" "--graph g" "--mutual" "--max-distance 3"; do
        usage "does not act with --map kpca" fit r.nys e $option
    done
    usage "does not act with --graph g" fit r.nys e --map isomap --graph g --scale unit
    ny -2 fit r.nys e --map isomap --approx projected
    ny -2 fit r.nys e --map isomap --select greedy
    ny -2 fit r.nys e --select maxmin
    usage "acts only with --map isomap" select r.nys e --select maxmin
    ny -2 fit r.nys e --map isomap --graph nope
    ny fit r.nys kernel -q --landmarks 10
    usage "'kernel' is not a graph" fit r.nys e --map isomap --graph kernel
    ny -2 plan r.nys --gamma-grid --map isomap
    ny -0 fit r.nys e --map isomap --graph g -q
    usage "is a map of a graph" fit r.nys e --map isomap --graph g --update full
}

# bats test_tags=slow
@test "negative eigenvalues are counted: with the whole spectrum, and where a few pairs are found" {
    table 2200 3 >t.csv
    nystream import t.nys t.csv -q
    nystream graph t.nys g --neighbors 8 -q
    ny -0 fit t.nys all --map isomap --graph g --approx exact --components 200 --json -q
    negative=$(field "$output" negative_eigenvalues)
    [ "$negative" -gt 100 ]
    [ "$(field "$output" negative_share)" != null ]
    ny -0 fit t.nys few --map isomap --graph g --approx exact --json -q
    fields negative_eigenvalues="$negative" negative_share=null
    shows "negative eigenvalues were dropped: no flat space" info t.nys few
}

# bats test_tags=slow
@test "paths along a line have no negative eigenvalues: of few landmarks, and of many" {
    seq 2200 >t.csv
    nystream import t.nys t.csv -q
    nystream graph t.nys g --neighbors 2 -q
    for landmarks in 40 2200; do
        ny -0 fit t.nys "l$landmarks" --map isomap --graph g --landmarks "$landmarks" \
            --components 1 --json -q
        [ "$(field "$output" negative_eigenvalues)" = 0 ]
    done
    [ "$(field "$output" negative_share)" = null ]
}

@test "all paths that do not fit the memory: the error names landmarks" {
    table 6000 3 >t.csv
    nystream import t.nys t.csv -q
    ny -8 fit t.nys all --map isomap --neighbors 8 --approx exact --memory 64M -q
    ny -0 fit t.nys few --map isomap --neighbors 8 --approx nystrom --landmarks 50 --memory 64M -q
}

@test "a graph made again with other neighbours is not the one of a fit" {
    ring
    nystream fit r.nys e --map isomap --graph g --landmarks 10 -q
    usage "landmarks: 10 → 11" fit r.nys e --map isomap --graph g --landmarks 11
    nystream rm r.nys g
    ny -0 export r.nys e -o e.npy
}

# Columns a and b hold the same numbers in another order, so that their graphs have the same figures.
@test "a graph that was made again is not taken for the one of a fit that is done" {
    awk -v OFS=, 'BEGIN { print "a,b"; for (i = 0; i < 101; i++) print i, i * 7 % 101 }' >t.csv
    nystream import s t.csv -q
    printf 'a,b\n5.5,3.5\n' >new.csv
    echo a >a
    echo b >b
    nystream graph s g --neighbors 5 --features a -q
    nystream fit s e --map isomap --graph g --landmarks 10 -q
    nystream transform s e --input new.csv -o first.csv -q
    for again in "--neighbors 8 --features a" "--neighbors 5 --features b"; do
        nystream graph s g $again --restart -q
        rm -f y.csv
        usage "graph 'g' is no longer the one that 'e' was made from; fit it again with --restart" transform s e --input new.csv -o y.csv
        [ ! -e y.csv ]
    done
    nystream graph s g --neighbors 5 --features a --knn exact --restart -q
    nystream transform s e --input new.csv -o y.csv -q
    cmp first.csv y.csv
    nystream rm s g
    rm y.csv
    ny -2 transform s e --input new.csv -o y.csv
    [ ! -e y.csv ]
    ny -2 report s e -o e.html --path 0,1
    nystream graph s g --neighbors 5 --features a -q
    nystream transform s e --input new.csv -o y.csv -q
    cmp first.csv y.csv
}

# bats test_tags=slow
@test "a fit that was interrupted does not go on with a graph that was made again" {
    local options="--map isomap --graph g --select uniform --landmarks 600 --memory 64M --threads 1" seconds
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 50000 -o roll.npy
    nystream import s roll.npy -q
    nystream graph s g --neighbors 5 --connect -q
    for seconds in 0.{2..9} 1 2 4; do # until it ends behind its beginning
        run timeout -s INT $seconds nystream fit s e $options --restart -q
        ny info s e --json
        [ "$status" != 0 ] || [ "$(field "$output" stage)" = stats ] || break
    done
    exits 0
    [ "$(field "$output" status)" = interrupted ]
    nystream graph s g --neighbors 6 --connect --restart -q
    usage "graph 'g' is no longer the one that 'e' was made from; fit it again with --restart" fit s e $options
}

# bats test_tags=slow
@test "columns that a fit has found again are not told to have been kept" {
    local options="--map isomap --graph g --select uniform --landmarks 1200 --memory 1G --threads 1 -q" stage pid tries
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 6000 -o roll.npy
    nystream import r.nys roll.npy -q
    nystream graph r.nys g --neighbors 5 --connect -q
    nystream fit r.nys whole $options
    [ "$(field "$(nystream info r.nys whole --json)" columns_kept_bytes)" = $((6000 * 1200 * 4)) ]
    for tries in {1..20}; do # until it ends where it solves, which it says when the first sweep is done
        nystream fit r.nys e $options --restart &
        pid=$!
        stage=
        while kill -0 $pid 2>/dev/null && [ "$stage" != solve ]; do
            stage=$(field "$(nystream info r.nys e --json 2>/dev/null)" stage)
        done
        kill -KILL $pid 2>/dev/null || true
        wait $pid || true
        stage=$(field "$(nystream info r.nys e --json)" stage)
        [ "$stage" = solve ] && break
    done
    [ "$stage" = solve ]
    nystream fit r.nys e $options
    [ "$(field "$(nystream info r.nys e --json)" columns_kept_bytes)" = null ]
    same_exports "r.nys whole" "r.nys e"
}

@test "data that no paths can be found in" {
    for ((i = 0; i < 50; i++)); do echo 7,7; done >t.csv
    nystream import s t.csv -q
    ny -3 fit s e --map isomap --neighbors 3
    ny -2 fit s e --map isomap --neighbors 60
    echo 5 >one.csv
    nystream import one.nys one.csv --header no -q
    ny -3 fit one.nys e --map isomap
    ring
    ny -3 fit r.nys e --map isomap --max-distance 0.00001
    ny list r.nys
    [[ $output != *$'e\t'* ]]
    printf 'x\n0\n0\n1\n1\n2\n5\n' >twins.csv
    nystream import t.nys twins.csv -q
    ny -0 fit t.nys e --map isomap --neighbors 2 --approx exact --components 1 -q
    nystream export t.nys e -o e.csv
    [ "$(sed -n 1p e.csv)" = "$(sed -n 2p e.csv)" ]
}

# bats test_tags=slow
@test "any threads and budgets give the same bytes, and too small a budget says what it takes" {
    table 3000 3 >t.csv
    nystream import r.nys t.csv -q
    ny -0 fit r.nys a --map isomap --landmarks 200 --threads 1 -q
    too_little fit r.nys b --map isomap --landmarks 200 --threads 3 --memory 30M
    ny -0 fit r.nys b --map isomap --landmarks 200 --threads 3 --memory "$least" -q
    same_exports "r.nys a" "r.nys b"
    ny -0 fit r.nys c --map isomap --approx column --landmarks 200 --threads 1 -q
    ny -0 fit r.nys d --map isomap --approx column --landmarks 200 --threads 3 --memory 110M -q
    same_exports "r.nys c" "r.nys d"
    ny -0 plan r.nys --map isomap --landmarks 200 --json
    has_keys "$output" fits memory_min_bytes memory_bytes disk_bytes seconds stages
}

@test "embed makes a table's isomap in one call" {
    table 500 4 >t.csv
    ny -0 embed t.csv -o y.csv --map isomap --landmarks 50 --neighbors 8 -q
    [ "$(wc -l <y.csv)" = 500 ]
}

@test "new points come by their nearest rows; a row itself stays where it is" {
    table 400 3 >t.csv
    nystream import r.nys t.csv -q
    nystream graph r.nys g --neighbors 6 -q
    head -50 t.csv >same.csv
    awk -F, '{ printf "%.7f,%s,%s\n", $1 + 1e-7, $2, $3 }' same.csv >near.csv
    for how in "--approx exact" "--landmarks 60 --precision f64"; do
        ny -0 fit r.nys e --map isomap --graph g $how --restart -q
        ny -0 transform r.nys e --input same.csv -o y.csv -q
        shown "r.nys e" | head -50 | cmp - y.csv
        ny -0 transform r.nys e --input near.csv -o near-y.csv --json
        [ "$(field "$output" rows)" = 50 ]
        within 7e-6 y.csv near-y.csv
    done
    nystream fit r.nys own --map isomap --neighbors 6 --approx exact -q
    nystream fit r.nys e --map isomap --graph g --approx exact --restart -q
    agree cmp "transform r.nys own --input near.csv" \
        "transform r.nys e --input near.csv --memory 40M"
    echo 1,2 >narrow.csv
    ny -3 transform r.nys e --input narrow.csv -o no.csv
    nystream rm r.nys g
    ny -2 transform r.nys e --input near.csv -o no.csv
    [ ! -e no.csv ]
}

@test "bytes and sparse rows" {
    npy_u8 300 12 >b.npy
    nystream import b b.npy -q
    nystream import s b.npy --layout sparse -q
    for store in b s; do
        ny -0 fit $store e --map isomap --approx exact --neighbors 12 -q
        ny -0 transform $store e --input b.npy -o $store-y.npy -q
        writes $store-y.npy "$store e"
    done
    cmp b-y.npy s-y.npy
}

@test "a map that would lose most of the rows is refused, unless --largest is given" {
    # Five groups of 80 rows, far apart.
    awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) printf "%g,%g\n", i % 5 * 100 + rand(), rand() }' >groups.csv
    nystream import c.nys groups.csv -q
    ny -3 fit c.nys lost --map isomap --neighbors 4 --landmarks 50
    says "holds 80 of 400 rows (20.00 %)" "--largest"
    ny list c.nys
    [ -z "$output" ]
    nystream graph c.nys g --neighbors 4 -q 2>err
    grep -q "5 components" err
    for map in isomap eigenmaps diffusion; do
        ny -3 fit c.nys $map --map $map --graph g --components 2
    done
    ny -3 embed groups.csv -o e.npy --map eigenmaps --neighbors 4
    [ ! -e e.npy ]
    ny -0 fit c.nys some --map isomap --neighbors 4 --landmarks 50 --largest --json --scale none
    [ "$(field "$output" embedded)" = 80 ]
    says "320 of 400 rows (80.00 %)"
    [ "$(grep -c warning <<<"$stderr")" -eq 1 ]
    ny -0 fit c.nys all --map isomap --neighbors 4 --landmarks 50 --connect -q
    usage --largest fit c.nys other --largest
    # Four groups of 320 rows in one, and the fifth apart: a warning with numbers.
    awk -F, '{ print ($1 < 390 ? $1 % 100 : $1) "," $2 }' groups.csv >most.csv
    nystream import m.nys most.csv -q
    ny -0 fit m.nys some --map isomap --neighbors 6 --landmarks 50 -q
    says "80 of 400 rows (20.00 %) are not in the largest component"
}

@test "eval and the comparison of a report have the residual variance of the fit" {
    table 300 3 | nystream import v.nys - --format csv --quiet
    nystream fit v.nys map --map isomap --landmarks 50 --quiet
    nystream fit v.nys other --landmarks 50 --quiet
    found=$(field "$(nystream info v.nys map --json)" residual_variance)
    ny -0 eval v.nys map --measures distances --json
    [ "$(field "$output" residual_variance)" = "$found" ]
    nystream report v.nys map other -o page.html --quiet
    awk '/side by side/ { on = 1 } on && /esidual variance/ { found = 1 } /<\/table>/ { on = 0 }
         END { exit !found }' page.html
}
