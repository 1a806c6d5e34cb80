# Results are those of the last release: the build under test makes the same numbers on this machine,
# and it goes on where the other stopped.
#
# CASES=REGEX tries only the cases of same.txt, and the jobs below, that match. KEEP=FOLDER keeps
# the folders `old` and `new` of each case that failed.
load helper

before=v1.1.1

setup_file() {
    local top=$BATS_TEST_DIRNAME/../..
    without=''
    [ -z "${NYSTREAM_SANITIZER-}" ] || without="an instrumented build is not the same"
    git -C "$top" cat-file -e $before 2>/dev/null || without="no history here"
    export without
    [ -z "$without" ] || return 0
    file_folder || return
    export OPENBLAS_NUM_THREADS=1
    git -C "$top" worktree add -q --detach "$PWD/source" $before
    make -C source -s -j2 BUILD="$PWD/built" all >log 2>&1 || { tail log >&2; return 1; }
    commands old built source
    commands new "$NYSTREAM_BUILD" "$top"
    by old nystream bench >bench.txt # once, not a part of it in each fit
    mkdir files stores
    (cd files && files)
    (cd stores && by old stores)
}

teardown_file() {
    [ ! -d "$BATS_FILE_TMPDIR/source" ] ||
        git -C "$BATS_TEST_DIRNAME" worktree remove --force "$BATS_FILE_TMPDIR/source"
}

# commands WHICH BUILD SOURCE: makes the folder of what `by WHICH` runs.
commands() {
    mkdir -p "commands/$1"
    ln -s "$(realpath "$2/nystream")" "commands/$1/nystream"
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$3/include" -o "commands/$1/break_job" \
        "$BATS_TEST_DIRNAME/../golden/break_job.c" "$2/libnystream.a" \
        $(pkg-config --libs lmdb openblas lapacke liblz4 libxxhash zlib jansson cairo) -lm -lpthread
}

# by old|new COMMAND…
by() {
    local PATH=$BATS_FILE_TMPDIR/commands/$1:$PATH
    "${@:2}"
}

# ---- what cases find --------------------------------------------------------------------------

# roll ROWS: a rolled-up strip in three whole numbers and a class.
roll() {
    awk -v n="$1" 'BEGIN {
        print "x,y,z,class"
        for (i = 0; i < n; i++) {
            u = i * 0.6180339887498949; u -= int(u); v = i * 0.7548776662466927; v -= int(v)
            t = 4 + 9 * u
            printf "%d,%d,%d,%s\n", 600 + 40 * t * cos(t), 600 + 40 * t * sin(t), 400 * v,
                   u < 0.3 ? "inner" : u < 0.7 ? "middle" : "outer"
        }
    }'
}

# digits ROWS: images of 8 x 8 bytes, a spot that wanders.
digits() {
    awk -v n="$1" 'BEGIN {
        for (r = 0; r < n; r++) {
            a = r * 0.6180339887498949; a = 1 + 6 * (a - int(a))
            b = r * 0.7548776662466927; b = 1 + 6 * (b - int(b))
            for (i = 0; i < 8; i++) for (j = 0; j < 8; j++)
                printf "%d%s", 255 * exp(-((i - a) ^ 2 + (j - b) ^ 2) / (2 + r % 3)),
                       i * j < 49 ? "," : "\n"
        }
    }'
}

# text ROWS FROM: rows of some counts among 500 columns, with a class.
text() {
    awk -v n="$1" -v from="$2" 'BEGIN {
        for (r = from; r < from + n; r++) {
            printf "%d", r % 4
            for (j = 1 + r % 29; j <= 500; j += 1 + (r * 7 + j * j) % (40 + 30 * (r % 4)))
                printf " %d:%d", j, 1 + (r * j) % 9
            print ""
        }
    }'
}

