/*
 * Writes the section of a report about clusters (report/page_clusters.h): those that the plot above
 * can be coloured by, in sentences. Measures are those of the evaluation that found them; rows that
 * a frozen update has added since have a cluster, and are in no measure.
 */
#include "report/page_clusters.h"

#include <math.h>

#include "report/axis.h"
#include "report/words.h"
#include "results/clusters.h"
#include "job/facts.h"

/* Writes the rows of each cluster, by its number, as in ", of 40, 39 and 41 rows"; of many the
 * smallest and the largest. */
static void put_sizes(struct ny_sink *sink, const json_t *sizes)
{
    enum { LISTED = 24 };
    size_t count = json_array_size(sizes);
    uint64_t least = UINT64_MAX, most = 0;
    char text[32], other[32];

    for (size_t c = 0; c < count; c++) {
        uint64_t size = (uint64_t)json_integer_value(json_array_get(sizes, c));

        if (size < least) least = size;
        if (size > most) most = size;
        if (count <= LISTED)
            ny_putf(sink, "%s%s", !c ? ", of " : c + 1 < count ? ", " : " and ",
                    ny_grouped(size, text));
    }
    if (count > LISTED)
        ny_putf(sink, ", of %s to %s", ny_grouped(least, text), ny_grouped(most, other));
    if (count) ny_put(sink, " rows");
}

/* Writes "silhouette 0.71" and the like in one item, those that were measured; nothing of none. */
static void put_measures(struct ny_sink *sink, const json_t *told, const char *before,
                         const char *const *keys, const char *const *labels)
{
    size_t written = 0;
    char text[48];

    for (size_t k = 0; keys[k]; k++) {
        double value = ny_field_number(told, keys[k], NAN);

        if (isnan(value)) continue;
        ny_putf(sink, "%s%s %s", written++ ? ", " : before, labels[k], ny_unit_words(value, text));
    }
    if (written) ny_put(sink, ".</li>");
}

void ny_put_clusters(struct ny_sink *sink, const struct ny_result *result)
{
    static const char *const apart[] = {"silhouette", "variance_between", NULL};
    static const char *const apart_labels[] = {"silhouette", "variance between them"};
    static const char *const classes[] = {"accuracy", "purity", "nmi", "ari", NULL};
    const json_t *told = ny_stored_clusters_figures(result->record);
    uint64_t count = ny_stored_clusters(result), rows = ny_field_count(told, "rows", UINT64_MAX);
    char number[32];

    if (!count) return;
    ny_putf(sink, "<section class=\"clusters\"><h3>Clusters</h3><ul><li>%s cluster%s",
            ny_grouped(count, number), count == 1 ? "" : "s");
    put_sizes(sink, json_object_get(told, "cluster_sizes"));
    ny_put(sink, ".</li>");
    put_measures(sink, told, "<li>How far apart: ", apart, apart_labels);
    put_measures(sink, told, "<li>Against the labels: ", classes, classes);
    if ((double)rows < ny_fact_rows_placed(result->report))
        ny_putf(sink, "<li>Measured on the first %s rows, without those of updates since.</li>",
                ny_grouped(rows, number));
    ny_put(sink, "</ul></section>");
}
