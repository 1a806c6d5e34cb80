# Names of rows and of columns: read beside the rows, kept with them, and given back.
load helper

# mtx ROWS COLUMNS ENTRY…: prints counts as MatrixMarket.
mtx() {
    printf '%s\n' '%%MatrixMarket matrix coordinate integer general' "$1 $2 $(($# - 2))" "${@:3}"
}

# tenx FOLDER [EXTRA]: 3 cells of 4 genes as 10x Genomics writes them, genes x cells
tenx() {
    mkdir -p "$1"
    mtx 4 3 '1 1 1' '2 1 2' '3 2 3' '4 2 5' '1 3 7' '4 3 9' >"$1/matrix.mtx"
    printf 'AAA-1\nCCC-1\nGGG-1\n' >"$1/barcodes.tsv"
    printf 'ENS1\tActb\tGene Expression\nENS2\tCd4\tGene\nENS3\tCd8a\tGene\nENS4\tMs4a1\tGene\n' \
        >"$1/features.tsv"
}

# ids STORE [NAME], columns STORE: the names on one line
ids() { nystream export "$@" --part ids -o - -q | xargs; }
columns() { nystream export "$1" --part columns -o - -q | xargs; }

@test "the tables of 10x Genomics name cells and genes, whichever the rows are" {
    tenx plain
    nystream import a.nys plain/matrix.mtx --transpose -q
    [ "$(ids a.nys)" = "AAA-1 CCC-1 GGG-1" ]
    [ "$(columns a.nys)" = "Actb Cd4 Cd8a Ms4a1" ]
    run nystream import b.nys plain/matrix.mtx
    [ "$(ids b.nys)" = "Actb Cd4 Cd8a Ms4a1" ]
    [ "$(columns b.nys)" = "AAA-1 CCC-1 GGG-1" ]
    tenx packed
    gzip packed/*
    mv packed/features.tsv.gz packed/genes.tsv.gz # the name before version 3 of Cell Ranger
    nystream import c.nys packed/matrix.mtx.gz --transpose -q
    [ "$(ids c.nys)" = "AAA-1 CCC-1 GGG-1" ]
    [ "$(columns c.nys)" = "Actb Cd4 Cd8a Ms4a1" ]
    for file in matrix.mtx barcodes.tsv features.tsv; do
        mv plain/$file plain/GSM1_$file # the way archives name them
    done
    nystream import d.nys plain/GSM1_matrix.mtx --transpose -q
    [ "$(ids d.nys)" = "AAA-1 CCC-1 GGG-1" ]
    cp plain/GSM1_matrix.mtx plain/other.mtx # no table belongs to it
    nystream import e.nys plain/other.mtx -q
    run -2 nystream export e.nys --part ids -o e.txt
    [ ! -e e.txt ]
}

@test "the words of labels are names of classes, in the order of their numbers" {
    printf '1,2,dog\n3,4,\n5,6,"a, b"\n7,8,dog\n' >words.csv
    nystream import a.nys words.csv --label-column 3 -q
    [ "$(nystream export a.nys --part classes -o - -q)" = $'dog\na, b' ]
    [ "$(shown "a.nys --part classes")" = $'dog\n"a, b"' ]
    [ "$(shown "a.nys --part labels" | xargs)" = "0 nan 1 0" ]
    nystream fit a.nys p --map pca --kernel linear --approx exact --components 1 -q
    [ "$(nystream export a.nys p --part classes -o - -q)" = $'dog\na, b' ]
    nystream import b.nys words.csv --columns 1-2 -q
    run -2 nystream export b.nys --part classes -o -
    nystream import c.nys words.csv --columns 1 --label-column 2 -q
    run -2 nystream export c.nys --part classes -o -
}

@test "cells by rows, and as many cells as genes" {
    tenx square
    mtx 3 4 '1 1 5' >square/matrix.mtx
    nystream import a.nys square/matrix.mtx -q
    [ "$(ids a.nys)" = "AAA-1 CCC-1 GGG-1" ]
    mtx 3 3 '1 1 5' >square/matrix.mtx
    head -n 3 square/features.tsv >some && mv some square/features.tsv
    nystream import b.nys square/matrix.mtx -q
    [ "$(ids b.nys)" = "Actb Cd4 Cd8a" ] # rows are genes
    nystream import c.nys square/matrix.mtx --transpose -q
    [ "$(ids c.nys)" = "AAA-1 CCC-1 GGG-1" ]
}

@test "a table of another matrix is refused, and leaves no store" {
    tenx bad
    cp bad/barcodes.tsv cells.tsv
    for barcodes in 'cat cells.tsv; echo TTT-1; echo UUU-1' 'cat bad/features.tsv' 'printf "%05000d\nB\nC\n" 0' \
        'printf "A\nB\0\nC\n"'; do
        eval "$barcodes" >bad/barcodes.tsv
        ny -3 import a.nys bad/matrix.mtx --transpose
        [ ! -e a.nys ]
    done
}

# bats test_tags=slow
@test "rows that are dropped take their names along; shuffled rows keep theirs" {
    tenx few
    mtx 4 3 '1 1 1' '2 1 nan' '3 2 3' '4 2 5' '1 3 7' | sed 1s/integer/real/ >few/matrix.mtx
    nystream import a.nys few/matrix.mtx --transpose --nan drop -q
    [ "$(ids a.nys)" = "CCC-1 GGG-1" ]
    nystream import b.nys few/matrix.mtx --transpose --nan drop --min-values 2 -q
    [ "$(ids b.nys)" = "CCC-1" ]
    mtx 4 3 '1 1 1' '3 2 3' '4 2 5' '1 3 7' >few/matrix.mtx
    for layout in sparse dense; do
        rm -rf b.nys
        nystream import b.nys few/matrix.mtx --transpose --min-values 2 --layout $layout -q
        [ "$(ids b.nys)" = "CCC-1" ] # neither the first nor the last
    done
    mkdir many
    mapfile -t entries < <(seq 2000 | awk '{ print $1, $1 % 50 + 1, $1 % 9 + 1 }')
    mtx 2000 50 "${entries[@]}" >many/matrix.mtx
    seq -f cell%.0f 0 1999 >many/barcodes.tsv
    for layout in sparse dense; do
        rm -rf s.nys
        nystream import s.nys many/matrix.mtx --shuffle --layout $layout -q
        nystream fit s.nys p --map pca --approx exact --kernel linear --components 1 -q
        nystream export s.nys p --part source -o source.csv -q
        nystream export s.nys p --part ids -o ids.txt -q
        sed 's/^/cell/' source.csv | cmp - ids.txt
        ! cmp -s ids.txt many/barcodes.tsv || false
    done
}

@test "appending: the same columns, and empty names where there are none" {
    tenx one
    tenx two
    sed -i 's/^/two-/' two/barcodes.tsv
    nystream import a.nys one/matrix.mtx --transpose -q
    nystream import a.nys two/matrix.mtx --transpose --append -q
    [ "$(ids a.nys)" = "AAA-1 CCC-1 GGG-1 two-AAA-1 two-CCC-1 two-GGG-1" ]
    printf '1,2,3,4\n5,6,7,8\n' >more.csv
    run -0 nystream import a.nys more.csv --append
    [ "$(nystream export a.nys --part ids -o - | tail -n 2 | tr '\n' ,)" = ",," ]
    sed -i 's/Cd8a/Cd8b/' two/features.tsv
    run -3 nystream import a.nys two/matrix.mtx --transpose --append
    [[ $output == *"two/matrix.mtx lacks columns of a.nys: 'Cd8a'"* ]]
    answers 3 "'Cd8b'" import n.nys one/matrix.mtx two/matrix.mtx --transpose
    [ ! -e n.nys ]
    nystream import b.nys more.csv -q
    run -0 nystream import b.nys one/matrix.mtx --transpose --append
    run -2 nystream export b.nys --part ids -o -
    nystream verify a.nys
    nystream compact a.nys
    [ "$(ids a.nys)" = "AAA-1 CCC-1 GGG-1 two-AAA-1 two-CCC-1 two-GGG-1" ]
}

@test "features of MatrixMarket to append are found by their names" {
    tenx one
    nystream import a.nys one/matrix.mtx --transpose --layout sparse -q
    mkdir two
    mtx 5 1 '1 1 7' '2 1 5' '3 1 9' '5 1 8' >two/matrix.mtx
    printf 'ENS4\tMs4a1\tGene\nENS5\tCd19\tGene\nENS1\tActb\tGene\nENS2\tCd4\tGene\nENS3\tCd8a\tGene\n' >two/features.tsv
    run -0 nystream import a.nys two/matrix.mtx --transpose --append
    [[ $output != *"sorted"* ]]
    echo 9,0,8,7 >row.csv # the same without names
    nystream import b.nys one/matrix.mtx --transpose --layout sparse -q
    nystream import b.nys row.csv --append -q
    same_exports "a.nys --part points" "b.nys --part points"
}

# Three rows of terms in two formats, and the names of the terms.
terms() {
    printf '0 1:2 3:1\n1 2:5\n0 1:1 2:1 3:7\n' >a.svm
    mtx 3 3 '1 1 2' '1 3 1' '2 2 5' '3 1 1' '3 2 1' '3 3 7' >a.mtx
    printf 'oak\nelm\nash tree\n\n' >names.txt
}

@test "columns of files without names are named by a file of names: --column-names" {
    terms
    for kind in svm mtx; do
        nystream import $kind.nys a.$kind --column-names names.txt --layout sparse -q
        [ "$(columns $kind.nys)" = "oak elm ash tree" ]
    done
    # further terms are left out, and another order is put right
    printf 'pine\nash tree\noak\nelm\n' >others.txt
    printf '0 1:9 2:4 3:6\n1 4:3\n' >b.svm
    mtx 2 4 '1 1 9' '1 2 4' '1 3 6' '2 4 3' >b.mtx
    for kind in svm mtx; do
        nystream fit $kind.nys all --map svd --kernel linear --approx exact --components 2 -q
        ny -0 transform $kind.nys all --input b.$kind --column-names others.txt -o $kind.csv
        ny -0 import $kind.nys b.$kind --append --column-names others.txt
        [ "$(shown "$kind.nys --part points" | tail -n 2)" = $'6,0,4\n0,3,0' ]
    done
    cmp svm.csv mtx.csv
    nystream import dense.nys a.svm --column-names names.txt --layout dense -q
    nystream import dense.nys b.svm --column-names others.txt --append -q
    [ "$(shown "dense.nys --part points" | tail -n 2)" = $'6,0,4\n0,3,0' ]
}

@test "sparse rows are 0 in named columns of the store that their file lacks" {
    terms
    printf 'ash tree\npine\noak\n' >fewer.txt # no elm
    printf 'oak\nelm\n' >first.txt # the last one may be lacking
    printf '0 1:4 2:9 3:6\n1 2:3\n' >b.svm
    mtx 2 3 '1 1 4' '1 2 9' '1 3 6' '2 2 3' >b.mtx
    printf '0 1:4 2:9\n' >first.svm
    mtx 1 2 '1 1 4' '1 2 9' >first.mtx
    printf '6,0,4\n0,0,0\n' >whole.csv
    for kind in svm mtx; do
        nystream import $kind.nys a.$kind --column-names names.txt --layout sparse -q
        nystream fit $kind.nys all --map svd --kernel linear --approx exact --components 2 -q
        nystream fit $kind.nys some --map kpca --kernel rbf --landmarks 3 --components 2 -q
        nystream transform $kind.nys all --input whole.csv -o whole.all.csv -q
        nystream transform $kind.nys some --input whole.csv -o whole.some.csv -q
        for result in all some; do
            ny -0 transform $kind.nys $result --input b.$kind --column-names fewer.txt -o $kind.csv
            cmp whole.$result.csv $kind.csv
        done
        ny -0 import $kind.nys b.$kind --append --column-names fewer.txt
        [ "$(shown "$kind.nys --part points" | tail -n 2)" = "$(cat whole.csv)" ]
        [ "$(columns $kind.nys)" = "oak elm ash tree" ]
        printf 'a\nb\nc\n' >foreign.txt # none of them is there
        ny -3 import $kind.nys b.$kind --append --column-names foreign.txt
        says "b.$kind lacks columns of $kind.nys: 'oak', 'elm', 'ash tree'"
        nystream transform $kind.nys all --input first.$kind --column-names first.txt -o first.$kind.csv -q
        ny -0 import $kind.nys first.$kind --append --column-names first.txt
        [ "$(shown "$kind.nys --part points" | tail -n 1)" = 4,9,0 ]
    done
    cmp first.svm.csv first.mtx.csv
    nystream import dense.nys a.svm --column-names names.txt --layout dense -q # not of dense rows
    ny -3 import dense.nys b.mtx --append --column-names fewer.txt
    says "b.mtx lacks columns of dense.nys: 'elm'"
    printf 'oak,ash tree\n1,2\n' >rows.csv
    ny -3 import mtx.nys rows.csv --append --header yes
    says "rows.csv lacks columns of mtx.nys: 'elm'"
}

@test "rows with many values are put in the order of more columns than their file has" {
    mapfile -t entries < <(seq 30 | awk '{ print 1, $1, $1 }')
    mtx 1 30 "${entries[@]}" >b.mtx
    mtx 2 300 '1 1 1' '2 300 1' >a.mtx
    seq 300 >names.txt
    seq 300 -10 10 >fewer.txt
    nystream import s.nys a.mtx --column-names names.txt --layout sparse -q
    nystream import s.nys b.mtx --append --column-names fewer.txt -q
    nystream verify s.nys -q
    nystream export s.nys --part points -o points.csv -q
    seq 300 | awk '{ print $1 % 10 ? 0 : 31 - $1 / 10 }' | diff <(tail -n 1 points.csv | tr , '\n') -
}

@test "names of columns that do not fit are refused, and a store without names takes none" {
    printf '0 1:2 3:1\n1 2:5\n' >a.svm
    printf 'oak\nelm\n' >two.txt
    npy_u8 5 3 >a.npy
    ny -3 import a.nys a.svm --column-names two.txt
    ny -3 import a.nys a.npy --column-names two.txt
    : >none.txt
    ny -3 import a.nys a.npy --column-names none.txt
    [ ! -e a.nys ]
    printf 'oak\nelm\nash\n' >names.txt
    nystream import a.nys a.npy --column-names names.txt --drop-columns 2 -q
    [ "$(columns a.nys)" = "oak ash" ]
    nystream import b.nys a.npy -q
    ny -0 import b.nys a.npy --append --column-names names.txt
    table 5 3 >t.csv
    ny -2 import c.nys t.csv --column-names names.txt
}

@test "a header names columns; those of labels and those left out are none" {
    printf 'a,b,class,c\n1,2,x,3\n4,5,y,6\n' >t.csv
    nystream import a.nys t.csv --label-column class -q
    [ "$(columns a.nys)" = "a b c" ]
    nystream import b.nys t.csv --columns c,a -q
    [ "$(columns b.nys)" = "c a" ]
    nystream export b.nys --part points -o b.csv -q
    [ "$(xargs <b.csv)" = "3,1 6,4" ]
    nystream import b.nys t.csv --columns a,c --append -q # in the order of the store
    cat b.csv b.csv | cmp - <(shown "b.nys --part points")
    printf '"a ""1""","b,c"\n1,2\n3,4\n' >q.csv
    nystream import q.nys q.csv -q
    [ "$(shown "q.nys --part columns" txt)" = $'a "1"\nb,c' ]
    nystream export q.nys --part columns -o out.csv -q
    [ "$(cat out.csv)" = $'"a ""1"""\n"b,c"' ]
    nystream export q.nys --part columns -o out.csv.gz -q
    [ "$(gzip -dc out.csv.gz)" = "$(cat out.csv)" ]
    printf '1,2\n3,4\n' >n.csv
    nystream import n.nys n.csv -q
    run -2 nystream export n.nys --part columns -o n.txt
}

@test "a column of a table names the rows: --id-column" {
    printf 'name,a,b,class\nx1,1,2,u\n"y ""2""",3,4,v\n,5,6,u\nz,nan,1,w\n7,8,9,v\n' >t.csv
    ny -0 import a.nys t.csv --id-column name --label-column class --nan drop
    [ "$(nystream export a.nys --part ids -o - -q)" = $'x1\ny "2"\n\n7' ]
    [ "$(columns a.nys)" = "a b" ]
    tail -n +2 t.csv | grep -v nan | tr , '\t' >t.tsv
    nystream import b.nys t.tsv --id-column 1 --label-column 4 --columns 1-3 -q
    nystream export a.nys --part ids -o a.txt -q
    writes a.txt "b.nys --part ids"
    same_exports "a.nys --part points" "b.nys --part points"
    nystream import a.nys t.tsv --id-column 1 --label-column 4 --append -q
    cat a.txt a.txt | cmp - <(shown "a.nys --part ids" txt)
    printf '1,2\n' >bare.csv
    ny -0 import a.nys bare.csv --append
}

@test "columns to leave out, by names, numbers and ranges" {
    printf 'id,a,b,c,d\n9,1,2,3,4\n8,5,6,7,8\n' >t.csv
    nystream import a.nys t.csv --drop-columns id,c-d -q
    [ "$(columns a.nys)" = "a b" ]
    tail -n +2 t.csv >bare.csv
    nystream import b.nys bare.csv --drop-columns 1,4-5 -q
    same_exports "a.nys --part points" "b.nys --part points"
    nystream import c.nys t.csv --drop-columns id,c,d --id-column id -q # a use of its own
    [ "$(ids c.nys)" = "9 8" ]
    nystream import a.nys t.csv --append --columns a,b -q
    nystream export a.nys --part points -o aa.npy -q
    nystream import d.nys aa.npy --drop-columns 2 -q
    [ "$(nystream export d.nys --part points -o - -q | tail -c 16 | od -An -tf4 | xargs)" = "1 5 1 5" ]
}

@test "a header of numbers beside the names of rows, as pandas writes it" {
    printf ',0,1,2\n7,1.5,2,3\n8,1,2,4\n' >t.csv
    nystream import a.nys t.csv --id-column 1 -q
    [ "$(ids a.nys)" = "7 8" ]
    [ "$(columns a.nys)" = "0 1 2" ]
    printf ',1.5,2,3\n,1,2,4\n' >none.csv # rows without names, and no header
    nystream import b.nys none.csv --id-column 1 -q
    [ "$(nystream export b.nys --part ids -o - -q | wc -l)" = 2 ]
    printf 'x,1,2\n' >one.csv
    nystream import c.nys one.csv --id-column 1 -q
    [ "$(ids c.nys)" = x ]
}

# bats test_tags=slow
@test "names of a column go with shuffled rows, and new rows need not have the column" {
    { echo id,a,b; for ((i = 0; i < 3000; i++)); do echo "cell$i,$((i % 61)),$((i * 7 % 97))"; done; } >t.csv
    nystream import s.nys t.csv --id-column id --shuffle -q
    nystream export s.nys --part source -o source.csv -q
    nystream export s.nys --part ids -o ids.txt -q
    sed 's/^/cell/' source.csv | cmp - ids.txt
    nystream fit s.nys f --landmarks 20 -q
    head -n 50 t.csv >new.csv
    cut -d, -f2- new.csv >bare.csv
    nystream transform s.nys f --input new.csv --id-column id -o new.npy -q
    for input in "new.csv --id-column id" "new.csv --label-column id" "new.csv --drop-columns id" bare.csv; do
        ny -0 transform s.nys f --input $input -o said.npy
        cmp new.npy said.npy
    done
    [[ $stderr != *"transform writes no"* ]]
    # --with ids writes the names, in step with the rows, whatever the number of threads
    nystream transform s.nys f --input t.csv --id-column id -o plain.csv -q
    for threads in 1 3; do
        ny transform s.nys f --input t.csv --id-column id -o named.csv --with header,ids --threads $threads
        [[ $stderr != *"transform writes no"* ]]
        { echo id,embedding_1,embedding_2; paste -d, <(tail -n +2 t.csv | cut -d, -f1) plain.csv; } | cmp - named.csv
    done
    nystream transform s.nys f --input bare.csv -o header.tsv --with header -q
    [ "$(head -n 1 header.tsv)" = $'embedding_1\tembedding_2' ]
    [ "$(wc -l <header.tsv)" -eq 50 ]
    ny -2 transform s.nys f --input bare.csv -o o.csv --with ids
    ny -2 transform s.nys f --input t.csv --id-column id -o o.npy --with ids
    ny -2 transform s.nys f --input t.csv --id-column id -o o.csv --with ids,clusters
    ny -2 transform s.nys f --input t.csv --id-column id -o o.csv --with ids --nan keep
    [ ! -e o.csv ]
    nystream export s.nys f --part model -o f.nym -q
    nystream transform f.nym --input new.csv --id-column 1 -o model.npy -q
    cmp new.npy model.npy
    nystream transform f.nym --input t.csv --id-column 1 -o model.csv --with header,ids -q
    cmp named.csv model.csv
    # labels, too, as words or numbers
    awk -F, -v OFS=, 'NR == 1 { print $0, "kind,age"; next }
        { print $0, NR % 5 ? (NR % 2 ? "T cell" : "B") : "", NR / 4 }' t.csv >both.csv
    for threads in 1 3; do
        nystream transform s.nys f --input both.csv --id-column id --label-column kind --drop-columns age \
            -o words.csv --with labels,ids,header --threads $threads -q
        { echo id,label,embedding_1,embedding_2
          paste -d, <(tail -n +2 both.csv | awk -F, '{ print $1 "," $(NF - 1) }') plain.csv; } | cmp - words.csv
    done
    ny -0 transform s.nys f --input both.csv --id-column id --label-column age --drop-columns kind \
        -o numbers.tsv --with labels
    [ "$(tail -n +2 both.csv | awk -F, '{ print $NF }')" = "$(cut -f1 numbers.tsv)" ]
    ny -2 transform s.nys f --input t.csv --id-column id -o o.csv --with ids,labels
    ny -2 transform s.nys f --input both.csv --id-column id --label-column kind --drop-columns age \
        -o o.csv --with labels --nan keep
    [ ! -e o.csv ]
    nystream import s.nys new.csv --id-column id --append -q
    nystream fit s.nys f --update frozen -q
    tail -n +2 new.csv | cut -d, -f1 | cat ids.txt - | cmp - <(shown "s.nys f --part ids" txt)
}

@test "tables with names and labels before the numbers: export --with" {
    printf 'id,a,b,class\nx1,1,2,u\n"y ""2"",z",3,5,v\n,5,6,\n7,8,11,v\n' >t.csv
    nystream import a.nys t.csv --id-column id --label-column class -q
    nystream fit a.nys f --landmarks 3 --precision f64 -q
    nystream export a.nys f -o f.csv -q
    nystream export a.nys f -o both.csv --with ids,labels -q
    printf '%s\n' x1,u '"y ""2"",z",v' , 7,v >beside.csv
    paste -d, beside.csv f.csv | cmp - both.csv
    nystream export a.nys f -o labels.csv.gz --with labels -q
    gzip -dc labels.csv.gz | cut -d, -f1 | cmp - <(printf '%s\n' u v '' v)
    nystream export a.nys --part points -o points.tsv --with ids -q
    printf 'x1\t1\t2\n"y ""2"",z"\t3\t5\n\t5\t6\n7\t8\t11\n' | cmp - points.tsv
    nystream eval a.nys f --measures clusters --clusters 2 -q >/dev/null
    nystream export a.nys f --part clusters -o c.csv -q
    paste -d, beside.csv c.csv | cmp - <(shown "a.nys f --part clusters --with labels,ids")
    nystream export a.nys f -o named.csv --with header,ids,labels -q
    printf 'id,label,embedding_1,embedding_2\n' | cat - both.csv | cmp - named.csv
    nystream export a.nys --part points -o named.tsv --with header -q
    [ "$(head -n 1 named.tsv)" = $'a\tb' ]
    nystream export a.nys f --part clusters -o named.csv --with labels,header -q
    [ "$(head -n 1 named.csv)" = label,cluster ]
    paste -d, beside.csv c.csv f.csv >wanted.csv # all of a row in one table
    nystream export a.nys f -o named.csv --with clusters,ids,header,labels -q
    printf 'id,label,cluster,embedding_1,embedding_2\n' | cat - wanted.csv | cmp - named.csv
    nystream export a.nys f --part eigenvalues -o named.csv --with header -q
    [ "$(head -n 1 named.csv)" = eigenvalue ]
    [ "$(wc -l <named.csv)" -eq 3 ]
    nystream import b.nys both.csv --id-column 1 --label-column 2 -q # and back
    nystream export b.nys --part points -o again.csv --with labels,ids -q
    [ "$(cut -d, -f1 again.csv)" = "$(cut -d, -f1 both.csv)" ]
}

@test "axes and chosen columns have the names of columns: export --with ids" {
    printf 'id,a,b,c\nx1,1,2,40\nx2,3,5,2\nx3,5,6,9\nx4,8,11,1\n' >t.csv
    nystream import a.nys t.csv --id-column id -q
    printf 'b\nc\n' >chosen.txt
    nystream fit a.nys p --map pca --approx exact --features chosen.txt --components 2 -q
    nystream export a.nys p --part features -o f.csv --with header,ids -q
    printf 'column,feature\nb,1\nc,2\n' | cmp - f.csv
    nystream export a.nys p --part axes -o plain.csv -q
    nystream export a.nys p --part axes -o axes.csv --with ids,header -q
    printf '%s\n' a b c | paste -d, - plain.csv | cat <(echo column,axis_1,axis_2) - | cmp - axes.csv
    printf 'column,mean\na,4.25\nb,6\nc,13\n' | cmp - <(shown "a.nys p --part mean --with header,ids")
    ny -2 export a.nys p --part axes --with labels -o o.csv
    ny -2 export a.nys p --with clusters -o o.csv
    ny -2 export a.nys --part points --with clusters -o o.csv
    printf '1,2\n3,5\n4,4\n' >n.csv
    nystream import n.nys n.csv -q
    nystream fit n.nys p --map pca --approx exact -q
    ny -2 export n.nys p --part axes --with ids -o o.csv
}

@test "rows of the largest component of a graph have their own names and labels: export --with" {
    printf 'id,a,class\nx0,900,u\nx1,0,v\nx2,1,v\nx3,901,u\nx4,2,w\nx5,3,v\nx6,902,u\nx7,4,v\n' >t.csv
    nystream import a.nys t.csv --id-column id --label-column class -q
    nystream graph a.nys g --neighbors 2 -q
    nystream export a.nys g --part rows --with header,ids,labels -o rows.csv -q
    printf 'id,label,row\nx1,v,1\nx2,v,2\nx4,w,4\nx5,v,5\nx7,v,7\n' | cmp - rows.csv
    printf 'x4,4\nx5,5\n' | cmp - <(shown "a.nys g --part rows --rows 2:4 --with ids")
    nystream export a.nys g --part components --rows 2:4 -o some.csv -q
    shown "a.nys g --part components" | sed -n 3,4p | cmp - some.csv
}

@test "export --with reads few rows at a time where they are wide" {
    seq 20 | sed "s/.*/& 1:1 100000:&/" >wide.svm
    nystream import w.nys wide.svm -q
    nystream export w.nys --part points --with labels -o wide.csv -q --memory 200M
    [ "$(wc -l <wide.csv)" = 20 ]
    [[ $(tail -n 1 wide.csv) == 20,1,0,*,0,20 ]]
}

