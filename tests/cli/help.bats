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

@test "lines of help fit the screen, lists of choices too; lines to copy are as they are" {
    for verb in $verbs; do
        for columns in 60 80; do
            COLUMNS=$columns ny -0 help $verb --all
            run ! env LC_ALL=C.UTF-8 grep -E ".{$((columns + 1))}" <(grep -vE '^  nystream|^usage' <<<"$output")
        done
    done
    COLUMNS=60 ny help fit
    prints "  --approx nystrom|column|orthonystrom|projected|ensemble|
      exact|randomized|gaussian
"
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
    ny info --help
    prints "\`nystream help info --all\` explains more."
    ny help info --all
    prints "effective rank"
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

@test "version" {
    ny -0 version
    [[ $output =~ ^nystream\ [0-9]+\.[0-9]+\.[0-9]+\ \(library\ [0-9.]+\)$ ]]
    local version=$output
    ny --version
    [ "$output" = "$version" ]
    ny version --json
    has_keys "$output" version library
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
    for word in NO_COLOR TMPDIR NYSTREAM_HDF5 NYSTREAM_MPI OPENBLAS_CORETYPE; do
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

@test "bash completion" {
    ny -0 help --bash-completion
    printf '%s\n' "$output" >nystream.bash
    bash -n nystream.bash
    complete_line() {
        bash -c 'source ./nystream.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nystream
                 printf "%s\n" "${COMPREPLY[@]}"' - "$@"
    }
    [ "$(complete_line nystream imp)" = import ]
    [ "$(complete_line nystream fit s a --landmarks-)" = "--landmarks-file
--landmarks-points
--landmarks-from" ]
    [ "$(complete_line nystream fit s a --kernel rb)" = rbf ]
    [ "$(complete_line nystream export s a --part l)" = "landmarks
landmark-points
labels" ]
    [ "$(complete_line nystream fit s a --no-a)" = --no-affine ]
    [ "$(complete_line nystream fit s a --gamma '')" = auto ] # and not the G of G|auto
    [ "$(complete_line nystream fit s a --no-p)" = --no-pilot ]
    [ "$(complete_line nystream help ver)" = "verify
version" ]
    store s
    nystream graph s near --neighbors 3 -q
    [ "$(complete_line nystream path s n)" = near ]
    nystream rm s near
    nystream fit s first --landmarks 10 -q
    [ "$(complete_line nystream export s fi)" = first ]
}

@test "bash completion of what a store or a table has, by its word with quotes and ~" {
    nystream help --bash-completion >script
    source ./script
    store "my store" 60 3
    nystream fit "my store" first --landmarks 9 -q
    printf 'width,class\n1,2\n' >"my rows.csv"
    completes first nystream export 'my\ store' fi
    completes first nystream export "'my store'" fi
    completes first nystream export '"my store"' fi
    completes class nystream import t 'my\ rows.csv' --label-column cl
    HOME=$PWD completes first nystream export '~/my\ store' fi
    completes "" nystream export '$(touch there)' fi
    [ ! -e there ]
}

@test "bash completion of files and folders, whose names may have blanks" {
    nystream help --bash-completion >script
    source ./script
    completes() { # WANTED WORD…: the last word is completed; answers are parted by |
        local wanted=$1 IFS='|'
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _nystream
        [ "${COMPREPLY[*]}" = "$wanted" ] || { echo "$*: ${COMPREPLY[*]}" >&2; return 1; }
    }
    mkdir "my store"
    touch "my rows.csv" "my model.nym"
    completes "my rows.csv" nystream import s "my r"
    completes "my store" nystream info my
    completes "my rows.csv" nystream transform s map --input "my r"
    completes "my model.nym" nystream fit s map --model "my m"
    completes "my model.nym" nystream fit s map --features "my m"
    completes "my rows.csv" nystream transform s map --clusters "my r"
    completes "my rows.csv" nystream import s my.csv --labels "my r"
    completes "" nystream eval s map --clusters "my r" # which is a number there
}

@test "zsh completion" {
    ny -0 help --zsh-completion
    [ "${lines[0]}" = "#compdef nystream" ]
    prints "'--kernel=[" ":kernel:("
    # A colon parts what _arguments takes; in a list of words it is written \:.
    prints ':rows:(none total\:S unit)' ':peers:(alone mpi folder\:PATH)' ':model:_files'
    prints 'local store=${(Q)words[3]}'
    printf '%s\n' "$output" >_nystream
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
