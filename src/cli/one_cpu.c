/*
 * OpenBLAS starts a thread for every CPU when it is loaded: on a server of 64 CPUs each command
 * would begin with 63 threads that spin for some 25 ms, keep 4 MiB and 8 GiB of address space, and
 * mostly have nothing to do; where address space is short (ulimit -v) they spin for ever. The
 * library starts what it needs later (ny_blas_parallel()). OpenBLAS looks at the CPUs that the
 * process may use, so that while libraries are loaded it is shown one. A variable of the
 * environment would say the same, but cannot be set that early.
 */
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cli.h"

/* The CPUs that the process may use, to be given back by cli_use_all_cpus(). */
static cpu_set_t cpus;
static bool narrowed;

/* Runs before the constructors of the libraries, of sanitizers too: it calls the kernel itself. */
static void narrow_to_one_cpu(int argc, char **argv, char **environment)
{
    cpu_set_t one;
    size_t first = 0;

    (void)argc;
    (void)argv;
    (void)environment;
    CPU_ZERO(&one);
    CPU_ZERO(&cpus);
    if (syscall(SYS_sched_getaffinity, 0, sizeof(cpus), &cpus) < 0) return;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &cpus))
        first++;
    CPU_SET(first, &one);
    narrowed = syscall(SYS_sched_setaffinity, 0, sizeof(one), &one) == 0;
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **, char **) = narrow_to_one_cpu;

void cli_use_all_cpus(void)
{
    if (narrowed) syscall(SYS_sched_setaffinity, 0, sizeof(cpus), &cpus);
}
