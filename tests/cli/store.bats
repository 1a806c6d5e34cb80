# import, info, list, rm, verify.
load helper

@test "import and info of a table" {
    table 300 4 >t.csv
    ny import s.nys t.csv
    exits 0
    ny info s.nys --json
    exits 0
    has_keys "$output" n d dtype format blocks bytes compressed_bytes labels classes mean_norm \
        mean_square_norm results version
    [ "$(field "$output" n)" = 300 ]
    [ "$(field "$output" d)" = 4 ]
    [ "$(field "$output" dtype)" = f32 ]
    ny info s.nys
    exits 0
    prints "rows                  300"
    prints "columns               4"
}

@test "several files, standard input, appending" {
    table 100 3 1 >a.csv
    table 50 3 2 >b.csv
    ny import s a.csv b.csv -q
    exits 0
    ny info s --json
    [ "$(field "$output" n)" = 150 ]
    run --separate-stderr bash -c 'nystream import s - --append --format csv --quiet <b.csv'
    exits 0
    ny info s --json
    [ "$(field "$output" n)" = 200 ]
    ny import s b.csv --append --json
    exits 0
    has_keys "$output" n rows bytes seconds dropped
    [ "$(field "$output" n)" = 250 ]
}

@test "a LIBSVM file that is appended is as wide as the points" {
    printf '1 1:0.5 3:2\n-1 2:1\n' >a.svm
    printf '1 1:4\n-1 2:3\n' >b.svm
    printf '1 4:1\n' >wide.svm
    nystream import s a.svm -q
    ny import s b.svm --append -q
    exits 0
    ny info s --json
    [ "$(field "$output" n)" = 4 ]
    ny import s wide.svm --append -q
    exits 3
    says wide.svm
}

@test "an import onto points needs --append" {
    store s
    ny import s s.csv
    exits 2
    says "--append"
    ny info s --json
    [ "$(field "$output" n)" = 300 ]
}

@test "bad input is refused with file and line, and leaves nothing" {
    ny import s missing.csv
    exits 4
    says missing.csv
    [ ! -e s ]
    : >empty.csv
    ny import s empty.csv
    exits 3
    says empty.csv
    printf '1,2\n3,4\n5\n' >ragged.csv
    ny import s ragged.csv
    exits 3
    says ragged.csv
    says 3
    printf '1,2\n3,nan\n5,6\n' >nan.csv
    ny import s nan.csv
    exits 3
    says nan.csv
    table 10 3 >good.csv
    table 200000 6 >long.csv
    echo 1,2 >>long.csv
    ny import s long.csv --memory 32M # part of it was staged
    exits 3
    ny import s good.csv ragged.csv
    exits 3
    [ ! -e s ]
    for online in "" "--online --tolerance 0.1"; do
        ny embed long.csv -o e.npy $online
        exits 3
    done
    [ ! -e e.npy ]
    [ -z "$(find . -name '.nystream*')" ]
    mkdir s
    ny import s long.csv
    exits 3
    [ -d s ]
    ny import s good.csv -q
    exits 0
    ny import s nan.csv --append
    exits 3
    ny info s --json
    [ "$(field "$output" n)" = 10 ]
}

@test "rows with NaN are dropped and counted when asked" {
    printf '1,2\n3,nan\n5,6\n7,inf\n8,9\n' >nan.csv
    ny import s nan.csv --nan drop --json
    exits 0
    [ "$(field "$output" n)" = 3 ]
    [ "$(field "$output" dropped)" = 2 ]
}

@test "labels from a file and from a column" {
    table 4 2 >t.csv
    printf '0\n1\n0\n1\n' >labels.txt
    ny import s t.csv --labels labels.txt -q
    exits 0
    printf 'x,y,kind\n1,2,cat\n3,4,dog\n5,7,cat\n' >named.csv
    ny import t named.csv --label-column kind -q
    exits 0
    ny info t --json
    [ "$(field "$output" d)" = 2 ]
    ny import u named.csv --label-column colour
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    says colour
    ny import v t.csv --labels labels.txt --label-column 1
    usage "give one"
}

@test "info of what is not there" {
    ny info missing
    exits 4
    says missing
    mkdir folder
    ny info folder
    exits 4
    echo text >file
    ny info file
    [ "$status" -eq 4 ] || [ "$status" -eq 5 ]
    store s
    nystream fit s first --landmarks 10 -q
    ny info s frist
    usage first
}

