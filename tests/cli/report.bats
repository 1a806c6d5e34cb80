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
    ny report s -o all.html -q
    exits 0
    silent
    whole all.html
    [ "$(grep -c '<section class="result"' all.html)" -eq 4 ]
    [ "$(grep -c 'class="data"' all.html)" -eq 2 ] # a graph and a dictionary have no plot
    grep -q 'nystream graph s g --neighbors 3' all.html
    grep -q 'nystream select s d .*--landmarks 9' all.html
    ny report s b a -o two.html
    exits 0
    whole two.html
    [ "$(grep -o 'id="r[0-9]*"' two.html | wc -l)" -eq 2 ]
    grep -q '<th scope="row">trace error</th>' two.html # side by side
    ny report s a -o -
    exits 0
    whole <(printf '%s\n' "$output")
}

@test "a page of the first results by name says so" {
    made s
    for k in {10..44}; do nystream select s "d$k" --landmarks 4 -q; done # and a
    ny report s -o first.html -q
    exits 0
    whole first.html
    [ "$(grep -c '<section class="result"' first.html)" -eq 32 ]
    grep -q 'This page shows 32 of its 36 results, the first by name; to see others, name' first.html
    grep -q 'href="#r31">d40<' first.html
    nystream report s d44 a -o two.html
    ! grep -q 'This page shows' two.html
}

@test "the command in the page makes the same result" {
    made s
    nystream export s a -o before.csv
    nystream report s a -o page.html
    again=$(grep -A1 '<h3>Made with' page.html | sed -nE 's/.*<code>(.*)<\/code>.*/\1/p')
    [[ $again == "nystream fit s a "*" --seed 7"* ]]
    eval "$again -q" # done already: the same options
    nystream rm s a
    eval "$again -q"
    nystream export s a -o after.csv
    cmp before.csv after.csv
}

@test "a certificate is what the map has: of landmarks, of distances, of eigenvectors" {
    made s
    nystream graph s g --neighbors 5 --connect -q
    nystream fit s i --map isomap --graph g --landmarks 20 -q
    nystream fit s e --map eigenmaps --graph g -q
    nystream fit s c --approx column --landmarks 20 -q
    nystream select s d --select uniform --landmarks 9 -q
    for name in i e g d; do
        ny report s $name -o $name.html
        exits 0
        run ! grep -q -- --probe $name.html # which they do not take
        ny info s $name
        exits 0
        [[ $output != *"--probe"* ]]
    done
    grep -q "Residual variance 0.[0-9]*, distances preserved to [0-9.]*[^0-9]*%" i.html
    run ! grep -q "positive semidefinite" i.html
    grep -q "Residuals |Lu − λu| of at most [0-9.×⁻¹0-9]*" e.html
    run ! grep -q Certificate g.html
    run ! grep -q Certificate d.html
    ny report s c -o c.html
    grep -q "None was made; <code>--probe</code>" c.html
}

@test "landmarks that are points are not called rows" {
    made s
    nystream export s a --part landmark-points -o d.npy -q
    nystream export s a --part model -o a.nym -q
    nystream fit s given --landmarks-points d.npy -q
    nystream fit s placed --model a.nym -q
    nystream report s a -o a.html
    grep -q "Made from 20 of 200 rows" a.html
    for name in given placed; do
        nystream report s $name -o $name.html
        grep -q "Made from 20 points that were given, for 200 rows" $name.html
    done
}

@test "two eigenvalues are numbers, and more a plot as well" {
    store s 60 4
    local count
    for count in 1 2 3; do
        nystream fit s a$count --landmarks 20 --components $count -q
        ny report s a$count -o $count.html
    done
    run ! grep -q "Scree plot" 1.html 2.html
    grep -q "<details open><summary>Eigenvalues" 1.html
    grep -q "<details open><summary>Eigenvalues" 2.html
    grep -q "Scree plot: eigenvalues in the order of their number" 3.html
    grep -q "<details><summary>Eigenvalues" 3.html
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
        ny info s $name
        prints "trivial eigenvalues   1"
    done
    store t 2100 9
    nystream fit t p --map svd --kernel linear --approx exact --components 2 -q
    nystream report t p -o p.html
    grep -q '<td class="n">1</td><td class="n">' p.html
    run ! grep -q 'trivial' p.html
    grep -q 'Residuals |Au − λu|/λ of at most .* where A is the matrix of columns × columns' p.html
    ny info t p
    run ! grep -q trivial <<<"$output"
}

