/* Memory of a fit of a graph's map, and the workers for which there is enough. */
#include "base/budget.h"
#include "graph/paths.h"
#include "maps/graph_map.h"

static const size_t small_bytes = 512 << 10;

struct ny_stage_bytes ny_map_common(const struct ny_map_sizes *f)
{
    struct ny_stage_bytes bytes = {{0}};

    bytes.by_purpose[NY_MEM_PROCESS] = NY_PROCESS_BYTES;
    bytes.by_purpose[NY_MEM_OTHER] = small_bytes;
    bytes.by_purpose[NY_MEM_STORE] = ny_reading_bytes(2);
    bytes.by_purpose[NY_MEM_DICTIONARY] = ny_edges_bytes(f->n, f->nodes, f->edges);
    return bytes;
}

/* Fills in what all stages hold, with these lanes. */
static void course_bytes(const struct ny_map_sizes *f, size_t lanes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes)
{
    struct ny_map_sizes sizes = *f;
    size_t *before = bytes->before.by_purpose;

    sizes.lanes = lanes;
    ny_plan_stage_bytes(&sizes.job, workers, limit, bytes);
    before[NY_MEM_PROCESS] = NY_PROCESS_BYTES;
    before[NY_MEM_DICTIONARY] = small_bytes + ny_reading_bytes(2) + f->opening_bytes +
                                ny_edges_bytes(f->n, f->nodes, f->edges);
}

/* Lanes, the most first: one worker with more of them is faster than several with fewer. */
static const size_t lanes_of[] = {NY_LANES, NY_FEW_LANES, 1};
enum { WAYS = sizeof(lanes_of) / sizeof(lanes_of[0]) };

/* Returns how many of these lanes the map can do with. */
static size_t ways_of(const struct ny_map_sizes *f)
{
    return f->few_lanes ? WAYS : 1;
}

/* Tells whether one worker fits the budget in all stages. */
static bool fits(const struct ny_map_sizes *f, size_t lanes, size_t limit)
{
    struct ny_course_bytes bytes;
    bool fit = true;

    course_bytes(f, lanes, 1, limit, &bytes);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        fit &= ny_stage_bytes_total(&bytes.of[stage]) <= limit;
    return fit;
}

void ny_map_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t way = 0;

    while (way + 1 < ways_of(f) && !fits(f, lanes_of[way], limit))
        way++;
    course_bytes(f, lanes_of[way], workers, limit, bytes);
}

static size_t stage_bytes(const void *sizes, unsigned workers, size_t limit)
{
    const struct ny_job_sizes *job = sizes;
    struct ny_stage_bytes bytes = ny_job_stage(job->job)->bytes(job, workers, limit);

    return ny_stage_bytes_total(&bytes);
}

int ny_graph_fit_workers(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    const struct ny_edges *edges = &fit->edges;
    struct ny_map_sizes sizes = {.job = {job->ctx, job->course, job, fit->base.settings->threads},
                                 .settings = fit->base.settings,
                                 .n = job->points.n,
                                 .nodes = edges->n,
                                 .edges = edges->head[edges->n] / 2,
                                 .m = fit->base.m,
                                 .few_lanes =
                                     ny_graph_map_takes_few_lanes(fit->map, fit->base.settings)};

    job->workers = 0;
    for (size_t way = 0; way < ways_of(&sizes) && !job->workers; way++) {
        sizes.lanes = fit->lanes = lanes_of[way];
        job->workers =
            ny_budget_workers(stage_bytes, &sizes, sizes.job.threads, ny_memory_limit(job->ctx));
    }
    if (!job->workers)
        return ny_budget_refuse(job->ctx, "fit", ny_plan_memory_least(&sizes.job), "", "");
    ny_context_set_crew(job->ctx, job->workers);
    return NY_OK;
}
