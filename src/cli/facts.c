/*
 * Prints reports for people: each fact of a report's JSON is a line of a label and a value, with
 * units in words. info, bench, plan and the summary of fit use it.
 *
 * Labels and units come from the table of job/facts.h. A fact that the table does not have is
 * printed under its key, so that a new fact is seen before it has a label. The library writes the
 * certificate, which says how far off a result is, in sentences.
 */
#include "cli/cli.h"
#include "job/facts.h"

#include <stdarg.h>
#include <string.h>

enum { LABEL_COLUMNS = 20, SHOWN_MAX = 8 };
static const struct ny_fact known[] = {NY_FACTS(NY_FACT)};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) };

json_t *cli_facts(const struct ny_report *report)
{
    const char *json = ny_report_json(report);

    return json ? json_loads(json, 0, NULL) : NULL;
}

bool cli_fact_number(const json_t *facts, const char *key, double *value)
{
    const json_t *json = json_object_get(facts, key);

    if (!json_is_number(json)) return false;
    *value = json_number_value(json);
    return true;
}

const char *cli_fact_text(const json_t *facts, const char *key)
{
    return json_string_value(json_object_get(facts, key));
}

struct words cli_passes(const json_t *facts, bool planned, bool labelled)
{
    double passes = 0, selecting = 0, others;
    bool vary = cli_fact_number(facts, "selection_passes", &selecting);
    struct words words, chosen = cli_count(selecting);
    size_t used;

    cli_fact_number(facts, "passes", &passes);
    others = selecting < passes ? passes - selecting : passes; /* all are of a selection */
    words = labelled ? cli_count(others) : cli_counted(others, "pass", "passes");
    used = strlen(words.text);
    if (selecting > 0 && selecting < passes)
        snprintf(words.text + used, sizeof(words.text) - used,
                 " plus %s%.9s for landmark selection", planned ? "about " : "", chosen.text);
    else if (selecting > 0 || (vary && planned))
        snprintf(words.text + used, sizeof(words.text) - used, "%s landmark selection",
                 selecting > 0 ? " for" : " plus");
    return words;
}

static const struct ny_fact *find_known(const char *key)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(known[i].key, key) == 0) return &known[i];
    return NULL;
}

/* Puts a number in words: 1048576 bytes are "1.00 MiB". Numbers without a unit keep six digits. */
static struct words number_words(const json_t *json, enum ny_fact_unit unit)
{
    double value = json_number_value(json);
    struct words words;

    switch (unit) {
    case NY_FACT_BYTES:
        return cli_bytes(value);
    case NY_FACT_SECONDS:
        return cli_duration(value);
    case NY_FACT_FLOPS:
        return cli_scaled(value, "flop");
    case NY_FACT_COUNT:
        return cli_count(value);
    case NY_FACT_FLOP_RATE:
        return cli_scaled(value, "F/s");
    case NY_FACT_BYTE_RATE:
        return cli_scaled(value, "B/s");
    case NY_FACT_RATE:
        return cli_scaled(value, "/s");
    case NY_FACT_PLAIN:
        break;
    }
    if (json_is_integer(json))
        snprintf(words.text, sizeof(words.text), "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    else
        return cli_number(value, 6);
    return words;
}

static void print_scalar(FILE *file, const json_t *json, enum ny_fact_unit unit)
{
    if (json_is_number(json))
        fputs(number_words(json, unit).text, file);
    else if (json_is_string(json))
        cli_print_text(file, json_string_value(json));
    else if (json_is_boolean(json))
        fputs(json_is_true(json) ? "yes" : "no", file);
    else
        fputs("-", file);
}

/* Tells whether a text of an array has a blank, so that blanks do not tell them apart. */
static bool has_blanks(const json_t *json)
{
    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *text = json_string_value(json_array_get(json, i));

        if (text && strchr(text, ' ')) return true;
    }
    return false;
}

