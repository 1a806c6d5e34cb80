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

/* Adds how neighbours are found, and the other ways that it may turn out to be. */
static void add_search(json_t *json, const struct ny_plan *plan)
{
    json_t *others = json_array();

    for (size_t i = 0; i < 2; i++)
        if (plan->knn_may_be[i]) ny_field_append(others, json_string(plan->knn_may_be[i]));
    ny_field_set_text(json, "knn", plan->knn);
    ny_field_set_json(json, "knn_may_be", others);
}

json_t *ny_plan_json(const struct ny_plan *plan)
{
    json_t *json = json_object(), *memory = json_object(), *stages = json_object();
    json_t *bytes = json_object();

    ny_field_set_json(json, "fits", json_boolean(plan->fits));
    ny_field_set_count(json, "memory_min_bytes", plan->memory_min_bytes);
    for (int p = 0; p < NY_PURPOSES; p++)
        ny_field_set_count(memory, ny_purpose_name((enum ny_purpose)p), plan->by_purpose[p]);
    ny_field_set_json(json, "memory_bytes", memory);
    if (plan->cache_bytes) ny_field_set_count(json, "columns_kept_bytes", plan->cache_bytes);
    ny_field_set_count(json, "disk_bytes", plan->disk_bytes);
    ny_field_set_number(json, "flops", plan->flops);
    ny_field_set_count(json, "passes", plan->passes);
    ny_field_set_json(json, "selection_passes", json_null());
    if (plan->passes_vary) ny_field_set_count(json, "selection_passes", plan->selection_passes);
    ny_field_set_number(json, "seconds", plan->seconds);
    ny_field_set_number(json, "seconds_low", plan->seconds_low);
    ny_field_set_number(json, "seconds_high", plan->seconds_high);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        const char *name = ny_stage_name((enum ny_stage_id)stage);

        ny_field_set_number(stages, name, plan->stage_s[stage]);
        ny_field_set_count(bytes, name, plan->stage_bytes[stage]);
    }
    ny_field_set_json(json, "stages", stages);
    ny_field_set_json(json, "stage_memory_bytes", bytes);
    if (plan->whole)
        ny_field_set_json(json, "landmarks", json_null());
    else
        ny_field_set_count(json, "landmarks", plan->m);
    ny_field_set_json(json, "landmarks_estimated", json_boolean(plan->m_estimated));
    ny_field_set_count(json, "workers", plan->workers);
    if (plan->knn) add_search(json, plan);
    ny_field_set_json(json, "rates", ny_calibration_json(&plan->rates));
    return json;
}
