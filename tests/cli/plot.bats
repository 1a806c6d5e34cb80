# plot: files of the kinds asked for, or a sentence. tests/unit/test_plot.c looks at the points.
load helper

export ASAN_OPTIONS=detect_leaks=0 # fontconfig keeps what it has read

# made STORE: makes a store of 60 rows with labels, fitted as "a".
made() {
    table 60 3 | awk -F, '{printf "%s,%s\n", $0, NR % 3 ? "left" : "<b>&right"}' >"$1.csv"
    nystream import "$1" "$1.csv" --label-column 4 --quiet
    nystream fit "$1" a --map pca --approx exact --components 3 -q
}

begins() { # FILE BYTES
    head -c ${#2} "$1" | cmp - <(printf %s "$2")
}

# size FILE.png: prints "WIDTH HEIGHT" from its header.
size() {
    od -An -tu1 -j16 -N8 "$1" | awk '{print $3 * 256 + $4, $7 * 256 + $8}'
}

# unpacked FILE.pdf: prints it, and then what is in its streams. Cairo packs the title from 1.18 on.
unpacked() {
    local at
    cat "$1"
    for at in $(grep -abo '^stream' "$1" | cut -d: -f1); do # behind the line, and 2 bytes of zlib's
        { printf '\037\213\010\0\0\0\0\0\0\0'; tail -c +$((at + 10)) "$1"; } | gzip -dc 2>/dev/null || true
    done
}

@test "png, svg and pdf by the end of the name" {
    made s
    for end in png svg pdf PNG; do
        ny plot s a -o out.$end -q
        exits 0
        silent
    done
    head -c 8 out.png | cmp - <(printf '\211PNG\r\n\032\n')
    [ "$(size out.png)" = "1600 1200" ]
    cmp out.png out.PNG
    begins out.svg '<?xml version="1.0"'
    grep -Eq 'width="800(pt)?" height="600(pt)?"' out.svg # cairo has the unit up to 1.16
    tail -n 1 out.svg | grep -q '</svg>'
    nystream plot s a -o named.svg --title 'R & D, a<b'
    grep -q '^<title>R &amp; D, a&lt;b: .*</title>$' named.svg # letters are outlines
    nystream plot s a -o named.pdf --title 'R & D, a<b'
    unpacked named.pdf | grep -aq '/Title (R & D, a<b: '
    ! grep -q '<image' out.svg || false # few points are drawn as such
    ! grep -q 'right' out.svg || false  # letters are outlines
    begins out.pdf %PDF-1.
    tail -n 1 out.pdf | grep -q '%%EOF'
    ny plot s a -o - --size 400x300
    exits 0
    nystream plot s a -o - --size 400x300 >piped.png
    [ "$(size piped.png)" = "400 300" ]
}

@test "many points are an image, and the same command gives the same bytes" {
    table 8000 2 >t.csv
    nystream import s t.csv -q
    nystream fit s a --map pca --approx exact -q
    for end in png svg pdf; do
        nystream plot s a -o 1.$end --memory 96M
        nystream plot s a -o 2.$end
        cmp 1.$end 2.$end
        [ "$(stat -c %s 1.$end)" -lt 2000000 ]
    done
    grep -q '<image' 1.svg
}

# bats test_tags=slow
@test "an svg or pdf stays small: 2,000 marks of 26 classes, or an image of many points" {
    table 2000 2 | awk -F, '{printf "%s,%c\n", $0, 65 + NR % 26}' >few.csv
    table 60000 2 | awk -F, '{print $0 "," "name-of-class-" NR % 10}' >many.csv
    for name in few many; do
        nystream import $name $name.csv --label-column 3 -q
        nystream fit $name a --map pca --approx exact -q
        for color in label 1 density; do
            nystream plot $name a -o $name.svg --color $color
            nystream plot $name a -o $name.pdf --color $color
            [ "$(stat -c %s $name.svg)" -le 300000 ]
            [ "$(stat -c %s $name.pdf)" -le 300000 ]
        done
    done
    ! grep -q '<image' few.svg || false
    grep -q '<image' many.svg
}

# bats test_tags=slow
@test "names of classes are written among the points where they are words, or where asked for" {
    made s
    table 60 3 | awk -F, '{print $0 "," NR % 3}' >n.csv
    nystream import n n.csv --label-column 4 -q
    nystream fit n a --map pca --approx exact -q
    differ() { # STORE OPTION: whether the picture is another one without or with it
        nystream plot "$1" a -o default.png
        nystream plot "$1" a -o typed.png "$2"
        ! cmp -s default.png typed.png || false
    }
    differ s --no-names
    ! differ s --names || false
    differ n --names
    ! differ n --no-names
}

@test "without colours a class is shown by its own digit or letter" {
    table 300 2 | awk -F, '{print $0 "," NR % 3 + 1}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    ny plot s a --terminal
    prints "1=1  2=2  3=3"
    table 300 2 | awk -F, '{print $0 "," (NR % 2 ? "left" : "lower")}' >w.csv
    nystream import w w.csv --label-column 3 -q
    nystream fit w a --map pca --approx exact -q
    ny plot w a --terminal
    prints "l=left  o=lower"
    table 300 2 | awk -F, '{print $0 "," (NR % 2 ? "left" : "")}' >n.csv
    nystream import n n.csv --label-column 3 -q
    nystream fit n a --map pca --approx exact -q
    ny plot n a --terminal
    prints "l=left  ?=none"
}

@test "rows of the classes that are too many to be told apart are not called rows of none" {
    table 301 2 >t.csv
    nystream import s t.csv -q
    nystream fit s a --map pca --approx exact -q
    seq -f 'w%g' 301 >words.txt
    ny plot s a --terminal --color words.txt
    exits 0
    prints "?=others"
    [[ $output != *"none"* ]]
    sed '$s/.*/NA/' words.txt >gap.txt
    ny plot s a --terminal --color gap.txt
    prints "?=others or none"
    ny plot s a -o out.png --color words.txt
    exits 0
}

# bats test_tags=slow
@test "columns, colours and the other pictures" {
    made s
    for options in "--axes 1,3" "--axes row,2" "--color 3" "--color row" "--color density" "--all" \
        "--color label" "--title anything" "--scree" "--size 200x900"; do
        # shellcheck disable=SC2086  # words are meant
        ny plot s a -o out.png $options -q
        exits 0
        silent
    done
    nystream graph s g --neighbors 3 -q
    ny plot s a -o out.png --color component:g -q
    exits 0
    silent
    nystream fit s one --components 1 --landmarks 20 -q
    ny plot s one -o out.png --mark-landmarks
    exits 0
    nystream plot s a -o x.svg --axes 1,2
    nystream plot s a -o y.svg --axes 2,1
    ! cmp -s x.svg y.svg
}

@test "nothing that can be drawn: a sentence and no file" {
    made s
    nystream graph s g --neighbors 3 -q
    nystream select s d --landmarks 9 -q
    ny plot s a -o out.gif
    usage "out.gif: a picture is written to a name that ends in .png, .svg or .pdf"
    ny plot s g -o out.png
    usage "'g' is only a graph"
    ny plot s d -o out.png
    usage "'d' is only a dictionary"
    ny plot s b -o out.png
    usage "'b'"
    ny plot s a -o out.png --axes 1,4
    usage "there is no component 4 of 'a', which has 3: 'nystream fit s NAME --components 4' finds as many"
    ny plot s a -o out.png --color 0
    usage "components of 'a' are numbered from 1, to 3"
    ny plot s a -o out.png --color age
    usage "no column 'age' of 'a': it has row, label, "
    says "its components, from 1 to 3; cluster comes with 'nystream eval --clusters'"
    says "; labels are 'label', whatever column of a file they came from"
    ny plot s a -o out.png --axes 1
    usage "--axes 1: give two columns"
    ny plot s a -o out.png --color lable
    usage "did you mean 'label'"
    ny plot s a -o out.png --color component
    usage "'a' in s has no components"
    ny plot s a -o out.png --color label:g
    exits 0
    rm out.png
    ny plot s a -o out.png --color residual:g
    usage "'g' has no residuals"
    ny plot s a -o out.png --size 20x20
    usage "--size 20x20"
    ny plot s a -o out.png --size 10001x300
    usage "--size 10001x300"
    ny plot s a
    usage "plot needs -o"
    ny plot s a -o nowhere/out.png
    exits 4
    says "nowhere"
    [ "$(ls -A | grep -v separate-stderr | xargs)" = "s s.csv" ] # what bats leaves apart
}

@test "a full disk leaves no picture" {
    made s
    [ -w /dev/full ] || skip "no /dev/full"
    for end in png svg pdf; do
        ln -s /dev/full out.$end
        ny plot s a -o out.$end
        exits 4
        says "No space left"
    done
}

@test "one value, one row of a kind, no labels" {
    printf '1,2\n1,2\n1,2\n3,2\n' >t.csv
    nystream import s t.csv -q
    nystream fit s a --map pca --approx exact -q
    ny plot s a -o out.png -q
    exits 0
    silent
    ny plot s a -o out.png --axes 2,2 --color 2
    exits 0
    ny plot s a -o out.svg --scree
    exits 0
    ny plot s a -o out.png --color label
    usage "'a' in s has no labels; a picture can have row"
    says "label comes with 'nystream import --label-column' or --labels"
}

@test "on the terminal: braille, or ASCII where that is all there is" {
    made s
    nystream graph s g --neighbors 3 -q
    ny plot s a --terminal
    exits 0
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 24 ]
    [[ $output != *[^[:print:][:space:]]* ]]
    [ "$(tr -d '\0-\177' <<<"$output" | wc -c)" -eq 0 ]
    prints "l=left" # classes without colours are letters
    prints "+--"
    [ "$(tr -cd 'lb' < <(head -n -3 <<<"$output" | cut -c 11-) | wc -c)" -gt 25 ]
    LC_ALL=C.UTF-8 ny plot s a --terminal --color density
    exits 0
    [[ $output == *[⠁-⣿]* && $output == *─* ]]
    [[ $output != *$'\033'* ]]
    COLUMNS=40 LINES=12 ny plot s a --terminal --color 2
    exits 0
    [ "$(wc -L <<<"$(head -n -3 <<<"$output" | tail -n +3)")" -le 40 ]
    ny plot s a --terminal --names
    usage "--names needs a picture in a file"
    ny plot s a --terminal --scree
    usage "--scree needs a picture in a file"
    ny plot s a --terminal -o out.png
    usage "give one of them"
    ny plot s g --terminal
    usage "'g' is only a graph"
    run bash -c 'nystream plot s a --terminal >/dev/full 2>err'
    [ "$status" -eq 4 ]
}

