/*
 * A bad sector, or a file cut short, below a memory map arrives as SIGBUS at the load instruction.
 * One handler for the process jumps out of the reads that this folder guards; a SIGBUS from
 * anywhere else goes to whoever had the signal before.
 */
#include "store/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "store/store.h"

static _Thread_local sigjmp_buf *landing;
static struct sigaction previous;

static void on_sigbus(int signal, siginfo_t *info, void *machine)
{
    (void)machine;
    if (landing) siglongjmp(*landing, 1);
    sigaction(signal, &previous, NULL); /* the instruction runs again and faults there */
    if (info->si_code <= 0) raise(signal);
}

void ny_store_guard_sigbus(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction now;

    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_sigbus)
        return;
    sigaction(SIGBUS, &action, &previous);
}

int ny_guarded(ny_guarded_fn *work, void *arg)
{
    sigjmp_buf here;
    sigjmp_buf *volatile outer = landing;
    int err;

    if (sigsetjmp(here, 0)) {
        landing = outer;
        return NY_EIO;
    }
    landing = &here;
    err = work(arg);
    landing = outer;
    return err;
}
