# report: one page that is whole. tests/unit/test_page.c looks at its data, tests/long/report.bats at
# what a browser makes of it.
load helper

export ASAN_OPTIONS=detect_leaks=0 # fontconfig keeps what it has read

made() {
    table 200 3 | awk -F, '{printf "%s,%s\n", $0, NR % 3 ? "left" : "right"}' >"$1.csv"
    nystream import "$1" "$1.csv" --label-column 4 --quiet
    nystream fit "$1" a --landmarks 20 --components 3 --certify --seed 7 -q
}

whole() { # FILE: a page, every hole filled, every section closed
    head -n 1 "$1" | grep -qx '<!DOCTYPE html>'
    tail -n 1 "$1" | grep -qx '</html>'
    [ "$(grep -c '<section' "$1")" -eq "$(grep -c '</section>' "$1")" ]
    ! grep -qE '\{\{[a-z]+\}\}' "$1" || false
    ! grep -qE '<(link|img|iframe|object)|src="|@import|https?://[^w]' "$1"
}

@test "a page of all results, or of those that are named" {
    made s
    nystream fit s b --map laplacian --landmarks 30 -q
    nystream graph s g --neighbors 3 -q
    nystream select s d --landmarks 9 -q
    ny -0 report s -o all.html -q
    silent
    whole all.html
    [ "$(grep -c '<section class="result"' all.html)" -eq 4 ]
    [ "$(grep -c 'class="data"' all.html)" -eq 2 ] # a graph and a dictionary have no plot
    grep -q 'nystream graph s g --neighbors 3' all.html
    grep -q 'nystream select s d .*--landmarks 9' all.html
    ny -0 report s b a -o two.html
    whole two.html
    [ "$(grep -o 'id="r[0-9]*"' two.html | wc -l)" -eq 2 ]
    grep -q '<th scope="row">trace error</th>' two.html # side by side
    ny -0 report s a -o -
    whole <(printf '%s\n' "$output")
}

# bats file_tags=slow
@test "a page of the first results by name says so" {
    made s
    for k in {10..44}; do nystream select s "d$k" --landmarks 4 -q; done # and a
    ny -0 report s -o first.html -q
    whole first.html
    [ "$(grep -c '<section class="result"' first.html)" -eq 32 ]
    grep -q 'This page shows 32 of its 36 results, the first by name; to see others, name' first.html
    grep -q 'href="#r31">d40<' first.html
    nystream report s d44 a -o two.html
    ! grep -q 'This page shows' two.html
}

@test "eigenvalues have the numbers of the components; residuals are those of the matrix at hand" {
    made s
    nystream graph s g --neighbors 5 --connect -q
    nystream fit s e --map eigenmaps --graph g --components 3 -q
    nystream fit s l --map laplacian --landmarks 30 --components 3 -q
    for name in e l; do
        nystream report s $name -o $name.html
        grep -q '<td class="n">trivial: 0</td>' $name.html
        nystream export s $name --part eigenvalues -o values.csv
        second=$(sed -n 2p values.csv | cut -c1-4)
        grep -q "<td class=\"n\">1</td><td class=\"n\">$second" $name.html
        grep -q "component 1: λ = $second" $name.html
        run ! grep -q '<td class="n">4</td><td class="n">' $name.html
        shows "trivial eigenvalues   1" info s $name
    done
    store t 2100 9
    nystream fit t p --map svd --kernel linear --approx exact --components 2 -q
    nystream report t p -o p.html
    grep -q '<td class="n">1</td><td class="n">' p.html
    run ! grep -q 'trivial' p.html
    grep -q 'residuals |Au - lambda u|/lambda of at most .* where A is the matrix of columns x columns' p.html
    ny info t p
    run ! grep -q trivial <<<"$output"
}

@test "the same bytes again; small, whatever the number of rows" {
    table 20000 5 | awk -F, '{print $0 "," int($1 * 12)}' >t.csv
    nystream import s t.csv --label-column 6 -q
    nystream fit s a --landmarks 40 --components 5 -q
    nystream report s -o 1.html --memory 128M
    nystream report s -o 2.html
    cmp 1.html 2.html
    [ "$(stat -c %s 1.html)" -lt 3000000 ]
    grep -q '6,000 of 20,000 points' 1.html
}