@test "export --rows writes some of the rows, alone or with what stands beside them" {
    table 50 3 | awk '{print "r" NR "," $0}' >t.csv
    nystream import a.nys t.csv --id-column 1 -q
    nystream fit a.nys f --landmarks 10 -q
    nystream export a.nys f -o all.csv -q
    nystream export a.nys f -o all.npy -q
    ny -0 export a.nys f --rows 40: -o last.csv --json
    [ "$(field "$output" rows)" = 10 ]
    tail -n 10 all.csv | cmp - last.csv
    sed -n 11,20p all.csv | cmp - <(shown "a.nys f --rows 10:20")
    writes all.npy "a.nys f --rows :"
    nystream export a.nys f --rows :2 --with header,ids -o first.csv -q
    [ "$(cut -d, -f1 first.csv | paste -sd' ')" = "id r1 r2" ]
    tail -n +2 first.csv | cut -d, -f2- | cmp - <(head -n 2 all.csv)
    [ "$(shown "a.nys --part points --rows 49:50 --with ids" | cut -d, -f1)" = r50 ]
    for rows in 40:51 50: 7:7 8:7; do
        ny -2 export a.nys f --rows $rows -o none.csv
    done
    for rows in 7 a:b 1:2:3 -1: 99999999999999999999:; do
        usage --rows export a.nys f --rows=$rows -o none.csv
    done
    ny -2 export a.nys f --rows 0:2 --part eigenvalues -o none.csv
    ny -2 export a.nys f --rows 0:2 --part model -o none.nym
    ny -2 export a.nys f --rows 0:2 --skip-damaged -o none.csv
    [ ! -e none.csv ]
}

