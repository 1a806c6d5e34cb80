# The verb eval: what it judges, how it prints it, and what cannot be judged.
load helper
brought="g.csv g.nys"

# Three groups of rows far apart, 40 each, with their labels; a fit of two components.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    awk -v OFS=, 'BEGIN { x = 7
        for (i = 0; i < 120; i++) {
            for (j = 0; j < 3; j++) { x = (x * 16807) % 2147483647; v[j] = x / 2147483647 }
            g = i % 3
            print 10 * g + v[0], 20 * (g == 1) + v[1], v[2], "abc" substr("xyz", g + 1, 1)
        } }' >g.csv
    nystream import g.nys g.csv --label-column 4 -q
    nystream fit g.nys f --map pca --approx exact -q
}

@test "three groups are found, whatever is asked for" {
    ny -0 eval g.nys f --json
    has_keys "$output" inertia purity_mean purity_sd reasons
    fields purity=1.0 accuracy=1.0 class_concentration=1.0 nmi=1.0 ari=1.0 clusters=3
    ny -0 eval g.nys f
    prints "purity" "1 ± 0"
    [[ $output != *"no against"* ]]
}

# bats test_tags=slow
@test "twenty groups that lie apart are all found, with any seed" {
    table 6000 8 | awk -F, -v OFS=, '{ c = NR % 20
        for (d = 1; d <= 8; d++) $d = 3 * $d + 8 * sin(c * d * d + d)
        print $0, c }' >t.csv
    nystream import s t.csv --label-column 9 -q
    nystream fit s p --map pca --components 8 -q
    for seed in 0 1 2 3; do
        shows "nmi                     1" eval s p --measures nmi --seed $seed
    done
}

@test "labels that are values rather than classes are not compared with clusters" {
    table 300 3 >v.csv
    nystream import v.nys v.csv --label-column 3 -q # 300 different numbers
    nystream fit v.nys f --map pca --approx exact -q
    ny -0 eval v.nys f --json
    fields clusters=null purity=null
    prints "the 300 different labels of 300 rows are values rather than classes; --clusters K says"
    ny -0 eval v.nys f --clusters 3 --json
    fields clusters=3
}

@test "rows without a label are counted where others have one, and left out of what compares with labels" {
    ny -0 eval g.nys f
    [[ $output != *"without a label"* ]]
    ny eval g.nys f --json
    fields unlabelled=null
    for i in {1..30}; do echo "1000,1000,1000"; done >far.csv
    nystream import g.nys far.csv --append -q
    nystream fit g.nys all --map pca --approx exact -q
    ny eval g.nys all --clusters 4 --json
    fields unlabelled=30 purity=1.0 classes=3
    [[ $(field "$output" largest_class) == 0.33333333333333* ]]
    ny eval g.nys all
    grep -q "^without a label *30$" <<<"$output"
}

@test "a result of double precision is judged by its coordinates, not by what is stored of it" {
    for map in laplacian diffusion; do
        for precision in f32 f64; do
            nystream fit g.nys $map-$precision --map $map --row-normalize --precision $precision -q
            ny -0 eval g.nys $map-$precision --json
            echo "$map $precision $(field "$output" distance_error)" >>errors
            fields ari=1.0
        done
    done
    cat errors
    awk '{ if (NR % 2 == 0 && ($3 - last) ^ 2 > 1e-10 * last ^ 2) exit 1; last = $3 }' errors
}

