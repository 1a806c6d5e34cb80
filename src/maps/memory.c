/* Memory of a fit of a graph's map, and the workers for which there is enough. */
#include "base/budget.h"
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

void ny_map_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t *before = bytes->before.by_purpose;

    ny_plan_stage_bytes(sizes, workers, limit, bytes);
    before[NY_MEM_PROCESS] = NY_PROCESS_BYTES;
    before[NY_MEM_DICTIONARY] = small_bytes + ny_reading_bytes(2) + f->opening_bytes +
                                ny_edges_bytes(f->n, f->nodes, f->edges);
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
    const struct ny_map_sizes sizes = {
        .job = {job->ctx, job->course, job, fit->base.settings->threads},
        .settings = fit->base.settings,
        .n = job->points.n,
        .nodes = edges->n,
        .edges = edges->head[edges->n] / 2,
        .m = fit->base.m};

    job->workers =
        ny_budget_workers(stage_bytes, &sizes, sizes.job.threads, ny_memory_limit(job->ctx));
    if (!job->workers)
        return ny_budget_refuse(job->ctx, "fit", ny_plan_memory_least(&sizes.job), "", "");
    ny_context_set_crew(job->ctx, job->workers);
    return NY_OK;
}
