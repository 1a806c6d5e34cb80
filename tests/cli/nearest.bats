# Neighbours of new rows by a graph: their ways, which give the same, and what they need.
load helper

# Rows of so many columns around a sheet: points.csv 4,000 of them, and new.csv 900 others.
sheet() {
    awk -v d="$1" 'BEGIN {
        srand(7)
        for (i = 0; i < 4900; i++) {
            u = rand(); v = rand()
            file = i < 4000 ? "points.csv" : "new.csv"
            for (k = 0; k < d; k++)
                printf "%.5f%s", sin(k + 1 + 3 * u) + cos(2 * k + v) + rand() / 8, \
                    k + 1 < d ? "," : "\n" >file
        }
    }'
    nystream import s.nys points.csv -q
}

# Writes the neighbours of the new rows as $1.npy and $1.far.npy; further options follow.
nearest() {
    nystream transform s.nys g --input new.csv -o "$1.npy" --distances "$1.far.npy" -q "${@:2}"
}

@test "a tree finds the neighbours of new rows, as comparing with all points does" {
    sheet 3
    nystream graph s.nys g --neighbors 6 --knn tree -q
    nearest tree
    nearest alone --threads 1
    nearest small --memory 24M # no room for a tree
    for name in alone small; do
        cmp tree.npy $name.npy
        cmp tree.far.npy $name.far.npy
    done
    head -200 new.csv >few.csv
    nystream transform s.nys g --input few.csv -o few.csv.gz -q
    nystream transform s.nys g --input - -o all.csv -q <new.csv # no one knows how many they are
    nystream transform s.nys g --input new.csv -o known.csv -q
    cmp known.csv all.csv
    gzip -dc few.csv.gz | cmp - <(head -200 all.csv)
}

@test "a sieve finds all neighbours of new rows, whatever the threads and the budget" {
    sheet 20
    nystream graph s.nys g --neighbors 6 -q
    nearest all
    nearest alone --threads 1
    nearest small --memory 32M # no room for codes
    for name in alone small; do
        cmp all.npy $name.npy
        cmp all.far.npy $name.far.npy
    done
    ny transform s.nys g --input new.csv -o o.npy --json
    exits 0
    [[ $output == *'"knn": "sieve"'* && $output == *'"recall": 1.0'* ]]
    [[ $output == *'"recall_interval": null'* && $output == *'"recall_rows": null'* ]]
    ny transform s.nys g --input new.csv -o o.npy --json --memory 32M
    exits 0
    [[ $output == *'"knn": "exact"'* ]]
    ny transform s.nys g --input new.csv -o o.npy
    exits 0
    [[ $stderr != *recall* ]]
}

@test "a share of the neighbours is measured, and is the same with any threads" {
    sheet 40
    nystream graph s.nys g --neighbors 6 -q
    nearest all
    nearest most --recall 0.9
    nearest alone --recall 0.9 --threads 1
    cmp most.npy alone.npy
    cmp most.far.npy alone.far.npy
    ! cmp -s all.npy most.npy || false
    ny transform s.nys g --input new.csv -o o.npy --recall 0.9 --json
    exits 0
    awk -v r="$(field "$output" recall)" 'BEGIN { exit !(r >= 0.9 && r < 1) }'
    [ "$(field "$output" recall_rows)" = 256 ]
    ny transform s.nys g --input new.csv -o o.npy --recall 0.9
    exits 0
    says 'recall 0.9'
    says 'measured on 256 of the new rows'
    ny transform s.nys g --input new.csv -o p.npy --recall 0.9 --memory 32M
    exits 8
    says '--memory'
    [ ! -e p.npy ]
}

@test "new rows of a forest's graph get its share of the neighbours, unless all are asked for" {
    sheet 40
    nystream graph s.nys exact --neighbors 6 --knn exact -q
    nystream graph s.nys g --neighbors 6 --knn forest --recall 0.8 -q
    nearest forest
    nearest typed --recall 0.8
    cmp forest.npy typed.npy
    nearest all --recall 1
    nystream transform s.nys exact --input new.csv -o exact.npy -q
    cmp exact.npy all.npy
    ! cmp -s all.npy forest.npy || false
}

@test "few rows that are left over are searched for like all before them" {
    awk 'BEGIN { for (i = 0; i < 600; i++) print i * 37 % 601 "," i * 113 % 607 }' >points.csv
    nystream import s.nys points.csv -q
    nystream graph s.nys g --neighbors 3 -q
    awk 'BEGIN { for (i = 0; i < 16484; i++) print i * 41 % 603 "," i * 7 % 605 }' >new.csv # 8 units and 100
    ny transform s.nys g --input new.csv -o all.npy --json
    exits 0
    [ "$(field "$output" knn)" = tree ]
    tail -n 100 new.csv >last.csv
    ny transform s.nys g --input last.csv -o last.npy --json
    [ "$(field "$output" knn)" = exact ]
    cmp <(tail -c 2400 all.npy) <(tail -c 2400 last.npy)
}

@test "a distance beyond what its file holds is refused" {
    printf '0,0\n1,0\n0,1\n1,1\n' >points.csv
    nystream import s.nys points.csv --dtype f64 -q
    nystream graph s.nys g --neighbors 2 -q
    printf '0,0.5\n1e39,0\n' >new.csv
    ny transform s.nys g --input new.csv -o o.csv --distances far.csv
    exits 7
    says "new row 1 is farther from its neighbors than 3.4e+38"
    [ ! -e o.csv ]
    [ ! -e far.csv ]
    ny transform s.nys g --input new.csv -o o.csv
    exits 0
    [ "$(<o.csv)" = $'0,2\n0,1' ]
}

@test "a recall that is none, or of no graph, is refused" {
    sheet 8
    nystream graph s.nys g --neighbors 6 -q
    nystream fit s.nys f --map pca --approx exact -q
    for recall in 0 1.5 -1 much nan; do
        ny transform s.nys g --input new.csv -o o.npy --recall "$recall"
        exits 2
        says '--recall is a share'
    done
    ny transform s.nys f --input new.csv -o o.npy --recall 0.9
    exits 2
    says "--recall: 'f' is not a graph"
}

@test "without a graph, the message says which command makes one, and that command does" {
    sheet 8
    nystream fit s.nys near --map pca --approx exact -q
    mv s.nys "my s.nys"
    for name in none near; do
        ny transform "my s.nys" $name --input new.csv -o o.npy --neighbors 3
        exits 2
        command=$(sed -n 's/.*make one with: \(nystream graph .*\)/\1/p' <<<"$stderr")
        [[ $command == "nystream graph 'my s.nys' "*" --neighbors 3" ]]
        eval "$command -q"
        graph=$(awk '{print $(NF - 2)}' <<<"$command")
        nystream transform "my s.nys" "$graph" --input new.csv -o o.npy --neighbors 3 -q
        nystream rm "my s.nys" "$graph" -q
    done
    ny transform "my s.nys" none --input new.csv -o o.npy --distances far.npy
    exits 2
    says "my s.nys has no graph 'none' in which to find neighbors of new rows; make one with: nystream graph 'my s.nys' none"
    ny transform "my s.nys" none --input new.csv -o o.npy
    exits 2
    says "no result named 'none'"
    ny transform "my s.nys" --input new.csv -o o.npy --neighbors 3
    exits 2
    says "neighbors need a graph of the store, which 'nystream graph' makes"
}