@test "clusters are stored with the result" {
    ny -2 export g.nys f --part clusters -o c.csv
    ny -0 eval g.nys f -q
    nystream export g.nys f --part clusters -o c.csv
    # rows i, i + 3, … are one group
    [ "$(paste -d, - - - <c.csv | sort -u | wc -l)" -eq 1 ]
    [ "$(sort -u c.csv | wc -l)" -eq 3 ]
    ny -0 eval g.nys f --clusters 5 --json
    [ "$(shown "g.nys f --part clusters" | sort -u | wc -l)" -eq 5 ]
    # clusters of the rows before an update are not those of the result any more
    nystream import g.nys g.csv --label-column 4 --append -q
    nystream fit g.nys f2 --landmarks 20 -q
    nystream eval g.nys f2 -q >out
    nystream export g.nys f2 --part clusters -o c.csv
    nystream import g.nys g.csv --label-column 4 --append -q
    ny fit g.nys f2 --update full
    usage "has no clusters" export g.nys f2 --part clusters -o c.csv
    nystream import g.nys g.csv --label-column 4 --append -q
    ny -0 fit g.nys f2 --update full
    [[ $stderr != *"before this update"* ]] # there were none
    ny -0 verify g.nys
}

@test "a frozen update keeps the clusters, and gives new rows theirs" {
    cut -d, -f1-3 g.csv >rows.csv
    awk -F, -v OFS=, '{print $1 + 3, $2, $3, $4}' g.csv >more.csv
    cut -d, -f1-3 more.csv >new.csv
    for map in "svd" "laplacian --row-normalize" "pca --precision f64"; do
        rm -rf g.nys
        nystream import g.nys g.csv --label-column 4 -q
        nystream fit g.nys f --map $map --approx projected --landmarks 30 --components 2 -q
        nystream eval g.nys f --measures clusters --clusters 4 -q >/dev/null
        nystream export g.nys f --part clusters -o before.csv
        nystream transform g.nys f --input new.csv -o places.csv --clusters wanted.csv
        nystream import g.nys more.csv --label-column 4 --append -q
        ny -0 fit g.nys f --update frozen
        [[ $stderr != *"clusters of"* ]]
        nystream export g.nys f --part clusters -o after.csv
        cat before.csv wanted.csv | cmp - after.csv
        nystream plot g.nys f --color cluster -o out.png
        # another one, and rows that get theirs from a result that was updated
        nystream import g.nys g.csv --label-column 4 --append -q
        nystream transform g.nys f --input rows.csv -o places.csv --clusters wanted.csv
        nystream fit g.nys f --update frozen -q
        cat after.csv wanted.csv | cmp - <(shown "g.nys f --part clusters")
        ny -0 verify g.nys
    done
    nystream eval g.nys f --measures clusters --clusters 2 -q >/dev/null
    [ "$(shown "g.nys f --part clusters" | sort -u | wc -l)" -eq 2 ]
}

@test "centres that new rows go by are the means of all rows from before, the last one too" {
    awk -v OFS=, 'BEGIN { for (i = 0; i < 99; i++) print 2 * i / 98, i % 2 / 100; print 3.2, 0 }' >rows.csv
    awk -v OFS=, 'BEGIN { for (i = 0; i < 2000; i++) print i / 1000, i % 3 / 100 }' >new.csv
    nystream import h.nys rows.csv -q
    nystream fit h.nys f --map pca --landmarks 30 --components 2 -q
    nystream eval h.nys f --measures clusters --clusters 2 -q >/dev/null
    nystream transform h.nys f --input new.csv -o places.csv --clusters wanted.csv -q
    nystream import h.nys new.csv --append -q
    nystream fit h.nys f --update frozen -q
    nystream export h.nys f --part clusters -o after.csv -q
    [ "$(sort -u wanted.csv | wc -l)" -eq 2 ]
    tail -n 2000 after.csv | cmp - wanted.csv
}

