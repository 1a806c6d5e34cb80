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
        ny -0 plot s a -o out.$end -q
        silent
    done
    head -c 8 out.png | cmp - <(printf '\211PNG\r\n\032\n')
    [ "$(size out.png)" = "1600 1200" ]
    cmp out.png out.PNG
    begins out.svg '<?xml version="1.0"'
    grep -Eq 'width="800(pt)?" height="600(pt)?"' out.svg # cairo has the unit up to 1.16
    tail -n 1 out.svg | grep -q '</svg>'
    nystream plot s a -o named.svg --title 'R & D, a<b'
    grep -q '^<title>R &#38; D, a&#60;b: .*</title>$' named.svg # letters are outlines
    nystream plot s a -o named.pdf --title 'R & D, a<b'
    unpacked named.pdf | grep -aq '/Title (R & D, a<b: '
    ! grep -q '<image' out.svg || false # few points are drawn as such
    ! grep -q 'right' out.svg || false  # letters are outlines
    begins out.pdf %PDF-1.
    tail -n 1 out.pdf | grep -q '%%EOF'
    ny -0 plot s a -o - --size 400x300
    nystream plot s a -o - --size 400x300 >piped.png
    [ "$(size piped.png)" = "400 300" ]
}

# bats test_tags=slow
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
@test "names of classes are written among many points, or where asked for" {
    made s
    table 2100 3 | awk -F, '{print $0 "," NR % 3}' >n.csv
    nystream import n n.csv --label-column 4 -q
    nystream fit n a --map pca --approx exact -q
    differ() { # STORE OPTION: whether the picture is another one without or with it
        nystream plot "$1" a -o default.png
        nystream plot "$1" a -o typed.png "$2"
        ! cmp -s default.png typed.png || false
    }
    differ n --no-names
    ! differ n --names || false
    differ s --names
    ! differ s --no-names
}

@test "a full disk leaves no picture" {
    made s
    [ -w /dev/full ] || skip "no /dev/full"
    for end in png svg pdf; do
        ln -s /dev/full out.$end
        answers 4 "No space left" plot s a -o out.$end
    done
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
    seq 0 799 | awk '{printf "%d,%d,class %d\n", 12 * int($1 / 8), 90 * ($1 % 8) + $1 % 7, $1 % 8}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    nystream plot s a -o out.svg --names --size 1600x1200 -q
    # the axes end at 541 of 600 points; the letters of names end at least 1 above, and each line of
    # names is at least 13 below another one
    grep -oE '<use [^>]* x="[-0-9.]+" y="[-0-9.]+"' out.svg | sed -E 's/.* x="([-0-9.]+)" y="([-0-9.]+)"/\1 \2/' |
        awk '$1 > 75 && $1 < 645 && $2 > 66 && $2 < 548 {print $2}' | sort -nu >lines
    awk '$1 > 540 || (NR > 1 && $1 - last < 13) {bad = 1} {last = $1} END {exit bad || NR < 7}' lines
}

@test "cairo is loaded when something is drawn, and named where it is not there" {
    made s
    ! ldd "$NYSTREAM_BUILD/nystream" | grep -q cairo || false
    mkdir empty
    : >empty/libcairo.so.2 # found first, and no library
    export LD_LIBRARY_PATH=$PWD/empty
    ny -4 plot s a -o out.png
    [ ! -e out.png ]
    ny -4 report s -o out.html
    [ ! -e out.html ]
    ny -0 plot s a --terminal
}

