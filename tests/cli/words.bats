# Messages that no session of tests/cli/transcripts shows.
load helper

@test "with -v a plan and a fit say all of it" {
    store s 3000 6
    shows "dictionary " plan s --landmarks 100 -v
    ny fit s b --landmarks 100 -v
    says "dictionary " "by stage" "kernel width: gamma"
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
    ny list s
    [ -z "$output" ]
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

@test "what was written is told by its type" {
    store s 300 4
    nystream fit s a --landmarks 40 -q
    ny export s a --part landmarks -o l.npy
    says "l.npy: 40 uint64 (448 bytes)"
    ny export s a --part model -o m.nym
    says "m.nym: model ("
    ny embed s.csv -o f.npy --landmarks 20 --components 3 --precision f64
    says "f.npy: 300 x 3 float64 (7.33 kB)"
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