@test "names of classes that are too long end before the edge of the picture" {
    table 40 3 | awk -F, '{print $0 ",class " NR % 4 " whose name is as long as those of files"}' >t.csv
    nystream import s t.csv --label-column 4 -q
    nystream fit s a --landmarks 20 -q
    nystream plot s a -o out.svg --names --size 800x600 -q # 400 points wide
    grep -oE '<use [^>]* x="[-0-9.]+"' out.svg | sed -E 's/.* x="//; s/"//' >ends
    awk '$1 > 340 {near++} $1 > 396 || $1 < 0 {out++} END {exit !(near && !out)}' ends
}

@test "names of classes at the edge of the axes are not cut, and none is on another" {
    seq 0 799 | awk '{printf "%d,%d,class %d\n", 12 * int($1 / 8), -$1 % 7, $1 % 8} END {print "600,2000,far"}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    nystream plot s a -o out.svg --size 1600x1200 -q
    # the axes end at 541 of 600 points; the letters of names end at least 1 above, and each line of
    # names is at least 13 below another one
    grep -oE '<use [^>]* x="[-0-9.]+" y="[-0-9.]+"' out.svg | sed -E 's/.* x="([-0-9.]+)" y="([-0-9.]+)"/\1 \2/' |
        awk '$1 > 75 && $1 < 645 && $2 > 66 && $2 < 548 {print $2}' | sort -nu >lines
    awk '$1 > 540 || (NR > 1 && $1 - last < 13) {bad = 1} {last = $1} END {exit bad || NR < 7}' lines
}