@test "new rows get the cluster whose centre is nearest to their place" {
    cut -d, -f1-3 g.csv >rows.csv
    usage "'f' has no clusters of its current rows" transform g.nys f --input rows.csv -o places.csv --clusters new.csv
    [ ! -e places.csv ]
    nystream eval g.nys f -q
    nystream export g.nys f --part clusters -o fitted.csv
    ny -0 transform g.nys f --input rows.csv -o places.csv --clusters new.csv --json
    fields clusters=3
    cmp fitted.csv new.csv
    # the centres are the means of the clusters' rows, and one row may be all there are
    tail -n 1 rows.csv | nystream transform g.nys f --input - -o one.npy --clusters one.csv
    [ "$(cat one.csv)" = "$(tail -n 1 fitted.csv)" ]
    nystream export g.nys f --part embedding -o embedding.csv
    paste -d, fitted.csv embedding.csv | awk -F, '
        NR == FNR { n[$1]++; x[$1] += $2; y[$1] += $3; next }
        { least = 1e300
          for (k in n) {
              square = ($1 - x[k] / n[k]) ^ 2 + ($2 - y[k] / n[k]) ^ 2
              if (square < least) { least = square; best = k }
          }
          print best }' - embedding.csv | cmp - new.csv
    nystream export g.nys f --part model -o f.nym
    ny -2 transform f.nym --input rows.csv -o places.csv --clusters new.csv
    nystream graph g.nys near --neighbors 4 -q
    ny -2 transform g.nys near --input rows.csv -o places.csv --clusters new.csv
    mkdir -p there
    ln -sfn . here
    for file in rows.csv places.csv ./places.csv here/places.csv there/../places.csv "$PWD/places.csv"; do
        ny -2 transform g.nys f --input rows.csv -o places.csv --clusters "$file"
    done
    nystream transform g.nys f --input rows.csv -o places.csv --clusters there/places.csv -q
    [ -s there/places.csv ]
}

@test "clusters are those of new rows by every map" {
    cut -d, -f1-3 g.csv >rows.csv
    for options in "--map pca" "--map laplacian" "--approx exact --precision f64" "--map isomap --neighbors 40 --connect" \
        "--map eigenmaps --neighbors 40 --connect"; do
        name=m$((made += 1))
        nystream fit g.nys $name $options -q
        nystream eval g.nys $name --clusters 3 --measures clusters -q
        nystream export g.nys $name --part clusters -o fitted.csv
        nystream transform g.nys $name --input rows.csv -o places.csv --clusters new.csv
        # places of fitted rows may differ from those of the fit, at the edge of two clusters
        different=$(paste -d, fitted.csv new.csv | awk -F, '$1 != $2' | wc -l)
        [ "$different" -le 2 ]
    done
}

@test "silhouettes need no labels, and are exact where the sample is all rows" {
    # Each of 0, 1, 10 and 11 is 1 from its neighbour; 30 is alone.
    printf '0\n1\n10\n11\n30\n' >few.csv
    nystream import few.nys few.csv -q
    nystream fit few.nys f --map pca --kernel linear --approx exact --components 1 --precision f64 -q
    ny -0 eval few.nys f --clusters 3 --measures clusters --json
    awk -v x="$(field "$output" silhouette)" 'BEGIN { exit !((x - (9.5 / 10.5 + 8.5 / 9.5) * 2 / 5) ^ 2 < 1e-10) }'
    awk -v x="$(field "$output" variance_between)" 'BEGIN { exit !((x - 1 + 1 / 581.2) ^ 2 < 1e-10) }'
    fields silhouette_standard_error=0.0 silhouette_rows=5
    awk 'BEGIN {for (i = 0; i < 60; i++) print i % 3 * 5 "," (i % 3 == 1) * 3}' >three.csv
    nystream import three.nys three.csv -q
    nystream fit three.nys f --gamma 1 --landmarks 3 -q 2>/dev/null
    ny eval three.nys f --clusters 3 --measures silhouette --json
    fields silhouette=1.0 # and no more
}

@test "a figure below 1 is not shown as 1" {
    awk 'BEGIN {for (i = 0; i < 60; i++) print i % 2 * 1000 + (i % 4 > 1) "," i % 2}' >two.csv
    nystream import two.nys two.csv -q
    nystream fit two.nys f --map pca --approx exact --components 1 -q 2>/dev/null
    shows "variance between        0.999999" eval two.nys f --clusters 2 --measures clusters
    grep -qE '^silhouette +0\.99948 ± ' <<<"$output"
    ny eval two.nys f --clusters 2 --clusters-to 3 --measures clusters
    prints "silhouettes of f by clusters: 2 0.99948, 3 "
}

