/*
 * The verbs plan, fit, select, graph, embed and merge. fit, graph and embed first print their plan
 * in one line; then come the progress and a summary of what was made, all of it on the standard
 * error; with --json the report goes to the standard output instead.
 *
 * A command that chooses nothing but --memory and --threads goes on with the NAME that is there
 * (cli_goes_on()), and with a --time-limit alone the library does so; a job that stops prints the
 * line that resumes it.
 */
#include "cli/cli.h"

#include <string.h>

/* Tells whether plans and summaries in words are wanted. */
static bool chatty(const struct command *command)
{
    return !command->quiet && !command->json;
}

/* ---- the plan ----------------------------------------------------------------------------- */

/* Adds up the bytes of all purposes of a plan's memory. */
static double sum_of(const json_t *object)
{
    const char *key;
    const json_t *value;
    double sum = 0;

    json_object_foreach((json_t *)object, key, value)
    {
        sum += json_number_value(value);
    }
    return sum;
}

/* Prints the memory that a plan needs and the smallest budget that works. The purposes, with
 * `closer`, have the names of the library's parts, which only those who look closer want. */
static void print_memory(FILE *file, const json_t *facts, double budget, bool closer)
{
    const json_t *memory = json_object_get(facts, "memory_bytes");
    const char *key, *separator = ": ";
    const json_t *value;
    double least;

    if (json_is_object(memory)) {
        fprintf(file, "memory                %s of %s", cli_bytes(sum_of(memory)).text,
                cli_bytes(budget).text);
        json_object_foreach((json_t *)memory, key, value)
        {
            if (json_number_value(value) <= 0 || !closer) continue;
            fprintf(file, "%s%s %s", separator, key, cli_bytes(json_number_value(value)).text);
            separator = ", ";
        }
        fputc('\n', file);
    }
    if (!cli_fact_number(facts, "memory_min_bytes", &least)) return;
    if (json_is_false(json_object_get(facts, "fits")))
        cli_print_fact(file, "fits", "no: the smallest budget that works is %s (--memory %s)",
                       cli_bytes(least).text, cli_bytes_option(least).text);
    else
        cli_print_fact(file, "fits", "yes: the smallest budget that works is %s",
                       cli_bytes(least).text);
}

/* Prints the memory that a process with one shard needs, and how much the shards exchange. */
static void print_shards(FILE *file, const json_t *facts)
{
    const json_t *shards = json_object_get(facts, "shards");
    double count, least, exchanged;

    if (!cli_fact_number(shards, "count", &count) ||
        !cli_fact_number(shards, "memory_min_bytes", &least) ||
        !cli_fact_number(shards, "exchange_bytes", &exchanged))
        return;
    cli_print_fact(file, "shards",
                   "%s; a process with one shard needs at least %s, and the shards exchange %s",
                   cli_count(count).text, cli_bytes(least).text, cli_bytes(exchanged).text);
}

/* Prints how neighbours are found, as in "sieve; tree or exact if a few rows show that this is less
 * work". */
static void print_search(FILE *file, const json_t *facts)
{
    const json_t *others = json_object_get(facts, "knn_may_be");
    const char *way = json_string_value(json_object_get(facts, "knn"));
    const char *first = json_string_value(json_array_get(others, 0));
    const char *second = json_string_value(json_array_get(others, 1));

    if (!way) return;
    cli_print_fact(file, "search", "%s%s%s%s%s%s", way, first ? "; " : "", first ? first : "",
                   second ? " or " : "", second ? second : "",
                   first ? " if a few rows show that this is less work" : "");
}

/* Prints what a larger and a smaller accuracy take, and what none of it does. */
static void print_accuracies(FILE *file, const json_t *facts)
{
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(facts, "accuracies"), i, row)
    {
        double accuracy = 0, m = 0, seconds = 0, least = 0;

        cli_fact_number(row, "accuracy", &accuracy);
        cli_fact_number(row, "landmarks", &m);
        cli_fact_number(row, "seconds", &seconds);
        cli_fact_number(row, "memory_min_bytes", &least);
        if (accuracy > 0)
            cli_print_fact(file, i ? "" : "accuracy", "%.3g %%: about %s landmarks, %s, %s",
                           100 * accuracy, cli_count(m).text, cli_duration(seconds).text,
                           cli_bytes(least).text);
        else
            cli_print_fact(file, i ? "" : "accuracy", "exact: %s, %s", cli_duration(seconds).text,
                           cli_bytes(least).text);
    }
}

