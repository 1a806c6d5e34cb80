/*
 * The verbs info, list, verify, repair and compact: what is in a store, and in what state. Each
 * calls one function of the library and prints its report, as lines of text or, with --json, as it
 * is.
 *
 * verify prints what it found before it fails, so that a script has both the list and the exit
 * status.
 */
#include "cli/cli.h"
#include "job/facts.h"

#include <string.h>

/* ---- info --------------------------------------------------------------------------------- */

/* Prints the progress of a job that is not done. */
static void print_progress(FILE *file, const json_t *facts)
{
    const char *stage = cli_fact_text(facts, "stage");
    double done, n;

    if (!stage || strcmp(stage, "done") == 0) return;
    if (cli_fact_number(facts, "rows_done", &done) && cli_fact_number(facts, "n", &n))
        cli_print_fact(file, "progress", "%s, %s of %s rows at the last checkpoint", stage,
                       cli_count(done).text, cli_count(n).text);
    else
        cli_print_fact(file, "progress", "%s", stage);
}

/* Prints what became of an import that is not done: its rows are not among those of the store. */
static void print_import(FILE *file, const json_t *facts)
{
    const char *status = cli_fact_text(facts, "import_status");

    if (!status) return;
    if (strcmp(status, "interrupted") == 0)
        cli_print_fact(file, "import", "interrupted; run the same import again to resume it");
    else
        cli_print_fact(file, "import", "%s; its rows appear when it ends", status);
}

/* Returns the command that goes on with what is not done; NULL where nothing waits, or where
 * somebody is at it. */
static const char *resume_of(const json_t *facts)
{
    const char *status = cli_fact_text(facts, "status"), *update = cli_fact_text(facts, "update");
    bool waits = (status && strcmp(status, "interrupted") == 0) ||
                 (update && strcmp(update, "interrupted") == 0);

    return waits ? cli_fact_text(facts, "resume") : NULL;
}

/* Prints numbers of shards, such as "0, 3". */
static void print_numbers(const json_t *numbers)
{
    for (size_t i = 0; i < json_array_size(numbers); i++)
        printf("%s%lld", i ? ", " : "", (long long)json_integer_value(json_array_get(numbers, i)));
}

/* Prints which rows each shard of a store has, which are missing, and what that means. */
static void print_shards(const json_t *shards)
{
    const json_t *list = json_object_get(shards, "list"), *uneven, *lacking;

    if (!json_is_object(shards)) return;
    lacking = json_object_get(shards, list ? "missing" : "lacking");
    uneven = json_object_get(shards, "uneven");
    printf("%-20s  %lld", "shards",
           (long long)json_integer_value(json_object_get(shards, "count")));
    if (json_array_size(lacking)) printf(list ? "; missing: " : "; without this result: ");
    print_numbers(lacking);
    putchar('\n');
    for (size_t k = 0; k < json_array_size(list); k++) {
        double first, n;
        const json_t *shard = json_array_get(list, k);

        if (!cli_fact_number(shard, "n", &n)) continue;
        if (cli_fact_number(shard, "first", &first))
            printf("- shard %-12zu  rows %.0f to %.0f\n", k, first, first + n - 1);
        else
            printf("- shard %-12zu  %s rows\n", k, cli_count(n).text);
    }
    if (!json_array_size(uneven)) return;
    printf("%-20s  ", "uneven shards");
    print_numbers(uneven);
    puts(" (rows not a multiple of 2,048): fits split their sums at other rows than in a single "
         "store, so results may differ in the last bits");
}

/* Prints which rows each import added, the last ones, where there was more than one. */
static void print_imports(const json_t *imports)
{
    enum { LINES = 32 };
    size_t count = json_array_size(imports);

    if (count < 2) return;
    printf("%-20s  %zu\n", "imports", count);
    if (count > LINES) printf("- %zu earlier ones; --json lists more\n", count - LINES);
    for (size_t i = count > LINES ? count - LINES : 0; i < count; i++) {
        const json_t *import = json_array_get(imports, i);
        const char *from = cli_fact_text(import, "from"), *time = cli_fact_text(import, "time");
        double first = 0, rows = 0;

        cli_fact_number(import, "first", &first);
        cli_fact_number(import, "rows", &rows);
        printf("- rows %.0f to %.0f, %s, ", first, first + rows - 1, time ? time : "");
        cli_print_text(stdout, from ? from : "from memory");
        putchar('\n');
    }
}