@test "numbers of clusters are tried, and those of the largest silhouette kept" {
    shows "clusters                3" eval g.nys f --measures clusters --clusters-to 6
    tried=$(grep '^silhouettes of f by clusters: 2 ' <<<"$output" | tr ',' '\n' | awk '{print $(NF - 1), $NF}')
    [ "$(wc -l <<<"$tried")" -eq 5 ]
    # Each is that of the number alone, and the rest of the table that of the best.
    while read -r k silhouette; do
        ny eval g.nys f --measures clusters --clusters $k --json
        [ "$(printf '%.3g' "$(field "$output" silhouette)")" = "$silhouette" ]
        [ "$(tr -d ' \n' <<<"$output" | grep -oE '"clusters_tried":\[[0-9]+\]')" = "\"clusters_tried\":[$k]" ]
    done <<<"$tried"
    [ "$(sort -k2,2gr <<<"$tried" | head -n 1 | cut -d' ' -f1)" = 3 ]
    nystream eval g.nys f --measures clusters --clusters 3 >alone.txt
    nystream export g.nys f --part clusters -o alone.csv -q
    nystream eval g.nys f --measures clusters --clusters 2 --clusters-to 4 | grep -v '^silhouettes of' | cmp - alone.txt
    writes alone.csv "g.nys f --part clusters"
    usage "--clusters-to 4 is less than --clusters 5" eval g.nys f --measures clusters --clusters 5 --clusters-to 4
    for most in '' '--clusters-to 3'; do
        ny -2 eval g.nys f --measures clusters --clusters 1 $most # it has all rows, and no silhouette
    done
    for options in "--measures clusters --clusters-to 900" "--clusters 900"; do # whatever else is measured
        usage "--clusters 900 needs more rows than 120" eval g.nys f $options
    done
    usage "--clusters 4294967296 needs more rows than 120" eval g.nys f --measures clusters --clusters-to 4294967296
    usage "--measures knn" eval g.nys f --clusters-to 3 --measures knn
    nystream eval g.nys f --measures clusters --clusters 61 -q
    ny eval g.nys f --measures clusters --clusters-to 4
    ny eval g.nys f --measures clusters --clusters 3
    [ -z "$stderr" ]
}

@test "an evaluation without a number of clusters does not replace those of an earlier one" {
    nystream eval g.nys f --measures clusters --clusters 5 -q >typed.txt
    nystream export g.nys f --part clusters -o typed.csv -q
    ny -0 eval g.nys f --measures clusters
    cmp typed.txt <(printf '%s\n' "$output")
    writes typed.csv "g.nys f --part clusters"
    ny eval g.nys f --measures knn # and what looks for no clusters says nothing of them
    [ -z "$stderr" ]
    ny eval g.nys f --measures clusters --clusters 3
    ny eval g.nys f --measures clusters # as many as there are classes
    [ -z "$stderr" ]
    table 60 3 | nystream import bare.nys - --format csv -q # no labels say how many
    nystream fit bare.nys f -q
    nystream eval bare.nys f --clusters 4 -q >out
    ny eval bare.nys f --json
    fields clusters=4
}

