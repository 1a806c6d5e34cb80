load helper

# Stores of every format open, read, place points and grow (tests/golden/README.md).
setup_file() {
    golden=$BATS_TEST_DIRNAME/../golden
    export golden points=$BATS_FILE_TMPDIR/points.csv
    awk 'BEGIN {for (i = 0; i < 200; i++) print 37 * i % 101 "," i * i % 97 "," i * i * i % 89}' >"$points"
    for version in 1.0 1.1; do tar -xf "$golden/$version.tar.xz" -C "$BATS_FILE_TMPDIR"; done
}

# The names of copies of all of them, with the embedding of a in each.
copies() {
    cp -r "$golden"/format-* . && ls -d format-? || echo none # and that is no store
    for old in format-?; do nystream export $old a -o $old.csv -q; done
}

@test "an old store is whole, and its results are what they were" {
    for old in $(copies); do
        ny -0 verify $old
        nystream export $old g --part landmarks -o $old.g.csv -q
    done
    md5sum -c - <<'END'
07cb65f9bf74d3b34f8d9a09e0472c71  format-1.csv
a39a5f245c1b55226baf7acbc2a3c434  format-1.g.csv
f366d333bbe896aa4e625698b046b459  format-2.csv
a39a5f245c1b55226baf7acbc2a3c434  format-2.g.csv
END
}

@test "an old model places the points where they were" {
    for old in $(copies); do
        nystream transform $old a --input "$points" -o t.csv
        paste -d, $old.csv t.csv | awk -F, '{
            for (j = 1; j <= 2; j++) {d = $j - $(j + 2); if (d < 0) d = -d; if (d > 1e-5) bad++}
        } END {exit bad > 0 || NR != 200}'
    done
}

@test "an old result, which kept no command, is made again by --restart alone" {
    for old in $(copies); do
        ny -0 fit $old a --restart -q
        nystream export $old a -o t.csv
        compare_columns 1e-4 t.csv $old.csv
        nystream info $old a --json >json
        grep -q '"command": null' json
    done
}

@test "an old store grows" {
    for old in $(copies); do
        nystream import $old "$points" --append -q
        has $old n=400
        nystream fit $old new --landmarks 20 --gamma 0.0005 -q
        nystream rm $old g
        ny -0 verify $old
    done
}

@test "an old result takes new rows in" {
    for old in $(copies); do
        nystream import $old "$points" --append -q
        ny -0 fit $old a --update frozen --json
        [ "$(field "$output" n)" = 400 ]
        cmp <(head -n 200 <(shown "$old a")) $old.csv
        nystream import $old "$points" --append -q
        for name in a g; do
            ny -0 fit $old "$name" --update full --json
            [ "$(field "$output" n)" = 600 ]
        done
        ny -0 verify $old
    done
}

@test "a program that knows the written format alone reads them" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an instrumented library does not link by itself"
    libraries=$(pkg-config --cflags --libs lmdb liblz4 libxxhash) || skip "no headers to read with"
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra "$BATS_TEST_DIRNAME/external/read_store.c" -o read_store \
        $libraries
    for old in $(copies); do
        ./read_store $old a 2 >rows.csv
        tail -n 200 rows.csv | cmp - $old.csv
        head -n 200 rows.csv | paste -d, - "$points" | awk -F, '{
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
    for old in $(copies); do
        nystream rm $old g
        held=$(du -sb $old | cut -f1)
        nystream compact $old -q
        [ "$(du -sb $old | cut -f1)" -le "$held" ]
        ny -0 verify $old
        writes $old.csv "$old a"
        nystream import $old "$points" --append -q
    done
}

# ---- jobs of released versions, finished and interrupted (data-tools/golden) -------------------

versions="1.0 1.1"
declare -gA parts_of=([1.0]=110 [1.1]=590) jobs_of=([1.0]=17 [1.1]=59)

