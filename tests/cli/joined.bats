# Files of text that join rows which are there: their type, the base of their indices, their columns
# by names, their labels; and what comes before and behind text: marks, zeros, ends of lines.
load helper

# points STORE: prints its points, a row a line.
points() {
    nystream export "$1" --part points -o "$1.points.csv" -q
    cat "$1.points.csv"
}

@test "text that joins f64 rows is read as f64" {
    printf 'a,b\n0.1,0.2\n' >t.csv
    printf '1 1:0.1 2:0.7\n' >t.svm
    printf '%%%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 0.3\n1 2 0.7\n' >t.mtx
    nystream import f64.nys t.csv --dtype f64 -q
    printf 'a,b\n123456789.25,0.7\n' >u.csv
    ny -0 import f64.nys u.csv --append
    [[ $stderr != *rounded* ]]
    nystream import f64.nys t.svm t.mtx --append -q
    [ "$(points f64.nys)" = "$(printf '0.10000000000000001,%s\n' 0.20000000000000001
        printf '%s,0.69999999999999996\n' 123456789.25 0.10000000000000001 0.29999999999999999)" ]
    nystream import f64.nys u.csv --append --dtype f32 -q
    [[ $(points f64.nys | tail -n 1) == 123456792,0.69999* ]]
}

@test "indices of LIBSVM files begin where those of the rows that are there do" {
    printf '1 0:1 1:2 2:3\n' >zero.svm
    printf '1 1:2 2:3\n' >none.svm
    printf '1 1:5 2:6 3:7\n' >one.svm
    nystream import zero.nys zero.svm -q
    ny -0 import zero.nys none.svm --append
    [ "$(points zero.nys)" = $'1,2,3\n0,2,3' ]
    cat none.svm | nystream import zero.nys - --append --format libsvm -q
    [ "$(points zero.nys | tail -n 1)" = 0,2,3 ]

    nystream import both.nys zero.svm none.svm -q
    [ "$(points both.nys)" = $'1,2,3\n0,2,3' ]

    nystream import one.nys one.svm -q
    ny -3 import one.nys none.svm zero.svm --append
    ny -3 import new.nys none.svm zero.svm

    printf '1 0:1 1:2 2:3\n1 0:2 1:1 2:7\n1 0:5 1:1 2:0.5\n' >fit.svm
    nystream import fit.nys fit.svm -q
    nystream fit fit.nys m --map pca --approx exact --components 2 -q
    printf '1 0:0 1:2 2:3\n' >same.svm
    agree cmp "transform fit.nys m --input none.svm" "transform fit.nys m --input same.svm"

    # Landmarks that are given as points are rows as well.
    nystream fit fit.nys a --landmarks-points none.svm --gamma 0.1 --components 1 -q
    nystream fit fit.nys b --landmarks-points same.svm --gamma 0.1 --components 1 -q
    same_exports "fit.nys a" "fit.nys b"

    nystream import s --shard 0/2 zero.svm -q
    nystream import s --shard 1/2 none.svm -q
    [ "$(points s)" = $'1,2,3\n0,2,3' ]
}

@test "where the indices of the rows that are there are not known, a guess is told" {
    printf '1,2,3\n' >t.csv
    printf '1 1:2 2:3\n' >none.svm
    printf '1 0:2 2:3\n' >zero.svm
    nystream import t.nys t.csv -q
    ny -0 import t.nys none.svm --append
    ny -0 import t.nys none.svm --append
    [[ $stderr != *"indices from 1"* ]]
    ny -3 import t.nys zero.svm --append
}

@test "a line end in a name of a header is a blank, and a long name is refused" {
    printf '"a\nq","b\r\nr"\n1,2\n3,4\n' >t.csv
    nystream import t.nys t.csv -q
    [ "$(shown "t.nys --part columns" txt)" = $'a q\nb r' ]
    printf '"b\nr","a\nq"\n20,10\n' >u.csv
    nystream import t.nys u.csv --append -q
    [ "$(points t.nys | tail -n 1)" = 10,20 ]

    printf '%05000d,a\n1,2\n' 1 >long.csv
    ny -3 import long.nys long.csv
}