@test "what was measured of the clusters is told by info and by the report" {
    ny info g.nys f
    [[ $output != *clusters* ]]
    nystream report g.nys f -o none.html -q
    run ! grep -q '<th scope="row">silhouette' none.html
    nystream eval g.nys f --measures clusters -q >/dev/null
    ny info g.nys f
    grep -qE '^clusters +rows 120, silhouette 0\.[0-9]+, .*ari 1, clusters 3$' <<<"$output"
    ny info g.nys f --json
    [[ $(tr -d ' \n' <<<"$output") == *'"clustering":{'*'"cluster_sizes":[40,40,40]'* ]]
    fields ari=1.0
    nystream report g.nys f -o page.html -q
    grep -q '<th scope="row">silhouette</th><td>0' page.html
    grep -q '<th scope="row">purity</th><td>1</td>' page.html
    # without labels; after a frozen update
    nystream fit g.nys p --map svd --landmarks 30 -q
    nystream eval g.nys p --measures clusters --clusters 2 -q >/dev/null
    nystream import g.nys g.csv --label-column 4 --append -q
    nystream fit g.nys p --update frozen -q
    ny info g.nys p
    grep -qE '^clusters +rows 120, ' <<<"$output"
    ny info g.nys p --json
    tr -d ' \n' <<<"$output" | grep -oE '"cluster_sizes":\[[0-9]+,[0-9]+\]' | tr -c '0-9\n' ' ' | awk '{exit $1 + $2 != 240}'
    nystream report g.nys p -o page.html -q
    grep -q '<th scope="row">rows</th><td>120</td>' page.html
}

@test "clusters of a part of the rows are those of all that have a place" {
    { table 60 2 && table 20 2 5 | sed 's/0\./9./g'; } >t.csv
    nystream import t.nys t.csv -q
    nystream fit t.nys i --map isomap --neighbors 4 --landmarks 12 -q 2>/dev/null
    [ "$(field "$(nystream info t.nys i --json)" embedded)" -lt 80 ]
    { table 300 3; printf '%d,0,0\n' 10000 -10000; } >u.csv
    nystream import u.nys u.csv -q
    nystream fit u.nys i --map laplacian --gamma 1 --landmarks 20 --select uniform -q 2>/dev/null
    [ "$(field "$(nystream info u.nys i --json)" rows_unreached)" = 2 ]
    for store in t u; do
        nystream eval $store.nys i --measures clusters --clusters 2 -q >/dev/null 2>&1
        ny info $store.nys i
        grep -qE '^clusters +rows [0-9]+, silhouette .*clusters 2$' <<<"$output"
    done
}

@test "sizes of clusters are told" {
    shows "cluster sizes           40, 40, 40" eval g.nys f --measures clusters
    { table 397 2; printf '90,90\n90,91\n91,90\n'; } >far.csv
    nystream import far.nys far.csv -q
    nystream fit far.nys f --map pca -q
    # Of many clusters the smallest and the largest are told; of several results, where a list is long.
    ny eval far.nys f --clusters 13 --measures clusters -q
    [[ $output =~ "cluster sizes           "[0-9]+" to "[0-9]+ ]]
    ny eval far.nys f --clusters 12 --measures clusters -q
    [ "$(grep '^cluster sizes' <<<"$output" | tr -cd , | wc -c)" -eq 11 ]
    nystream fit far.nys f2 --map pca --components 1 -q
    ny eval far.nys f f2 --clusters 5 --measures clusters -q
    [[ $output =~ "cluster sizes           "[0-9]+" to "[0-9]+" "+[0-9]+" to "[0-9]+ ]]
}

# bats test_tags=slow
@test "a sample of silhouettes: the error that it says, the bytes of any threads and memory" {
    awk 'BEGIN { x = 7; for (i = 0; i < 6000; i++) { for (j = 0; j < 3; j++) {
            x = (x * 16807) % 2147483647; v[j] = x / 2147483647 }
            print 1.5 * (i % 3) + v[0] "," v[1] "," v[2] } }' >b.csv
    nystream import b.nys b.csv -q
    nystream fit b.nys f --map pca --components 2 -q
    ny eval b.nys f --clusters 3 --measures clusters --sample 6000 --json
    local all run="seconds|threads|rss|budget"
    all=$(field "$output" silhouette)
    for seed in 1 2 3; do
        ny -0 eval b.nys f --clusters 3 --measures clusters --sample 400 --seed $seed --json
        fields silhouette_rows=400
        awk -v x="$(field "$output" silhouette)" -v y="$all" -v e="$(field "$output" silhouette_standard_error)" \
            'BEGIN { exit !(e > 0 && (x - y) ^ 2 < 16 * e * e && e < 0.02) }'
        nystream eval b.nys f --clusters 3 --measures clusters --sample 400 --seed $seed --json --threads 1 \
            --memory 40M -q | grep -vE "$run" >one
        grep -vE "$run" <<<"$output" | diff one -
    done
}

