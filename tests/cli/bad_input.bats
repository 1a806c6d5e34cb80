# Bad input is refused, case by case: the right exit code, one sentence with the file and the line or
# row and column in it, nothing on the standard output, and nothing changed or left behind. What each
# reader refuses is in tests/unit/test_reader_*.c; here is some of each format, by each verb.
#
# A row is a case:  how its files are made | the command | its exit code | words of the sentence,
# cut at " / ". Each finds the store s (40 rows of 3 columns with labels; results: r, a dictionary d,
# and h, that a full disk has interrupted), the model r.nym of r, and p.csv, ten rows of as many
# columns. What a refused import leaves as the store `new` must hold no rows.
load helper

# Fits h on a disk with ever more room, until it takes the record of the job but not its result.
interrupt_h() {
    local kib=$(($(stat -c %s s/results/data.mdb) / 1024))
    until [[ $(nystream list s) == *h$'\t'interrupted* ]]; do
        ((kib += 4))
        (ulimit -f $kib; ! nystream fit s h --landmarks 30 --components 20 2>/dev/null)
    done
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    : >cases
    mkdir base
    cd base || return
    table 40 3 | awk -F, '{print NR % 2 ? "odd" : "even", $0}' OFS=, >l.csv
    nystream import s l.csv --label-column 1 -q
    nystream fit s r --landmarks 5 -q
    nystream select s d --landmarks 5 -q
    nystream export s r --part model -o r.nym
    table 10 3 7 >p.csv
    rm l.csv
    interrupt_h
}

teardown_file() {
    echo "# bad input: $(wc -l <"$BATS_FILE_TMPDIR/cases") cases" >&3
}

# put FILE FORMAT: writes the bytes of printf FORMAT.
put() {
    printf "$2" >"$1"
}

# An npy file of version 1.0: its dictionary, or type and shape, and BYTES ones behind it.
npy_of() { # FILE DICTIONARY BYTES
    { printf '\223NUMPY\001\000\166\000%-117s\n' "$2"; head -c "$3" /dev/zero | tr '\0' '\1'; } >"$1"
}
npy() { # FILE TYPE SHAPE BYTES
    npy_of "$1" "{'descr': '$2', 'fortran_order': False, 'shape': $3, }" "$4"
}

# long FILE BEFORE BYTES CHARACTER AFTER: writes so many bytes of a character between two texts.
long() {
    { printf "$2"; head -c "$3" /dev/zero | tr '\0' "$4"; printf "$5"; } >"$1"
}

zip_csv() { # FILE ROWS
    table "$2" 4 | gzip -n >"$1"
}

# flip FILE OFFSET: inverts all bits of one byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %o $((255 - byte)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Prints what readers see of the store s.
seen() {
    nystream info s --json | sed -E 's/"store_bytes": *[0-9]+//'
    nystream export s r --part labels -o -
    nystream export s r -o -
}

wrong() { # WHY
    printf '%s\ncase: %s | %s | %s | %s\nexit %s, stdout: %s\nstderr: %s\n' "$1" "$make" "$command" \
        "$code" "$expected" "$got" "$(head -c 200 ../out)" "${err:0:500}" >&2
    return 1
}

# Tells whether somebody wrote to the store s, and readers see something else since.
changed() {
    local file
    for file in s/*/data.mdb; do
        [ "$file" -nt ../seen ] || continue
        [ "$stamp" != "$(cksum s/*/data.mdb)" ] && ! cmp -s <(seen) ../seen
        return
    done
    return 1
}

