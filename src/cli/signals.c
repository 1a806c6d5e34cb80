/* SIGHUP, SIGINT and SIGTERM become a request to checkpoint; a call that does not return in time
 * ends all the same, and says how to go on. A signal that whoever started the command has it ignore
 * (nohup, a shell's background job) stays ignored. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) sends a signal to its command and then to the group of this, and batch systems to each
 * process of a job and to its shell. One that comes again within this time is the same request. */
enum { AGAIN_MS = 250 };

/* The time that a call may take to make its checkpoint and return. */
static const struct itimerval patience = {.it_value = {.tv_sec = 1, .tv_usec = 600000}};

/* The context to interrupt, NULL outside of a verb, and the first signal that came. */
static struct ny_context *volatile watched;
static volatile sig_atomic_t received, received_ms;
/* Signals that ask the command to stop, with the status that it then ends with. */
static const struct {
    int signal, status;
} stops[] = {{SIGINT, NY_EINTERRUPTED}, {SIGTERM, NY_ETERMINATED}, {SIGHUP, NY_EHUNGUP}};
enum { STOPS = sizeof(stops) / sizeof(stops[0]) };

static char last_words[STOPS][8192]; /* of each of the signals */

/* A clock that wraps around: only differences count. */
static unsigned milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned)now.tv_sec * 1000U + (unsigned)(now.tv_nsec / 1000000);
}

/* Handles a signal: the first asks the library to checkpoint and sets the alarm; a second one, or
 * one when nothing is left to stop, ends the process as a shell expects. */
static void stop(int signal)
{
    if (received == signal && milliseconds() - (unsigned)received_ms < AGAIN_MS) return;
    if (received || !watched) _exit(128 + signal);
    received_ms = (sig_atomic_t)milliseconds();
    received = signal;
    ny_context_interrupt(watched, signal);
    setitimer(ITIMER_REAL, &patience, NULL);
}

/* Ends a call that did not return in time, as LAPACK cannot be asked to stop. It only writes text
 * that is ready, because a signal may come in the middle of malloc(). A kill is safe at any time: a
 * job loses its work since the last checkpoint, and nothing else. */
static void lose_patience(int signal)
{
    const char *words = last_words[0];
    size_t left;

    (void)signal;
    for (int i = 0; i < STOPS; i++)
        if (stops[i].signal == received) words = last_words[i];
    left = strlen(words);
    while (left > 0) {
        ssize_t written = write(STDERR_FILENO, words, left);

        if (written <= 0) break;
        words += written;
        left -= (size_t)written;
    }
    _exit(128 + received);
}

/* Chooses what the verb leaves behind when it is ended inside a long step. */
static struct cli_last_words words_of(const struct verb *verb)
{
    if (verb->resumable)
        return (struct cli_last_words){"stopped during a long step; the last checkpoint is kept",
                                       true};
    return (struct cli_last_words){"stopped during a long step; nothing was changed", false};
}

/* Makes the last words of each signal while functions such as fprintf() may still be called. */
static void prepare_words(const struct command *command)
{
    for (int i = 0; i < STOPS; i++) {
        last_words[i][0] = '\0';
        if (command)
            cli_print_last_words(command, words_of(command->verb), stops[i].status, last_words[i],
                                 sizeof(last_words[i]));
    }
}

/* Tells whether whoever started the command has it ignore this signal, as nohup does SIGHUP. */
static bool is_ignored(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void cli_watch_signals(struct command *command)
{
    /* SA_RESTART is not set: a read that waits for a pipe must notice. */
    struct sigaction action = {.sa_handler = stop}, alarm = {.sa_handler = lose_patience};
    struct itimerval never = {0};

    setitimer(ITIMER_REAL, &never, NULL);
    watched = command ? command->context : NULL;
    prepare_words(command);
    sigemptyset(&action.sa_mask);
    sigemptyset(&alarm.sa_mask);
    sigaction(SIGALRM, &alarm, NULL);
    for (int i = 0; i < STOPS; i++)
        if (!is_ignored(stops[i].signal)) sigaction(stops[i].signal, &action, NULL);
}
