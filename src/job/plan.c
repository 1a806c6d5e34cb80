/*
 * Plans a job from its course: the memory, work and time of each stage, and the number of workers
 * that the budget allows (job/plan.h).
 *
 * The peak is that of the stage that holds most, since stages follow one another. Stages that the
 * course skips for this job count nothing.
 */
#include "job/plan.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "job/prices.h"
#include "linalg/blas.h"
#include "job/record.h"

const struct ny_stage *ny_plan_stage(const struct ny_job_sizes *sizes, enum ny_stage_id id)
{
    const struct ny_stage *const *at = sizes->course->stages;

    while (*at && (*at)->id != id)
        at++;
    return *at;
}

/* Tells whether this job leaves the stage out, by its course. */
static bool is_skipped(const struct ny_job_sizes *sizes, const struct ny_stage *stage)
{
    return sizes->course->skips && sizes->course->skips(sizes->job, stage->id);
}

bool ny_plan_runs(const struct ny_job_sizes *sizes, enum ny_stage_id id)
{
    const struct ny_stage *stage = ny_plan_stage(sizes, id);

    return stage && !is_skipped(sizes, stage);
}

/* ---- memory --------------------------------------------------------------------------------- */

struct ny_charges ny_stage_most(ny_stage_count_fn *count, const struct ny_job_sizes *sizes,
                                unsigned workers, size_t limit)
{
    struct ny_layout l = {0};

    count(&l, sizes, workers, limit);
    return l.most;
}

void ny_plan_stage_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes)
{
    *bytes = (struct ny_course_bytes){0};
    for (const struct ny_stage *const *at = sizes->course->stages; *at; at++)
        if ((*at)->count && !is_skipped(sizes, *at))
            bytes->of[(*at)->id] = ny_stage_most((*at)->count, sizes, workers, limit);
}

/* Returns what is held by the stage that holds most. */
static struct ny_charges peak_of(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                                 struct ny_course_bytes *bytes)
{
    struct ny_charges peak;

    if (sizes->course->bytes)
        sizes->course->bytes(sizes, workers, limit, bytes);
    else
        ny_plan_stage_bytes(sizes, workers, limit, bytes);
    peak = bytes->before;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        peak = ny_charges_larger(bytes->of[stage], peak);
    return peak;
}

void ny_plan_peak(struct ny_layout *l, const void *sizes, unsigned workers, size_t limit)
{
    struct ny_course_bytes bytes;

    l->most = ny_charges_larger(peak_of(sizes, workers, limit, &bytes), l->most);
}

/* Sets memory aside for what the job keeps there, where it is not on a disk: as much as its plan
 * counts for the disk. */
static void set_aside(const struct ny_job_sizes *sizes, const struct ny_plan *plan)
{
    struct ny_plan kept = *plan;

    ny_memory_set_aside(sizes->ctx, 0);
    if (ny_context_kept(sizes->ctx) != NY_KEPT_IN_MEMORY) return;
    kept.workers = 1;
    ny_plan_work(sizes, &kept);
    ny_memory_set_aside(sizes->ctx, (size_t)kept.disk_bytes);
}

void ny_plan_memory(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    struct ny_course_bytes bytes;
    struct ny_charges peak;
    size_t limit;

    set_aside(sizes, plan);
    limit = ny_memory_limit(sizes->ctx);
    plan->workers = ny_budget_workers(ny_plan_peak, sizes, sizes->threads, limit);
    plan->fits = plan->workers > 0;
    if (!plan->fits) plan->workers = 1;
    peak = peak_of(sizes, plan->workers, limit, &bytes);
    peak.of[NY_MEM_STORE] += ny_memory_aside(sizes->ctx);
    plan->cache_bytes = bytes.cache;
    plan->memory_bytes = ny_charges_total(&peak);
    memcpy(plan->by_purpose, peak.of, sizeof(plan->by_purpose));
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        plan->stage_bytes[stage] = ny_charges_total(&bytes.of[stage]);
    plan->memory_min_bytes = ny_plan_memory_least(sizes);
}

size_t ny_plan_memory_least(const struct ny_job_sizes *sizes)
{
    return ny_budget_least(ny_plan_peak, sizes) + ny_memory_aside(sizes->ctx);
}

/* ---- passes, flops, disk and seconds -------------------------------------------------------- */

void ny_plan_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    for (const struct ny_stage *const *at = sizes->course->stages; *at; at++)
        if ((*at)->work && !is_skipped(sizes, *at)) (*at)->work(sizes, plan);
}

void ny_plan_sum_up(struct ny_plan *plan)
{
    /* Factors by which the seconds may be off: the larger one where the number of landmarks is
     * an estimate as well, or the plan is loose. */
    const double known = 1.6, foretold = 3;
    double factor = plan->m_estimated || plan->loose ? foretold : known;

    plan->seconds = 0;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        plan->seconds += plan->stage_s[stage];
    plan->seconds_low = plan->seconds / factor;
    plan->seconds_high = fmax(plan->seconds * factor, plan->seconds + plan->unsettled_s);
}

double ny_plan_shards_factor(enum ny_stage_id stage, double m, unsigned shards, unsigned threads)
{
    double of_shard = threads > shards ? floor((double)threads / shards) : 1;

    if (shards <= 1) return 1;
    if (stage != NY_STAGE_SOLVE) return shards > threads ? (double)shards / threads : 1;
    return m > NY_BLAS_SERIAL_ORDER ? of_shard / ny_price_threads(threads) : 1;
}
