/* ny_graph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/fit.h"
#include "api/request.h"
#include "columns/kernels.h"
#include "graph/neighbors.h"

/* Values of all pairs of a leaf are in memory. */
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
    if (graph->recall > 1)
        return ny_fail(ctx, NY_EUSAGE, "--recall is a share, from 0 to 1");
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

static int take_settings(struct ny_request *request)
{
    int err = ny_options_check(request->options, NY_GROUP_GRAPH);

    if (err == NY_OK && !(ny_options_text(request->options, "knn") &&
                          ny_options_text(request->options, "scale")))
        return ny_fail(request->ctx, NY_EUSAGE,
                       "options graph and kernel precomputed are for fits; leave them out to make "
                       "a graph");
    if (err == NY_OK)
        err = ny_graph_settings_of(&request->graph, request->store, request->options);
    if (err == NY_OK && !request->graph.forest && ny_options_is_set(request->options, "seed"))
        return ny_fail(request->ctx, NY_EUSAGE, "--seed acts only with --knn forest");
    return err;
}

static json_t *record_of(const struct ny_request *request, const struct ny_points_info *points,
                         json_t *options)
{
    json_t *record = ny_job_record_new(points, options, request->kind->name);

    ny_graph_facts_begin(json_object_get(record, "report"), &request->graph);
    if (request->graph.forest)
        ny_field_set_count(json_object_get(record, "report"), "seed", request->graph.seed);
    ny_field_set_count(json_object_get(record, "report"), "threads", request->graph.threads);
    return record;
}

static int announce(struct ny_request *request)
{
    struct ny_plan *plan = &request->plan;
    struct ny_points_info points;
    struct ny_graph_plan graph;
    int err = ny_graph_plan_make(request->store, &request->graph, &graph);

    *plan = (struct ny_plan){.fits = true, .whole = true, .workers = graph.workers};
    if (err == NY_OK) err = ny_points_info(request->store, &points);
    if (err == NY_OK)
        err = ny_calibration_get(request->ctx, graph.flops, false, graph.workers, &plan->rates);
    if (err) return err;
    ny_graph_plan_add(&graph, plan);
    ny_plan_sum_up(plan);
    err = ny_plan_tell(request->ctx, plan);
    if (err) return err;
    if (!plan->fits)
        return ny_fail(request->ctx, NY_EBUDGET,
                       "this graph needs %zu bytes (%.1f MiB), and the budget is %.1f MiB; give "
                       "--memory %zuM",
                       plan->memory_min_bytes, (double)plan->memory_min_bytes / 1048576.0,
                       (double)ny_memory_limit(request->ctx) / 1048576.0,
                       (plan->memory_min_bytes >> 20) + 1);
    err = ny_plan_check_disk(request->store, request->name, plan);
    if (err) return err;
    if (graph.forest && graph.held_rows < points.n)
        ny_log(request->ctx, NY_LOG_NOTE,
               "%.0f %% of the rows are in memory at a time, so that each tree reads them several "
               "times; a larger --memory saves time",
               100 * (double)graph.held_rows / (double)points.n);
    return NY_OK;
}

static int run(struct ny_request *request)
{
    return ny_graph_job_run(request->store, request->name, &request->graph, request->record,
                            NY_STAGE_DONE);
}

const struct ny_request_kind ny_request_graph = {.name = "graph",
                                                 .groups = NY_GROUP_GRAPH,
                                                 .settings = take_settings,
                                                 .record = record_of,
                                                 .announce = announce,
                                                 .run = run};

int ny_graph(struct ny_context *context, const char *path, const char *name,
             const struct ny_options *options, struct ny_report **report)
{
    return ny_request_run(&ny_request_graph, context, path, name, options, report);
}