@test "export --with: outputs, parts and stores that have no such columns" {
    printf '1,2\n3,5\n4,4\n' >t.csv
    nystream import a.nys t.csv -q
    nystream fit a.nys f --landmarks 2 -q
    refuses() {
        ny -2 export a.nys "$@"
    }
    refuses f --with ids -o o.csv
    refuses f --with labels -o o.csv
    refuses f --with ids -o o.npy
    refuses f --with ids -o -
    refuses f --with ids,words -o o.csv
    refuses f --with header -o o.npy
    refuses --part ids --with header -o o.csv
    refuses f --part clusters --with clusters -o o.csv
    refuses f --part eigenvalues --with ids -o o.csv
    refuses --part columns --with ids -o o.csv
    refuses f --with ids --skip-damaged -o o.csv
    [ ! -e o.csv ]
}

@test "info says whether there are names, and export says what it wrote" {
    tenx some
    nystream import a.nys some/matrix.mtx --transpose -q
    has a.nys row_names=true column_names=true
    [[ $output == *'"first_row_names": ['*AAA-1*GGG-1* ]]
    shows "names of columns      Actb Cd4 Cd8a Ms4a1" info a.nys
    run nystream export a.nys --part ids -o ids.txt
    [ "$output" = "nystream: ids.txt: 3 names (18 bytes)" ]
    usage "ends in .txt, .csv, .csv.gz or .tsv" export a.nys --part ids -o ids.npy
    usage "export needs NAME" export a.nys -o x.npy
}