@test "names of classes that begin alike can be told apart in the legend" {
    local ends
    for ends in ab cd; do
        table 40 3 | awk -F, -v ends=$ends '{print $0 ",cells of the left lung é, sample " substr(ends, NR % 2 + 1, 1)}' |
            sed -E 's/,(cells.*)/,"\1"/' >$ends.csv
        nystream import $ends $ends.csv --label-column 4 -q
        nystream fit $ends a --landmarks 20 -q
        nystream plot $ends a -o $ends.png --no-names --title same -q
    done
    run ! cmp ab.png cd.png
}

@test "on the terminal, long numbers beside the axis do not move the lines of the picture" {
    awk 'BEGIN {for (i = 0; i < 60; i++) print cos(i) "," sin(i) "," (-12345 - i / 1000)}' >t.csv
    nystream import s t.csv --dtype f64 -q
    nystream fit s a --map pca --approx exact -q
    nystream plot s a --terminal --axes 1,column:2 >seen
    grep -qE '^ *-12345\.[0-9]{2,} \+' seen # of nine letters
    [ "$(grep -E '^ *(-[0-9.]+)? [|+]' seen | awk '{print match($0, /[|+]/)}' | sort -u | wc -l)" -eq 1 ]
    grep -qE '^ +\+-+$' seen
}

