# Tests the messages: by default the place of the result, one line of plan, and no technical terms;
# more with -v, none with -q.
load helper

@test "verbs that write a file end with its name and shape" {
    store s 300 4
    nystream fit s a --landmarks 40 -q
    ny -0 export s a -o e.npy
    says "e.npy: 300 x 2 float32 (2.53 kB)"
    ny export s a --part landmarks -o l.npy
    says "l.npy: 40 uint64 (448 bytes)"
    ny export s a --part eigenvalues -o v.csv
    says "v.csv: 2 numbers"
    ny export s a --part model -o m.nym
    says "m.nym: model ("
    ny -0 transform s a --input s.csv -o t.csv
    says "t.csv: 300 x 2 ("
    ny transform m.nym --input s.csv -o t.npy
    says "t.npy: 300 x 2 float32"
    ny plot s a -o p.png --size 640x480
    says "p.png: 640 x 480 pixels ("
    ny report s -o r.html
    says "r.html: report ("
    ny -0 embed s.csv -o f.npy --landmarks 20 --components 3 --precision f64
    [[ $(tail -n 1 <<<"$stderr") == "nystream: f.npy: 300 x 3 float64 (7.33 kB)" ]]
    ny export s a -o e.npy -q
    silent
    ny embed s.csv -o f.npy --landmarks 20 -q
    silent
    nystream export s a -o - 2>err >e.npy # no file is named
    [ ! -s err ]
}

@test "a fit says its plan in one line, with -v in all" {
    store s 3000 6
    ny -0 fit s a --landmarks 100
    [ "$(grep -c "^nystream: plan: . passes plus landmark selection, " <<<"$stderr")" -eq 1 ]
    for word in gram tiles dictionary accumulate "made again" "kernel width"; do
        [[ ${stderr,,} != *"$word"* ]] || { echo "$word" >&2; return 1; }
    done
    ny -0 graph s g
    [ "$(grep -c "^nystream: plan: " <<<"$stderr")" -eq 1 ]
    ny plan s --landmarks 100
    [[ $output != *dictionary* ]]
    ny plan s --landmarks 100 -v
    prints "dictionary "
    ny fit s b --landmarks 100 -v
    says "dictionary " "by stage" "kernel width: gamma"
    ny fit s c --landmarks 100 --map svd -q
    silent
}

@test "rm takes several names, and removes the others where one is wrong" {
    store s 50 3
    for name in a b c d; do
        nystream fit s $name --landmarks 9 -q
    done
    ny -0 rm s a b -q
    ny list s
    [ "$output" = $'c\tdone\nd\tdone' ]
    ny -2 rm s c nothing d
    says "nothing"
    ny list s
    [ -z "$output" ]
}

@test "figures that lack for one reason are one line" {
    store s 120 3
    nystream fit s a --landmarks 30 -q
    nystream fit s b --landmarks 40 -q
    ny -0 eval s a b
    prints "no clusters, inertia, variance between, silhouette, purity, "
    [ "$(grep -c "^no .*the store has no labels" <<<"$output")" -le 2 ]
    [[ $output != *"no "*" of "*"no labels"* ]] # both lack them: no names
    [[ $output != *knn_error* ]]
    man=$(nystream help --man)
    [[ $man == *$'.IP \\(bu 2\npurity: '* ]]
}

# bats test_tags=slow
@test "a line that does not fit the budget is answered with one that does, or that none does" {
    # 4 MB and 44 MB in one line
    head -c 2000000 /dev/zero | tr '\0' 1 | sed 's/./1,/g' | tr -d '\n' >line
    { cat line; echo 1; cat line; echo 2; } >wide.csv
    ny -8 import w wide.csv --memory 32M --header no
    [[ $stderr =~ give\ --memory\ ([0-9]+M) ]]
    ny -0 import w wide.csv --memory "${BASH_REMATCH[1]}" --header no -q
    for i in 1 2 3 4 5 6 7 8 9 10 11; do cat line; done >endless.csv
    ny -3 import e endless.csv --memory 32M --header no
}

@test "a tolerance that one landmark meets is warned of" {
    store s 600 4
    ny -0 fit s a --select greedy --tolerance 1.99 --landmarks 300 -q
    says "one landmark up to --tolerance 1.99 leaves" "give a smaller --tolerance"
    ny select s d --select greedy --tolerance 1.99 -q
    says "one landmark is enough for --tolerance 1.99"
    ny fit s b --select greedy --tolerance 0.1 -q
    silent
}