@test "names of a graph's largest component are those of its rows" {
    { echo 'x,y'; for ((i = 0; i < 40; i++)); do echo "$((i % 7)).$i,$((i / 7))"; done; echo 900,900; echo 901,900; } >t.csv
    mkdir m
    mapfile -t entries < <(tail -n +2 t.csv | awk -F, '{print NR, 1, $1 + 1; print NR, 2, $2 + 1}')
    mtx 42 2 "${entries[@]}" | sed 1s/integer/real/ >m/matrix.mtx
    seq -f r%.0f 0 41 | sed '1,2s/r\(.\)/first\1/' >m/barcodes.tsv
    nystream import m.nys m/matrix.mtx -q
    nystream fit m.nys i --map isomap --neighbors 1 --components 1 --largest -q ||
        nystream fit m.nys i --map isomap --neighbors 3 --components 1 -q
    nystream export m.nys i --part rows -o rows.csv -q
    nystream export m.nys i --part ids -o ids.txt -q
    while read -r row; do sed -n "$((row + 1))p" m/barcodes.tsv; done <rows.csv | cmp - ids.txt
    [ "$(wc -l <ids.txt)" -lt 42 ]
}

# bats test_tags=slow
@test "verify finds a flipped bit in names; repair empties them" {
    mkdir m
    mapfile -t entries < <(seq 3000 | awk '{ print $1, $1 % 5 + 1, $1 % 9 + 1 }')
    mtx 3000 5 "${entries[@]}" >m/matrix.mtx
    for ((i = 0; i < 3000; i++)); do echo "$((RANDOM * RANDOM))-$RANDOM-secret$i"; done >m/barcodes.tsv
    nystream import m.nys m/matrix.mtx --codec raw -q
    [ "$(nystream verify m.nys)" = ok ]
    at=$(grep -abo -m 1 secret2000 m.nys/points/data.mdb | head -n 1 | cut -d : -f 1)
    printf S | dd of=m.nys/points/data.mdb bs=1 seek="$at" conv=notrunc status=none
    ny -5 verify m.nys
    prints "names of block 0: its checksum is wrong"
    run -5 nystream export m.nys --part ids -o ids.txt
    [ ! -e ids.txt ]
    run -0 nystream export m.nys --part ids -o ids.txt --skip-damaged
    [[ $output == *"warning: 3000 names of rows are damaged; in ids.txt they are empty"* ]]
    [ "$(wc -l <ids.txt)" -eq 3000 ]
    run -0 nystream repair m.nys
    [[ $output == *"rows 0 to 2999: names are now empty"* ]]
    [ "$(nystream verify m.nys)" = ok ]
    [ "$(nystream export m.nys --part ids -o - | sort -u)" = "" ]
}

