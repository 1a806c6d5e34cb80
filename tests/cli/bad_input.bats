# Bad input is refused with exit 3, naming the file and the line, or the row and column; nothing of
# it is in the store afterwards. (Options that do not fit the input are exit 2.)
load helper

# bad CODE FILE WORDS [OPTION…]: the import is refused with CODE, the FILE and each of the WORDS.
bad() {
    local code=$1 file=$2 words=$3 word
    shift 3
    ny import refused "$file" -q "$@"
    exits "$code" || { echo "case: $file $words $*" >&2; return 1; }
    says "$file" || [ "$code" -eq 2 ]
    IFS='|' read -ra words <<<"$words"
    for word in "${words[@]}"; do
        says "$word"
    done
    [ "${#stderr_lines[@]}" -eq 1 ]
    ny info refused --json
    [ "$status" -ne 0 ] || [ "$(field "$output" n)" = 0 ]
}

# text FORMAT: the bytes of printf FORMAT in t.csv
text() {
    printf "$1" >"${2-t.csv}"
}

# An npy file of version 1.0 with this dictionary and BYTES bytes behind it.
npy() { # DICTIONARY BYTES
    printf '\223NUMPY\001\000\166\000%-117s\n' "$1" >t.npy
    head -c "$2" /dev/zero | tr '\0' '\1' >>t.npy
}

dictionary() { # DESCR SHAPE
    printf "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" "$1" "$2"
}

@test "csv: empty, and only empty lines" {
    text ''
    bad 3 t.csv empty
    text '\n\n\n'
    bad 3 t.csv ''
    text 'a,b\n'
    bad 3 t.csv '' --header yes
    text ' \t \n'
    bad 3 t.csv ''
}

@test "csv: ragged rows, by line" {
    text '1,2\n3\n4,5\n'
    bad 3 t.csv 'line 2'
    text '1,2\n3,4\n5,6,7\n'
    bad 3 t.csv 'line 3'
    text 'a,b\n1,2\n3,4,5\n'
    bad 3 t.csv 'line 3'
    text '1\t2\n3\t4\t5\n' t.tsv
    bad 3 t.tsv 'line 2'
    text '1;2\n3;4;5\n'
    bad 3 t.csv 'line 2'
    text '1 2\n3 4 5\n'
    bad 3 t.csv 'line 2'
    text '1,2\r\n3,4,5\r\n'
    bad 3 t.csv 'line 2'
    text '1,2\n\n3,4,5\n'
    bad 3 t.csv 'line 3'
    text '1,2\n3,4,\n'
    bad 3 t.csv 'line 2'
    text '"1",2\n"3,4"\n'
    bad 3 t.csv 'line 2'
}

@test "csv: what is not a number, by line and column" {
    text '1,2\n3,x\n'
    bad 3 t.csv "line 2|column 2|'x'"
    text '1,2\n,4\n'
    bad 3 t.csv 'line 2|column 1'
    text '1,2\n3,4.5.6\n'
    bad 3 t.csv 'line 2|column 2'
    text '1,2\n0x10,4\n'
    bad 3 t.csv 'line 2|column 1'
    text '1,2\n1e,4\n'
    bad 3 t.csv 'line 2|column 1'
    text '1,2\n1 2,4\n'
    bad 3 t.csv 'line 2|column 1'
    text '1,2\n--1,4\n'
    bad 3 t.csv 'line 2|column 1'
    text 'a,b\n1,2\n3,oops\n'
    bad 3 t.csv "line 3|column 2|'b'"
    text '1,2\n3,\377\376\n'
    bad 3 t.csv 'line 2|column 2'
    text '1,2\n3,caf\303\251\n'
    bad 3 t.csv 'line 2|column 2'
    text '1,2\n3,\0004\n'
    bad 3 t.csv 'line 2'
    text 'a,b\nc,d\n'
    bad 3 t.csv 'line 2' --header yes
    text '1,2\nx,y\n'
    bad 3 t.csv 'line 2' --header no
    text 'x,y\n1,2\n'
    bad 3 t.csv 'line 1' --header no
}

