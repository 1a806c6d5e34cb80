# The verb graph: nearest neighbours of all rows, components, and what it says of both.
load helper

# Two clusters on a line, 0 1 3 6 and 100 101 103, and one row far away.
line() {
    printf 'x\n0\n1\n3\n6\n100\n101\n103\n1000\n' >line.csv
    nystream import line.nys line.csv -q
}

@test "neighbours, distances and components of a line" {
    line
    ny graph line.nys g --neighbors 2 --json -q
    exits 0
    [[ $output == *'"status": "done"'* && $output == *'"kind": "graph"'* ]]
    [[ $output == *'  "neighbors": 2,'* ]]
    [ "$(field "$output" edges)" = 10 ]
    [ "$(field "$output" components)" = 2 ]
    [ "$(field "$output" largest)" = 4 ]
    nystream export line.nys g --part neighbors -o n.csv
    printf '1,2\n0,2\n1,0\n2,1\n5,6\n4,6\n5,4\n6,5\n' | cmp - n.csv
    nystream export line.nys g --part distances -o d.csv
    printf '1,3\n1,2\n2,3\n3,5\n1,3\n1,2\n2,3\n897,899\n' | cmp - d.csv
    nystream export line.nys g --part components -o c.csv
    printf '0\n0\n0\n0\n1\n1\n1\n1\n' | cmp - c.csv
    nystream export line.nys g --part rows -o r.csv
    printf '0\n1\n2\n3\n' | cmp - r.csv
    ny info line.nys g
    exits 0
}

@test "a limit leaves edges out, by length or by quantile; mutual ones need both" {
    line
    ny graph line.nys far --neighbors 2 --max-distance 10 --json -q
    exits 0
    [ "$(field "$output" isolated)" = 1 ]
    [ "$(field "$output" components)" = 3 ]
    nystream export line.nys far --part neighbors -o n.csv
    [ "$(tail -1 n.csv)" = 18446744073709551615,18446744073709551615 ]
    nystream export line.nys far --part distances -o d.npy
    ny graph line.nys as-far --neighbors 2 --max-distance 3 --json -q # what is as far stays
    exits 0
    [ "$(field "$output" edges)" = 7 ]
    awk 'BEGIN { for (i = 0; i < 12; i++) printf "%.1f,%.1f\n", i % 4 / 10, int(i / 4) / 10 }' >grid.csv
    nystream import grid.nys grid.csv --dtype f64 -q
    ny graph grid.nys g --neighbors 4 --max-distance 0.1 --sweep 3 --json -q
    exits 0
    [ "$(field "$output" edges)" = 17 ]
    [[ $output == *'"distance_limit": 0.10000000000000001,'* && $output != *0.100000001* ]]
    ny path grid.nys g --from 0 --to 11 --json
    exits 0
    [[ $output == *'"length": 0.5,'* ]]
    nystream export grid.nys g --part graph -o g.mtx
    [ "$(grep -c '^[0-9]* [0-9]* 0.1' g.mtx)" = 17 ]
    # of the 16 distances 1 1 1 1 2 2 2 2 3 3 3 3 3 5 897 899 the 80 % one is at place 12
    ny graph line.nys q --neighbors 2 --distance-quantile 0.8 --json -q
    exits 0
    [ "$(field "$output" distance_limit)" = 3.0 ]
    # both limits hold, and the lesser is told
    ny graph line.nys both --neighbors 2 --distance-quantile 0.8 --max-distance 2 --sweep 1 --json -q
    exits 0
    [ "$(field "$output" edges)" = 4 ]
    [ "$(grep -c '"distance_limit": 2.0' <<<"$output")" = 2 ]
    nystream export line.nys both --part distances -o both.csv
    awk -F, '{ for (i = 1; i <= NF; i++) if ($i != "inf" && $i > 2) exit 1 }' both.csv
    ny graph line.nys as-q --neighbors 2 --distance-quantile 0.8 --max-distance 900 --json -q
    exits 0
    [ "$(field "$output" distance_limit)" = 3.0 ]
    ny graph line.nys m --neighbors 2 --mutual --json -q
    exits 0
    [ "$(field "$output" edges)" = 6 ]
    ny graph line.nys none --neighbors 2 --max-distance 0.5
    exits 3
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
        run timeout -s INT 1 nystream graph s g $options -q
        [ "$status" = 124 ]
    done
}

