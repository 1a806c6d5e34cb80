# The verb graph: nearest neighbours of all rows, components, and what it says of both.
load helper

# Two clusters on a line, 0 1 3 6 and 100 101 103, and one row far away.
line() {
    printf 'x\n0\n1\n3\n6\n100\n101\n103\n1000\n' >line.csv
    nystream import line.nys line.csv -q
}

@test "neighbours, distances and components of a line" {
    line
    ny -0 graph line.nys g --neighbors 2 --json -q
    [[ $output == *'"status": "done"'* && $output == *'"kind": "graph"'* ]]
    [[ $output == *'  "neighbors": 2,'* ]]
    fields edges=10 components=2 largest=4
    printf '1,2\n0,2\n1,0\n2,1\n5,6\n4,6\n5,4\n6,5\n' | cmp - <(shown "line.nys g --part neighbors")
    printf '1,3\n1,2\n2,3\n3,5\n1,3\n1,2\n2,3\n897,899\n' | cmp - <(shown "line.nys g --part distances")
    printf '0\n0\n0\n0\n1\n1\n1\n1\n' | cmp - <(shown "line.nys g --part components")
    printf '0\n1\n2\n3\n' | cmp - <(shown "line.nys g --part rows")
    ny -0 info line.nys g
}

@test "a limit leaves edges out, by length or by quantile; mutual ones need both" {
    line
    ny -0 graph line.nys far --neighbors 2 --max-distance 10 --json -q
    fields isolated=1 components=3
    [ "$(shown "line.nys far --part neighbors" | tail -1)" = 18446744073709551615,18446744073709551615 ]
    nystream export line.nys far --part distances -o d.npy
    ny -0 graph line.nys as-far --neighbors 2 --max-distance 3 --json -q # what is as far stays
    [ "$(field "$output" edges)" = 7 ]
    awk 'BEGIN { for (i = 0; i < 12; i++) printf "%.1f,%.1f\n", i % 4 / 10, int(i / 4) / 10 }' >grid.csv
    nystream import grid.nys grid.csv --dtype f64 -q
    ny -0 graph grid.nys g --neighbors 4 --max-distance 0.1 --sweep 3 --json -q
    [ "$(field "$output" edges)" = 17 ]
    [[ $output == *'"distance_limit": 0.10000000000000001,'* && $output != *0.100000001* ]]
    ny -0 path grid.nys g --from 0 --to 11 --json
    [[ $output == *'"length": 0.5,'* ]]
    nystream export grid.nys g --part graph -o g.mtx
    [ "$(grep -c '^[0-9]* [0-9]* 0.1' g.mtx)" = 17 ]
    # of the 16 distances 1 1 1 1 2 2 2 2 3 3 3 3 3 5 897 899 the 80 % one is at place 12
    ny -0 graph line.nys q --neighbors 2 --distance-quantile 0.8 --json -q
    [ "$(field "$output" distance_limit)" = 3.0 ]
    # both limits hold, and the lesser is told
    ny -0 graph line.nys both --neighbors 2 --distance-quantile 0.8 --max-distance 2 --sweep 1 --json -q
    [ "$(field "$output" edges)" = 4 ]
    [ "$(grep -c '"distance_limit": 2.0' <<<"$output")" = 2 ]
    nystream export line.nys both --part distances -o both.csv
    awk -F, '{ for (i = 1; i <= NF; i++) if ($i != "inf" && $i > 2) exit 1 }' both.csv
    ny -0 graph line.nys as-q --neighbors 2 --distance-quantile 0.8 --max-distance 900 --json -q
    [ "$(field "$output" distance_limit)" = 3.0 ]
    ny -0 graph line.nys m --neighbors 2 --mutual --json -q
    [ "$(field "$output" edges)" = 6 ]
    ny -3 graph line.nys none --neighbors 2 --max-distance 0.5
    says "no two rows are neighbours within a distance of 0.5"
    ny list line.nys
    [[ $output != *none* ]]
}

# The lists take half of the budget.
# bats test_tags=slow
@test "exact lists are gone on with in the budget that they were begun in" {
    local options="--knn exact --neighbors 200 --threads 1 --memory 200M" run
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 60000 -o roll.npy
    nystream import s roll.npy -q
    for run in first second third; do # the first may still measure what this machine does
        run -124 timeout -s INT 1 nystream graph s g $options -q
    done
}

