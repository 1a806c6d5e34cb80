load helper

# Stores of every format open, read, place points and grow (tests/golden/README.md).
setup_file() {
    golden=$BATS_TEST_DIRNAME/../golden
    export golden
}

# The names of copies of all of them.
copies() {
    cp -r "$golden"/format-* . && ls -d format-* || echo none # and that is no store
}

@test "an old store is whole, and its results are what they were" {
    for old in $(copies); do
        ny verify $old
        exits 0
        nystream export $old a -o a.csv
        cmp a.csv $old/a.csv
        nystream export $old g --part landmarks -o g.csv
        cmp g.csv $old/g-landmarks.csv
    done
}

@test "an old model places the points where they were" {
    for old in $(copies); do
        nystream transform $old a --input $old/points.csv -o t.csv
        paste -d, $old/a.csv t.csv | awk -F, '{
            for (j = 1; j <= 2; j++) {d = $j - $(j + 2); if (d < 0) d = -d; if (d > 1e-5) bad++}
        } END {exit bad > 0 || NR != 200}'
    done
}

@test "an old result, which kept no command, is made again by --restart alone" {
    for old in $(copies); do
        ny fit $old a --restart -q
        exits 0
        nystream export $old a -o t.csv
        compare_columns 1e-4 t.csv $old/a.csv
        nystream info $old a --json >json
        grep -q '"command": null' json
    done
}

@test "an old store grows" {
    for old in $(copies); do
        nystream import $old $old/points.csv --append -q
        ny info $old --json
        [ "$(field "$output" n)" = 400 ]
        nystream fit $old new --landmarks 20 --gamma 0.0005 -q
        nystream rm $old g
        ny verify $old
        exits 0
    done
}

@test "an old result takes new rows in" {
    for old in $(copies); do
        nystream import $old $old/points.csv --append -q
        ny fit $old a --update frozen --json
        exits 0
        [ "$(field "$output" n)" = 400 ]
        nystream export $old a -o a.csv
        cmp <(head -n 200 a.csv) $old/a.csv
        nystream import $old $old/points.csv --append -q
        for name in a g; do
            ny fit $old "$name" --update full --json
            exits 0
            [ "$(field "$output" n)" = 600 ]
        done
        ny verify $old
        exits 0
    done
}

@test "a program that knows the written format alone reads them" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an instrumented library does not link by itself"
    local libraries
    libraries=$(pkg-config --cflags --libs lmdb liblz4 libxxhash) || skip "no headers to read with"
    # shellcheck disable=SC2086  # words are meant
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra "$BATS_TEST_DIRNAME/external/read_store.c" -o read_store \
        $libraries
    for old in $(copies); do
        ./read_store $old a 2 >rows.csv
        tail -n 200 rows.csv | cmp - $old/a.csv
        head -n 200 rows.csv | paste -d, - $old/points.csv | awk -F, '{
            d = NF / 2
            for (j = 1; j <= d; j++) if ($j - $(j + d) > 1e-6 * $j || $(j + d) - $j > 1e-6 * $j) bad++
        } END {exit bad > 0 || NR != 200}'
    done
    awk 'BEGIN {for (i = 0; i < 90000; i++) print i % 7 ",0,0,1.5"}' >rows.csv # more than a block
    nystream import packed rows.csv --dtype f32 -q
    nystream fit packed a --landmarks 5 --components 2 -q
    nystream export packed a -o a.csv
    nystream info packed --json >info
    [ "$(field "$(cat info)" compressed_bytes)" -lt "$(field "$(cat info)" bytes)" ]
    ./read_store packed a 2 | cmp - <(cat rows.csv a.csv)
}

@test "an old store is compacted" {
    local held
    for old in $(copies); do
        nystream rm $old g
        held=$(du -sb $old | cut -f1)
        nystream compact $old -q
        [ "$(du -sb $old | cut -f1)" -le "$held" ]
        ny verify $old
        exits 0
        nystream export $old a -o a.csv
        cmp a.csv $old/a.csv
        nystream import $old $old/points.csv --append -q
    done
}

# ---- jobs of version 1.0.0, finished and interrupted (data-tools/golden-1.0) -------------------