# 30,000 rows fit the budget, and the 430,000 that are there later do not.
# bats test_tags=slow
@test "a graph that is gone on with is planned for its own rows, whatever was appended" {
    local options="--knn exact --neighbors 30 --threads 1 --memory 64M" rows
    for rows in 30000 400000; do "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n $rows -o $rows.npy; done
    nystream import s 30000.npy -q
    run timeout -s INT 1 nystream graph s g $options -q
    [ "$status" = 124 ]
    run timeout -s INT 1 nystream fit s e --map isomap --landmarks 50 $options -q
    [ "$status" = 124 ]
    nystream import s 400000.npy --append -q
    ny graph s other $options
    exits 8
    ny graph s g $options -q
    exits 0
    ny info s g --json
    [ "$(field "$output" n)" = 30000 ]
    ny fit s e --map isomap --landmarks 50 $options -q
    exits 0
}

@test "values that are too small or too large for any graph are told as such" {
    local e metric
    for e in -200 -160 -60 200; do
        table 300 3 | sed "s/\(,\|\$\)/e$e\1/g" >t$e.csv
        nystream import s$e t$e.csv --dtype f64 -q
        for metric in euclidean cosine; do
            [ $e$metric != -60cosine ] || continue
            ny graph s$e g --metric $metric
            exits 7
            [[ $stderr == *"divide the data by that number"* || $stderr == *"3.4e+38"* ]]
            ny list s$e
            [ -z "$output" ]
        done
        ny graph s$e unit --scale unit --neighbors 4 -q
        exits 0
    done
    ny graph s-60 g --metric cosine -q
    exits 0
    printf '1e-200,1\n1e-200,1\n1e-200,1\n' >equal.csv # equal rows are not too near
    nystream import equal equal.csv --dtype f64 -q
    ny graph equal g --neighbors 2 -q
    exits 0
}

@test "values whose distances are beyond 32 bits are told as such, and leave no graph" {
    local knn
    table 600 3 | sed 's/\(,\|$\)/e50\1/g' >huge.csv
    nystream import s huge.csv --dtype f64 -q
    for knn in exact tree forest sieve; do
        ny graph s g --knn $knn --neighbors 4
        exits 7
        says "are farther apart than 3.4e+38, the most that a graph can hold; rescale the data (--scale unit)"
        ny list s
        [[ $output != *g* ]]
        ny graph s g --knn $knn --neighbors 4 --scale unit -q
        exits 0
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
    ny graph line.nys joined --neighbors 2 --connect -v
    exits 0
    says "1 edges of 94 to 94 join the 2 components"
    ny info line.nys joined --json
    [ "$(field "$output" components)" = 1 ]
    [ "$(field "$output" edges)" = 11 ]
    [ "$(field "$output" bridges)" = 1 ]
    ny path line.nys joined --from 0 --to 7 --json
    exits 0
    [[ $output == *'"length": 1000.0'* ]]
    nystream export line.nys joined --part rows -o r.csv
    [ "$(wc -l <r.csv)" = 8 ]
    ny graph line.nys limited --neighbors 2 --max-distance 10 --connect -v
    exits 0
    says "2 edges of 94 to 897 join the 3 components"
    says "bridges               2 edges"
    ny graph line.nys whole --neighbors 7 --connect --json
    exits 0
    [ "$(field "$output" bridges)" = 0 ]
    [ "$(field "$output" bridge_longest)" = null ]
    ny graph line.nys joined --neighbors 2
    usage "connect: "
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
    ny graph t.nys g $options -q
    exits 0
    nystream fit t.nys b --map isomap --graph g --landmarks 20 -q
    nystream export t.nys b -o b.npy
    cmp a.npy b.npy
    ny graph t.nys small $options --memory 24M --threads 3
    exits 8
    least=$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")
    ny graph t.nys small $options --memory "$least" --threads 3 -q
    exits 0
    nystream fit t.nys c --map isomap --graph small --landmarks 20 -q
    nystream export t.nys c -o c.npy
    cmp a.npy c.npy
}