@test "on the terminal, short numbers are written in full, and 0 is 0" {
    awk 'BEGIN {for (i = 0; i < 90; i++) print i / 3000 "," (i % 9) / 3000}' >t.csv
    nystream import s t.csv -q
    nystream fit s a --map pca --approx exact -q
    nystream plot s a --terminal >seen
    grep -qE '^ +0 [┤+]' seen
    grep -qE '^ +(−|-)?0\.0[0-9]+ [┤+]' seen
    run ! grep -qE '[0-9]e-[1-3]' seen
    awk -F, '{print $1 / 1e9 "," $2 / 1e9}' t.csv >small.csv
    nystream import small small.csv --dtype f64 -q
    nystream fit small a --map pca --approx exact --precision f64 -q
    nystream plot small a --terminal | grep -qE '[0-9]e-1[0-9] '
}

@test "on the terminal: colours only on one, and not with NO_COLOR" {
    need_terminal
    made s
    colored() {
        script -qec "nystream plot s a --terminal --color $1" /dev/null </dev/null
    }
    NO_COLOR='' TERM=xterm colored label | grep -q $'\033\[38;5;'
    ! NO_COLOR='' TERM=dumb colored label | grep -q $'\033\[38' || false
    ! NO_COLOR=1 TERM=xterm colored label | grep -q $'\033\[38'
}

@test "cairo is loaded when something is drawn, and named where it is not there" {
    made s
    ! ldd "$NYSTREAM_BUILD/nystream" | grep -q cairo || false
    mkdir empty
    : >empty/libcairo.so.2 # found first, and no library
    export LD_LIBRARY_PATH=$PWD/empty
    ny plot s a -o out.png
    exits 4
    says "no libcairo.so.2; on Debian, install it with 'apt install libcairo2'"
    [ ! -e out.png ]
    ny report s -o out.html
    exits 4
    says libcairo
    [ ! -e out.html ]
    ny plot s a --terminal
    exits 0
}

@test "eigenvalues that are 1 but for a little are not told as 1" {
    local i
    for i in 0 6 12; do # three groups, hardly joined
        table 100 3 $((i + 1)) | awk -F, -v OFS=, -v at=$i '{ for (j = 1; j <= NF; j++) $j = at + 4 * $j } 1'
    done >groups.csv
    nystream import g.nys groups.csv --quiet
    ny fit g.nys m --map laplacian --landmarks 100 --gamma 0.2
    says "eigenvalues           1 0.999"
    ny plot g.nys m --terminal
    prints "component 1: lambda = 0.999"
    nystream report g.nys -o page.html --quiet
    grep -q "λ = 0.999\|>0.999" page.html
    ny info g.nys m
    prints "eigenvalues           1 0.999"
}

# colors FILE.svg: prints the different colours of a picture, one a line.
colors() {
    grep -oE 'rgb\([0-9.%, ]*\)' "$1" | sort -u
}

# numbers: makes a store of 40 rows with columns x, y and age, fitted as "a".
numbers() {
    awk 'BEGIN { print "x,y,age"; for (i = 0; i < 40; i++) print cos(i) "," sin(i) "," i }' >n.csv
    nystream import s n.csv -q
    nystream fit s a --landmarks 20 -q
}

