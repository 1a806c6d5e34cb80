#include "report/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "report/axis.h"

/* Adds text, cleaned (a terminal is not to obey what a record says), between two of our words. */
static void add(char words[NY_WORDS_BYTES], const char *before, const char *text, const char *after)
{
    size_t used = strlen(words);
    char clean[96];

    if (!text) return;
    ny_clean_text(text, clean, sizeof(clean));
    if (used) used += (size_t)snprintf(words + used, NY_WORDS_BYTES - used, ", ");
    if (used < NY_WORDS_BYTES)
        snprintf(words + used, NY_WORDS_BYTES - used, "%s%s%s", before, clean, after);
}

void ny_describe_result(const struct ny_result *result, char words[NY_WORDS_BYTES])
{
    const json_t *report = result->report;
    double gamma = ny_field_number(report, "gamma", NAN);
    uint64_t landmarks = ny_field_count(report, "landmarks", 0);
    uint64_t rows = ny_part_find("embedding")->count(result);
    const char *rule = ny_field_text(report, "select"), *map = ny_field_text(report, "map");
    char text[96], number[48];

    words[0] = '\0';
    add(words, "", map, "");
    add(words, "", ny_field_text(report, "approx"), "");
    if (landmarks) {
        snprintf(text, sizeof(text), "%s landmark%s%s%s%s", ny_grouped(landmarks, number),
                 landmarks == 1 ? "" : "s", rule ? " (" : "", rule ? rule : "", rule ? ")" : "");
        add(words, "", text, "");
    }
    if (!map || strcmp(map, "pca") != 0) add(words, "", ny_field_text(report, "kernel"), " kernel");
    if (isfinite(gamma)) add(words, "γ = ", ny_short_number(gamma, number), "");
    if (!rows) rows = ny_field_count(report, "n", 0); /* of a graph or a dictionary alone */
    add(words, "", ny_grouped(rows, number), rows == 1 ? " point" : " points");
}

size_t ny_eigenvalue_first(const struct ny_result *result)
{
    return 1 - result->coordinates.skip;
}

double ny_eigenvalue(const struct ny_result *result, size_t place)
{
    const json_t *value = json_array_get(json_object_get(result->report, "eigenvalues"), place);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

double ny_eigenvalue_error(const struct ny_result *result, size_t place)
{
    const json_t *errors = json_object_get(result->report, "component_errors");
    const json_t *error = json_array_get(errors, place);

    return json_is_number(error) ? json_number_value(error) : NAN;
}

size_t ny_eigenvalues_known(const struct ny_result *result, size_t count)
{
    size_t known = 0;

    while (known < count && !isnan(ny_eigenvalue(result, known)))
        known++;
    return known;
}

/* Writes factor · value; where the value is 1 but for a little, with two digits of what is missing,
 * unless that is rounding. */
static const char *near_one(double value, double factor, char text[48])
{
    double left = 1 - value;

    if (!(left >= 1e-7 && left < 5e-3)) return ny_short_number(factor * value, text);
    ny_decimal_print(text, 48, "%.*g", (int)ceil(-log10(left)) + 1, factor * value);
    return text;
}

const char *ny_unit_words(double value, char text[48])
{
    return near_one(value, 1, text);
}

const char *ny_percent_words(double share, char text[48])
{
    return near_one(share, 100, text);
}

double ny_eigenvalue_share(const struct ny_result *result, size_t place)
{
    double trace = ny_field_number(result->report, "trace", NAN);

    return trace > 0 ? ny_eigenvalue(result, place) / trace : NAN;
}

const char *ny_shared_word(const json_t *report)
{
    return ny_field_is(report, "trace_of", "centred") ? "variance" : "trace";
}

void ny_name_column(const struct ny_data_frame *frame, size_t place, char words[NY_WORDS_BYTES])
{
    const struct ny_frame_column *column = &frame->column[place];

    if (column->component)
        snprintf(words, NY_WORDS_BYTES, "component %zu", column->component);
    else
        snprintf(words, NY_WORDS_BYTES, "%s",
                 column->points ? column->points->title
                 : column->part ? column->part->name
                                : "row");
}

void ny_describe_column(const struct ny_data_frame *frame, size_t place, char words[NY_WORDS_BYTES])
{
    const double least = 0.001; /* below it there is nothing to see */
    size_t component = frame->column[place].component, used;
    double value, share, error;
    char number[48];

    ny_name_column(frame, place, words);
    if (!component) return;
    component -= ny_eigenvalue_first(&frame->result);
    value = ny_eigenvalue(&frame->result, component);
    share = ny_eigenvalue_share(&frame->result, component);
    used = strlen(words);
    if (isfinite(value))
        used += (size_t)snprintf(words + used, NY_WORDS_BYTES - used, ": λ = %s",
                                 ny_unit_words(value, number));
    if (share < 0.995)
        ny_decimal_print(number, sizeof(number), "%.2g", 100 * share);
    else
        ny_percent_words(share, number);
    if (isfinite(share))
        used += (size_t)snprintf(words + used, NY_WORDS_BYTES - used, ", %s %% of the %s", number,
                                 ny_shared_word(frame->result.report));
    error = ny_eigenvalue_error(&frame->result, component);
    if (error > least)
        ny_decimal_print(words + used, NY_WORDS_BYTES - used, ", ± %.1g %%", 100 * error);
}
