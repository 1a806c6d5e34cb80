# The memory budget is kept, the kernel watching: a cgroup of the budget + max(5 %, 16 MiB), for every
# verb that reads points, from the smallest budget that the plan allows.
# on disk
load helper
load cgroup

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    npy_u8 60000 16 >small.npy
    npy_u8 600000 16 >large.npy
    nystream import small.nys small.npy -q
    nystream import large.nys large.npy -q
}

# at_most BUDGET JSON: the resident set stayed in it, and so did the group.
at_most() {
    local peak
    peak=$(field "$2" peak_rss_bytes)
    [ "$peak" -gt 0 ] && [ "$peak" -le "$1" ] && no_oom && return
    echo "peak $peak of $1" >&2
    return 1
}

# fits_within STORE BUDGETS OPTION…: at the plan's smallest budget, and at round ones above it.
fits_within() {
    local store=$1 budgets=$2 least budget json
    shift 2
    least=$(field "$(nystream plan "$store" --json "$@")" memory_min_bytes)
    for budget in "$least" $budgets; do
        [ "$budget" -ge "$least" ] || continue
        json=$(within "$budget" nystream fit "$store" x --restart --json --memory "$budget" "$@") ||
            return
        at_most "$budget" "$json" || return
    done
    echo "$least" >>least
}

# Checks both stores: the plan grows with n by no more than `growth` bytes a row.
fits_both() {
    local growth=$1 least
    shift
    rm -f least
    fits_within "$files/small.nys" "$((64 << 20)) $((128 << 20)) $((256 << 20))" "$@"
    fits_within "$files/large.nys" "" "$@"
    mapfile -t least <least
    [ $((least[1] - least[0])) -le $((540000 * growth + 4096)) ]
}

# Slurm runs a task in a group without a limit, in the limited groups of its step and job.
@test "the budget is half of what the groups above allow" {
    [ -n "$cgroup" ] || skip "no cgroup can be made"
    local inner=$cgroup/inner said
    within $((400 << 20)) true
    mkdir "$inner"
    said=$(echo "$BASHPID" >"$inner/cgroup.procs" && exec nystream fit "$files/small.nys" half --landmarks 20 2>&1)
    rmdir "$inner" || { sleep 0.3; rmdir "$inner"; }
    [[ $said == *"of 210 MiB"* ]] # half of 400 MiB and the 20 MiB that are allowed above it
}

@test "import keeps 32, 64, 128 and 256 MiB" {
    for budget in 32 64 128 256; do
        json=$(within $((budget << 20)) nystream import $budget.nys "$files/large.npy" --json \
            --memory ${budget}M)
        at_most $((budget << 20)) "$json"
    done
    json=$(within $((64 << 20)) nystream import s.nys "$files/large.npy" --shuffle --json \
        --memory 64M)
    at_most $((64 << 20)) "$json"
}

# bats file_tags=slow
@test "nystrom over uniform landmarks" {
    fits_both 0 --approx nystrom --landmarks 500 --components 8
}

# Random bytes are all far from one another: every row would join a dictionary, up to the cap. The rows'
# residuals take 4 bytes each, their image and its pages as many again.
@test "methods over landmarks of other rules" {
    while read -r options; do
        fits_both $options
    done <<'END'
0 --approx column --landmarks 400 --components 8
0 --approx projected --select uniform --landmarks 500 --components 20
12 --approx nystrom --select greedy --tolerance 0.1 --landmarks 300
12 --approx column --select greedy --tolerance 0.1 --landmarks 300
12 --approx projected --select greedy --tolerance 0.1 --landmarks 300
12 --approx projected --select rpcholesky --landmarks 300
END
}

@test "export and transform keep 32, 64, 128 and 256 MiB" {
    nystream fit "$files/large.nys" e --landmarks 200 --components 40 -q --restart
    for budget in 32 64 128 256; do
        within $((budget << 20)) nystream export "$files/large.nys" e -o e$budget.npy \
            --memory ${budget}M
        within $((budget << 20)) nystream transform "$files/large.nys" e \
            --input "$files/large.npy" -o t$budget.npy --memory ${budget}M
        no_oom
        cmp e$budget.npy e32.npy
        cmp t$budget.npy t32.npy
    done
}

# Points are in memory in part at the first, all of them at the last.
@test "a graph by a sieve" {
    too_little graph "$files/small.nys" f --knn sieve --memory 24M --restart
    for budget in "$least" $((128 << 20)); do
        json=$(within "$budget" nystream graph "$files/small.nys" f --knn sieve --restart --json \
            --recall 0.8 --memory "$budget")
        at_most "$budget" "$json"
    done
}

# bats file_tags=
@test "a budget below the least is refused, and the message says what would do" {
    least=$(field "$(nystream plan "$files/small.nys" --json --landmarks 500)" memory_min_bytes)
    answers 8 "needs $least bytes" fit "$files/small.nys" y --landmarks 500 --memory $((least - 1))
    ny list "$files/small.nys"
    [[ $output != *y* ]]
}

# bats file_tags=slow
@test "selections, updates and plans under a budget too small for anything name one that works" {
    npy_u8 20000 16 >p.npy
    npy_u8 300 16 >more.npy
    nystream import least.nys p.npy -q
    nystream fit least.nys a --landmarks 200 -q
    nystream import least.nys more.npy --append -q
    for command in "select least.nys s --landmarks 200 --restart" "select least.nys s --select uniform --restart" \
        "select least.nys s --select weighted --landmarks 50 --restart" \
        "select least.nys s --select greedy --tolerance 0.3 --landmarks 300 --restart" \
        "fit least.nys b --select greedy --tolerance 0.3 --landmarks 300 --restart" "fit least.nys a --update frozen"; do
        ny -8 $command --memory 1M
        [[ $stderr =~ give\ --memory\ ([0-9]+M) ]]
        least=${BASH_REMATCH[1]}
        ny -8 $command --memory 20M
        ny -0 $command --memory "$least"
    done
    nystream import least.nys more.npy --append -q
    ny -8 fit least.nys a --update full --memory 1M
    [[ $stderr =~ give\ --memory\ ([0-9]+M) ]]
    ny -0 fit least.nys a --update full --memory "${BASH_REMATCH[1]}"
    ny -0 plan least.nys --landmarks 200 --memory 1M --json
    [ "$(field "$output" fits)" = false ]
    ny -0 fit least.nys c --landmarks 200 --memory "$(field "$output" memory_min_bytes)"
}

# reaches RUNS COMMAND…: with the budgets that refusals name it ends well within so many runs.
reaches() {
    local runs=$1 budget=32M
    shift
    while [ "$runs" -gt 0 ]; do
        ny "$@" --memory "$budget"
        [ "$status" -ne 0 ] || return 0
        exits 8
        [[ $stderr =~ give\ --memory\ ([0-9]+M?) ]] || return
        budget=${BASH_REMATCH[1]}
        runs=$((runs - 1))
    done
    echo "not enough: $budget for $*" >&2
    return 1
}

@test "a few budgets that refusals name lead to one that is enough" {
    npy_u8 400 20000 >wide.npy
    nystream import wide.nys wide.npy -q --dtype f32
    nystream fit wide.nys f --landmarks 20 -q
    reaches 5 transform wide.nys f --input wide.npy -o t.npy
    npy_u8 60000 2 >long.npy
    nystream import long.nys long.npy -q
    nystream fit long.nys f --landmarks 20 -q
    reaches 3 import shuffled.nys long.npy --shuffle --dtype f32
    reaches 3 plot long.nys f -o f.pdf
}
