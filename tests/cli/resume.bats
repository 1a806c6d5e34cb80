# Going on with what was interrupted: bare verbs, the command that a result remembers, the words that
# say it.
load helper

fit_options="--map pca --approx projected --landmarks 700 --select uniform --threads 1"

# begin STORE COMMAND…: runs a command that leaves a result in STORE, and stops it on its way.
begin() {
    local store=$1
    stopped_when '[[ $(nystream list "$store") == *running* ]]' TERM 143 "${@:2}" -q
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 40000 8 >big.csv
    nystream import "my store" big.csv -q
    begin "my store" nystream fit "my store" f $fit_options
    begin "my store" nystream graph "my store" g --neighbors 7 --metric cosine --threads 1
    begin "my store" nystream select "my store" d --select rpcholesky --landmarks 1200 --threads 1
}

setup() {
    own_folder || return
    cp -r "$BATS_FILE_TMPDIR/my store" .
}

# same_results NAME NAME: two results of the store have the same bytes.
same_results() {
    local name
    for name in "$@"; do nystream export "my store" "$name" -o "$name.npy" -q; done
    cmp "$1.npy" "$2.npy"
}

resume_f="nystream fit 'my store' f $fit_options -q"

# bats file_tags=slow
@test "a fit of listed columns goes on when the list is gone" {
    printf '6\n0\n3\n' > list
    begin "my store" nystream fit "my store" few $fit_options --features list
    nystream fit "my store" straight $fit_options --features list -q
    rm list
    ny -0 fit "my store" few --json
    fields features=list features_kept=3
    same_results few straight
    nystream export "my store" few --part features -o few.csv -q
    diff few.csv <(printf '0\n3\n6\n')
}

@test "fit STORE NAME without options goes on with the options it was begun with" {
    ny -0 fit "my store" f --json
    fields map=pca landmarks=700 status=done
    nystream fit "my store" straight $fit_options -q
    same_results f straight
    answers 0 "done already" fit "my store" f
    ny -0 fit "my store" f -q --memory 1G --threads 2 # options that change nothing
    silent
    ny -0 fit "my store" f --json
    [ "$(field "$output" landmarks)" = 700 ]
}

@test "graph and select without options go on as well" {
    ny -0 graph "my store" g --json
    fields neighbors_stored=7 metric=cosine
    answers 0 "done already" graph "my store" g
    ny -0 select "my store" d --json
    [ "$(field "$output" landmarks)" = 1200 ]
}

@test "a time limit alone goes on as well, if what is left is within it" {
    ny -8 fit "my store" f --time-limit 0.00001s
    [ "$(field "$(nystream info "my store" f --json)" status)" = interrupted ]
    ny -0 fit "my store" f --time-limit 1h --memory 1G --json
    fields landmarks=700 status=done
    answers 0 "'f' is done already" fit "my store" f --time-limit 1h
    [[ $stderr != *"with these options"* ]]
    ny -0 graph "my store" g --time-limit 1h --json
    [ "$(field "$output" neighbors_stored)" = 7 ]
    ny -2 fit "my store" d --time-limit 1h # a dictionary
    usage "landmarks: 700 → 20" fit "my store" f --time-limit 1h --landmarks 20
}

@test "the command that resumes names the store by the path that is given now" {
    local there="it's \\"
    mkdir "$there"
    cp -r "my store" "$there/copy"
    ny list "$there/copy"
    prints "resume with: ${resume_f/\'my store\'/"'it'\''s \\/copy'"}"
    ny info "$there/copy" f --json
    [[ $output == *"\"command\": \"$resume_f\""* ]] # made with: as it was typed
    (cd "$there" && eval "$(nystream list copy | sed -n 's/^f.*resume with: //p') -q")
    [ "$(field "$(nystream info "$there/copy" f --json)" status)" = done ]
    [ "$(field "$(nystream info "my store" f --json)" status)" = interrupted ]
    cp -r "my store" fit
    begin fit nystream fit fit fit $fit_options # neither the verb nor the name is the path
    mv fit moved
    shows "resume with: nystream fit moved fit $fit_options -q" info moved fit
}