@test "csv: NaN and infinity, by row and column" {
    local word
    for word in nan NaN NAN inf -inf Infinity 1e999 -1e999; do
        text "1,2\n3,4\n5,$word\n"
        bad 3 t.csv 'column 2'
    done
    text '1,2\nnan,4\n'
    bad 3 t.csv 'column 1'
    text 'nan,1\ninf,2\n'
    bad 3 t.csv '' --nan drop
    text '1,1e39\n2,3\n'
    bad 3 t.csv 'column 2' --dtype f32
}

@test "csv: values that the element type cannot hold" {
    text '1,256\n2,3\n'
    bad 3 t.csv "column 2|'256'|--dtype" --dtype u8
    text '1,-1\n2,3\n'
    bad 3 t.csv "column 2|'-1'" --dtype u8
    text '1,0.5\n2,3\n'
    bad 3 t.csv "'0.5'" --dtype i16
    text '1,40000\n2,3\n'
    bad 3 t.csv "'40000'" --dtype i16
}

@test "csv: huge fields and lines" {
    { printf '1,'; head -c 2000000 /dev/zero | tr '\0' 'x'; printf '\n'; } >t.csv
    bad 3 t.csv 'line 1' --header no
    { printf '1,2\n3,"'; head -c 2000000 /dev/zero | tr '\0' '7'; printf '\n'; } >t.csv
    bad 3 t.csv 'line 2'
    { printf '1,2\n'; head -c 3000000 /dev/zero | tr '\0' ','; printf '\n'; } >t.csv
    bad 3 t.csv 'line 2'
}

@test "csv: columns that are not there" {
    text 'a,b\n1,2\n3,5\n'
    ny import refused t.csv --label-column c
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    says "'c'"
    ny import refused t.csv --label-column 3
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    ny import refused t.csv --label-column 0
    [ "$status" -eq 2 ]
    ny import refused t.csv --columns 1,9
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    ny import refused t.csv --columns 2-1
    exits 2
    ny import refused t.csv --columns a --label-column a
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    ny import refused t.csv --dims 5
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    ny import refused t.csv --format npy
    exits 3
    ny import refused t.csv --format cvs
    usage "did you mean 'csv'?"
}

@test "files of several: another number of columns, labels of another length" {
    text '1,2\n3,4\n' a.csv
    text '1,2,3\n' b.csv
    ny import refused a.csv b.csv
    exits 3
    says b.csv
    ny import good a.csv -q
    exits 0
    ny import good b.csv --append
    exits 3
    says b.csv
    ny info good --json
    [ "$(field "$output" n)" = 2 ]
    text '0\n1\n1\n' labels
    bad 3 a.csv 'labels' --labels labels
    text '0\n' labels
    bad 3 a.csv 'labels' --labels labels
    text '' labels
    ny import refused a.csv --labels labels
    exits 3
    ny import refused a.csv --labels missing
    exits 4
    says missing
}

@test "npy: wrong magic, versions and headers" {
    printf 'NUMPY nothing' >t.npy
    bad 3 t.npy ''
    printf '\223NUMPY' >t.npy
    bad 3 t.npy ''
    printf '\223NUMPY\001\000' >t.npy
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(2, 2)')" 16
    printf '\011' | dd of=t.npy bs=1 seek=6 conv=notrunc status=none
    bad 3 t.npy version
    printf '\223NUMPY\001\000\377\377{' >t.npy
    bad 3 t.npy ''
    local header
    for header in "{}" "not a dictionary" "{'descr': '<f4'}" "{'descr': '<f4', 'fortran_order': False, }" \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2}" \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }" \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 2), }" \
        "{'descr': , 'fortran_order': False, 'shape': (2, 2), }" \
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 2), }"; do
        npy "$header" 16
        bad 3 t.npy ''
    done
    printf '\223NUMPY\002\000\377\377\377\377{' >t.npy
    bad 3 t.npy ''
}