# 30,000 rows fit the budget, and the 430,000 that are there later do not.
# bats test_tags=slow
@test "a graph that is gone on with is planned for its own rows, whatever was appended" {
    local options="--knn exact --neighbors 30 --threads 1 --memory 64M" rows
    for rows in 30000 400000; do "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n $rows -o $rows.npy; done
    nystream import s 30000.npy -q
    run -124 timeout -s INT 1 nystream graph s g $options -q
    run -124 timeout -s INT 1 nystream fit s e --map isomap --landmarks 50 $options -q
    nystream import s 400000.npy --append -q
    ny -8 graph s other $options
    ny -0 graph s g $options -q
    has "s g" n=30000
    ny -0 fit s e --map isomap --landmarks 50 $options -q
}

@test "values that are too small or too large for any graph are told as such" {
    for e in -200 -160 -60 200; do
        table 300 3 | sed "s/\(,\|\$\)/e$e\1/g" >t$e.csv
        nystream import s$e t$e.csv --dtype f64 -q
        for metric in euclidean cosine; do
            [ $e$metric != -60cosine ] || continue
            ny -7 graph s$e g --metric $metric
            [[ $stderr == *"divide the data by that number"* || $stderr == *"3.4e+38"* ]]
            ny list s$e
            [ -z "$output" ]
        done
        ny -0 graph s$e unit --scale unit --neighbors 4 -q
    done
    ny -0 graph s-60 g --metric cosine -q
    printf '1e-200,1\n1e-200,1\n1e-200,1\n' >equal.csv # equal rows are not too near
    nystream import equal equal.csv --dtype f64 -q
    ny -0 graph equal g --neighbors 2 -q
}

@test "values whose distances are beyond 32 bits are told as such, and leave no graph" {
    table 600 3 | sed 's/\(,\|$\)/e50\1/g' >huge.csv
    nystream import s huge.csv --dtype f64 -q
    for knn in exact tree sieve; do
        ny -7 graph s g --knn $knn --neighbors 4
        says "are farther apart than 3.4e+38, the most that a graph can hold; rescale the data (--scale unit)"
        ny list s
        [[ $output != *g* ]]
        ny -0 graph s g --knn $knn --neighbors 4 --scale unit -q
        nystream rm s g
    done
}

# Five clusters, in which f32 has nothing to say.
# bats test_tags=slow
@test "rows that are compared with all others are counted, through interrupts" {
    local options="--knn exact --neighbors 4 --threads 1 -q" run whole
    awk 'BEGIN {
        for (x = i = 1; i <= 24000; i++) {
            x = x * 16807 % 2147483647
            printf "%d.%06d,%d\n", i % 5 * 1000000, x % 1000000, i % 5
        }
    }' >t.csv
    nystream import s t.csv --dtype f64 -q
    nystream graph s g $options
    whole=$(field "$(nystream info s g --json)" remeasured)
    [ "$whole" -gt 10000 ]
    nystream rm s g
    for ((run = 0; run < 40; run++)); do
        timeout -s INT 0.5 nystream graph s g $options && break
    done
    [ "$run" -gt 0 ]
    nystream graph s g $options # which may never have come far in half a second
    [ "$(field "$(nystream info s g --json)" remeasured)" = "$whole" ]
}

@test "--connect joins components by their closest pairs" {
    line
    ny -0 graph line.nys joined --neighbors 2 --connect -v
    says "1 edges of 94 to 94 join the 2 components"
    has "line.nys joined" components=1 edges=11 bridges=1
    ny -0 path line.nys joined --from 0 --to 7 --json
    [[ $output == *'"length": 1000.0'* ]]
    [ "$(shown "line.nys joined --part rows" | wc -l)" = 8 ]
    ny -0 graph line.nys limited --neighbors 2 --max-distance 10 --connect -v
    says "2 edges of 94 to 897 join the 3 components" "bridges               2 edges"
    ny -0 graph line.nys whole --neighbors 7 --connect --json
    fields bridges=0 bridge_longest=null
    usage "connect: " graph line.nys joined --neighbors 2
}

# bats test_tags=slow
@test "killed while it connects, it goes on to the same graph; any threads and budget" {
    table 3000 3 >t.csv
    nystream import t.nys t.csv -q
    local options="--neighbors 4 --max-distance 0.02 --connect" i least
    nystream graph t.nys whole $options --threads 1 -q
    nystream fit t.nys a --map isomap --graph whole --landmarks 20 -q
    nystream export t.nys a -o a.npy
    for i in 1 2 3 4 5 6; do
        timeout -s "$([ $((i % 2)) = 0 ] && echo INT || echo KILL)" "0.$((i * 3 % 10))" \
            nystream graph t.nys g $options -q 2>/dev/null && break
    done
    ny -0 graph t.nys g $options -q
    nystream fit t.nys b --map isomap --graph g --landmarks 20 -q
    writes a.npy "t.nys b"
    too_little graph t.nys small $options --memory 24M --threads 3
    ny -0 graph t.nys small $options --memory "$least" --threads 3 -q
    nystream fit t.nys c --map isomap --graph small --landmarks 20 -q
    writes a.npy "t.nys c"
}

