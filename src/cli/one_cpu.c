/*
 * OpenBLAS starts a thread for every CPU when it is loaded: on a server of 64 CPUs each command
 * would begin with 63 threads that spin for some 25 ms, keep 4 MiB and 8 GiB of address space, and
 * mostly have nothing to do; where address space is short (ulimit -v) they spin for ever. The
 * library starts what it needs later (ny_blas_parallel()). OpenBLAS looks at the CPUs that the
 * process may use, so that while libraries are loaded it is shown one. A variable of the
 * environment would say the same, but cannot be set that early.
 *
 * Versions after 0.3.21 also map a buffer for that one thread, and try for ever where a limit of
 * the process (ulimit -v or -d) refuses it. If there is no room for one, a child process loads the
 * libraries first, and the command is refused if the child does not come to its end.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

/* The CPUs that the process may use, to be given back by cli_use_all_cpus(). */
static cpu_set_t cpus;
static bool narrowed;
static bool is_trial; /* this is the child, which ends where main() begins */

/* The functions below run before the constructors of the libraries, of sanitizers too: they call
 * the kernel themselves. */
static void narrow_to_one_cpu(void)
{
    cpu_set_t one;
    size_t first = 0;

    CPU_ZERO(&one);
    CPU_ZERO(&cpus);
    if (syscall(SYS_sched_getaffinity, 0, sizeof(cpus), &cpus) < 0) return;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &cpus))
        first++;
    CPU_SET(first, &one);
    narrowed = syscall(SYS_sched_setaffinity, 0, sizeof(one), &one) == 0;
}

/* Loads the libraries in a child, which may take a second of CPU time for it: they need a hundredth
 * of that. */
static void try_to_load(void)
{
    static const char words[] =
        "nystream: OpenBLAS needs 130 MiB when it is loaded, and the limit of this process (ulimit "
        "-v or -d) leaves less: raise it\n";
    const struct rlimit second = {1, 1};
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    int status = 0;

    is_trial = child == 0;
    if (is_trial) syscall(SYS_prlimit64, 0, RLIMIT_CPU, &second, NULL);
    if (child <= 0 || syscall(SYS_wait4, child, &status, 0, NULL) < 0 || !WIFSIGNALED(status))
        return;
    syscall(SYS_write, STDERR_FILENO, words, sizeof(words) - 1);
    syscall(SYS_exit_group, NY_EBUDGET);
}

static void before_libraries(int argc, char **argv, char **environment)
{
    const size_t buffer_bytes = (size_t)130 << 20;
    long at = syscall(SYS_mmap, NULL, buffer_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)argc;
    (void)argv;
    (void)environment;
    narrow_to_one_cpu();
    if (at == -1)
        try_to_load();
    else
        syscall(SYS_munmap, at, buffer_bytes);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **, char **) = before_libraries;

void cli_use_all_cpus(void)
{
    if (is_trial) _exit(0);
    if (narrowed) syscall(SYS_sched_setaffinity, 0, sizeof(cpus), &cpus);
}