/* Prints the first SHOWN_MAX values of an array, and " … (20 in all)" where `all` are more. */
static void print_array(FILE *file, const json_t *json, enum ny_fact_unit unit, size_t all)
{
    const char *separator = has_blanks(json) ? ", " : " ";
    size_t shown = 0;

    for (; shown < json_array_size(json) && shown < SHOWN_MAX; shown++) {
        if (shown) fputs(separator, file);
        print_scalar(file, json_array_get(json, shown), unit);
    }
    if (shown < all) fprintf(file, " … (%s in all)", cli_count((double)all).text);
    if (all == 0) fputs("none", file);
}

/* A fact as it is printed; an array may be only the first of `all` values. */
struct fact {
    const char *key;
    const json_t *json;
    enum ny_fact_unit unit;
    size_t all;
};

/* Prints a value and ends the line. An object becomes "select 1.2 s, solve 3.4 s" (facts in it have
 * their labels and units), and an array of objects is only counted. */
static void print_value(FILE *file, const struct fact *printed)
{
    const json_t *json = printed->json, *item;
    enum ny_fact_unit unit = printed->unit;
    const struct ny_fact *fact;
    const char *key;
    size_t shown = 0;

    if (json_is_array(json) && json_is_object(json_array_get(json, 0))) {
        fprintf(file, "%s lines", cli_count((double)json_array_size(json)).text);
    } else if (json_is_array(json)) {
        print_array(file, json, unit, printed->all);
    } else if (json_is_object(json)) {
        json_object_foreach((json_t *)json, key, item)
        {
            if (json_is_null(item)) continue;
            if (unit == NY_FACT_SECONDS && json_number_value(item) == 0) continue; /* not run */
            if (json_is_array(item)) continue; /* the lines of a sweep have a table of their own */
            fact = unit == NY_FACT_PLAIN ? find_known(key) : NULL;
            fputs(shown++ ? ", " : "", file);
            cli_print_text(file, fact && fact->label ? fact->label : key);
            fputc(' ', file);
            print_scalar(file, item, fact ? fact->unit : unit);
        }
        if (shown == 0) fputc('-', file);
    } else {
        print_scalar(file, json, unit);
    }
    fputc('\n', file);
}

void cli_print_fact(FILE *file, const char *label, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cli_print_padded(file, label, LABEL_COLUMNS);
    fputs("  ", file);
    cli_print_text(file, text);
    fputc('\n', file);
}

/* Prints a fact behind its label. Names are the first ones of all rows, or columns. */
static void print_fact(FILE *file, const char *label, const json_t *facts, struct fact fact)
{
    bool rows = strcmp(fact.key, "first_row_names") == 0;
    double all;

    fact.all = json_array_size(fact.json);
    if ((rows || strcmp(fact.key, "first_column_names") == 0) &&
        cli_fact_number(facts, rows ? "n" : "d", &all))
        fact.all = (size_t)all;
    cli_print_padded(file, label, LABEL_COLUMNS);
    fputs("  ", file);
    print_value(file, &fact);
}

void cli_print_facts(FILE *file, const json_t *facts)
{
    const char *key;
    const json_t *value;

    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        value = json_object_get(facts, known[i].key);
        if (!value || json_is_null(value) || !known[i].label) continue;
        if (strcmp(known[i].key, "passes") == 0)
            cli_print_fact(file, known[i].label, "%s", cli_passes(facts, false, true).text);
        else
            print_fact(file, known[i].label, facts,
                       (struct fact){known[i].key, value, known[i].unit, 0});
    }
    json_object_foreach((json_t *)facts, key, value)
    {
        if (find_known(key) || json_is_null(value)) continue;
        print_fact(file, key, facts, (struct fact){key, value, NY_FACT_PLAIN, 0});
    }
}

void cli_print_stages(FILE *file, const json_t *facts)
{
    const json_t *stages = json_object_get(facts, "stages");

    if (!json_is_object(stages)) return;
    print_fact(file, "by stage", facts, (struct fact){"stages", stages, NY_FACT_SECONDS, 0});
}

/* Only the first line of a certificate has the label; the lines below it are indented by an empty
 * one. */
void cli_print_certificate(FILE *file, const json_t *facts)
{
    const json_t *sentence;
    size_t i;

    json_array_foreach(json_object_get(facts, "certificate"), i, sentence)
        cli_print_fact(file, i ? "" : "certificate", "%s", json_string_value(sentence));
}
