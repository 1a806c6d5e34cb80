# Graphs from elsewhere: graph --edges, what can be done with them, and --part graph.
load helper

# grid: prints the edges of a grid of 20 x 30 nodes, each in one direction, with lengths about 1.
grid() {
    awk 'BEGIN {
        for (i = 0; i < 20; i++) for (j = 0; j < 30; j++) {
            v = i * 30 + j
            if (j < 29) print v, v + 1, 1 + (v * 37 % 101) / 1000
            if (i < 19) print v, v + 30, 1 + (v * 53 % 97) / 1000
        }
    }'
}

# mtx FIELD SYMMETRY: turns lines of edges of the grid into MatrixMarket, with the greater node first.
mtx() {
    awk -v field="$1" -v symmetry="$2" '
        { line[NR] = ($2 + 1) " " ($1 + 1) (field == "pattern" ? "" : " " $3) }
        END {
            print "%%MatrixMarket matrix coordinate", field, symmetry "\n% a comment\n600 600", NR
            for (k = 1; k <= NR; k++) print line[k]
        }'
}

# refused LINE TEXT…: a file of these lines is refused by this line of it, and leaves no store.
refused() {
    printf '%s\n' "${@:2}" >wrong.txt
    ny -3 graph wrong.nys g --edges wrong.txt --json
    [ "$(field "$stderr" file) $(field "$stderr" line)" = "wrong.txt $1" ] && [ ! -e wrong.nys ] && return
    echo "${*:2}: $stderr" >&2
    return 1
}

@test "all formats are the same graph" {
    grid >a.txt
    nystream graph g.nys a --edges a.txt -q
    tac a.txt | awk -v OFS=, '{ print $2, $1, $3 }' >b.csv
    { printf '# source target\n%% weight\n\n'; sed 's/ /\t/g; s/$/ \r/' a.txt; } >c.tsv
    gzip -c a.txt >d.edges.gz
    awk '{ print; print $2, $1, $3 }' a.txt >e.txt
    mtx real symmetric <a.txt >f.mtx
    mtx real general <a.txt | gzip >h.mtx.gz
    nystream export g.nys a --part graph -o i.npz -q
    nystream export g.nys a --part graph -o j.mtx -q
    nystream export g.nys a --part graph -o k.csv -q
    nystream export g.nys a --part graph -o l.tsv -q
    for file in b.csv c.tsv d.edges.gz e.txt f.mtx h.mtx.gz i.npz j.mtx k.csv l.tsv; do
        ny -0 graph g.nys "$file" --edges "$file" -q
        same_exports "g.nys a --part graph" "g.nys $file --part graph" txt
        has "g.nys $file" edges=1150 repeats=0
    done
    ny -0 verify g.nys
    # Lengths are 1 in a file that has none.
    cut -d' ' -f1,2 a.txt >plain.txt
    mtx pattern symmetric <a.txt >plain.mtx
    nystream graph g.nys p --edges plain.txt -q
    nystream graph g.nys q --edges plain.mtx -q
    same_exports "g.nys p --part graph" "g.nys q --part graph" txt
    ny path g.nys q --from 0 --to 599 --json
    [[ $output == *'"length": 48.0'* ]]
}

@test "loops are left out, repeats count once, one direction means both; all are told" {
    printf '0 1 3\n1 0 2\n0 1 1.5\n2 2 7\n1 2 0\n3 1 4\n' >a.txt
    answers 0 "edges left out: 1 from a node to itself" graph g.nys l --edges a.txt --nodes 6
    says "edges that are repeated: 1; the shortest counts"
    says "the graph has 3 components; the largest holds 66.67 % of the nodes"
    ny info g.nys l --json
    fields entries=6 self_loops=1 repeats=1 edges=3 isolated=2 components=3 largest=4 n=6 edge_values=lengths
    nystream export g.nys l --part graph -o - | cmp - <(printf '0 1 1.5\n1 2 0\n1 3 4\n')
    # affinities of one direction add up, the mean of both counts, and 0 is no edge
    answers 0 "1 of affinity 0" graph g.nys a --edges a.txt --edge-weights affinity
    says "edges that are repeated: 1; their affinities are added"
    has "g.nys a" zero_affinities=1
    nystream export g.nys a --part graph -o - | cmp - <(printf '0 1 3.25\n1 3 4\n')
}

