# Stores in shards: imports in any order and at the same time, and reading them as one store.
load helper
brought="part.?.csv all.csv model.nym"

# Rows of three columns and a class, in one file and in four parts; the first part has all classes.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 7000 3 | awk -F, -v OFS=, 'BEGIN { split("cat dog fish", name, " "); print "a,b,c,class" }
        { print int($1 * 200), int($2 * 200), int($3 * 200), name[NR % 3 + 1] }' >all.csv
    part() { # NUMBER FIRST LAST, of rows from 1
        (head -n 1 all.csv; sed -n "$(($2 + 1)),$(($3 + 1))p" all.csv) >part.$1.csv
    }
    part 0 1 2048
    part 1 2049 4096
    part 2 4097 6144
    part 3 6145 7000
    nystream import one all.csv --label-column class --dtype u8 -q
    nystream fit one fit --landmarks 20 --gamma 1e-4 --components 3 -q
    nystream export one fit --part model -o model.nym -q
    nystream fit one map --model model.nym -q
    for k in 0 3 2 1; do
        nystream import big --shard $k/4 part.$k.csv --label-column class --dtype u8 -q
    done
}

# Brings the stores of the file here.
stores() {
    cp -r "$BATS_FILE_TMPDIR/$1" .
}

# put K [OPTION…]: imports part K as shard K of 4.
put() {
    ny import big --shard "$1/4" "part.$1.csv" --label-column class --dtype u8 "${@:2}"
}

# same PART [NAME]: an export of `big` has the bytes of that of `one`.
same() { same_exports "big ${2-} --part $1" "one ${2-} --part $1"; }

# Places the rows of each shard, those of the options excepted.
place() {
    local k
    for k in 0 1 2 3; do
        [[ " $* " == *" $k "* ]] || nystream fit big/shard-0000$k map --model model.nym -q
    done
}

@test "shards that were imported in any order are read as one store of all rows" {
    stores big
    stores one
    place
    for part in points raw-points labels source; do
        same $part
        same $part map
    done
    for part in embedding eigenvectors rows landmark-points; do
        same $part map
    done
    [ "$(shown "big --part columns" txt | tr '\n' ' ')" = "a b c " ]
    nystream export big map --part model -o again.nym -q
    for model in again model; do
        nystream transform $model.nym --input all.csv -o $model.npy --label-column class -q
    done
    cmp again.npy model.npy
    same_exports "big map" "one map"
    agree cmp "transform big map --input part.1.csv --label-column class" \
        "transform one map --input part.1.csv --label-column class" npy
    for part in big one; do
        nystream plot $part map -o $part.png -q
        nystream plot $part map --terminal --size 60x20 -q >$part.txt 2>/dev/null || true
        nystream report $part -o $part.html --title T -q
    done
    cmp big.png one.png
    grep -q 7,000 big.html
}

@test "rows that were dropped have numbers in the files of all shards, too" {
    printf '1,2\n,4\n5,6\n7,8\n,\n' >a.csv # the last row is dropped, too
    printf '9,10\n11,12\n' >b.csv
    printf ',14\n15,16\n,18\n19,20\n' >c.csv
    nystream import one a.csv b.csv c.csv --nan drop -q
    for file in a.csv b.csv c.csv; do
        case $file in a.csv) k=0 ;; b.csv) k=1 ;; *) k=2 ;; esac
        nystream import big --shard $k/3 $file --nan drop -q
    done
    same points
    same source
    [ "$(shown "big --part source" | paste -sd " ")" = "0 2 3 5 6 8 10" ]
}

@test "shards follow how rows are prepared, and are read so or as they came" {
    nystream import one all.csv --label-column class --rows total:100 --values log1p -q
    nystream import big --shard 2/4 part.2.csv --label-column class --rows total:100 --values log1p -q
    for k in 0 1 3; do
        nystream import big --shard $k/4 part.$k.csv --label-column class -q
    done
    same points
    same raw-points
    shows "values prepared       log1p" info big
    ny -2 import big --shard 3/4 part.3.csv --label-column class --values sqrt --append
}