# bats test_tags=slow
@test "one seed, one result: threads and memory do not matter" {
    npy_u8 9000 12 >rows.npy
    nystream import s rows.npy -q
    nystream fit s f --landmarks 50 --components 8 -q
    nystream eval s f --clusters 9 --threads 1 --json | grep -vE 'seconds|threads|_bytes' >one.json
    nystream export s f --part clusters -o one.npy
    ny -8 eval s f --clusters 9 --threads 3 --memory 24M
    least=$(sed -nE 's/.*give --memory ([0-9]+M).*/\1/p' <<<"$stderr")
    ny -0 eval s f --clusters 9 --threads 3 --memory "$least" --json
    grep -vE 'seconds|threads|_bytes' <<<"$output" | cmp - one.json
    writes one.npy "s f --part clusters"
    nystream eval s f --clusters 9 --seed 1 -q >out
    nystream export s f --part clusters -o other.npy
    ! cmp -s one.npy other.npy
}

@test "without labels, with one class, with too many: said in words, an error where asked for" {
    store s 200 3
    nystream fit s f -q
    ny -0 eval s f --json
    fields purity=null
    prints '"purity": "the store has no labels; import them with --label-column or --labels'
    ny -0 eval s f
    [[ $output == *"no clusters, "*": the store has no labels"* ]]
    ny -0 eval s f --clusters 4 --json
    fields clusters=4 purity=null
    usage "the store has no labels" eval s f --measures labels
    usage "purity of 'f' cannot be measured: the store has no labels" eval s f --measures purity --clusters 4
    ny -0 eval s f --measures clusters --clusters 4
    for i in $(seq 200); do echo 3; done >one.txt
    nystream import one.nys s.csv --labels one.txt -q
    nystream fit one.nys f -q
    shows "all labels are equal: there is one class" eval one.nys f
    table 5000 1 >many.csv
    nystream import many.nys many.csv --labels many.csv -q
    nystream fit many.nys f --landmarks 20 -q
    shows "more than 4,096 different labels" eval many.nys f
}

@test "several results side by side" {
    nystream fit g.nys k --landmarks 30 -q
    ny -0 eval g.nys f k --json
    [[ $output == '{'*'"results"'*'"name": "f"'*'"name": "k"'* ]]
}

@test "what cannot be judged" {
    ny -2 eval g.nys g
    ny -2 eval g.nys f g --clusters 3
    ny -2 export g.nys f --part clusters -o clusters.npy # none are kept
    nystream select g.nys dictionary --landmarks 10 -q
    usage "'dictionary' is only a dictionary: it has no embedding" eval g.nys dictionary
    usage "--clusters 121 needs more rows than 120" eval g.nys f --measures clusters --clusters 121
    ny -2 eval g.nys f --n-init 4294967296
    usage --clusters eval g.nys f --clusters 0
}

@test "equal rows of an embedding have no clusters" {
    nystream fit g.nys d --map diffusion --time 1e9 --landmarks 40 --gamma 0.01 -q
    ny -0 eval g.nys d
    [[ $output == *"no clusters, "*": all rows of the embedding are equal"* ]]
    usage "all rows of the embedding are equal" eval g.nys d --measures clusters
}

@test "a store that cannot be written: judged all the same, and said" {
    [ "$(id -u)" -ne 0 ] || skip "root may write anywhere"
    chmod -R a-w g.nys
    ny eval g.nys f
    chmod -R u+w g.nys
    exits 0
    says "the clusters are not stored"
}

