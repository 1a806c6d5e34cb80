/* export, transform: what leaves a store as a file. */
#include "cli/cli.h"

#include <string.h>
#include <sys/stat.h>

#include "base/decimal.h"

/* Tells whether the part is one that the points have, without NAME. */
static bool of_points(const char *part)
{
    static const char *const parts[] = {"ids",        "columns", "classes", "points",
                                        "raw-points", "labels",  "source"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(part, parts[i]) == 0) return true;
    return false;
}

/* Reads the rows to write, where they were typed. An end that is left out stays as it is. */
static int read_rows(struct command *command, uint64_t *first, uint64_t *end)
{
    const char *text = command->rows, *colon = text ? strchr(text, ':') : NULL;

    if (!text) return NY_OK;
    if (command->typed & OWN_SKIP_DAMAGED) return cli_fail_both(command, "rows", "skip-damaged");
    if (colon && (colon == text || cli_read_whole(text, (size_t)(colon - text), first)) &&
        (!colon[1] || cli_read_whole(colon + 1, strlen(colon + 1), end)))
        return NY_OK;
    return cli_fail_value(command, "rows", "a range such as 200:300, or 200:", text);
}

int cli_run_export(struct command *command)
{
    const char *part = command->part ? command->part : "embedding";
    const char *store = command->operands[0];
    const char *name = command->operand_count > 1 ? command->operands[1] : NULL;
    struct ny_export_range rows = {0, UINT64_MAX, command->with};
    int status;

    if (!name && !of_points(part)) return cli_needs(command, "NAME");
    if (!command->output) return cli_needs(command, "-o");
    if (command->typed & OWN_RAW && strcmp(part, "points") != 0)
        return cli_fail_only(command, "raw", "--part points");
    if (command->typed & OWN_RAW) part = "raw-points";
    if (command->with && command->typed & OWN_SKIP_DAMAGED)
        return cli_fail_both(command, "with", "skip-damaged");
    status = read_rows(command, &rows.first, &rows.end);
    if (status) return status;
    if (command->rows)
        status = ny_export_rows(command->context, store, name, part, command->output, &rows);
    else if (command->with)
        status =
            ny_export_with(command->context, store, name, part, command->output, command->with);
    else if (command->typed & OWN_SKIP_DAMAGED)
        status = ny_export_undamaged(command->context, store, name, part, command->output, NULL);
    else
        status = ny_export(command->context, store, name, part, command->output);
    if (status) return cli_fail_library(command, status);
    cli_display_clear(&command->display);
    /* Only one of the processes that export together has written the file. */
    if (ny_context_written(command->context)) cli_print_output(command);
    return NY_OK;
}

bool cli_is_model(const char *path)
{
    struct stat there;

    return ny_ends_with(path, ".nym") && !(stat(path, &there) == 0 && S_ISDIR(there.st_mode));
}

/* Reads the number of neighbours, where it was typed. */
static int read_neighbors(struct command *command, size_t *neighbors)
{
    const char *text = command->neighbors;
    uint64_t count;

    if (!text) return NY_OK;
    if (cli_read_whole(text, strlen(text), &count) && count && count <= SIZE_MAX) {
        *neighbors = (size_t)count;
        return NY_OK;
    }
    return cli_fail_value(command, "neighbors", "a whole number from 1", text);
}

/* Reads the share of the neighbours to find, where it was typed. */
static int read_recall(struct command *command, double *recall)
{
    const char *text = command->recall;

    if (!text || (ny_decimal_whole(text, recall) && *recall > 0 && *recall <= 1)) return NY_OK;
    return cli_fail_value(command, "recall", "a share above 0, at most 1", text);
}

int cli_run_transform(struct command *command)
{
    const char *source = command->operands[0];
    struct ny_placing placing = {.path = source,
                                 .name = command->operand_count == 2 ? command->operands[1] : NULL,
                                 .input = command->input,
                                 .output = command->output,
                                 .import = command->options,
                                 .distances = command->distances,
                                 .clusters = command->clusters,
                                 .with = command->with};
    struct ny_report *report = NULL;
    int status;

    if (command->operand_count == 1 && !ny_ends_with(source, ".nym"))
        return cli_needs(command, "NAME");
    if (command->operand_count == 2 && cli_is_model(source))
        return cli_fail_usage(command, "%s is a model and takes no NAME", source);
    if (!command->input) return cli_needs(command, "--input");
    if (!command->output) return cli_needs(command, "-o");
    status = cli_check_output(command);
    if (!status) status = read_neighbors(command, &placing.neighbors);
    if (!status) status = read_recall(command, &placing.recall);
    if (status) return status;
    status = ny_place(command->context, &placing, &report);
    cli_display_clear(&command->display);
    if (status)
        status = cli_fail_library(command, status);
    else if (command->json)
        status = cli_print_json(command, report);
    else
        cli_print_written(command);
    if (!status) cli_print_second(command, command->clusters, "clusters");
    if (!status) cli_print_second(command, command->distances, "distances");
    ny_report_free(report);
    return status;
}
