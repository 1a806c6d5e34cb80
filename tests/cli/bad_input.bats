# Bad input is refused, case by case: the right exit code, one sentence with the file and the line or
# row and column in it, nothing on the standard output, and nothing changed or left behind.
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
    load helper
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

# Reads the lines of ../err but those that say how a table was read.
read_lines() {
    local line
    lines=()
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ ': '(no header|header: [0-9]+ names?)'; column' ]] || lines+=("$line")
    done <../err
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
    local got=0 err expected=$words word before after
    eval "$make" || return
    before=(.* *)
    eval "nystream $command" >../out 2>../err </dev/null || got=$?
    read_lines
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

@test "csv: nothing in it" {
    cases <<'END'
put t.csv ''                            | import new t.csv                 | 3 | t.csv is empty
put t.csv '\n\n\n'                      | import new t.csv                 | 3 | t.csv holds no rows
put t.csv '\r\n\r\n'                    | import new t.csv                 | 3 | t.csv holds no rows
put t.csv ' \t \n'                      | import new t.csv                 | 3 | t.csv
put t.csv 'a,b\n'                       | import new t.csv --header yes    | 3 | t.csv holds no rows
put t.csv '\357\273\277'                | import new t.csv                 | 3 | t.csv
put t.csv '1,2\n'                       | import new t.csv --header yes    | 3 | t.csv holds no rows
put t.csv ''                            | import s t.csv --append          | 3 | t.csv is empty
put t.csv ''                            | import new - <t.csv              | 3 | standard input is empty
put t.csv ''                            | embed t.csv -o out.npy           | 3 | t.csv is empty
put t.csv ''                            | transform s r --input t.csv -o out.npy | 3 | t.csv is empty
END
}

@test "csv: ragged rows, by line" {
    cases <<'END'
put t.csv '1,2\n3\n4,5\n'               | import new t.csv                 | 3 | t.csv, line 2: 1 field where the first line has 2
put t.csv '1,2\n3,4\n5,6,7\n'           | import new t.csv                 | 3 | t.csv, line 3 / 3 fields
put t.csv 'a,b\n1,2\n3,4,5\n'           | import new t.csv                 | 3 | t.csv, line 3
put t.tsv '1\t2\n3\t4\t5\n'             | import new t.tsv                 | 3 | t.tsv, line 2
put t.csv '1;2\n3;4;5\n'                | import new t.csv                 | 3 | t.csv, line 2
put t.csv '1 2\n3 4 5\n'                | import new t.csv                 | 3 | t.csv, line 2
put t.csv '1,2\r\n3,4,5\r\n'            | import new t.csv                 | 3 | t.csv, line 2
put t.csv '1,2\n\n3,4,5\n'              | import new t.csv                 | 3 | t.csv, line 3
put t.csv '1,2\n3,4,\n'                 | import new t.csv                 | 3 | t.csv, line 2
put t.csv '1,2,3\n4,-\n'               | import new t.csv                 | 3 | t.csv, line 2: 2 fields where the first line has 3
put t.csv '1,2,3\n,5\n1,2,3\n'         | import new t.csv                 | 3 | t.csv, line 2: 2 fields where the first line has 3; correct the line
put t.csv '1,2,3\n4,1e'                | import new t.csv                 | 3 | t.csv, line 2: 2 fields where the first line has 3; the file ends in the line
put t.csv '1,2\n3,x,5\n'               | import new t.csv                 | 3 | t.csv, line 2, column 2: 'x' is not a number
put t.csv '"1",2\n"3,4"\n'              | import new t.csv                 | 3 | t.csv, line 2
put t.csv '1,2\n3\n'                    | import new t.csv --nan drop      | 3 | t.csv, line 2
put t.csv '1,2\n3,4,5\n'                | import new - --format csv <t.csv | 3 | standard input, line 2
put t.csv 'odd,1,2,3\neven,5,6\n'      | import s t.csv --append --label-column 1 | 3 | t.csv, line 2
put t.csv '1,2,3\n4,5\n'                | embed t.csv -o out.csv           | 3 | t.csv, line 2
put t.csv '1,2,3\n4,5\n'                | transform s r --input t.csv -o out.csv | 3 | t.csv, line 2
put t.csv '1,2,3\n4,5\n'                | transform r.nym --input t.csv -o out.csv | 3 | t.csv, line 2
END
}

