#!/usr/bin/env bats
# Files of text that join rows which are there: their type, the base of their indices, their columns
# by names, their labels; and what comes before and behind text: marks, zeros, ends of lines.

load helper

# points STORE: prints its points, a row a line.
points() {
    nystream export "$1" --part points -o "$1.points.csv" -q
    cat "$1.points.csv"
}

@test "a line end in a name of a header is a blank, and a long name is cut" {
    printf '"a\nq","b\r\nr"\n1,2\n3,4\n' >t.csv
    nystream import t.nys t.csv -q
    nystream export t.nys --part columns -o names.txt
    [ "$(cat names.txt)" = $'a q\nb r' ]
    printf '"b\nr","a\nq"\n20,10\n' >u.csv
    nystream import t.nys u.csv --append -q
    [ "$(points t.nys | tail -n 1)" = 10,20 ]

    printf '%05000d,%04095dä\n1,2\n' 1 2 >long.csv
    ny import long.nys long.csv
    exits 0
    says "the name of column 1 has 5000 bytes, and is cut to the first 4096"
    nystream export long.nys --part columns -o names.txt
    [ "$(awk '{ print length }' names.txt | tr '\n' ' ')" = "4096 4095 " ]
}

@test "a byte order mark before text is passed over" {
    local mark=$'\xef\xbb\xbf'
    printf '%s1 1:1 3:2\n2 2:5\n1 1:1\n' "$mark" >t.svm
    nystream import svm.nys t.svm -q
    nystream export svm.nys --part labels -o labels.csv
    [ "$(cat labels.csv)" = $'1\n2\n1' ]
    printf '1,2,3\n4,5,6\n' >t.csv
    printf '%s2\n1\n' "$mark" >labels.txt
    nystream import csv.nys t.csv --labels labels.txt -q
    nystream export csv.nys --part labels -o labels.csv
    [ "$(cat labels.csv)" = $'2\n1' ]
    printf '%s%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.5\n' "$mark" >t.mtx
    printf '%sa\nb\nc\n' "$mark" >names.txt
    nystream import mtx.nys t.mtx --column-names names.txt -q
    nystream export mtx.nys --part columns -o columns.txt
    [ "$(cat columns.txt)" = $'a\nb\nc' ]
    printf '%s0 1 0.5\n1 2 0.5\n' "$mark" >edges.txt
    nystream graph edges.nys g --edges edges.txt -q
    printf '%sa,b\n1,2\n' "$mark" | gzip >t.csv.gz
    nystream import gz.nys t.csv.gz -q
    nystream export gz.nys --part columns -o columns.txt
    [ "$(cat columns.txt)" = $'a\nb' ]
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

@test "a header of numbers is one where the rows that are there have these names" {
    printf '2001,2002,2003\n1,2,3\n4,5,6\n7,8,1\n' >t.csv
    printf '2003,2001,2002\n30,10,20\n' >u.csv
    nystream import t.nys t.csv --header yes -q
    ny import t.nys u.csv --append
    exits 0
    [ "$(points t.nys | tail -n +3)" = $'7,8,1\n10,20,30' ]
    printf '2003,2001,2001\n' >v.csv
    nystream import t.nys v.csv --append -q
    [ "$(points t.nys | tail -n 1)" = 2003,2001,2001 ]
    nystream import t.nys u.csv --append --header no -q
    [ "$(points t.nys | tail -n 2)" = $'2003,2001,2002\n30,10,20' ]
    nystream fit t.nys m --map pca --approx exact --components 2 -q
    nystream transform t.nys m --input u.csv -o out.csv
    [ "$(wc -l <out.csv)" = 1 ]
}