@test "--sweep says what other numbers of neighbours give" {
    line
    ny graph line.nys s --neighbors 2 --sweep 1,2,4 --max-distance 10
    exits 0
    says "neighbors  limit      components"
    says "1  none                2   50"
    says "4  none                1   100"
    says "4  10                  3   50"
    nystream export line.nys s --part neighbors -o n.csv
    [ "$(head -1 n.csv)" = 1,2 ]
}

@test "bytes, floats and sparse rows have the same neighbours" {
    npy_u8 3000 20 >rows.npy
    nystream import b rows.npy -q
    nystream import f rows.npy --dtype f32 -q
    nystream import s rows.npy --layout sparse -q
    local store least
    for store in b f s; do
        ny graph $store g --neighbors 6 -q
        exits 0
        nystream export $store g --part neighbors -o $store.npy
    done
    cmp b.npy f.npy
    cmp f.npy s.npy
    ny graph b g --neighbors 6 --memory 30M --restart
    exits 8
    least=$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")
    ny graph b g --neighbors 6 --memory "$least" --restart -q
    exits 0
    nystream export b g --part neighbors -o small.npy
    cmp f.npy small.npy
    ny graph b cosine --neighbors 3 --metric cosine --json -q
    exits 0
    [[ $output == *'"metric": "cosine"'* ]]
}

@test "equal rows are neighbours at distance 0, by row number" {
    for ((i = 0; i < 50; i++)); do echo 7,7; done >t.csv
    nystream import s t.csv -q
    ny graph s g --neighbors 3 --json -q
    exits 0
    nystream export s g --part neighbors -o n.csv
    [ "$(head -1 n.csv)" = 1,2,3 ]
    [ "$(tail -1 n.csv)" = 0,1,2 ]
    nystream export s g --part distances -o d.csv
    [ "$(sort -u d.csv)" = 0,0,0 ]
}

@test "what a graph cannot be made of" {
    line
    ny graph line.nys g --neighbors 8
    exits 2
    says "8 neighbours are more than the other 7 rows"
    printf '1,2\n3,4\n' >two.csv
    nystream import two.nys two.csv -q
    ny graph two.nys g
    says "5 neighbours are more than the other row; give a smaller --neighbors"
    ny graph line.nys g --sweep 1,x
    exits 2
    says "a list of numbers"
    ny graph line.nys g --distance-quantile 1.5
    exits 2
    ny graph line.nys g --neighbors 0
    exits 2
    echo 5 >one.csv
    nystream import one.nys one.csv --header no -q
    ny graph one.nys g
    exits 3
    ny graph line.nys g --memory 24M
    exits 8
    says "give --memory"
    ny graph line.nys g -q
    ny graph line.nys g --neighbors 3
    exits 2
    says "--restart"
    ny fit line.nys g
    exits 2
    says "is a graph"
    ny export line.nys g -o e.npy
    exits 2
    says "has no embedding"
}

# bats test_tags=slow
@test "killed at any moment it goes on to the same bytes" {
    npy_u8 30000 64 >b.npy
    nystream import b b.npy -q
    nystream graph b whole -q
    nystream export b whole --part neighbors -o whole.npy
    local i
    for i in 1 2 3 4 5 6; do
        timeout -s KILL "0.$((i * 7 % 10))" nystream graph b g -q 2>/dev/null && break
    done
    ny graph b g -q
    exits 0
    nystream export b g --part neighbors -o g.npy
    cmp whole.npy g.npy
}

