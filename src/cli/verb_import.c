/* import. */
#include "base/heap.h"
#include "cli/cli.h"

#include <string.h>

/* Values that wait for a commit, 64 MB of them at most, are blocks of the heap. It keeps their
 * pages for the values of the next commit, which would be cleared anew. A process that goes on with
 * a fit does not: it could not use them. */
static void keep_heap_between_commits(void)
{
    ny_heap_keep(0, 80 << 20);
}

/* Prints "nystream: 8 rows of 3 columns imported in 20 ms (2.10 kB/s)", and with --append also how
 * many rows the store has now. The speed is that of the rows that this call added. */
static void print_summary(const struct ny_report *report)
{
    double n = 0, d = 0, rows = 0, bytes, seconds, dropped, shard;

    ny_report_number(report, "n", &n);
    if (!ny_report_number(report, "rows", &rows)) rows = n;
    ny_report_number(report, "d", &d);
    fprintf(stderr, "nystream: %s of %s imported", cli_counted(rows, "row", "rows").text,
            cli_counted(d, "column", "columns").text);
    if (ny_report_number(report, "seconds", &seconds)) {
        fprintf(stderr, " in %s", cli_duration(seconds).text);
        if (ny_report_number(report, "bytes_added", &bytes) && seconds > 0 && bytes > 0)
            fprintf(stderr, " (%s)", cli_scaled(bytes / seconds, "B/s").text);
    }
    if (ny_report_number(report, "dropped", &dropped) && dropped > 0)
        fprintf(stderr, ", %s dropped", cli_count(dropped).text);
    if (rows < n && ny_report_number(report, "shard", &shard))
        fprintf(stderr, "; shard %.0f has %s now", shard, cli_count(n).text);
    else if (rows < n)
        fprintf(stderr, "; the store has %s now", cli_count(n).text);
    fputc('\n', stderr);
}

int cli_run_import(struct command *command)
{
    struct ny_report *report = NULL;
    int status;

    if (strcmp(ny_options_get(command->options, "shuffle"), "no") == 0 &&
        strcmp(ny_options_get(command->options, "seed"), "0") != 0)
        return cli_fail_only(command, "seed", "--shuffle");
    keep_heap_between_commits();
    status = ny_import(command->context, command->operands[0], command->operands + 1,
                       command->operand_count - 1, command->options, &report);
    cli_display_clear(&command->display);
    if (status)
        status = cli_fail_resumable(command, status);
    else if (command->json && report)
        status = cli_print_json(command, report);
    else if (!command->quiet && report) /* a process that has not the first shard has none */
        print_summary(report);
    ny_report_free(report);
    return status;
}