@test "--sweep says what other numbers of neighbours give" {
    line
    ny -0 graph line.nys s --neighbors 2 --sweep 1,2,4 --max-distance 10
    says "neighbors  limit      components" "1  none                2   50" "4  none                1   100"
    says "4  10                  3   50"
    [ "$(shown "line.nys s --part neighbors" | head -1)" = 1,2 ]
    # A map of it has the same table.
    table=$(nystream info line.nys s --json | sed -n '/"sweep": \[/,/]/p' | tr -d ' ')
    [[ $table == *'"components":3'* ]]
    ny -0 fit line.nys map --map isomap --graph s --landmarks 3 --components 1 --largest -q
    [ "$(nystream info line.nys map --json | sed -n '/"sweep": \[/,/]/p' | tr -d ' ')" = "$table" ]
}

@test "bytes, floats and sparse rows have the same neighbours" {
    npy_u8 3000 20 >rows.npy
    nystream import b rows.npy -q
    nystream import f rows.npy --dtype f32 -q
    nystream import s rows.npy --layout sparse -q
    for store in b f s; do ny -0 graph $store g --neighbors 6 -q; done
    for store in b s; do same_exports "f g --part neighbors" "$store g --part neighbors"; done
    too_little graph b g --neighbors 6 --memory 30M --restart
    ny -0 graph b g --neighbors 6 --memory "$least" --restart -q
    same_exports "f g --part neighbors" "b g --part neighbors"
    ny -0 graph b cosine --neighbors 3 --metric cosine --json -q
    [[ $output == *'"metric": "cosine"'* ]]
}

@test "what a graph cannot be made of" {
    line
    usage "--neighbors 8 needs more rows than 8" graph line.nys g --neighbors 8
    ny -2 graph line.nys g --sweep 1,x
    ny -2 graph line.nys g --distance-quantile 1.5
    ny -2 graph line.nys g --neighbors 0
    echo 5 >one.csv
    nystream import one.nys one.csv --header no -q
    ny -3 graph one.nys g
    ny -8 graph line.nys g --memory 24M
    ny graph line.nys g -q
    ny -2 graph line.nys g --neighbors 3
    ny -2 fit line.nys g
    ny -2 export line.nys g -o e.npy
}

# bats test_tags=slow
@test "killed at any moment it goes on to the same bytes" {
    npy_u8 30000 64 >b.npy
    nystream import b b.npy -q
    nystream graph b whole -q
    nystream export b whole --part neighbors -o whole.npy
    for i in 1 2 3 4 5 6; do
        timeout -s KILL "0.$((i * 7 % 10))" nystream graph b g -q 2>/dev/null && break
    done
    ny -0 graph b g -q
    writes whole.npy "b g --part neighbors"
}

@test "a path: rows, lengths, and none between components" {
    line
    nystream graph line.nys g --neighbors 2 -q
    ny -0 path line.nys g --from 0 --to 3
    [ "$output" = "$(printf '0\t0\n2\t3\n3\t6')" ]
    ny -0 path line.nys g --from 7 --to 4 --json
    [[ $output == *'"length": 900.0'* ]]
    ny -0 path line.nys g --from 5 --to 5
    [ "$output" = "$(printf '5\t0')" ]
    answers 3 "no path from row 0 to row 7" path line.nys g --from 0 --to 7
    ny -2 path line.nys g --from 0 --to 8
    ny -2 path line.nys g --from 0
    nystream fit line.nys f --landmarks 4 -q
    ny -2 path line.nys f --from 0 --to 1
}

# Edges between equal rows have no length, and a path must not go round among them.
@test "a path through equal rows" {
    printf '0,0\n0,0\n0,0\n0,0\n1,0\n1,0\n1,0\n' >t.csv
    nystream import s t.csv -q
    nystream graph s g --neighbors 4 -q
    ny -0 path s g --from 3 --to 6 --json
    [[ $output == *'"length": 1.0'* ]]
}

