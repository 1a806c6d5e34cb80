# Help, manual page and completions: written from the tables, so they must agree with them.
load helper

verbs=$(nystream help | sed -nE 's/^  ([a-z]+)  .*/\1/p')

options_of() {
    nystream help "$1" --all | sed -nE 's/^  (-., )?--([a-z0-9-]+).*/\2/p'
}

@test "help is on stdout, with exit 0, in all its spellings" {
    ny -0 --help
    whole=$output
    [ -z "$stderr" ]
    ny -0 help
    [ "$output" = "$whole" ]
    ny -h
    [ "$output" = "$whole" ]
    for verb in $verbs; do
        [[ $whole == *"  $verb "* ]]
        ny -0 help $verb
        [ -z "$stderr" ]
        whole_verb=$output
        [ "${lines[0]#usage: nystream "$verb"}" != "${lines[0]}" ]
        ny -0 $verb --help
        [ "$output" = "$whole_verb" ]
        ny -0 $verb some operands -h --unknown
        [ "$output" = "$whole_verb" ]
    done
}

@test "lines of help fit the screen; names of options and lines to copy are as they are" {
    for columns in 60 80; do
        for verb in $verbs; do COLUMNS=$columns nystream help $verb --all; done >help.txt
        run ! env LC_ALL=C.UTF-8 grep -E ".{$((columns + 1))}" <(grep -vE '^  nystream|^  -|^usage' help.txt)
    done
}

@test "the help of a verb fits a screen, in sections, and says how to see all" {
    for verb in $verbs; do
        for columns in 80 100; do
            COLUMNS=$columns ny -0 help $verb
            count=$(wc -l <<<"$output")
            [ $count -le 52 ] || { echo "$verb: $count lines" >&2; return 1; }
            prints "For example:"
        done
    done
    ny fit --help
    for section in Embedding Kernel Landmarks Neighbours Error Run Output; do
        grep -qx "$section:" <<<"$output"
    done
    [[ $output == *--landmarks* && $output != *--pilot* ]]
    prints "\`nystream help fit --all\` explains more"
    ny help fit --all
    whole=$output
    [[ $whole == *--pilot* && $whole != *"explains more"* ]]
    ny -0 fit s a --help --all
    [ "$output" = "$whole" ]
    shows "\`nystream help info --all\` explains more." info --help
    shows "effective rank" help info --all
    ny list --help
    [[ $output != *--all* ]]
}

# bats test_tags=slow
@test "an option in the help of a verb is taken by it, and no other" {
    for verb in import fit select transform export embed info; do
        for option in $(options_of $verb); do
            ny $verb --$option=
            [[ $stderr != *"unknown option"* && $stderr != *"is not an option of"* ]]
        done
    done
    for option in $(options_of fit); do
        [[ " $(options_of rm | tr '\n' ' ')" == *" $option "* ]] && continue
        usage "--$option is not an option of rm" rm --$option
    done
}

@test "no verb takes an option of another by a shared bit" {
    usage --labels plot s a --labels
    usage --terminal eval s a --terminal
}

# bats test_tags=slow
@test "the examples in the help of every verb run, one after another" {
    order="import plan fit select graph path eval transform export merge plot report info list verify
           repair embed rm truncate compact bench version help"
    [ "$(tr -s ' \n' '\n' <<<"$order" | sort)" = "$(sort <<<"$verbs")" ]
    (echo x,y,z,class && table 400 4 | awk -F, -v OFS=, '{$4 = NR % 3} 1') >table.csv
    (echo x,y,z,class && table 40 4 2 | awk -F, -v OFS=, '{$4 = NR % 3} 1') >more.csv
    table 20 3 3 >new.csv
    awk -F, -v OFS=, '{print NR % 3, NR % 5, NR % 7}' new.csv >counts.csv
    for verb in $order; do
        nystream help $verb | sed -n '/^For example:/,/^$/s/^  //p' >examples
        head -n 1 examples | grep -q "nystream $verb" || [[ $verb =~ ^(merge|repair)$ ]]
        nystream help $verb | head -n 24 | grep -qxF "  $(head -n 1 examples)"
        while read -r line; do
            echo "$line"
            bash -c "$line" </dev/null
        done <examples
    done
    [ -s embedding.npy ]
    [ -s placed.npy ]
    [ -s first.png ]
    [ -s report.html ]
    run ! nystream info points.nys second -q
}

@test "the manual page has its sections, every verb and option, and no warnings" {
    ny -0 help --man
    printf '%s\n' "$output" >nystream.1
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" MEMORY FILES ENVIRONMENT EXAMPLES; do
        grep -qx "\.SH $section" nystream.1
    done
    for verb in $verbs; do
        grep -q "^\.SS $verb" nystream.1
    done
    for word in landmarks tolerance kernel gamma append shuffle tmpdir memory output json; do
        grep -qF -- "\\-\\-${word}" nystream.1
    done
    for word in TMPDIR NYSTREAM_HDF5 NYSTREAM_MPI OPENBLAS_CORETYPE; do
        grep -qx $word nystream.1
    done
    grep -qx 143 nystream.1
    grep -B1 "^A second SIGHUP, SIGINT" nystream.1 | grep -qx .PP # not what exit code 143 means
    grep -B1 "^Parts of a result" nystream.1 | grep -qx .PP
    run ! grep -nP '[^\x00-\x7f]' nystream.1
    command -v groff >/dev/null || skip "groff is not installed"
    run -0 groff -ww -man -z nystream.1
    [ -z "$output" ]
}

@test "completion: verbs, options, their words, and the names of results" {
    nystream help --bash-completion >script
    bash -n script
    source ./script
    completes import nystream imp
    completes "--landmarks-file --landmarks-points --landmarks-from" nystream fit s a --landmarks-
    completes rbf nystream fit s a --kernel rb
    completes "landmarks landmark-points labels" nystream export s a --part l
    completes --no-affine nystream fit s a --no-a
    completes auto nystream fit s a --gamma '' # and not the G of G|auto
    completes "verify version" nystream help ver
    store s
    nystream graph s near --neighbors 3 -q
    completes near nystream path s n
    completes near nystream fit s third --landmarks-from ''
    nystream fit s first --landmarks 9 -q
    for words in "eval s" "rm s near" "report s" "fit s third --graph"; do
        completes "first near" nystream $words ""
    done
    HOME=$PWD completes near nystream path '~/s' n
    completes "" nystream path '$(touch there)' n
    [ ! -e there ]
    completes "" nystream fit s a --features '' # files, which the shell offers
    completes "" nystream export s near -o ''
}

@test "completion of zsh is that of bash" {
    nystream help --zsh-completion >_nystream
    [ "$(head -n 1 _nystream)" = "#compdef nystream" ]
    nystream help --bash-completion | while read -r line; do grep -qF -- "$line" _nystream; done
    command -v zsh >/dev/null || skip "zsh is not installed"
    zsh -n _nystream
}

# names_at INDENT: the names in JSON that stand so far to the right.
names_at() {
    sed -nE "s/^ {$1}\"name\": \"(.*)\",\$/\1/p" <<<"$output" | sort
}

@test "help --json has the verbs and options of help" {
    ny -0 help --json
    diff <(names_at 4) <(sort <<<"$verbs")
    for verb in fit export; do
        ny -0 help $verb --json
        diff <(names_at 8) <(options_of $verb | sort)
    done
    ny -2 help fot --json
    [[ $stderr == '{"error"'* ]]
}
