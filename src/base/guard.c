/*
 * A bad sector, or a file cut short, below a memory map arrives as SIGBUS at the load instruction.
 * One handler for the process jumps out of the reads that are guarded; a SIGBUS from anywhere else
 * goes to whoever had the signal before.
 *
 * Other handlers, such as Python's faulthandler, may be installed before this one or after it, or
 * both: a signal that comes back while it is passed on ends the process.
 */
#include "base/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "nystream.h"

/* Initial-exec variables are there in each thread: a handler must not allocate them. */
#define IN_HANDLER __attribute__((tls_model("initial-exec"))) _Thread_local

static IN_HANDLER sigjmp_buf *landing;
static IN_HANDLER bool passing;
static struct sigaction previous;

static void on_sigbus(int signal, siginfo_t *info, void *machine)
{
    static const struct sigaction fatal = {.sa_handler = SIG_DFL};
    const bool chained = previous.sa_flags & SA_SIGINFO ||
                         (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);

    if (landing) siglongjmp(*landing, 1);
    if (!chained || passing) {
        sigaction(signal, &fatal, NULL); /* the instruction runs again and faults there */
        if (info->si_code <= 0) raise(signal);
        return;
    }
    passing = true;
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal, info, machine);
    else
        previous.sa_handler(signal);
    passing = false;
}

void ny_guard_install(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction now;

    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_sigbus)
        return;
    previous = now;
    sigaction(SIGBUS, &action, NULL);
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
