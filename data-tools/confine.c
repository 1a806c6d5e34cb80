/*
 * Limits of a process that reads a file which may be damaged, or made to do harm: libhdf5 may loop
 * for ever on a flipped bit, take any memory, and has had faults that run code of the file.
 *
 * The parent sets a soft limit of CPU time (src/io/child.c), which is for reading on without coming
 * to anything new: it is renewed with each piece that is found. A process beyond it ends by
 * SIGXCPU.
 */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

static struct rlimit seconds; /* of CPU time: those that were given */

/* The parent may have ended before the kernel was asked to tell. It reads the pipe, which then has
 * no other end. */
static void end_with_parent(void)
{
    struct pollfd rows = {.fd = STDOUT_FILENO};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&rows, 1, 0) > 0 && (rows.revents & POLLERR)) _exit(NY_EIO);
}

void confine_begin(struct ny_context *ctx, uint64_t memory)
{
    const struct rlimit none = {0, 0}, data = {memory, memory};

    end_with_parent();
    setrlimit(RLIMIT_CORE, &none);
    if (getrlimit(RLIMIT_CPU, &seconds)) seconds.rlim_cur = RLIM_INFINITY;
    if (!memory) return;
    ny_context_set_memory(ctx, memory);
    if (NY_CONFINED) setrlimit(RLIMIT_DATA, &data);
}

void confine_renew(void)
{
    static time_t last;
    struct timespec used;
    struct rlimit next = seconds;

    if (seconds.rlim_cur == RLIM_INFINITY || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)) return;
    if (used.tv_sec == last) return;
    last = used.tv_sec;
    next.rlim_cur += (rlim_t)last;
    if (next.rlim_cur > next.rlim_max) next.rlim_cur = next.rlim_max;
    setrlimit(RLIMIT_CPU, &next);
}

/* ---- calls of the system --------------------------------------------------------------------- */

/* Reading; memory; libraries of filters, which libhdf5 loads when it meets the first chunk; time
 * and limits; the end, also by abort(). */
static const unsigned short calls[] = {
    SYS_read,        SYS_pread64,   SYS_readv,        SYS_write,           SYS_writev,
    SYS_lseek,       SYS_fstat,     SYS_newfstatat,   SYS_getdents64,      SYS_close,
    SYS_mmap,        SYS_munmap,    SYS_mremap,       SYS_mprotect,        SYS_madvise,
    SYS_brk,         SYS_futex,     SYS_getrandom,    SYS_restart_syscall, SYS_clock_gettime,
    SYS_prlimit64,   SYS_getrusage, SYS_rt_sigaction, SYS_rt_sigprocmask,  SYS_rt_sigreturn,
    SYS_sched_yield, SYS_getpid,    SYS_gettid,       SYS_tgkill,          SYS_exit,
    SYS_exit_group};
enum { CALLS = sizeof calls / sizeof *calls, CHECKS = 2 * CALLS + 9 };

#define FIELD(name) ((unsigned)offsetof(struct seccomp_data, name))
#define LOAD(at) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at))
#define ANSWER(what) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what))
#define UNLESS(value) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1))

/* Files may be opened to read them alone; other calls fail as if they were not permitted. */
void confine_calls(void)
{
    struct sock_filter checks[CHECKS];
    struct sock_fprog program = {.filter = checks};
    unsigned short n = 0;

    if (!NY_CONFINED || !NY_AUDIT_ARCH) return;
    checks[n++] = LOAD(FIELD(arch));
    checks[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NY_AUDIT_ARCH, 1, 0);
    checks[n++] = ANSWER(SECCOMP_RET_ERRNO | EPERM);
    checks[n++] = LOAD(FIELD(nr));
    for (int i = 0; i < CALLS; i++) {
        checks[n++] = UNLESS(calls[i]);
        checks[n++] = ANSWER(SECCOMP_RET_ALLOW);
    }
    /* openat() with flags that neither write nor create */
    checks[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3);
    checks[n++] = LOAD(FIELD(args[2]));
    checks[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
                                               O_ACCMODE | O_CREAT | O_TRUNC, 1, 0);
    checks[n++] = ANSWER(SECCOMP_RET_ALLOW);
    checks[n++] = ANSWER(SECCOMP_RET_ERRNO | EPERM);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return;
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