files() {
    roll 2100 >roll.csv
    head -n 302 roll.csv >few.csv
    head -n 562 roll.csv >smooth.csv
    roll 2500 | sed 2,2101d >more.csv
    digits 900 >digits.csv
    { table 1300 40; table 20 40; } >wide.csv # some rows are there twice
    table 700 5 3 >fine.csv
    text 800 0 >text.svm
    text 150 800 >more.svm
    { head -n 200 fine.csv; echo nan,1,1,1,1; echo 1,1,inf,1,1; } >nan.csv
    table 70000 3 5 >long.csv
    gzip -n <long.csv >long.csv.gz
    table 3000 3 9 >more3.csv
    awk '{print NR % 3}' fine.csv >labels.txt
    seq 3 7 290 >rows.csv
    awk 'BEGIN {for (i = 0; i < 2100; i++) print i, (i * 7 + 1) % 2100, 1 + i % 5}' >edges.txt
    awk 'BEGIN {for (i = 0; i < 150000; i++) print i % 7 "," i % 4 ",1,0,0,0,9,9"}' >counted.csv
    # Points of small whole numbers, twelve landmarks, and the columns of the linear kernel.
    awk 'BEGIN {for (i = 0; i < 300; i++)
        printf "%d,%d,%d\n", (i * 37) % 11 - 5, (i * i) % 9 - 4, (i * 7) % 13 - 6}' >x.csv
    table 30 3 7 >points.csv
    seq 5 24 290 | head -n 12 >d.csv
    awk -F, 'NR == FNR {row[m++] = $1; next} {x[FNR - 1] = $1; y[FNR - 1] = $2; z[FNR - 1] = $3}
        END {for (i = 0; i < FNR; i++) for (j = 0; j < m; j++) {
            k = row[j]
            printf "%d%s", x[i] * x[k] + y[i] * y[k] + z[i] * z[k], j < m - 1 ? "," : "\n"
        }}' d.csv x.csv >c.csv
}

stores() {
    local name f=../files options
    for name in roll few smooth; do
        nystream import $name $f/$name.csv --dtype i16 --label-column class -q
    done
    nystream import digits $f/digits.csv --dtype u8 -q
    nystream import wide $f/wide.csv --dtype f32 -q
    nystream import fine $f/fine.csv --dtype f64 -q
    nystream import text $f/text.svm -q
    nystream import counts $f/text.svm --dtype u8 -q
    nystream import countsdense $f/text.svm --dtype u8 --layout dense -q
    for name in words/i16 doubles/f64; do
        nystream import ${name%/*} $f/digits.csv --dtype ${name#*/} -q
    done
    nystream import long $f/long.csv --dtype f32 -q
    nystream import s12 $f/x.csv -q
    head -n 100 $f/counted.csv | nystream import base - --dtype u8 --header no -q
    cp -r roll solved
    while read -r name options; do
        nystream fit solved $name $options --memory 256M -q
    done <<'ROWS'
a       --landmarks 20 --gamma 1e-5 --certify
nys     --approx nystrom --landmarks 20 --precision f64
krylov  --inner randomized --landmarks 60 --components 3
scatter --map pca --approx exact
lap     --map laplacian --landmarks 20 --probe 20
dif     --map diffusion --landmarks 20 --time 2
greedy  --select greedy --tolerance 0.3
ens     --approx ensemble --landmarks 60 --experts 3
iso     --map isomap --landmarks 25 --neighbors 6
eig     --map eigenmaps --neighbors 6
gdif    --map diffusion --neighbors 6
ROWS
    nystream graph solved g --neighbors 5 -q
    nystream select solved d --landmarks 15 -q
    cp -r digits pictures
    nystream fit pictures a --landmarks 20 --memory 256M -q
    cp -r long cloud
    nystream fit cloud a --landmarks 20 --memory 256M -q
}

