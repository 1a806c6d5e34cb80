# Each verb as a user meets it, to the letter: tests/cli/transcripts/VERB.txt is a session in an
# empty folder, with good cases and mistakes.
#
#     $ COMMAND     indented by four, as all that follows
#     TEXT          what it says on the standard output
#     ! TEXT        and on the standard error
#     [2]           its exit code where it is not 0
#
# Lines at the margin are prose. mask.sed makes # of what is never the same. After a change of what
# is said, or with a new command in a session, this writes them anew, to be read in `git diff`:
#
#     TRANSCRIPTS=write PATH=$PWD/build:$PATH bats tests/cli/transcripts.bats
# on disk
load helper

sessions=$BATS_TEST_DIRNAME/transcripts
verbs=$(nystream help | sed -nE 's/^  ([a-z]+)  .*/\1/p')

# Leaves in $said all that a command shows: lines of its standard output behind a byte 1, of the
# standard error behind a byte 2.
say() {
    local status=0 out err IFS=
    bash -c "$1" >../out 2>../err </dev/null || status=$?
    mapfile out <../out
    mapfile err <../err
    said="${out[*]/#/$'\1'}${err[*]/#/$'\2'}"
    [ $status -eq 0 ] || said+="    [$status]"$'\n'
}

# Masks and indents what commands have said; other lines are left alone.
mask() {
    sed -E -e '/^[\x01\x02]/!b; h; s/^.//' -f "$sessions/mask.sed" \
        -e 'x; s/^(.).*/\1/; G; s/^\x01\n(.)/    \1/; s/^\x01\n//; s/^\x02\n/    ! /'
}

# The session FILE as it goes now. (The trap is bats': it looks at each line that runs.)
play() (
    trap - DEBUG
    local line said last=start
    mkdir -p "$BATS_TEST_TMPDIR/$(basename "$1" .txt)/folder" && cd "$_" || exit
    export XDG_CACHE_HOME=$PWD/../cache
    while IFS= read -r line; do
        case $line in
        '    $ '*)
            [ $last != answer ] || echo
            echo "$line"
            say "${line#*$ }"
            last=command
            [ -z "$said" ] || { printf %s "$said"; last=answer; }
            ;;
        '    '* | '') ;; # as it went then
        *)
            [ $last = start ] || [ $last = prose ] || echo
            echo "$line"
            last=prose
            ;;
        esac
    done <"$1"
)

@test "each verb has a session, with a good case and a bad one" {
    for verb in $verbs; do
        awk -v verb="$verb" '
            function count() { if (mine) cases[status != ""]++; mine = 0; status = "" }
            /^    \$ / { count(); mine = index($0 " ", "nystream " verb " ") }
            /^    \[[0-9]+\]$/ { status = $1 }
            END { count(); exit !(cases[0] && cases[1]) }' "$sessions/$verb.txt" ||
            { echo "transcripts/$verb.txt lacks a good case or a bad one" >&2; return 1; }
    done
    [ "$(cd "$sessions" && printf '%s\n' *.txt)" = "$(sort <<<"${verbs// /$'\n'}" | sed 's/$/.txt/')" ]
}

# Plays the sessions of VERB… at once, and compares them.
as_written() {
    local verb wrong=
    [ $# -gt 0 ]
    for verb; do
        play "$sessions/$verb.txt" 2>&1 3>&- | mask >$verb.now 3>&- &
    done
    wait
    for verb; do
        [ "${TRANSCRIPTS-}" != write ] || cp $verb.now "$sessions/$verb.txt"
        diff -u --label "transcripts/$verb.txt" --label "$verb, now" "$sessions/$verb.txt" $verb.now \
            >&2 || wrong+=" $verb"
    done
    [ -z "$wrong" ]
}

@test "what each command of the sessions says, and its exit code, to the letter" {
    as_written $(grep -vx bench <<<"$verbs")
}

# bats test_tags=slow
@test "what bench says, to the letter" {
    as_written bench
}