@test "a column of the points colours them, by its name or its number" {
    numbers
    nystream plot s a -o name.svg --color column:age
    nystream plot s a -o bare.svg --color age
    cmp name.svg bare.svg
    [ "$(colors name.svg | wc -l)" -gt 20 ] # a scale
    nystream plot s a -o x.svg --color x
    ! cmp -s x.svg name.svg || false
    nystream plot s a -o axes.svg --axes age,column:x --color row
    NO_COLOR='' TERM=xterm script -qec "nystream plot s a --terminal --color age" /dev/null \
        </dev/null | grep -q 'colours: age, from 0 (dark) to 39 (bright)'
    ny plot s a -o out.png --color column:agee
    exits 3
    says "agee"
    says "; did you mean 'age'?"
    ny plot s a -o out.png --color agee
    usage "column:NAME is a column of the points; did you mean 'age'?"
    tail -n +2 n.csv >plain.csv
    nystream import p plain.csv -q
    nystream fit p a --landmarks 20 -q
    nystream plot p a -o number.svg --color column:2
    [ "$(colors number.svg)" = "$(colors name.svg)" ]
    ny plot p a -o out.png --color column:age
    usage "the columns of p have no names; give the number of one, from 0 to 2"
    ny plot p a -o out.png --color column:3
    usage "p has no column 3: they are numbered from 0 to 2"
    [ ! -e out.png ]
}

@test "the value of a column is what readers see, also of sparse rows and of shards" {
    printf '%s\n' '%%MatrixMarket matrix coordinate integer general' '30 9 60' >m.mtx
    awk 'BEGIN { for (i = 1; i <= 30; i++) { print i, 1, i; print i, 2 + i % 8, 3 } }' >>m.mtx
    nystream import s m.mtx --layout sparse --rows total:100 --values log1p -q
    nystream fit s a --landmarks 20 -q
    awk 'BEGIN { for (i = 1; i <= 30; i++) print log(1 + 100 * i / (i + 3)) }' >seen.txt
    nystream plot s a -o column.svg --color column:0
    nystream plot s a -o file.svg --color seen.txt
    [ "$(colors column.svg)" = "$(colors file.svg)" ]
    for k in 0 1; do
        nystream import sharded m.mtx --layout sparse --rows total:100 --values log1p --shard $k/2 -q
    done
    nystream fit sharded a --map pca --approx exact -q
    cat seen.txt seen.txt >twice.txt
    nystream plot sharded a -o column.svg --color column:0
    nystream plot sharded a -o file.svg --color twice.txt
    [ "$(colors column.svg)" = "$(colors file.svg)" ]
}

@test "a file of few whole numbers colours classes, as labels do" {
    local kind
    made s
    awk 'BEGIN { for (i = 0; i < 60; i++) print i % 5 }' >kinds.txt
    awk 'BEGIN { for (i = 0; i < 60; i++) print i % 5 / 2 }' >halves.txt
    awk 'BEGIN { for (i = 0; i < 60; i++) print i % 21 }' >many.txt
    paste -d, <(table 60 3) kinds.txt >labelled.csv
    nystream import l labelled.csv --label-column 4 -q
    nystream export l --part labels -o kinds.npy
    ny plot s a --terminal --color kinds.npy
    prints "0=0  1=1  2=2  3=3  4=4"
    ny plot s a --terminal --color kinds.txt
    prints "0=0  1=1  2=2  3=3  4=4"
    for kind in halves many; do
        ny plot s a --terminal --color $kind.txt
        exits 0
        [[ $output != *"0=0"* ]]
    done
}

@test "more than 20 classes: each has its own letter on the terminal" {
    local letter
    table 520 2 | awk -F, '{printf "%s,%c\n", $0, 90 - NR % 26}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    ny plot s a --terminal
    exits 0
    for letter in {A..Z}; do prints "$letter=$letter  "; done
    [[ $output == *"A=A  B=B  C=C"* ]] # by the alphabet, although Y was met first
    [ "$(head -n -3 <<<"$output" | tail -n +3 | cut -c 11- | grep -o '[A-Z]' | sort -u | wc -l)" -eq 26 ]
}