@test "a path: rows, lengths, and none between components" {
    line
    nystream graph line.nys g --neighbors 2 -q
    ny path line.nys g --from 0 --to 3
    exits 0
    [ "$output" = "$(printf '0\t0\n2\t3\n3\t6')" ]
    ny path line.nys g --from 7 --to 4 --json
    exits 0
    [[ $output == *'"length": 900.0'* ]]
    ny path line.nys g --from 5 --to 5
    exits 0
    [ "$output" = "$(printf '5\t0')" ]
    ny path line.nys g --from 0 --to 7
    exits 3
    says "no path from row 0 to row 7"
    ny path line.nys g --from 0 --to 8
    exits 2
    says "no row 8"
    ny path line.nys g --from 0
    exits 2
    nystream fit line.nys f --landmarks 4 -q
    ny path line.nys f --from 0 --to 1
    exits 2
    says "is not a graph"
}

# Edges between equal rows have no length, and a path must not go round among them.
@test "a path through equal rows" {
    printf '0,0\n0,0\n0,0\n0,0\n1,0\n1,0\n1,0\n' >t.csv
    nystream import s t.csv -q
    nystream graph s g --neighbors 4 -q
    ny path s g --from 3 --to 6 --json
    exits 0
    [[ $output == *'"length": 1.0'* ]]
}

# share EXACT FOREST: prints the share of the forest's neighbours no farther than the last true one.
share() {
    paste -d, "$1" "$2" | awk -F, '{
        t = NF / 2
        for (k = 1; k <= t; k++) found += $(t + k) <= $t * (1 + 1e-6)
    } END { printf "%.6f\n", found / (NR * t) }'
}

@test "a forest finds the share that it is asked for, and says what it found" {
    store s 6000 6
    nystream graph s e --neighbors 6 -q
    nystream export s e --part distances -o e.csv
    for wanted in 0.8 0.99; do
        ny graph s f --neighbors 6 --knn forest --recall $wanted --leaf 64 --json -q --restart
        exits 0
        [[ $output == *$'\n''  "knn": "forest"'* ]]
        has_keys "$output" recall recall_interval trees rounds distances_per_point
        nystream export s f --part distances -o f.csv
        awk -v wanted=$wanted -v told="$(field "$output" recall)" -v found="$(share e.csv f.csv)" \
            -v distances="$(field "$output" distances_per_point)" 'BEGIN {
                exit !(found >= wanted && found - told < 0.02 && told - found < 0.02 &&
                       distances < 6000)
            }'
    done
    ny info s f
    exits 0
    prints "search                forest"
    ny graph s g --neighbors 6 --knn forest --leaf 64 --sweep 2,4 --mutual
    exits 0
    says "recall"
    says "distances per point"
    says "neighbors  limit      components"
    ny path s f --from 0 --to 5999
    exits 0
}

# bats test_tags=slow
@test "a forest that misses its recall says so, and what to do finds all" {
    awk 'BEGIN {
        for (i = x = 5; i < 3000; i++) {
            printf "0"
            for (j = 1; j <= 300; j++) {
                x = (x * 16807) % 2147483647
                if (x % 10 == 0) printf " %d:%d", j, x % 97 + 50
            }
            print ""
        }
    }' >noise.svm
    nystream import s noise.svm --dims 300 --layout sparse -q
    ny graph s f --neighbors 6 --knn forest --recall 0.99 --leaf 32
    exits 0
    says "64 trees find 0."
    says ", not 0.99; make the graph again with --knn exact --restart, which finds all, or with a larger --leaf"
    ny graph s f --neighbors 6 --knn exact --restart
    exits 0
    [[ $stderr != *"trees find"* ]]
    ny graph s g --neighbors 6 --knn forest --recall 0.5 --leaf 256
    exits 0
    [[ $stderr != *"trees find"* ]]
}

# A forest gathers its rows one by one, and all pairs are compared: neither goes at the rate of
# products, and rows without a value cost time, too.
@test "a graph is planned in seconds that are more than its products take" {
    local knn output
    store s 6000 3
    for knn in exact "forest --leaf 64"; do
        output=$(nystream plan s --map eigenmaps --neighbors 5 --knn $knn --json)
        awk -v seconds="$(field "$output" neighbors)" -v flops="$(field "$output" flops)" \
            -v rate="$(field "$output" gemm32_flops)" 'BEGIN { exit !(seconds > 10 * flops / rate) }'
    done
    printf '1 1:0 5:0\n%.0s' 1 2 3 4 >none.svm
    nystream import none.nys none.svm --layout sparse -q
    for knn in exact forest; do
        output=$(nystream plan none.nys --map eigenmaps --neighbors 2 --components 1 --knn $knn --json)
        [[ $(field "$output" seconds) =~ ^[0-9] ]]
    done
}