@test "csv: what is not a number, by line and column" {
    cases <<'END'
put t.csv '1,2\n3,x\n'                  | import new t.csv                 | 3 | t.csv, line 2, column 2 / 'x'
put t.csv '1,2\n,4\n'                   | import new t.csv                 | 3 | t.csv, line 2, column 1 / is empty / --nan drop
put t.csv '1,2\n3,4.5.6\n'              | import new t.csv                 | 3 | line 2, column 2
put t.csv '1,2\n0x10,4\n'               | import new t.csv                 | 3 | line 2, column 1
put t.csv '1,2\n1e,4\n'                 | import new t.csv                 | 3 | line 2, column 1
put t.csv '1,2\n1 2,4\n'                | import new t.csv                 | 3 | line 2, column 1
put t.csv '1,2\n--1,4\n'                | import new t.csv                 | 3 | line 2, column 1
put t.csv 'a,b\n1,2\n3,oops\n'          | import new t.csv                 | 3 | line 3, column 2 ('b') / 'oops'
put t.csv '1,2\n3,\377\376\n'           | import new t.csv                 | 3 | line 2, column 2
put t.csv '1,2\n3,caf\303\251\n'        | import new t.csv                 | 3 | line 2, column 2 / café
put t.csv '1,2\n3,\033[31m\n'           | import new t.csv                 | 3 | line 2, column 2
put t.csv '1,2\n3,\0004\n'              | import new t.csv                 | 3 | t.csv, line 2
put t.csv '1,2\n3,"4\n'                 | import new t.csv                 | 3 | t.csv, line 2
put t.csv 'a,b\nc,d\n'                  | import new t.csv --header yes    | 3 | t.csv, line 2
put t.csv '1,2\nx,y\n'                  | import new t.csv --header no     | 3 | t.csv, line 2
put t.csv 'x,y\n1,2\n'                  | import new t.csv --header no     | 3 | t.csv, line 1
put t.csv '1,2\n3,x\n'                  | import new t.csv --json          | 3 | {"error": / "code":3 / "kind":"bad-input" / "file":"t.csv" / "line":2
put t.csv '1,2\n3,4\n5,x\n'             | import new t.csv --nan drop      | 3 | line 3, column 2
put t.csv '1,2,3\n4,5,x\n'              | transform s r --input t.csv -o out.npy | 3 | t.csv, line 2, column 3
END
}

@test "NaN among new points: the way out is the one that the verb has" {
    cp -r "$BATS_FILE_TMPDIR/base" work
    cd work
    printf '1,2,3\n4,nan,6\n' >t.csv
    printf '1 1:1 2:nan\n' >t.svm
    npy t.npy '<f4' '(1, 3)' 8
    printf '\0\0\300\177' >>t.npy
    for file in t.csv t.svm t.npy; do
        ny transform s r --input $file -o out.npy
        exits 3
        says "--nan keep gives such rows NaN for coordinates"
        ny embed $file -o out.npy
        exits 3
        says "--nan drop leaves such rows out"
    done
}

@test "csv: NaN and infinity, by row and column" {
    cases <<'END'
put t.csv '1,2\n3,4\n5,nan\n'           | import new t.csv                 | 3 | t.csv, line 3, column 2 / 'nan' / --nan drop
put t.csv '1,2\n3,4\n5,NaN\n'           | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\n3,4\n5,NAN\n'           | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\n3,4\n5,inf\n'           | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\n3,4\n5,-inf\n'          | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\n3,4\n5,Infinity\n'      | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\n3,4\n5,1e999\n'         | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\n3,4\n5,-1e999\n'        | import new t.csv                 | 3 | line 3, column 2
put t.csv '1,2\nnan,4\n'                | import new t.csv                 | 3 | line 2, column 1
put t.csv 'nan,1\ninf,2\n'              | import new t.csv --nan drop      | 3 | each of its 2 rows holds NaN or Inf
put t.csv '1,1e39\n2,3\n'               | import new t.csv --dtype f32     | 3 | column 2
put t.csv '1,2,nan\n'                   | transform s r --input t.csv -o out.npy | 3 | t.csv, line 1, column 3
put t.csv '1,2,nan\n'                   | transform r.nym --input t.csv -o out.npy | 3 | t.csv, line 1, column 3
put t.csv '1,2\n3,4\n5,nan\n'           | embed t.csv -o out.npy           | 3 | t.csv, line 3, column 2
END
}

@test "csv: values that the element type cannot hold" {
    cases <<'END'
put t.csv '1,256\n2,3\n'                | import new t.csv --dtype u8      | 3 | line 1, column 2 / '256' / --dtype
put t.csv '1,-1\n2,3\n'                 | import new t.csv --dtype u8      | 3 | column 2 / '-1'
put t.csv '1,0.5\n2,3\n'                | import new t.csv --dtype i16     | 3 | '0.5'
put t.csv '1,40000\n2,3\n'              | import new t.csv --dtype i16     | 3 | '40000'
END
}

@test "csv: huge fields, lines and numbers of columns" {
    cases <<'END'
long t.csv '1,' 2000000 x '\n'          | import new t.csv --header no     | 3 | t.csv, line 1
long t.csv '1,2\n3,"' 2000000 7 '\n'    | import new t.csv                 | 3 | t.csv, line 2
long t.csv '1,2\n' 3000000 , '\n'       | import new t.csv                 | 3 | t.csv, line 2
long t.csv '' 9000000 7 ''              | import new t.csv --header no     | 3 | t.csv, line 1
long t.csv 'a' 9000000 ' ' 'b\n1\n'     | import new t.csv --header no     | 3 | t.csv, line 1
long t.csv '1,2\nlabel' 5000 x ',3\n'   | import new t.csv --label-column 1 | 3 | t.csv, line 2 / longer than 1024
END
}

@test "a file or a store that is not there is told plainly, with others beside it" {
    local missing="No such file or directory"
    printf '1,2\n3,5\n' >letters.csv
    nystream import letters.nys letters.csv -q
    ny import new leters.csv
    exits 4
    [ "$stderr" = "nystream: cannot open leters.csv: $missing" ]
    ny import new letters.csv --labels Leters.csv
    exits 4
    says "cannot open Leters.csv: $missing"
    ny info leters.nys
    exits 4
    [ "$stderr" = "nystream: there is no store leters.nys; the first operand names the store, and 'nystream import' makes it" ]
}

@test "columns that are not there" {
    cases <<'END'
put t.csv 'x,diagnosis\n1,2\n3,5\n'     | import new t.csv --label-column Diagnosis | 2 | no column 'Diagnosis' among the 2; did you mean 'diagnosis'?
put t.csv 'x,diagnosis\n1,2\n3,5\n'     | import new t.csv --drop-columns diagnoses | 2 | --drop-columns: no column 'diagnoses' among the 2; did you mean 'diagnosis'?
put t.csv 'x,diagnosis\n1,2\n3,5\n'     | import new t.csv --labels diagnosis | 4 | cannot open diagnosis: No such file or directory
npy t.npy '<f4' '(3, 4)' 48             | import new t.npy --labels diagnosis | 4 | cannot open diagnosis: No such file or directory
put t.csv 'length,width\n1,2\n3,5\n'    | import new t.csv --label-column c | 2 | no column 'c' / 'length' … 'width'
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --label-column 3 | 2 | no column 3 / from 1 to 2
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --label-column 0 | 2 | no column 0
put t.csv '1,2\n3,5\n'                  | import new t.csv --label-column c --header no | 2 | have no names
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --columns 1,9   | 2 | no column 9
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --drop-columns c | 2 | --drop-columns: no column 'c'
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --drop-columns 1-2 | 3 | is left for the points
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --drop-columns a --columns b | 2 | give one
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --drop-columns 1-2 | 3 | is left for the points
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --drop-columns 3 | 2 | --drop-columns: no column 3
put t.svm '1 1:1\n'                     | import new t.svm --drop-columns 1 | 2 | --drop-columns does not go with the format libsvm
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --columns 2-1   | 2 | runs backwards / 1-2
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --columns a --label-column a | 3 | is left for the points
put t.csv '7\n8\n'                      | import new t.csv --label-column 1 | 3 | is left for the points
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --id-column c    | 2 | --id-column: no column 'c'
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --id-column 3    | 2 | no column 3 / from 1 to 2
put t.csv 'a,b,c\n1,2,3\n'              | import new t.csv --id-column b --label-column 2 | 2 | --label-column and --id-column both take column 2
put t.csv 'a,b\n1,2\n3,5\n'             | import new t.csv --columns a --id-column a | 3 | is left for the points
put t.csv 'a,b\n"1\n1",2\n3,5\n'        | import new t.csv --id-column a    | 3 | t.csv, line 2: the name of the row has a line end
long t.csv 'a,b\n1,2\n' 5000 x ',3\n'   | import new t.csv --id-column 1    | 3 | t.csv, line 3: the name of the row has more than 4096 bytes
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --id-column 1   | 2 | --id-column does not go with the format npy
put t.csv '1,2\n3,5\n'                  | import new t.csv --dims 5        | 3 | 2 columns / --dims says 5
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --label-column 1 | 2 | --label-column does not go with the format npy
npy t.npy '<f4' '(2, 2)' 16             | import new t.npy --columns 3     | 2 | no column 3
put t.svm '1 1:1\n'                     | import new t.svm --columns 1     | 2 | --columns does not go with the format libsvm
put t.csv '1,2\n3,5\n'                  | import new t.csv --format npy    | 3 | does not begin like an npy file
put t.csv '1,2\n3,5\n'                  | import new t.csv --format idx    | 3 | does not begin like an IDX file
put t.csv '1,2\n3,5\n'                  | import new t.csv --format cvs    | 2 | did you mean 'csv'?
END
}

@test "rows of another length, and labels of another number" {
    cases <<'END'
put a.csv '1,2\n3,4\n'; put b.csv '1,2,3\n' | import new a.csv b.csv       | 3 | b.csv has 3 columns / 2
put a.csv '1,2\n3,4\n'; npy b.npy '<f4' '(2, 3)' 24 | import new a.csv b.npy | 3 | b.npy has 3 columns
put a.csv 'odd,1,2\n'                   | import s a.csv --append --label-column 1 | 3 | a.csv has 2 columns / 3
put a.csv '1,2,3\n'; put l '1\n'        | import s a.csv --append --labels l | 3 | are words / numbers
put a.csv '1,2,3\n'                     | import s a.csv                   | 2 | already holds 40 points / --append
put a.csv 'odd,1,2,3\n'                 | import s a.csv --append --label-column 1 --expect-rows 39 | 2 | s has 40 rows / --expect-rows 40
:                                       | import new p.csv --expect-rows 5 | 2 | new has 0 rows
put a.csv '1,2\n3,4\n'; put l '0\n1\n1\n' | import new a.csv --labels l    | 3 | l holds / labels / 2 rows
put a.csv '1,2\n3,4\n'; put l '0\n'     | import new a.csv --labels l      | 3 | l holds 1 label, but a.csv holds more rows
put a.csv '1,2\n3,4\n'; put l ''        | import new a.csv --labels l      | 3 | l
put a.csv '1,2\n3,4\n'; put l '0\n\n1\n' | import new a.csv --labels l     | 3 | l, line 2: no label
put a.csv '1,2\n3,4\n'; put l '0\nx\n'  | import new a.csv --labels l      | 3 | l, line 2 / 'x'
put a.csv '1,2\n3,4\n'; put l 'x\n\377\n' | import new a.csv --labels l    | 3 | l, line 2 / is not UTF-8
put a.csv '1,2\n3,4\n'; put l 'x\n\000y\n' | import new a.csv --labels l   | 3 | l: neither its content nor its name shows a format
put a.csv '1,2\n3,4\n'; npy l '<f4' '(2, 2)' 16 | import new a.csv --labels l | 3 | the labels have 2 columns
put a.csv '1,2\n3,4\n'; npy l '<f4' '(3,)' 12 | import new a.csv --labels l | 3 | l holds 3 labels
put a.csv '1,2\n3,4\n'; npy l '<f4' '(2,)' 7 | import new a.csv --labels l | 3 | l: the header promises 2 rows / truncated
put a.csv '1,2\n3,4\n'                  | import new a.csv --labels none   | 4 | none / No such file
put a.csv '1,2\n3,4\n'; mkdir dir       | import new a.csv --labels dir    | 4 | dir is a directory
put a.csv '1,2\n3,4\n'; put l '0\n1\n'  | import new a.csv --labels l --label-column 1 | 2 | give one
put a.csv '1,2\n3,4\n'                  | import new - --labels - <a.csv   | 2 | cannot both be standard input
put t.csv '1,2\n3,4\n'                  | transform s r --input t.csv -o out.npy | 3 | t.csv has 2 columns / 3
put t.csv '1,2,3,4\n3,4,5,6\n'          | transform r.nym --input t.csv -o out.npy | 3 | t.csv has 4 columns / 3
END
}

@test "npy: headers" {
    cases <<'END'
put t.npy 'NUMPY nothing'               | import new t.npy                 | 3 | does not begin like an npy file
put t.npy '\223NUMPY'                   | import new t.npy                 | 3 | ends inside the npy header
put t.npy '\223NUMPY\001\000'           | import new t.npy                 | 3 | ends inside the npy header
put t.npy '\223NUMPY\011\000\166\000aaaaaaaaaa' | import new t.npy         | 3 | version 9.0 / 3.0
put t.npy '\223NUMPY\001\000\377\377{'  | import new t.npy                 | 3 | ends inside the npy header
put t.npy '\223NUMPY\002\000\377\377\377\377{' | import new t.npy          | 3 | claims 4294967295 bytes
npy_of t.npy "{}" 16                    | import new t.npy                 | 3 | malformed
npy_of t.npy "" 16                      | import new t.npy                 | 3 | malformed
npy_of t.npy "not a dictionary" 16      | import new t.npy                 | 3 | malformed
npy_of t.npy "{'descr': '<f4'}" 16      | import new t.npy                 | 3 | malformed
npy_of t.npy "{'descr': '<f4', 'fortran_order': False, }" 16 | import new t.npy | 3 | malformed
npy_of t.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2}" 16 | import new t.npy | 3 | malformed
npy t.npy '<f4' '(2, x)' 16             | import new t.npy                 | 3 | a shape like
npy t.npy '<f4' '(-2, 2)' 16            | import new t.npy                 | 3 | a shape like
npy_of t.npy "{'descr': , 'fortran_order': False, 'shape': (2, 2), }" 16 | import new t.npy | 3 | malformed
npy_of t.npy "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 2), }" 16 | import new t.npy | 3 | True or False
npy_of t.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1, 2), }" 16 | import new t.npy | 3 | Fortran order / more than two dimensions / ascontiguousarray
npy_of t.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }" 16 | import new t.npy | 3 | promises 2 rows of 3 / truncated
npy_of t.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }" 16; gzip t.npy | import new t.npy.gz | 3 | Fortran order / a packed file / unpacked, or save it with numpy.ascontiguousarray
npy_of t.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }" 16; mkfifo p; cat t.npy >p & | import new p --format npy | 3 | Fortran order / a pipe
npy_of t.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }; import os" 16 | import new t.npy | 3 | nothing after
npy t.npy '<c8' '(2, 2)' 64             | import new t.npy                 | 3 | '<c8' / a.view(a.real.dtype)
npy t.npy '<U3' '(2, 2)' 64             | import new t.npy                 | 3 | '<U3'
npy t.npy 'S5' '(2, 2)' 64              | import new t.npy                 | 3 | 'S5'
npy t.npy 'O' '(2, 2)' 64               | import new t.npy                 | 3 | 'O'
npy t.npy '<M8[ns]' '(2, 2)' 64         | import new t.npy                 | 3 | '<M8[ns]'
npy t.npy '<f16' '(2, 2)' 64            | import new t.npy                 | 3 | '<f16'
npy t.npy '' '(2, 2)' 64                | import new t.npy                 | 3 | dtype ''
npy_of t.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }" 8 | import new t.npy | 3 | structured
END
}