@test "an embedding of one component: its rows alone are judged" {
    awk 'BEGIN {
        for (i = 0; i < 120; i++) print i + 0.3 * (i % 3), (i * 31) % 5, int(i / 40)
        for (i = 0; i < 9; i++) print 5000 + i, 5000, 9 }' OFS=, >c.csv
    nystream import c.nys c.csv --label-column 3 -q
    nystream graph c.nys g --neighbors 5 -q
    nystream fit c.nys own --map isomap --neighbors 5 --landmarks 50 -q
    nystream fit c.nys given --map isomap --graph g --landmarks 50 -q
    for name in own given; do
        ny -0 eval c.nys $name --json
        fields n=120 classes=3
        [[ $(field "$output" trustworthiness) == 0.99* ]]
        [ "$(field "$output" residual_variance)" = \
            "$(field "$(nystream info c.nys $name --json)" residual_variance)" ]
        [ "$(shown "c.nys $name --part clusters" | wc -l)" -eq 120 ]
    done
    # made again on another scale, it tells nothing of the points that the map was made of
    nystream graph c.nys g --neighbors 5 --scale standard --restart -q
    shows "the graph that it was made from is gone or was replaced" eval c.nys given
    nystream rm c.nys g
    shows "the graph that it was made from is gone" eval c.nys given
}

@test "reconstructions, exact where all rows are in the sample" {
    nystream fit g.nys k --landmarks 30 -q
    ny -0 eval g.nys k --json
    has_keys "$output" relative_error relative_accuracy projection_error distance_accuracy
    [[ $(field "$output" relative_accuracy) == 0.* ]]
    fields relative_standard_error=0.0
    # a sample of more rows than there are takes no more memory than all of them
    nystream eval g.nys k --measures reconstruction,neighbors,distances --sample 120 | grep -v seconds >all
    nystream eval g.nys k --measures reconstruction,neighbors,distances --sample 10000000 \
        --memory 256M | grep -v seconds >more
    cmp all more
    ny -0 eval g.nys k --sample 60
    [[ $output == *"no relative accuracy"*": it needs all rows; give --sample 120"* ]]
    usage "it needs all rows; give --sample 120" eval g.nys k --sample 60 --measures relative_accuracy
    nystream fit g.nys lap --map laplacian --landmarks 30 -q
    ny -0 eval g.nys lap --sample 60
    [[ $output == *"no relative error, "*": degrees need all rows"* ]]
}

@test "three rows: what is left to say" {
    printf '1,2,a\n3,4,b\n9,9,a\n' >t.csv
    nystream import t.nys t.csv --label-column 3 -q
    nystream fit t.nys f -q
    ny -0 eval t.nys f --json
    fields relative_accuracy=1.0 purity_sd=0.0 trustworthiness=null
    shows "no kNN error: 3 rows with a label are too few for 1 neighbours" eval t.nys f
    [[ $output == *"no trustworthiness"*": 5 neighbours are half of 3 rows or more"* ]]
}

# bats test_tags=slow
@test "interrupted at any moment, it ends as such" {
    npy_u8 20000 60 >rows.npy
    nystream import s rows.npy -q
    nystream fit s f --landmarks 50 --components 20 -q
    for delay in 0.05 0.2 0.5; do
        nystream eval s f --clusters 50 >out 2>err &
        sleep $delay
        kill -TERM $! 2>/dev/null || true
        status=0
        wait $! || status=$?
        [ "$status" -eq 143 ] || [ "$status" -eq 0 ]
        [ "$status" -eq 0 ] || [ ! -s out ]
    done
    ny -0 eval s f --clusters 50 --measures clusters
}

# bats test_tags=slow
@test "the least budget beside a reference of many components is enough" {
    store s.nys 600
    nystream fit s.nys few --landmarks 300 --components 2 -q
    nystream fit s.nys many --landmarks 300 --components 280 -q
    for results in "few many" "many few"; do
        set -- $results
        ny -8 eval s.nys $1 --against $2 --measures against --memory 32M
        least=$(sed -nE 's/.*give --memory ([0-9]+M).*/\1/p' <<<"$stderr")
        ny -0 eval s.nys $1 --against $2 --measures against --memory "$least"
        ny -8 eval s.nys $1 --against $2 --measures against --memory $((${least%M} - 3))M
    done
}