/* Prints the facts, then what a reader needs next: how far a job has come, the certificate, and the
 * line that resumes it. */
static void print_info(const struct command *command, const json_t *facts)
{
    const char *resume = resume_of(facts);

    (void)command;
    cli_print_facts(stdout, facts);
    print_imports(json_object_get(facts, "imports"));
    print_shards(json_object_get(facts, "shards"));
    print_progress(stdout, facts);
    print_import(stdout, facts);
    if (cli_fact_text(facts, "map")) cli_print_certificate(stdout, facts);
    if (resume) {
        fputs("resume with: ", stdout);
        cli_print_text(stdout, resume);
        fputc('\n', stdout);
    }
}

static int report_model(struct command *command, struct ny_report **report)
{
    struct ny_model *model;
    int status = ny_model_load_file(&model, command->context, command->operands[0]);

    if (!status) status = ny_model_report(model, report);
    ny_model_free(model);
    return status;
}

int cli_run_info(struct command *command)
{
    struct ny_report *report = NULL;
    const char *store = command->operands[0];
    int status;

    if (command->operand_count == 1 && cli_is_model(store))
        status = report_model(command, &report);
    else if (command->operand_count > 1)
        status = ny_result_report(command->context, store, command->operands[1], &report);
    else
        status = ny_store_report(command->context, store, &report);
    return cli_print_report(command, status, report, print_info);
}

/* ---- list --------------------------------------------------------------------------------- */

/* Prints the entry of a result in the list as JSON. */
static void print_entry(const char *name, const char *status, const json_t *facts,
                        const char *resume, double behind)
{
    const char *map = cli_fact_text(facts, "map");

    fputs("{\"name\": ", stdout);
    cli_write_json_string(stdout, name);
    fputs(", \"status\": ", stdout);
    cli_write_json_string(stdout, status);
    fputs(", \"resume\": ", stdout);
    cli_write_json_string(stdout, resume);
    if (map) fputs(", \"map\": ", stdout);
    if (map) cli_write_json_string(stdout, map);
    if (behind > 0) printf(", \"rows_behind\": %.0f", behind);
    putchar('}');
}

/* Prints a result's name, status and, if it waits, the command that resumes it, or how many rows
 * were appended after it. One whose report cannot be read has the kind of that error as its status,
 * so that it does not hide the others. */
static void print_result(struct command *command, const char *name, bool first)
{
    struct ny_report *report = NULL;
    int err = ny_result_report(command->context, command->operands[0], name, &report);
    const char *status = err ? ny_status_kind(err) : ny_report_text(report, "status");
    json_t *facts = err ? NULL : cli_facts(report);
    const char *resume = resume_of(facts);
    double behind = 0;

    if (!status) status = "unknown";
    if (facts) cli_fact_number(facts, "rows_behind", &behind);
    if (command->json) {
        fputs(first ? "\n  " : ",\n  ", stdout);
        print_entry(name, status, facts, resume, behind);
    } else {
        printf("%s\t%s%s", name, status, resume ? "\tresume with: " : "");
        cli_print_text(stdout, resume ? resume : "");
        if (!resume && behind > 0)
            printf("\tlacks %s appended since", cli_counted(behind, "row", "rows").text);
        putchar('\n');
    }
    json_decref(facts);
    ny_report_free(report);
}

int cli_run_list(struct command *command)
{
    struct ny_report *report = NULL;
    struct ny_view *view = NULL;
    json_t *facts = NULL;
    const json_t *names;
    int status = ny_store_report(command->context, command->operands[0], &report);

    if (status) {
        status = cli_fail_library(command, status);
        goto done;
    }
    facts = cli_facts(report);
    /* While it is open, the store is not checked anew for each result. A set that lacks shards has
     * no view. */
    if (json_array_size(json_object_get(facts, "results")) > 1)
        ny_view_open(&view, command->context, command->operands[0], NULL);
    if (!facts) {
        status = cli_no_memory(command);
        goto done;
    }
    names = json_object_get(facts, "results");
    if (command->json) fputs("{\"results\": [", stdout);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));

        if (name) print_result(command, name, i == 0);
    }
    if (command->json) puts("]}");
done:
    json_decref(facts);
    ny_report_free(report);
    ny_view_free(view);
    return status;
}

/* ---- verify ------------------------------------------------------------------------------- */

/* Prints a damaged piece, as in "rows 0 to 7: result 'flat', embedding, chunk 0: its checksum is
 * wrong". Points have the number of their block as well. */
