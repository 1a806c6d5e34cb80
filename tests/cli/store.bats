# import, info, list, rm, verify.
load helper

@test "import and info of a table" {
    table 300 4 >t.csv
    ny -0 import s.nys t.csv
    ny -0 info s.nys --json
    has_keys "$output" n d dtype format blocks bytes compressed_bytes labels classes mean_norm \
        mean_square_norm results version
    fields n=300 d=4 dtype=f32
    ny -0 info s.nys
    prints "rows                  300" "columns               4"
}

@test "several files, standard input, appending" {
    table 100 3 1 >a.csv
    table 50 3 2 >b.csv
    ny -0 import s a.csv b.csv -q
    has s n=150
    run -0 --separate-stderr bash -c 'nystream import s - --append --format csv --quiet <b.csv'
    has s n=200
    ny -0 import s b.csv --append --json
    has_keys "$output" n rows bytes seconds dropped
    [ "$(field "$output" n)" = 250 ]
}

@test "a LIBSVM file that is appended is as wide as the points" {
    printf '1 1:0.5 3:2\n-1 2:1\n' >a.svm
    printf '1 1:4\n-1 2:3\n' >b.svm
    printf '1 4:1\n' >wide.svm
    nystream import s a.svm -q
    ny -0 import s b.svm --append -q
    has s n=4
    ny -3 import s wide.svm --append -q
}

@test "an import that is refused when it has staged rows leaves nothing" {
    printf '1,2\n3,4\n5\n' >ragged.csv
    table 10 3 >good.csv
    table 200000 6 >long.csv
    echo 1,2 >>long.csv
    ny -3 import s long.csv --memory 32M
    ny -3 import s good.csv ragged.csv
    [ ! -e s ]
    for online in "" "--online --tolerance 0.1"; do
        ny -3 embed long.csv -o e.npy $online
    done
    [ ! -e e.npy ]
    [ -z "$(find . -name '.nystream*')" ]
    mkdir s
    ny -3 import s long.csv
    [ -d s ]
    ny -0 import s good.csv -q
    has s n=10
}

@test "a store whose creation was killed: call the import again" {
    table 10 3 >t.csv
    mkdir -p k.nys/locks # killed before the lock of the creation
    ny -4 info k.nys
    touch k.nys/notes.txt # a folder of somebody else
    ny -4 info k.nys
    rm k.nys/notes.txt
    nystream import whole.nys t.csv -q
    mv whole.nys/points k.nys/points.new # before points/ had its name
    ny -4 fit k.nys r --landmarks 3
    rm -r k.nys
    nystream import k.nys t.csv -q
    mv k.nys/results lost
    ny -5 info k.nys # not what a killed creation leaves: the rows are there
    rm -r k.nys
    mkdir -p k.nys/locks
    touch k.nys/locks/create.lock
    ny -4 info k.nys
    nystream import k.nys t.csv -q
    has k.nys n=10
    mv k.nys/results lost2
    touch k.nys/locks/create.lock # killed between points/ and results/
    ny -5 verify k.nys
}

@test "list and rm" {
    store s
    ny -0 list s
    silent
    nystream fit s b --landmarks 10 -q
    nystream fit s a --landmarks 12 -q
    ny -0 list s
    [ "$output" = "a	done
b	done" ]
    ny list s --json
    [ "$output" = '{"results": [
  {"name": "a", "status": "done", "resume": null, "map": "kpca"},
  {"name": "b", "status": "done", "resume": null, "map": "kpca"}]}' ]
    ny -0 rm s a
    silent
    ny -2 rm s a
    ny list s
    [ "$output" = "b	done" ]
    ny -4 list missing
    ny -4 rm missing a
}

@test "verify: ok, and the damaged block by name" {
    npy_u8 20000 100 >t.npy
    nystream import s t.npy -q
    ny -0 verify s
    [ "$output" = ok ]
    ny -0 verify s --json
    has_keys "$output" ok damaged
    local data=s/points/data.mdb size
    size=$(stat -c %s $data)
    head -c 64 /dev/zero | dd of=$data bs=1 seek=$((size / 2)) conv=notrunc status=none
    ny -5 verify s
    prints "block " "rows "
    says "nystream: "
    ny -5 verify s --json
    has_keys "$output" ok damaged block first_row rows what
    [[ $output == *'"ok": false'* ]]
    has_keys "$stderr" error code
    ny -4 verify missing
}

@test "float64 is rounded to the type of a store that has f32, and to whole numbers never" {
    printf '1,2\n3,0.5\n' >a.csv
    printf '1,2\n3,0.1\n0.7,1e-9\n' >b.csv
    ny import w.nys b.csv --dtype f64 -q
    ny export w.nys --part points -o b.npy -q
    [ "$(head -c 100 b.npy | grep -ac "<f8")" = 1 ]
    ny import a.nys a.csv -q
    ny -0 import a.nys b.npy --append -q
    [ "$(nystream export a.nys --part points -o - -q | tail -c 24 | od -An -tf4 | xargs)" = "1 2 3 0.1 0.7 1e-09" ]
    ny import c.nys a.csv --columns 1 --dtype u8 -q
    ny export w.nys --part points -o b.npy -q
    ny -3 import c.nys b.npy --columns 1 --append
    [ "$(field "$(nystream info c.nys --json)" n)" = 2 ]
    printf '1,1e39\n' >large.csv
    ny import l.nys large.csv --dtype f64 -q
    ny export l.nys --part points -o large.npy -q
    ny -3 import a.nys large.npy --append
}

@test "the mean norm is the mean of norms, through appends, kinds of rows and types" {
    printf '3,4\n0,1\n0,0\n' >a.csv
    printf '1 1:3 2:4\n1 2:1\n1 1:0\n' >a.libsvm
    for how in "a.csv --dtype u8" "a.csv --dtype i16" "a.csv --dtype f32" "a.csv --dtype f64" "a.libsvm --layout sparse"; do
        rm -rf s
        nystream import s $how -q
        has s mean_norm=2.0
        nystream import s ${how% --dtype*} --append -q
        printf '6,8\n' >b.csv
        [[ $how == *sparse* ]] || nystream import s b.csv --append -q
        ny info s --json
        awk -v is="$(field "$output" mean_norm)" -v sparse="$([[ $how == *sparse* ]] && echo 1)" \
            'BEGIN {want = sparse ? 2 : 22 / 7; d = is - want; exit !(d * d < 1e-20)}'
        ny -0 verify s
    done
}

@test "rows without labels follow rows with them, and words stay words" {
    printf '%s\n' 1,2,odd 3,4,even 5,6,odd >named.csv
    printf '%s\n' 7,8 9,10 >new.csv
    nystream import words.nys named.csv --label-column 3 -q
    ny -2 import words.nys new.csv --append --expect-rows 2
    [[ $stderr != *"these rows have none"* ]] # nothing is added
    ny -0 import words.nys new.csv --append
    [ "$(shown "words.nys --part labels" | tr '\n' ' ')" = "0 1 0 nan nan " ]
    printf '%s\n' 1,1,even >later.csv
    nystream import words.nys later.csv --label-column 3 --append -q
    [ "$(shown "words.nys --part labels" | tail -n 1)" = 1 ]
    ny -0 verify words.nys
    # labels behind points that have none are still refused
    nystream import plain.nys new.csv -q
    ny -3 import plain.nys named.csv --label-column 3 --append
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