@test "paths, components and maps of a graph without points" {
    grid >a.txt
    answers 0 "1,150" graph g.nys g --edges a.txt
    shows "$(printf '1\t1')" path g.nys g --from 0 --to 2
    ny -0 fit g.nys iso --map isomap --graph g --landmarks 60 --json
    [ "$(field "$output" embedded)" = 600 ]
    # It has no neighbours that were looked for, as which no others are told.
    fields neighbors=0 neighbors_stored=0 knn=auto metric=euclidean entries=1150
    ny -0 fit g.nys eig --map eigenmaps --graph g
    ny -0 fit g.nys dif --map diffusion --graph g --time 2
    [ "$(shown "g.nys iso" | wc -l)" = 600 ]
    ny -2 export g.nys iso --part graph -o o.npz
    ny -2 export g.nys g --part neighbors -o o.npy
    for part in points raw-points source landmark-points labels; do
        ny -2 export g.nys iso --part $part -o o.npy
    done
    ny -0 info g.nys
    shows "the edges of its graph came from a file" eval g.nys iso
    ny -0 plot g.nys iso -o p.svg
    ny -0 report g.nys iso g -o r.html --path 0,599
    ny -0 verify g.nys
    ny -0 compact g.nys
    ny -0 repair g.nys
    ny -0 graph g.nys g --edges a.txt
}

@test "a path beyond 32 bits is told as such" {
    printf '0 1 3e38\n1 2 3e38\n' >far.txt
    nystream graph far.nys g --edges far.txt -q
    ny -0 path far.nys g --from 0 --to 1
    ny -7 path far.nys g --from 0 --to 2
    ny -7 fit far.nys all --map isomap --graph g --approx exact --components 1
    says "paths between rows of 'all' are longer than 3.4e+38"
    printf '0\n1\n' >near.csv
    ny -7 fit far.nys two --map isomap --graph g --landmarks-file near.csv --components 1
    says "paths between rows of 'two' are longer than 3.4e+38"
    ny list far.nys
    [[ $output != *two* ]]
}

@test "what needs points says so, and what to do" {
    grid >a.txt
    nystream graph g.nys g --edges a.txt -q
    nystream fit g.nys iso --map isomap --graph g --landmarks 60 -q
    for args in "fit g.nys k" "fit g.nys k --map isomap" "select g.nys k" "plan g.nys"; do
        ny -2 $args
    done
    ny -2 graph g.nys k
    ny -2 export g.nys --part points -o p.npy
    printf '1,2\n3,4\n' >p.csv
    ny -2 import g.nys p.csv
    usage "the edges of graph 'g' came from a file, so new rows have no neighbours in it" transform g.nys iso --input p.csv -o o.npy
    usage "the edges of graph 'g' came from a file" transform g.nys g --input p.csv -o o.npy
    usage "none" fit g.nys k --map isomap --graph none
}

@test "affinities are for eigenmaps and diffusion, as they are" {
    grid >a.txt
    nystream graph g.nys a --edges a.txt --edge-weights affinity -q
    ny -0 fit g.nys e --map eigenmaps --graph a --json
    [[ $output == *'"edge_weights": "affinity"'* && $output == *'"gamma": null'* ]]
    ny -0 fit g.nys d --map diffusion --graph a
    # heat of length -> the affinity that it gives, with gamma 1
    awk '{ printf "%d %d %.17g\n", $1, $2, exp(-$3 * $3) }' a.txt >heat.txt
    nystream graph g.nys lengths --edges a.txt -q
    nystream graph g.nys heat --edges heat.txt --edge-weights affinity -q
    nystream fit g.nys of-lengths --map eigenmaps --graph lengths --gamma 1 --json -q >one
    nystream fit g.nys of-heat --map eigenmaps --graph heat --json -q >two
    values() { sed -n '/"eigenvalues": \[/,/\]/p' "$1" | grep -oE '[0-9][-0-9.e]*'; }
    [ -n "$(values one)" ]
    paste <(values one) <(values two) |
        awk '/nan/ { exit 1 } { d = $1 - $2; if (d * d > 1e-10) exit 1 }'
    usage "the weights of graph 'a' are affinities, but isomap needs lengths" fit g.nys k --map isomap --graph a
    usage "the weights of graph 'a' are affinities, but a path needs lengths" path g.nys a --from 0 --to 1
    usage "eigenmaps takes as they are" fit g.nys k --map eigenmaps --graph a --gamma 1
    usage "eigenmaps takes as they are" fit g.nys k --map eigenmaps --graph a --edge-weights heat
    ny -0 fit g.nys binary --map eigenmaps --graph a --edge-weights binary
    nystream fit g.nys binary-of-lengths --map eigenmaps --graph lengths --edge-weights binary -q
    same_exports "g.nys binary" "g.nys binary-of-lengths"
    printf '0 1 3e38\n0 1 3e38\n' >large.txt
    ny -3 graph g.nys large --edges large.txt --edge-weights affinity
    says "the affinities of nodes 0 and 1 (from 0) add up to 6e+38"
    ny list g.nys
    [[ $output != *large* ]]
}

