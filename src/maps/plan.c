/* Memory, disk and time of a fit of a graph's map. */
#include <string.h>

#include "results/embedding.h"
#include "maps/graph_map.h"
#include "neighbors/job.h"
#include "fit/plan_private.h"

static const size_t small_bytes = 512 << 10;
static const double opening_s = 1e-7; /* an end of an edge, while the graph is opened */

static size_t total(const size_t by_purpose[NY_PURPOSES])
{
    size_t sum = 0;

    for (int p = 0; p < NY_PURPOSES; p++)
        sum += by_purpose[p];
    return sum;
}

size_t ny_graph_put_bytes(size_t limit, size_t bytes)
{
    size_t chunks = (bytes / NY_CHUNK_BYTES + 1) * NY_CHUNK_BYTES;

    return chunks < ny_graph_batch_bytes(limit) ? chunks : ny_graph_batch_bytes(limit);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Bills a stage of the map's own; any other has 0. */
static void bill_stage(const struct ny_graph_shape *shape, enum ny_stage_id stage, unsigned workers,
                       size_t limit, size_t by_purpose[NY_PURPOSES])
{
    memset(by_purpose, 0, NY_PURPOSES * sizeof(size_t));
    ny_graph_map_of(shape->settings->map)->bill(shape, stage, workers, limit, by_purpose);
    if (!total(by_purpose)) return;
    by_purpose[NY_MEM_PROCESS] += NY_PROCESS_BYTES;
    by_purpose[NY_MEM_OTHER] += small_bytes;
    by_purpose[NY_MEM_STORE] += ny_reading_bytes(2);
    by_purpose[NY_MEM_DICTIONARY] += ny_edges_bytes(shape->n, shape->nodes, shape->edges);
}

static size_t opening_bytes(const struct ny_graph_shape *shape)
{
    return NY_PROCESS_BYTES + small_bytes + ny_reading_bytes(2) + shape->opening_bytes +
           ny_edges_bytes(shape->n, shape->nodes, shape->edges);
}

/* The stage with the peak, of those that have this many workers at least. */
static size_t peak(const struct ny_graph_shape *shape, unsigned workers, size_t limit,
                   size_t by_purpose[NY_PURPOSES])
{
    size_t one[NY_PURPOSES], most = opening_bytes(shape);

    memset(by_purpose, 0, NY_PURPOSES * sizeof(size_t));
    by_purpose[NY_MEM_PROCESS] = NY_PROCESS_BYTES;
    by_purpose[NY_MEM_DICTIONARY] = most - NY_PROCESS_BYTES;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        bill_stage(shape, (enum ny_stage_id)stage, workers, limit, one);
        if (total(one) <= most) continue;
        most = total(one);
        memcpy(by_purpose, one, sizeof(one));
    }
    return most;
}

/* The least budget with which one worker fits, batches growing with it. */
static size_t least(const struct ny_graph_shape *shape)
{
    size_t low = 1, high = SIZE_MAX / 4, by_purpose[NY_PURPOSES];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (peak(shape, 1, middle, by_purpose) <= middle)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void plan_memory(const struct ny_graph_shape *shape, struct ny_plan *plan)
{
    size_t limit = ny_memory_limit(shape->ctx), one[NY_PURPOSES];

    plan->workers = shape->settings->threads;
    while (plan->workers > 1 && peak(shape, plan->workers, limit, one) > limit)
        plan->workers--;
    plan->memory_bytes = peak(shape, plan->workers, limit, plan->by_purpose);
    plan->memory_min_bytes = least(shape);
    plan->fits = plan->memory_bytes <= limit;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        bill_stage(shape, (enum ny_stage_id)stage, plan->workers, limit, one);
        plan->stage_bytes[stage] = total(one);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Assumes, before there is a graph, one component and no edge that is in two lists. */
static int shape_of(struct ny_store *store, const struct ny_fit_settings *settings,
                    struct ny_graph_shape *shape)
{
    const char *name = settings->graph_name;
    struct ny_stored_graph graph = {.store = store};
    struct ny_points_info points;
    json_t *record = NULL;
    int err = name ? ny_graph_need(store, name, &graph, &record) : ny_points_info(store, &points);

    json_decref(record);
    if (err) return err;
    if (!name) {
        graph.n = graph.largest = points.n;
        graph.stored = settings->graph.stored;
        graph.largest_edges = points.n * settings->graph.neighbors;
    }
    *shape = (struct ny_graph_shape){.ctx = ny_store_context(store),
                                     .settings = settings,
                                     .n = graph.n,
                                     .nodes = graph.largest,
                                     .edges = graph.largest_edges,
                                     .m = settings->landmarks,
                                     .opening_bytes = ny_stored_edges_bytes(&graph)};
    if (shape->m > shape->nodes) shape->m = (size_t)shape->nodes;
    return NY_OK;
}

int ny_graph_fit_plan(struct ny_store *store, const struct ny_fit_settings *settings,
                      struct ny_plan *plan)
{
    const struct ny_graph_map *map = ny_graph_map_of(settings->map);
    size_t element = ny_precision_bytes(settings->precision);
    struct ny_graph_plan graph = {0};
    struct ny_graph_shape shape;
    int err = shape_of(store, settings, &shape);
    double m = settings->method && err == NY_OK ? (double)shape.m : 0;

    *plan = (struct ny_plan){0};
    if (err == NY_OK && !settings->graph_name)
        err = ny_graph_plan_make(store, &settings->graph, &graph);
    if (err) return err;
    plan->m = shape.m;
    plan->whole = !settings->method;
    plan_memory(&shape, plan);
    err = ny_calibration_get(shape.ctx, graph.flops + 2 * ((double)shape.nodes + m) * m * m,
                             settings->patient, plan->workers, &plan->rates);
    if (err) return err;
    plan->result_bytes = shape.nodes * ((ny_settings_pairs(settings) + settings->asymmetric) *
                                            element +
                                        sizeof(uint32_t));
    plan->disk_bytes = plan->result_bytes;
    map->work(&shape, plan);
    plan->stage_s[ny_graph_map_first(map)] += opening_s * 2 * (double)shape.edges;
    if (!settings->graph_name) ny_graph_plan_add(&graph, plan);
    ny_plan_sum_up(plan);
    return NY_OK;
}

int ny_graph_fit_workers(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    const struct ny_edges *edges = &fit->edges;
    const struct ny_graph_shape shape = {.ctx = job->ctx,
                                         .settings = fit->base.settings,
                                         .n = job->points.n,
                                         .nodes = edges->n,
                                         .edges = edges->head[edges->n] / 2,
                                         .m = fit->base.m};
    size_t limit = ny_memory_limit(job->ctx), needed[NY_PURPOSES];

    for (job->workers = fit->base.settings->threads; job->workers > 0; job->workers--) {
        bill_stage(&shape, job->stage, job->workers, limit, needed);
        if (total(needed) > limit) continue;
        ny_context_set_crew(job->ctx, job->workers);
        return NY_OK;
    }
    return ny_fail(job->ctx, NY_EBUDGET,
                   "this fit needs a budget of %zu bytes (%.1f MiB), and it is %.1f MiB; give "
                   "--memory %zuM",
                   least(&shape), (double)least(&shape) / 1048576.0, (double)limit / 1048576.0,
                   (least(&shape) >> 20) + 1);
}