@test "npy: sizes that the file does not have, and values" {
    cases <<'END'
npy t.npy '<f4' '()' 4                  | import new t.npy                 | 3 | single number
npy t.npy '<f4' '(0, 4)' 0              | import new t.npy                 | 3 | 0 rows of 4 columns
npy t.npy '<f4' '(4, 0)' 0              | import new t.npy                 | 3 | 4 rows of 0 columns
npy t.npy '<f4' '(4, 4)' 63             | import new t.npy                 | 3 | promises 4 rows of 4 / only 63 bytes / truncated
npy t.npy '<f4' '(4, 4)' 63             | import new - <t.npy              | 3 | standard input / truncated
npy t.npy '<f4' '(4, 4)' 0              | import new t.npy                 | 3 | only 0 bytes
npy t.npy '<f4' '(4, 4)' 65             | import new t.npy                 | 3 | 1 byte too many for the 4 rows
npy t.npy '<f4' '(1099511627776, 4)' 64 | import new t.npy                 | 3 | promises 1099511627776 rows / only 64 bytes
npy t.npy '<f4' '(1099511627776, 4)' 64 | import new - <t.npy              | 3 | 1099511627776 rows / truncated
npy t.npy '<f4' '(4, 1099511627776)' 64 | import new t.npy                 | 3 | 1099511627776 columns, but the limit is
npy t.npy '<f4' '(4, 2000000000)' 64    | import new t.npy                 | 3 | only 64 bytes
npy t.npy '<f4' '(4, 2000000000)' 64    | import new - < <(cat t.npy)      | 3 | 2000000000 columns are too many
npy t.npy '<f4' '(18446744073709551615, 4)' 64 | import new t.npy          | 3 | promises 1844674407370955161
npy t.npy '<f4' '(4294967296, 4294967296)' 64 | import new t.npy           | 3 | columns, but the limit is
npy t.npy '<f4' '(99999999999999999999999, 4)' 64 | import new t.npy       | 3 | t.npy
npy t.npy '<f4' '(65536, 65536, 65536, 65536)' 64 | import new t.npy       | 3 | columns, but the limit is
npy t.npy '<f4' '(1099511627776, 3)' 64 | transform s r --input t.npy -o out.npy | 3 | promises 1099511627776 rows
npy t.npy '<f4' '(1099511627776, 3)' 64 | embed t.npy -o out.npy           | 3 | promises 1099511627776 rows
npy t.npy '<f4' '(3, 2)' 20; put x '\000\000\300\177'; cat x >>t.npy; rm x | import new t.npy | 3 | row 2 (from 0), column 2 (from 1) is NaN
npy t.npy '<f8' '(2, 2)' 16; put x '\0\0\0\0\0\0\360\177\0\0\0\0\0\0\360\077'; cat x >>t.npy | import new t.npy | 3 | row 1 (from 0), column 1 (from 1) is Inf
npy t.npy '<f4' '(1, 2)' 4; put x '\000\000\200\377'; cat x >>t.npy | import new t.npy --nan drop | 3 | each of its 1 rows
npy t.npy '<i4' '(1, 2)' 8              | import new t.npy --dtype u8      | 3 | row 0 (from 0), column 1 / 16843009 / wider --dtype
npy t.npy '<u8' '(1, 1)' 8              | import new t.npy                 | 3 | uint64 / cannot be stored exactly
npy t.npy '<f4' '(4, 4)' 64; gzip -n t.npy; truncate -s -9 t.npy.gz | import new t.npy.gz | 3 | gzip data
END
}

@test "libsvm: indices and values, by line" {
    cases <<'END'
put t.svm '1 1:1 2:2\n1 3:1 2:1\n'      | import new t.svm                 | 3 | t.svm, line 2: index 2 after index 3
put t.svm '1 1:1 2:2\n1 2:1 2:1\n'      | import new t.svm                 | 3 | t.svm, line 2: index 2 after index 2
put t.svm '1 1:1 2:2\n1 x:1\n'          | import new t.svm                 | 3 | t.svm, line 2: 'x:1' is not index:value
put t.svm '1 1:1 2:2\n1 2:\n'           | import new t.svm                 | 3 | t.svm, line 2
put t.svm '1 1:1 2:2\n1 :1\n'           | import new t.svm                 | 3 | t.svm, line 2: ':1' is not index:value
put t.svm '1 1:1 2:2\n1 2:x\n'          | import new t.svm                 | 3 | t.svm, line 2: '2:x'
put t.svm '1 1:1 2:2\n1 -2:1\n'         | import new t.svm                 | 3 | t.svm, line 2: '-2:1'
put t.svm '1 1:1 2:2\n1 2:1:1\n'        | import new t.svm                 | 3 | t.svm, line 2: '2:1:1'
put t.svm '1 1:1 2:2\n1:1 2:1\n'        | import new t.svm                 | 3 | t.svm, line 2: '1:1' / label
put t.svm '1 1:1 2:2\n1 2:nan\n'        | import new t.svm                 | 3 | t.svm, line 2 / --nan drop
put t.svm '1 1:1 2:2\n1 2:1 3\n'        | import new t.svm                 | 3 | t.svm, line 2: '3' is not index:value
put t.svm '1 1:1 2:2\nx 2:1\n'          | import new t.svm                 | 3 | t.svm, line 2 / 'x' is a word
put t.svm '1 1:1\n1 99999999999999999999:1\n' | import new t.svm           | 3 | t.svm, line 2 / above 2147483647
put t.svm '1 1:1\n1 2147483647:1\n'     | import new t.svm                 | 3 | 2147483647 columns are too many
put t.svm '1 1:1\n1 9:1\n'              | import new t.svm --dims 5        | 3 | t.svm, line 2: index 9 is beyond the 5 dimensions
put t.svm '1 1:1\n'; put u.svm '1 9:1\n' | import new t.svm u.svm          | 3 | u.svm, line 1: index 9 is beyond
put t.svm '1\n2\n'                      | import new t.svm                 | 3 | t.svm has no index:value in any line
put t.svm ''                            | import new t.svm                 | 3 | t.svm is empty
put t.svm '# only words\n'              | import new t.svm                 | 3 | t.svm
put t.svm '1 1:1\n1 2:\0001\n'          | import new t.svm                 | 3 | t.svm, line 2 / NUL byte
put t.svm '1 1:1\n'                     | import new - --format libsvm < <(cat t.svm) | 2 | --dims
put t.svm '1 9:1\n'                     | transform s r --input t.svm -o out.npy | 3 | t.svm, line 1: index 9 is beyond
END
}

# mtx FIELD SIZES AND ENTRIES: writes a MatrixMarket file.
mtx() {
    printf '%%%%MatrixMarket matrix coordinate %s\n'"$2" "$1" >t.mtx
}

@test "mtx: headers and entries, by line" {
    cases <<'END'
mtx 'real general' '2 3 2\n1 1 1\n3 1 1\n' | import new t.mtx                 | 3 | t.mtx, line 4: row 3 is not in the matrix, whose rows are 1 to 2
mtx 'real general' '2 3 1\n1 0 1\n'         | import new t.mtx                 | 3 | t.mtx, line 3: column 0 is not in the matrix
mtx 'real general' '2 3 1\n1 4 1\n'         | import new t.mtx --transpose     | 3 | t.mtx, line 3: column 4 is not in the matrix
mtx 'real general' '2 3 1\n1 1 a\n'         | import new t.mtx                 | 3 | t.mtx, line 3: 'a' is not a number
mtx 'real general' '2 3 1\n1 1 1,5\n'       | import new t.mtx                 | 3 | t.mtx, line 3: '1,5' is not a number
mtx 'real general' '2 3 2\n1 1 1\n'         | import new t.mtx                 | 3 | t.mtx, line 4: the file ends after 1 of 2 entries
mtx 'real general' '2 3 1\n1 1 1\n1 2 1\n' | import new t.mtx                 | 3 | t.mtx, line 4: there are more entries than the 1 that the header says
mtx 'real general' '2 3 1\n1 1 nan\n'       | import new t.mtx                 | 3 | row 0 (from 0), column 1 (from 1) is NaN / --nan drop
mtx 'integer general' '2 3 1\n1 1 0.5\n'    | import new t.mtx                 | 3 | t.mtx, line 3 / not a whole number
mtx 'integer general' '2 3 1\n1 1 300\n'    | import new t.mtx --dtype u8      | 3 | row 0 (from 0), column 1 / 300 / wider --dtype
mtx 'complex general' '2 2 1\n1 1 1 1\n'    | import new t.mtx                 | 3 | t.mtx, line 1: 'complex' is none of the fields
mtx 'real hermitian' '2 2 1\n1 1 1\n'       | import new t.mtx                 | 3 | t.mtx, line 1: 'hermitian' / symmetry='general'
mtx 'real general' '2 3\n'                   | import new t.mtx                 | 3 | t.mtx, line 2
mtx 'real general' '99999999999 3 1\n1 1 1\n' | import new t.mtx               | 3 | t.mtx claims 99999999999 rows
mtx 'real general' '9 99999999999 1\n1 1 1\n' | import new t.mtx               | 3 | 99999999999 columns / --transpose
put t.mtx '%%%%MatrixMarket matrix array real general\n2 1\n1\n' | import new t.mtx | 3 | t.mtx, line 4 / after 1 of 2 entries
put t.mtx '%%%%MatrixMarket matrix array real general\n1 1\nNaN\n' | import new t.mtx | 3 | t.mtx: row 0 (from 0), column 1 (from 1) is NaN
mtx 'real skew-symmetric' '2 2 1\n2 2 1\n'  | import new t.mtx                 | 3 | t.mtx, line 3 / the diagonal, which is 0
put t.mtx '1 1 1\n'                          | import new t.mtx --format mtx    | 3 | %%MatrixMarket
mtx 'real general' '2 2 2\n2 1 1\n1 2 1\n' | transform s r --input t.mtx -o out.npy | 3 | t.mtx has 2 columns of points, but the model was fitted on 3
mtx 'real general' '3 2 2\n2 1 1\n1 2 x\n' | transform s r --input t.mtx --transpose -o out.npy | 3 | t.mtx, line 4: 'x' is not a number
END
}

