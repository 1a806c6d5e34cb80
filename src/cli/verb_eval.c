/*
 * The verb eval: measures one result after another with ny_evaluate() and prints a table with a
 * column for each of them, or JSON. A figure that no result has is no line of the table; below
 * the table stands why results lack figures, a line for each reason. A table begins:
 *
 *                             flat              line
 *     components              2                 1
 *     purity                  1 ± 0             1 ± 0
 *
 * Nothing is printed before all results are measured, so that an error leaves no half of a table.
 */
#include "cli/cli.h"

#include <limits.h>
#include <string.h>

enum { LABEL_COLUMNS = 22, CELL_COLUMNS = 16 };

/* Figures in the order of the table; JSON has more. */
static const struct figure {
    const char *key, *label, *spread; /* spread: the key of what follows "±"; NULL: nothing */
} figures[] = {
    {"n", "rows", NULL},
    {"components", "components", NULL},
    {"unlabelled", "without a label", NULL},
    {"classes", "classes", NULL},
    {"clusters", "clusters", NULL},
    {"inertia", "inertia", NULL},
    {"variance_between", "variance between", NULL},
    {"silhouette", "silhouette", "silhouette_standard_error"},
    {"purity", "purity", "purity_sd"},
    {"accuracy", "accuracy", "accuracy_sd"},
    {"largest_class", "largest class", NULL},
    {"class_concentration", "class concentration", "class_concentration_sd"},
    {"nmi", "nmi", NULL},
    {"ari", "ari", NULL},
    {"knn_error", "kNN error", "knn_error_sd"},
    {"trustworthiness", "trustworthiness", NULL},
    {"continuity", "continuity", NULL},
    {"residual_variance", "residual variance", NULL},
    {"distance_error", "distance error", "distance_standard_error"},
    {"relative_error", "relative error", "relative_standard_error"},
    {"relative_accuracy", "relative accuracy", NULL},
    {"distance_accuracy", "distance accuracy", NULL},
    {"projection_error", "projection error", NULL},
    {"projection_accuracy", "projection accuracy", NULL},
    {"alignment_error", "alignment error", NULL},
    {"alignment_share", "alignment share", NULL},
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

/* Tells whether any result has the figure, and thus whether the table has its line. */
static bool is_there(const json_t *results, const char *key)
{
    for (size_t i = 0; i < json_array_size(results); i++)
        if (json_is_number(json_object_get(json_array_get(results, i), key))) return true;
    return false;
}

/* Makes a cell: "0.612 ± 0.01" where the spread is known, "60,000" for whole numbers, "-" where the
 * figure is missing. A figure that is 1 but for a little has more digits, so that 1 is all. */
static struct words cell(const json_t *facts, const struct figure *figure)
{
    double value, spread;
    struct words words = {"-"};
    size_t length;

    if (!cli_fact_number(facts, figure->key, &value)) return words;
    if (json_is_integer(json_object_get(facts, figure->key))) return cli_count(value);
    if (!figure->spread || !cli_fact_number(facts, figure->spread, &spread))
        return cli_number(value, 5);
    words = cli_number(value, 4);
    length = strlen(words.text);
    snprintf(words.text + length, sizeof(words.text) - length, " ± %.1g", spread);
    return words;
}

/* Prints a figure of all results or, without a figure, their names. The last cell is not padded. */
static void print_line(const char *label, const json_t *results, const struct figure *figure)
{
    cli_print_padded(stdout, label, LABEL_COLUMNS);
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *facts = json_array_get(results, i);
        struct words words;

        if (figure) words = cell(facts, figure);
        printf("  ");
        cli_print_padded(stdout, figure ? words.text : cli_fact_text(facts, "name"),
                         i + 1 < json_array_size(results) ? CELL_COLUMNS : 0);
    }
    putchar('\n');
}

/* The words for a figure of the table; NULL for one that only JSON has. */
static const char *label_of(const char *key)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].key, key) == 0) return figures[i].label;
    return NULL;
}

/* Returns the first figure that lacks for this reason. */
static const char *first_for(const json_t *reasons, const char *reason)
{
    const json_t *why;
    const char *key;

    json_object_foreach((json_t *)reasons, key, why)
    {
        if (strcmp(json_string_value(why), reason) == 0) return key;
    }
    return NULL;
}

/* Prints why a result lacks figures, a line for each reason, except "not asked for": the figures of
 * the table that lack for it, or the first one that only JSON has. */
static void print_reasons(const json_t *facts)
{
    const json_t *reasons = json_object_get(facts, "reasons"), *why, *other;
    const char *key, *also;

    json_object_foreach((json_t *)reasons, key, why)
    {
        const char *reason = json_string_value(why), *shown = NULL;

        if (strncmp(reason, "not asked for", 13) == 0 || first_for(reasons, reason) != key)
            continue;
        printf("%s: no ", cli_fact_text(facts, "name"));
        json_object_foreach((json_t *)reasons, also, other)
        {
            if (strcmp(json_string_value(other), reason) != 0 || !label_of(also)) continue;
            printf("%s%s", shown ? ", " : "", label_of(also));
            shown = also;
        }
        printf("%s: ", shown ? "" : key);
        cli_print_text(stdout, reason);
        putchar('\n');
    }
}

/* Prints a line with a number for each bucket of eigenpairs, as in "cosines of angles of flat and
 * line by pairs: 1 0.99983, 2-3 0.98". */