@test "results complete after every verb that takes them, and values of options" {
    store s 60 3
    nystream fit s first --landmarks 9 -q
    nystream fit s second --landmarks 9 -q
    printf 'width,class\n1,2\n' >named.csv
    nystream help --bash-completion >script
    source ./script
    completes "first second" nystream eval s ""
    completes "second" nystream eval s first sec
    completes "second" nystream rm s first se
    completes "first second" nystream report s first ""
    completes "first" nystream fit s third --landmarks-from fi
    completes "first second" nystream fit s third --graph ""
    completes "density" nystream plot s first --color den
    completes "class" nystream import t named.csv --label-column cl
    completes "s" nystream export s
}

@test "the speed of an import is that of the rows it adds" {
    npy_u8 60000 100 >all.npy
    npy_u8 2 100 >two.npy
    ny import s all.npy --json
    [ "$(field "$output" bytes_added)" = 6000000 ]
    ny -0 import s two.npy --append
    [[ $stderr == *"2 rows of 100 columns imported in"*"; the store has "* ]]
    [[ $stderr =~ \(([0-9.]+)\ (k?B)/s\) ]]
    ny import s two.npy --append --json
    [ "$(field "$output" bytes_added)" = 200 ]
    [ "$(field "$output" bytes)" = 6000400 ]
}

@test "one of a thing is not told as several" {
    printf '1,2\n' >one.csv
    printf 'id\na\nb\n' >ids.csv
    ny import ids ids.csv --id-column 1
    store s 40 1
    ny fit s a --landmarks 1 --components 2
    says "needs more landmarks than 1"
    ny import s one.csv --append
    says "has 2 columns of points, but the store has 1"
}

@test "the graph of a result is told in words, and names with blanks are told apart" {
    { echo 'how warm,b,c'; table 60 3; } >t.csv
    nystream import s t.csv -q
    nystream graph s g --neighbors 4 --connect -q 2>/dev/null
    nystream fit s i --map isomap --graph g --landmarks 12 -q
    ny info s
    [[ $output == *"names of columns      how warm, b, c"* ]]
    ny info s i
    line=$(grep '^graph ' <<<"$output")
    [[ $line == *", largest component 60, share in largest 1, "* ]]
    [[ $line == *", neighbours 4, "* ]]
    [[ $line != *_* ]]
    [[ $line != *sweep* ]]
}

@test "the first names of rows and of columns are told from all" {
    { echo 'id,a,b,c,d,e,f,g'; table 9 7 | sed 's/^/r,/' | awk '{ sub(/^r/, "r" NR); print }'; } >t.csv
    nystream import s t.csv --id-column id -q
    ny info s
    [[ $output == *"names of rows         r1 r2 r3 r4 r5 … (9 in all)"* ]]
    [[ $output == *"names of columns      a b c d e … (7 in all)"* ]]
}

@test "on a terminal, facts are wrapped behind their labels; a command is not" {
    need_terminal
    store s 300 4
    nystream fit s a --landmarks 40 --certify --probe 8 -q
    script -qec "stty cols 64 rows 24; nystream info s a" /dev/null </dev/null | tr -d '\r' >seen
    grep -q '^made with  *nystream fit s a ' seen
    [ "$(grep -v '^made with' seen | awk '{if (length > n) n = length} END {print n}')" -le 64 ]
    grep -qE '^ {22}[a-z]+' seen
    run ! grep -qE '(^ +(ms|s|MiB)\b|[0-9]$)' <(grep -A3 -E '^(stages|reserved)' seen | grep -B1 '^  ')
    nystream info s a >plain # in a file, each has one line
    tr -s ' \n' ' ' <seen | cmp - <(tr -s ' \n' ' ' <plain)
}

# bats test_tags=slow
@test "the bar of progress stays in its place while numbers grow" {
    need_terminal
    npy_u8 60000 100 >rows.npy
    nystream import s rows.npy -q
    script -qec "stty cols 110 rows 24; NO_COLOR=1 nystream fit s a --landmarks 2000" /dev/null </dev/null |
        tr '\r' '\n' | grep -aE '^accumulate \[.* rows/s .* GF/s' >lines
    [ "$(wc -l <lines)" -ge 2 ]
    [ "$(awk '{print index($0, "]")}' lines | sort -u | wc -l)" -eq 1 ]
}

@test "counts of rows have separators, and numbers of rows, which options take, have none" {
    store s 3000 2
    table 2500 2 5 >more.csv
    ny import s more.csv --append
    says "2,500 rows of 2 columns imported"
    ny info s
    prints "rows                  5,500" "- rows 3000 to 5499, "
    { table 1500 2; echo 900,900; table 600 2 7; } | nystream import far - --format csv -q
    ny fit far a --gamma 0.1 --landmarks 10 --certify --select uniform
    says "2,101 rows in 2 components" "the first of them row 1500"
}
