/*
 * The child of io/child.h. It is started by posix_spawn, with the signals of a new process, and its
 * standard error is a file in memory: what it said is shown only where it failed, as one line of
 * printable characters, since nothing that it writes is believed. Exit statuses are those of
 * nystream; any other is damage of the file. Its CPU time is limited, so that it ends, also where
 * this process was killed and nobody waits for it.
 */
#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/memory.h"
#include "base/system.h"
#include "io/number.h"
#include "io/refuse.h"

enum { ARGUMENTS_MAX = 16, MESSAGE_BYTES = 1200, WAITS = 1000 };

extern char **environ;

struct ny_child {
    struct ny_context *ctx;
    struct ny_child_spec spec;
    int errors; /* its standard error */
    pid_t pid;  /* 0: it has ended */
    int status;
};

/* ---- where it is ------------------------------------------------------------------------------
 */

/* Finds the program. A name without a slash is left to PATH. */
static const char *find(const struct ny_child_spec *spec, char *path)
{
    const char *set = getenv(spec->variable);

    if (set && *set) return set;
    return ny_find_beside(spec->program, "bin", X_OK, path) ? path : spec->program;
}

/* ---- its life ---------------------------------------------------------------------------------
 */

/* Sets what the child has for its three standard files, and its signals. */
static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *how, const int fds[3])
{
    sigset_t all, none;
    int err = 0;

    sigfillset(&all);
    sigemptyset(&none);
    for (int i = 0; !err && i < 3; i++)
        err = posix_spawn_file_actions_adddup2(files, fds[i], i);
    if (!err) err = posix_spawnattr_setsigdefault(how, &all);
    if (!err) err = posix_spawnattr_setsigmask(how, &none);
    if (!err) err = posix_spawnattr_setflags(how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return err;
}

/* Returns 0, or the number of an error. */
static int spawn(struct ny_child *child, const char *program, int output)
{
    const int fds[3] = {child->spec.input, output, child->errors};
    char *arguments[ARGUMENTS_MAX + 2] = {(char *)(uintptr_t)child->spec.program};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    int err;

    for (size_t i = 0; i < ARGUMENTS_MAX && child->spec.arguments[i]; i++)
        arguments[i + 1] = (char *)(uintptr_t)child->spec.arguments[i];
    if (posix_spawn_file_actions_init(&files)) return ENOMEM;
    if (posix_spawnattr_init(&how)) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    err = prepare(&files, &how, fds);
    if (!err) err = posix_spawnp(&child->pid, program, &files, &how, arguments, environ);
    if (err)
        child->pid = 0;
    else
        ny_limit_seconds(child->pid, child->spec.seconds);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return err;
}

int ny_child_start(struct ny_child **out, struct ny_context *ctx, const struct ny_child_spec *spec,
                   int *output)
{
    struct ny_child *child = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*child));
    char path[PATH_MAX];
    const char *program = find(spec, path);
    int ends[2] = {-1, -1}, err;

    *out = NULL;
    *output = -1;
    if (!child) return NY_EBUDGET;
    child->ctx = ctx;
    child->spec = *spec;
    child->errors = ny_open_memory(spec->program);
    if (child->errors < 0 || ny_open_pipe(ends)) {
        err = ny_fail_errno(ctx, "read", spec->path);
        goto done;
    }
    err = spawn(child, program, ends[1]);
    if (err)
        err = ny_fail_at(ctx, NY_EIO, spec->path, NY_NO_LINE,
                         "%s: cannot start %s (%s); install it, or name it in %s", spec->path,
                         program, strerror(err), spec->variable);
done:
    if (ends[1] >= 0) close(ends[1]);
    if (err) {
        if (ends[0] >= 0) close(ends[0]);
        ny_child_free(child);
        return err;
    }
    *output = ends[0];
    *out = child;
    return NY_OK;
}

/* Waits for the child's end: at most ten seconds, then it is killed. */
static void reap(struct ny_child *child)
{
    const struct timespec pause = {0, 10000000};

    for (int i = 0; child->pid && i < WAITS; i++) {
        pid_t ended = waitpid(child->pid, &child->status, WNOHANG);

        if (ended == child->pid || (ended < 0 && errno == ECHILD)) child->pid = 0;
        if (ended == 0) nanosleep(&pause, NULL);
        if (ended == 0 && ny_check_interrupt(child->ctx)) break;
    }
    if (!child->pid) return;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
}

void ny_child_free(struct ny_child *child)
{
    if (!child) return;
    if (child->pid) kill(child->pid, SIGKILL);
    reap(child);
    if (child->errors >= 0) close(child->errors);
    ny_free(child->ctx, child);
}

/* ---- what became of it ------------------------------------------------------------------------
 */

/* Reads what the child said, as one line without its full stop; "" where it said nothing. */
static void read_message(const struct ny_child *child, char text[MESSAGE_BYTES])
{
    ssize_t length = pread(child->errors, text, MESSAGE_BYTES - 1, 0);

    if (length < 0) length = 0;
    while (length > 0 && strchr("\n. ", text[length - 1]))
        length--;
    text[length] = '\0';
    for (ssize_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) text[i] = ' ';
    if (!ny_is_utf8(text, (size_t)length))
        for (ssize_t i = 0; i < length; i++)
            if ((unsigned char)text[i] > 0x7e) text[i] = '?';
}

/* Fails with what the child said and the status that it ended with. */
static int fail_status(struct ny_child *child)
{
    static const int known[] = {NY_EUSAGE, NY_EDATA, NY_EIO, NY_EBUDGET};
    char text[MESSAGE_BYTES];
    int status = WEXITSTATUS(child->status);

    read_message(child, text);
    for (size_t i = 0; *text && i < sizeof(known) / sizeof(*known); i++)
        if (status == known[i])
            return ny_fail_at(child->ctx, status, child->spec.path, NY_NO_LINE, "%s", text);
    return ny_refuse_damaged(child->ctx, child->spec.path, NY_NO_LINE);
}

bool ny_child_failed(struct ny_child *child)
{
    reap(child);
    return child->status != 0;
}

int ny_child_finish(struct ny_child *child)
{
    int signal_number, err;

    reap(child);
    err = ny_check_interrupt(child->ctx);
    if (err) return err;
    if (WIFEXITED(child->status)) return WEXITSTATUS(child->status) ? fail_status(child) : NY_OK;
    signal_number = WTERMSIG(child->status);
    if (signal_number == SIGKILL || signal_number == SIGTERM || signal_number == SIGINT)
        return ny_fail_at(child->ctx, NY_EIO, child->spec.path, NY_NO_LINE,
                          "%s: %s, which reads it, was killed; run the command again",
                          child->spec.path, child->spec.program);
    return ny_refuse_damaged(child->ctx, child->spec.path, NY_NO_LINE);
}