/* Prints a plan as the verb plan shows it, and fit with --verbose: a line each for passes, work,
 * memory, disk, time and the stages. */
static void print_plan(FILE *file, const json_t *facts, double budget, bool closer)
{
    double value, low, high;

    cli_print_fact(file, "passes", "%s", cli_passes(facts, true, true).text);
    if (cli_fact_number(facts, "flops", &value))
        cli_print_fact(file, "work", "%s", cli_scaled(value, "flop").text);
    print_search(file, facts);
    print_memory(file, facts, budget, closer);
    print_shards(file, facts);
    if (cli_fact_number(facts, "columns_kept_bytes", &value))
        cli_print_fact(file, "columns",
                       "%s of kernel values are kept between passes and computed only once",
                       cli_bytes(value).text);
    if (cli_fact_number(facts, "disk_bytes", &value))
        cli_print_fact(file, "disk", "%s", cli_bytes(value).text);
    if (cli_fact_number(facts, "store_bytes", &value))
        cli_print_fact(file, "store", "at most %s, in addition", cli_bytes(value).text);
    if (cli_fact_number(facts, "seconds", &value) && cli_fact_number(facts, "seconds_low", &low) &&
        cli_fact_number(facts, "seconds_high", &high))
        cli_print_fact(file, "time", "about %s (%s to %s)", cli_duration(value).text,
                       cli_duration(low).text, cli_duration(high).text);
    if (cli_fact_number(facts, "time_limit", &value))
        cli_print_fact(file, "time limit", "%s: %s", cli_duration(value).text,
                       json_is_true(json_object_get(facts, "within_time_limit"))
                           ? "the plan is within it"
                           : "the plan takes longer, so fit would not run (exit 8)");
    print_accuracies(file, facts);
    cli_print_stages(file, facts);
}

/* Prints a plan in one line: "nystream: plan: 3 passes, about 4.6 s, 111 MiB of memory, 17.7 MiB of
 * disk". */
static void print_plan_line(FILE *file, const json_t *facts)
{
    const json_t *memory = json_object_get(facts, "memory_bytes");
    double passes, seconds, disk;

    fputs("nystream: plan:", file);
    if (cli_fact_number(facts, "passes", &passes) && passes > 0)
        fprintf(file, " %s,", cli_passes(facts, true, false).text);
    if (cli_fact_number(facts, "seconds", &seconds))
        fprintf(file, " %s %s,", seconds < 1e-3 ? "less than" : "about",
                cli_duration(seconds < 1e-3 ? 1e-3 : seconds).text);
    fprintf(file, " %s of memory", cli_bytes(sum_of(memory)).text);
    if (cli_fact_number(facts, "disk_bytes", &disk))
        fprintf(file, ", %s of disk", cli_bytes(disk).text);
    fputc('\n', file);
}

/* Prints the plan of a job that is about to run. A plan that does not fit is left to the error,
 * which names the budget that does. */
static void on_plan(void *user, const struct ny_report *plan)
{
    struct command *command = user;
    json_t *facts = cli_facts(plan);

    cli_display_clear(&command->display);
    if (facts && command->verbose)
        print_plan(stderr, facts, (double)ny_context_memory(command->context), true);
    else if (facts && !json_is_false(json_object_get(facts, "fits")))
        print_plan_line(stderr, facts);
    json_decref(facts);
}

/* Asks the library for the plan, only where it will be printed. */
static void watch_plan(struct command *command)
{
    if (chatty(command)) ny_context_set_plan(command->context, on_plan, command);
}

static void show_gamma_grid(const struct command *command, const json_t *facts)
{
    const char *gamma = ny_options_get(command->options, "gamma");
    bool given = gamma && strcmp(gamma, "auto") != 0;

    cli_print_gamma_grid(stdout, facts, given ? "--gamma" : "the default width");
}

static void show_plan(const struct command *command, const json_t *facts)
{
    print_plan(stdout, facts, (double)ny_context_memory(command->context), command->verbose);
}

int cli_run_plan(struct command *command)
{
    bool grid = ny_options_get(command->options, "gamma-grid");
    struct ny_report *report = NULL;
    const char *path = command->operand_count ? command->operands[0] : NULL;
    int status;

    if (!path && !ny_options_get(command->options, "shape"))
        return cli_needs(command, "STORE, or --shape ROWS,COLUMNS");
    status = (grid ? ny_gamma_grid : ny_plan)(command->context, path, command->options, &report);
    return cli_print_report(command, status, report, grid ? show_gamma_grid : show_plan);
}