@test "a shortest path: the rows and lengths of path, and images" {
    table 200 64 | awk -F, '{$1 += NR / 20; print}' OFS=, >t.csv
    nystream import s t.csv -q
    nystream graph s g --neighbors 3 -q 2>/dev/null
    nystream fit s i --map isomap --graph g --landmarks 20 -q 2>/dev/null
    nystream fit s k --landmarks 20 -q
    nystream fit s own --map isomap --neighbors 9 --landmarks 20 -q
    nystream path s g --from 3 --to 190 >wanted
    nystream path s own --from 3 --to 190 >wanted_own
    [ "$(wc -l <wanted)" -gt 5 ]
    for names in "g wanted" "i wanted" "k+g wanted" "own wanted_own"; do
        read -r names file <<<"$names"
        ny -0 report s ${names//+/ } -o page.html --path 3,190
        whole page.html
        sed -n '/>Rows of the path</,/<\/table>/p' page.html | grep -o '^<tr><td class="n">[0-9]*' |
            grep -o '[0-9]*$' | sort -n | uniq >rows
        cut -f1 "$file" | sort -n | cmp - rows
        grep -q "row 3 to row 190 of graph [a-z]*: $(wc -l <"$file") rows" page.html
        grep -q '<div class="strip"' page.html
    done
    [ "$(tail -n 1 wanted | cut -f2 | cut -c 1-4)" = "$(nystream report s g -o - --path 3,190 |
        sed -nE 's/.*rows, length ([0-9.]{4}).*/\1/p')" ]
    ny -0 report s i -o page.html --path 3,190 --image none
    ! grep -q 'class="strip"' page.html || false
    rm page.html
    ny -2 report s k -o page.html --path 3,190
    nystream graph s g --neighbors 4 --restart -q 2>/dev/null
    ny report s i -o page.html --path 3,190 # its map is not of this graph
    usage "graph 'g' is no longer the one that 'i' was made from"
    [ ! -e page.html ]
    ny -2 report s g -o page.html --path 3,200
    for words in 3 3, a,b 3,4,5 -1,2; do
        ny -2 report s g -o page.html --path="$words"
    done
    { cat t.csv; sed 's/^/9/' t.csv | head -n 20; } >apart.csv
    nystream import a apart.csv -q
    nystream graph a g --neighbors 3 -q 2>/dev/null
    ny -3 report a g -o page.html --path 3,210
    [ ! -e page.html ]
}

@test "a budget too small: the smallest one that works, for report, plot and eval" {
    made s
    table 300 64 >t.csv
    nystream import t t.csv -q # rows that are images, no labels
    nystream fit t a --landmarks 20 --components 4 -q
    for store in s t; do
        for command in "36M report $store a -o out.html" "36M plot $store a -o out.png" \
            "50M plot $store a -o out.svg" "35M eval $store a"; do
            little=${command%% *} command=${command#* }
            ny -8 $command --memory "$little"
            least=$(sed -nE 's/.*give --memory ([0-9]+)M.*/\1/p' <<<"$stderr")
            [ "$least" -gt "${little%M}" ]
            [ ! -e out.html ]
            [ ! -e out.png ]
            [ ! -e out.svg ]
            ny -8 $command --memory $((least - 2))M
            ny -0 $command --memory "$least"M
            rm -f out.*
        done
    done
}

# bats file_tags=
@test "a result that is not finished: how far it is, for report, plot and eval" {
    npy_u8 40000 200 >rows.npy
    nystream import s rows.npy -q
    nystream fit s f --landmarks 3000 -q &
    local pid=$!
    await 'nystream list s | grep -q running'
    sleep 0.2
    kill -TERM $pid
    wait $pid || true
    for command in "report s f -o out.html" "plot s f -o out.png" "plot s f --terminal" "eval s f"; do
        ny -2 $command
    done
    usage "s has no finished result" report s -o out.html
    [ ! -e out.html ] && [ ! -e out.png ]
}

# bats test_tags=slow
@test "one class, a constant embedding, values that are not numbers" {
    table 60 3 | awk -F, '{print $0 ",same"}' >one.csv
    nystream import one one.csv --label-column 4 -q
    nystream fit one a --landmarks 20 -q
    awk 'BEGIN { for (i = 0; i < 40; i++) print i % 7, i % 5 }' OFS=, >t.csv
    nystream import t t.csv -q
    nystream fit t a --map diffusion --time 1e9 --landmarks 20 --gamma 0.01 -q # all rows are equal
    table 60 3 | awk -F, 'NR == 9 {$2 = "nan"} {print}' OFS=, >gap.csv
    ny -3 import gap gap.csv
    nystream import gap gap.csv --nan drop -q
    nystream fit gap a --landmarks 20 -q
    yes nan | head -n 59 >nan.txt
    nystream import none gap.csv --nan drop -q
    sed '9d' gap.csv >whole.csv
    nystream import nan whole.csv --labels nan.txt -q # labels of no row
    nystream fit nan a --landmarks 20 -q
    for store in one t gap nan; do
        ny -0 report $store a -o out.html
        whole out.html
        for options in "" "--all" "--color density" "--scree"; do
            ny -0 plot $store a -o out.png $options
        done
        ny -0 plot $store a --terminal
        ny -0 eval $store a
    done
}

@test "nothing to report: a sentence and no file" {
    made s
    usage "report needs -o" report s
    usage "'b'" report s b -o out.html
    ny -2 report s a -o out.html --image 3x3
    ny -2 report s a -o out.html --image 3
    for i in {1..30}; do echo "0 1:$i 2:$((i % 7)) 3:1"; done >s.svm
    nystream import sparse s.svm --layout sparse -q
    nystream fit sparse a --landmarks 5 -q
    ny -2 report sparse -o out.html --image 1x3
    nystream rm s a
    usage "s has no finished result" report s -o out.html
    [ ! -e out.html ]
    made t
    ny -4 report t -o nowhere/out.html
    [ -w /dev/full ] || skip "no /dev/full"
    run -4 bash -c 'nystream report t -o - >/dev/full 2>err'
}

# bats test_tags=slow
@test "a certificate is that of info: of landmarks, of distances, of eigenvectors, of what was kept" {
    made s
    nystream graph s g --neighbors 5 --connect -q
    nystream fit s i --map isomap --graph g --landmarks 20 -q
    nystream fit s e --map eigenmaps --graph g -q
    nystream fit s c --approx column --landmarks 20 -q
    nystream fit s one --components 1 --landmarks 20 --probe 3 -q
    awk 'BEGIN {for (i = 0; i < 60; i++) print 10 * i "," i % 7}' >t.csv
    nystream import t t.csv -q
    nystream fit t x --map pca --approx exact --components 1 -q 2>/dev/null
    while IFS='|' read -r store name words; do
        nystream info $store $name --json | sed -n '/"certificate"/,/\]/p' | sed -nE 's/^ +"(.*)",?$/\1/p' >told
        nystream report $store $name -o page.html
        grep -o '<li>[^<]*</li>' page.html | sed -E "s/<.?li>//g; s/&#39;/'/g" | cmp - told
        grep -qE "$words" told
        shows "certificate           $(head -n 1 told)" info $store $name
    done <<'T'
s|i|^residual variance 0\.[0-9]*, distances preserved to [0-9.]+ %
s|e|^residuals .Lu - lambda u. of at most [0-9.e-]+
s|c|^component.* right to
s|a|^largest residual [0-9.e-]+ of k\(x,x\) = 1: that of row
s|a|^the 3 components hold [0-9.]+ % of the variance
s|one|^probe error .*; 3 columns\)
t|x|^exact; the 1 component holds 99\.9[0-9]+ % of the variance
T
    run ! grep -q . < <(nystream report s g -o - | grep Certificate)
    nystream report t -o page.html
    grep -qE 'component 1: λ = [^"]*, 99\.9[0-9]+ % of the variance' page.html
    grep -qE '<td class="n">99\.9[0-9]+[^0-9]*%</td>' page.html
}

@test "its figures are those of info, with units; thousands are grouped, and one is one" {
    made s
    nystream eval s a --clusters 7 --measures clusters -q >/dev/null
    nystream graph s g --neighbors 3 -q 2>/dev/null
    nystream select s c --landmarks 1 -q --seed 9223372036854775807 # no f64
    nystream report s -o page.html --path 3,50
    for words in '<h3>Spectrum' '<th scope="row">silhouette</th>' 'aria-label="Scatter plot of a: kpca' \
        '<th scope="row">landmarks</th><td>20</td>' '<th scope="row">data read</th><td>[0-9.]+[^0-9]*(bytes|KiB)</td>' \
        '<th scope="row">work</th><td>[0-9.]+[^0-9]*[kM]flop</td>' '<th scope="row">mean degree</th>' 'prefers-color-scheme: dark' \
        '<th scope="row">seed</th><td>9223372036854775807</td>' '^<p>.*1 landmark \(' '<th scope="row">certify</th><td>yes</td>' \
        '<th scope="row">components</th><td>3</td>'; do
        grep -qE "$words" page.html
    done
    grep -A1 '<h3>Made with' page.html | grep -q '<code>nystream fit s a .* --seed 7 -q</code>'
    [ "$(grep -c '<table>' page.html)" -eq "$(grep -c '<table><caption class="unseen">' page.html)" ]
    run ! grep -qE '[^0-9]1 (components|landmarks) ' page.html
    shows "seed                  9223372036854775807" info s c
}

# bats test_tags=slow
@test "what covers a part of the rows, one component, no labels, one value" {
    { table 60 2 && table 20 2 5 | sed 's/0\./9./g'; } >t.csv
    nystream import s t.csv -q
    nystream fit s i --map isomap --neighbors 4 --landmarks 12 -q 2>/dev/null
    nystream fit s one --components 1 --landmarks 10 -q
    printf '1,2\n1,2\n1,2\n3,2\n' >c.csv
    nystream import c c.csv -q
    nystream fit c a --map pca --approx exact -q
    for store in s c; do
        ny -0 report $store -o $store.html
        whole $store.html
    done
    grep -q "<th scope=\"row\">rows embedded</th><td>$(field "$(nystream info s i --json)" embedded)</td>" s.html
    ny -0 plot s i -o i.png --color component
}