@test "of rows that are all equal each figure has a reason" {
    store s.nys 300
    nystream fit s.nys f --landmarks 40 -q
    nystream export s.nys f --part model -o f.nym -q
    printf '.1,.2,.3,.4\n%.0s' 1 2 3 >equal.csv
    nystream import equal.nys equal.csv -q
    nystream fit equal.nys f --model f.nym -q # a fit of them is refused
    ny -0 eval equal.nys f --json
    for key in residual_variance distance_error distance_standard_error relative_error relative_standard_error \
        relative_accuracy projection_error projection_accuracy distance_accuracy; do
        [[ $output == *"\"$key\": null"*"\"reasons\": {"*"\"$key\": \"all "* ]]
    done
    usage "distance_error of 'f' cannot be measured: all distances are 0" eval equal.nys f --measures distance_error
}

# bats test_tags=slow
@test "no residual variance is below 0" {
    for v in 0.1 0.3 0.7 1.1 1.3 1.7 1.9 2.3 2.9 3.1 3.7 4.1; do # rounding made -2e-16 of some of these
        awk -v v=$v 'BEGIN {for (i = 0; i < 37; i++) { x = (i % 3 == 0) * v; print x "," 2 * x }}' >t.csv
        rm -rf s
        nystream import s t.csv -q
        nystream fit s f --map pca --approx exact --components 1 -q 2>/dev/null
        ny -0 eval s f --measures distances --json
        [[ $(field "$output" residual_variance) =~ ^[0-9] ]]
    done
}

@test "against another result" {
    nystream fit g.nys k --approx nystrom --landmarks 20 -q
    nystream fit g.nys exact --approx exact -q
    ny -0 eval g.nys k --against exact
    prints "cosines of angles of k and exact by pairs: 1 0." "alignment error"
    ny -0 eval g.nys exact k --against exact --json --measures against
    [[ $output == *'"angles": ['* && $output == *'"alignment_interval": ['* ]]
    [[ $(field "$output" alignment_share) == *e-* ]]
    ny -2 eval g.nys k --against nothing
    nystream select g.nys dictionary --landmarks 10 -q
    usage "--against dictionary: it has no embedding" eval g.nys k --against dictionary
    nystream import g.nys g.csv --label-column 4 --append -q
    nystream fit g.nys later --landmarks 20 -q
    usage "a reference must have the same rows" eval g.nys later --against exact
    usage "--against NAME says what to compare with" eval g.nys k --measures angles
}

# bats test_tags=slow
@test "one full row among sparse ones does not make its measures dear" {
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 1500 --terms 50000 --length 40 --topics 5 -o t.libsvm
    awk 'BEGIN {printf "0"; for (j = 1; j <= 50000; j++) printf " %d:1", j; print ""}' >>t.libsvm
    nystream import t.nys t.libsvm -q
    nystream fit t.nys f --kernel cosine --landmarks 50 -q
    ny -0 eval t.nys f --memory 192M --json
    for key in trustworthiness distance_error relative_error; do [ "$(field "$output" $key)" != null ]; done
}

@test "a cluster without rows has no centre, and new rows are never put into it" {
    awk 'BEGIN { for (i = 0; i < 60; i++) print i % 3 == 0 ? "5,1" : i % 3 == 1 ? "-5,1" : "0,-9" }' >three.csv
    nystream import three three.csv -q
    nystream fit three m --map pca --components 2 -q
    shows "cluster sizes           20, 20, 20, 0, 0" eval three m --clusters 5
    printf '0,-2.3\n5,2\n-5,2\n0,-8\n' >new.csv # the first is the mean of all
    nystream transform three m --input new.csv -o new.out.csv --clusters k.csv -q
    [ "$(sort -u k.csv | paste -sd ' ')" = "0 1 2" ]
    [ "$(wc -l <k.csv)" = 4 ]
}
