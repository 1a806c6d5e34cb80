/*
 * Turns the options in force into the settings of a graph, and checks them against the rows of the
 * store. ny_graph() calls this, and so does the fit of a map that makes its own graph
 * (api/settings.c).
 */
#include "api/graph_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns/kernels.h"
#include "graph/neighbors.h"

/* Bounds of --leaf. The values of all pairs of a leaf are in memory, 2,048² of them at most. */
enum { LEAF_MIN = 32, LEAF_MAX = 2048 };

/* "1,2,5" → the numbers, each from 1 up. */
static int parse_sweep(struct ny_context *ctx, const char *text, struct ny_graph_settings *graph)
{
    for (const char *at = text; at && *at;) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);

        if (end == at || value < 1 || (*end && (*end != ',' || !end[1])) || *at < '0' || *at > '9')
            return ny_fail(ctx, NY_EUSAGE,
                           "--sweep %s: a list of numbers such as 1,2,3,5,8 is meant", text);
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
static int check_counts(struct ny_store *store, const struct ny_graph_settings *graph, uint64_t n)
{
    struct ny_context *ctx = ny_store_context(store);

    if (n > NY_NO_ROW)
        return ny_fail(ctx, NY_EUSAGE, "a graph has at most %u rows, and %s has %llu", NY_NO_ROW,
                       ny_store_path(store), (unsigned long long)n);
    if (n < 2)
        return ny_fail(ctx, NY_EDATA, "%s has %s: no row has a neighbour", ny_store_path(store),
                       n ? "one row" : "no points");
    if (graph->stored >= n)
        return ny_fail(ctx, NY_EUSAGE,
                       "%zu neighbours are more than the other %llu rows; give a smaller %s",
                       graph->stored, (unsigned long long)n - 1,
                       graph->stored > graph->neighbors ? "--sweep" : "--neighbors");
    return NY_OK;
}

/* A leaf is cut in halves: each is to hold the neighbours of its rows. */
static int take_forest(struct ny_graph_settings *graph, struct ny_context *ctx,
                       const struct ny_options *options, uint64_t n)
{
    uint64_t leaf = 0;

    graph->forest = strcmp(ny_options_text(options, "knn"), "forest") == 0;
    if (!graph->forest) return NY_OK;
    ny_options_size(options, "seed", &graph->seed);
    ny_options_size(options, "leaf", &leaf);
    ny_options_number(options, "recall", &graph->recall);
    graph->leaf = (size_t)leaf;
    if (graph->recall > 1) return ny_fail(ctx, NY_EUSAGE, "--recall is a share, from 0 to 1");
    if (leaf < LEAF_MIN || leaf > LEAF_MAX)
        return ny_fail(ctx, NY_EUSAGE, "--leaf is from %d to %d rows, not %llu", (int)LEAF_MIN,
                       (int)LEAF_MAX, (unsigned long long)leaf);
    if (n > leaf && graph->stored * 2 + 2 > leaf)
        return ny_fail(ctx, NY_EUSAGE,
                       "leaves of %llu rows are too small for %zu neighbours; give --leaf %zu or "
                       "more, or --knn exact",
                       (unsigned long long)leaf, graph->stored, graph->stored * 2 + 2);
    return NY_OK;
}

int ny_graph_settings_of(struct ny_graph_settings *graph, struct ny_store *store,
                         const struct ny_options *options)
{
    struct ny_context *ctx = ny_store_context(store);
    const char *scale = ny_options_text(options, "scale");
    struct ny_points_info points;
    uint64_t t = 0;
    int err = ny_points_info(store, &points);

    if (err) return err;
    ny_options_size(options, "neighbors", &t);
    *graph = (struct ny_graph_settings){
        .metric = strcmp(ny_options_text(options, "metric"), "cosine") == 0 ? &ny_kernel_angular
                                                                            : &ny_kernel_euclidean,
        .scale = strcmp(scale, "standard") == 0 ? NY_SCALE_STANDARD
                 : strcmp(scale, "unit") == 0   ? NY_SCALE_UNIT
                                                : NY_SCALE_NONE,
        .neighbors = (size_t)t,
        .stored = (size_t)t,
        .max_distance = INFINITY,
        .distance_quantile = NAN,
        .mutual = ny_options_flag(options, "mutual"),
        .connect = ny_options_flag(options, "connect"),
        .threads = ny_context_threads(ctx)};
    ny_options_number(options, "max-distance", &graph->max_distance);
    ny_options_number(options, "distance-quantile", &graph->distance_quantile);
    if (graph->distance_quantile > 1)
        return ny_fail(ctx, NY_EUSAGE, "--distance-quantile is a share, from 0 to 1");
    if (points.lost)
        return ny_fail(ctx, NY_EUSAGE,
                       "%llu rows of %s are lost, and a graph is of all rows: import what is left "
                       "into another store",
                       (unsigned long long)points.lost, ny_store_path(store));
    err = parse_sweep(ctx, ny_options_text(options, "sweep"), graph);
    if (err == NY_OK) err = check_counts(store, graph, points.n);
    return err ? err : take_forest(graph, ctx, options, points.n);
}