@test "a list of columns in another order needs names to be found by" {
    printf 'a,b,c\n1,2,3\n4,5,7\n7,8,8\n' >t.csv
    tail -n +2 t.csv >bare.csv
    nystream import a.nys bare.csv -q
    ny -2 import n.nys bare.csv --columns 3,1-2
    [ ! -e n.nys ]
    nystream export a.nys --part points -o t.npy -q
    ny -2 import n.nys t.npy --columns 3,1
    nystream import n.nys t.csv --columns c,a-b -q
    [ "$(columns n.nys)" = "c a b" ]
    nystream fit n.nys f --landmarks 2 -q
    nystream export n.nys f --part model -o f.nym -q
    nystream transform f.nym --input t.csv --columns a-c -o o.csv -q
    writes o.csv "n.nys f"
    nystream transform n.nys f --input t.csv --columns a-c -o o.npy -q
    nystream export n.nys f -o f.npy -q
    nystream transform n.nys f --input t.csv -o p.npy -q
    cmp o.npy p.npy
}

@test "the next file of a series needs no options: columns are those of the store, by their names" {
    printf 'id,a,b,c,class\nx1,1,2,3,u\nx2,3,4,5,v\nx3,0,1,0,u\n' >first.csv
    printf 'day,c,class,id,b,a\n2024-01-02,30,u,x4,20,10\n' >second.csv
    printf 'c;b;a;d1;d2;d3;d4;d5;d6;d7\n1;1;1;1;1;1;1;1;1;1\n' >third.csv
    nystream import s.nys first.csv --id-column id --label-column class -q
    ny -0 import s.nys second.csv --append
    nystream import s.nys second.csv --append --label-column class --id-column id -q
    ny -0 import s.nys third.csv --append
    [ "$(shown "s.nys --part points" | xargs)" = "1,2,3 3,4,5 0,1,0 10,20,30 10,20,30 1,1,1" ]
    printf '%s\n' x1 x2 x3 x4 x4 '' | cmp - <(shown "s.nys --part ids" txt)
    [ "$(shown "s.nys --part labels" | xargs)" = "0 1 0 0 0 nan" ]
    printf 'a,b,c\n1,2,3\n2,4,1\n' >bare.csv # a store without names and labels asks for none
    nystream import bare.nys bare.csv -q
    ny import bare.nys second.csv --append
    printf 'a,b,e\n1,2,3\n' >other.csv # one is missing
    answers 3 "other.csv lacks columns of s.nys: 'c'" import s.nys other.csv --append
    printf 'k,l,m,n,o,p,q,r,s\n1,2,3,4,5,6,7,8,9\n' >wide.csv # none of them is there
    answers 3 "wide.csv lacks columns of s.nys: 'a', 'b', 'c'" import s.nys wide.csv --append
    printf 'a,b,c,c,e\n1,2,3,4,5\n' >double.csv # which c?
    ny -3 import s.nys double.csv --append
    says "double.csv has 5 columns of points, but the store has 3"
    ny -3 import s.nys second.csv --append --drop-columns id,class # the list that is typed counts
    says "second.csv has 4 columns of points, but the store has 3"
}