# csr [NAME=NUMBERS]…: writes t.npz, a sparse matrix of 2 × 3 as scipy has it, with other numbers in
# some of its arrays, or without those that have none.
csr() {
    python3 - "$@" <<'PY'
import struct, sys, zipfile
arrays = {"format": "csr", "shape": "2,3", "indices": "0,2", "indptr": "0,1,2", "data": "1,2"}
types = {"format": "|S3", "shape": "<i8", "indices": "<i4", "indptr": "<i4", "data": "<i4"}
arrays.update(change.split("=") for change in sys.argv[1:])
with zipfile.ZipFile("t.npz", "w") as archive:
    for name, numbers in arrays.items():
        if not numbers:
            continue
        values, count = [numbers.encode()], ""
        if name != "format":
            if max(map(int, numbers.split(","))) >> 31: types[name] = "<i8"
            size = int(types[name][2])
            values = [int(x).to_bytes(size, "little", signed=True) for x in numbers.split(",")]
            count = "%d," % len(values)
        header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n" % (types[name], count)
        archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) +
                         header.encode() + b"".join(values))
PY
}

# bats test_tags=slow
@test "npz: members, and the arrays of a sparse matrix" {
    cases <<'END'
csr indptr=0,2,1            | import new t.npz             | 3 | t.npz: indptr falls from 2 to 1 after row 1 (from 0)
csr indptr=1,1,2            | import new t.npz             | 3 | t.npz: indptr begins with 1, not with 0
csr indptr=0,1,9            | import new t.npz             | 3 | t.npz: indptr says 9 entries, but there are 2 indices and 2 values
csr indices=0,3             | import new t.npz             | 3 | t.npz: row 1 (from 0) names column 3 (from 0), but the table has 3 columns
csr indices=-1,2            | import new t.npz             | 3 | t.npz: row 0 (from 0) names column -1
csr data=1,9007199254740993 | import new t.npz             | 3 | t.npz: row 1 (from 0), column 3 (from 1): the int64 cannot be stored exactly as f64
csr indices=0,2             | import new t.npz --transpose --dims 3 | 3 | t.npz has 2 columns
csr shape=2,0               | import new t.npz             | 3 | a matrix of 2 rows and 0 columns
csr shape=9,3               | import new t.npz             | 3 | indptr holds 3 numbers
csr format=bsr              | import new t.npz             | 3 | the form 'bsr' / matrix.tocsr()
csr data=                   | import new t.npz             | 3 | t.npz has no member data.npy
csr format=                 | import new t.npz             | 3 | plain arrays (numpy.savez) / numpy.save
csr; truncate -s -1 t.npz   | import new t.npz             | 3 | t.npz: the zip archive has no directory at its end (is the file truncated?)
csr; cat t.npz >u           | import new - --format npz < <(cat u) | 2 | a pipe of npz data / write it to a file first
csr; gzip -n t.npz          | import new t.npz.gz          | 3 | packed again by gzip / gunzip
csr; sed -i 's/NUMPY/NUMPX/' t.npz | import new t.npz      | 3 | the member format.npy does not begin like an npy file
csr                         | transform s r --input t.npz --columns 1 -o out.npy | 2 | --columns does not go with the format npz
END
}

@test "idx: headers and sizes" {
    cases <<'END'
put t.idx '\0\0\10\3\0\0\0\2\0\0\0\2'   | import new t.idx                 | 3 | ends inside its IDX header of 3 dimensions
put t.idx '\0\0\10\2\0\0\0\2\0\0\0\2\1\2\3' | import new t.idx             | 3 | promises 2 rows of 2 / only 3 bytes / truncated
put t.idx '\0\0\10\2\0\0\0\2\0\0\0\2\1\2\3\4\5' | import new t.idx         | 3 | 1 byte too many for the 2 rows
put t.idx '\0\0\7\2\0\0\0\2\0\0\0\2\1\2\3\4' | import new t.idx            | 3 | does not begin like an IDX file
put t.idx '\0\1\10\2\0\0\0\2\0\0\0\2\1\2\3\4' | import new t.idx           | 3 | does not begin like an IDX file
put t.idx '\0\0\10\2\377\377\377\377\377\377\377\377\1\2' | import new t.idx | 3 | t.idx
put t.idx '\0\0\10\5\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\1' | import new t.idx | 3 | columns, but the limit is
put t.idx '\0\0\10\2\0\0\0\0\0\0\0\2'   | import new t.idx                 | 3 | 0 rows of 2 columns
put t.idx '\0\0\10\2\0\0\0\2\0\0\0\0'   | import new t.idx                 | 3 | 2 rows of 0 columns
put t.idx '\0\0\10\0\1'                 | import new t.idx                 | 3 | does not begin like an IDX file
put t.idx '\0\0'                        | import new t.idx                 | 3 | does not begin like an IDX file
END
}

@test "fvecs and bvecs: lengths" {
    cases <<'END'
put t.fvecs '\2\0\0\0\0\0\200\77'       | import new t.fvecs               | 3 | ends inside row 0 (from 0): each row takes 12 bytes
put t.fvecs '\1\0\0\0\0\0\200\77\2\0\0\0\0\0\200\77\0\0\200\77' | import new t.fvecs | 3 | row 1 (from 0) has 2 columns where row 0 has 1
put t.fvecs '\1\0\0\0\0\0\200\77\377\377\377\377\0\0\200\77' | import new t.fvecs | 3 | row 1 (from 0) has -1 columns
put t.fvecs '\1\0\0\0\0\0\200\77\1\0\0' | import new t.fvecs               | 3 | ends inside row 1
put t.fvecs '\0\0\0\0'                  | import new t.fvecs               | 3 | rows of 0 columns
put t.fvecs '\377\377\377\377\0\0\200\77' | import new t.fvecs             | 3 | 4294967295 columns, but the limit is
put t.fvecs '\377\377\377\177\0\0\200\77' | import new t.fvecs             | 3 | ends inside row 0
put t.fvecs '\1\0'                      | import new t.fvecs               | 3 | ends inside the length of its first row
put t.fvecs '\1\0\0\0\0\0\300\177'      | import new t.fvecs               | 3 | row 0 (from 0), column 1 (from 1) is NaN
put t.bvecs '\2\0\0\0\1'                | import new t.bvecs               | 3 | ends inside row 0
put t.bvecs ''                          | import new t.bvecs               | 3 | t.bvecs is empty
END
}

@test "gzip: truncated and damaged" {
    cases <<'END'
zip_csv t.csv.gz 200; truncate -s 500 t.csv.gz | import new t.csv.gz          | 3 | t.csv.gz: the gzip data / unpacked bytes
zip_csv t.csv.gz 200; flip t.csv.gz 700 | import new t.csv.gz              | 3 | t.csv.gz
zip_csv t.csv.gz 200; flip t.csv.gz 3   | import new t.csv.gz              | 3 | t.csv.gz
zip_csv t.csv.gz 200; truncate -s -1 t.csv.gz | import new t.csv.gz        | 3 | t.csv.gz: the gzip data
zip_csv t.csv.gz 200; flip t.csv.gz $(($(stat -c %s t.csv.gz) - 8)) | import new t.csv.gz | 3 | t.csv.gz: the gzip data are damaged
zip_csv t.csv.gz 200; flip t.csv.gz $(($(stat -c %s t.csv.gz) - 1)) | import new t.csv.gz | 3 | t.csv.gz: the gzip data are damaged
zip_csv t.csv.gz 200; echo rest >>t.csv.gz | import new t.csv.gz           | 3 | t.csv.gz
put t.csv.gz '\37\213'                  | import new t.csv.gz              | 3 | t.csv.gz
put t.csv.gz '\37\213\10'               | import new t.csv.gz              | 3 | t.csv.gz
put t.csv ''; gzip -n t.csv             | import new t.csv.gz              | 3 | t.csv.gz is empty
put t.csv '1,2\n3\n'; gzip -n t.csv     | import new t.csv.gz              | 3 | t.csv.gz, line 2
put t.csv '1,2\n3\n'; gzip -n t.csv; gzip -nc t.csv.gz >u.gz | import new u.gz | 3 | u.gz
zip_csv t.csv.gz 200; truncate -s 500 t.csv.gz | embed t.csv.gz -o out.npy    | 3 | t.csv.gz: the gzip data
END
}

