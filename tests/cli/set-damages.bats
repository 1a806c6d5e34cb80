# Damaged sets of shards: parts are swapped, put back from older copies, left out, copied over one
# another, taken from another set, or mixed. Whatever is asked then has the answer of the undamaged
# set, or is refused.
load helper
# bats file_tags=slow
brought="*.npy"

# A set of three shards that has lived: a fit, rows appended, an update, a fit made anew, clusters, a
# result removed; `was.K` is how it was at four times before. `deal3` and `deal4` have the same rows,
# dealt out another time in another order, and to four shards.
setup_file() {
    file_folder || return
    local k
    for k in 0 1 2; do npy_u8 2048 5 >part.$k.npy; done
    npy_u8 300 5 >more.npy
    for k in 0 1 2; do nystream import set --shard $k/3 part.$k.npy -q; done
    cp -r set was.0
    nystream fit set map --landmarks 20 --components 3 -q
    nystream fit set other --landmarks 12 --components 2 -q
    nystream fit set gone --landmarks 9 --components 2 -q
    cp -r set was.1
    nystream import set more.npy --append -q
    cp -r set was.2
    nystream fit set map --update frozen -q
    nystream fit set other --landmarks 15 --components 2 --restart -q
    cp -r set was.3
    nystream eval set map --clusters 3 -q >/dev/null
    nystream rm set gone
    nystream import deal3 part.[21].npy part.0.npy more.npy --shards 3 -q
    nystream import deal4 part.?.npy more.npy --shards 4 -q
    nystream fit deal3 map --landmarks 20 --components 3 -q
    mkdir answers
}

reading=(verify info info-map info-other list export points clusters transform plot plan report)
writing=(fit frozen full other append expect cut last eval rm compact repair)

# told COMMAND…: prints a report without what it takes: seconds, bytes, memory, times.
told() {
    nystream "$@" --json | awk '
        end { if (index($0, end) == 1) end = ""; next }
        /"[a-z0-9_]*(second|bytes|memory|time|threads|rss|flops)[a-z0-9_]*": / {
            match($0, /^ */)
            if (/[{[]$/) end = substr($0, 1, RLENGTH) (/{$/ ? "}" : "]")
            next
        }
        { print }'
}

# made FILE COMMAND…: the sum of the file that a command makes.
made() {
    nystream "${@:2}" -o "$1" -q && cksum "$1"
}

# answer VERB: what `bad` answers. Its status is that of the command.
answer() {
    set -o pipefail
    case $1 in
    verify) nystream verify bad ;;
    info) told info bad ;;
    info-*) told info bad "${1#info-}" ;;
    list) nystream list bad ;;
    export) made e.npy export bad map ;;
    points) made e.npy export bad --part points ;;
    clusters) made e.csv export bad map --part clusters ;;
    transform) made e.npy transform bad map --input part.1.npy ;;
    plot) made e.svg plot bad map ;;
    plan) told plan bad --landmarks 30 >e.plan && grep -o '"landmarks": [0-9]*' e.plan ;;
    report) nystream report bad -o e.html -q && grep -c -F 'class="' e.html ;;
    fit) nystream fit bad new --landmarks 9 --components 2 -q && made e.npy export bad new ;;
    frozen) nystream fit bad map --update frozen -q && made e.npy export bad map ;;
    full) nystream fit bad map --update full -q ;;
    other) nystream fit bad other --update frozen -q && made e.npy export bad other ;;
    append) nystream import bad more.npy --append -q && made e.npy export bad --part points ;;
    expect) nystream import bad more.npy --append --expect-rows 6444 -q && made e.npy export bad --part points ;;
    cut) nystream truncate bad --keep 100 -q ;;
    last) nystream truncate bad/shard-00002 --keep 2200 -q ;;
    eval) told eval bad map --clusters 2 ;;
    rm) nystream rm bad map && nystream list bad ;;
    compact) nystream compact bad -q && made e.npy export bad map ;;
    repair) nystream repair bad && nystream verify bad && made e.npy export bad map ;;
    esac
}