@test "a store whose creation was killed: call the import again" {
    local again="k.nys is not a complete store: the import that was making it was interrupted; run it again"

    table 10 3 >t.csv
    mkdir -p k.nys/locks # killed before the lock of the creation
    ny info k.nys
    exits 4
    says "$again"
    touch k.nys/notes.txt # a folder of somebody else
    ny info k.nys
    exits 4
    says "k.nys is a directory and not a store"
    rm k.nys/notes.txt
    nystream import whole.nys t.csv -q
    mv whole.nys/points k.nys/points.new # before points/ had its name
    ny fit k.nys r --landmarks 3
    exits 4
    says "$again"
    rm -r k.nys
    nystream import k.nys t.csv -q
    mv k.nys/results lost
    ny info k.nys # not what a killed creation leaves: the rows are there
    exits 5
    says "there is no k.nys/results"
    rm -r k.nys
    mkdir -p k.nys/locks
    touch k.nys/locks/create.lock
    ny info k.nys
    exits 4
    says "$again"
    nystream import k.nys t.csv -q
    ny info k.nys --json
    [ "$(field "$output" n)" = 10 ]
    mv k.nys/results lost2
    touch k.nys/locks/create.lock # killed between points/ and results/
    ny verify k.nys
    exits 5
    says "$again"
}

@test "list and rm" {
    store s
    ny list s
    exits 0
    silent
    nystream fit s b --landmarks 10 -q
    nystream fit s a --landmarks 12 -q
    ny list s
    exits 0
    [ "$output" = "a	done
b	done" ]
    ny list s --json
    [ "$output" = '{"results": [
  {"name": "a", "status": "done", "resume": null, "map": "kpca"},
  {"name": "b", "status": "done", "resume": null, "map": "kpca"}]}' ]
    ny rm s a
    exits 0
    silent
    ny rm s a
    exits 2
    ny list s
    [ "$output" = "b	done" ]
    ny list missing
    exits 4
    ny rm missing a
    exits 4
}

@test "verify: ok, and the damaged block by name" {
    npy_u8 20000 100 >t.npy
    nystream import s t.npy -q
    ny verify s
    exits 0
    [ "$output" = ok ]
    ny verify s --json
    exits 0
    has_keys "$output" ok damaged
    local data=s/points/data.mdb size
    size=$(stat -c %s $data)
    head -c 64 /dev/zero | dd of=$data bs=1 seek=$((size / 2)) conv=notrunc status=none
    ny verify s
    exits 5
    prints "block "
    prints "rows "
    says "nystream: "
    ny verify s --json
    exits 5
    has_keys "$output" ok damaged block first_row rows what
    [[ $output == *'"ok": false'* ]]
    has_keys "$stderr" error code
    ny verify missing
    exits 4
}

@test "float64 is rounded to the type of a store that has f32, with one warning, and to whole numbers never" {
    printf '1,2\n3,0.5\n' >a.csv
    printf '1,2\n3,0.1\n0.7,1e-9\n' >b.csv
    ny import w.nys b.csv --dtype f64 -q
    ny export w.nys --part points -o b.npy -q
    [ "$(head -c 100 b.npy | grep -ac "<f8")" = 1 ]
    ny import a.nys a.csv -q
    ny import a.nys b.npy --append -q
    exits 0
    says "values are rounded to f32, the type of a.nys: the first is 0.10000000000000001 in row 1, column 1 (both from 0); --dtype f32 says that this is meant, and a new store with --dtype f64 keeps them"
    [ "$(grep -c rounded <<<"$stderr")" = 1 ]
    nystream truncate a.nys --keep 2 -q
    ny import a.nys b.npy --append --dtype f32 -q
    exits 0
    [ -z "$stderr" ]
    [ "$(nystream export a.nys --part points -o - -q | tail -c 24 | od -An -tf4 | xargs)" = "1 2 3 0.1 0.7 1e-09" ]
    ny import c.nys a.csv --columns 1 --dtype u8 -q
    ny export w.nys --part points -o b.npy -q
    ny import c.nys b.npy --columns 1 --append
    exits 3
    says "row 2, column 0 (both from 0): 0.69999999999999996 is not a value of u8, the type of c.nys"
    [ "$(field "$(nystream info c.nys --json)" n)" = 2 ]
    printf '1,1e39\n' >large.csv
    ny import l.nys large.csv --dtype f64 -q
    ny export l.nys --part points -o large.npy -q
    ny import a.nys large.npy --append
    exits 3
    says "row 0, column 1 (both from 0): 9.9999999999999994e+38 is not a value of f32, the type of a.nys"
}

@test "what the first file's type rounds in the later files of an import is told, unless it was asked for" {
    printf '1,2\n3,0.5\n' >a.csv
    printf '1,2\n3,0.1\n0.7,1e-9\n' >b.csv
    ny import w.nys b.csv --dtype f64 -q
    ny export w.nys --part points -o b.npy -q
    ny import a.nys a.csv b.npy -q
    exits 0
    says "b.npy: values are rounded to f32, the type of the rows before them: the first is 0.10000000000000001 in row 1 (from 0); --dtype f32 says that this is meant, and --dtype f64 keeps them"
    [ "$(grep -c rounded <<<"$stderr")" = 1 ]
    ny import a.nys a.csv b.npy --append -q
    exits 0
    says "b.npy: values are rounded to f32"
    says "and a new store with --dtype f64 keeps them"
    ny import u.nys a.csv b.npy --dtype f32 -q
    exits 0
    [ -z "$stderr" ]
    ny import v.nys b.npy a.csv -q
    exits 0
    [ -z "$stderr" ]
}

