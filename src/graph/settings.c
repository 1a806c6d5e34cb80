/* Checks the settings of a graph of neighbours against the rows that it is to be of. */
#include "graph/settings.h"

#include <stdlib.h>

#include "base/text.h"
#include "nearest/neighbors.h"
#include "stream/rows.h"

/* Bounds of --leaf. The values of all pairs of a leaf are in memory, 2,048² of them at most. */
enum { LEAF_MIN = 32, LEAF_MAX = 2048 };

const char *ny_knn_way_name(enum ny_knn_way way)
{
    static const char *const names[] = {"auto", "exact", "forest", "tree", "sieve"};

    return names[way];
}

bool ny_graph_takes_tree(const struct ny_graph_settings *settings,
                         const struct ny_rows_info *points)
{
    return settings->metric->base == NY_BASE_SQUARE && !points->row_slots;
}

/* "1,2,5" → the numbers, each from 1 up. */
static int parse_sweep(struct ny_context *ctx, const char *text, struct ny_graph_settings *graph)
{
    for (const char *at = text; at && *at;) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);

        if (end == at || value < 1 || (*end && (*end != ',' || !end[1])) || *at < '0' || *at > '9')
            return ny_fail(ctx, NY_EUSAGE, "--sweep %s: give a list of numbers, such as 1,2,3,5,8",
                           text);
        if (graph->sweeps == NY_SWEEP_MAX)
            return ny_fail(ctx, NY_EUSAGE, "--sweep takes at most %d numbers", (int)NY_SWEEP_MAX);
        graph->sweep[graph->sweeps++] = (size_t)value;
        if (graph->stored < value) graph->stored = (size_t)value;
        at = *end ? end + 1 : end;
    }
    return NY_OK;
}

/* Checks that each row has as many others as neighbours are stored of it: the most of
 * --neighbors and --sweep. Row numbers of a graph have 32 bits. */
static int check_counts(struct ny_rows *X, const struct ny_graph_settings *graph, uint64_t n)
{
    struct ny_context *ctx = X->ctx;

    if (n > NY_NO_ROW)
        return ny_fail(ctx, NY_EUSAGE, "a graph has at most %u rows, and %s has %llu", NY_NO_ROW,
                       X->name, (unsigned long long)n);
    if (n < 2)
        return ny_fail(ctx, NY_EDATA, "%s has %s: no row has a neighbour", X->name,
                       n ? "one row" : "no points");
    if (graph->stored >= n)
        return ny_fail(ctx, NY_EUSAGE,
                       "%zu neighbours are more than the other %s; give a smaller %s",
                       graph->stored, n == 2 ? "row" : ny_counted(n - 1, "row", "rows").text,
                       graph->stored > graph->neighbors ? "--sweep" : "--neighbors");
    return NY_OK;
}

/* A leaf is cut in halves: each is to hold the neighbours of its rows. */
static int check_forest(struct ny_context *ctx, const struct ny_graph_settings *graph, uint64_t n)
{
    if (graph->way != NY_KNN_FOREST) return NY_OK;
    if (graph->leaf < LEAF_MIN || graph->leaf > LEAF_MAX)
        return ny_fail(ctx, NY_EUSAGE, "--leaf is from %d to %d rows, not %zu", (int)LEAF_MIN,
                       (int)LEAF_MAX, graph->leaf);
    if (n > graph->leaf && graph->stored * 2 + 2 > graph->leaf)
        return ny_fail(ctx, NY_EUSAGE,
                       "leaves of %zu rows are too small for %zu neighbours; give --leaf %zu or "
                       "more, or --knn exact",
                       graph->leaf, graph->stored, graph->stored * 2 + 2);
    return NY_OK;
}

/* Codes are of dense rows. */
static int check_sieve(struct ny_rows *X, const struct ny_graph_settings *graph,
                       const struct ny_rows_info *points)
{
    if (graph->way != NY_KNN_SIEVE || !points->row_slots) return NY_OK;
    return ny_fail(X->ctx, NY_EUSAGE,
                   "--knn sieve is for dense rows, and those of %s are sparse; give --knn exact "
                   "or forest",
                   X->name);
}

/* A box holds rows by their coordinates, and its bound is a euclidean distance. */
static int check_tree(struct ny_rows *X, const struct ny_graph_settings *graph,
                      const struct ny_rows_info *points)
{
    if (graph->way != NY_KNN_TREE || ny_graph_takes_tree(graph, points)) return NY_OK;
    if (points->row_slots)
        return ny_fail(X->ctx, NY_EUSAGE,
                       "--knn tree is for dense rows, and those of %s are sparse; give --knn exact "
                       "or forest",
                       X->name);
    return ny_fail(X->ctx, NY_EUSAGE,
                   "--knn tree is for --metric euclidean; give --knn exact or forest");
}

int ny_graph_settings_decide(struct ny_graph_settings *graph, struct ny_rows *X, const char *sweep)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    if (err) return err;
    graph->stored = graph->neighbors;
    if (graph->distance_quantile > 1)
        return ny_fail(ctx, NY_EUSAGE, "--distance-quantile is a share, from 0 to 1");
    if (points.lost)
        return ny_fail(ctx, NY_EUSAGE,
                       "%llu rows of %s are lost, but a graph needs all rows: import what is left "
                       "into another store",
                       (unsigned long long)points.lost, X->name);
    err = parse_sweep(ctx, sweep, graph);
    if (err == NY_OK) err = check_counts(X, graph, points.n);
    if (err == NY_OK) err = check_tree(X, graph, &points);
    if (err == NY_OK) err = check_sieve(X, graph, &points);
    if (err == NY_OK && graph->recall > 1)
        err = ny_fail(ctx, NY_EUSAGE, "--recall is a share, from 0 to 1");
    return err ? err : check_forest(ctx, graph, points.n);
}