# The stores of 1.0.0 in a folder 1.0, which is then the working one.
old_jobs() {
    tar -xzf "$golden/1.0.tar.gz" && cd 1.0
}

# compare_columns TOLERANCE A.csv B.csv: equal numbers, but for that share of the largest. (awk finds
# NaN neither greater nor less than any number.)
compare_columns() {
    paste -d, "$2" "$3" | awk -F, -v tolerance="$1" '
        NF % 2 {bad = 1}
        {
            for (j = 1; j <= NF / 2; j++) {
                if (($j ~ /nan/) != ($(j + NF / 2) ~ /nan/)) bad = 1
                d = $j - $(j + NF / 2); if (d < 0) d = -d; if (d > far) far = d
                x = $j < 0 ? -$j : $j; if (x > most) most = x
            }
        }
        END {
            if (!bad && NR && far <= tolerance * most) exit 0
            printf "%d rows, off by %g of %g\n", NR, far, most; exit 1
        }' >&2
}

@test "sums of version 1.0.0 are merged with those of today, in either order" {
    old_jobs
    head -n 901 points.csv | cut -d, -f1-3 >some.csv
    nystream import today.nys some.csv --dtype i16 -q
    nystream fit today.nys scatter --map pca --approx exact --components 2 -q
    ny merge points.nys today.nys --name scatter -o one.nym --json
    exits 0
    [ "$(field "$output" n)" = 3000 ]
    ny merge today.nys points.nys --name scatter -o other.nym
    exits 0
    nystream fit today.nys scatter --map pca --approx exact --components 1 --restart -q
    ny merge today.nys points.nys --name scatter -o other.nym
    usage "different values of --components"
}

# bats test_tags=slow
@test "what version 1.0.0 finished is exported to the same bytes" {
    local store name part sum
    old_jobs
    for store in *.nys; do
        ny verify $store
        exits 0
    done
    [ "$(wc -l <parts)" -ge 110 ]
    while read -r store name part sum; do
        [ "$(nystream export $store "$name" --part "$part" -o - | md5sum | cut -d' ' -f1)" = "$sum" ] ||
            { echo "$store $name: part $part differs" >&2; return 1; }
    done <parts
}

# bats test_tags=slow
@test "jobs of version 1.0.0 are listed, and told in full" {
    local store verb name options
    old_jobs
    while read -r store verb name options; do
        for name in "$name" "$name-broken"; do
            ny info $store "$name" --json
            exits 0
            [ "$(field "$output" name)" = "$name" ]
            ny info $store "$name"
            exits 0
        done
        ny list $store
        exits 0
        prints "${name%-broken}"
        prints "$name"
    done <jobs
    ny list points.nys --json
    [ "$(grep -c '"interrupted"' <<<"$output")" -eq 9 ]
    ny report points.nys -o page.html
    exits 0
    ny plot points.nys landmarks -o map.svg
    exits 0
}

# What the first has of landmarks, lists and coordinates, the other has as well. A command that fails
# ends no function that `||` follows, as it does this one: so each says it.
same_ends() { # STORE NAME OTHER
    local part seen=0
    for part in landmarks neighbors embedding; do
        nystream export $1 "$2" --part $part -o "$2.csv" 2>/dev/null || continue
        nystream export $1 "$3" --part $part -o "$3.csv" || return
        case $part in
        embedding) compare_columns 2e-3 "$2.csv" "$3.csv" || return ;;
        *) cmp "$2.csv" "$3.csv" || return ;;
        esac
        seen=$((seen + 1))
    done
    [ $seen -gt 0 ]
}