@test "files of other programs, and paths that are no files of points" {
    cases <<'END'
put t.xz '\3757zXZ\0\0\4'               | import new t.xz                  | 3 | give --format
put t.npz 'PK\3\4 rest'                 | import new t.npz                 | 3 | zip archive / truncated
put t.h5 '\211HDF\r\n\032\n'; export NYSTREAM_HDF5=/nowhere | import new t.h5 | 4 | nystream-hdf5
put t.png '\211PNG\r\n\032\n'           | import new t.png                 | 3 | give --format
put t.ply 'ply\nformat ascii 1.0\n'    | import new t.ply                 | 3 | t.ply, line 1
put t.csv '\377\3761\0,\0002\0'         | import new t.csv                 | 3 | t.csv, line 1 / holds a NUL byte
put t.bin '\1\2\3\4'                    | import new t.bin                 | 3 | give --format
head -c 4096 /dev/zero >zeros           | import new zeros                 | 3 | zeros
:                                       | import new missing.csv           | 4 | missing.csv / No such file
:                                       | import new p.csv missing.csv     | 4 | missing.csv
:                                       | import new p.csv/x               | 4 | p.csv/x / Not a directory
mkdir folder                            | import new folder                | 4 | folder is a directory
ln -s loop loop                         | import new loop                  | 4 | loop
:                                       | import none/such/new p.csv       | 4 | none/such/new
put file 'in the way'                   | import file p.csv                | 4 | file is a file and not a store
mkdir other; touch other/thing          | import other p.csv               | 4 | other holds other files
:                                       | import $(printf %05000d 0) p.csv | 4 | too long
:                                       | embed missing.csv -o out.npy     | 4 | missing.csv
:                                       | embed p.csv -o none/out.npy      | 4 | none
:                                       | embed p.csv -o out.npy --tmpdir none | 4 | none
:                                       | transform s r --input missing -o out.npy | 4 | missing
:                                       | transform r.nym --input missing -o out.npy | 4 | missing
:                                       | fit s a --landmarks-file missing.npy | 4 | missing.npy
:                                       | fit s a --columns-file missing.npy --landmarks-file p.csv | 3 | p.csv
END
}

@test "outputs that cannot be written" {
    cases <<'END'
mkdir out                               | export s r -o out                | 4 | out is a directory
mkdir out.npy                           | transform s r --input p.csv -o out.npy | 4 | out.npy is a directory
mkdir out.npy                           | embed p.csv -o out.npy           | 4 | out.npy is a directory
:                                       | export s r -o out.nym            | 2 | out.nym: a table is written to a name that ends in .npy
:                                       | export s r -o out.png            | 2 | out.png: a table is written
:                                       | embed p.csv -o out.svg           | 2 | out.svg: a table is written
:                                       | export s r -o out.html           | 2 | out.html: a table is written
:                                       | export s r -o none/out.npy       | 4 | the folder of none/out.npy does not exist
:                                       | export s r -o p.csv/out.npy      | 4 | p.csv/out.npy
:                                       | export s r -o /dev/full          | 4 | /dev/full
:                                       | export s r --part model -o /dev/full | 4 | /dev/full
:                                       | transform s r --input p.csv -o /dev/full | 4 | /dev/full
ln -s none/such out.npy                 | export s r -o out.npy/           | 4 | out.npy/
:                                       | export s r -o $(printf %0300d 0).npy | 4 | File name too long
:                                       | transform s r --input - -o /dev/full < <(cat p.csv) | 2 | /dev/full: the header of an .npy file needs the number of rows
END
}

@test "stores that are none" {
    cases <<'END'
:                                       | info none                        | 4 | there is no store none / import
:                                       | info p.csv                       | 4 | p.csv is not a store
npy t.npy '<f4' '(3, 2)' 24             | plan t.npy                       | 4 | t.npy is a file and not a store; 'nystream plan --shape 3,2,f32' plans
put t.csv '1,2\n3,4\n'                  | plan t.csv --gamma-grid          | 4 | --shape ROWS,2,f32
put t.bin '\0\1\2'                      | plan t.bin                       | 4 | --shape ROWS,COLUMNS,TYPE
put t.dat '\0\1\2'                      | import new t.dat                 | 3 | neither its content nor its name / store.append(numpy.memmap(FILE, dtype, 'r', shape=(ROWS, COLUMNS)))
:                                       | help diffusion                   | 2 | 'diffusion' is not a verb, but a value of --map: nystream fit STORE NAME --map diffusion
:                                       | help rpcholesky                  | 2 | --select rpcholesky
:                                       | help landmarks                   | 2 | 'landmarks' is not a verb, but an option: --landmarks
:                                       | help memory                      | 2 | --memory; see `nystream help fit --all`
mkdir empty                             | info empty                       | 4 | empty is a directory and not a store
mkdir empty                             | verify empty                     | 4 | empty is a directory
mkdir empty                             | fit empty a                      | 4 | empty is a directory
mkdir empty; touch empty/x              | export empty a -o out.npy        | 4 | empty is a directory
mkdir -p t/points                       | info t                           | 5 | t/points/data.mdb
mkdir -p t/points t/results             | info t                           | 5 | t/points/data.mdb
cp -r s t; : >t/points/data.mdb         | info t                           | 5 | t/points/data.mdb
cp -r s t; put t/points/data.mdb 'text' | info t                           | 5 | t/points/data.mdb
cp -r s t; cp p.csv t/points/data.mdb   | info t                           | 5 | t/points/data.mdb / not an LMDB file
cp -r s t; truncate -s 4096 t/points/data.mdb | info t                        | 5 | t/points/data.mdb / cut short
cp -r s t; truncate -s 12288 t/points/data.mdb | info t                       | 5 | t/points/data.mdb
cp -r s t; truncate -s 12288 t/results/data.mdb | info t                      | 5 | t/results/data.mdb
cp -r s t; rm t/results/data.mdb        | info t                           | 5 | t/results/data.mdb
cp -r s t; cp t/points/data.mdb t/results/data.mdb | info t                | 5 | t/results/data.mdb / other folder
cp -r s t; rm -r t/points; ln -s ../s/points t/points | info t             | 5 | holds no links
cp -r s t; rm t/points/data.mdb; ln -s ../../s/points/data.mdb t/points/data.mdb | info t | 5 | holds no links
cp -r s t; nystream import u p.csv -q; rm -r t/results; cp -r u/results t  | info t | 5 | belong to different stores
cp -r s t; flip t/points/data.mdb 0; flip t/points/data.mdb 4096 | export t r --part labels -o out.npy | 5 | t/points/data.mdb
cp -r s t; flip t/points/data.mdb 17    | import t p.csv --append          | 5 | t/points/data.mdb
cp -r s t; flip t/points/data.mdb 4112  | transform t r --input p.csv -o out.npy | 5 | t/points/data.mdb
END
}

@test "models that are none" {
    cases <<'END'
:                                       | transform none.nym --input p.csv -o out.npy | 4 | none.nym
put m.nym ''                            | transform m.nym --input p.csv -o out.npy | 5 | m.nym is not a model
put m.nym 'nystream model\n'            | transform m.nym --input p.csv -o out.npy | 5 | m.nym is not a model
cp p.csv m.nym                          | transform m.nym --input p.csv -o out.npy | 5 | m.nym is not a model
mkdir m.nym                             | transform m.nym --input p.csv -o out.npy | 4 | m.nym is a directory
cp r.nym m.nym; truncate -s -1 m.nym    | transform m.nym --input p.csv -o out.npy | 5 | m.nym is a damaged model
cp r.nym m.nym; echo >>m.nym            | transform m.nym --input p.csv -o out.npy | 5 | m.nym is a damaged model
cp r.nym m.nym; truncate -s 90 m.nym    | transform m.nym --input p.csv -o out.npy | 5 | m.nym is not a model
cp r.nym m.nym; flip m.nym 0            | transform m.nym --input p.csv -o out.npy | 5 | m.nym is not a model
cp r.nym m.nym; flip m.nym 17           | transform m.nym --input p.csv -o out.npy | 5 | m.nym is a model of version
cp r.nym m.nym; flip m.nym 32           | transform m.nym --input p.csv -o out.npy | 5 | m.nym is a damaged model
cp r.nym m.nym; flip m.nym 200          | transform m.nym --input p.csv -o out.npy | 5 | m.nym is a damaged model
truncate -s 1T m.nym                    | transform m.nym --input p.csv -o out.npy | 5 | m.nym is not a model
cp r.nym m.nym; truncate -s 1T m.nym    | transform m.nym --input p.csv -o out.npy | 8 | too small: 'model' needs
END
}

@test "nothing to fit, and rows that cannot be landmarks" {
    cases <<'END'
put t.csv '1,2\n'; nystream import t t.csv -q | fit t a -q | 3 | t has / nothing to fit
put t.csv '1,2\n'                       | embed t.csv -o out.npy -q | 3 | nothing to fit
put t.csv '1,2\n1,2\n1,2\n'; nystream import t t.csv -q | fit t a -q | 3 | equal
put t.csv '1,2\n1,2\n1,2\n'             | embed t.csv -o out.npy -q | 3 | equal
put t.csv '0,0\n0,0\n0,0\n'; nystream import t t.csv -q | select t a --kernel linear -q | 3 | t
put l '3\n3\n'                          | fit s a --landmarks-file l -q | 3 | row 3 twice / positions 0 and 1
put l '1\n40\n'                         | fit s a --landmarks-file l -q | 3 | row 40 / the rows are 0 … 39
put l '1\n-1\n'                         | fit s a --landmarks-file l -q | 3 | l, row 1: -1 is not a row number
put l '1\n0.5\n'                        | fit s a --landmarks-file l -q | 3 | l, row 1: 0.5 is not a row number
put l '1\nx\n'                          | fit s a --landmarks-file l -q | 3 | l, line 2
put l ''                                | fit s a --landmarks-file l -q | 3 | l is empty
put l '1,2\n3,4\n'                      | fit s a --landmarks-file l -q | 3 | l has 2 columns
put l '99999999999999999999\n'          | fit s a --landmarks-file l --components 1 -q | 3 | l
put l '3\n3\n'                          | select s a --select given --landmarks-file l -q | 3 | row 3 twice
put l '1,2,3\n0,9,1\n1,2,3\n'          | fit s a --landmarks-points l -q | 3 | l has the same point twice, in rows 0 and 2
put l '1,2,3\n4,5,6\n7,8,9\n4,5,6\n1,2,3\n7,8,9\n' | fit s a --landmarks-points l -q | 3 | same point twice, in rows 1 and 3
put l '1,2,3\n4,5,6\n7,8,9\n7,8,9\n1,2,3\n4,5,6\n' | fit s a --landmarks-points l -q | 3 | same point twice, in rows 2 and 3
put l '7,8,9\n4,5,6\n1,2,3\n7,8,9\n1,2,3\n4,5,6\n' | fit s a --landmarks-points l -q | 3 | same point twice, in rows 0 and 3
put l '1,2\n'                           | fit s a --landmarks-points l -q | 3 | l has 2 columns of points, but the store has 3
put l '1,2,3\nnan,3,4\n'                | fit s a --landmarks-points l -q | 3 | l, line 2
put l ''                                | fit s a --landmarks-points l -q | 3 | l is empty
npy p.npy '<f4' '(41, 3)' 492           | fit s a --landmarks-points p.npy -q | 3 | p.npy has more points than the store has rows, 40
npy p.npy '<f4' '(0, 3)' 0              | fit s a --landmarks-points p.npy -q | 3 | p.npy
npy c.npy '<f4' '(40, 2)' 320; put l '1\n2\n3\n' | fit s a --columns-file c.npy --landmarks-file l -q | 3 | c.npy has 2 columns, but there are 3 landmarks
npy c.npy '<f4' '(39, 2)' 312; put l '1\n2\n' | fit s a --columns-file c.npy --landmarks-file l --components 1 -q | 3 | c.npy has 39 rows, but the store has 40
END
}