@test "the mean norm is the mean of norms, through appends, kinds of rows and types" {
    printf '3,4\n0,1\n0,0\n' >a.csv
    printf '1 1:3 2:4\n1 2:1\n1 1:0\n' >a.libsvm
    local how
    for how in "a.csv --dtype u8" "a.csv --dtype i16" "a.csv --dtype f32" "a.csv --dtype f64" "a.libsvm --layout sparse"; do
        rm -rf s
        nystream import s $how -q
        ny info s --json
        [ "$(field "$output" mean_norm)" = 2.0 ]
        nystream import s ${how% --dtype*} --append -q
        printf '6,8\n' >b.csv
        [[ $how == *sparse* ]] || nystream import s b.csv --append -q
        ny info s --json
        awk -v is="$(field "$output" mean_norm)" -v sparse="$([[ $how == *sparse* ]] && echo 1)" \
            'BEGIN {want = sparse ? 2 : 22 / 7; d = is - want; exit !(d * d < 1e-20)}'
        ny verify s
        exits 0
    done
}

@test "rows without labels follow rows with them, and words stay words" {
    printf '%s\n' 1,2,odd 3,4,even 5,6,odd >named.csv
    printf '%s\n' 7,8 9,10 >new.csv
    nystream import words.nys named.csv --label-column 3 -q
    ny import words.nys new.csv --append --expect-rows 2
    exits 2
    [[ $stderr != *"these rows have none"* ]] # nothing is added
    ny import words.nys new.csv --append
    exits 0
    says "the rows of words.nys have labels, but these rows have none; to give them some, take them out again ('nystream truncate words.nys --keep 3')"
    nystream export words.nys --part labels -o labels.csv -q
    [ "$(tr '\n' ' ' <labels.csv)" = "0 1 0 nan nan " ]
    printf '%s\n' 1,1,even >later.csv
    nystream import words.nys later.csv --label-column 3 --append -q
    nystream export words.nys --part labels -o labels.csv -q
    [ "$(tail -n 1 labels.csv)" = 1 ]
    ny verify words.nys
    exits 0
    # labels behind points that have none are still refused
    nystream import plain.nys new.csv -q
    ny import plain.nys named.csv --label-column 3 --append
    exits 3
    says "the points of plain.nys have none"
}

# bytes_read COMMAND…: bytes that it reads by calls; a shell counts those of processes that ended.
bytes_read() {
    (
        read -r _ before </proc/$BASHPID/io
        "$@" >/dev/null
        read -r _ after </proc/$BASHPID/io
        echo $((after - before))
    )
}

@test "a list checks the store once, however many results there are" {
    [ -r /proc/self/io ] || skip "the kernel counts no bytes here"
    store s.nys 40
    for name in {a..j}; do nystream fit s.nys $name --landmarks 20 -q; done
    [ "$(nystream list s.nys | wc -l)" = 10 ]
    [ "$(bytes_read nystream list s.nys)" -lt $((2 * $(bytes_read nystream info s.nys))) ]
}

# as USER COMMAND…: of group 2345, with the usual umask.
as() {
    ( umask 022; setpriv --reuid "$1" --regid "$1" --groups 2345 env HOME=/nonexistent "${@:2}" )
}

@test "what is made in a store of a group can be written by all of it" {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "needs root, to be two users"
    as 12001 nystream version >/dev/null 2>&1 || skip "others cannot run the command here"
    table 60 3 >rows.csv
    mkdir -m 777 place
    export XDG_CACHE_HOME=$PWD/place/cache
    while read -r first rights; do # a folder of the group, with and without setgid
        mkdir place/$first.nys place/$first.set
        chown 12001:2345 place/$first.nys place/$first.set
        chmod "$rights" place/$first.nys place/$first.set
        cp rows.csv place
        as 12001 nystream import place/$first.nys place/rows.csv -q
        as 12002 nystream import place/$first.nys place/rows.csv --append -q
        as 12002 nystream fit place/$first.nys a --landmarks 5 -q
        as 12001 nystream fit place/$first.nys a --landmarks 6 --restart -q
        as 12001 nystream rm place/$first.nys a -q
        as 12002 nystream compact place/$first.nys
        as 12001 nystream import place/$first.set --shard 0/2 place/rows.csv -q
        as 12002 nystream import place/$first.set --shard 1/2 place/rows.csv -q
        as 12002 nystream fit place/$first.set a --landmarks 5 -q
        as 12001 nystream rm place/$first.set a -q
        [ -z "$(find place/$first.nys place/$first.set ! -perm -g=w -o ! -group 2345)" ]
    done <<'END'
setgid 2775
plain 775
END
    # a folder that its group may not write stays its owner's
    as 12001 nystream import place/own.nys place/rows.csv -q
    [ -z "$(find place/own.nys -perm -g=w)" ]
}