# bats test_tags=slow
@test "what version 1.0.0 was interrupted in goes on, to the same end" {
    local store verb name words options ended=0
    old_jobs
    while read -r store verb name words; do
        read -ra options <<<"$words"
        for ((i = 0; i < ${#options[@]}; i += 2)); do options[i]=--${options[i]}; done
        ny "$verb" $store "$name-broken" -q "${options[@]}"
        exits 0
        ny info $store "$name-broken" --json
        [ "$(field "$output" status)" = "done" ]
        same_ends $store "$name" "$name-broken" || { echo "$store $name" >&2; return 1; }
        ended=$((ended + 1))
    done <jobs
    [ $ended -eq 17 ]
    for store in *.nys; do
        ny verify $store
        exits 0
    done
}

@test "an import that version 1.0.0 was interrupted in goes on" {
    old_jobs
    awk 'BEGIN {for (i = 0; i < 450000; i++) print i % 7 "," i % 4 ",1,0,0,0,9,9"}' >rows.csv
    ny info import.nys --json
    [ "$(field "$output" n)" = 100 ]
    ny import import.nys rows.csv --append
    exits 0
    ny info import.nys --json
    [ "$(field "$output" n)" = 450100 ]
    head -n 100 rows.csv | cat - rows.csv >all.csv
    nystream import whole.nys all.csv --dtype u8 -q
    for store in import whole; do
        ny verify $store.nys
        exits 0
        nystream fit $store.nys a --map pca --approx exact -q
        nystream export $store.nys a -o - | md5sum >$store.sum
    done
    cmp import.sum whole.sum
}

@test "models of version 1.0.0 place their points where they were" {
    local name
    old_jobs
    for name in landmarks rpcholesky nystrom krylov scatter diffusion; do
        nystream transform points.nys $name --input points.csv --label-column class -o t.csv
        nystream export points.nys $name -o e.csv
        compare_columns 1e-4 e.csv t.csv || { echo "$name" >&2; return 1; }
    done
}

@test "results of version 1.0.0 take new rows in" {
    local name
    old_jobs
    head -n 101 points.csv >more.csv
    nystream import points.nys more.csv --append --label-column class -q
    for name in landmarks nystrom scatter; do
        nystream export points.nys $name -o old.csv
        ny fit points.nys $name --update frozen --json
        exits 0
        [ "$(field "$output" n)" = 2200 ]
        nystream export points.nys $name -o new.csv
        cmp <(head -n 2100 new.csv) old.csv
        compare_columns 1e-4 <(head -n 100 new.csv) <(tail -n 100 new.csv)
    done
    for name in landmarks krylov diffusion; do
        ny fit points.nys $name --update full --json
        exits 0
        [ "$(field "$output" n)" = 2200 ]
    done
    nystream import update.nys more.csv --append --label-column class -q
    for name in frozen full; do
        ny fit update.nys $name --update $name --json
        exits 0
        [ "$(field "$output" n)" = 2200 ]
    done
    ny verify points.nys
    exits 0
}

@test "exact fits of version 1.0.0 are shown as exact" {
    local name
    old_jobs
    for name in "points.nys scatter" "few.nys whole"; do
        ny info $name --json
        [[ $output == *'"approx": "exact"'* ]] || continue
        [ "$(field "$output" trace_error)" = 0.0 ]
        [[ $(field "$output" variance_kept) == 0.* ]]
        nystream info $name | grep -q "exact; the [0-9]* components hold"
    done
    ny info points.nys scatter --json
    [ "$(field "$output" trace_error)" = 0.0 ]
    ny info points.nys landmarks --json
    [[ $(field "$output" variance_kept) == 0.* ]]
    ny info points.nys landmarks-broken --json
    [[ $output == *'"variance_kept": '* ]]
}

@test "rows of version 1.0.0 have no mean norm, nor have those that are appended to them" {
    old_jobs
    ny info points.nys --json
    [ "$(field "$output" mean_norm)" = null ]
    [[ $(field "$output" mean_square_norm) != null ]]
    nystream import points.nys points.csv --label-column class --append -q
    ny info points.nys --json
    [ "$(field "$output" mean_norm)" = null ]
    ny verify points.nys
    exits 0
}

# Tells whether some part of a store has format N: its pulse begins so.
has_format() { # STORE N
    LC_ALL=C grep -qaP "nystream\\x0$2\\x00\\x00\\x00" "$1"/{points,results}/data.mdb
}

@test "a store of version 1.0.0 keeps its format, so that 1.0 reads it, until it is compacted" {
    old_jobs
    nystream import points.nys points.csv --label-column class --append -q
    nystream fit points.nys new --landmarks 10 -q
    nystream fit points.nys landmarks --update full -q
    has_format points.nys 2
    ! has_format points.nys 3 || false
    nystream compact points.nys -q
    has_format points.nys 3
    ny verify points.nys
    exits 0
    table 10 2 >t.csv
    nystream import today.nys t.csv -q
    has_format today.nys 3
}