@test "names of results" {
    cases <<'END'
:                                       | info s rr                        | 2 | no result named 'rr'; did you mean 'r'?
:                                       | info s nope                      | 2 | no result named 'nope'; it has 'd', 'h', 'r'
:                                       | export s rr -o out.npy           | 2 | did you mean 'r'?
:                                       | transform s rr --input p.csv -o out.npy | 2 | did you mean 'r'?
:                                       | rm s none                        | 2 | no result named 'none'; it has 'd', 'h', 'r'
:                                       | rm s rr                          | 2 | no result named 'rr'; did you mean 'r'?
:                                       | plot s r                         | 2 | plot needs -o OUT.png, OUT.svg or OUT.pdf, or --terminal
:                                       | plot s r -o out.png --terminal   | 2 | -o / --terminal / give one of them
:                                       | export s h -o out.npy            | 2 | 'h' is not finished: stage
:                                       | transform s h --input p.csv -o out.npy | 2 | 'h' is not finished
:                                       | fit s a --landmarks-from h       | 2 | 'h' is not finished
:                                       | fit s h --landmarks 7            | 2 | exists with other options
nystream import t p.csv -q              | export t a -o out.npy            | 2 | no result named 'a', nor any other
nystream import t p.csv -q; nystream graph t g -q | fit t a --landmarks-from g | 2 | 'g' has no landmarks; choose some with 'nystream select t NAME'
nystream import t p.csv -q; nystream fit t e --map eigenmaps -q | select t a --landmarks-from e | 2 | 'e' has no landmarks
:                                       | fit s a --landmarks-from none    | 2 | no result named 'none'
:                                       | fit s r --landmarks 6            | 2 | exists with other options / landmarks: 5 → 6 / --restart
nystream import t p.csv -q; nystream fit t e --map pca -q | fit t e --map pca --landmarks 6 | 2 | landmarks: unset → 6, / ); give
:                                       | fit s d --landmarks 5            | 2 | 'd'
:                                       | fit s ../../x                    | 2 | '../../x' cannot name a result
:                                       | fit s .hidden                    | 2 | cannot name a result
:                                       | fit s a/b                        | 2 | 'a/b' cannot name a result
:                                       | fit s -- -a                      | 2 | cannot name a result
:                                       | fit s 'a b'                      | 2 | cannot name a result
:                                       | fit s $(printf %0500d 0)         | 2 | cannot name a result
:                                       | select s $'a\nb'                 | 2 | cannot name a result
:                                       | rm s ../s                        | 2 | '../s'
:                                       | export s d -o out.npy            | 2 | 'd' in s has no embedding
:                                       | export s d --part model -o out.nym | 2 | 'd' is only a dictionary
:                                       | transform s d --input p.csv -o out.npy | 2 | 'd' is only a dictionary
:                                       | export s d --part eigenvalues -o out.npy | 2 | 'd' in s has no eigenvalues
nystream import t p.csv -q; nystream fit t a --landmarks 5 -q | export t a --part labels -o out.npy | 2 | no labels
END
}

@test "what a newcomer types says what to type next" {
    cases <<'END'
:   | import p.csv new                   | 4 | p.csv is a file / the store is named before the files
:   | import none.csv new.nys            | 4 | cannot open new.nys: No such file or directory
:   | import none.csv s                  | 4 | s is a directory; give a file of points
mkdir im                                | embed im -o out.npy              | 4 | im is a directory; give a file of points
:   | fit a s                            | 4 | there is no store a / the first operand names the store / 'nystream import' makes it
:   | fit p.csv a                        | 4 | p.csv is not a store / 'nystream import' makes
:   | fit s a --memory 10                | 8 | with its unit: 512M
:   | fit s a -q --memory 10M            | 8 | this fit needs / --memory 3
:   | select s a --memory 10M            | 8 | --memory
:   | fit s a -landmarks 5               | 2 | unknown option -landmarks of fit; did you mean --landmarks?
:   | fit s a -lables 5                  | 2 | unknown option -lables of fit
:   | fit s a $'\xe2\x80\x93landmarks' 5 | 2 | a dash that is not '-'
:   | export s d -o out.npy              | 2 | 'd' in s has no embedding; it has landmarks
:   | report s -o out.pdf                | 2 | out.pdf / a name that ends in .html
table 9 2 >q.csv | transform s r --input q.csv -o out.npy | 3 | q.csv has 2 columns of points, but the model was fitted on 3; give a file with these
table 9 2 >q.csv; cp -r s t; nystream fit t a --approx randomized -q | transform t a --input q.csv -o out.npy | 3 | q.csv has 2 columns of points, but the store has 3
table 9 2 >q.csv; cp -r s t; nystream fit t a --map isomap -q | transform t a --input q.csv -o out.npy | 3 | q.csv has 2 columns of points, but the store has 3
python3 -m zipfile -c t.xlsx p.csv | import new t.xlsx | 3 | a spreadsheet as .csv
:   | --landmarks 5                      | 2 | a verb comes first / --landmarks
:   | transform s r --input p.csv -o p.csv | 2 | p.csv is the input, which the output would replace
:   | export s d --part landmarks -o s/points/data.mdb | 2 | s/points/data.mdb is inside 
:   | export s d --part landmarks -o s/locks/points.lock | 2 | s/locks/points.lock is inside 
mkdir s/mine | export s r -o s/mine/out.npy | 2 | s/mine/out.npy is inside / a store, whose folder is for its own files alone; write to another folder
:   | export s r --part model -o s/out.nym | 2 | s/out.nym is inside
:   | export s -o s/points/out.npy --part points | 2 | s/points/out.npy is inside
:   | plot s r -o s/out.png              | 2 | s/out.png is inside
:   | report s -o s/out.html             | 2 | s/out.html is inside
:   | transform s r --input p.csv -o s/out.npy | 2 | s/out.npy is inside
:   | embed p.csv -o s/out.npy           | 2 | s/out.npy is inside
:   | merge s --name r -o s/out.nym      | 2 | s/out.nym is inside
nystream import set --shard 0/2 p.csv -q | export s r -o set/out.npy | 2 | set/out.npy is inside
cp -r s t; ln -s t/locks l | export s r -o l/out.npy | 2 | l/out.npy is inside
cp -r s t; nystream graph t g -q | transform t g --input p.csv -o out.npy --distances t/d.npy | 2 | t/d.npy is inside
cp -r s t; nystream eval t r --clusters 2 -q >/dev/null 2>&1 | transform t r --input p.csv -o out.npy --clusters t/c.csv | 2 | t/c.csv is inside
:   | transform r.nym --input p.csv -o ./r.nym | 2 | ./r.nym is the input
ln p.csv q.csv | embed p.csv -o q.csv   | 2 | q.csv is the input
:   | fit s a --neighbors 3              | 2 | --neighbors does not act with --map kpca; it is for maps of a graph
:   | fit s a --memory 4                 | 8 | a memory budget of 4 bytes / with its unit: 512M
:   | fit s a --map PCA                  | 2 | did you mean 'pca'?
:   | fit s a --kernel RBF               | 2 | did you mean 'rbf'?
:   | fit s a --tolerance 0.1            | 2 | give --select greedy
:   | fit s a --components 99            | 2 | more than the 40 rows there are; give fewer
:   | info s nope                        | 2 | no result named 'nope'; it has 'd', 'h', 'r'
cp -r s t; nystream graph t g -q | transform t g --input p.csv -o out.npy --neighbors 9999 | 2 | --neighbors 9999: the graph 'g' has
:   | transform s r --input p.csv -o out.npy --neighbors 3 | 2 | 'r' is not a graph
cp -r s t; nystream graph t g -q | export t g --part model -o out.nym | 2 | 'g' is only a graph
:   | export s r -o none/out.npy         | 4 | the folder of none/out.npy does not exist; create it first
END
}

