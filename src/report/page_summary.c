/*
 * Says in a headline and a sentence what a result is, for the page of a report (report/page.c), as
 * in "Made from 4,000 of 60,000 rows; keeps 98.2 % of what the full method would see."
 */
#include "report/page_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "report/axis.h"
#include "report/words.h"
#include "model/map.h"

static uint64_t rows_of(const struct ny_result *result)
{
    return ny_part_find("embedding")->count(result);
}

void ny_put_headline(struct ny_sink *sink, const struct ny_result *result)
{
    const struct ny_map *map = result->map;
    uint64_t rows = rows_of(result);
    char number[32];

    if (map && rows)
        ny_putf(sink, "%s of %s rows", map->title, ny_grouped(rows, number));
    else
        ny_put(sink, result->only_graph ? "Graph of neighbours" : "Landmarks");
}

/* Writes 1 − error as a percentage, with as many digits as tell it from 100. */
static const char *rest_words(double error, char text[32])
{
    int digits = error > 0 && error < 0.1 ? (int)floor(-log10(error)) : 1;

    if (!(error > 0))
        snprintf(text, 32, "all");
    else if (digits > 4)
        snprintf(text, 32, "over 99.99\u00a0%%");
    else
        ny_decimal_print(text, 32, "%.*f\u00a0%%", digits < 2 ? 1 : digits - 1, 100 * (1 - error));
    return text;
}

void ny_put_sentence(struct ny_sink *sink, const struct ny_result *result)
{
    const json_t *report = result->report;
    uint64_t rows = rows_of(result), landmarks = ny_field_count(report, "landmarks", 0);
    double error = ny_field_number(report, "trace_error", NAN);
    double kept = ny_field_number(report, "variance_kept", NAN);
    bool given = landmarks && !ny_part_find("landmarks")->count(result); /* and no rows */
    bool sampled = given || (landmarks && landmarks < rows);
    uint64_t components = ny_field_count(report, "components", 0);
    char number[32], all[32], text[48], of[96] = "";

    if (!rows) return;
    ny_grouped(rows, all);
    if (rows < result->n) /* rows of other components have no place on a map of a graph */
        snprintf(of, sizeof(of), " in the largest component of its graph (of %s)",
                 ny_grouped(result->n, text));
    if (given)
        ny_putf(sink, "Made from %s point%s that %s given, for %s rows",
                ny_grouped(landmarks, number), landmarks == 1 ? "" : "s",
                landmarks == 1 ? "was" : "were", all);
    else if (sampled)
        ny_putf(sink, "Made from %s of %s rows%s", ny_grouped(landmarks, number), all, of);
    else
        ny_putf(sink, "Made from all %s rows%s", all, of);
    if (sampled && isfinite(error) && error < 1)
        ny_putf(sink, "; keeps %s of what the full method would see", rest_words(error, text));
    ny_put(sink, ".");
    if (isfinite(kept))
        ny_putf(sink, " Its %s component%s %s\u00a0%% of the %s.", ny_grouped(components, number),
                components == 1 ? " holds" : "s hold", ny_percent_words(kept, text),
                ny_shared_word(report));
}