@test "eigenvalues that are 1 but for a little are not told as 1" {
    for i in 0 6 12; do # three groups, hardly joined
        table 100 3 $((i + 1)) | awk -F, -v OFS=, -v at=$i '{ for (j = 1; j <= NF; j++) $j = at + 4 * $j } 1'
    done >groups.csv
    nystream import g.nys groups.csv --quiet
    ny fit g.nys m --map laplacian --landmarks 100 --gamma 0.2
    says "eigenvalues           1 0.999"
    nystream report g.nys -o page.html --quiet
    grep -q "λ = 0.999\|>0.999" page.html
    shows "eigenvalues           1 0.999" info g.nys m
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

# twins: fits the tables a.csv and b.csv, and draws a.png and b.png.
twins() {
    local name
    for name in a b; do
        nystream import "$name" "$name.csv" --label-column 3 -q
        nystream fit "$name" a --map pca --approx exact -q
        nystream plot "$name" a -o "$name.png" --no-names --title same -q
    done
}

@test "more than 20 classes: the legend lists all of them" {
    table 360 2 | awk -F, '{print $0 "," (NR % 36 ? "class " 100 + NR % 36 : "xa")}' >a.csv
    sed 's/xa$/xb/' a.csv >b.csv # the last line of the legend
    twins
    run ! cmp a.png b.png
}

# bats test_tags=slow
@test "columns, colours and the other pictures" {
    made s
    nystream graph s g --neighbors 3 -q
    nystream fit s one --components 1 --landmarks 20 -q
    for options in "a --axes 1,3" "a --axes row,2" "a --color 3" "a --color row" "a --color density" \
        "a --all" "a --color label" "a --title anything" "a --scree" "a --size 200x900" \
        "a --color component:g" "a --color label:g" one; do
        ny -0 plot s $options -o out.png -q
        silent
    done
    nystream plot s a -o x.svg --axes 1,2
    nystream plot s a -o y.svg --axes 2,1
    run ! cmp -s x.svg y.svg
    printf '1,2\n1,2\n1,2\n3,2\n' >t.csv # one value, one row of a kind, no labels
    nystream import t t.csv -q
    nystream fit t a --map pca --approx exact -q
    for options in "" "--axes 2,2 --color 2" --scree; do
        ny -0 plot t a -o out.png $options
    done
}

@test "nothing that can be drawn: a sentence and no file" {
    made s
    nystream graph s g --neighbors 3 -q
    nystream select s d --landmarks 9 -q
    while read -r words; do
        ny -2 plot s $words
    done <<'T'
d -o out.png
a -o out.png --color 0
a -o out.png --color cluster
a -o out.png --color component
a -o out.png --color residual:g
a -o out.png --axes 1
a -o out.png --size 20x20
a --terminal -o out.png
a --terminal --names
T
    [ "$(ls -A | grep -v separate-stderr | xargs)" = "s s.csv" ] # what bats leaves apart
}

@test "on the terminal: a letter for each class, or signs, all of it within the screen" {
    table 3000 2 | awk -F, '{printf "%.1f,%.1f,%s\n", $1, $2, NR % 3 == 1 ? "left" : NR % 3 == 2 ? "" : "right"}' >t.csv
    nystream import s t.csv --label-column 3 -q
    nystream fit s a --map pca --approx exact -q
    COLUMNS=60 LINES=20 ny plot s a --terminal
    exits 0
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 19 ]
    [ "$(wc -L <<<"$output")" -le 60 ]
    prints "a=left  b=right  ?=others"
    [ "$(sed -n 2,16p <<<"$output" | cut -c 13- | grep -o '[^ ]' | sort -u | paste -sd' ')" = "? a b" ]
    ny plot s a --terminal --color density
    [[ $output == *@* ]]
    shows "2: -" plot s a --terminal --color 2
    run -4 bash -c 'nystream plot s a --terminal >/dev/full 2>err'
}

@test "a column of the points colours them, by its name or its number" {
    numbers
    nystream plot s a -o name.svg --color column:age
    nystream plot s a -o bare.svg --color age
    cmp name.svg bare.svg
    [ "$(colors name.svg | wc -l)" -gt 20 ] # a scale
    nystream plot s a -o x.svg --color x
    run ! cmp -s x.svg name.svg
    nystream plot s a -o axes.svg --axes age,column:x --color row
    shows "age: -1.56 (.) to 40.56 (@)" plot s a --terminal --color age
    ny -3 plot s a -o out.png --color column:agee
    ny -2 plot s a -o out.png --color agee
    tail -n +2 n.csv >plain.csv
    nystream import p plain.csv -q
    nystream fit p a --landmarks 20 -q
    nystream plot p a -o number.svg --color column:2
    [ "$(colors number.svg)" = "$(colors name.svg)" ]
    for column in age 3; do
        ny -2 plot p a -o out.png --color column:$column
    done
    [ ! -e out.png ]
}

@test "the value of a column is what readers see, also of sparse rows and of shards" {
    printf '%s\n' '%%MatrixMarket matrix coordinate integer general' '30 9 60' >m.mtx
    awk 'BEGIN { for (i = 1; i <= 30; i++) { print i, 1, i; print i, 2 + i % 8, 3 } }' >>m.mtx
    awk 'BEGIN { for (i = 1; i <= 30; i++) printf "%.17g,%d\n", log(1 + 100 * i / (i + 3)), i % 5 }' >seen.csv
    nystream import s m.mtx --layout sparse --rows total:100 --values log1p -q
    nystream import wanted seen.csv --dtype f64 -q
    for k in 0 1; do
        nystream import sharded m.mtx --layout sparse --rows total:100 --values log1p --shard $k/2 -q
    done
    for store in s wanted sharded; do
        nystream fit $store a --map pca --approx exact -q
        nystream plot $store a -o $store.svg --color column:0
        colors $store.svg >$store.txt
    done
    cmp s.txt wanted.txt
    cmp sharded.txt wanted.txt
}