@test "tables of a data scientist, a biologist and a physicist" {
    cases <<'END'
put t.csv 'a;b\n0.5;1.25\n2,5;3\n'      | import new t.csv | 3 | line 3, column 1 ('a') / '2,5' has a comma; --decimal ,
put t.csv 'a;b\n0,5;1,25\n2,5;3\n'      | import new t.csv --decimal . | 3 | line 2, column 1 ('a') / '0,5' has a comma; --decimal , takes it for that of a decimal fraction
put t.csv 'a;b\n0,5;1.25\n'             | import new t.csv --decimal , | 3 | line 2, column 2 ('b'): '1.25' is not a number with a decimal comma
put t.csv 'a;b\n0,5;1.250,5\n'          | import new t.csv --decimal , | 3 | line 2, column 2 ('b'): '1.250,5' is not a number with a decimal comma
put t.csv 'a;b\n0,5;1,250,000\n'        | import new t.csv --decimal , | 3 | line 2, column 2 ('b'): '1,250,000' is not a number with a decimal comma
put t.svm '1 1:2\n'                     | import new t.svm --decimal , | 2 | --decimal , does not go with the format libsvm
put t.csv '1;2\n'                       | import new t.csv --decimal ';' | 2 | --decimal is one of auto
put t.csv '0,5\t1,25\n2,5\t3\n'         | import new t.csv | 3 | line 1, column 1 / '0,5' has a comma
put t.csv 'a,b\n"1.234,5",2\n3,4\n'     | import new t.csv | 3 | line 2, column 1 / '1.234,5' has a comma
put t.csv 'day,x,y\n2024-01-31,1,2\n'   | import new t.csv | 3 | column 1 ('day'): '2024-01-31' is not a number; --label-column, --id-column or --drop-columns takes a column of text
put t.csv 'id,x,c\n1,2,3\nP1,2,3\n'     | import new t.csv --label-column c | 3 | column 1 ('id'): 'P1' is not a number
put t.csv 'id,x,c\n1,2,3\n1,2,a\n'      | import new t.csv --id-column id | 3 | 'a' is not a number
put t.csv 'x,y\n1,2\n3,NULL\n'          | import new t.csv | 3 | line 3, column 2 ('y') / 'NULL' / --nan drop
put t.csv 'x,y\n1,2\n3,?\n'             | import new t.csv | 3 | line 3, column 2 ('y') / '?' / --nan drop
put t.csv '1,x,y\n1,x,y\n'              | import new t.csv | 3 | t.csv, line 1, column 2: 'x' is not a number
put t.csv 'a,b,c,d\n1,x,y,2\n'          | import new t.csv --drop-columns b | 3 | column 3 ('c'): 'y' is not a number
put t.csv 'a,b\nx,y\n'                  | import new t.csv --header yes | 3 | t.csv, line 2, column 1 ('a'): 'x' is not a number
put t.csv 'a,b\n1,x\n'                  | import new t.csv --nan keep | 2 | --nan keep is for embed and transform / --nan drop / --part source
put t.csv 'a,b-c,d\n1,2,3\n'            | import new t.csv --columns a-x | 2 | no column 'a-x'
put t.csv 'a,b-c,d\n1,2,3\n'            | import new t.csv --columns d-a | 2 | runs backwards; write it as 1-3
put t.csv '1,2,\n3,4,\n'                | import new t.csv | 3 | line 1, column 3: '' is empty / --nan drop
put t.csv '5,-,3\n6,1,2\n'              | import new t.csv | 3 | line 1, column 2: '-' is not a finite number
put t.csv '5,NULL,3\n6,1,2\n'           | import new t.csv | 3 | line 1, column 2: 'NULL' is not a finite number
put t.csv '1,2\n1,2\n1,2\n'             | embed t.csv -o out.npy -q | 3 | all 3 rows of t.csv are equal
put t.csv 'x,notes,y\n1,,2\n3,,4\n'      | import new t.csv --nan drop | 3 | each of its 2 rows holds NaN or Inf, so --nan drop leaves none
put t.csv 'x,a,b\n1,,2\n3,4,\n'         | import new t.csv --nan drop | 3 | --nan drop leaves none
put t.csv 'nan\nnan\n'                 | import new t.csv --nan drop | 3 | so --nan drop leaves none
put t.csv 'x,y\n1,\n2,\n'              | embed t.csv -o out.npy --nan keep | 3 | --nan keep leaves none
put t.csv '1,2\n# made on a Monday\n3,4\n' | import new t.csv | 3 | t.csv, line 2: 1 field where the first line has 2
put t.csv '1,2\n#3,4\n'               | import new t.csv | 3 | t.csv, line 2, column 1: '#3' is not a number
put t.csv '# a\n#\n\n#b\n'            | import new t.csv | 3 | t.csv holds no rows, only empty lines and comments
put t.csv '1,2\n3,4\n'; put l 'class\n1\n2\n' | import new t.csv --labels l | 3 | l holds 3 labels / without a header
put t.pkl '\200\4\225 rest'             | import new t.pkl | 3 | give --format
put t.csv '<!DOCTYPE html>\n<html>\n'   | import new t.csv | 3 | t.csv, line 1, column 1: '<!DOCTYPE' is not a number
put t.arrow 'ARROW1\0\0'                | import new t.arrow | 3 | give --format
npy_of t.npy "{'descr': [('a', '<i4'), ('b', '<f8')], 'fortran_order': False, 'shape': (2,), }" 24 | import new t.npy | 3 | a structured array / structured_to_unstructured
END
}

@test "missing values by the names that programs give them are dropped when asked" {
    printf 'x,y,z\n1,2,3\n4,NULL,6\n7,8,?\n9,None,1\n2,#N/A,4\n5,6,7\n8,n/a,1\n' >t.csv
    nystream import s t.csv --nan drop -q
    ny info s --json
    [ "$(field "$output" n)" = 2 ]
    [ "$(field "$output" dropped)" = 5 ]
    ny fit s a --memory 1gb --landmarks 2 --components 1 -q
    exits 0
}

