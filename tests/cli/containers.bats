# Limits of containers: no /proc, a small /dev/shm, a root that cannot be written, a user without a name,
# system calls that a filter refuses, control groups, and other numbers of CPUs. Each works, or says why.
load helper

setup() {
    own_folder || return
    table 3000 8 >t.csv
}

# Skips unless namespaces can be made and mounted in.
need_mounts() {
    unshare -m mount -t tmpfs tmpfs /mnt 2>/dev/null || skip "mounting is forbidden here"
}

# inside MOUNTS COMMAND…: runs a command in a mount namespace, after the mounts, a line of shell.
inside() {
    local mounts=$1
    shift
    unshare -m sh -euc "$mounts"' ; exec "$@"' sh "$@"
}

# session COMMAND…: a whole session, each command of it started by COMMAND; its result is as without.
session() {
    [ -e one.npy ] || {
        nystream import one t.csv -q
        nystream fit one a --landmarks 60 -q
        nystream export one a -o one.npy -q
    }
    "$@" nystream import s t.csv -q
    "$@" nystream fit s a --landmarks 60 -q
    "$@" nystream export s a -o s.npy -q
    "$@" nystream info s >/dev/null
    "$@" nystream verify s -q
    cmp one.npy s.npy
    rm -r s s.npy
}

@test "without /proc" {
    need_mounts
    session inside 'mount -t tmpfs tmpfs /proc'
}

@test "a /dev/shm of 64 MB, and none that can be written" {
    need_mounts
    session inside 'mount -t tmpfs -o size=64m tmpfs /dev/shm'
    session inside 'mount -t tmpfs -o ro tmpfs /dev/shm'
}

@test "a root that cannot be written but for the store's folder" {
    need_mounts
    session inside "mount --bind $PWD $PWD; mount -o remount,bind,ro /; cd $PWD"
    ! inside 'mount -t tmpfs -o ro tmpfs /mnt' nystream import /mnt/s t.csv -q 2>said || false
}

@test "a user who has no name" {
    [ "$(id -u)" -eq 0 ] || skip "only root can be another user"
    command -v setpriv >/dev/null || skip "no setpriv"
    chmod 777 . "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR" 2>/dev/null
    session env HOME=/nonexistent XDG_CACHE_HOME= setpriv --reuid 54321 --regid 54321 --clear-groups
}

@test "one CPU, and 64 threads" {
    session taskset 1
    nystream import s t.csv -q
    nystream fit s a --landmarks 60 --threads 64 -q
    writes one.npy "s a"
}

# budget GROUP FILE BYTES: prints the budget of a fit in a control group that has such a limit.
budget() {
    printf '%s\n' "$1" >group
    field "$(inside "mount --bind $PWD/group /proc/\$\$/cgroup; mount -t tmpfs tmpfs /sys/fs/cgroup
        mkdir -p /sys/fs/cgroup/$2; rmdir /sys/fs/cgroup/$2; echo $3 >/sys/fs/cgroup/$2" \
        nystream fit s a --restart --landmarks 20 --json -q)" memory_budget_bytes
}

@test "limits of control groups, of version 1 and 2" {
    need_mounts
    [ -d /sys/fs/cgroup ] || skip "there is no /sys/fs/cgroup"
    nystream import s t.csv -q
    local half=$((100 << 20))
    [ "$(budget 0::/job/task job/memory.max $((2 * half)))" -eq $half ]
    [ "$(budget 0::/job/task job/task/memory.max $((2 * half)))" -eq $half ]
    [ "$(budget 9:memory:/docker/one memory/docker/memory.limit_in_bytes $((2 * half)))" -eq $half ]
}

# Makes ./filter, which runs a command to whose calls of these three the kernel answers ENOSYS.
make_filter() {
    cat >filter.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_copy_file_range, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 99;
    execvp(argv[1], argv + 1);
    return 98;
}
END
    cc filter.c -o filter || skip "no compiler"
    ./filter true || skip "no filter of system calls can be set here"
}

@test "a filter that knows neither memfd_create, renameat2 nor copy_file_range" {
    make_filter
    session ./filter
    nystream import s t.csv -q
    nystream fit s a --landmarks 60 -q
    nystream rm s a -q
    ./filter nystream compact s -q 2>said || grep -q "cannot rename" said
    nystream verify s -q
}
