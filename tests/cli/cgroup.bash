# A memory cgroup (v1 or v2) around a command, with the kernel's OOM killer watching.

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

# Skips the test, saying why, where no group can be made.
need_cgroup() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "a sanitizer takes memory of its own"
    new_cgroup || skip "no memory cgroup can be made here (it needs root, and cgroup v1 or v2)"
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

# within BUDGET_BYTES COMMAND…: runs it in the group, limited for that budget.
within() {
    local limit
    limit=$(limit_for "$1")
    shift
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

# Fails when the OOM killer had to come.
no_oom() {
    local file=$cgroup/memory.events
    [ -e "$file" ] || file=$cgroup/memory.oom_control
    ! grep -E '^oom_kill [1-9]' "$file"
}

# A test in a group of its own, in a folder of its own; the file's stores are in $files.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache NO_COLOR=1 LC_ALL=C
    files=$BATS_FILE_TMPDIR
    need_cgroup
}

teardown() {
    remove_cgroup
}