# bats test_tags=slow
@test "wrong values of options" {
    cases <<'END'
:   | import new p.csv --format cvs      | 2 | --format is one of / did you mean 'csv'?
:   | import new p.csv --header maybe    | 2 | --header is one of auto / 'maybe'
:   | import new p.csv --dtype f16       | 2 | --dtype is one of / did you mean
:   | import new p.csv --layout csr      | 2 | --layout is one of
:   | import new p.csv --codec zip       | 2 | --codec is one of
:   | import new p.csv --nan skip        | 2 | --nan has no value 'skip'; it is called 'drop'
:   | import new p.csv --dims 0          | 2 | --dims is a whole number, at least 1, not '0'
:   | import new p.csv --dims 2.5        | 2 | --dims is a whole number
:   | import new p.csv --dims 99999999999999999999 | 2 | --dims is a whole number
:   | import new p.csv --seed -1         | 2 | --seed is a whole number, at least 0
:   | import new p.csv --seed 9223372036854775808 | 2 | --seed is a whole number, at most 9223372036854775807, not
:   | import new p.csv --columns 1,      | 2 | no column ''
:   | import new p.csv --columns 0       | 2 | no column 0
:   | import new p.csv --columns 1-99    | 2 | 99
:   | import new p.csv --append=perhaps  | 2 | --append is one of yes
:   | import new p.csv --memory 0        | 2 | --memory is a size
:   | import new p.csv --memory 1X       | 2 | --memory is a size
:   | import new p.csv --memory -1G      | 2 | --memory is a size
:   | import new p.csv --memory 99999999T | 2 | --memory is a size
:   | import new p.csv --memory 1        | 8 | --memory
:   | import new p.csv --threads 0       | 2 | --threads is a whole number, at least 1
:   | import new p.csv --threads 5000    | 2 | --threads is at most 4096
:   | fit s a --map umap               | 2 | --map is one of / 'umap'
:   | fit s a --approx nistrom           | 2 | did you mean 'nystrom'?
:   | fit s a --select kmeans            | 2 | --select is one of
:   | fit s a --kernel gauss             | 2 | called 'rbf' here (one of 
:   | fit s a --landmarks 0              | 2 | --landmarks is a whole number, at least 1
:   | fit s a --landmarks 1e3            | 2 | --landmarks is a whole number
:   | fit s a --landmarks -5             | 2 | --landmarks is a whole number
:   | fit s a --landmarks 0x10           | 2 | --landmarks is a whole number
:   | fit s a --landmarks 1              | 2 | --components 2 is more than the 1 landmark;
:   | fit s a --components 0             | 2 | --components is a whole number, at least 1
:   | fit s a --components 41            | 2 | --components 41 is more than the 40
:   | fit s a --components 9223372036854775807 | 2 | --components 9223372036854775807
:   | fit s a --components 9 --rank 5    | 2 | --components 9 is more than --rank 5
:   | fit s a --rank 0                   | 2 | --rank is a whole number, at least 1
:   | fit s a --gamma 0                  | 2 | --gamma is a number above 0 or auto
:   | fit s a --gamma -1                 | 2 | --gamma is a number above 0
:   | fit s a --gamma nan                | 2 | --gamma is a number above 0
:   | fit s a --gamma inf                | 2 | --gamma is a number above 0
:   | fit s a --gamma 1e999              | 2 | --gamma is a number above 0
:   | fit s a --gamma 1 --sigma 1        | 2 | two spellings of one width
:   | fit s a --sigma 0                  | 2 | --sigma is a number above 0
:   | fit s a --sigma 1e-200             | 2 | --sigma 1e-200 is a width beyond the range of numbers / between 1e-150 and 1e150
:   | fit s a --sigma 1e200              | 2 | --sigma 1e200 is a width beyond the range of numbers
:   | plan s --epsilon 1e-310            | 2 | --epsilon 1e-310 is a width beyond the range of numbers / between 1e-300 and 1e300
:   | select s a --gamma 1e-310          | 2 | --gamma 1e-310 is a width beyond the range of numbers
:   | fit s a --epsilon x                | 2 | --epsilon is a number above 0
:   | fit s a --degree 2                 | 2 | --degree does not act on the rbf kernel
:   | fit s a --kernel polynomial --degree 0 | 2 | --degree is a whole number, at least 1
:   | fit s a --kernel polynomial --degree 3000000000 | 2 | --degree is at most 2147483647
:   | fit s a --kernel polynomial --coef0 x | 2 | --coef0 is a number
:   | fit s a --select greedy --tolerance 0 | 2 | --tolerance is a number above 0
:   | fit s a --tolerance 0.1            | 2 | --tolerance does not act with --select rpcholesky
:   | fit s a --averages all             | 2 | --averages is one of
:   | fit s a --map diffusion --time -1  | 2 | --time is a number, at least 0, not '-1'
:   | fit s a --map diffusion --time nan | 2 | --time is a number, at least 0
:   | fit s a --kernel gaussian          | 2 | --kernel has no value 'gaussian'; it is called 'rbf' here
:   | fit s a --kernel POLY              | 2 | called 'polynomial'
:   | fit s a --map spectral             | 2 | called 'laplacian'
:   | fit s a --approx nystroem          | 2 | called 'nystrom'
:   | fit s a --select random            | 2 | called 'uniform'
:   | fit s a --scale zscore             | 2 | called 'standard'
:   | fit s a --precision float32        | 2 | called 'f32'
:   | import new p.csv --format txt      | 2 | called 'csv'
:   | fit s a --select greedy --tolerance 5 | 2 | --tolerance 5: residuals of the rbf kernel lie between 0 and 2 / such as 0.1
:   | select s a --select greedy --tolerance 1 --no-affine | 2 | residuals of the rbf kernel lie between 0 and 1
:   | embed p.csv -o out.npy --select greedy --tolerance 2 --kernel cosine | 2 | residuals of the cosine kernel
:   | fit s a --time 2                   | 2 | --time acts only with --map diffusion
:   | fit s a --normalize rows           | 2 | --normalize is one of
:   | fit s a --affine=maybe             | 2 | --affine is one of yes
:   | fit s a --map laplacian --affine   | 2 | --affine does not go with --map laplacian
:   | fit s a --inner lanczos            | 2 | --inner is one of
:   | fit s a --approx nystrom --power 0 | 2 | --power is a whole number, at least 1
:   | fit s a --approx nystrom --oversample x | 2 | --oversample is a whole number
:   | fit s a --experts 0                | 2 | --experts is a whole number
:   | fit s a --experts 2                | 2 | --experts acts only with --approx ensemble
:   | fit s a --approx ensemble --weights best | 2 | --weights is one of
:   | fit s a --scale log                | 2 | --scale is one of
:   | fit s a --precision f16            | 2 | --precision is one of
:   | fit s a --probe 0                  | 2 | --probe is a whole number, at least 1
:   | fit s a --certify=2                | 2 | --certify is one of yes
:   | fit s a --seed x                   | 2 | --seed is a whole number
:   | fit s a --memory 1K                | 8 | 
:   | fit s a --landmarks-file=          | 2 | --landmarks-file needs a value
:   | fit s a --landmarks-from d --landmarks-file p.csv | 2 | both name the landmarks
:   | fit s a --landmarks-points p.csv --landmarks-file p.csv | 2 | --landmarks-file and --landmarks-points both name
:   | fit s a --map isomap --landmarks-points p.csv | 2 | --landmarks-points does not act with --map isomap
:   | fit s a --landmarks-points p.csv --kernel precomputed | 2 | --landmarks-points does not act with --kernel precomputed
:   | fit s a --select given             | 2 | --select given needs
:   | fit s a --kernel precomputed       | 2 | --kernel precomputed needs
:   | plan s --map pca --kernel rbf      | 2 | --map pca has the linear kernel
:   | plan s --gamma-grid=1,x            | 2 | --gamma-grid is auto or a list of positive numbers
:   | plan s --gamma-grid 0              | 2 | --gamma-grid is auto or a list of positive numbers
:   | plan s --landmarks 0               | 2 | --landmarks is a whole number
:   | select s a --components 2          | 2 | --components is not an option of select
:   | select s a --select every          | 2 | called 'all'
:   | transform s r --input p.csv -o out.npy --format xlsx | 2 | --format is one of
:   | transform s r --input p.csv -o out.npy --columns 9 | 2 | no column 9
:   | export s r --part embeding -o out.npy | 2 | did you mean 'embedding'?
:   | export s r --with ids,label -o out.csv | 2 | --with is header, ids, labels, clusters / not 'ids,label'; did you mean 'labels'?
:   | plot s r --color foo -o out.png    | 2 | NAME or column:NAME is a column of the points
:   | export s r --part cluster -o out.npy | 2 | --part is one of / did you mean 'clusters'?
:   | export s r --part zzz -o out.npy | 2 | --part is one of embedding
:   | export s r --part clusters -o out.npy | 2 | 'r' in s has no clusters
:   | fit s a --map eigenmaps --components 9223372036854775807 | 2 | and the trivial one are more than the 40 rows
:   | fit s a --map diffusion --neighbors 3 --components 40 | 2 | --components 40 and the trivial one are more than the 40 rows
:   | embed none.csv -o out.npy --components 5 --rank 2 | 2 | --components 5 is more than --rank 2
:   | embed p.csv -o out.npy --map diffusion --knn forest | 2 | give --neighbors T for a map of a graph
:   | embed p.csv -o out.npy --landmarks 0 | 2 | --landmarks is a whole number
:   | embed p.csv -o out.npy --components 11 | 2 | --components 11 is more than the 10
:   | verify s --threads none            | 2 | --threads is a whole number
:   | bench --threads 0                  | 2 | --threads is a whole number
END
}

# The verbs with operands of theirs.
lines_of_verbs() {
    printf '%s\n' "import new p.csv" "info s" "verify s" "plan s" "fit s a" "select s a" \
        "transform s r" "export s r" "embed p.csv" "list s" "rm s r" bench version help
}

# bats test_tags=slow
@test "unknown options, missing values and operands too many, of every verb" {
    local line verb option
    lines_of_verbs | while read -r line; do
        verb=${line%% *} option=
        echo ": | $line --xyzzy | 2 | unknown option --xyzzy of $verb"
        echo ": | $line -x | 2 | unknown option -x of $verb"
        echo ": | $line --json=1 | 2 | "
        case $verb in import | rm) ;; *) echo ": | $line b c d | 2 | one operand too many" ;; esac
        case $verb in plan | select | embed) continue ;; esac # options of fit and import
        for option in $(nystream help $verb --all | sed -nE 's/^  (-., )?--([a-z0-9-]+) [^[ ].*/\2/p'); do
            echo ": | $line --$option= | 2 | --$option"
        done
        [ -z "$option" ] || echo ": | $line --$option | 2 | --$option needs a value"
    done >rows
    cases <rows
    [ "$(wc -l <rows)" -gt 100 ]
}

@test "what a command line cannot do without" {
    cases <<'END'
:   |                                    | 2 | a verb is missing
:   | ''                                 | 2 | unknown verb ''
:   | bnech                              | 2 | did you mean 'bench'?
:   | Import new p.csv                   | 2 | did you mean 'import'?
:   | import                             | 2 | import needs STORE
:   | import new                         | 2 | import needs FILE
:   | import '' p.csv                    | 2 | STORE of import is empty
:   | import new ''                      | 2 | FILE
:   | fit s                              | 2 | fit needs NAME
:   | fit s ''                           | 2 | NAME of fit is empty
:   | export s r                         | 2 | export needs -o
:   | transform s r --input p.csv        | 2 | transform needs -o
:   | transform s r -o out.npy           | 2 | transform needs --input
:   | transform s -o out.npy --input p.csv | 2 | transform needs NAME after the store
:   | embed p.csv                        | 2 | embed needs -o
:   | s fit a                            | 2 | unknown verb 's'; the verb comes first: nystream fit s
:   | fit s a --landmarks --components 3 | 2 | --landmarks needs a value (M), but the next word is the option --components
:   | fit s a --gamma --no-affine        | 2 | --gamma needs a value (G / the option --no-affine
:   | export s r -o --json               | 2 | --output needs a value (FILE) / the option --json
:   | fit s a landmarks=10               | 2 | no operand 'landmarks=10'; options begin with --, as in --landmarks
:   | fit s a landmarks 10               | 2 | no operand 'landmarks'; options begin with --, as in --landmarks
:   | plot s r out.png                   | 2 | one operand too many; the file to write follows -o
:   | plot s r --terminal out.png        | 2 | 'out.png' is one operand too many
:   | export s r out.npy                 | 2 | one operand too many; the file to write follows -o
:   | embed p.csv out.npy                | 2 | one operand too many; the file to write follows -o
:   | transform s r p.csv -o out.npy     | 2 | one operand too many; the file to read follows --input
:   | transform r.nym r --input p.csv -o out.npy | 2 | r.nym is a model and needs no NAME: leave out 'r'
:   | embed p.csv -o - --json            | 2 | both write to the standard output
:   | $'\033[31m'                        | 2 | unknown verb
:   | info s $'a\nb'                     | 2 | no result named
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
    local file
    table 3 2 >t.csv
    printf '1,0.6' >>t.csv
    printf '1 1:2\n2 1:0.6' >t.svm
    printf '1,2\r\n3,4' >r.csv
    for file in t.csv t.svm r.csv; do
        ny import "cut-$file" $file
        exits 0
        [ "$(nystream info "cut-$file" --json | grep -c '"n": [24],')" = 1 ]
        [[ $stderr == *"the last line of $file does not end with a newline: it may be cut short"* ]]
        printf '\n' >>$file
        ny import "whole-$file" $file
        exits 0
        [[ $stderr != *"a newline"* ]]
    done
}

@test "what looks odd and is fine" {
    fine <<'END'
put t.csv '1,2\r\n3,4\r\n'              | t.csv                            | 2 2 0
put t.csv '\357\273\277a,b\n1,2\n3,4\n' | t.csv                            | 2 2 0
put t.csv '"1","2"\n"3","4"\n'          | t.csv                            | 2 2 0
put t.csv ' 1 , 2 \n 3 , 4 \n'          | t.csv                            | 2 2 0
put t.csv '+1,-2e3\n.5,4.\n'            | t.csv                            | 2 2 0
put t.csv '1\n2\n3\n'                   | t.csv                            | 3 1 0
put t.csv '1,2\n\n3,4\n\n'              | t.csv                            | 2 2 0
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
npy t.npy '>i2' '(2L, 2L)' 8            | t.npy                            | 2 2 0
put t.svm '1 0:1 2:2\n1\n'              | t.svm                            | 2 3 0
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
    ny import refused t.csv
    exits 4
    chmod 600 t.csv
    mkdir closed
    chmod 500 closed
    ny import closed/s t.csv
    exits 4
    ny embed t.csv -o closed/out.npy
    exits 4
}
