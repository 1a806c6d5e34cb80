/*
 * Shows progress and messages on the standard error: "select 42 %, 1.20 M rows/s, ETA 12.0 s". On a
 * terminal the line is rewritten in place; on a pipe it is a line every ten seconds.
 *
 * main() starts and ends it; the library calls show_progress() and show_message(). Whatever else
 * prints calls cli_display_clear() before. With --json or --quiet, notes are not printed; warnings
 * always are.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH_UNKNOWN = 80, LINES_UNKNOWN = 24, EXTENT_MAX = 1000, LINE_BYTES = 512 };

/* Time between two lines of progress on a pipe or in a file, such as the log of a batch job. */
static const double pipe_interval_s = 10;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Asks the terminal, else the environment, else returns `unknown`. */
static int terminal_extent(bool lines, const char *variable, int unknown)
{
    const char *told = getenv(variable);
    struct winsize size;

    for (int fd = 1; fd <= 2; fd++)
        if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
            return lines ? size.ws_row : size.ws_col;
    return told && atoi(told) > 0 && atoi(told) < EXTENT_MAX ? atoi(told) : unknown;
}

int cli_terminal_width(void)
{
    return terminal_extent(false, "COLUMNS", WIDTH_UNKNOWN);
}

int cli_terminal_lines(void)
{
    return terminal_extent(true, "LINES", LINES_UNKNOWN);
}

void cli_display_clear(struct display *display)
{
    if (display->width == 0) return;
    fprintf(stderr, "\r%*s\r", display->width, "");
    fflush(stderr);
    display->width = 0;
}

/* Writes "select 42 %, 1.20 M rows/s, 12.0 GB/s, 446 GF/s, ETA 3 min 20 s", without what is not
 * known. */
static void write_line(const struct ny_progress *progress, char line[LINE_BYTES])
{
    struct words part[5];
    size_t count = 0, used;

    if (progress->job_fraction >= 0)
        snprintf(part[count++].text, sizeof(part->text), "%.0f %%", 100 * progress->job_fraction);
    if (progress->rows_per_s > 0) part[count++] = cli_scaled(progress->rows_per_s, "rows/s");
    if (progress->bytes_per_s > 0) part[count++] = cli_scaled(progress->bytes_per_s, "B/s");
    if (progress->flops_per_s > 0) part[count++] = cli_scaled(progress->flops_per_s, "F/s");
    if (progress->job_eta_s >= 0)
        snprintf(part[count++].text, sizeof(part->text), "ETA %.50s",
                 cli_duration(progress->job_eta_s).text);
    used = (size_t)snprintf(line, LINE_BYTES, "%.64s", progress->stage);
    for (size_t i = 0; i < count; i++)
        used +=
            (size_t)snprintf(line + used, LINE_BYTES - used, "%s%s", i ? ", " : " ", part[i].text);
}

/* Rewrites the line on the screen, cut to its width, so that the terminal does not wrap it. Blanks
 * cover the end of a longer line before. */
static void draw_line(struct display *display, const char *line)
{
    int width = cli_terminal_width() - 1, columns = cli_columns(line);

    if (columns > width) columns = width;
    fprintf(stderr, "\r%.*s%*s", columns, line,
            display->width > columns ? display->width - columns : 0, "");
    fflush(stderr);
    display->width = columns;
}

static void show_progress(void *user, const struct ny_progress *progress)
{
    struct display *display = user;
    double now = now_s();
    char line[LINE_BYTES];

    write_line(progress, line);
    if (display->terminal) {
        draw_line(display, line);
    } else if (now - display->printed_s >= pipe_interval_s) {
        display->printed_s = now;
        fprintf(stderr, "nystream: %s\n", line);
    }
}

/* Prints a message of the library: warnings always, notes unless quiet, details when verbose. With
 * --json a warning is an object too: {"warning":"…"}. */
static void show_message(void *user, int level, const char *message)
{
    struct display *display = user;

    if (level == NY_LOG_NOTE && display->quiet) return;
    if (level >= NY_LOG_DETAIL && !display->verbose) return;
    cli_display_clear(display);
    display->warned |= level == NY_LOG_WARNING;
    if (display->json && level == NY_LOG_WARNING) {
        fputs("{\"warning\":", stderr);
        cli_write_json_string(stderr, message);
        fputs("}\n", stderr);
        return;
    }
    fprintf(stderr, "nystream: %s", level == NY_LOG_WARNING ? "warning: " : "");
    cli_print_text(stderr, message);
    fputc('\n', stderr);
}

void cli_display_start(struct command *command)
{
    struct display *display = &command->display;
    const char *term = getenv("TERM");

    display->terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    /* a program that asks for --json reads the standard error too */
    display->quiet = command->quiet || command->json;
    display->verbose = command->verbose && !display->quiet;
    display->json = command->json;
    display->started_s = display->printed_s = now_s();
    ny_context_set_log(command->context, show_message, display);
    if (!command->quiet && (display->terminal || !command->json))
        ny_context_set_progress(command->context, show_progress, display);
}

void cli_display_end(struct command *command)
{
    const struct display *display = &command->display;
    struct rusage used;

    if (!display->verbose || getrusage(RUSAGE_SELF, &used)) return;
    fprintf(stderr, "nystream: %s took %s and at most %s of memory", command->verb->name,
            cli_duration(now_s() - display->started_s).text,
            cli_bytes(1024.0 * (double)used.ru_maxrss).text);
    if (command->verb->groups & NY_GROUP_THREADS)
        fprintf(stderr, ", in up to %u threads", ny_context_threads(command->context));
    fputc('\n', stderr);
}
