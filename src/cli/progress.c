/*
 * Shows progress and messages on the standard error. On a terminal it is one line, rewritten in
 * place: "select [####......]  42 %  1.20 M rows/s  ETA 12 s". On a pipe it is a line every ten
 * seconds: "nystream: select 42 %, 1.20 M rows/s, ETA 12 s".
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

enum {
    PARTS = 5,
    BAR_MIN = 10,
    BAR_MAX = 40,
    WIDTH_UNKNOWN = 80,
    LINES_UNKNOWN = 24,
    EXTENT_MAX = 1000
};

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

/* The parts of the line after the stage, in order; "" where not known. */
struct parts {
    struct words percent, rows, bytes, flops, eta;
};

/* Puts the numbers in words. A part is "" where its number is not known yet. */
static struct parts measure(const struct ny_progress *progress)
{
    struct parts parts = {.percent = {""}, .rows = {""}, .bytes = {""}, .flops = {""}, .eta = {""}};
    struct words eta;

    if (progress->job_fraction >= 0)
        snprintf(parts.percent.text, sizeof(parts.percent.text), "%.0f %%",
                 100 * progress->job_fraction);
    if (progress->rows_per_s > 0) parts.rows = cli_scaled(progress->rows_per_s, "rows/s");
    if (progress->bytes_per_s > 0) parts.bytes = cli_scaled(progress->bytes_per_s, "B/s");
    if (progress->flops_per_s > 0) parts.flops = cli_scaled(progress->flops_per_s, "F/s");
    if (progress->job_eta_s >= 60) {
        eta = cli_duration(progress->job_eta_s);
        snprintf(parts.eta.text, sizeof(parts.eta.text), "ETA %.50s", eta.text);
    } else if (progress->job_eta_s >= 0) {
        snprintf(parts.eta.text, sizeof(parts.eta.text), "ETA %.0f s", progress->job_eta_s);
    }
    return parts;
}

/* Puts blanks before a part, so that it stays in its place when its number grows. */
static void widen(struct words *part, int columns)
{
    struct words plain = *part;

    if (plain.text[0]) snprintf(part->text, sizeof(part->text), "%*.40s", columns, plain.text);
}

/* Gives all parts the width of the widest that they usually become: "100 %", "99.9 k rows/s",
 * "99.9 GB/s", "ETA 59 s". Else the bar would be a little longer or shorter each time. */
static void steady(struct parts *parts)
{
    widen(&parts->percent, 5);
    widen(&parts->rows, 13);
    widen(&parts->bytes, 9);
    widen(&parts->flops, 9);
    widen(&parts->eta, -8);
}

/* Drops the least wanted parts until the line fits; returns the columns that it takes. */
static int fit_parts(struct parts *parts, int stage, int width)
{
    char *wanted_last[PARTS] = {parts->bytes.text, parts->flops.text, parts->rows.text,
                                parts->eta.text, parts->percent.text};
    int total = stage;

    for (int i = 0; i < PARTS; i++)
        total += wanted_last[i][0] ? 2 + (int)strlen(wanted_last[i]) : 0;
    for (int i = 0; i < PARTS && total > width; i++) {
        total -= wanted_last[i][0] ? 2 + (int)strlen(wanted_last[i]) : 0;
        wanted_last[i][0] = '\0';
    }
    return total;
}

/* Draws " [####......]" in the room that is left, at most BAR_MAX columns; returns the columns that
 * it takes, 0 where the room is too small or the share not known. */
static int draw_bar(const struct display *display, double fraction, int room)
{
    int cells = (room < BAR_MAX ? room : BAR_MAX) - 3; /* space and brackets */
    int full = (int)(fraction * cells + 0.5);

    if (room < BAR_MIN + 3 || fraction < 0) return 0;
    fputs(display->color ? " [\033[32m" : " [", stderr);
    for (int i = 0; i < full; i++)
        fputc('#', stderr);
    if (display->color) fputs("\033[0m", stderr);
    for (int i = full; i < cells; i++)
        fputc('.', stderr);
    fputc(']', stderr);
    return cells + 3;
}

/* Rewrites the line on the screen. One column stays free, so that the terminal does not wrap the
 * line, and blanks cover the end of a longer line before. */
static void draw_line(struct display *display, const struct ny_progress *progress)
{
    int width = cli_terminal_width() - 1;
    struct parts parts = measure(progress);
    const char *const order[PARTS] = {parts.percent.text, parts.rows.text, parts.bytes.text,
                                      parts.flops.text, parts.eta.text};
    int columns;

    steady(&parts);
    columns = fit_parts(&parts, cli_columns(progress->stage), width);

    fprintf(stderr, "\r%s", progress->stage);
    columns += draw_bar(display, progress->job_fraction, width - columns);
    for (int i = 0; i < PARTS; i++)
        if (order[i][0]) fprintf(stderr, "  %s", order[i]);
    if (display->width > columns) fprintf(stderr, "%*s", display->width - columns, "");
    fflush(stderr);
    display->width = columns;
}

/* Prints the line for a pipe; no part is dropped, since a file has no width. */
static void print_line(const struct ny_progress *progress)
{
    struct parts parts = measure(progress);
    const char *const order[PARTS] = {parts.percent.text, parts.rows.text, parts.bytes.text,
                                      parts.flops.text, parts.eta.text};

    fprintf(stderr, "nystream: %s", progress->stage);
    for (int i = 0; i < PARTS; i++)
        if (order[i][0]) fprintf(stderr, "%s%s", i ? ", " : " ", order[i]);
    fputc('\n', stderr);
}

static void show_progress(void *user, const struct ny_progress *progress)
{
    struct display *display = user;
    double now = now_s();

    if (display->terminal) {
        draw_line(display, progress);
    } else if (now - display->printed_s >= pipe_interval_s) {
        display->printed_s = now;
        print_line(progress);
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
    const char *no_color = getenv("NO_COLOR");

    display->terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    display->color = display->terminal && !(no_color && no_color[0]);
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