# The stores that words name come into the working folder, as do all files.
fetch() {
    local word
    ln -s "$BATS_FILE_TMPDIR"/files/* .
    for word; do
        [ ! -d "$BATS_FILE_TMPDIR/stores/$word" ] || cp -r "$BATS_FILE_TMPDIR/stores/$word" .
    done
}

# ---- what is seen -----------------------------------------------------------------------------

# see STORE NAME: all parts of a result but its model, which has more to tell now, in files of the
# working folder.
see() {
    local part
    for part in ${parts//model/}; do
        nystream export "$1" "$2" --part "$part" -o - >"$2.$part" 2>/dev/null || rm "$2.$part"
    done
}

# Completes $words by what calls of a verb have in all cases that do not say another one.
complete() {
    case ${words[0]} in import | fit | select | graph | transform | eval | plan | embed | verify)
        [[ " ${words[*]} " == *" --threads "* ]] || words+=(--threads 1) ;;
    esac
    case ${words[0]} in fit | select | graph | eval | plan | embed)
        [[ " ${words[*]} " == *" --memory "* ]] || words+=(--memory 256M) ;;
    esac
    case ${words[0]} in import | fit | select | graph | transform) words+=(--quiet) ;; esac
}

# play CASE: runs it, and leaves files of all that is to be seen of it in the working folder.
play() {
    local calls call words number=0 code refused seen='' store
    fetch $1
    IFS=';' read -ra calls <<<"$1"
    for call in "${calls[@]}"; do
        number=$((number + 1)) code=0 refused=no
        read -ra words <<<"$call"
        [ "${words[0]}" != ! ] || { refused=yes; words=("${words[@]:1}"); }
        complete
        nystream "${words[@]}" >/dev/null 2>said </dev/null || code=$?
        echo "exit $code" >call$number
        [ $refused = "$([ $code -eq 0 ] && echo no || echo yes)" ] ||
            echo "exit $code: $(head -n 1 said)" >>unexpected
        case ${words[0]} in fit | select | graph)
            [[ $seen == *" ${words[1]}/${words[2]} "* ]] || seen+=" ${words[1]}/${words[2]} " ;;
        esac
    done
    for store in $seen; do
        see "${store%/*}" "${store#*/}"
    done
    rm -rf ./*/ said ./*.{nym,svg,html,png,pdf}
    find . -type l -delete
}

# differences OLD NEW [FILE…]: a line for each file that is not the same in both folders.
differences() {
    local file names=("${@:3}")
    [ $# -gt 2 ] || mapfile -t names < <(find "$1" "$2" -type f -printf '%P\n' | sort -u)
    for file in "${names[@]}"; do
        ! cmp -s "$1/$file" "$2/$file" || continue
        if [ ! -e "$1/$file" ] || [ ! -e "$2/$file" ]; then
            echo "$file is there only once"
        elif grep -qIv '[^ -~]' "$1/$file" && grep -qI . "$2/$file"; then
            echo "$file:" "$(diff "$1/$file" "$2/$file" | grep '^[<>]' | head -n 4 | cut -c1-200)"
        else
            echo "$file: $(cmp "$1/$file" "$2/$file" 2>&1 | sed 's/.* differ: //')"
        fi
    done
}

# tell FOLDER CASE WHAT: a case failed. The folder is kept where that is asked for.
tell() {
    echo "$2: ${3//$'\n'/ }" >&2
    failed=$((failed + 1))
    [ -n "${KEEP-}" ] || return 0
    mkdir -p "$KEEP"
    rm -rf "${KEEP:?}/$failed"
    cp -r "$1" "$KEEP/$failed"
}

# counts NUMBER FAILED LEAST: the last words of a test.
counts() {
    [ "$2" -eq 0 ] || { echo "$2 of $1 cases failed" >&2; return 1; }
    [ -z "${CASES-}" ] || set -- "$1" "$2" 0
    [ "$1" -ge "$3" ] || { echo "only $1 cases" >&2; return 1; }
    echo "# counted: $1 cases compared with $before" >&3
}

# Each test begins with the parts that export knows.
begin() {
    [ -z "$without" ] || skip "$without"
    parts=$(by old nystream help export --all | sed -n '/^Parts:/,$p' | sed 's/Parts://; s/,//g')
    parts=$(xargs <<<"$parts")
    [ "$(wc -w <<<"$parts")" -ge 13 ]
}

# ---- cases ------------------------------------------------------------------------------------

# The cases of same.txt, one a line.
cases() {
    awk '
        function expand(line, head, tail, count, i, word) {
            if (!match(line, /\{[^}]*\}/)) {
                gsub(/\001/, ",", line); gsub(/ +/, " ", line); print line
                return
            }
            head = substr(line, 1, RSTART - 1); tail = substr(line, RSTART + RLENGTH)
            count = split(substr(line, RSTART + 1, RLENGTH - 2), word, ",")
            for (i = 1; i <= count; i++) expand(head word[i] tail)
        }
        /^#/ || !NF { next }
        { gsub(/\\,/, "\001") }
        /^ / { whole = whole $0; next }
        { if (whole) expand(whole); whole = $0 }
        END { if (whole) expand(whole) }' "$BATS_TEST_DIRNAME/same.txt"
}

compared() (
    trap - DEBUG
    local number=0 failed=0 row build what
    while read -r row; do
        number=$((number + 1))
        rm -rf both
        mkdir -p both/old both/new
        for build in old new; do
            (set +e; cd both/$build && by $build play "$row") 3>&- &
        done
        wait
        what=$(cat both/old/unexpected 2>/dev/null; differences both/old both/new)
        [ -s both/old/call1 ] || what+=" nothing was run"
        [ -z "$what" ] || tell both "$row" "$what"
    done < <(cases | grep -E -- "${CASES-}")
    counts $number $failed 150
)

@test "every case gives what it gave" {
    begin
    compared
}

@test "every option of a fit, a selection, a graph and a measure that chooses numbers is in a case" {
    local verb option missing='' others=' leaf until peers peers-wait time-limit csv clusters-to '
    begin
    cases >cases
    for verb in fit select graph eval; do
        for option in $(by old nystream help $verb --all | sed -nE 's/^  --([a-z0-9-]+).*/\1/p'); do
            [[ $others != *" $option "* ]] || continue
            grep -q -- " --$option\b" cases || missing+=" $verb --$option"
        done
    done
    [ -z "$missing" ] || { echo "no case of$missing" >&2; return 1; }
}