@test "the rows of a store are the nodes" {
    seq 1 40 | awk '{ print $1, $1 * $1 % 17 }' | tr ' ' , >p.csv
    nystream import p.nys p.csv -q
    nystream graph p.nys k --neighbors 3 --connect -q
    nystream export p.nys k --part graph -o k.npz -q
    ny -0 graph p.nys e --edges k.npz
    same_exports "p.nys k --part graph" "p.nys e --part graph" txt
    for map in isomap eigenmaps; do # one graph by two ways has one map
        nystream fit p.nys k-$map --map $map --graph k -q
        nystream fit p.nys e-$map --map $map --graph e -q
        same_exports "p.nys k-$map" "p.nys e-$map"
    done
    ny -0 export p.nys e-isomap --part points -o o.npy
    usage "the edges of graph 'e' came from a file" transform p.nys e-isomap --input p.csv -o o.npy
    ny -0 eval p.nys e-isomap
    printf '0 1\n1 39\n' >few.txt
    ny -0 graph p.nys few --edges few.txt --json
    fields n=40 components=38
    printf '0 1\n1 40\n' >far.txt
    ny -3 graph p.nys far --edges far.txt
    ny -2 graph p.nys far --edges few.txt --nodes 41
    printf '%%%%MatrixMarket matrix coordinate pattern general\n9 9 1\n1 2\n' >m.mtx
    ny -3 graph p.nys far --edges m.mtx
    printf '%%%%MatrixMarket matrix coordinate real skew-symmetric\n40 40 1\n2 1 1\n' >m.mtx
    ny -3 graph p.nys far --edges m.mtx
    { printf '%%%%MatrixMarket matrix array real general\n40 40\n'; seq 1600; } >m.mtx
    ny -3 graph p.nys far --edges m.mtx
    ny -0 verify p.nys
}

@test "wrong files are refused with the line" {
    refused 2 "0 1 1" "1 2 -1"
    refused 3 "# c" "0 1 1" "1 2 nan"
    refused 1 "0 1 inf"
    refused 1 "0 1 1e39"
    refused 1 "0 4294967295 1"
    refused 1 "0 12345678901234567890"
    refused 1 "-1 0 1"
    refused 1 "source,target" "0,1"
    refused 2 "0 1" "1.5 2"
    refused 2 "0 1" "7"
    refused 2 "0 1 1" "1 2"
    refused 2 "0 1" "1 2 3"
    refused 1 "0 1 1 9"
    refused 1 "0 1 x"
    refused 1 "0,1,"
    refused 1 "0,,1"
    refused null "# nothing" ""
    refused null "1 1 2"
    local head="%%MatrixMarket matrix coordinate real general"
    refused 4 "$head" "3 3 2" "1 2 1" "2 3 -2"
    refused 3 "$head" "3 3 1" "1 2 nan"
    refused 3 "$head" "3 3 1" "1 4 1"
    refused 3 "$head" "3 3 1" "0 1 1"
    refused null "$head" "3 4 1" "1 2 1"
    refused 4 "$head" "3 3 2" "1 2 1"
    refused null "$head" "99999999999 99999999999 1" "1 2 1"
    ny -4 graph wrong.nys g --edges none.txt
    ny -2 graph wrong.nys g --edges <(echo 0 1)
    printf '0 1\n' >one.txt
    ny -2 graph wrong.nys g --edges one.txt --nodes 4294967296
    ny -2 graph wrong.nys g --edges - <one.txt
    [ ! -e wrong.nys ]
    grid >a.txt
    nystream graph g.nys a --edges a.txt -q
    nystream export g.nys a --part graph -o a.npz -q
    spoil() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>dd.txt; }
    cp a.npz b.npz
    spoil b.npz $((189 + 2300 * 4 - 4)) '\377\377\377\377' # the last of the indices
    ny -3 graph g.nys b --edges b.npz
}