from=$BATS_FILE_TMPDIR

# Puts shard K of the set in place of shard J of `hurt`: put SET K J.
put() {
    rm -rf "hurt/shard-0000$3"
    cp -r "$from/$1/shard-0000$2" "hurt/shard-0000$3"
}

# anew: `hurt` is the undamaged set.
anew() {
    rm -rf hurt
    cp -r "$from/set" hurt
}

# right VERB: asks the undamaged set, once.
right() {
    [ ! -e "$from/answers/$1" ] || return 0
    rm -rf bad
    cp -r "$from/set" bad
    (answer "$1" >"$from/answers/$1") || [ $? -eq 2 ]
}

# judge [VERB…]: asks the damaged set `hurt`. The answer is the right one, or a refusal of one line.
judge() {
    local verb code
    for verb in "$@"; do
        rm -rf bad
        cp -r hurt bad
        (answer "$verb" >said 2>err) && code=0 || code=$?
        case $code in
        2 | 5) grep -qE '^nystream: |"error"' err && continue ;;
        0) right "$verb" && cmp -s said "$from/answers/$verb" && continue ;;
        esac
        printf '%s of a set that is %s: exit %s\n' "$verb" "$damage" "$code"
        head said err
        wrong=$((wrong + 1))
    done
}

# damages KIND: makes them one after another, and calls `judge` with the verbs. Sets that are `aged`
# are also asked to be repaired, which is what to do then.
damages() {
    local kind=$1 k j s
    shift
    case $kind in
    swapped)
        for k in "0 1" "1 2" "0 2"; do
            damage="swapped $k" && anew
            put set "${k% *}" "${k#* }" && put set "${k#* }" "${k% *}"
            judge "$@"
        done ;;
    aged)
        for s in 0 1 2 3; do
            for k in 0 1 2 "0 1" "1 2" "0 2"; do
                damage="aged $s: $k" && anew
                for j in $k; do put was.$s "$j" "$j"; done
                [ "$s" = 3 ] || diff -rq hurt "$from/set" | grep -q . || return 1
                judge "$@"
            done
        done ;;
    file)
        for s in 0 1 2 3; do
            damage="file aged $s" && anew && cp "$from/was.$s/shards" hurt
            judge "$@"
        done ;;
    dropped)
        for k in 0 1 2; do
            damage="dropped $k" && anew && rm -r hurt/shard-0000$k
            judge "$@"
        done ;;
    doubled)
        for k in "0 1" "0 2" "1 0" "1 2" "2 0" "2 1"; do
            damage="doubled $k" && anew && put set "${k% *}" "${k#* }"
            judge "$@"
        done ;;
    dealt)
        for k in 0 1 2; do
            for s in deal3 deal4; do
                damage="dealt $s $k" && anew && put $s $k $k
                judge "$@"
            done
        done
        damage="dealt all" && anew
        for k in 0 1 2; do put deal3 $k $k; done
        judge "$@" ;;
    mixed)
        for k in 0 1 2; do
            for j in points results; do
                for s in was.0 was.1 was.2 was.3 deal3; do
                    damage="mixed $s $k $j" && anew
                    rm -r hurt/shard-0000$k/$j && cp -r "$from/$s/shard-0000$k/$j" hurt/shard-0000$k
                    judge "$@"
                done
            done
            damage="mixed $k" && anew
            cp "$from/set/shard-0000$(((k + 1) % 3))/results/data.mdb" hurt/shard-0000$k/results
            judge "$@"
        done ;;
    esac
}

# Some verbs do nothing with a set of which a shard is not there, or say so.
without() {
    local verb left=()
    for verb in "${@:2}"; do [[ " $1 " == *" $verb "* ]] || left+=("$verb"); done
    printf '%s\n' "${left[@]}"
}

