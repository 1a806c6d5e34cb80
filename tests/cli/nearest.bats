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

# same_nearest A B: the neighbours that were written, and how far they are, have the same bytes.
same_nearest() {
    cmp "$1.npy" "$2.npy"
    cmp "$1.far.npy" "$2.far.npy"
}

@test "a tree finds the neighbours of new rows, as comparing with all points does" {
    sheet 3
    nystream graph s.nys g --neighbors 6 --knn tree -q
    nearest tree
    nearest alone --threads 1
    nearest small --memory 24M # no room for a tree
    for name in alone small; do same_nearest tree $name; done
    head -200 new.csv >few.csv
    nystream transform s.nys g --input few.csv -o few.csv.gz -q
    nystream transform s.nys g --input - -o all.csv -q <new.csv # no one knows how many they are
    nystream transform s.nys g --input new.csv -o known.csv -q
    cmp known.csv all.csv
    gzip -dc few.csv.gz | cmp - <(head -200 all.csv)
}

# bats test_tags=slow
@test "a sieve finds all neighbours of new rows, whatever the threads and the budget" {
    sheet 20
    nystream graph s.nys g --neighbors 6 -q
    nearest all
    nearest alone --threads 1
    nearest small --memory 32M # no room for codes
    for name in alone small; do same_nearest all $name; done
    ny -0 transform s.nys g --input new.csv -o o.npy --json
    fields knn=sieve recall=1.0 recall_interval=null recall_rows=null
    ny -0 transform s.nys g --input new.csv -o o.npy --json --memory 32M
    fields knn=exact
    ny -0 transform s.nys g --input new.csv -o o.npy
    [[ $stderr != *recall* ]]
}

# bats test_tags=slow
@test "a share of the neighbours is measured, and is the same with any threads" {
    sheet 40
    nystream graph s.nys g --neighbors 6 -q
    nearest all
    nearest most --recall 0.9
    nearest alone --recall 0.9 --threads 1
    same_nearest most alone
    ! cmp -s all.npy most.npy || false
    ny -0 transform s.nys g --input new.csv -o o.npy --recall 0.9 --json
    awk -v r="$(field "$output" recall)" 'BEGIN { exit !(r >= 0.9 && r < 1) }'
    [ "$(field "$output" recall_rows)" = 256 ]
    ny -0 transform s.nys g --input new.csv -o o.npy --recall 0.9
    says 'recall 0.9' 'measured on 256 of the new rows'
    ny -8 transform s.nys g --input new.csv -o p.npy --recall 0.9 --memory 32M
    [ ! -e p.npy ]
}

@test "new rows of a sieve's graph get its share of the neighbours, unless all are asked for" {
    sheet 40
    nystream graph s.nys exact --neighbors 6 --knn exact -q
    nystream graph s.nys g --neighbors 6 --knn sieve --recall 0.8 -q
    nearest sieve
    nearest typed --recall 0.8
    cmp sieve.npy typed.npy
    nearest all --recall 1
    nystream transform s.nys exact --input new.csv -o exact.npy -q
    cmp exact.npy all.npy
    ! cmp -s all.npy sieve.npy || false
}

@test "few rows that are left over are searched for like all before them" {
    awk 'BEGIN { for (i = 0; i < 600; i++) print i * 37 % 601 "," i * 113 % 607 }' >points.csv
    nystream import s.nys points.csv -q
    nystream graph s.nys g --neighbors 3 -q
    awk 'BEGIN { for (i = 0; i < 16484; i++) print i * 41 % 603 "," i * 7 % 605 }' >new.csv # 8 units and 100
    ny -0 transform s.nys g --input new.csv -o all.npy --json
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
    ny -7 transform s.nys g --input new.csv -o o.csv --distances far.csv
    [ ! -e o.csv ]
    [ ! -e far.csv ]
    ny -0 transform s.nys g --input new.csv -o o.csv
    [ "$(<o.csv)" = $'0,2\n0,1' ]
}

@test "a recall that is none, or of no graph, is refused" {
    sheet 8
    nystream graph s.nys g --neighbors 6 -q
    nystream fit s.nys f --map pca --approx exact -q
    for recall in 0 1.5 -1 much nan; do
        ny -2 transform s.nys g --input new.csv -o o.npy --recall "$recall"
    done
    ny -2 transform s.nys f --input new.csv -o o.npy --recall 0.9
}
