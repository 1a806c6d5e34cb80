# Shared by the tests of options: a folder of files and stores that each command finds unchanged,
# and a record of all that a command shows.
load helper

# points COUNT [SEED]: prints rows of a, b, c, d and class.
points() {
    echo a,b,c,d,class
    table "$1" 5 "${2-1}" | awk -F, -v OFS=, '{ $5 = NR % 3 } 1'
}

files() {
    points 150 >t.csv
    tail -n +2 t.csv | cut -d, -f1-4 >new.csv
    (cat new.csv; echo nan,1,1,1) >nan.csv
    sed 's|,|;|g; 1s|.*|0.5;1.5;2.5;3.5|' new.csv >halves.csv
    awk -F, '{ print NR % 3, "1:" $1, "4:" $4 }' new.csv >new.svm
    awk -F, '{ print NR % 3, "1:" $1, "5:" $4 }' new.csv >wide.svm
    printf '%s\n' a b c d e >names.txt
    awk 'BEGIN {
        print "%%MatrixMarket matrix coordinate real general\n4 4 16"
        for (k = 0; k < 16; k++) print int(k / 4) + 1, k % 4 + 1, k * k % 23 / 23
    }' >new.mtx
    yes 1,2,3 | head -n 400 >same.csv
    awk '{ print NR % 2 }' new.csv >labels.txt
    seq 3 7 100 >rows.csv
    seq 0 149 | awk '{ print $1, ($1 + 1) % 150, $1 % 7 }' >ring.txt
    head -n 9 new.csv >few.csv
    awk '{ for (j = 1; j <= 14; j++) printf "%s%s", (NR * j) % 11, j < 14 ? "," : "\n" }' new.csv \
        >columns.csv
}

# s: results f, other (of another seed), whole (without landmarks), a dictionary d, a graph g, and
# the sums of summed; f.nym is the model of f.
# Each with a result f: bare has no labels, grown has rows that f does not know, in hurt f is
# damaged, in far a row lies far from the others.
stores() {
    nystream import s t.csv --label-column class -q
    nystream fit s f --landmarks 9 -q
    nystream import counted columns.csv --values log1p -q
    nystream fit counted f --landmarks 9 -q
    nystream import bare new.csv -q
    nystream fit bare f --landmarks 9 -q
    cp -r s grown
    nystream import grown t.csv --label-column class --append -q
    cp -r s hurt
    nystream export s f -o f.npy
    spoil hurt/results/data.mdb f.npy 400
    nystream fit s summed --landmarks-points few.csv --gamma 0.5 --until sums -q
    nystream export s f --part model -o f.nym -q
    (table 3000 2; echo 99,99) | nystream import far - -q
    nystream fit far f --map pca --approx exact -q
    nystream fit s other --landmarks 9 --seed 4 --components 3 -q
    nystream fit s whole --approx randomized -q
    nystream select s d --landmarks 12 -q
    nystream graph s g --neighbors 7 --connect -q
}

# OpenBLAS starts threads that are not needed here, and wait by spinning.
setup_file() {
    file_folder || return
    export OPENBLAS_NUM_THREADS=1
    mkdir files && cd files || return
    files
    stores
}

options_of() {
    nystream help "$1" --all | sed -nE 's/^  (-., )?--([a-z0-9-]+).*/\2/p'
}

# Prints, of a store that a command has made or changed, its points, and the parts and figures of
# the result.
contents() {
    case $1 in
    import)
        nystream select "$2" all --select all -q
        nystream export "$2" all --part source -o - >o.source
        nystream info "$2" --json >report
        ;;
    fit) nystream export "$2" "$3" -o - >o.embedding ;;&
    fit | select) nystream export "$2" "$3" --part landmarks -o - >o.landmarks ;;&
    graph) nystream export "$2" "$3" --part neighbors -o - >o.neighbors ;;&
    fit | graph) nystream info "$2" "$3" --json >report ;;
    embed) nystream "$@" --json >report ;;
    esac 2>/dev/null
    [ ! -e report ] || grep -E "\"($figures)\":" report
}

figures="n|d|dtype|layout|labels|mean_norm|compressed_bytes|trace_error|residual_max|probe_error"
figures+="|passes|check_rows|edges|components|trees|recall"

# see COMMAND…: prints its exit code, its messages, and the contents of the files and the store that
# it makes, but not its time and memory, which are never the same.
see() (
    set +e
    mkdir work.$BASHPID && cd work.$BASHPID && ln -s "$files"/*.* . || exit
    [ ! -d "$files/$2" ] || cp -r "$files/$2" .
    nystream "$@" >out 2>err </dev/null
    echo "exit $?"
    sed -E '/^(time|by stage|peak memory) /d; s/ of [0-9.]+ GiB//; s/ imported in .*/ imported/
            s/(took ).* at most [0-9.]+ [KMG]iB/\1/' out err
    [[ " $* " != *" --quiet "* ]] || contents "$@"
    cksum o.* 2>/dev/null
    rm -r "$PWD"
)

# look WHICH COMMAND: runs `see`, in the background, into the file $WHICH.N, N=${number[COMMAND]}.
look() {
    number[$2]=${number[$2]-${#number[@]}}
    [ ! -e "$seen/$1.${number[$2]}" ] || return 0
    ((++running <= 4)) || wait -n
    : >"$seen/$1.${number[$2]}"
    eval "see $2" >"$seen/$1.${number[$2]}" 3>&- &
}

# Splits a row into $option, $command and the $whole; $refused: words of the refusal, where a row has
# "!": those behind it, or else the option.
split() {
    local added
    IFS='|' read -r option command added <<<"$1"
    option=${option// /} refused=
    [[ $added != *" !"* ]] || refused=${added##*" !"} added=${added% !*} refused=${refused# } refused=${refused:---$option}
    whole="$command $added"
    [[ $added == *" --"?(no-)$option* || $added == " -${option::1} "* ]] ||
        { echo "the case of --$option changes something else: $whole" >&2; return 1; }
}

# A row is a case: an option | a command | what is added to it, with that option. Then what is seen
# differs from what is seen of the command alone, which is the same each time; or, where " !"
# follows, it is refused with words of the option, or of what follows. Each finds the folder as files() and stores() made it.
# Arguments are added to all commands. (The trap is bats': it looks at each line that runs.)
acts() (
    trap - DEBUG
    local rows row option command whole refused seen running=0 base changed bad=
    local -A number=()
    local files=$BATS_FILE_TMPDIR/files
    seen=$(mktemp -d -p .)
    mapfile -t rows < <(sed "s/ *|/ $* |/2")
    for row in "${rows[@]}"; do
        split "$row"
        look first "$whole"
        [ -n "$refused" ] || { look first "$command" && look again "$command"; }
    done
    wait
    for row in "${rows[@]}"; do
        split "$row"
        changed=$(<"$seen/first.${number[$whole]}")
        if [ -n "$refused" ]; then
            [[ $changed != "exit 0"* && $changed == *"$refused"* ]] && continue
            echo "not refused: $whole: $changed" >&2
            bad=yes
            continue
        fi
        base=$seen/first.${number[$command]}
        diff $base ${base/first/again} >&2 || { echo "never the same: $command" >&2; return 1; }
        [ "$changed" != "$(<"$base")" ] || { echo "--$option is ignored: $whole" >&2; return 1; }
        [[ $changed == "exit 0"* ]] || { echo "fails: $whole: $changed" >&2; return 1; }
    done
    [ -z "$bad" ]
)