/* ---- the summary -------------------------------------------------------------------------- */

/* Prints the first line of the summary: "nystream: map: 8 rows in 2 components, kpca, projected,
 * rbf, rpcholesky, 4 landmarks". */
static void print_title(FILE *file, const json_t *facts)
{
    const char *const keys[] = {"map", "approx", "kernel", "select"};
    double n, kept, p, m;

    fputs("nystream: ", file);
    if (cli_fact_text(facts, "name")) fprintf(file, "%s: ", cli_fact_text(facts, "name"));
    if (cli_fact_number(facts, "embedded", &kept) && cli_fact_number(facts, "n", &n) && kept < n)
        fprintf(file, "%s of ", cli_count(kept).text);
    if (cli_fact_number(facts, "n", &n)) fprintf(file, "%s", cli_counted(n, "row", "rows").text);
    if (cli_fact_number(facts, "parts", &n)) /* that were merged */
        fprintf(file, " of %s", cli_counted(n, "part", "parts").text);
    if (cli_fact_number(facts, "components", &p))
        fprintf(file, " in %s", cli_counted(p, "component", "components").text);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!cli_fact_text(facts, keys[i])) continue;
        fputs(", ", file);
        cli_print_text(file, cli_fact_text(facts, keys[i]));
    }
    if (cli_fact_number(facts, "landmarks", &m))
        fprintf(file, ", %s", cli_counted(m, "landmark", "landmarks").text);
    fputc('\n', file);
}

/* Prints the first six eigenvalues; `nystream info` has more. */
static void print_eigenvalues(FILE *file, const json_t *facts)
{
    const json_t *values = json_object_get(facts, "eigenvalues");
    size_t count = json_array_size(values), shown = count < 6 ? count : 6;

    if (count == 0) return;
    fputs("eigenvalues          ", file);
    for (size_t i = 0; i < shown; i++) {
        const json_t *value = json_array_get(values, i);

        fprintf(file, " %s",
                json_is_null(value) ? "-" : cli_number(json_number_value(value), 5).text);
    }
    fputs(shown < count ? " …\n" : "\n", file);
}

/* Prints the recall of a sieve. */
static void print_recall(FILE *file, const json_t *facts)
{
    const json_t *interval = json_object_get(facts, "recall_interval");
    double recall;

    if (!cli_fact_number(facts, "recall", &recall)) return;
    if (json_is_array(interval))
        cli_print_fact(file, "recall", "%.4f (95 %% interval %.4f to %.4f)", recall,
                       json_number_value(json_array_get(interval, 0)),
                       json_number_value(json_array_get(interval, 1)));
}

/* Prints a graph's size, its components, and other graphs that were tried. */
static void print_graph(FILE *file, const json_t *facts)
{
    const json_t *line, *sweep, *graph = json_object_get(facts, "graph");
    double edges, components, share, limit, t;
    size_t i;

    if (json_is_object(graph)) facts = graph; /* of a fit */
    sweep = json_object_get(facts, "sweep");
    if (!cli_fact_number(facts, "edges", &edges)) return;
    cli_print_fact(file, "edges", "%s", cli_count(edges).text);
    if (cli_fact_number(facts, "components", &components) &&
        cli_fact_number(facts, "largest_share", &share))
        cli_print_fact(file, "components", "%s, the largest with %.4g %% of the rows",
                       cli_count(components).text, 100 * share);
    if (cli_fact_number(facts, "bridges", &edges) && edges > 0 &&
        cli_fact_number(facts, "bridge_shortest", &share) &&
        cli_fact_number(facts, "bridge_longest", &limit))
        cli_print_fact(file, "bridges", "%s of length %.4g to %.4g, joining components",
                       cli_counted(edges, "edge", "edges").text, share, limit);
    print_recall(file, facts);
    if (json_array_size(sweep))
        fputs("neighbors  limit      components   % of rows in the largest\n", file);
    json_array_foreach(sweep, i, line)
    {
        bool limited = cli_fact_number(line, "distance_limit", &limit);

        cli_fact_number(line, "neighbors", &t);
        cli_fact_number(line, "components", &components);
        cli_fact_number(line, "largest_share", &share);
        fprintf(file, "%9.0f  ", t);
        if (limited)
            fprintf(file, "%-9.4g", limit);
        else
            fputs("none     ", file);
        fprintf(file, "  %10.0f   %.4g\n", components, 100 * share);
    }
}