@test "labels and names of the next file are in the columns of before, unless options say others" {
    long=$(printf 'l%.0s' {1..64})
    printf 'id,a,b,class,kind\nx1,1,2,u,v\nx2,3,4,v,u\nx3,0,1,u,u\n' >first.csv
    printf 'kind,class,b,a,id\nu,v,6,5,x4\n' >second.csv
    labels_of() { nystream export "$1" --part labels -o labels.csv -q && xargs <labels.csv; }
    nystream import s.nys first.csv --id-column 1 --label-column class --drop-columns kind -q
    for how in "as before" "--label-column kind" "--drop-columns class,kind" "--labels v.txt"; do
        echo v >v.txt
        cp -r s.nys t.nys
        [ "$how" = "as before" ] && how=
        ny -0 import t.nys second.csv --append $how -q
        labels_of t.nys
        printf '%s\n' x1 x2 x3 x4 | cmp - <(shown "t.nys --part ids" txt)
        rm -r t.nys
    done >all
    printf '%s\n' "0 1 0 1" "0 1 0 0" "0 1 0 nan" "0 1 0 1" | cmp - all
    nystream fit s.nys map --map pca --components 1 -q
    nystream transform s.nys map --input second.csv -o o.csv --with header,ids,labels -q
    [ "$(cut -d, -f1,2 o.csv | xargs)" = "id,label x4,v" ]
    nystream transform s.nys map --input second.csv -o o.csv --with ids,labels --label-column kind -q
    [ "$(cut -d, -f1,2 o.csv)" = x4,u ]
    nystream rm s.nys map -q
    nystream import s.nys second.csv --append --label-column kind -q # the last one counts
    nystream import s.nys second.csv --append -q
    [ "$(labels_of s.nys)" = "0 1 0 0 0" ]
    nystream truncate s.nys --keep 3 -q # and is forgotten with its rows
    nystream import s.nys second.csv --append -q
    [ "$(labels_of s.nys)" = "0 1 0 1" ]
    for old in class "$long"; do # a column is not known, or its name is too long
        sed "s/class/$old/" first.csv >old.csv
        rm -rf old.nys
        [ "$old" = class ] && options="--drop-columns class,kind,id --labels l.txt" ||
            options="--drop-columns kind,id --label-column $old"
        printf 'u\nv\nu\n' >l.txt
        nystream import old.nys old.csv $options -q
        sed "s/class/$old/" second.csv | cut -d, -f2-4 >new.csv
        ny -0 import old.nys new.csv --append
        [ "$(labels_of old.nys)" = "0 1 0 nan" ]
    done
}