@test "info and list tell of the whole, and of each shard" {
    stores big
    json=$(nystream info big --json)
    [ "$(field "$json" count)" = 4 ]
    [[ $json == *'"n": 7000'* && $json == *'"classes": 3'* && $json == *'"missing": []'* ]]
    shows "- shard 1             rows 2048 to 4095" info big
    [[ $output != *"uneven shards"* ]]
    ny -0 list big
    silent
    place 1 3
    shows "map	interrupted" list big
    shows "shards                4; without this result: 1, 3" info big map
    ny -2 export big map -o e.npy
    place 0 2
    shows "map	done" list big
    json=$(nystream info big map --json)
    [[ $json == *'"status": "done"'* && $json == *'"n": 7000'* && $json == *'"lacking": []'* ]]
    [ "$(field "$json" gamma)" = 0.0001 ]
    nystream info big nap --json 2>err || [ $? -eq 2 ]
}

@test "all shards are imported at the same time, and their classes have the same numbers" {
    for k in 3 1 2 0; do
        nystream import big --shard $k/4 part.$k.csv --label-column class --dtype u8 -q &
    done
    wait
    [ "$(grep -c '"id"' big/shards)" = 4 ]
    names=($(sed -n '/"classes"/,/\]/p' big/shards | grep -oE 'cat|dog|fish'))
    [ ${#names[@]} = 3 ]
    nystream export big --part labels -o labels.csv -q
    awk -v names="${names[*]}" 'BEGIN { split(names, name, " ") } { print name[$1 + 1] }' \
        labels.csv >words
    diff words <(tail -n +2 all.csv | cut -d, -f4)
    [ ! -e big/shards.new ]
}

@test "a shard that was imported is not imported again, and rows are added to the last one" {
    stores big
    put 1
    usage "big/shard-00001 already holds 2048 points: add to them with --append"
    usage "big/shard-00003 already holds 856 points" import big part.0.csv --label-column class
    nystream import big part.0.csv --label-column class --append -q
    nystream import big/shard-00003 part.0.csv --label-column class --append -q
    [ "$(field "$(nystream info big --json)" n)" = 11096 ]
    nystream export big --part labels -o big.csv -q
    tail -n +7001 big.csv | head -n 2048 | cmp - <(head -n 2048 big.csv)
    put 2 --append
    exits 0
    [ "$(field "$(nystream info big --json)" n)" = 13144 ]
}

@test "--expect-rows counts the rows of all shards, or of the shard that is named" {
    stores big
    usage "big has 7000 rows, but --expect-rows says 856" import big part.0.csv --label-column class --append --expect-rows 856
    nystream import big part.0.csv --label-column class --append --expect-rows 7000 -q
    ny -2 import big part.0.csv --label-column class --append --expect-rows 7000
    put 3 --append --expect-rows 2904 -q
    exits 0
    usage "big/shard-00000 has 2048 rows" import big/shard-00000 part.0.csv --label-column class --append --expect-rows 2047
}

# bats test_tags=slow
@test "an import that is killed is gone on with by the same command" {
    for k in 0 1 2 3; do
        for delay in 0.002 0.008 0.02 0.03; do
            timeout -s KILL $delay nystream import big --shard $k/4 part.$k.csv \
                --label-column class --dtype u8 -q 2>/dev/null || true
        done
        put $k -q
        [ $status -eq 0 ] || usage "already holds" # it had ended, and then was killed
    done
    stores one
    same points
    same labels
}

@test "shards that differ are refused before their rows are read, and leave nothing" {
    stores big
    rm -r big/shard-00001
    sed -i '/"shard": 1,/,/}/d' big/shards
    sed -i -z 's/  {\n *{/  {/; s/},\n  {\n \]/}\n ]/' big/shards
    refused() { # FILE OPTION…: what differs from the other shards
        cp big/shards before
        ny -3 import big --shard 1/4 "$@"
        cmp before big/shards
        [ ! -e big/shard-00001 ]
        [ ! -e big/shards.new ]
    }
    ny -0 info big
    while read -r options; do
        refused part.1.csv $options
    done <<'END'
--label-column class
--label-column class --dtype u8 --columns a,b
--label-column class --dtype u8 --layout sparse
--label-column class --dtype u8 --values log1p
--dtype u8 --columns a-c
END
    refused <(tail -n +2 part.1.csv) --label-column 4 --dtype u8 --header no --format csv
    refused <(sed '1s/a,b/x,b/' part.1.csv) --label-column class --dtype u8 --format csv
    refused <(sed 's/[a-z]*$/7/; 1s/7$/class/' part.1.csv) --label-column class --dtype u8 --format csv
    put 1
    exits 0
}

@test "facts hold as soon as a first import has told them, and not longer than it lasts" {
    (head -n 9 part.0.csv; echo 1,2,x,cat) >bad.csv
    ny -3 import big --shard 0/4 bad.csv --label-column class --dtype u8
    [ ! -e big ]
    mkdir big
    ny -4 import big --shard 0/4 nowhere.csv
    [ -z "$(ls big)" ]
    rmdir big
    mkfifo pipe
    nystream import big --shard 0/4 - --label-column class --dtype u8 -q <pipe 2>first.err &
    local pid=$!
    exec 7>pipe
    cat part.0.csv >&7
    await 'grep -qs dtype big/shards'
    ny -3 import big --shard 1/4 part.1.csv --label-column class
    echo 1,2,x,cat >&7
    exec 7>&-
    wait $pid || true
    grep -q "x" first.err
    [ ! -e big ]
}

@test "class numbers follow the list of names, and labels that are no words are refused" {
    sed 's/[a-z]*$/7/; 1s/7$/class/' part.0.csv >numbers.csv
    nystream import big --shard 0/2 numbers.csv --label-column class -q
    ny -3 import big --shard 1/2 part.1.csv --label-column class
    [ ! -e big/shard-00001 ]
    sed 's/fish/cow/' part.1.csv >cow.csv
    nystream import words --shard 0/2 part.0.csv --label-column class -q
    nystream import words --shard 1/2 cow.csv --label-column class -q
    ny -0 import words <(sed 's/fish/eel/' part.1.csv) --format csv --label-column class --append
    [ "$(sed -n '/"classes"/,/\]/p' words/shards | tr -d ' ",[]\n')" = classes:dogfishcatcoweel ]
    nystream info words --json | grep -q '"classes": 5'
    (cd words && nystream import shard-00001 <(sed 's/fish/ant/' ../part.1.csv) --format csv \
        --label-column class --append -q)
    [[ $(cat words/shards) == *'"ant"'* ]]
    nystream import none --shard 0/1 part.0.csv --columns a-c -q
    cp none/shards before
    printf '%s\n' cat dog >labels.txt
    head -n 3 part.0.csv | cut -d, -f1-3 >two.csv
    ny -3 import none/ two.csv --labels labels.txt --append
    cmp before none/shards
}

@test "on disks of their own, shards agree by --like" {
    nystream import a/big --shard 0/2 part.0.csv --label-column class 2>/dev/null || mkdir a b c
    nystream import a/big --shard 0/2 part.0.csv --label-column class -q
    ny -3 import b/big --shard 1/2 part.1.csv --label-column class --like a/big --dtype u8
    [ ! -e b/big ]
    ny -2 import b/big --shard 1/3 part.1.csv --label-column class --like a/big
    ny -3 import b/big --shard 1/2 <(sed 's/fish/cow/' part.1.csv) --format csv --label-column class \
        --like a/big
    [ ! -e b/big ]
    nystream import b/big --shard 1/2 part.1.csv --label-column class --like a/big -q
    ny info b/big
    prints "shards                2; missing: 0" "- shard 1             2,048 rows"
    usage "b/big lacks 1 of its 2 shards: 0" export b/big --part labels -o l.npy
    ln -s ../../b/big/shard-00001 a/big # a disk that is mounted
    nystream export a/big --part labels -o l.npy -q
    nystream fit a/big map --landmarks 20 -q
    for read in "eval a/big map" "plot a/big map -o p.svg" "report a/big map -o p.html" "verify a/big"; do
        ny -0 $read
    done
    [ "$(nystream list b/big)" = "map	done" ]
    nystream rm a/big map -q
    rm a/big/shard-00001
    mv b/big/shard-00001 a/big
    shows "- shard 1             rows 2048 to 4095" info a/big
    ny -0 import a/big <(sed 's/fish/cow/' part.1.csv) --format csv --label-column class --append
    nystream info a/big --json | grep -q '"classes": 4'
    ny -2 import c/big part.0.csv --like a/big
}

@test "a shard whose folder did not agree with this one is not taken for one of it" {
    printf '%s\n' a,b,class 1,2,cat 3,4,dog >0.csv
    printf '%s\n' a,b,class 1,2,dog 3,4,cat >1.csv
    printf '%s\n' b,a,class 1,2,cat 3,4,dog >turned.csv
    printf '%s\n' a,b,class 1,2,0 3,4,1 >numbers.csv
    nystream import big --shard 0/2 0.csv --label-column class -q
    refused() { # FILE, and what differs
        nystream import alone --shard 1/2 $1 --label-column class -q
        mv alone/shard-00001 big
        ny -5 info big
        rm -r big/shard-00001 alone
    }
    refused 1.csv "numbering of classes"
    refused numbers.csv "kind of labels (words or numbers)"
    refused turned.csv "list of names of columns"
    nystream import alone --shard 1/2 1.csv --label-column class --like big -q
    mv alone/shard-00001 big
    nystream info big -q
    rm -r big/shard-00000
    (cat 0.csv; echo 5,x,cat) >bad.csv
    ny -3 import big --shard 0/2 bad.csv --label-column class
    [[ $(<big/shards) == *dog* ]]
    nystream import big --shard 0/2 0.csv --label-column class -q
    nystream export big --part labels -o labels.csv -q
}

@test "what cannot be is refused: numbers, folders, missing shards" {
    for text in 4/4 1/0 1/100001; do
        ny -2 import new --shard $text part.0.csv
    done
    for text in 1 1/ /4 a/4 1/4/4 -1/4; do
        usage "--shard is I/N, such as 0/4 for the first of four shards, not '$text'" import new "--shard=$text" part.0.csv
    done
    [ ! -e new ]
    store plain 20
    ny -2 import plain --shard 0/2 part.0.csv
    mkdir others && touch others/thing
    ny -4 import others --shard 0/2 part.0.csv
    stores big
    ny -2 import big --shard 0/5 part.0.csv
    mv big/shard-00002 away
    ny -2 import big part.0.csv --append
    usage "big lacks 1" export big --part points -o p.npy
    ny info big
    prints "shards                4; missing: 2" "- shard 3             856 rows"
    mkdir big/shard-00002 && cp -r plain/* big/shard-00002
    ny -5 info big
    rm -r big/shard-00002 && cp -r big/shard-00001 big/shard-00002
    ny -5 info big
}

# bats file_tags=slow
@test "verbs that take one store are refused with the path of a shard" {
    stores big
    ny -2 merge big --name x -o x.nym
    ny -2 path big x --from 0 --to 1
    for shard in big/shard-*; do
        nystream graph $shard near --neighbors 5 -q
        nystream fit $shard own --landmarks 9 -q
    done
    ny -2 export big near --part neighbors -o n.npy
    ny -2 export big own -o o.npy
    usage "has no finished result" report big -o r.html
    place
    ny -0 report big -o r.html
    nystream eval big/shard-00000 map --clusters 3 -q >/dev/null
    ny -2 export big map --part clusters -o c.npy
    nystream eval big map --clusters 3 -q >/dev/null
    [ "$(shown "big map --part clusters" | wc -l)" = 7000 ]
}

# A sanitizer sees what is read of a store that the set has closed by then.
@test "the last of many shards is named where its model is another one" {
    for k in 0 1 2 3 4 5 6 7 8 9; do
        table 30 3 $((k + 1)) | nystream import many --shard $k/10 - --format csv -q
    done
    nystream fit many/shard-00000 fit --landmarks 9 --gamma 1 -q
    nystream export many/shard-00000 fit --part model -o many.nym -q
    for k in 0 1 2 3 4 5 6 7 8; do
        nystream fit many/shard-0000$k map --model many.nym -q
    done
    nystream fit many/shard-00009 map --landmarks 9 --gamma 1 -q
    ny -2 export many map -o e.npy
}

@test "verify, repair, compact and rm go through all shards" {
    stores big
    ny -0 verify big
    [ "$output" = ok ]
    place
    nystream export big/shard-00002 map -o e.npy -q
    spoil big/shard-00002/results/data.mdb e.npy 400
    ny -5 verify big
    prints "shard 2: rows 0 to 2047: "
    [[ $(nystream verify big --json 2>/dev/null) == *'"shard": 2'* ]]
    ny -5 export big map -o e.npy
    answers 0 "2048 rows of the embedding" export big map -o e.csv --skip-damaged
    [ "$(grep -vc nan e.csv)" = 4952 ]
    shows "result 'map': removed" repair big
    cp -r big hurt
    mv hurt/shard-00003 away
    truncate -s 5000 hurt/shard-00001/points/data.mdb
    answers 5 "shards of hurt that are not here are left out: 3" verify hurt
    shows "map	interrupted" list big
    nystream rm big map
    [ -z "$(nystream list big)" ]
    ny -2 rm big map
    ny -0 compact big
}

@test "rows that a shard has lost are imported again, as the messages say" {
    table 24576 20 >t.csv
    for k in 0 1 2; do
        sed -n "$((k * 8192 + 1)),$((k * 8192 + 8192))p" t.csv >t.$k.csv
        nystream import f --shard $k/3 t.$k.csv -q
    done
    nystream fit f map --landmarks 40 --components 3 -q
    nystream export f map -o before.npy -q
    nystream export f/shard-00001 --part points -o points.npy -q
    spoil f/shard-00001/points/data.mdb points.npy 70000
    ny -5 verify f
    prints "shard 1: block 0 (rows 0 to 8191): points of block 0: its checksum is wrong"
    ny -5 fit f other --landmarks 40 -q
    nystream repair f -q
    [ "$(field "$(nystream info f --json)" lost)" = 8192 ]
    ny -5 fit f other --landmarks 40 -q
    remove="remove its folder f/shard-00001 and import it again, with --shard 1/3"
    ny -2 import f --shard 1/3 t.1.csv
    rm -r f/shard-00001
    nystream import f --shard 1/3 t.1.csv -q
    nystream fit f map --landmarks 40 --components 3 -q
    writes before.npy "f map"
    nystream fit f other --landmarks 40 -q
    nystream verify f -q
}

# bats file_tags=
@test "verify counts a result once that is damaged in two shards" {
    stores big
    place
    for k in 0 2; do
        nystream export big/shard-0000$k map -o e.npy -q
        spoil big/shard-0000$k/results/data.mdb e.npy 400
    done
    ny -5 verify big --json
    fields results_damaged=1 rows_damaged=0
    ny verify big
    says "(pieces: 2, rows of points: 0, results: 1)"
}

# bats test_tags=slow
@test "a damaged block of one shard ends each fit, which names it" {
    table 20480 20 >t.csv
    for k in 0 1 2 3; do
        nystream import f --shard $k/4 t.csv -q
    done
    nystream export f/shard-00002 --part points -o points.npy -q
    spoil f/shard-00002/points/data.mdb points.npy 700000 # read by the plan, too
    for k in 1 2 3 4; do
        ny -5 fit f map --landmarks 500 --gamma 0.1 -q
    done
}

@test "rows that are no multiple of 2,048 are told" {
    nystream import big --shard 0/2 part.3.csv --label-column class -q
    nystream import big --shard 1/2 part.0.csv --label-column class -q
    shows "uneven shards         0 (rows not a multiple of 2,048)" info big
    [[ $(nystream info big --json) == *'"uneven": ['*0* ]]
}

@test "the file is not believed" {
    stores big
    cp big/shards good
    while read -r change; do
        sed -E "$change" good >big/shards
        ! cmp -s good big/shards || { echo "no change: $change" >&2 && return 1; }
        ny -5 info big
    done <<'END'
s/"format": 1/"format": 2/
s/"format": 1/"format": "1"/
s/"shards": 4/"shards": 0/
s/"shards": 4/"shards": 100001/
s/"shards": 4/"shards": 3/
s/"shards": 4/"shards": -4/
s/"shards": 4/"shards": 4e0/
s/"d": 3/"d": 0/
s/"d": 3/"d": 99999999999/
s/"dtype": "u8"/"dtype": "u9"/
s/"layout": "dense"/"layout": 7/
s/"values": "raw"/"values": "cooked"/
s/"labels": "words"/"labels": "numbers"/
s/"row_names": false/"row_names": 0/
s/"column_names": "/"column_names": "x/
s/"closed": false/"closed": null/
s/"fish"/"dog"/
s/"fish"/7/
s/"fish"/"fi\\u0000sh"/
s/"shard": 3/"shard": 4/
s/"shard": 3/"shard": 1/
s/"id": "[0-9a-f]/"id": "/
s/"rows": 856/"rows": -1/
s/"arrived"/"gone"/
s/^\{/[{/
1,20d
END
    : >big/shards
    ny -5 export big --part points -o p.npy
    rm big/shards && ln -s ../good big/shards
    ny -2 info big
}

# bats test_tags=slow
@test "one process has as many shards as several" {
    table 320 4 >rows.csv
    for ((i = 0; i < 40; i++)); do
        sed -n "$((8 * i + 1)),$((8 * i + 8))p" rows.csv >few.csv
        nystream import many --shard $i/40 few.csv -q
    done
    nystream fit many alone --landmarks 20 --components 2 -q
    together 2 fit many two --landmarks 20 --components 2 --peers folder:2:meet -q
    same_exports "many alone" "many two"
    nystream verify many -q
}