# ---- interruptions ----------------------------------------------------------------------------

# Jobs, as break_job takes them; stages in which they have to be interrupted, "update" that of any
# update; what is called before. There is nothing to compare in a stage with "!", from which the
# last release crashes when it goes on, nor by a bare call where "!bare" says that it refuses one.
jobs_broken() {
    cat <<'END'
fit roll a landmarks 20 gamma 1e-5 | select accumulate project
fit roll a landmarks 24 certify yes precision f64 | select accumulate
fit roll a approx nystrom landmarks 20 | select project
fit roll a approx column landmarks 16 probe 200 | accumulate probe
fit roll a approx orthonystrom landmarks 16 | accumulate project
fit roll a approx ensemble landmarks 60 experts 3 weights ridge | select accumulate
fit roll a select greedy tolerance 0.2 | select accumulate
fit roll a online yes tolerance 0.2 | select project
fit roll a inner randomized landmarks 16 oversample 2 gamma 1e-5 | accumulate project
fit roll a map pca approx exact components 2 | accumulate project
fit roll a map diffusion normalize asymmetric landmarks 16 probe 60 | accumulate probe
fit text a landmarks 20 map laplacian | accumulate project
fit few a approx randomized map laplacian power 1 oversample 2 gamma 1e-5 | accumulate !project
fit few a approx gaussian landmarks 6 | accumulate !project
fit few a approx exact probe 20 | accumulate !project
select roll a select greedy landmarks 20 | select
select roll a landmarks 40 | select
graph roll a neighbors 2 | neighbors
graph few a neighbors 4 knn sieve | neighbors
graph roll a neighbors 2 connect yes | neighbors
fit few a map isomap landmarks 32 neighbors 4 | neighbors accumulate
fit few a map isomap graph g landmarks 32 | accumulate | graph few g --neighbors 4
fit smooth a map eigenmaps graph g components 2 | solve | graph smooth g --neighbors 4
fit smooth a map diffusion graph g components 2 | solve !bare | graph smooth g --neighbors 6
fit solved a update frozen | update | import solved more.csv --append --label-column class
fit solved a update full | update | import solved more.csv --append --label-column class
fit solved krylov update full | update | import solved more.csv --append --label-column class
fit solved greedy update full | update | import solved more.csv --append --label-column class
import base counted.csv append yes header no | none
END
}