# each FUNCTION: runs it for each version, in a folder with the stores of that version. ($version is
# then its name. A command that fails ends no function that `||` follows, so that this has none.)
each() {
    local top=$PWD
    for version in $versions; do
        cd "$top"
        cp -r "$BATS_FILE_TMPDIR/$version" .
        cd "$version"
        "$1"
    done
}

# later FUNCTION: the same of the versions after 1.0.
later() { versions=${versions#1.0 } each "$1"; }
first() { versions=1.0 each "$1"; }

# failed WORDS…: fails, and says in which version.
failed() {
    echo "version $version: $*" >&2
    return 1
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

merges() {
    head -n 901 points.csv | cut -d, -f1-3 >some.csv
    nystream import today.nys some.csv --dtype i16 -q
    nystream fit today.nys scatter --map pca --approx exact --components 2 -q
    ny -0 merge points.nys today.nys --name scatter -o one.nym --json
    [ "$(field "$output" n)" = 3000 ]
    ny -0 merge today.nys points.nys --name scatter -o other.nym
    nystream fit today.nys scatter --map pca --approx exact --components 1 --restart -q
    ny -2 merge today.nys points.nys --name scatter -o other.nym
}

@test "sums of earlier versions are merged with those of today, in either order" { each merges; }

merges_ended_sums() {
    cp -r sums.nys same.nys
    nystream fit same.nys sums --landmarks-points landmarks.csv --gamma 1e-5 --components 3 --until sums --restart -q
    nystream import other.nys points.csv --columns 1-3 --dtype i16 -q
    nystream fit other.nys sums --landmarks-points landmarks.csv --gamma 1e-5 --components 3 --until sums -q
    for store in sums same; do nystream merge $store.nys other.nys --name sums -o $store.nym -q; done
    nystream merge sums.nys --name sums -o today.nym -q
    for model in sums same today models/merged; do
        nystream transform $model.nym --input sums.csv -o $model.t.csv -q
    done
    compare_columns 1e-5 sums.t.csv same.t.csv
    compare_columns 1e-5 today.t.csv models/merged.t.csv
}

@test "fits that earlier versions ended with their sums are merged as those of today" { later merges_ended_sums; }

exports_the_same() {
    for store in *.nys; do
        [ $store != dealt.nys ] || continue # half an import
        ny -0 verify $store
    done
    [ "$(wc -l <parts)" -ge "${parts_of[$version]}" ]
    while read -r store name part sum; do
        [ "$(nystream export $store "$name" --part "$part" -o - | md5sum | cut -d' ' -f1)" = "$sum" ] ||
            failed "$store $name: part $part differs"
    done <parts
}

# bats test_tags=slow
@test "what earlier versions finished is exported to the same bytes" { each exports_the_same; }

exports_some_the_same() {
    while read -r store name part sum; do
        [ "$(nystream export $store "$name" --part "$part" -o - | md5sum | cut -d' ' -f1)" = "$sum" ] ||
            failed "$store $name: part $part differs"
    done < <(grep -E "^(set|grownset|sparse|counts|named|lost|edges|wide).*(embedding|neighbors|graph) " parts)
}

@test "results of sets, sparse rows, prepared rows, lost rows and edges are exported to the same bytes" {
    later exports_some_the_same
}

tells_all() {
    local store verb name options
    while read -r store verb name options; do
        for name in "$name" "$name-broken"; do
            ny -0 info $store "$name" --json
            [ "$(field "$output" name)" = "$name" ]
            ny -0 info $store "$name"
        done
        ny -0 list $store
        prints "${name%-broken}" "$name"
    done <jobs
    ny list points.nys --json
    [ "$(grep -c '"interrupted"' <<<"$output")" -eq 9 ]
    ny -0 report points.nys -o page.html
    ny -0 plot points.nys landmarks -o map.svg
}

# bats test_tags=slow
@test "jobs of earlier versions are listed, and told in full" { each tells_all; }

# What the first has of landmarks, lists and coordinates, the other has as well. A command that fails
# ends no function that `||` follows, as it does this one: so each says it.
same_ends() { # STORE NAME OTHER
    local part seen=0
    for part in landmarks neighbors graph embedding; do
        nystream export $1 "$2" --part $part -o one.csv -q --skip-damaged 2>/dev/null || continue
        nystream export $1 "$3" --part $part -o other.csv -q --skip-damaged || return
        case $part in
        embedding) compare_columns 2e-3 one.csv other.csv || return ;;
        *) cmp one.csv other.csv || return ;;
        esac
        seen=$((seen + 1))
    done
    [ $seen -gt 0 ]
}

# The interrupted jobs end as the finished ones did. (Those that ended with their sums are solved,
# both of them.)
all_go_on() {
    local store verb name words options ended=0
    while read -r store verb name words; do
        read -ra options <<<"$words"
        for ((i = 0; i < ${#options[@]}; i += 2)); do options[i]=--${options[i]}; done
        for ((i = 1; i < ${#options[@]}; i += 2)); do
            [ "${options[i - 1]}" != --online ] || options[i]=
        done
        if [[ $words == *"knn forest"* ]]; then # a search that there is no more
            ny "$verb" $store "$name-broken"
            usage "--knn is auto|exact|tree|sieve, not 'forest'"
            ended=$((ended + 1))
            continue
        fi
        # shellcheck disable=SC2068  # the value that a switch does without is no word
        ny -0 "$verb" $store "$name-broken" -q ${options[@]}
        [[ $words != *"until sums" ]] || for end in "$name" "$name-broken"; do nystream fit $store "$end" -q; done
        ny info $store "$name-broken" --json
        [ "$(field "$output" status)" = "done" ]
        same_ends $store "$name" "$name-broken" || failed "$store $name"
        ended=$((ended + 1))
    done <jobs
    [ $ended -eq "${jobs_of[$version]}" ]
    for store in $(cut -d' ' -f1 jobs | sort -u); do
        ny -0 verify $store
    done
}

# bats test_tags=slow
@test "what earlier versions were interrupted in goes on, to the same end" { each all_go_on; }

import_goes_on() {
    awk 'BEGIN {for (i = 0; i < 450000; i++) print i % 7 "," i % 4 ",1,0,0,0,9,9"}' >rows.csv
    has import.nys n=100
    ny -0 import import.nys rows.csv --append
    has import.nys n=450100
    head -n 100 rows.csv | cat - rows.csv >all.csv
    nystream import whole.nys all.csv --dtype u8 -q
    for store in import whole; do
        ny -0 verify $store.nys
        nystream fit $store.nys a --map pca --approx exact -q
        nystream export $store.nys a -o - | md5sum >$store.sum
    done
    cmp import.sum whole.sum
}

@test "an import that version 1.0.0 was interrupted in goes on" { first import_goes_on; }

# bats test_tags=slow
@test "an import that a later version was interrupted in goes on" { later import_goes_on; }

dealt_import_goes_on() {
    awk 'BEGIN {for (i = 0; i < 480000; i++) print i % 7 "," i % 4 ",1,0,0,0,9,9" >(i >= 20000) + (i >= 470000) ".csv"}'
    has dealt.nys/shard-00000 n=20000
    ny -0 import dealt.nys 0.csv 1.csv 2.csv --shards 3 --dtype u8
    ny -0 verify dealt.nys
    cat 0.csv 1.csv 2.csv >all.csv
    nystream import whole.nys all.csv --dtype u8 -q
    for store in dealt whole; do nystream export $store.nys --part points -o - | md5sum >$store.sum; done
    cmp dealt.sum whole.sum
}

# bats test_tags=slow
@test "an import of shards that an earlier version was interrupted in goes on" { later dealt_import_goes_on; }

models_place() {
    for name in landmarks rpcholesky nystrom krylov scatter diffusion; do
        nystream transform points.nys $name --input points.csv --label-column class -o t.csv
        nystream export points.nys $name -o e.csv
        compare_columns 1e-4 e.csv t.csv || failed "$name"
    done
}

@test "models of earlier versions place their points where they were" { each models_place; }

# Files of models: rows are where the result has them.
model_files_place() {
    local model store count=0
    for model in models/*-*.nym; do
        model=${model#models/}
        store=${model%%-*} name=${model#*-}
        [ -e $store.npy ] || nystream export $store.nys --part raw-points -o $store.npy -q --skip-damaged
        nystream transform "models/$model" --input $store.npy -o t.csv -q --nan keep
        nystream transform $store.nys "${name%.nym}" --input $store.npy -o s.csv -q --nan keep
        cmp s.csv t.csv || failed "$model"
        nystream export $store.nys "${name%.nym}" -o e.csv -q --skip-damaged
        compare_columns 1e-4 e.csv <(grep -v nan t.csv) || failed "$model" # lost rows
        count=$((count + 1))
    done
    [ $count -ge 28 ]
}

# bats test_tags=slow
@test "files of models of earlier versions place their points where they were" { later model_files_place; }

some_model_files_place() {
    mv models all && mkdir models && mv all/{sparse-pca,counts-landmarks,grownset-frozen}.nym models
    for model in models/*; do
        store=${model#models/} name=${model#*-}
        store=${store%%-*}
        nystream export $store.nys --part raw-points -o $store.npy -q
        nystream transform $model --input $store.npy -o t.csv -q
        nystream export $store.nys ${name%.nym} -o e.csv -q
        compare_columns 1e-4 e.csv t.csv || failed $model
    done
    nystream import placed.nys sums.csv --dtype i16 -q
    nystream fit placed.nys placed --model all/merged.nym -q
    nystream export placed.nys placed -o t.csv -q
    nystream export sums.nys placed -o e.csv -q
    compare_columns 1e-5 e.csv t.csv
}

@test "files of models of sparse rows, of counts, of sets and of sums are read" { later some_model_files_place; }

takes_new_rows_in() {
    head -n 101 points.csv >more.csv
    nystream import points.nys more.csv --append --label-column class -q
    for name in landmarks nystrom scatter; do
        nystream export points.nys $name -o old.csv
        ny -0 fit points.nys $name --update frozen --json
        [ "$(field "$output" n)" = 2200 ]
        nystream export points.nys $name -o new.csv
        cmp <(head -n 2100 new.csv) old.csv
        compare_columns 1e-4 <(head -n 100 new.csv) <(tail -n 100 new.csv)
    done
    for name in landmarks krylov diffusion; do
        ny -0 fit points.nys $name --update full --json
        [ "$(field "$output" n)" = 2200 ]
    done
    nystream import update.nys more.csv --append --label-column class -q
    for name in frozen full; do
        ny -0 fit update.nys $name --update $name --json
        [ "$(field "$output" n)" = 2200 ]
    done
    ny -0 verify points.nys
}

@test "results of version 1.0.0 take new rows in" { first takes_new_rows_in; }

# bats test_tags=slow
@test "results of later versions take new rows in" { later takes_new_rows_in; }

# Results of sparse rows, once updated and not, of prepared rows, of placed ones and of a set.
takes_rows_of_all_kinds_in() {
    nystream import sums.nys sums.csv --append -q
    nystream import sparse.nys sparse.libsvm --append -q
    nystream import grown.nys sparse.libsvm --append -q
    nystream import counts.nys counts/matrix.mtx --transpose --append -q
    nystream import named.nys named.csv --id-column name --append -q
    for store in set grownset; do nystream import $store.nys sums.csv --append -q; done
    nystream import few.nys <(head -n 101 points.csv) --format csv --label-column class --append -q
    while read -r store name mode; do
        nystream export $store.nys "$name" -o old.csv -q
        old=$(wc -l <old.csv)
        ny -0 fit $store.nys "$name" --update "$mode" --json
        nystream export $store.nys "$name" -o new.csv -q
        [ "$(wc -l <new.csv)" -gt "$old" ]
        [ "$mode" = full ] || cmp old.csv <(head -n "$old" new.csv) || failed "$store $name"
    done <<'END'
sums placed frozen
sums online full
sparse svd frozen
sparse cosine frozen
sparse pca full
sparse landmarks full
grown svd-frozen frozen
grown pca-full full
grown landmarks-frozen full
counts pca frozen
counts landmarks full
named standard full
named unit frozen
few ensemble full
set landmarks frozen
grownset frozen frozen
END
    for store in sums sparse grown counts named set grownset few; do
        ny -0 verify $store.nys
    done
    [ "$(nystream export named.nys --part ids -o - | sed -n 201p)" = "row 2" ]
}

# bats test_tags=slow
@test "results of sparse, prepared, named and placed rows and of sets take new rows in" {
    later takes_rows_of_all_kinds_in
}

shows_exact() {
    local name
    for name in "points.nys scatter" "few.nys whole"; do
        ny info $name --json
        [[ $output == *'"approx": "exact"'* ]] || continue
        [ "$(field "$output" trace_error)" = 0.0 ]
        [[ $(field "$output" variance_kept) == 0.* ]]
        nystream info $name | grep -q "exact; the [0-9]* components hold"
    done
    has "points.nys scatter" trace_error=0.0
    ny info points.nys landmarks --json
    [[ $(field "$output" variance_kept) == 0.* ]]
    ny info points.nys landmarks-broken --json
    [[ $output == *'"variance_kept": '* ]]
}

@test "exact fits of earlier versions are shown as exact" { each shows_exact; }

keeps_what_it_has() {
    shows "clusters" eval points.nys landmarks
    nystream export points.nys landmarks --part clusters -o - -q | md5sum | grep -q \
        "$(awk '$2 == "landmarks" && $3 == "clusters" { print $4 }' parts)"
    [ "$(nystream export counts.nys --part columns -o - | head -n 1)" = "gene 0" ]
    [ "$(nystream export counts.nys --part ids -o - | tail -n 1)" = cell-149 ]
    [ "$(nystream export named.nys --part ids -o - | head -n 1)" = "row 2" ]
    has lost.nys lost=1024
    [ "$(nystream export lost.nys landmarks --part rows -o - --skip-damaged | tail -c 8 | od -An -t u8 | tr -d ' ')" = 2499 ]
    shows "shard 2" info set.nys
    nystream path edges.nys given --from 0 --to 179 >path
    nystream select points.nys more --landmarks-from dictionary -q
}

@test "clusters, names, lost rows, shards and edges of earlier versions are there" { later keeps_what_it_has; }

has_no_mean_norm() {
    has points.nys mean_norm=null
    [[ $(field "$output" mean_square_norm) != null ]]
    nystream import points.nys points.csv --label-column class --append -q
    has points.nys mean_norm=null
    ny -0 verify points.nys
}

@test "rows of version 1.0.0 have no mean norm, nor have those that are appended to them" { first has_no_mean_norm; }

# Tells whether some part of a store has format N: its pulse begins so.
has_format() { # STORE N
    LC_ALL=C grep -qaP "nystream\\x0$2\\x00\\x00\\x00" "$1"/{points,results}/data.mdb
}

keeps_its_format() {
    nystream import points.nys points.csv --label-column class --append -q
    nystream fit points.nys new --landmarks 10 -q
    nystream fit points.nys landmarks --update full -q
    has_format points.nys 2
    ! has_format points.nys 3 || false
    nystream compact points.nys -q
    has_format points.nys 3
    ny -0 verify points.nys
    table 10 2 >t.csv
    nystream import today.nys t.csv -q
    has_format today.nys 3
}

@test "a store of version 1.0.0 keeps its format, so that 1.0 reads it, until it is compacted" {
    first keeps_its_format
}