# bats test_tags=slow
@test "a forest has the same bytes for any threads and any budget, and another seed has others" {
    npy_u8 12000 7 >rows.npy
    nystream import b rows.npy -q
    nystream import p rows.npy --layout sparse -q
    local least options="--knn forest --leaf 64 --neighbors 4"
    ny graph b a $options --threads 1 -q
    exits 0
    nystream export b a --part neighbors -o a.npy
    nystream export b a --part distances -o ad.npy
    ny graph b two $options --threads 2 --json -q
    exits 0
    nystream export b two --part neighbors -o two.npy
    cmp a.npy two.npy
    ny graph b small $options --memory 24M
    exits 8
    least=$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")
    ny graph b small $options --memory "$least" --threads 2
    exits 0
    nystream export b small --part neighbors -o small.npy
    nystream export b small --part distances -o smalld.npy
    cmp a.npy small.npy
    cmp ad.npy smalld.npy
    ny graph b other $options --seed 1 -q
    exits 0
    nystream export b other --part neighbors -o other.npy
    run cmp -s a.npy other.npy
    [ "$status" -eq 1 ]
    ny graph p f $options --json -q
    exits 0
}

# lists NAME: writes the neighbours and distances of a graph of store b to files of its name.
lists() {
    nystream export b "$1" --part neighbors -o "$1.npy" -q
    nystream export b "$1" --part distances -o "$1.d.npy" -q
}

# same_lists A B: fails where the two graphs differ in a byte.
same_lists() {
    cmp "$1.npy" "$2.npy" && cmp "$1.d.npy" "$2.d.npy"
}

@test "a tree finds the bytes of all pairs with any threads and budget" {
    local least options="--neighbors 7"
    npy_u8 12000 3 >rows.npy
    nystream import b rows.npy -q
    nystream graph b pairs $options --knn exact -q
    lists pairs
    ny graph b auto $options --json -q
    exits 0
    [ "$(field "$output" remeasured)" = 0 ]
    [[ $output == *$'\n''  "knn": "tree"'* ]]
    lists auto
    same_lists pairs auto
    ny info b auto
    prints "search                tree"
    for threads in 1 3; do
        nystream graph b threads $options --knn tree --threads $threads --restart -q
        lists threads
        same_lists pairs threads
    done
    ny graph b small $options --knn tree --memory 20M
    exits 8
    says "give --memory"
    least=$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")
    ny graph b small $options --knn tree --memory "$((least - 1))"
    exits 8
    ny graph b small $options --knn tree --memory "$least" --json -q
    exits 0
    [[ $output == *$'\n''  "knn": "tree"'* ]]
    lists small
    same_lists pairs small
}

@test "auto takes all pairs where a tree would be more work, or more memory" {
    npy_u8 6000 30 >rows.npy
    nystream import b rows.npy -q
    ny graph b auto --json -q
    exits 0
    [[ $output == *$'\n''  "knn": "exact"'* ]]
    nystream graph b pairs --knn exact -q
    nystream graph b tree --knn tree -q
    lists auto
    lists pairs
    lists tree
    same_lists pairs auto
    same_lists pairs tree
    ny graph b cosine --metric cosine --json -q
    exits 0
    [[ $output == *$'\n''  "knn": "exact"'* ]]
    # A tree that is far less work may be all that the budget holds, or too much for it.
    npy_u8 30000 2 >more.npy
    nystream import more more.npy -q
    ny graph more g --memory 20M
    exits 8
    ny graph more g --memory "$(sed -nE 's/.*needs ([0-9]+) bytes.*/\1/p' <<<"$stderr")" --json
    exits 0
    [[ $output == *$'\n''  "knn": "tree"'* ]]
    for budget in 60M 90M; do
        ny plan --shape 3e5,3,u8 --map isomap --memory $budget
        exits 0
        prints "neighbors"
        [ $budget = 90M ] || says "no room for a tree, which would take a fraction of the time: give --memory"
    done
    [[ $stderr != *"no room for a tree"* ]]
    ny graph more h --json -q
    exits 0
    [[ $output == *$'\n''  "knn": "tree"'* ]]
}