# stage_of STORE NAME: as the record says; "update" of an update under way, "none" without a record.
stage_of() {
    local stage
    stage=$(nystream info "$1" "$2" --json 2>/dev/null | sed -nE '
        s/^ *"update": "interrupted",?$/update/p; s/^ *"stage": "([^"]*)",?$/\1/p' | head -n 1)
    echo "${stage:-none}"
}

# see_end VERB STORE NAME: what a job has made; of an import, what a fit makes of it.
see_end() {
    local name=$3
    [ "$1" != import ] || {
        name=points
        nystream fit "$2" $name --map pca --approx exact --memory 96M --threads 1 -q
    }
    see "$2" $name
}

# go_on HOW VERB STORE NAME OPTION…: to the end, by the same call or by one that leaves the options
# to the store.
go_on() {
    fetch
    if [ "$1" = bare ] && [ "$2" != import ]; then
        nystream "$2" "$3" "$4" --memory 96M --threads 1 -q
    else
        break_job "${@:2:3}" 0 "${@:5}"
    fi >/dev/null 2>&1 || echo "exit $?" >refused
    see_end "${@:2:3}"
    rm -rf ./*/
    find . -type l -delete
}

# cross WRITES HOW JOB…: the job of the last release is interrupted after so many writes, and finished
# by both.
cross() {
    local at=$1 how=$2 build code=0
    shift 2
    rm -rf broken both
    mkdir -p both/old both/new
    cp -r ready broken
    (cd broken && by old break_job "${@:1:3}" "$at" "${@:4}") >said 2>&1 || code=$?
    [ $code -eq 9 ] || { tell broken "$*" "exit $code, not interrupted at write $at"; return 0; }
    stage=$(cd broken && by old stage_of "$2" "$3")
    [[ " $stages " != *" !$stage "* ]] || return 0
    number=$((number + 1))
    for build in old new; do
        cp -r "broken/$2" both/$build
        (set +e; cd both/$build && by $build go_on "$how" "$@") 3>&- &
    done
    wait
    what=$(differences both/old both/new; differences straight both/new "${ends[@]}")
    [ -z "$what" ] ||
        tell both "$*" "interrupted at write $at, in $stage: $what"
}

# ready JOB SETUP: makes the store that a job begins with, and what it makes of it uninterrupted.
ready() {
    local words
    rm -rf ready straight
    mkdir ready
    (
        cd ready && fetch "${job[1]}"
        read -ra words <<<"$1"
        [ ${#words[@]} -eq 0 ] || { complete && by old nystream "${words[@]}"; }
    ) && cp -r ready straight && (
        cd straight && by old break_job "${job[@]::3}" -1 "${job[@]:3}" >../writes &&
            by old see_end "${job[@]::3}"
    )
}

# crossed POINTS: each job is interrupted at so many points.
crossed() (
    trap - DEBUG
    local number=0 failed=0 row rows job stages setup writes met stage ends what
    local how i
    mapfile -t rows < <(jobs_broken | grep -E -- "${CASES-}")
    for row in "${rows[@]}"; do
        IFS='|' read -r row stages setup <<<"$row"
        read -ra job <<<"$row"
        ready "$setup" >said 2>&1 || { tell . "$row" "$(<said)"; continue; }
        writes=$(<writes) met=' '
        mapfile -t ends < <(cd straight && find . -name '*.*' -type f -printf '%f\n' |
            grep -E "\.(${parts// /|})$" | sort)
        [ ${#ends[@]} -ge 1 ] || tell straight "$row" "no parts"
        for ((i = 1; i <= $1; i++)); do
            stage=''
            how=same
            [ $((i % 2)) -eq 1 ] || [[ $stages == *!bare* ]] || how=bare
            cross $((writes * i / ($1 + 1))) $how "${job[@]}"
            met+="$stage "
        done
        for stage in $stages; do
            [[ $stage == !* ]] || [[ $met == *" $stage "* ]] ||
                tell straight "$row" "not interrupted in $stage, but in$met"
        done
    done
    counts $number $failed 50
)

@test "what the last release was interrupted in goes on in this build, to the same end" {
    begin
    crossed 6
}