@test "a byte order mark before text is passed over" {
    local mark=$'\xef\xbb\xbf'
    printf '%s1 1:1 3:2\n2 2:5\n1 1:1\n' "$mark" >t.svm
    nystream import svm.nys t.svm -q
    [ "$(shown "svm.nys --part labels")" = $'1\n2\n1' ]
    printf '1,2,3\n4,5,6\n' >t.csv
    printf '%s2\n1\n' "$mark" >labels.txt
    nystream import csv.nys t.csv --labels labels.txt -q
    [ "$(shown "csv.nys --part labels")" = $'2\n1' ]
    printf '%s%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.5\n' "$mark" >t.mtx
    printf '%sa\nb\nc\n' "$mark" >names.txt
    nystream import mtx.nys t.mtx --column-names names.txt -q
    [ "$(shown "mtx.nys --part columns" txt)" = $'a\nb\nc' ]
    printf '%s0 1 0.5\n1 2 0.5\n' "$mark" >edges.txt
    nystream graph edges.nys g --edges edges.txt -q
    printf '%sa,b\n1,2\n' "$mark" | gzip >t.csv.gz
    nystream import gz.nys t.csv.gz -q
    [ "$(shown "gz.nys --part columns" txt)" = $'a\nb' ]
}

@test "the name of a class that has a line end in it stays one name" {
    printf 'y,a\n"p\nq",2\nr,3\n' >t.csv
    nystream import t.nys t.csv --label-column y -q
    [ "$(shown "t.nys --part classes" txt)" = $'p q\nr' ]
    [ "$(shown "t.nys --part classes")" = $'"p\nq"\nr' ]
}

@test "nothing but gzip data may follow gzip data" {
    { printf '1,2\n3,4\n' | gzip; printf '5,6\n' | gzip; } >t.csv.gz
    nystream import t.nys t.csv.gz -q
    [ "$(points t.nys)" = $'1,2\n3,4\n5,6' ]
    printf 'junk' >>t.csv.gz
    ny -3 import junk.nys t.csv.gz
}

@test "labels of a LIBSVM file are left out where the rows that are there have none" {
    printf '1,2\n3,4\n' >t.csv
    printf '1 1:5 2:6\n' >u.svm
    nystream import t.nys t.csv -q
    ny -0 import t.nys u.svm --append
    [ "$(points t.nys)" = $'1,2\n3,4\n5,6' ]
    ny -0 import new.nys t.csv u.svm
    [ "$(points new.nys)" = $'1,2\n3,4\n5,6' ]
    printf '1\n' >labels.txt
    ny -3 import t.nys u.svm --append --labels labels.txt
}

@test "files of one import whose columns differ are told by their names" {
    printf 'a,b\n1,2\n' >t.csv
    printf 'b,a\n4,3\n' >u.csv
    ny -3 import t.nys t.csv u.csv
    says "column 0 (from 0) of u.csv is called 'b', but that of the files before it 'a'"
    [[ $stderr != *t.nys* ]]
    nystream import t.nys t.csv -q
    nystream import t.nys u.csv --append -q
    [ "$(points t.nys)" = $'1,2\n3,4' ]

    # Those of a new shard are found as in the shards beside it.
    nystream import s t.csv --shard 0/2 -q
    nystream import s t.csv u.csv --shard 1/2 -q
    [ "$(points s)" = $'1,2\n1,2\n3,4' ]
}

@test "a header of numbers is one where the rows that are there have these names" {
    printf '2001,2002,2003\n1,2,3\n4,5,6\n7,8,1\n' >t.csv
    printf '2003,2001,2002\n30,10,20\n' >u.csv
    nystream import t.nys t.csv --header yes -q
    ny -0 import t.nys u.csv --append
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
