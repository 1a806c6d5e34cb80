# The smallest budget that a plan names is enough, the kernel watching: a cgroup of it + max(5 %, 16
# MiB), for every method, map and rule, and for the verbs beside fit.
# on disk
load helper
load cgroup

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    npy_u8 30000 16 >rows.npy
    npy_u8 300000 16 >more.npy
    npy_u8 4000 16 >few.npy
    local name
    for name in rows more few; do nystream import $name.nys $name.npy -q; done
}

# texts: makes text.libsvm, and a store of it.
texts() {
    [ -e "$files/text.nys" ] && return
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 20000 --terms 60000 --length 80 --topics 8 -o "$files/text.libsvm"
    nystream import "$files/text.nys" "$files/text.libsvm" -q
}

# The smallest budget ($least) has to be enough for the $peak of the resident set; no less will do.
at_least() {
    local store=$files/$1.nys json
    shift
    least=$(field "$(nystream plan "$store" --json "$@")" memory_min_bytes)
    json=$(within "$least" nystream fit "$store" x --restart --json -q --memory "$least" "$@") ||
        { echo "not enough: $least for $*" >&2; return 1; }
    no_oom || return
    peak=$(field "$json" peak_rss_bytes)
    [ "$peak" -gt 0 ] && [ "$peak" -le "$least" ] || { echo "peak $peak of $least: $*" >&2; return 1; }
    ny -8 fit "$store" y --memory $((least - 4096)) "$@"
}

# bats file_tags=slow
@test "every method" {
    for method in "nystrom --landmarks 300" "nystrom --landmarks 300 --inner randomized" \
        "column --landmarks 300" "projected --landmarks 300 --inner randomized" "orthonystrom --landmarks 300" "projected --landmarks 300" \
        "ensemble --landmarks 400 --experts 4" "ensemble --landmarks 400 --weights ridge"; do
        at_least rows --approx $method --components 8
    done
    for method in randomized "gaussian --landmarks 40" exact; do
        at_least few --approx $method --components 4
    done
    at_least rows --map pca --approx exact --components 8
}

@test "exact fits by features" {
    texts
    npy_u8 3000 9000 >broad.npy
    nystream import "$files/broad.nys" broad.npy -q
    for map in svd kpca laplacian; do
        at_least rows --map $map --kernel linear --approx exact --components 8
        at_least text --map $map --kernel cosine --approx exact --components 20
    done
    at_least text --map pca --approx exact --components 20 --precision f64
    at_least broad --map pca --approx exact --components 20
    at_least text --map svd --kernel cosine --approx exact --components 20 --scale idf --features min-rows:3
    at_least rows --map svd --kernel cosine --approx exact --components 8 --scale idf-smooth
}

@test "every map and precision" {
    for map in svd kpca pca laplacian diffusion; do
        at_least rows --map $map --landmarks 300 --components 4
        at_least rows --map $map --landmarks 200 --components 4 --precision f64
    done
    at_least rows --landmarks 200 --components 4 --probe 20
}

@test "every rule" {
    for rule in uniform weighted rpcholesky "greedy --tolerance 0.5"; do
        at_least rows --select $rule --landmarks 300
    done
    at_least rows --select greedy --landmarks 300
}

@test "one full row among sparse ones does not make all rows dear" {
    texts
    cd "$files" || return
    { cat text.libsvm; awk 'BEGIN {printf "0"; for (j = 1; j <= 60000; j++) printf " %d:1", j; print ""}'; } >full.libsvm
    nystream import full.nys full.libsvm -q
    for rule in uniform weighted rpcholesky "uniform --probe 20 --certify"; do
        at_least text --kernel cosine --landmarks 300 --select $rule
        usual=$least
        at_least full --kernel cosine --landmarks 300 --select $rule
        [ $((least - usual)) -le $((64 << 20)) ] || { echo "$least, was $usual: $rule" >&2; return 1; }
    done
    at_least full --kernel cosine --landmarks 300 --select greedy --tolerance 0.5
    [ "$least" -le $((256 << 20)) ]
    rm -r full.nys full.libsvm
}

@test "ten times the rows take no more than what is written at once, an eighth of the budget" {
    at_least rows --select uniform --landmarks 300 --components 8
    few=$least
    at_least more --select uniform --landmarks 300 --components 8
    [ $((least - few)) -le $((few / 8)) ]
}

# A budget has room for what no plan can foresee, such as sums in f64, and a run may not need.
@test "the smallest budget is at most one and a half times what wide rows take" {
    cd "$files" || return
    npy_u8 1600 20000 >wide.npy
    nystream import wide.nys wide.npy --dtype f32 -q
    at_least wide --select rpcholesky --landmarks 700
    [ $((2 * least)) -le $((3 * peak)) ] || { echo "$least for $peak" >&2; return 1; }
    rm -r wide.nys wide.npy
}

@test "verify, info, list, select and embed keep 48 MiB" {
    local budget=$((48 << 20)) json
    within $budget nystream verify "$files/more.nys" --memory $budget
    no_oom
    within $budget nystream info "$files/more.nys"
    no_oom
    within $budget nystream list "$files/more.nys"
    no_oom
    within $budget nystream plan "$files/more.nys" --memory $budget -q >plan
    no_oom
    json=$(within $budget nystream select "$files/more.nys" d --select uniform --landmarks 300 \
        --memory $budget --json -q)
    no_oom
    [ "$(field "$json" peak_rss_bytes)" -le $budget ]
    within $budget nystream embed "$files/more.npy" -o e.npy --landmarks 100 --components 60 \
        --memory $budget -q
    no_oom
    [ -s e.npy ]
}

# bats file_tags=
@test "embed names the budget that works where there is no room to import" {
    answers 8 "this fit needs " embed "$files/few.npy" -o e.npy --memory 10M
    least=$(sed -n 's/.*give --memory \([0-9]*M\).*/\1/p' <<<"$stderr")
    ny -0 embed "$files/few.npy" -o e.npy --memory "$least" -q
}

# bats test_tags=slow
@test "transform names the budget that works, once" {
    npy_u8 3000 200 >x.npy
    nystream import s.nys x.npy -q
    nystream fit s.nys map --landmarks 1500 -q
    nystream export s.nys map --part model -o m.nym -q
    for place in "s.nys map" m.nym; do
        answers 8 "this transform needs " transform $place --input x.npy -o y.npy --memory 36M
        least=$(sed -n 's/.*give --memory \([0-9]*M\).*/\1/p' <<<"$stderr")
        ny -0 transform $place --input x.npy -o y.npy --memory "$least"
    done
}

# without_proc COMMAND…: where /proc is empty, as in some sandboxes.
without_proc() {
    # shellcheck disable=SC2016  # words are the inner shell's
    unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}

@test "without /proc the peak of memory is not known, and not 0" {
    without_proc true 2>/dev/null || skip "needs root, to hide /proc"
    store s 60
    run -0 --separate-stderr without_proc nystream fit s a --landmarks 5 --memory 64M
    [[ $stderr == *"peak memory           not known, of 64.0 MiB"* ]]
    for call in "fit s b --landmarks 5" "info s a" "eval s a --clusters 2" "import t s.csv"; do
        run -0 --separate-stderr without_proc nystream $call --json
        [[ $output == *'"peak_rss_bytes": null'* ]] || { echo "$call: $output" >&2; return 1; }
    done
    ny info s a
    [[ $output != *"peak memory"* ]]
    ny -0 report s -o s.html
}
