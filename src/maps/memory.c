/* Memory of a fit of a graph's map, and the workers for which there is enough. */
#include <string.h>

#include "maps/graph_map.h"

static const size_t small_bytes = 512 << 10;

static size_t total(const size_t by_purpose[NY_PURPOSES])
{
    size_t sum = 0;

    for (int p = 0; p < NY_PURPOSES; p++)
        sum += by_purpose[p];
    return sum;
}

/* Bills a stage of the map's own; any other has 0. */
static void bill_stage(const struct ny_graph_shape *shape, enum ny_stage_id stage, unsigned workers,
                       size_t limit, size_t by_purpose[NY_PURPOSES])
{
    memset(by_purpose, 0, NY_PURPOSES * sizeof(size_t));
    shape->map->bill(shape, stage, workers, limit, by_purpose);
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

void ny_graph_plan_memory(const struct ny_graph_shape *shape, struct ny_plan *plan)
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

int ny_graph_fit_workers(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    const struct ny_edges *edges = &fit->edges;
    const struct ny_graph_shape shape = {.ctx = job->ctx,
                                         .settings = fit->base.settings,
                                         .map = fit->map,
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