@test "its figures are those of info" {
    made s
    nystream report s a -o page.html
    grep -q '<h3>Residuals' page.html
    grep -q '<h3>Spectrum' page.html
    grep -q '<th scope="row">accumulate</th>' page.html
    [ "$(grep -cE '^(<thead>.*<tbody>)?<tr><td class="n">[0-9]+</td>' page.html)" -ge 2 ]
    grep -q 'Trace error' page.html
    grep -q '<th scope="row">landmarks</th><td>20</td>' page.html
    grep -qE '<th scope="row">data read</th><td>[0-9.]+[^0-9]*(bytes|KiB)</td>' page.html
    grep -qE '<th scope="row">work</th><td>[0-9.]+[^0-9]*[kM]flop</td>' page.html
    grep -qE '<th scope="row">effective rank</th>' page.html
    [ "$(grep -c '<table>' page.html)" -eq "$(grep -c '<table><caption class="unseen">' page.html)" ]
    grep -q 'prefers-color-scheme: dark' page.html
    grep -q 'aria-label="Scatter plot of a: kpca' page.html
}

@test "one is one: a component, a landmark; thousands are grouped" {
    awk 'BEGIN {for (i = 0; i < 60; i++) print 1000 * i "," i % 7}' >t.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 20 --components 1 -q
    nystream fit s b --map pca --approx exact -q
    nystream select s c --landmarks 1 -q --seed 9223372036854775807 # no f64
    nystream report s -o page.html
    grep -q '<th scope="row">seed</th><td>9223372036854775807</td>' page.html
    ny info s c
    prints "seed                  9223372036854775807"
    grep -q 'Its 1 component holds' page.html
    grep -q '^<p>.*1 landmark (' page.html
    run ! grep -qE '[^0-9]1 (components|landmarks) ' page.html
    nystream graph s g --neighbors 3 -q 2>/dev/null
    nystream report s a g -o page.html --path 3,50
    grep -qE 'rows, length [0-9]+,[0-9]{3}\.' page.html
    # the graph's components are no columns of a map
    grep -q '<th scope="row">components</th><td>1</td><td>–</td>' page.html
}

@test "what is not all is not told as 100 %" {
    awk 'BEGIN {for (i = 0; i < 60; i++) print 10 * i "," i % 7}' >t.csv
    nystream import s t.csv -q
    nystream fit s a --map pca --approx exact --components 1 -q 2>/dev/null
    nystream report s -o page.html
    grep -qE 'Its 1 component holds 99\.9[0-9]+[^0-9]*% of the variance' page.html
    grep -qE 'Exact; the 1 component holds 99\.9[0-9]+[^0-9]*% of the variance' page.html
    grep -qE 'component 1: λ = [^"]*, 99\.9[0-9]+ % of the variance' page.html
    grep -qE '<td class="n">99\.9[0-9]+[^0-9]*%</td>' page.html
    nystream fit s b --map pca --approx exact -q 2>/dev/null
    nystream report s b -o page.html
    grep -qE 'Its 2 components hold 100[^0-9]*% of the variance' page.html
}

@test "the same bytes again; small, whatever the number of rows" {
    table 20000 5 | awk -F, '{print $0 "," int($1 * 12)}' >t.csv
    nystream import s t.csv --label-column 6 -q
    nystream fit s a --landmarks 40 --components 5 -q
    nystream report s -o 1.html --memory 128M
    nystream report s -o 2.html
    cmp 1.html 2.html
    [ "$(stat -c %s 1.html)" -lt 3000000 ]
    run ! grep -q 'of 5 components' 1.html
    nystream fit s b --landmarks 40 --components 9 -q
    nystream report s b -o 3.html
    grep -q 'Its axes are the first 6 of 9 components; <code>nystream plot --axes</code>' 3.html
    grep -q '6,000 of 20,000 points' 1.html
}

@test "what covers a part of the rows, one component, no labels, one value" {
    { table 60 2 && table 20 2 5 | sed 's/0\./9./g'; } >t.csv
    nystream import s t.csv -q
    nystream fit s i --map isomap --neighbors 4 --landmarks 12 -q 2>/dev/null
    nystream fit s one --components 1 --landmarks 10 -q
    printf '1,2\n1,2\n1,2\n3,2\n' >c.csv
    nystream import c c.csv -q
    nystream fit c a --map pca --approx exact -q
    ny report s -o s.html
    exits 0
    whole s.html
    grep -q '<h3>Graph' s.html
    embedded=$(field "$(nystream info s i --json)" embedded)
    [ "$embedded" -lt 80 ]
    grep -q "Made from 12 of $embedded rows in the largest component of its graph (of 80)\." s.html
    nystream fit s e --map eigenmaps --neighbors 4 -q 2>/dev/null
    embedded=$(field "$(nystream info s e --json)" embedded)
    [ "$embedded" -lt 80 ]
    nystream report s e -o e.html
    grep -q "Made from all $embedded rows in the largest component of its graph (of 80)\." e.html
    grep -q 'Made from 10 of 80 rows' s.html # of one
    ny plot s i -o i.png --color component
    exits 0
    ny report c -o c.html
    exits 0
    whole c.html
}