/* Prints the time, passes and peak memory of a job; with `closer` its work and stages too. */
static void print_cost(FILE *file, const json_t *facts, bool closer)
{
    double seconds, network, passes, flops, peak, budget;

    if (cli_fact_number(facts, "seconds", &seconds)) {
        fprintf(file, "time                  %s", cli_duration(seconds).text);
        if (cli_fact_number(facts, "network_seconds", &network))
            fprintf(file, " (network %s)", cli_duration(network).text);
        if (cli_fact_number(facts, "passes", &passes) && passes > 0)
            fprintf(file, ", %s", cli_passes(facts, false, false).text);
        if (closer && cli_fact_number(facts, "flops", &flops) && flops > 0 && seconds > 0)
            fprintf(file, ", %s at %s", cli_scaled(flops, "flop").text,
                    cli_scaled(flops / seconds, "F/s").text);
        fputc('\n', file);
    }
    if (closer) cli_print_stages(file, facts);
    if (!cli_fact_number(facts, "memory_budget_bytes", &budget)) return;
    if (cli_fact_number(facts, "peak_rss_bytes", &peak))
        cli_print_fact(file, "peak memory", "%s of %s", cli_bytes(peak).text,
                       cli_bytes(budget).text);
    else
        cli_print_fact(file, "peak memory", "not known, of %s", cli_bytes(budget).text);
}

/* Shows the finished result: the report on the standard output with --json, else the summary in
 * words on the standard error. A summary that cannot be made is no error, since the result is
 * stored. */
static int show_result(struct command *command, const struct ny_report *report, bool certificate)
{
    json_t *facts;

    cli_display_clear(&command->display);
    if (!report) return 0; /* another process of the job has it */
    if (command->json) return cli_print_json(command, report);
    if (!chatty(command)) return NY_OK;
    facts = cli_facts(report);
    if (!facts) return NY_OK; /* the result is stored; the words about it are not worth an error */
    print_title(stderr, facts);
    if (certificate) {
        print_eigenvalues(stderr, facts);
        cli_print_certificate(stderr, facts);
    }
    print_graph(stderr, facts);
    print_cost(stderr, facts, command->verbose);
    json_decref(facts);
    return NY_OK;
}

/* ---- fit, select, embed ------------------------------------------------------------------- */

typedef int run_fn(struct ny_context *context, const char *path, const char *name,
                   const struct ny_options *options, struct ny_report **report);

/* Runs a verb that leaves a result of `kind` under NAME, or goes on with it. */
static int run_named(struct command *command, run_fn *run, const char *kind)
{
    const char *store = command->operands[0], *name = command->operands[1];
    struct ny_report *report = NULL;
    int status;

    if (cli_goes_on(command, kind))
        status = ny_resume(command->context, store, name, &report);
    else
        status = run(command->context, store, name, command->options, &report);
    status = status ? cli_fail_resumable(command, status)
                    : show_result(command, report, strcmp(kind, "fit") == 0);
    ny_report_free(report);
    return status;
}

int cli_run_fit(struct command *command)
{
    watch_plan(command);
    return run_named(command, ny_fit, "fit");
}

int cli_run_select(struct command *command)
{
    return run_named(command, ny_select, "dictionary");
}

int cli_run_graph(struct command *command)
{
    watch_plan(command);
    return run_named(command, ny_graph, "graph");
}

/* Ends a verb that has written a file, with its summary and the line of the file. */
static int finish_file(struct command *command, int status, struct ny_report *report)
{
    if (status) return cli_fail_library(command, status);
    status = show_result(command, report, true);
    if (!status) cli_print_written(command);
    ny_report_free(report);
    return status;
}

int cli_run_embed(struct command *command)
{
    struct ny_report *report = NULL;
    int status;

    if (!command->output) return cli_needs(command, "-o");
    status = cli_check_output(command);
    if (status) return status;
    watch_plan(command);
    status = ny_embed_file(command->context, command->operands[0], command->output,
                           command->options, &report);
    return finish_file(command, status, report);
}

int cli_run_merge(struct command *command)
{
    struct ny_report *report = NULL;
    int status;

    if (!command->name) return cli_needs(command, "--name");
    if (!command->output) return cli_needs(command, "-o");
    status = cli_check_output(command);
    if (status) return status;
    status = ny_merge(command->context, command->operands, command->operand_count, command->name,
                      command->output, &report);
    return finish_file(command, status, report);
}