one_case() {
    local got=0 err expected=$words word before after lines
    eval "$make" || return
    before=(.* *)
    eval "nystream $command" >../out 2>../err </dev/null || got=$?
    mapfile -t lines <../err
    err=${lines[*]}
    [ "$got" -eq "$code" ] || wrong "another exit code" || return
    [ ! -s ../out ] || wrong "it prints" || return
    [ ${#lines[@]} -eq 1 ] || [[ ${#lines[@]} -eq 2 && ${lines[1]} == usage:\ * ]] ||
        wrong "not one sentence" || return
    [[ $err != *$'\033'* ]] || wrong "the terminal would obey it" || return
    [[ $err == nystream:\ * || $command == *--json* ]] || wrong "not a sentence" || return
    while [ -n "$words" ]; do
        word=${words%% / *}
        words=${words#"$word"}
        words=${words# / }
        [[ $err == *"$word"* ]] || wrong "not said: $word" || return
    done
    if [ -e new ]; then
        [[ "$(nystream info new --json 2>/dev/null)" =~ ^$|'"n":'\ *0, ]] || wrong "rows in new" || return
        rm -r new
    fi
    after=(.* *)
    [ "${before[*]}" = "${after[*]}" ] || wrong "left behind: ${after[*]}" || return
    ! changed || wrong "s has changed"
}

# Removes all but s, r.nym and p.csv.
clear_up() {
    local file made=()
    for file in * .[!.]*; do
        [[ $file == s || $file == r.nym || $file == p.csv ]] && continue
        [ ! -e "$file" ] && [ ! -L "$file" ] || made+=("./$file")
    done
    [ ${#made[@]} -eq 0 ] || rm -rf "${made[@]}"
}

# (The trap is bats': it looks at each line that runs.)
cases() (
    trap - DEBUG
    local make command code words more stamp failed=0
    cp -r "$BATS_FILE_TMPDIR/base" work
    cd work || return
    seen >../seen
    stamp=$(cksum s/*/data.mdb)
    while IFS='|' read -r make command code words more; do
        [ -n "${make// /}$command" ] || continue
        make=${make%"${make##*[! ]}"} command=${command%"${command##*[! ]}"}
        command=${command# } code=${code// /} words=${words# }
        [ -z "$more" ] && [ -n "$code" ] || { echo "not a row: $make | $command" >&2; return 1; }
        echo >>"$BATS_FILE_TMPDIR/cases"
        one_case || { failed=1; rm -r s; cp -r "$BATS_FILE_TMPDIR/base/s" .; }
        clear_up
    done
    [ $failed -eq 0 ]
)

@test "csv: nothing, ragged rows and what is not a number" {
    cases <<'END'
put t.csv ' \t \n'                      | import new t.csv                 | 3 | t.csv
put t.csv '\357\273\277'                | import new t.csv                 | 3 | t.csv
put t.csv ''                            | import s t.csv --append          | 3
put t.csv ''                            | embed t.csv -o out.npy           | 3
put t.csv ''                            | transform s r --input t.csv -o out.npy | 3
put t.csv '1,2\n3,4,5\n'                | import new - --format csv <t.csv | 3 | standard input, line 2
put t.csv 'odd,1,2,3\neven,5,6\n'      | import s t.csv --append --label-column 1 | 3 | t.csv, line 2
put t.csv '1,2,3\n4,5\n'                | embed t.csv -o out.csv           | 3 | t.csv, line 2
put t.csv '1,2,3\n4,5\n'                | transform s r --input t.csv -o out.csv | 3 | t.csv, line 2
put t.csv '1,2,3\n4,5\n'                | transform r.nym --input t.csv -o out.csv | 3 | t.csv, line 2
put t.csv '1,2\n3,x\n'                  | import new t.csv                 | 3 | t.csv, line 2, column 2
put t.csv '1,2\n3,\033[31m\n'           | import new t.csv                 | 3 | line 2, column 2
put t.csv '1,2,3\n4,5,x\n'              | transform s r --input t.csv -o out.npy | 3 | t.csv, line 2, column 3
END
}

@test "csv: NaN, infinity, what the type cannot hold, and huge fields and lines" {
    cases <<'END'
put t.csv '1,2\n3,4\n5,nan\n'           | import new t.csv                 | 3 | t.csv, line 3, column 2 / --nan drop
put t.csv '1,2,nan\n'                   | transform s r --input t.csv -o out.npy | 3 | t.csv, line 1, column 3
put t.csv '1,2,nan\n'                   | transform r.nym --input t.csv -o out.npy | 3 | t.csv, line 1, column 3
put t.csv '1,2\n3,4\n5,nan\n'           | embed t.csv -o out.npy           | 3 | t.csv, line 3, column 2
npy t.npy '<f4' '(3, 2)' 20; put x '\0\0\300\177'; cat x >>t.npy | embed t.npy -o out.npy | 3
npy t.npy '<f4' '(3, 2)' 20; put x '\0\0\200\277'; cat x >>t.npy | embed t.npy -o out.npy --values sqrt | 3 | row 2, column 1 (both from 0): -1 cannot be prepared
put t.csv '1,2\nnan,4\n5,-6\n'          | embed t.csv -o out.npy --nan drop --values sqrt -q | 3 | row 2, column 1 (both from 0): -6 cannot be prepared
put t.csv '1,256\n2,3\n'                | import new t.csv --dtype u8      | 3 | line 1, column 2 / --dtype
long t.csv '' 9000000 7 ''              | import new t.csv --header no     | 3 | t.csv, line 1
long t.csv 'a' 9000000 ' ' 'b\n1\n'     | import new t.csv --header no     | 3 | t.csv, line 1
long t.csv '1,2\nlabel' 5000 x ',3\n'   | import new t.csv --label-column 1 | 3 | t.csv, line 2
END
}

@test "columns that are not there" {
    cases <<'END'
put t.csv 'x,diagnosis\n1,2\n3,5\n'     | import new t.csv --label-column Diagnosis | 2
put t.csv 'x,diagnosis\n1,2\n3,5\n'     | import new t.csv --drop-columns diagnoses | 2
put t.csv 'x,diagnosis\n1,2\n3,5\n'     | import new t.csv --labels diagnosis | 4 | cannot open diagnosis: No such file or directory
npy t.npy '<f4' '(3, 4)' 48             | import new t.npy --labels diagnosis | 4 | cannot open diagnosis: No such file or directory
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --drop-columns 1-2 | 3
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --drop-columns a --columns b | 2
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --drop-columns 1-2 | 3
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --drop-columns 3 | 2
put t.svm '1 1:1\n'                     | import new t.svm --drop-columns 1 | 2
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --columns a --label-column a | 3
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --id-column c    | 2
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --id-column 3    | 2
put t.csv 'a,b,c\n1,2,3\n'              | import new t.csv --id-column b --label-column 2 | 2
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --columns a --id-column a | 3
put t.csv 'a,b\n"1\n1",2\n3,5\n'        | import new t.csv --id-column a    | 3
long t.csv 'a,b\n1,2\n' 5000 x ',3\n'   | import new t.csv --id-column 1    | 3
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --id-column 1   | 2
put t.csv '1,2\n3,5\n'                  | import new t.csv --dims 5        | 3 | --dims says 5
END
}

@test "rows of another length, and labels of another number" {
    cases <<'END'
put a.csv '1,2\n3,4\n'; put b.csv '1,2,3\n' | import new a.csv b.csv       | 3
put a.csv '1,2\n3,4\n'; npy b.npy '<f4' '(2, 3)' 24 | import new a.csv b.npy | 3
put a.csv 'odd,1,2\n'                   | import s a.csv --append --label-column 1 | 3
put a.csv '1,2,3\n'; put l '1\n'        | import s a.csv --append --labels l | 3
put a.csv '1,2,3\n'                     | import s a.csv                   | 2 | --append
put a.csv 'odd,1,2,3\n'                 | import s a.csv --append --label-column 1 --expect-rows 39 | 2
:                                       | import new p.csv --expect-rows 5 | 2
put a.csv '1,2\n3,4\n'; put l 'x\n\377\n' | import new a.csv --labels l    | 3 | l, line 2
put a.csv '1,2\n3,4\n'; put l 'x\n\000y\n' | import new a.csv --labels l   | 3
put a.csv '1,2\n3,4\n'; npy l '<f4' '(2, 2)' 16 | import new a.csv --labels l | 3
put a.csv '1,2\n3,4\n'; npy l '<f4' '(3,)' 12 | import new a.csv --labels l | 3
put a.csv '1,2\n3,4\n'; npy l '<f4' '(2,)' 7 | import new a.csv --labels l | 3
put a.csv '1,2\n3,4\n'                  | import new a.csv --labels none   | 4
put a.csv '1,2\n3,4\n'; mkdir dir       | import new a.csv --labels dir    | 4
put a.csv '1,2\n3,4\n'; put l '0\n1\n'  | import new a.csv --labels l --label-column 1 | 2
put a.csv '1,2\n3,4\n'                  | import new - --labels - <a.csv   | 2
put t.csv '1,2\n3,4\n'                  | transform s r --input t.csv -o out.npy | 3
put t.csv '1,2,3,4\n3,4,5,6\n'          | transform r.nym --input t.csv -o out.npy | 3
END
}

@test "npy: headers, and sizes that the file does not have" {
    cases <<'END'
put t.npy '\223NUMPY\011\000\166\000aaaaaaaaaa' | import new t.npy         | 3
put t.npy '\223NUMPY\001\000\377\377{'  | import new t.npy                 | 3
npy_of t.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }" 16; gzip t.npy | import new t.npy.gz | 3
npy_of t.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }" 16; mkfifo p; cat t.npy >p & | import new p --format npy | 3
npy t.npy '<f4' '(4, 4)' 63             | import new t.npy                 | 3
npy t.npy '<f4' '(4, 4)' 63             | import new - <t.npy              | 3
npy t.npy '<f4' '(1099511627776, 4)' 64 | import new - <t.npy              | 3
npy t.npy '<f4' '(4, 2000000000)' 64    | import new - < <(cat t.npy)      | 3
npy t.npy '<f4' '(1099511627776, 3)' 64 | transform s r --input t.npy -o out.npy | 3
npy t.npy '<f4' '(1099511627776, 3)' 64 | embed t.npy -o out.npy           | 3
npy t.npy '<i4' '(1, 2)' 8              | import new t.npy --dtype u8      | 3 | wider --dtype
npy t.npy '<f4' '(4, 4)' 64; gzip -n t.npy; truncate -s -9 t.npy.gz | import new t.npy.gz | 3
END
}

# mtx FIELD SIZES AND ENTRIES: writes a MatrixMarket file.
mtx() {
    printf '%%%%MatrixMarket matrix coordinate %s\n'"$2" "$1" >t.mtx
}

@test "libsvm and mtx: indices and values" {
    cases <<'END'
put t.svm '1 1:1 2:2\n1 2:1:1\n'        | import new t.svm                 | 3 | t.svm, line 2: '2:1:1'
put t.svm '1 1:1\n1 2147483647:1\n'     | import new t.svm                 | 3
put t.svm '1 1:1\n'; put u.svm '1 9:1\n' | import new t.svm u.svm          | 3
put t.svm '1 9:1\n'                     | transform s r --input t.svm -o out.npy | 3
mtx 'real general' '2 3 1\n1 4 1\n'         | import new t.mtx --transpose     | 3
mtx 'real general' '2 3 1\n1 1 1,5\n'       | import new t.mtx                 | 3
mtx 'real general' '2 3 1\n1 1 nan\n'       | import new t.mtx                 | 3 | --nan drop
mtx 'integer general' '2 3 1\n1 1 300\n'    | import new t.mtx --dtype u8      | 3 | wider --dtype
put t.mtx '%%%%MatrixMarket matrix array real general\n1 1\nNaN\n' | import new t.mtx | 3
put t.mtx '1 1 1\n'                          | import new t.mtx --format mtx    | 3
mtx 'real general' '2 2 2\n2 1 1\n1 2 1\n' | transform s r --input t.mtx -o out.npy | 3
mtx 'real general' '3 2 2\n2 1 1\n1 2 x\n' | transform s r --input t.mtx --transpose -o out.npy | 3
END
}

@test "idx, fvecs, gzip, files of other programs, and paths that are no files of points" {
    cases <<'END'
put t.idx '\0\0\10\5\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\1' | import new t.idx | 3
put t.fvecs '\1\0\0\0\0\0\200\77\377\377\377\377\0\0\200\77' | import new t.fvecs | 3
zip_csv t.csv.gz 200; flip t.csv.gz 3   | import new t.csv.gz              | 3 | t.csv.gz
zip_csv t.csv.gz 200; echo rest >>t.csv.gz | import new t.csv.gz           | 3 | t.csv.gz
put t.csv '1,2\n3\n'; gzip -n t.csv; gzip -nc t.csv.gz >u.gz | import new u.gz | 3 | u.gz
zip_csv t.csv.gz 200; truncate -s 500 t.csv.gz | embed t.csv.gz -o out.npy    | 3
put t.h5 '\211HDF\r\n\032\n'; export NYSTREAM_HDF5=/nowhere | import new t.h5 | 4
put t.png '\211PNG\r\n\032\n'           | import new t.png                 | 3 | give --format
put t.ply 'ply\nformat ascii 1.0\n'    | import new t.ply                 | 3 | t.ply, line 1
head -c 4096 /dev/zero >zeros           | import new zeros                 | 3
:                                       | import new missing.csv           | 4 | missing.csv
:                                       | import new p.csv missing.csv     | 4 | missing.csv
:                                       | import new p.csv/x               | 4
mkdir folder                            | import new folder                | 4
ln -s loop loop                         | import new loop                  | 4
:                                       | import none/such/new p.csv       | 4
put file 'in the way'                   | import file p.csv                | 4
mkdir other; touch other/thing          | import other p.csv               | 4
:                                       | import $(printf %05000d 0) p.csv | 4
:                                       | embed missing.csv -o out.npy     | 4 | missing.csv
:                                       | embed p.csv -o none/out.npy      | 4
:                                       | embed p.csv -o out.npy --tmpdir none | 4
:                                       | transform s r --input missing -o out.npy | 4
:                                       | transform r.nym --input missing -o out.npy | 4
:                                       | fit s a --landmarks-file missing.npy | 4 | missing.npy
:                                       | fit s a --columns-file missing.npy --landmarks-file p.csv | 3 | p.csv
END
}

@test "outputs that cannot be written" {
    cases <<'END'
mkdir out                               | export s r -o out                | 4
mkdir out.npy                           | transform s r --input p.csv -o out.npy | 4
mkdir out.npy                           | embed p.csv -o out.npy           | 4
:                                       | export s r -o out.nym            | 2
:                                       | export s r -o out.png            | 2
:                                       | embed p.csv -o out.svg           | 2
:                                       | export s r -o out.html           | 2
:                                       | export s r -o none/out.npy       | 4
:                                       | export s r -o p.csv/out.npy      | 4 | p.csv/out.npy
:                                       | export s r -o /dev/full          | 4
:                                       | export s r --part model -o /dev/full | 4
:                                       | transform s r --input p.csv -o /dev/full | 4
ln -s none/such out.npy                 | export s r -o out.npy/           | 4
:                                       | export s r -o $(printf %0300d 0).npy | 4
:                                       | transform s r --input - -o /dev/full < <(cat p.csv) | 2
END
}

@test "stores that are none" {
    cases <<'END'
:                                       | info none                        | 4
:                                       | info p.csv                       | 4
npy t.npy '<f4' '(3, 2)' 24             | plan t.npy                       | 4
put t.csv '1,2\n3,4\n'                  | plan t.csv --gamma-grid          | 4
put t.bin '\0\1\2'                      | plan t.bin                       | 4
put t.dat '\0\1\2'                      | import new t.dat                 | 3
mkdir empty                             | info empty                       | 4
mkdir empty                             | verify empty                     | 4
mkdir empty                             | fit empty a                      | 4
mkdir empty; touch empty/x              | export empty a -o out.npy        | 4
mkdir -p t/points                       | info t                           | 5 | t/points/data.mdb
mkdir -p t/points t/results             | info t                           | 5 | t/points/data.mdb
cp -r s t; : >t/points/data.mdb         | info t                           | 5 | t/points/data.mdb
cp -r s t; put t/points/data.mdb 'text' | info t                           | 5 | t/points/data.mdb
cp -r s t; cp p.csv t/points/data.mdb   | info t                           | 5 | t/points/data.mdb
cp -r s t; truncate -s 4096 t/points/data.mdb | info t                        | 5 | t/points/data.mdb
cp -r s t; truncate -s 12288 t/points/data.mdb | info t                       | 5 | t/points/data.mdb
cp -r s t; truncate -s 12288 t/results/data.mdb | info t                      | 5 | t/results/data.mdb
cp -r s t; rm t/results/data.mdb        | info t                           | 5 | t/results/data.mdb
cp -r s t; cp t/points/data.mdb t/results/data.mdb | info t                | 5 | t/results/data.mdb
cp -r s t; rm -r t/points; ln -s ../s/points t/points | info t             | 5
cp -r s t; rm t/points/data.mdb; ln -s ../../s/points/data.mdb t/points/data.mdb | info t | 5
cp -r s t; nystream import u p.csv -q; rm -r t/results; cp -r u/results t  | info t | 5
cp -r s t; flip t/points/data.mdb 0; flip t/points/data.mdb 4096 | export t r --part labels -o out.npy | 5 | t/points/data.mdb
cp -r s t; flip t/points/data.mdb 17    | import t p.csv --append          | 5 | t/points/data.mdb
cp -r s t; flip t/points/data.mdb 4112  | transform t r --input p.csv -o out.npy | 5 | t/points/data.mdb
END
}

@test "models that are none" {
    cases <<'END'
:                                       | transform none.nym --input p.csv -o out.npy | 4 | none.nym
put m.nym ''                            | transform m.nym --input p.csv -o out.npy | 5
put m.nym 'nystream model\n'            | transform m.nym --input p.csv -o out.npy | 5
cp p.csv m.nym                          | transform m.nym --input p.csv -o out.npy | 5
mkdir m.nym                             | transform m.nym --input p.csv -o out.npy | 4
cp r.nym m.nym; truncate -s -1 m.nym    | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; echo >>m.nym            | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; truncate -s 90 m.nym    | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; flip m.nym 0            | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; flip m.nym 17           | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; flip m.nym 32           | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; flip m.nym 200          | transform m.nym --input p.csv -o out.npy | 5
truncate -s 1T m.nym                    | transform m.nym --input p.csv -o out.npy | 5
cp r.nym m.nym; truncate -s 1T m.nym    | transform m.nym --input p.csv -o out.npy | 8
END
}

@test "nothing to fit, and rows that cannot be landmarks" {
    cases <<'END'
put t.csv '1,2\n'; nystream import t t.csv -q | fit t a -q | 3
put t.csv '1,2\n'                       | embed t.csv -o out.npy -q | 3
put t.csv '1,2\n1,2\n1,2\n'; nystream import t t.csv -q | fit t a -q | 3
put t.csv '1,2\n1,2\n1,2\n'             | embed t.csv -o out.npy -q | 3
put t.csv '0,0\n0,0\n0,0\n'; nystream import t t.csv -q | select t a --kernel linear -q | 3
put l '3\n3\n'                          | fit s a --landmarks-file l -q | 3 | row 3 twice
put l '1\n40\n'                         | fit s a --landmarks-file l -q | 3 | row 40
put l '1\n-1\n'                         | fit s a --landmarks-file l -q | 3
put l '1\n0.5\n'                        | fit s a --landmarks-file l -q | 3
put l '1\nx\n'                          | fit s a --landmarks-file l -q | 3 | l, line 2
put l ''                                | fit s a --landmarks-file l -q | 3
put l '1,2\n3,4\n'                      | fit s a --landmarks-file l -q | 3
put l '99999999999999999999\n'          | fit s a --landmarks-file l --components 1 -q | 3
put l '3\n3\n'                          | select s a --select given --landmarks-file l -q | 3 | row 3 twice
put l '1,2,3\n0,9,1\n1,2,3\n'          | fit s a --landmarks-points l -q | 3
put l '1,2,3\n4,5,6\n7,8,9\n4,5,6\n1,2,3\n7,8,9\n' | fit s a --landmarks-points l -q | 3
put l '1,2\n'                           | fit s a --landmarks-points l -q | 3
put l '1,2,3\nnan,3,4\n'                | fit s a --landmarks-points l -q | 3 | l, line 2
put l ''                                | fit s a --landmarks-points l -q | 3
npy p.npy '<f4' '(41, 3)' 492           | fit s a --landmarks-points p.npy -q | 3
npy p.npy '<f4' '(0, 3)' 0              | fit s a --landmarks-points p.npy -q | 3 | p.npy
npy c.npy '<f4' '(40, 2)' 320; put l '1\n2\n3\n' | fit s a --columns-file c.npy --landmarks-file l -q | 3
npy c.npy '<f4' '(39, 2)' 312; put l '1\n2\n' | fit s a --columns-file c.npy --landmarks-file l --components 1 -q | 3
END
}

@test "names of results" {
    cases <<'END'
:                                       | info s rr                        | 2
:                                       | info s nope                      | 2
:                                       | export s rr -o out.npy           | 2
:                                       | transform s rr --input p.csv -o out.npy | 2
:                                       | rm s none                        | 2
:                                       | rm s rr                          | 2
:                                       | plot s r                         | 2
:                                       | plot s r -o out.png --terminal   | 2 | or --terminal
:                                       | export s h -o out.npy            | 2
:                                       | transform s h --input p.csv -o out.npy | 2
:                                       | fit s a --landmarks-from h       | 2
:                                       | fit s h --landmarks 7            | 2
nystream import t p.csv -q              | export t a -o out.npy            | 2
nystream import t p.csv -q; nystream graph t g -q | fit t a --landmarks-from g | 2
nystream import t p.csv -q; nystream fit t e --map eigenmaps -q | select t a --landmarks-from e | 2
:                                       | fit s a --landmarks-from none    | 2
:                                       | fit s r --landmarks 6            | 2 | --restart
nystream import t p.csv -q; nystream fit t e --map pca -q | fit t e --map pca --landmarks 6 | 2
:                                       | fit s d --landmarks 5            | 2
:                                       | fit s ../../x                    | 2
:                                       | fit s .hidden                    | 2
:                                       | fit s a/b                        | 2
:                                       | fit s -- -a                      | 2
:                                       | fit s 'a b'                      | 2
:                                       | fit s $(printf %0500d 0)         | 2
:                                       | select s $'a\nb'                 | 2
:                                       | rm s ../s                        | 2
:                                       | export s d -o out.npy            | 2
:                                       | export s d --part model -o out.nym | 2
:                                       | transform s d --input p.csv -o out.npy | 2
:                                       | export s d --part eigenvalues -o out.npy | 2
nystream import t p.csv -q; nystream fit t a --landmarks 5 -q | export t a --part labels -o out.npy | 2
END
}

@test "what a newcomer types says what to type next" {
    cases <<'END'
:   | import p.csv new                   | 4
:   | import none.csv new.nys            | 4 | cannot open new.nys: No such file or directory
:   | import none.csv s                  | 4
mkdir im                                | embed im -o out.npy              | 4
:   | fit a s                            | 4
:   | fit p.csv a                        | 4
:   | fit s a --memory 10                | 8
:   | fit s a -q --memory 10M            | 8 | --memory 3
:   | select s a --memory 10M            | 8 | --memory
:   | fit s a -landmarks 5               | 2
:   | fit s a -lables 5                  | 2
:   | fit s a $'\xe2\x80\x93landmarks' 5 | 2
:   | report s -o out.pdf                | 2 | out.pdf
table 9 2 >q.csv | transform s r --input q.csv -o out.npy | 3
table 9 2 >q.csv; cp -r s t; nystream fit t a --approx randomized -q | transform t a --input q.csv -o out.npy | 3
table 9 2 >q.csv; cp -r s t; nystream fit t a --map isomap -q | transform t a --input q.csv -o out.npy | 3
python3 -m zipfile -c t.xlsx p.csv | import new t.xlsx | 3
:   | --landmarks 5                      | 2 | --landmarks
:   | transform s r --input p.csv -o p.csv | 2
:   | export s d --part landmarks -o s/points/data.mdb | 2
:   | export s d --part landmarks -o s/locks/points.lock | 2
mkdir s/mine | export s r -o s/mine/out.npy | 2
:   | export s r --part model -o s/out.nym | 2
:   | export s -o s/points/out.npy --part points | 2
:   | plot s r -o s/out.png              | 2
:   | report s -o s/out.html             | 2
:   | transform s r --input p.csv -o s/out.npy | 2
:   | embed p.csv -o s/out.npy           | 2
:   | merge s --name r -o s/out.nym      | 2
nystream import set --shard 0/2 p.csv -q | export s r -o set/out.npy | 2
cp -r s t; ln -s t/locks l | export s r -o l/out.npy | 2
cp -r s t; nystream graph t g -q | transform t g --input p.csv -o out.npy --distances t/d.npy | 2
cp -r s t; nystream eval t r --clusters 2 -q >/dev/null 2>&1 | transform t r --input p.csv -o out.npy --clusters t/c.csv | 2
:   | transform r.nym --input p.csv -o ./r.nym | 2
ln p.csv q.csv | embed p.csv -o q.csv   | 2
cp -r s t; nystream graph t g -q | transform t g --input p.csv -o out.npy --neighbors 9999 | 2 | --neighbors 9999 needs more rows than 40
:   | transform s r --input p.csv -o out.npy --neighbors 3 | 2
cp -r s t; nystream graph t g -q | export t g --part model -o out.nym | 2
END
}

@test "tables of a data scientist, a biologist and a physicist" {
    cases <<'END'
put t.csv 'a;b\n0.5;1.25\n2,5;3\n'      | import new t.csv | 3
put t.csv 'a;b\n0,5;1,25\n2,5;3\n'      | import new t.csv --decimal . | 3
put t.csv 'a;b\n0,5;1.25\n'             | import new t.csv --decimal , | 3
put t.csv 'a;b\n0,5;1.250,5\n'          | import new t.csv --decimal , | 3
put t.csv 'a;b\n0,5;1,250,000\n'        | import new t.csv --decimal , | 3
put t.svm '1 1:2\n'                     | import new t.svm --decimal , | 2
put t.csv '1;2\n'                       | import new t.csv --decimal ';' | 2
put t.csv '0,5\t1,25\n2,5\t3\n'         | import new t.csv | 3 | line 1, column 1
put t.csv 'a,b\n"1.234,5",2\n3,4\n'     | import new t.csv | 3 | line 2, column 1
put t.csv 'id,x,c\n1,2,3\nP1,2,3\n'     | import new t.csv --label-column c | 3
put t.csv 'id,x,c\n1,2,3\n1,2,a\n'      | import new t.csv --id-column id | 3
put t.csv 'x,y\n1,2\n3,NULL\n'          | import new t.csv | 3 | --nan drop
put t.csv 'a,b\n1,x\n'                  | import new t.csv --nan keep | 2 | --nan keep is for embed and transform / --nan drop
put t.csv 'a,b-c,d\n1,2,3\n'            | import new t.csv --columns a-x | 2
put t.csv 'a,b-c,d\n1,2,3\n'            | import new t.csv --columns d-a | 2
put t.csv 'x,a,b\n1,,2\n3,4,\n'         | import new t.csv --nan drop | 3
put t.csv 'x,y\n1,\n2,\n'              | embed t.csv -o out.npy --nan keep | 3
put t.csv '1,2\n# made on a Monday\n3,4\n' | import new t.csv | 3
put t.csv '1,2\n#3,4\n'               | import new t.csv | 3 | t.csv, line 2, column 1: '#3' is not a number
put t.csv '# a\n#\n\n#b\n'            | import new t.csv | 3
put t.csv '1,2\n3,4\n'; put l 'class\n1\n2\n' | import new t.csv --labels l | 3
put t.pkl '\200\4\225 rest'             | import new t.pkl | 3 | give --format
put t.arrow 'ARROW1\0\0'                | import new t.arrow | 3 | give --format
END
}

@test "missing values by the names that programs give them are dropped when asked" {
    printf 'x,y,z\n1,2,3\n4,NULL,6\n7,8,?\n9,None,1\n2,#N/A,4\n5,6,7\n8,n/a,1\n' >t.csv
    nystream import s t.csv --nan drop -q
    has s n=2 dropped=5
    ny -0 fit s a --memory 1gb --landmarks 2 --components 1 -q
}

# bats test_tags=slow
@test "wrong values of options" {
    cases <<'END'
:   | import new p.csv --columns 1,      | 2
:   | import new p.csv --memory 1        | 8 | --memory
:   | fit s a --landmarks 1              | 2 | --components 2 needs more landmarks than 1;
:   | fit s a --components 41            | 2 | --components 41 needs more rows than 40
:   | fit s a --components 9223372036854775807 | 2 | --components 9223372036854775807
:   | plan s --epsilon 1e-310            | 2
:   | select s a --select greedy --tolerance 1 --no-affine | 2
:   | embed p.csv -o out.npy --select greedy --tolerance 2 --kernel cosine | 2
:   | fit s a --memory 1K                | 8
:   | fit s a --landmarks-file=          | 2
:   | select s a --components 2          | 2 | --components is not an option of select
:   | select s a --select every          | 2
:   | transform s r --input p.csv -o out.npy --columns 9 | 2
:   | export s r --part clusters -o out.npy | 2
:   | fit s a --map eigenmaps --components 9223372036854775807 | 2
:   | fit s a --map diffusion --neighbors 3 --components 40 | 2 | --components 40 needs more rows than 40
:   | embed none.csv -o out.npy --components 5 --rank 2 | 2
:   | embed p.csv -o out.npy --components 11 | 2 | --components 11 needs more
END
}

# The verbs with operands of theirs.
lines_of_verbs() {
    printf '%s\n' "import new p.csv" "info s" "verify s" "plan s" "fit s a" "select s a" \
        "transform s r" "export s r" "embed p.csv" "list s" "rm s r" bench version help
}

# bats test_tags=slow
@test "unknown options, missing values and operands too many, of every verb" {
    lines_of_verbs | while read -r line; do
        verb=${line%% *} option=
        echo ": | $line --xyzzy | 2 | --xyzzy"
        echo ": | $line -x | 2 | -x"
        echo ": | $line --json=1 | 2 | "
        case $verb in import | rm) ;; *) echo ": | $line b c d | 2 | " ;; esac
        case $verb in plan | select | embed) continue ;; esac # options of fit and import
        for option in $(nystream help $verb --all | sed -nE 's/^  (-., )?--([a-z0-9-]+) [^[ ].*/\2/p'); do
            echo ": | $line --$option= | 2 | --$option"
        done
    done >rows
    cases <rows
    [ "$(wc -l <rows)" -gt 100 ]
}

@test "what a command line cannot do without" {
    cases <<'END'
:   | ''                                 | 2
:   | import '' p.csv                    | 2
:   | import new ''                      | 2
:   | fit s ''                           | 2
:   | export s r                         | 2
:   | transform s r --input p.csv        | 2
:   | transform s r -o out.npy           | 2 | transform needs --input
:   | transform s -o out.npy --input p.csv | 2
:   | embed p.csv                        | 2
:   | s fit a                            | 2
:   | fit s a --landmarks --components 3 | 2
:   | fit s a --gamma --no-affine        | 2
:   | export s r -o --json               | 2
:   | plot s r out.png                   | 2
:   | plot s r --terminal out.png        | 2
:   | export s r out.npy                 | 2
:   | embed p.csv out.npy                | 2
:   | transform s r p.csv -o out.npy     | 2
:   | transform r.nym r --input p.csv -o out.npy | 2
:   | embed p.csv -o - --json            | 2
:   | $'\033[31m'                        | 2
:   | info s $'a\nb'                     | 2
END
}

# Checks odd but valid imports: files | the import | n, d and how many rows are dropped | labels
fine() {
    local make command facts labels got
    while IFS='|' read -r make command facts labels; do
        [ -n "$make" ] || continue
        rm -rf ./*
        eval "$make"
        eval "nystream import new $command -q" >out 2>err </dev/null && [ ! -s out ] && [ ! -s err ] ||
            { echo "refused or not quiet: $make | $command: $(cat err)" >&2; return 1; }
        got=$(nystream info new --json)
        got="$(field "$got" n) $(field "$got" d) $(field "$got" dropped)"
        read -r facts <<<"$facts"
        [ "$got" = "$facts" ] || { echo "$got, not $facts: $make | $command" >&2; return 1; }
        read -r labels <<<"$labels"
        [ -n "$labels" ] || continue
        nystream fit new a --landmarks 2 --components 1 -q
        got=$(nystream export new a --part labels -o - | tail -c +129 | od -An -tf8 -w8 | tr -d '\n')
        read -ra got <<<"$got"
        [ "${got[*]}" = "$labels" ] || { echo "labels ${got[*]}, not $labels: $make" >&2; return 1; }
    done
}

@test "a last line without an end is read, with a warning" {
    table 3 2 >t.csv
    printf '1,0.6' >>t.csv
    printf '1 1:2\n2 1:0.6' >t.svm
    printf '1,2\r\n3,4' >r.csv
    for file in t.csv t.svm r.csv; do
        ny -0 import "cut-$file" $file
        [ "$(nystream info "cut-$file" --json | grep -c '"n": [24],')" = 1 ]
        [[ $stderr == *"the last line of $file does not end with a newline: it may be cut short"* ]]
        printf '\n' >>$file
        ny -0 import "whole-$file" $file
        [[ $stderr != *"a newline"* ]]
    done
}

@test "what looks odd and is fine" {
    fine <<'END'
put t.csv '\357\273\277a,b\n1,2\n3,4\n' | t.csv                            | 2 2 0
put t.csv '1,2\n3,4\n'                  | - <t.csv                         | 2 2 0
put t.csv '1,2\n'                       | t.csv                            | 1 2 0
put t.csv '1,2\n1,2\n1,2\n'             | t.csv                            | 3 2 0
put t.csv '1,2\n3,4\n'; gzip -n t.csv; cat t.csv.gz t.csv.gz >u.gz | u.gz  | 4 2 0
npy t.npy '<f4' '(3, 2)' 24; gzip -n t.npy | t.npy.gz                       | 3 2 0
put t.fvecs '\2\0\0\0\0\0\0\0\0\0\0\0'; gzip -n t.fvecs | t.fvecs.gz | 1 2 0
put t.bvecs '\2\0\0\0ab\2\0\0\0cd'; gzip -n t.bvecs | t.bvecs.gz       | 2 2 0
put t.csv 'a,b-c,d\n1,2,3\n'            | t.csv --columns a-b-c            | 1 2 0
put t.csv 'a,b-c,d\n1,2,3\n'            | t.csv --columns b-c,d            | 1 2 0
put t.csv 'a,b-c,d\n1,2,3\n'            | t.csv --columns a-d              | 1 3 0
put t.csv 'caf\303\251,b\n1,2\n3,4\n'   | t.csv --columns café             | 2 1 0
npy t.npy '<f4' '(3,)' 12               | t.npy                            | 3 1 0
npy t.npy '<f4' '(2, 2, 2)' 32          | t.npy                            | 2 4 0
put t.csv '# made on a Monday\n1,2\n3,4\n' | t.csv                        | 2 2 0
put t.csv '# a b\n# c d\n1 2\n3 4\n'    | t.csv                            | 2 2 0
put t.csv '# a,b\n1,2\n3,4\n'          | t.csv --header no                | 2 2 0
put t.csv '# made on, it says\n7,8\n1,2\n3,4\n' | t.csv --header yes | 2 2 0
put t.csv '# x,y\n1,2\n3,4\n'          | - <t.csv                         | 2 2 0
put t.csv '#ff,1,2\n#fe,3,4\n'          | t.csv --label-column 1           | 2 2 0 | 0 1
END
}

@test "dropped rows are counted, and labels follow the others" {
    fine <<'END'
put t.csv '1,2\nnan,4\n5,6\n7,inf\n9,1\n' | t.csv --nan drop               | 3 2 2
put t.csv '1,2\n,4\n5,6\n'              | t.csv --nan drop                 | 2 2 1
put t.csv '1,2\nnan,4\n5,6\n'; put l '10\n20\n30\n' | t.csv --nan drop --labels l | 2 2 1 | 10 30
put t.csv '1,2\nnan,4\n5,6\n'; put l 'x\ny\nz\n' | t.csv --nan drop --labels l | 2 2 1 | 0 2
put t.csv '7,1,2\n8,nan,4\n9,5,6\n'     | t.csv --nan drop --label-column 1 | 2 2 1 | 7 9
put t.csv 'nan,1,2\n8,3,4\n'            | t.csv --nan drop --label-column 1 | 2 2 0 | nan 8
put t.svm '3 1:1\n4 1:nan\n5 1:2 2:1\n' | t.svm --nan drop                 | 2 2 1 | 3 5
npy t.npy '<f4' '(2, 2)' 12; put x '\0\0\300\177'; cat x >>t.npy; npy l '<f8' '(2,)' 16 | t.npy --nan drop --labels l | 1 2 1
put a.csv '1,2\nnan,1\n'; put b.csv 'inf,1\n3,4\n' | a.csv b.csv --nan drop | 2 2 2
put a.csv '1,2\nnan,1\n3,4\n'; put l '5\n6\n7\n' | - --nan drop --labels l <a.csv | 2 2 1 | 5 7
END
}

@test "a file and a folder that may not be read or written" {
    [ "$(id -u)" -ne 0 ] || skip "root may read and write everything"
    table 10 2 >t.csv
    chmod 000 t.csv
    ny -4 import refused t.csv
    chmod 600 t.csv
    mkdir closed
    chmod 500 closed
    ny -4 import closed/s t.csv
    ny -4 embed t.csv -o closed/out.npy
}