@test "auto, exact and tree are the same job, and a forest is another" {
    store s 300 3
    nystream graph s g -q
    for knn in exact tree auto; do
        ny graph s g --knn $knn
        exits 0
        says "is done"
    done
    ny graph s g --knn forest
    usage "knn: exact → forest"
}

@test "what a tree is not made of" {
    store s 300 3
    ny graph s g --knn tree --metric cosine
    usage "--knn tree is for --metric euclidean; give --knn exact or forest"
    printf '1 1:2 5:3\n%.0s' 1 2 3 4 >few.svm
    nystream import few.nys few.svm --layout sparse -q
    ny graph few.nys g --neighbors 2 --knn tree
    usage "--knn tree is for dense rows"
    ny fit s f --map isomap --knn tree --metric cosine
    usage "--knn tree is for --metric euclidean"
    ny graph s g --knn tree --leaf 64
    usage "--leaf acts only with --knn forest, and here it is tree"
    ny graph s g --knn kd-tree
    usage "it is called 'tree' here"
}

@test "edges of the largest component are counted by themselves" {
    printf '%s\n' x 0 1 2 100 101 102 103 >two.csv
    nystream import two.nys two.csv -q
    ny graph two.nys g --neighbors 2 --json -q
    exits 0
    [ "$(field "$output" components)" = 2 ]
    [ "$(field "$output" edges)" = 8 ]
    [ "$(field "$output" largest)" = 4 ]
    [ "$(field "$output" largest_edges)" = 5 ]
}

# bats test_tags=slow
@test "a forest of few or equal rows is exact" {
    line
    for t in 2 7; do
        nystream graph line.nys e$t --neighbors $t -q
        ny graph line.nys f$t --neighbors $t --knn forest --json -q
        exits 0
        [ "$(field "$output" recall)" = 1.0 ]
        nystream export line.nys e$t --part neighbors -o e.csv
        nystream export line.nys f$t --part neighbors -o f.csv
        cmp e.csv f.csv
    done
    for ((i = 0; i < 3000; i++)); do echo 7,7; done >t.csv
    nystream import s t.csv -q
    ny graph s g --neighbors 3 --knn forest --leaf 32 --json -q
    exits 0
    [ "$(field "$output" recall)" = 1.0 ]
    nystream export s g --part distances -o d.csv
    [ "$(sort -u d.csv)" = 0,0,0 ]
}

# One tree finds nearly all of them in a plane, but no edge leads out of its buckets.
@test "a forest's graph hangs together where the exact one does" {
    store s 12000 2
    ny graph s e --neighbors 8 --json -q
    exits 0
    [ "$(field "$output" components)" = 1 ]
    ny graph s f --neighbors 8 --knn forest --recall 0.5 --leaf 32 --json -q
    exits 0
    [ "$(field "$output" components)" = 1 ]
}

@test "what a forest is not made of" {
    store s 300 3
    ny graph s g --knn exact --recall 0.9
    usage "--recall acts only with --knn auto|forest|sieve, and here it is exact"
    ny graph s g --leaf 100
    usage "--leaf acts only with --knn forest"
    ny graph s g --seed 1
    usage "--seed acts only with --knn forest"
    ny graph s g --knn forest --recall 1.5
    usage "--recall is a share"
    ny graph s g --knn forest --leaf 10
    usage "--leaf is from 32 to 2048 rows"
    ny graph s g --knn forest --leaf 64 --neighbors 40
    usage "give --leaf 82 or more"
    ny graph s g --knn forest --neighbors 300
    usage "300 neighbours are more than the other 299 rows"
    ny graph s g --knn near
    usage "--knn is one of auto|exact|forest|tree|sieve"
    nystream graph s g -q
    ny graph s g --knn forest
    usage "knn: exact"
}