static void print_damage(const json_t *damage)
{
    double block = 0, first = 0, rows = 0, shard;
    const char *what = cli_fact_text(damage, "what");

    cli_fact_number(damage, "block", &block);
    cli_fact_number(damage, "first_row", &first);
    cli_fact_number(damage, "rows", &rows);
    if (cli_fact_number(damage, "shard", &shard)) printf("shard %.0f: ", shard);
    if (rows > 0 && cli_fact_text(damage, "result"))
        printf("rows %.0f to %.0f: ", first, first + rows - 1);
    else if (rows > 0)
        printf("block %.0f (rows %.0f to %.0f): ", block, first, first + rows - 1);
    cli_print_text(stdout, what ? what : "damaged");
    fputc('\n', stdout);
}

static void print_verdict(const json_t *facts, int status)
{
    const json_t *damaged = json_object_get(facts, "damaged");
    bool missing = json_object_get(facts, "shards_missing") != NULL;

    for (size_t i = 0; i < json_array_size(damaged); i++)
        print_damage(json_array_get(damaged, i));
    if (status == NY_OK) puts(missing ? "ok, but for shards that are not here" : "ok");
}

int cli_run_verify(struct command *command)
{
    struct ny_report *report = NULL;
    int status = ny_verify(command->context, command->operands[0], &report);

    cli_display_clear(&command->display);
    if (report && command->json) {
        int err = cli_print_json(command, report);

        if (!status) status = err;
    } else if (report) {
        json_t *facts = cli_facts(report);

        print_verdict(facts, status);
        json_decref(facts);
    }
    ny_report_free(report);
    return status ? cli_fail_library(command, status) : NY_OK;
}

/* ---- repair ------------------------------------------------------------------------------- */

/* Prints ranges of rows, as in "rows 0 to 2047: lost", and returns how many there are. */
static size_t print_ranges(const json_t *facts, const char *key, const char *what)
{
    const json_t *ranges = json_object_get(facts, key);

    for (size_t i = 0; i < json_array_size(ranges); i++) {
        double first = 0, rows = 0, shard;

        cli_fact_number(json_array_get(ranges, i), "first_row", &first);
        cli_fact_number(json_array_get(ranges, i), "rows", &rows);
        if (cli_fact_number(json_array_get(ranges, i), "shard", &shard))
            printf("shard %.0f: ", shard);
        printf("rows %.0f to %.0f: %s\n", first, first + rows - 1, what);
    }
    return json_array_size(ranges);
}

/* Prints what a repair changed, a line for each thing, or "nothing is damaged". */
static void print_repaired(const struct command *command, const json_t *facts)
{
    static const struct {
        const char *key, *what;
    } whole[] = {{"column_names_removed", "column names: removed"},
                 {"imports_removed", "list of imports: removed"},
                 {"older_accepted", "parts from an older copy are accepted as they are"}};
    const json_t *removed = json_object_get(facts, "removed");
    size_t done = json_array_size(removed);

    (void)command;
    done += print_ranges(facts, "lost", "lost");
    done += print_ranges(facts, "labels", "labels are now missing");
    done += print_ranges(facts, "source", "row numbers of the source are lost");
    done += print_ranges(facts, "row_names", "names are now empty");
    for (size_t i = 0; i < json_array_size(removed); i++)
        printf("result '%s': removed\n", json_string_value(json_array_get(removed, i)));
    for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        if (json_is_true(json_object_get(facts, whole[i].key))) {
            puts(whole[i].what);
            done++;
        }
    if (!done) puts("nothing is damaged");
}

int cli_run_repair(struct command *command)
{
    struct ny_report *report = NULL;
    int status = ny_repair(command->context, command->operands[0], &report);

    return cli_print_report(command, status, report, print_repaired);
}

/* ---- compact ------------------------------------------------------------------------------- */

static void print_compacted(const struct command *command, const json_t *facts)
{
    double before = 0, now = 0;

    cli_fact_number(facts, "bytes_before", &before);
    cli_fact_number(facts, "bytes", &now);
    if (now < before)
        printf("%s: %s, was %s\n", command->operands[0], cli_bytes(now).text,
               cli_bytes(before).text);
    else
        printf("%s: %s, nothing to reclaim\n", command->operands[0], cli_bytes(now).text);
}

int cli_run_compact(struct command *command)
{
    struct ny_report *report = NULL;
    int status = ny_compact(command->context, command->operands[0], &report);

    return cli_print_report(command, status, report, print_compacted);
}