@test "no class takes the initial of another one as its letter" {
    table 300 2 | awk -F, 'BEGIN { split("oak lower left", word, " ") } {print $0 "," word[NR % 3 + 1]}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    ny plot s a --terminal
    prints "l=left  w=lower  o=oak"
}

# twins: fits the tables a.csv and b.csv, and draws a.png and b.png.
twins() {
    local name
    for name in a b; do
        nystream import "$name" "$name.csv" --label-column 3 -q
        nystream fit "$name" a --map pca --approx exact -q
        nystream plot "$name" a -o "$name.png" --no-names --title same -q
    done
}

@test "on the terminal, rows of a rare class are seen among many" {
    table 3000 2 | awk -F, '{printf "%.1f,%.1f,%s\n", $1, $2, NR % 1500 ? "C" : "R"}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    ny plot s a --terminal
    exits 0
    [ "$(head -n -3 <<<"$output" | tail -n +3 | cut -c 11- | grep -o '[A-Z]' | sort -u | paste -sd,)" = C,R ]
}

@test "more than 20 classes: the legend lists all of them" {
    table 360 2 | awk -F, '{print $0 "," (NR % 36 ? "class " 100 + NR % 36 : "xa")}' >a.csv
    sed 's/xa$/xb/' a.csv >b.csv # the last line of the legend
    twins
    run ! cmp a.png b.png
}

# bats test_tags=slow
@test "more than 20 classes: also an image of many points tells those of one colour apart" {
    awk 'BEGIN { for (i = 0; i < 3000; i++) { k = i % 24; print k % 6 + i / 9000 "," int(k / 6) + i * 7 % 3000 / 9000 "," k } }' >a.csv
    awk -F, -v OFS=, '{ $3 = $3 == 1 ? 21 : $3 == 21 ? 1 : $3 } 1' a.csv >b.csv # of one colour
    twins
    run ! cmp a.png b.png
}

@test "a file colours the points: many numbers are a scale, words are classes" {
    numbers
    seq 0 39 >age.txt
    nystream plot s a -o column.svg --color age
    nystream plot s a -o file.svg --color age.txt
    [ "$(colors column.svg)" = "$(colors file.svg)" ]
    (echo age && seq 0 39) >age.csv # as pandas writes one column
    nystream plot s a -o header.svg --color age.csv
    [ "$(colors header.svg)" = "$(colors file.svg)" ]
    nystream export s a --part rows -o age.npy
    nystream plot s a -o npy.svg --color age.npy
    [ "$(colors npy.svg)" = "$(colors file.svg)" ]
    awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 ? "B cell" : "T cell" }' >kind.txt
    LC_ALL=C.UTF-8 nystream plot s a --terminal --color kind.txt | grep -q "B cell"
    (echo kind && cat kind.txt) >kind.csv
    nystream plot s a -o kind.svg --color kind.txt
    nystream plot s a -o headed.svg --color kind.csv
    [ "$(colors kind.svg)" = "$(colors headed.svg)" ]
    [ "$(colors kind.svg | wc -l)" -lt 15 ]
    awk 'NR == 2 { $0 = "NA" } 1' kind.txt >gap.txt # a word above none is no header
    (echo kind && cat gap.txt) >gap.csv
    nystream plot s a -o gap.svg --color gap.txt
    nystream plot s a -o headed.svg --color gap.csv
    [ "$(colors gap.svg)" = "$(colors headed.svg)" ]
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "\"%d\"\n", 12 - i % 12 }' >quoted.txt
    LC_ALL=C.UTF-8 nystream plot s a --terminal --color quoted.txt >drawn
    tail -n 3 drawn | tr -d '\n' | grep -qE '\b1\b.*\b2\b.*\b10\b.*\b12\b' # classes in their order
    seq 0 38 >short.txt
    ny plot s a -o out.png --color short.txt
    exits 3
    says "short.txt has 39 values, but s has 40 rows; give a value for each row"
    seq 0 49 >long.txt
    ny plot s a -o out.png --color long.txt
    exits 3
    says "long.txt has more than 40 values, but s has 40 rows"
    paste -d, kind.txt age.txt >two.csv
    ny plot s a -o out.png --color two.csv
    exits 3
    says "two.csv has several columns"
    ny plot s a -o out.png --color nowhere.txt
    exits 4
    says "nowhere.txt"
    [ ! -e out.png ]
}
