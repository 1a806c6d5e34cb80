# The memory that a command takes, watched in a memory cgroup (v1 or v2) by the kernel's OOM killer;
# where no group can be made, its peak is read when it has ended.

# Sets $cgroup to a new group's folder, or fails where none can be made.
new_cgroup() {
    local root
    for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        [ -e "$root/memory.limit_in_bytes" ] || [ -e "$root/cgroup.subtree_control" ] || continue
        cgroup=$root/nystream-test-$$-$BATS_TEST_NUMBER
        mkdir "$cgroup" 2>/dev/null || continue
        [ -w "$cgroup/memory.limit_in_bytes" ] && return
        [ -w "$cgroup/memory.max" ] && return
        rmdir "$cgroup"
    done
    cgroup=
    return 1
}

# A cgroup, or else $watch, the program that reads peaks, which goes to the file $peaks. Skips the
# test where there is neither.
need_watch() {
    peaks=$BATS_TEST_TMPDIR/peaks
    watch=$BATS_FILE_TMPDIR/peak
    : >"$peaks"
    [ -z "${NYSTREAM_SANITIZER-}" ] ||
        skip "the memory budgets are not checked: a sanitizer takes memory of its own"
    new_cgroup || [ -x "$watch" ] || cc -O1 "$BATS_TEST_DIRNAME/external/peak.c" -o "$watch" ||
        skip "the memory budgets are not checked: no cgroup can be made, and nothing compiled"
}

remove_cgroup() {
    [ -n "${cgroup-}" ] && [ -d "$cgroup" ] || return 0
    rmdir "$cgroup" 2>/dev/null || { sleep 0.3; rmdir "$cgroup"; }
}

# Limit of the group: the budget and what is allowed above it, max(5 %, 16 MiB).
limit_for() {
    local budget=$1 more=$(($1 / 20))
    [ "$more" -ge $((16 << 20)) ] || more=$((16 << 20))
    echo $((budget + more))
}

# within BUDGET_BYTES COMMAND…: runs it in the group, limited for that budget, or notes its peak.
within() {
    local limit=$1
    shift
    if [ -z "$cgroup" ]; then
        "$watch" "$peaks" "$limit" "$@"
        return
    fi
    echo "0 $limit" >>"${peaks-/dev/null}"
    limit=$(limit_for "$limit")
    if [ -e "$cgroup/memory.max" ]; then
        echo "$limit" >"$cgroup/memory.max"
        [ ! -e "$cgroup/memory.swap.max" ] || echo 0 >"$cgroup/memory.swap.max"
    else
        echo "$limit" >"$cgroup/memory.limit_in_bytes"
    fi
    (
        echo "$BASHPID" >"$cgroup/cgroup.procs"
        exec "$@"
    )
}

# Fails when the OOM killer had to come, or a peak was above its budget.
no_oom() {
    local file=$cgroup/memory.events
    ! awk '$1 > $2 {print "peak " $1 " of " $2}' "${peaks-/dev/null}" | grep . >&2 || return 1
    [ -n "$cgroup" ] || return 0
    [ -e "$file" ] || file=$cgroup/memory.oom_control
    ! grep -E '^oom_kill [1-9]' "$file"
}

# A test in a group of its own, in a folder of its own; the file's stores are in $files.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache NO_COLOR=1 LC_ALL=C
    files=$BATS_FILE_TMPDIR
    need_watch
}

teardown() {
    remove_cgroup
    [ ! -s "${peaks-}" ] || echo "# counted: $(wc -l <"$peaks") memory budgets $(
        [ -n "${cgroup-}" ] && echo watched in a cgroup || echo checked by their peaks)" >&3
}