@test "new rows whose columns are called otherwise are not placed; another order is that of the store" {
    printf '%s\n' length,width,height 1,2,3 4,5,7 7,9,9 2,1,1 >things.csv
    nystream import things.nys things.csv -q
    nystream fit things.nys map --landmarks 3 -q
    printf '%s\n' length,width,height 1,2,4 >new.csv
    printf '%s\n' height,width,length 4,2,1 >turned.csv
    printf '%s\n' id,length,width,height 9,1,2,4 >more.csv
    printf '%s\n' 1,2,4 >plain.csv
    nystream transform things.nys map --input new.csv -o new.npy -q
    for input in "more.csv --columns length-height" plain.csv turned.csv more.csv; do
        ny -0 transform things.nys map --input $input -o placed.npy
        cmp new.npy placed.npy
    done
    ny -0 transform things.nys map --input turned.csv -o turned.csv.gz
    printf '%s\n' length,width,depth 1,2,4 >other.csv
    ny -3 transform things.nys map --input other.csv -o other.npy
    says "other.csv lacks columns of things.nys: 'height'"
    [ ! -e other.npy ]
    nystream graph things.nys near --neighbors 2 -q
    ny -3 transform things.nys near --input other.csv -o other.npy
    says "lacks columns of things.nys: 'height'"
    agree cmp "transform things.nys near --input turned.csv" \
        "transform things.nys near --input new.csv" npy
}
