/* Checks the settings of a graph of neighbours against the rows that it is to be of. */
#include "graph/settings.h"

#include <stdlib.h>

#include "nearest/neighbors.h"
#include "stream/rows.h"

const char *ny_knn_way_name(enum ny_knn_way way)
{
    static const char *const names[] = {"auto", "exact", "tree", "sieve"};

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

        if (end == at || value < 1 || (*end && (*end != ',' || !end[1])) || *at < '0' ||
            *at > '9' || graph->sweeps == NY_SWEEP_MAX)
            return ny_fail_value(ctx, "sweep", "some numbers, such as 1,2,3,5,8", text);
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
    if (n < 2) return ny_fail_few(ctx, X->name);
    if (graph->stored >= n)
        return ny_fail_most(ctx, graph->stored > graph->neighbors ? "sweep" : "neighbors",
                            graph->stored, n, "rows");
    return NY_OK;
}

/* A box holds dense rows by their coordinates, and its bound is a euclidean distance. */
static int check_tree(struct ny_context *ctx, const struct ny_graph_settings *graph,
                     const struct ny_rows_info *points)
{
    if (graph->way != NY_KNN_TREE || ny_graph_takes_tree(graph, points)) return NY_OK;
    return points->row_slots ? ny_fail_idle(ctx, "knn tree", "sparse rows")
                             : ny_fail_beside(ctx, "knn tree", "metric", "cosine");
}

int ny_graph_settings_decide(struct ny_graph_settings *graph, struct ny_rows *X, const char *sweep)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    if (err) return err;
    graph->stored = graph->neighbors;
    if (points.lost)
        return ny_fail(ctx, NY_EUSAGE,
                       "%llu rows of %s are lost, but a graph needs all rows: import what is left "
                       "into another store",
                       (unsigned long long)points.lost, X->name);
    err = parse_sweep(ctx, sweep, graph);
    if (err == NY_OK) err = check_counts(X, graph, points.n);
    return err ? err : check_tree(ctx, graph, &points);
}