@test "an older copy of a shard is refused, and repair takes it as it is" {
    local wrong=0 damage
    anew && put was.1 2 2
    cp -r hurt bad
    ny -5 verify bad
    ny -5 export bad map -o e.npy
    ny -5 import bad/shard-00002 more.npy --append
    ny -5 import bad more.npy --append --shard 2/3
    ny -5 truncate bad/shard-00002 --keep 100
    ny -0 repair bad
    shows "6,144" info bad
    ny -5 verify bad
    ny -0 export bad map -o e.npy # as before the update, which no other shard has seen
    nystream export "$from/was.1" map -o was.npy -q
    cmp e.npy was.npy
    ny -5 info bad other
    ny -5 export bad other -o e.npy
    shows "other	damaged" list bad
    nystream rm bad other && nystream rm bad gone
    nystream verify bad
}

@test "parts of a set that do not belong together are refused by every verb, or make no difference" {
    local wrong=0 damage
    anew
    damage=whole
    judge "${reading[@]}" frozen compact
    for k in "0 1" "2 1"; do
        damage="swapped $k" && anew && put set "${k% *}" "${k#* }" && put set "${k#* }" "${k% *}"
        judge verify info export frozen
    done
    for s in 1 3; do
        for k in 0 2; do
            damage="aged $s $k" && anew && put was.$s $k $k
            judge verify info-map list export append rm
        done
    done
    damages file verify info info-map export append
    damage=dropped && anew && rm -r hurt/shard-00001
    judge export frozen append fit
    damage=doubled && anew && put set 0 1
    judge verify info compact
    damage=mixed && anew && rm -r hurt/shard-00002/points && cp -r "$from/was.1/shard-00002/points" hurt/shard-00002
    judge verify info export append
    [ $wrong = 0 ]
}

@test "all damages of a set and all verbs" {
    local wrong=0 damage kind verbs=("${reading[@]}" "${writing[@]}")
    for kind in swapped file doubled dealt; do damages $kind "${verbs[@]}"; done
    # repair takes older parts as they are, and says so; verbs that go through shards leave out those
    # that are not there, and say which
    for kind in aged mixed; do damages $kind $(without repair "${verbs[@]}"); done
    damages dropped $(without "verify info info-map info-other rm compact repair last" "${verbs[@]}")
    [ $wrong = 0 ]
}

@test "results tell of an older copy where the file is from one, too" {
    for s in 0 1 2; do
        for k in 0 2; do
            anew && put was.$s $k $k && cp "$from/was.$s/shards" hurt
            ny -5 verify hurt
            prints "result 'other': "
        done
    done
    ny -5 info hurt other
}

@test "a note that was not written makes no set look bad, and is made up for" {
    for s in 0 1 2 3; do
        rm -rf big && cp -r "$from/set" big
        cp "$from/was.$s/shards" big
        nystream verify big
        nystream import big more.npy --append -q
        nystream fit big map --update frozen -q
        nystream verify big
    done
    cp big/shards noted
    nystream truncate big/shard-00002 --keep 2348 -q 2>/dev/null || nystream rm big map
    cmp -s big/shards noted && return 1
    # of earlier versions, without epochs: taken as it is, and noted from then on
    sed -i '/"points": /d; s/\("rows": [0-9]*\),/\1/; /"results": /d; /"deal": /d' big/shards
    nystream verify big
    rm -r big/shard-00002 && cp -r "$from/was.2/shard-00002" big
    nystream info big -q
    nystream compact big
    [ "$(grep -c '"points"' big/shards)" = 3 ]
    rm -r big/shard-00002 && cp -r "$from/was.0/shard-00002" big
    ny -5 info big
}

@test "a set of which each host has its own shard is verified by what is there" {
    cp -r "$from/set" host
    rm -r host/shard-0000[01]
    shows "ok, but for shards that are not here" verify host
    says "shards of host that are not here are left out: 0 and 1"
    ny -0 import host/shard-00002 more.npy --append -q
    cp -r "$from/set" all
    rm -r all/shard-00002 && mv host/shard-00002 all
    nystream verify all
    nystream fit all map --update frozen -q
}