# bats test_tags=slow
@test "a file that is cut anywhere is read or refused, and leaves nothing half made" {
    grid | head -40 >a.txt
    nystream graph g.nys a --edges a.txt -q
    for end in txt mtx npz; do
        nystream export g.nys a --part graph -o whole.$end -q
        local size at
        size=$(stat -c %s whole.$end)
        for ((at = 0; at < size; at += size / 40 + 1)); do
            head -c $at whole.$end >cut.$end
            rm -rf cut.nys
            ny graph cut.nys g --edges cut.$end -q
            # a line of text may lose digits
            [ "$status" = 3 ] || { [ "$status" = 0 ] && [ $end = txt ]; } ||
                { [ "$status" = 0 ] && [ $end = mtx ] && [ "$at" -gt $((size - 20)) ]; } ||
                { echo "cut at $at of $end: $status $stderr" >&2; return 1; }
            [ "$status" = 0 ] || [ ! -e cut.nys ]
        done
    done
}

@test "a changed file is another graph; --restart makes it anew" {
    printf '0 1 1\n1 2 1\n' >a.txt
    nystream graph g.nys g --edges a.txt -q
    printf '0 1 1\n1 2 2\n' >a.txt
    ny -2 graph g.nys g --edges a.txt
    ny -0 graph g.nys g --edges a.txt --restart
    ny path g.nys g --from 0 --to 2 --json
    [[ $output == *'"length": 3.0'* ]]
    usage "edge-weights" graph g.nys g --edges a.txt --edge-weights affinity
    nystream fit g.nys e --map eigenmaps --graph g --components 1 -q
    printf '0 1 1\n1 2 2\n3 4 1\n' >a.txt
    nystream graph g.nys g --edges a.txt --restart -q
    ny -0 fit g.nys e --map eigenmaps --graph g --components 1 --restart -q
    ny -0 export g.nys e --part rows -o - 
}

# bats test_tags=slow
@test "a budget that is too small is refused with the least that works" {
    awk 'BEGIN { for (k = 0; k < 400000; k++) print k % 9973, (k * 7919 + 1) % 9973, 1 + k % 7 }' >a.txt
    ny -8 graph g.nys g --edges a.txt --memory 20M
    least=$(sed -nE 's/.*give --memory ([0-9]+M).*/\1/p' <<<"$stderr")
    [ -n "$least" ]
    [ ! -e g.nys ]
    ny -0 graph g.nys g --edges a.txt --memory "$least"
    nystream graph g.nys h --edges a.txt -q
    same_exports "g.nys g --part graph" "g.nys h --part graph" txt
}

# bats test_tags=slow
@test "a kill at any moment leaves the old, or what the same command ends" {
    awk 'BEGIN { for (k = 0; k < 300000; k++) print k % 99991, (k * 7919 + 1) % 99991, 1 + k % 7 }' >a.txt
    nystream graph g.nys whole --edges a.txt -q
    for pause in 0.02 0.05 0.1 0.15 0.2 0.3 0.4; do
        nystream graph g.nys g --edges a.txt -q &
        sleep $pause
        kill -9 $! 2>kill.txt || true
        wait $! || true
        ny -0 verify g.nys
        # a job that was begun knows its file
        [ "$pause" != 0.2 ] || ! nystream info g.nys g >info.txt 2>&1 || nystream graph g.nys g -q
        ny -0 graph g.nys g --edges a.txt -q
        same_exports "g.nys whole --part graph" "g.nys g --part graph" txt
        nystream rm g.nys g
    done
}

@test "edges in pieces: what is said can be done" {
    printf '0 1\n1 2\n2 3\n4 5\n6 7\n' >a.txt
    nystream graph g.nys g --edges a.txt --nodes 9 -q
    ny -3 fit g.nys e --map eigenmaps --graph g --components 1
    says "holds 4 of 9 rows (44.44 %), less than half, and the map would leave the others out"
    says "give graph 'g' edges that join its components" "or give --largest"
    [[ $stderr != *--connect* ]]
    [[ $stderr != *--neighbors* ]]
    ny -2 fit g.nys e --map eigenmaps --graph g --connect
    ny -2 graph g.nys h --edges a.txt --connect
    ny -0 fit g.nys e --map eigenmaps --graph g --components 1 --largest
    says "e: 4 of 9 rows in 1 component" "edges that join its components"
}

@test "a graph of neighbours in pieces is to be made again" {
    printf '0,0\n1,0\n2,0\n50,0\n51,0\n90,0\n91,0\n' >p.csv
    nystream import p.nys p.csv -q
    nystream graph p.nys g --neighbors 1 -q
    ny -3 fit p.nys e --map eigenmaps --graph g --components 1
    ny -3 fit p.nys e --map eigenmaps --neighbors 1 --components 1
}
