#include "cli/cli.h"

#include <signal.h>
#include <unistd.h>

static struct ny_context *volatile watched;
static volatile sig_atomic_t received;

static void stop(int signal)
{
    if (received || !watched) _exit(128 + signal);
    received = 1;
    ny_context_interrupt(watched, signal);
}

void cli_watch_signals(struct ny_context *context)
{
    /* No SA_RESTART: a read that waits for a pipe must notice. */
    struct sigaction action = {.sa_handler = stop};

    watched = context;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
