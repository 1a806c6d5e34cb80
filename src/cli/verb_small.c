/* rm, truncate, path, bench, version, help. */
#include "cli/cli.h"

#include <string.h>

/* Prints {"removed": […]}, the results that are gone; nothing if it failed for all. */
static void print_removed(const json_t *removed, int status)
{
    if (status && !json_array_size(removed)) return;
    fputs("{\"removed\": [", stdout);
    for (size_t i = 0; i < json_array_size(removed); i++) {
        if (i) fputs(", ", stdout);
        cli_write_json_string(stdout, json_string_value(json_array_get(removed, i)));
    }
    puts("]}");
}

int cli_run_rm(struct command *command)
{
    json_t *removed = json_array();
    int status = NY_OK;

    for (size_t i = 1; i < command->operand_count;
         i++) { /* one that fails keeps none of the others */
        const char *name = command->operands[i];
        int err = ny_remove(command->context, command->operands[0], name);

        if (err) cli_fail_library(command, err);
        if (!status) status = err;
        if (!err) json_array_append_new(removed, json_string(name));
        if (!err && command->display.verbose) fprintf(stderr, "nystream: %s: removed\n", name);
    }
    if (command->json) print_removed(removed, status);
    json_decref(removed);
    return status;
}

/* Prints "points.nys: 400 rows, was 440", and the results that went. */
static void print_truncated(const struct command *command, const json_t *facts)
{
    const json_t *removed = json_object_get(facts, "removed");
    double n = 0, gone = 0;

    cli_fact_number(facts, "n", &n);
    cli_fact_number(facts, "rows_removed", &gone);
    cli_print_text(stdout, command->operands[0]);
    if (gone > 0)
        printf(": %s, was %s\n", cli_counted(n, "row", "rows").text, cli_count(n + gone).text);
    else
        printf(": %s, nothing to remove\n", cli_counted(n, "row", "rows").text);
    for (size_t i = 0; i < json_array_size(removed); i++)
        printf("result '%s': removed\n", json_string_value(json_array_get(removed, i)));
}

int cli_run_truncate(struct command *command)
{
    const char *text = command->keep;
    struct ny_report *report = NULL;
    uint64_t rows;
    int status;

    if (!text) return cli_needs(command, "--keep");
    if (!cli_read_whole(text, strlen(text), &rows) || !rows)
        return cli_fail_value(command, "keep", "a number of rows", text);
    status = ny_truncate(command->context, command->operands[0], rows,
                         (command->typed & OWN_DROP_RESULTS) != 0, &report);
    cli_display_clear(&command->display);
    return cli_print_report(command, status, report, print_truncated);
}

static void print_rates(const struct command *command, const json_t *facts)
{
    (void)command;
    cli_print_facts(stdout, facts);
}

int cli_run_bench(struct command *command)
{
    struct ny_report *report = NULL;
    int status = ny_calibrate(command->context, &report);

    return cli_print_report(command, status, report, print_rates);
}

/* Prints the rows of a path, a line each, with a tab and the length of the path up to it. */
static void print_path(const struct command *command, const json_t *facts)
{
    const json_t *rows = json_object_get(facts, "rows");
    const json_t *lengths = json_object_get(facts, "lengths");

    (void)command;
    for (size_t i = 0; i < json_array_size(rows); i++)
        printf("%lld\t%.9g\n", (long long)json_integer_value(json_array_get(rows, i)),
               json_number_value(json_array_get(lengths, i)));
}

int cli_run_path(struct command *command)
{
    struct ny_report *report = NULL;
    int status = ny_path(command->context, command->operands[0], command->operands[1],
                         command->options, &report);

    return cli_print_report(command, status, report, print_path);
}

int cli_run_version(struct command *command)
{
    if (command->json)
        printf("{\"version\": \"%d.%d.%d\", \"library\": \"%s\"}\n", NY_VERSION_MAJOR,
               NY_VERSION_MINOR, NY_VERSION_PATCH, ny_version());
    else
        printf("nystream %d.%d.%d (library %s)\n", NY_VERSION_MAJOR, NY_VERSION_MINOR,
               NY_VERSION_PATCH, ny_version());
    return NY_OK;
}

int cli_run_help(struct command *command)
{
    const struct verb *verb = NULL;

    if (command->operand_count) {
        verb = cli_verb_find(command, command->operands[0]);
        if (!verb) return cli_fail_verb(command, command->operands[0]);
    }
    if (command->json) return cli_print_listing(command, verb);
    if (command->typed & OWN_MAN) {
        cli_print_man(stdout, command->verbs);
    } else if (command->typed & OWN_BASH) {
        cli_print_bash_completion(stdout, command->verbs);
    } else if (command->typed & OWN_ZSH) {
        cli_print_zsh_completion(stdout, command->verbs);
    } else if (!verb && command->typed & OWN_ALL) {
        return cli_needs(command, "VERB");
    } else if (!verb) {
        cli_print_overview(stdout, command->verbs);
    } else {
        cli_print_help(stdout, verb, command->typed & OWN_ALL);
    }
    return NY_OK;
}
