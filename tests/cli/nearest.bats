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