static void print_buckets(const json_t *facts, const char *key, const char *label)
{
    const json_t *buckets = json_object_get(facts, "buckets");
    const json_t *numbers = json_object_get(facts, key);

    if (!json_is_array(numbers)) return;
    printf("%s of %s and %s by pairs: ", label, cli_fact_text(facts, "name"),
           cli_fact_text(facts, "against"));
    for (size_t i = 0; i < json_array_size(numbers); i++) {
        const json_t *ends = json_array_get(buckets, i), *number = json_array_get(numbers, i);
        long long first = json_integer_value(json_array_get(ends, 0));
        long long last = json_integer_value(json_array_get(ends, 1));

        printf("%s%lld", i ? ", " : "", first);
        if (last > first) printf("-%lld", last);
        if (json_is_number(number))
            printf(" %s", cli_number(json_number_value(number), 5).text);
        else
            printf(" -");
    }
    putchar('\n');
}

/* Prints the line of the sizes of clusters, where a result has clusters. The list of one result may
 * be longer than a cell. */
static void print_sizes(const json_t *results)
{
    size_t count = json_array_size(results);

    if (!is_there(results, "clusters")) return;
    cli_print_padded(stdout, "cluster sizes", LABEL_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        const json_t *sizes = json_object_get(json_array_get(results, i), "cluster_sizes");
        char text[CLI_SIZES_BYTES];

        cli_sizes(sizes, count > 1 ? CELL_COLUMNS : INT_MAX, text);
        printf("  ");
        cli_print_padded(stdout, text, i + 1 < count ? CELL_COLUMNS : 0);
    }
    putchar('\n');
}

/* Prints the silhouette of each number of clusters that was tried, as in "silhouettes of flat by
 * clusters: 2 0.5, 3 0.71". */
static void print_tried(const json_t *facts)
{
    const json_t *tried = json_object_get(facts, "clusters_tried");
    const json_t *values = json_object_get(facts, "silhouettes");

    if (json_array_size(tried) < 2) return;
    printf("silhouettes of %s by clusters: ", cli_fact_text(facts, "name"));
    for (size_t i = 0; i < json_array_size(tried); i++) {
        const json_t *figure = json_array_get(values, i);

        printf("%s%lld", i ? ", " : "", (long long)json_integer_value(json_array_get(tried, i)));
        if (json_is_number(figure))
            printf(" %s", cli_number(json_number_value(figure), 3).text);
        else
            printf(" -");
    }
    putchar('\n');
}

static void print_table(const json_t *results)
{
    print_line("", results, NULL);
    for (size_t i = 0; i < FIGURES; i++) {
        if (is_there(results, figures[i].key)) print_line(figures[i].label, results, &figures[i]);
        if (strcmp(figures[i].key, "clusters") == 0) print_sizes(results);
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        print_buckets(json_array_get(results, i), "angles", "cosines of angles");
        print_buckets(json_array_get(results, i), "value_accuracy", "agreement of eigenvalues");
        print_tried(json_array_get(results, i));
    }
    for (size_t i = 0; i < json_array_size(results); i++)
        print_reasons(json_array_get(results, i));
}

/* Prints one result as its own object, several as {"results": […]}. */
static int print_json(struct command *command, const json_t *results)
{
    json_t *object = json_array_size(results) == 1 ? json_incref(json_array_get(results, 0))
                                                   : json_pack("{sO}", "results", results);
    int failed = !object || json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));

    json_decref(object);
    if (failed) return cli_fail(command, NY_EIO, "the report cannot be written");
    putchar('\n');
    return NY_OK;
}

/* Measures one result and appends its facts to `results`; prints the error if that fails. */
static int evaluate(struct command *command, const char *name, json_t *results)
{
    struct ny_report *report = NULL;
    int status =
        ny_evaluate(command->context, command->operands[0], name, command->options, &report);

    if (status)
        status = cli_fail_library(command, status);
    else if (json_array_append_new(results, cli_facts(report)))
        status = cli_no_memory(command);
    ny_report_free(report);
    return status;
}

/* Checks that all results are there before the first one is measured: measures may take long, and
 * keep the clusters that they find. */
static int check_names(struct command *command)
{
    int status = NY_OK;

    for (size_t i = 1; i < command->operand_count && !status; i++) {
        struct ny_report *report = NULL;

        status =
            ny_result_report(command->context, command->operands[0], command->operands[i], &report);
        if (status) status = cli_fail_library(command, status);
        ny_report_free(report);
    }
    return status;
}

/* Adds what needs labels to --measures, for --labels: it must then apply, whatever else is
 * measured. */
static int need_labels(struct command *command)
{
    char with[512];

    snprintf(with, sizeof(with), "%s,labels", ny_options_get(command->options, "measures"));
    return ny_options_set(command->options, "measures", with) ? cli_fail_library(command, NY_EUSAGE)
                                                              : NY_OK;
}

int cli_run_eval(struct command *command)
{
    json_t *results = json_array();
    int status = command->typed & OWN_LABELS ? need_labels(command) : NY_OK;

    if (!status && command->operand_count > 2) status = check_names(command);
    for (size_t i = 1; i < command->operand_count && !status; i++)
        status = evaluate(command, command->operands[i], results);
    cli_display_clear(&command->display);
    if (!status && command->json)
        status = print_json(command, results);
    else if (!status)
        print_table(results);
    json_decref(results);
    return status;
}