@test "npy: element types and layouts that are not points" {
    local descr
    for descr in '<c8' '<U3' '|S5' '|O' '<M8[ns]' '<f16' '<q9' '' '[('; do
        npy "$(dictionary "$descr" '(2, 2)')" 64
        bad 3 t.npy ''
    done
    npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }" 16
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '()')" 4
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(0, 4)')" 0
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(4, 0)')" 0
    bad 3 t.npy ''
}

@test "npy: sizes that the file does not have" {
    npy "$(dictionary '<f4' '(4, 4)')" 63
    bad 3 t.npy truncated
    npy "$(dictionary '<f4' '(4, 4)')" 0
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(4, 4)')" 65
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(1099511627776, 4)')" 64
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(4, 1099511627776)')" 64
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(18446744073709551615, 4)')" 64
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(4294967296, 4294967296)')" 64
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(99999999999999999999999, 4)')" 64
    bad 3 t.npy ''
    npy "$(dictionary '<f4' '(65536, 65536, 65536, 65536)')" 64
    bad 3 t.npy ''
}

@test "npy: NaN, by row and column" {
    npy "$(dictionary '<f4' '(3, 2)')" 20
    printf '\000\000\300\177' >>t.npy
    bad 3 t.npy 'row 2|column 2|NaN'
    npy "$(dictionary '<f8' '(2, 2)')" 16
    printf '\000\000\000\000\000\000\360\177\000\000\000\000\000\000\360\077' >>t.npy
    bad 3 t.npy 'row 1|column 1|Inf'
}

@test "libsvm: indices and values, by line" {
    local line
    for line in '1 3:1 2:1' '1 2:1 2:1' '1 x:1' '1 2:' '1 :1' '1 2:x' '1 -2:1' '1 2:1:1' 'x 1:1' \
        '1 2:nan' '1 2:1 3' '1 99999999999999999999:1'; do
        printf '1 1:1 2:2\n%s\n' "$line" >t.svm
        bad 3 t.svm '' --format libsvm
    done
    printf '1 1:1\n1 9:1\n' >t.svm
    bad 3 t.svm 'line 2|9' --format libsvm --dims 5
    printf '1\n2\n' >t.svm
    bad 3 t.svm '' --format libsvm
    printf '' >t.svm
    bad 3 t.svm '' --format libsvm
}

@test "idx: headers and sizes" {
    printf '\000\000\010\003\000\000\000\002\000\000\000\002' >t.idx
    bad 3 t.idx ''
    printf '\000\000\010\002\000\000\000\002\000\000\000\002\001\002\003' >t.idx
    bad 3 t.idx truncated
    printf '\000\000\010\002\000\000\000\002\000\000\000\002\001\002\003\004\005' >t.idx
    bad 3 t.idx ''
    printf '\000\000\007\002\000\000\000\002\000\000\000\002\001\002\003\004' >t.idx
    bad 3 t.idx ''
    printf '\000\001\010\002\000\000\000\002\000\000\000\002\001\002\003\004' >t.idx
    bad 3 t.idx '' --format idx
    printf '\000\000\010\002\377\377\377\377\377\377\377\377\001\002' >t.idx
    bad 3 t.idx ''
    printf '\000\000\010\002\000\000\000\000\000\000\000\002' >t.idx
    bad 3 t.idx ''
    printf '\000\000\010\002\000\000\000\002\000\000\000\000' >t.idx
    bad 3 t.idx ''
    printf '\000\000' >t.idx
    bad 3 t.idx '' --format idx
}