# bats file_tags=
@test "an append that expects the rows of the store adds its own once" {
    store s 400 4
    table 100 4 2 >more.csv
    nystream import s more.csv --append --expect-rows 400 -q
    usage "s has 500 rows, but --expect-rows says 400; nothing was added" import s more.csv --append --expect-rows 400
    has s n=500
    nystream import s more.csv --append --expect-rows 500 -q # it is known by rows, not by the file
    has s n=600
    nystream import new more.csv --expect-rows 0 -q
}

@test "a missing NAME is made with the defaults" {
    store s
    ny -0 fit s new
    [ "$(field "$(nystream info s new --json)" landmarks)" = 300 ]
    nystream fit s same --landmarks 1000 -q
    same_exports "s new" "s same"
}

# bats test_tags=slow
@test "a map that is one of a graph by its options goes on as one" {
    begin "my store" nystream fit "my store" w --map diffusion --neighbors 9 --time 2 --threads 1
    ny -0 fit "my store" w --json
    fields map=diffusion status=done
    grep -q '"neighbors": 9' <<<"$output"
    nystream graph "my store" near --neighbors 9 -q
    begin "my store" nystream fit "my store" v --map diffusion --graph near --time 2 --threads 1
    ny -0 fit "my store" v -q
    same_results v w
}

@test "info, list and messages give the command that resumes, which works as it is printed" {
    ny info "my store" f --json
    [[ $output == *"\"resume\": \"$resume_f\""* ]]
    [[ $output == *"\"command\": \"$resume_f\""* ]]
    shows "resume with: $resume_f" info "my store" f
    ny list "my store"
    [ "$(grep ^f <<<"$output")" = "f	interrupted	resume with: $resume_f" ]
    ny list "my store" --json
    prints "{\"name\": \"f\", \"status\": \"interrupted\", \"resume\": \"$resume_f\", \"map\": \"pca\"}"
    ny -2 export "my store" f -o e.npy
    says "is not finished" "resume with: $resume_f"
    ny export "my store" g --part neighbors -o e.npy
    says "resume with: nystream graph 'my store' g --neighbors 7"
    eval "$(nystream list "my store" | sed -n 's/^f.*resume with: //p')"
    ny info "my store" f --json
    [[ $output == *'"resume": null'* ]]
    [[ $output == *"\"command\": \"$resume_f\""* ]]
    ny list "my store"
    [ "$(grep ^f <<<"$output")" = "f	done" ]
}

# bats file_tags=slow
@test "nobody is told to throw away what can be gone on with" {
    for words in "fit f --landmarks 20" "fit g" "graph f" "graph g --neighbors 5" "select f" "fit f --map kpca"; do
        set -- $words
        usage "resume with: nystream " "$1" "my store" "${@:2}"
        [[ $stderr != *--restart* ]]
    done
    nystream fit "my store" f -q
    ny -2 fit "my store" f --landmarks 20 # it is done: nothing to go on with
    says "--restart"
}

# interrupted_full: result a of the store s, whose --update full is ended on its way.
interrupted_full() {
    store s 40000 8
    nystream fit s a --landmarks 700 --select uniform --threads 1 -q
    table 3000 8 7 >more.csv
    nystream import s more.csv --append -q
    stopped_when 'has "s a" update=running 2>/dev/null' "$1" "$2" \
        nystream fit s a --update full --threads 1 -q
}

@test "an update that was interrupted is gone on with, and the result keeps its own command" {
    interrupted_full TERM 143
    shows "resume with: nystream fit s a --update full --threads 1 -q" info s a
    prints "made with             nystream fit s a --landmarks 700 --select uniform --threads 1 -q"
    nystream fit s a -q
    has "s a" n=43000
    [[ $output == *'"resume": null'* ]]
    [[ $output == *'"command": "nystream fit s a --landmarks 700'* ]]
}

