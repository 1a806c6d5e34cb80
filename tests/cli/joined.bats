#!/usr/bin/env bats
# Files of text that join rows which are there: their type, the base of their indices, their columns
# by names, their labels; and what comes before and behind text: marks, zeros, ends of lines.

load helper

# points STORE: prints its points, a row a line.
points() {
    nystream export "$1" --part points -o "$1.points.csv" -q
    cat "$1.points.csv"
}

@test "the name of a class that has a line end in it stays one name" {
    printf 'y,a\n"p\nq",2\nr,3\n' >t.csv
    nystream import t.nys t.csv --label-column y -q
    nystream export t.nys --part classes -o classes.txt
    [ "$(cat classes.txt)" = $'p q\nr' ]
    nystream export t.nys --part classes -o classes.csv
    [ "$(cat classes.csv)" = $'"p\nq"\nr' ]
}

@test "zeros behind gzip data are padding" {
    printf '1,2\n3,4\n' | gzip >t.csv.gz
    cp t.csv.gz junk.csv.gz
    cp t.csv.gz more.csv.gz
    head -c 600000 /dev/zero >>t.csv.gz
    nystream import t.nys t.csv.gz -q
    [ "$(points t.nys)" = $'1,2\n3,4' ]
    printf 'junk' >>junk.csv.gz
    ny import junk.nys junk.csv.gz
    exits 3
    says "the gzip data are damaged"
    { printf '\0\0'; printf '5,6\n' | gzip; } >>more.csv.gz
    ny import more.nys more.csv.gz
    exits 3
    says "go on behind zeros"
}
