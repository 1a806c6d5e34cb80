# What rows have in common, wherever parts meet: each way of joining them against each fact, the same
# in both, columns or classes in another order, other names, other facts. A part is taken right, so
# that its rows get the coordinates that they have elsewhere, or is refused.
load helper
brought="*"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 600 3 | awk -F, -v OFS=, 'BEGIN { split("cat dog fish", name, " "); print "a,b,c,class" }
        { print int($1 * 200), int($2 * 90), int($3 * 40), name[NR % 3 + 1] }' >all.csv
    head -n 301 all.csv >base.csv
    { head -n 1 all.csv; tail -n 300 all.csv; } >same.csv
    awk -F, -v OFS=, '{ print $3, $1, $2, $4 }' same.csv >order.csv # no order that is its own inverse
    sed '1s/b,c/b,x/' same.csv >name.csv
    cut -d, -f1,2,4 same.csv >fewer.csv
    sed 's/cat/1/; s/dog/cat/; s/fish/dog/; s/1$/fish/' same.csv >turned.csv # another class first
    sed 's/fish/cow/' same.csv >other.csv
    head -n 21 base.csv | cut -d, -f1-3 >landmarks.csv
    nystream import base.nys base.csv "${as[@]}" -q
    nystream fit base.nys map "${fit[@]}" -q
    nystream export base.nys map --part model -o map.nym -q
    nystream import a.big --shard 0/2 base.csv "${as[@]}" -q
}

as=(--label-column class --dtype u8)
fit=(--landmarks 20 --gamma 1e-4 --components 2)
sums=(--landmarks-points landmarks.csv --gamma 1e-4 --components 2)

# ---- the ways: each joins the rows of FILE, imported with the options, to those of base.csv, and ----
# ---- writes out.csv, what comes of them; it fails as the command does that refuses them         ----

append() {
    nystream import base.nys "$@" --append && nystream fit base.nys new "${fit[@]}" &&
        nystream export base.nys new -o out.csv
}
shard() {
    nystream import a.big --shard 1/2 "$@" && nystream fit a.big new "${fit[@]}" &&
        nystream export a.big new -o out.csv
}
# On disks of their own: two processes, each with its shard.
disks() {
    local first=0 second=0 k
    nystream import b.big --shard 1/2 "$@" || return
    nystream fit b.big new "${fit[@]}" --peers folder:2:meet &
    nystream fit a.big new "${fit[@]}" --peers folder:2:meet || first=$?
    wait $! || second=$?
    [ $((first + second)) -eq 0 ] || return $((first > second ? first : second))
    for k in a.big/shard-00000 b.big/shard-00001; do
        nystream export $k new -o ${k%%.*}.csv
    done
    cat a.csv b.csv >out.csv
}
like() {
    disks "$@" --like a.big
}
merge() {
    nystream import part.nys "$@" && nystream fit base.nys sum "${sums[@]}" --until sums &&
        nystream fit part.nys sum "${sums[@]}" --until sums &&
        nystream merge base.nys part.nys --name sum -o sum.nym &&
        nystream transform sum.nym --input same.csv --label-column class -o out.csv
}
scatter() {
    sums=(--map pca --approx exact)
    merge "$@"
}
model() {
    nystream import part.nys "$@" && nystream fit part.nys new --model map.nym &&
        nystream export part.nys new -o out.csv
}
to_model() {
    nystream transform map.nym --input "$1" "${@:2:2}" "${@:6}" -o out.csv
}
to_store() {
    nystream transform base.nys map --input "$1" "${@:2:2}" "${@:6}" -o out.csv
}

# joins WAY CASE OUTCOME: the case is a file and how it is imported; the outcome is "same", the same
# coordinates as same.csv has in this way, or the status of its refusal, which names a cure.
joins() {
    local way=$1 case=$2 want=$3 status=0 file=same options=("${as[@]}")
    case $case in
    same | order | name | fewer | turned | other) file=$case ;;
    dtype) options=(--label-column class --dtype f32) ;;
    layout) options+=(--layout sparse) ;;
    prepared) options+=(--values log1p) ;;
    unnamed) tail -n +2 same.csv >unnamed.csv
        file=unnamed options=(--label-column 4 --dtype u8 --header no) ;;
    esac
    rm -rf try && mkdir try && cp -r base.nys a.big ./*.csv map.nym try
    (cd try && "$way" "$file.csv" "${options[@]}" >log 2>&1) || status=$?
    if [ "$want" = same ]; then
        [ $status -eq 0 ] && { [ "$case" != same ] || cp try/out.csv "$way.out"; } &&
            awk -F, 'NR == FNR { n = NR; line[NR] = $0; next }
                { split(line[FNR], x); for (j = 1; j <= NF; j++) { e = $j - x[j]
                    if (e > 1e-4 || e < -1e-4) bad = 1 } }
                END { exit bad || n != FNR || !n }' "$way.out" try/out.csv
    else
        [ $status -eq "$want" ] && [ ! -e try/out.csv ]
    fi && return
    echo "$way of $case: status $status, not $want" >&2
    cat try/log >&2
    return 1
}

# bats test_tags=slow
@test "parts are joined by what their rows have in common, each way against each fact" {
    local way wants cases=(same order name fewer dtype layout prepared unnamed turned other) i bad=0
    while read -r way wants; do
        read -ra wants <<<"$wants"
        for i in "${!cases[@]}"; do
            [ "${wants[i]}" = - ] || joins "$way" "${cases[i]}" "${wants[i]}" || bad=1
        done
    done <<END
append   same same 3 3 same 2 2 same same same
shard    same same 3 3 3 3 3 3 same same
like     same same 3 3 3 3 3 3 same 3
disks    same 3 3 3 3 3 3 same 3 3
merge    same same 3 3 3 3 3 same same same
scatter  same same 3 3 3 2 3 same same same
model    same same 3 3 same 3 3 same same same
to_model same same 3 3 - - - same same same
to_store same same 3 3 - - - same same same
END
    [ $bad -eq 0 ]
}