@test "a full update that was killed is given up for a frozen one with a warning" {
    interrupted_full KILL 137
    ny -0 fit s a --update frozen --threads 1 -q
    has "s a" mode=frozen n=43000
    [[ $output == *'"resume": null'* ]]
    ny fit s a --update full --threads 1 -q # nothing new came, but these rows wait for it
    silent
    [ "$(field "$(nystream info s a --json)" mode)" = full ]
}

# bats file_tags=
@test "words that no terminal shows are kept as a shell reads them" {
    local odd=$'tab\there \xff'
    mv "my store" "$odd"
    ny -0 fit "$odd" other --landmarks 20 -q
    ny info "$odd" other --json
    [[ $output == *"\"command\": \"nystream fit \$'tab\\\\011here \\\\377' other --landmarks 20 -q\""* ]]
}

@test "--restart alone makes a result again with the options that it has" {
    store s 400 4
    nystream fit s a --map isomap --neighbors 8 --landmarks 40 -q
    table 100 4 2 | nystream import s - --append -q
    answers 0 "'a' is made again with the options it had" fit s a --restart
    has "s a" n=500
    [[ $(field "$output" command) == "nystream fit s a --map isomap --neighbors 8 --landmarks 40 -q" ]]
    nystream fit s b --map isomap --neighbors 8 --landmarks 40 -q
    same_exports "s a" "s b"
    nystream fit s a --restart --landmarks 50 -q # with an option it begins from the defaults
    [[ $(nystream info s a --json) == *'"map": "kpca"'* ]]
    nystream fit s near --map diffusion --neighbors 5 -q # as many as by default
    nystream export s near -o near.npy -q
    nystream fit s near --restart -q
    writes near.npy "s near"
    nystream graph s g --neighbors 7 -q
    nystream graph s g --restart -q
    [[ $(nystream info s g) == *"--neighbors 7"* ]]
    ny -2 fit s none --restart
    table 100 4 3 >few.csv
    ny -0 embed few.csv -o e.csv --restart # each call has a store of its own: nothing to be told
    [[ $stderr != *restart* ]]
}

# bats file_tags=slow
@test "what goes on says where" {
    answers 0 "'f' resumes in stage " fit "my store" f
    ny -0 fit "my store" f --restart
    [[ $stderr != *"resumes"* ]]
}

# interrupted_import KIB FILE OPTIONS…: an import of FILE into s, which ends where its file would be larger.
interrupted_import() {
    local code=0
    (
        ulimit -f "$1"
        exec nystream import s "$2" -q "${@:3}"
    ) 2>err || code=$?
    [ "$code" -eq 4 ]
    [[ $(nystream info s) == *"interrupted; run the same import again to resume it"* ]]
}

@test "an import that was interrupted is told, and goes on" {
    table 300000 6 >long.csv
    interrupted_import 6000 long.csv --memory 32M
    ny -3 fit s f
    nystream import s long.csv --memory 32M 2>err
    grep -q "resumes after [1-9]" err
    has s n=300000 import_status=null
}

@test "an import of a pipe starts over" {
    table 300000 6 >long.csv
    local code=0
    (ulimit -f 6000 && exec nystream import s - --memory 32M -q <long.csv) || code=$?
    [ "$code" -eq 4 ]
    ny -0 import s - --memory 32M <long.csv
    [[ $stderr != *"resumes after"* ]]
    nystream import wanted long.csv -q
    same_exports "s --part points" "wanted --part points"
}

@test "an import that goes on with more memory passes over no other rows" {
    awk 'BEGIN { for (j = 1; j < 10000; j++) rest = rest ",1"
        for (i = 0; i < 900; i++) print (i % 52 < 26 ? i : "nan") rest }' >t.csv # batches of 52 rows
    interrupted_import 16000 t.csv --nan drop --codec raw --memory 32M
    mv s begun
    nystream import wanted t.csv --nan drop -q
    for memory in 33 34 40 48; do # of other sizes
        cp -r begun s
        nystream import s t.csv --nan drop --codec raw --memory ${memory}M 2>err
        grep -q "resumes after [1-9]" err
        same_exports "s --part points" "wanted --part points"
        rm -r s
    done
}
