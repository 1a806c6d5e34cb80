/* SIGHUP, SIGINT and SIGTERM become a request to checkpoint; a call that does not return in time
 * ends all the same, and says how to go on. A signal that whoever started the command has it ignore
 * (nohup, a shell's background job) stays ignored. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The time that a call may take to make its checkpoint and return. */
static const struct itimerval patience = {.it_value = {.tv_sec = 1, .tv_usec = 600000}};

static struct ny_context *volatile watched;
static volatile sig_atomic_t received;
static const struct {
    int signal, status;
} stops[] = {{SIGINT, NY_EINTERRUPTED}, {SIGTERM, NY_ETERMINATED}, {SIGHUP, NY_EHUNGUP}};
enum { STOPS = sizeof(stops) / sizeof(stops[0]) };

static char last_words[STOPS][8192]; /* of each of the signals */

static void stop(int signal)
{
    if (received || !watched) _exit(128 + signal);
    received = signal;
    ny_context_interrupt(watched, signal);
    setitimer(ITIMER_REAL, &patience, NULL);
}

/* LAPACK cannot be asked to stop. A kill is safe at any time: of a job, the work since the last
 * checkpoint is lost, and nothing else. */
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

static struct cli_last_words words_of(const struct verb *verb)
{
    if (verb->resumable)
        return (struct cli_last_words){
            "stopped inside a long step; the checkpoint before it is kept", true};
    if (verb->groups & NY_GROUP_EMBED)
        return (struct cli_last_words){
            "stopped inside a long step; its temporary store, a folder .nystream-… beside the "
            "output or in --tmpdir, is left behind: remove it",
            false};
    return (struct cli_last_words){"stopped inside a long step; nothing is changed", false};
}

static void prepare_words(const struct command *command)
{
    for (int i = 0; i < STOPS; i++) {
        last_words[i][0] = '\0';
        if (command)
            cli_print_last_words(command, words_of(command->verb), stops[i].status, last_words[i],
                                 sizeof(last_words[i]));
    }
}

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