@test "a graph among the names: colours by its components" {
    made s
    { table 60 2 && table 20 2 5 | sed 's/0\./9./g'; } >t.csv
    nystream import t t.csv -q
    nystream fit t k --landmarks 30 -q
    nystream graph t g --neighbors 4 -q 2>/dev/null
    nystream export t g --part components -o components.csv
    sizes=$(sort -n components.csv | uniq -c | awk '{print $1}' | paste -sd,)
    [[ $sizes == *,* ]]
    nystream report t -o page.html
    run ! grep -qE '[^0-9,]0 points' page.html # a graph has those of the store
    grep -q "\"name\":\"component:g\",\"classes\":\[\"0\",.*\"sizes\":\[$sizes\]" page.html
    for figure in 'mean degree' components 'share in largest'; do
        grep -q "<th scope=\"row\">$figure</th>" page.html
    done
    nystream report t k -o page.html
    ! grep -q component: page.html || false
    nystream import t t.csv --append -q # rows that the graph does not know
    nystream fit t later --landmarks 30 -q
    ny report t later g -o page.html
    exits 0
    ! grep -q component: page.html
}

@test "components that are too many to be told apart are called others" {
    store s 1500 2
    nystream fit s k --landmarks 30 -q
    nystream graph s g --neighbors 1 -q 2>/dev/null
    [ "$(field "$(nystream info s g --json)" components)" -gt 256 ]
    nystream report s -o page.html
    grep -q '"name":"component:g",.*"rest":"others"' page.html
    nystream graph s g --neighbors 8 --restart -q 2>/dev/null
    nystream report s -o page.html
    grep -q '"name":"component:g",.*"rest":"none"' page.html
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
        # shellcheck disable=SC2086  # words are meant
        ny report s ${names//+/ } -o page.html --path 3,190
        exits 0
        whole page.html
        sed -n '/>Rows of the path</,/<\/table>/p' page.html | grep -o '^<tr><td class="n">[0-9]*' |
            grep -o '[0-9]*$' | sort -n | uniq >rows
        cut -f1 "$file" | sort -n | cmp - rows
        grep -q "row 3 to row 190 of graph [a-z]*: $(wc -l <"$file") rows" page.html
        grep -q '<div class="strip"' page.html
    done
    [ "$(tail -n 1 wanted | cut -f2 | cut -c 1-4)" = "$(nystream report s g -o - --path 3,190 |
        sed -nE 's/.*rows, length ([0-9.]{4}).*/\1/p')" ]
    ny report s i -o page.html --path 3,190 --image none
    exits 0
    ! grep -q 'class="strip"' page.html || false
    rm page.html
    ny report s k -o page.html --path 3,190
    usage "--path: no result of this report has a graph"
    nystream graph s g --neighbors 4 --restart -q 2>/dev/null
    ny report s i -o page.html --path 3,190 # its map is not of this graph
    usage "graph 'g' is no longer the one that 'i' was made from"
    [ ! -e page.html ]
    ny report s g -o page.html --path 3,200
    usage "'g' has rows 0 to 199, and no row 200"
    for words in 3 3, a,b 3,4,5 -1,2; do
        ny report s g -o page.html --path="$words"
        usage "--path $words: give two rows"
    done
    { cat t.csv; sed 's/^/9/' t.csv | head -n 20; } >apart.csv
    nystream import a apart.csv -q
    nystream graph a g --neighbors 3 -q 2>/dev/null
    ny report a g -o page.html --path 3,210
    exits 3
    says "there is no path from row 3 to row 210"
    [ ! -e page.html ]
}

# bats test_tags=slow
@test "a budget too small: the smallest one that works, for report, plot and eval" {
    made s
    table 300 64 >t.csv
    nystream import t t.csv -q # rows that are images, no labels
    nystream fit t a --landmarks 20 --components 4 -q
    for store in s t; do
        for command in "36M report $store a -o out.html" "36M plot $store a -o out.png" \
            "50M plot $store a -o out.svg" "35M eval $store a"; do
            little=${command%% *} command=${command#* }
            # shellcheck disable=SC2086  # words are meant
            ny $command --memory "$little"
            exits 8
            least=$(sed -nE 's/.*give --memory ([0-9]+)M.*/\1/p' <<<"$stderr")
            [ "$least" -gt "${little%M}" ]
            [ ! -e out.html ]
            [ ! -e out.png ]
            [ ! -e out.svg ]
            # shellcheck disable=SC2086
            ny $command --memory $((least - 2))M
            exits 8
            # shellcheck disable=SC2086
            ny $command --memory "$least"M
            exits 0
            rm -f out.*
        done
    done
}

@test "a result that is not finished: how far it is, for report, plot and eval" {
    npy_u8 40000 200 >rows.npy
    nystream import s rows.npy -q
    nystream fit s f --landmarks 3000 -q &
    local pid=$! tries=0
    until nystream list s | grep -q running; do
        sleep 0.05
        [ $((tries += 1)) -lt 200 ]
    done
    sleep 0.2
    kill -TERM $pid
    wait $pid || true
    for command in "report s f -o out.html" "plot s f -o out.png" "plot s f --terminal" "eval s f"; do
        # shellcheck disable=SC2086  # words are meant
        ny $command
        usage "'f' is not finished: stage "
        says "% of its rows"
    done
    ny report s -o out.html
    usage "s has no finished result"
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
    ny import gap gap.csv
    exits 3
    nystream import gap gap.csv --nan drop -q
    nystream fit gap a --landmarks 20 -q
    yes nan | head -n 59 >nan.txt
    nystream import none gap.csv --nan drop -q
    sed '9d' gap.csv >whole.csv
    nystream import nan whole.csv --labels nan.txt -q # labels of no row
    nystream fit nan a --landmarks 20 -q
    for store in one t gap nan; do
        ny report $store a -o out.html
        exits 0
        whole out.html
        for options in "" "--all" "--color density" "--scree"; do
            # shellcheck disable=SC2086  # words are meant
            ny plot $store a -o out.png $options
            exits 0
        done
        ny plot $store a --terminal
        exits 0
        ny eval $store a
        exits 0
    done
}

@test "errors of clusters against labels are counted" {
    made s
    nystream report s -o page.html
    ! grep -q '"majority"' page.html || false
    nystream eval s a --clusters 7 --measures clusters -q >/dev/null
    nystream export s a --part clusters -o clusters.csv
    nystream export s a --part labels -o labels.csv
    right=$(paste -d' ' clusters.csv labels.csv | sort | uniq -c | sort -k2,2n -k1,1nr |
        awk '!seen[$2]++ {sum += $1} END {print sum}')
    nystream report s -o page.html
    grep -q "\"agreement\":\[$right,$((200 - right))\]" page.html
}

@test "nothing to report: a sentence and no file" {
    made s
    ny report s
    usage "report needs -o"
    ny report s b -o out.html
    usage "'b'"
    ny report s a -o out.html --image 3x3
    usage "--image 3x3: rows of s have 3 columns"
    ny report s a -o out.html --image 3
    usage "--image 3: give height and width"
    for i in {1..30}; do echo "0 1:$i 2:$((i % 7)) 3:1"; done >s.svm
    nystream import sparse s.svm --layout sparse -q
    nystream fit sparse a --landmarks 5 -q
    ny report sparse -o out.html --image 1x3
    usage "--image 1x3: the rows of sparse are sparse"
    nystream rm s a
    ny report s -o out.html
    usage "s has no finished result"
    [ ! -e out.html ]
    made t
    ny report t -o nowhere/out.html
    exits 4
    [ -w /dev/full ] || skip "no /dev/full"
    run bash -c 'nystream report t -o - >/dev/full 2>err'
    [ "$status" -eq 4 ]
}

@test "numbers are written in one way, and columns without any are left out" {
    awk 'BEGIN {for (i = 0; i < 300; i++) print cos(i) "," (i == 7 ? 1e5 : sin(3 * i)) "," cos(i * i)}' >t.csv
    nystream import s t.csv --dtype f64 -q
    nystream fit s a --map svd --kernel linear --landmarks 1 --components 1 -q
    awk 'BEGIN {for (i = 0; i < 300; i++) print (i % 2 ? 100 : 0) + cos(i)}' >one.csv
    nystream import one one.csv -q
    nystream fit one b --map svd --kernel linear --landmarks 1 --components 1 --certify -q
    nystream report s -o s.html
    nystream report one -o one.html
    grep -qE 'Trace error .*×10⁻.*is at most .*×10⁻.*% of its trace' s.html
    grep -q 'Largest residual below 10⁻¹²' one.html
    run ! grep -qE '<li>.*[0-9]e-[0-9]' s.html one.html
    nystream fit one a --landmarks 20 -q
    nystream eval one a --clusters 2 --measures clusters -q >/dev/null
    nystream report one -o one.html
    grep -q '300 rows of 1 column, ' one.html
    grep -qE 'variance between them 0\.99' one.html
    nystream fit one i --map isomap --neighbors 5 --connect --landmarks 20 -q
    nystream report one i -o i.html
    grep -q 'unseen">Eigenvalues</caption>' i.html
    run ! grep -qE 'of the (variance|trace)' i.html
}
