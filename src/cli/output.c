/*
 * Writes the command's output: reports on the standard output; errors on the standard error, as a
 * sentence or as one JSON object if --json is anywhere on the line, even behind the word that is
 * wrong.
 *
 * All functions that print an error return the exit status, so that a verb can end with `return
 * cli_fail(…)`. A line of progress is taken off the screen before anything is printed.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 2048 };

void cli_prepare_output(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            /* The other way round, so that what is written to it fails, as it should. */
            int opened = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);

            if (opened >= 0 && opened != fd) close(opened);
        }
    /* A pipe that nobody reads and a file beyond `ulimit -f` are errors of the write. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Each line is written at once: lines of several processes (mpirun) must not be mixed up. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

/* ---- reports ------------------------------------------------------------------------------ */

int cli_print_json(struct command *command, const struct ny_report *report)
{
    const char *json = ny_report_json(report);

    if (!json) return cli_no_memory(command);
    puts(json);
    return NY_OK;
}

int cli_print_report(struct command *command, int status, struct ny_report *report,
                     cli_print_fn *print)
{
    json_t *facts = NULL;

    cli_display_clear(&command->display);
    if (status) {
        status = cli_fail_library(command, status);
    } else if (command->json) {
        status = cli_print_json(command, report);
    } else {
        facts = cli_facts(report);
        if (facts)
            print(command, facts);
        else
            status = cli_no_memory(command);
    }
    json_decref(facts);
    ny_report_free(report);
    return status;
}

/* ---- errors ------------------------------------------------------------------------------- */

/* Parts of an error besides its sentence. */
struct failure {
    int status;
    const struct ny_error *error; /* file and line, or NULL */
    const char *resume;           /* the command that goes on, or NULL */
    bool usage;
};

/* Prints {"error":{"code":…,"kind":…,"message":…,"file":…,"line":…}}, with null for what is not
 * known; "resume" is there only if a command goes on. */
static void print_json_error(FILE *file, const struct failure *failure, const char *message)
{
    const struct ny_error *error = failure->error;

    fprintf(file, "{\"error\":{\"code\":%d,\"kind\":", failure->status);
    cli_write_json_string(file, ny_status_kind(failure->status));
    fputs(",\"message\":", file);
    cli_write_json_string(file, message);
    fputs(",\"file\":", file);
    cli_write_json_string(file, error ? error->file : NULL);
    if (error && error->file && error->has_line)
        fprintf(file, ",\"line\":%llu", (unsigned long long)error->line);
    else
        fputs(",\"line\":null", file);
    if (failure->resume) {
        fputs(",\"resume\":", file);
        cli_write_json_string(file, failure->resume);
    }
    fputs("}}\n", file);
}

/* Prints "nystream: MESSAGE" and, where they apply, the usage line and "resume with: COMMAND". */
static void print_failure(FILE *file, const struct command *command, const struct failure *failure,
                          const char *message)
{
    if (command->json_wanted) {
        print_json_error(file, failure, message);
        return;
    }
    fputs("nystream: ", file);
    cli_print_text(file, message);
    fputc('\n', file);
    if (failure->usage) {
        if (command->verb)
            cli_print_usage(file, command->verb);
        else
            fputs("usage: nystream VERB …; `nystream help` lists the verbs\n", file);
    }
    if (failure->resume) fprintf(file, "resume with: %s\n", failure->resume);
}

static int print_error(struct command *command, const struct failure *failure, const char *message)
{
    cli_display_clear(&command->display);
    print_failure(stderr, command, failure, message);
    return failure->status;
}

void cli_print_last_words(const struct command *command, struct cli_last_words words, int status,
                          char *text, size_t bytes)
{
    const struct failure failure = {
        .status = status, .resume = words.resumable ? ny_context_command(command->context) : NULL};
    FILE *file = fmemopen(text, bytes, "w");

    text[0] = '\0';
    if (!file) return;
    print_failure(file, command, &failure, words.message);
    fclose(file);
}

int cli_fail(struct command *command, int status, const char *format, ...)
{
    struct failure failure = {.status = status};
    char message[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return print_error(command, &failure, message);
}

int cli_no_memory(struct command *command)
{
    return cli_fail(command, NY_EBUDGET, "the system has no memory left");
}

int cli_fail_both(struct command *command, const char *one, const char *other)
{
    return cli_fail(command, NY_EUSAGE, "--%s and --%s exclude each other; give one", one, other);
}

int cli_fail_only(struct command *command, const char *option, const char *with)
{
    return cli_fail(command, NY_EUSAGE, "--%s acts only with %s", option, with);
}

int cli_fail_value(struct command *command, const char *option, const char *takes,
                   const char *value)
{
    return cli_fail(command, NY_EUSAGE, "--%s is %s, not '%s'", option, takes, value);
}

int cli_fail_usage(struct command *command, const char *format, ...)
{
    struct failure failure = {.status = NY_EUSAGE, .usage = true};
    char message[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return print_error(command, &failure, message);
}

/* Tells whether standard output is a pipe that nobody reads any more ("export -o - | head"). */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

bool cli_writes_to_stdout(const struct command *command)
{
    const char *output = command->output;

    return output && (strcmp(output, "-") == 0 || strcmp(output, "/dev/stdout") == 0);
}

int cli_check_output(struct command *command)
{
    if (!command->json || !cli_writes_to_stdout(command)) return NY_OK;
    return cli_fail(command, NY_EUSAGE, "--json and -o both write to the standard output");
}

/* Tells whether the reader closed the pipe, and so does not want a message about it. */
static bool nobody_listens(const struct command *command)
{
    return !command->json_wanted && cli_writes_to_stdout(command) && reader_is_gone();
}

/* Prints the context's error; the meaning of the status where the context has no message. A reader
 * that closed the pipe of `-o -` is told nothing. */
static int fail_library(struct command *command, int status, const char *resume)
{
    struct failure failure = {.status = status, .resume = resume};
    const char *message = ny_status_meaning(status);

    if (status == NY_EIO && nobody_listens(command)) return status;
    if (command->context) failure.error = ny_context_error(command->context);
    if (failure.error && failure.error->status != NY_OK && failure.error->message)
        message = failure.error->message;
    return print_error(command, &failure, message);
}

int cli_fail_library(struct command *command, int status)
{
    return fail_library(command, status, NULL);
}

int cli_fail_resumable(struct command *command, int status)
{
    return fail_library(command, status, cli_find_resume(command, status));
}

/* A closed pipe, as of `nystream list STORE | head -n 1`, ends with NY_EIO but without a message; a
 * full disk is reported. The error of a verb that failed before stays the status. */
int cli_finish_output(struct command *command, int status)
{
    int failed = fflush(stdout);
    int number = errno;

    cli_display_clear(&command->display);
    if (status || (!failed && !ferror(stdout))) return status;
    if (!command->json_wanted && reader_is_gone()) return NY_EIO;
    return cli_fail(command, NY_EIO, "cannot write to the standard output%s%s", failed ? ": " : "",
                    failed ? strerror(number) : "");
}