@test "fvecs and bvecs: lengths" {
    printf '\002\000\000\000\000\000\200\077' >t.fvecs
    bad 3 t.fvecs ''
    printf '\001\000\000\000\000\000\200\077\002\000\000\000\000\000\200\077\000\000\200\077' >t.fvecs
    bad 3 t.fvecs 'row 1'
    printf '\000\000\000\000' >t.fvecs
    bad 3 t.fvecs ''
    printf '\377\377\377\377\000\000\200\077' >t.fvecs
    bad 3 t.fvecs ''
    printf '\377\377\377\177\000\000\200\077' >t.fvecs
    bad 3 t.fvecs ''
    printf '\001\000' >t.fvecs
    bad 3 t.fvecs ''
    printf '\002\000\000\000\001' >t.bvecs
    bad 3 t.bvecs ''
    : >t.bvecs
    bad 3 t.bvecs ''
}

@test "gzip: truncated and damaged" {
    table 200 4 | gzip -n >t.csv.gz
    head -c 500 t.csv.gz >cut.csv.gz
    bad 3 cut.csv.gz ''
    { head -c 700 t.csv.gz; printf 'damage!'; tail -c +708 t.csv.gz; } >flipped.csv.gz
    bad 3 flipped.csv.gz ''
    printf '\037\213' >tiny.csv.gz
    bad 3 tiny.csv.gz ''
    : | gzip -n >empty.csv.gz
    bad 3 empty.csv.gz ''
}

@test "paths that are no files of points" {
    ny import refused missing.csv
    exits 4
    says missing.csv
    mkdir folder
    ny import refused folder
    [ "$status" -eq 3 ] || [ "$status" -eq 4 ]
    says folder
    head -c 4096 /dev/urandom | tr -d '0-9' >noise
    ny import refused noise
    exits 3
    says noise
    table 10 2 >t.csv
    ny import no/such/folder/store t.csv
    exits 4
    says no/such/folder
    echo in the way >file
    ny import file t.csv
    [ "$status" -eq 4 ] || [ "$status" -eq 5 ]
    [ "$(cat file)" = "in the way" ]
}

@test "a file that may not be read" {
    [ "$(id -u)" -ne 0 ] || skip "root may read everything"
    table 10 2 >t.csv
    chmod 000 t.csv
    ny import refused t.csv
    exits 4
}

@test "what looks odd and is fine" {
    text '1,2\r\n3,4\r\n'
    ny import crlf t.csv -q
    exits 0
    text '\357\273\277a,b\n1,2\n3,4\n'
    ny import bom t.csv -q
    exits 0
    text '1,2\n3,4'
    ny import no_newline t.csv -q
    exits 0
    text '"1","2"\n"3","4"\n'
    ny import quoted t.csv -q
    exits 0
    text ' 1 , 2 \n 3 , 4 \n'
    ny import blanks t.csv -q
    exits 0
    text '+1,-2e3\n.5,4.\n'
    ny import numbers t.csv -q
    exits 0
    text '1\n2\n3\n'
    ny import single t.csv -q
    exits 0
    local store
    for store in crlf bom no_newline quoted blanks numbers; do
        ny info $store --json
        [ "$(field "$output" n)" = 2 ]
        [ "$(field "$output" d)" = 2 ]
    done
}

@test "landmarks of a file: numbers of rows, each once" {
    store s 20
    local rows
    for rows in '3\n3\n' '1\n20\n' '1\n-1\n' '1\n0.5\n' '1\nx\n' '' '1,2\n3,4\n' '99999999999999999999\n'; do
        printf "$rows" >rows.csv
        ny fit s a --landmarks-file rows.csv --components 1 -q
        exits 3 || { echo "rows: $rows" >&2; return 1; }
    done
    printf '3\n3\n' >rows.csv
    ny fit s a --landmarks-file rows.csv --components 1
    says twice
    printf '1\n0.5\n' >rows.csv
    ny fit s a --landmarks-file rows.csv --components 1
    says rows.csv
    ny list s
    silent
}