# All pairs are compared, which does not go at the rate of products, and rows without a value cost time, too.
@test "a graph is planned in seconds that are more than its products take" {
    store s 6000 3
    output=$(nystream plan s --map eigenmaps --neighbors 5 --knn exact --json)
    awk -v seconds="$(field "$output" neighbors)" -v flops="$(field "$output" flops)" \
        -v rate="$(field "$output" gemm32_flops)" 'BEGIN { exit !(seconds > 10 * flops / rate) }'
    printf '1 1:0 5:0\n%.0s' 1 2 3 4 >none.svm
    nystream import none.nys none.svm --layout sparse -q
    for knn in exact sieve; do
        output=$(nystream plan none.nys --map eigenmaps --neighbors 2 --components 1 --knn $knn --json)
        [[ $(field "$output" seconds) =~ ^[0-9] ]]
    done
}

# bats test_tags=slow
@test "candidates of wide rows are read in pieces, with the bytes of all of them at a time" {
    npy_u8 600 4000 >wide.npy
    nystream import wide.nys wide.npy --dtype f64 -q
    ny -0 graph wide.nys held --neighbors 30 --knn exact --memory 4G -q
    ny -0 plan wide.nys --map eigenmaps --neighbors 30 --knn exact --json
    least=$(field "$output" memory_min_bytes)
    [ "$least" -lt 400000000 ] # the candidates of 512 rows are 688 MB
    # Wrong candidates would be found out, and their rows compared with all: right, and slow.
    ny -0 graph wide.nys read --neighbors 30 --knn exact --memory "$least" --json
    [[ $(field "$output" remeasured) -eq 0 ]]
    for part in neighbors distances; do
        cmp <(nystream export wide.nys held --part $part -o - -q) <(nystream export wide.nys read --part $part -o - -q)
    done
}

@test "a tree finds the bytes of all pairs with any threads and budget" {
    local least options="--neighbors 7"
    npy_u8 12000 3 >rows.npy
    nystream import b rows.npy -q
    nystream graph b pairs $options --knn exact -q
    ny -0 graph b auto $options --json -q
    [ "$(field "$output" remeasured)" = 0 ]
    [[ $output == *$'\n''  "knn": "tree"'* ]]
    same_lists pairs auto b
    shows "search                tree" info b auto
    for threads in 1 3; do
        nystream graph b threads $options --knn tree --threads $threads --restart -q
        same_lists pairs threads b
    done
    too_little graph b small $options --knn tree --memory 20M
    ny -8 graph b small $options --knn tree --memory "$((least - 1))"
    ny -0 graph b small $options --knn tree --memory "$least" --json -q
    [[ $output == *$'\n''  "knn": "tree"'* ]]
    same_lists pairs small b
}

# bats test_tags=slow
@test "auto takes all pairs where a tree would be more work, or more memory" {
    npy_u8 6000 30 >rows.npy
    nystream import b rows.npy -q
    ny -0 graph b auto --json -q
    [[ $output == *$'\n''  "knn": "exact"'* ]]
    nystream graph b pairs --knn exact -q
    nystream graph b tree --knn tree -q
    same_lists pairs auto b
    same_lists pairs tree b
    ny -0 graph b cosine --metric cosine --json -q
    [[ $output == *$'\n''  "knn": "exact"'* ]]
    # A tree that is far less work may be all that the budget holds, or too much for it.
    npy_u8 30000 2 >more.npy
    nystream import more more.npy -q
    ny -8 graph more g --memory 20M
    ny -0 graph more g --memory "$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")" --json
    [[ $output == *$'\n''  "knn": "tree"'* ]]
    for budget in 60M 90M; do
        shows "neighbors" plan --shape 3e5,3,u8 --map isomap --memory $budget
        [ $budget = 90M ] || says "no room for a tree, which would take a fraction of the time: give --memory"
    done
    [[ $stderr != *"no room for a tree"* ]]
    ny -0 graph more h --json -q
    [[ $output == *$'\n''  "knn": "tree"'* ]]
}

@test "auto, exact and tree are the same job, and a sieve is another" {
    store s 300 3
    nystream graph s g -q
    for knn in exact tree auto; do
        answers 0 "is done" graph s g --knn $knn
    done
    usage "knn: exact → sieve" graph s g --knn sieve
}

@test "what a tree is not made of" {
    store s 300 3
    usage "--knn tree does not act with --metric cosine" graph s g --knn tree --metric cosine
    printf '1 1:2 5:3\n%.0s' 1 2 3 4 >few.svm
    nystream import few.nys few.svm --layout sparse -q
    usage "--knn tree does not act with sparse rows" graph few.nys g --neighbors 2 --knn tree
    ny -2 graph s g --knn kd-tree
}

@test "edges of the largest component are counted by themselves" {
    printf '%s\n' x 0 1 2 100 101 102 103 >two.csv
    nystream import two.nys two.csv -q
    ny -0 graph two.nys g --neighbors 2 --json -q
    fields components=2 edges=8 largest=4 largest_edges=5
}
