/*
 * The plan of a fit (fit/plan.h), and the workers that a pass has when it begins.
 *
 * Fits of maps of kernels, their updates and `plan` call ny_plan_make(): it decides m, which
 * greedy selection with a tolerance estimates from at most 20,000 rows, then the memory, then the
 * seconds. An estimate of m may be too low, so memory is planned for a quarter more. Where the
 * work is more than 2·10¹⁰ flop, a sample of the rows tells whether pass 1 will sum up in f64, and
 * how residuals fall (fit/plan_sample.c).
 *
 * ny_fit_lower_workers() runs before each pass, when W and the precision of the Gram are known: it
 * takes as many workers as then fit, gives W back where it has no room beside pass 1, and refuses
 * with the smallest budget that works.
 */
#include "fit/plan.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "columns/tile_cache.h"
#include "fit/given_columns.h"
#include "fit/timing.h"
#include "base/peers.h"

/* Rules that look at residuals end at the rank of K, which of plain products is that of the
 * rows. */
static size_t most_landmarks(const struct ny_fit_settings *settings,
                             const struct ny_rows_info *points, size_t m)
{
    const struct ny_kernel *kernel = settings->kernel;
    bool products = ny_kernel_has_features(kernel);
    bool ends = settings->rule->by_tolerance || settings->rule->measures;
    size_t rank = points->d < m ? (size_t)points->d : m;

    return products && ends && rank ? rank : m;
}

/* Decides m of the plan: the number asked for, or for greedy the estimate from a sample. */
static int decide_landmarks(struct ny_rows *X, const struct ny_fit_settings *settings,
                            const struct ny_rows_info *points, struct ny_columns_spec spec,
                            struct ny_plan *plan)
{
    enum { SAMPLE_ROWS = 20000, SAMPLE_LEAST = 500, SAMPLE_VALUES = 10000000, PAIRS = 1000 };
    size_t rows = SAMPLE_VALUES / (points->d ? (size_t)points->d : 1), estimate = 0;
    struct ny_context *ctx = X->ctx;
    struct ny_selection_request request = {.ctx = ctx,
                                           .X = X,
                                           .n = points->n,
                                           .spec = &spec,
                                           .seed = settings->seed,
                                           .landmarks = settings->landmarks,
                                           .greedy.dictionary = settings->dictionary,
                                           .workers = 1};
    int err = NY_OK;

    plan->m = settings->landmarks;
    if (plan->m > points->n) plan->m = (size_t)points->n;
    plan->m = most_landmarks(settings, points, plan->m);
    if (!settings->rule->by_tolerance || isnan(settings->dictionary.tolerance)) return NY_OK;
    err = ny_blas_make_room(ctx, 1);
    if (!err && settings->gamma_auto)
        err = ny_columns_auto_gamma_of(&spec, X, ny_settings_frozen_rows(settings, points),
                                       settings->seed, PAIRS, &spec.params.gamma);
    if (points->row_slots || rows > SAMPLE_ROWS) rows = SAMPLE_ROWS;
    if (rows < SAMPLE_LEAST) rows = SAMPLE_LEAST;
    if (!err) err = ny_greedy_estimate(&request, rows, &estimate);
    if (err == NY_END && settings->landmarks_typed) return NY_OK; /* no sample: at most so many */
    if (err == NY_END)
        return ny_fail(ctx, NY_EUSAGE,
                       "--tolerance finds the number of landmarks from the points, but %s gives "
                       "only their shape: give --landmarks as an upper bound",
                       X->name);
    plan->m_estimated = true;
    plan->m = ny_smaller(estimate, settings->landmarks);
    return err;
}

/* An estimate may be too low: memory is planned for a quarter more. */
static size_t with_margin(size_t m, size_t cap, uint64_t n)
{
    size_t more = m + m / 4;

    if (more > cap) more = cap;
    return more < n ? more : (size_t)n;
}

/* Rough flops of tiles and their Gram, or of all of K and its products. */
static double rough_flops(const struct ny_sizes *sizes, size_t m)
{
    const struct ny_rows_info *points = sizes->points;
    double n = (double)points->n, d = (double)points->d;

    if (ny_settings_features(sizes->settings))
        return 4 * n * ny_entry_products(&sizes->spec) * (double)ny_settings_pairs(sizes->settings);
    if (sizes->settings->method->whole)
        return 2 * n * n * (d + (double)ny_settings_pairs(sizes->settings));
    return 2 * n * (double)m * (d + (double)m);
}

/* A sample is worth its time where the fit takes seconds, and its rule or the precision of its Gram
 * depends on what the sample tells. */
static bool is_looked_at(const struct ny_sizes *sizes, size_t m)
{
    const double much = 2e10;
    const struct ny_fit_settings *settings = sizes->settings;
    bool gram_is_open =
        ny_settings_forms_gram(settings) && !ny_settings_gram_f64(settings, sizes->points->n);

    if (ny_settings_features(settings)) return settings->patient || rough_flops(sizes, m) > much;

    return ny_settings_selects(settings) && !settings->columns &&
           (gram_is_open || ny_rule_reads(settings->rule)) && rough_flops(sizes, m) > much;
}

/* Agrees on m: a shard that has not selected yet does not know it, and then all estimate it. */
static int agree_on(struct ny_context *ctx, size_t *m)
{
    uint64_t least = *m;
    int err = ny_peers_least(ny_context_peers(ctx), &least);

    *m = (size_t)least;
    return err;
}

/* Gets the rates of the machine. Of several shards the one that leads looks, as they would be in
 * each other's way. */
static int get_rates(struct ny_context *ctx, double flops, struct ny_plan *plan)
{
    struct ny_peers *peers = ny_context_peers(ctx);
    int err = NY_OK;

    if (ny_peers_leads(peers)) err = ny_calibration_get(ctx, flops, plan->workers, &plan->rates);
    return err ? err : ny_peers_share(peers, &plan->rates, sizeof(plan->rates));
}

int ny_plan_make(struct ny_rows *X, const struct ny_fit_settings *settings,
                 const struct ny_course *course, size_t m, struct ny_plan *plan)
{
    struct ny_context *ctx = X->ctx;
    const struct ny_fit planned = {.settings = settings};
    struct ny_sizes sizes = {.job = {ctx, course, &planned.job, settings->threads},
                             .settings = settings,
                             .gram = NY_GRAM_F64};
    struct ny_geometry *geometry = NULL;
    struct ny_look look = {0};
    struct ny_rows_info points;
    int err;

    *plan = (struct ny_plan){0};
    err = agree_on(ctx, &m);
    if (!err) err = X->ops->info(X, &points);
    if (err) goto done;
    if (points.n == 0) {
        err = ny_fail_few(ctx, X->name);
        goto done;
    }
    err = ny_given_columns_shape(ctx, settings, &points);
    if (err) goto done;
    ny_settings_widen(settings, &points);
    err = ny_settings_geometry(&geometry, X, settings, (size_t)points.d, 0, NULL);
    if (err) goto done;
    sizes.points = &points;
    sizes.spec = ny_settings_spec(settings, ctx, &points, geometry);
    plan->m = m;
    ny_blas_serial();
    ny_context_set_crew(ctx, 1); /* as no plan has told of more */
    if (!m && course->order)
        plan->m = course->order(settings, points.n);
    else if (!m)
        err = decide_landmarks(X, settings, &points, sizes.spec, plan);
    if (err) goto done;
    sizes.m = plan->m_estimated ? with_margin(plan->m, settings->landmarks, points.n) : plan->m;
    sizes.look = &look;
    ny_plan_memory(&sizes.job, plan);
    if (!settings->method) goto done; /* of a selection alone no time is told */
    err = get_rates(ctx, rough_flops(&sizes, plan->m), plan);
    if (err) goto done;
    plan->loose = settings->rule->by_tolerance && ny_settings_selects(settings);
    if (is_looked_at(&sizes, plan->m)) err = ny_plan_look(&look, X, settings, &sizes);
    if (err) goto done;
    plan->gram_f64 = ny_settings_gram_f64(settings, points.n) || look.gram_f64;
    ny_plan_work(&sizes.job, plan);
    ny_plan_sum_up(plan);
done:
    ny_context_set_crew(ctx, 0);
    ny_look_release(&look, ctx);
    ny_geometry_free(geometry, ctx);
    return err;
}

/* Makes room for the columns before the first pass that computes them. */
static int open_cache(struct ny_fit *fit, const struct ny_sizes *sizes)
{
    bool first = fit->job.stage == NY_STAGE_DEGREES || fit->job.stage == NY_STAGE_ACCUMULATE;
    size_t element = ny_sizes_element(sizes);
    struct ny_course_bytes bytes;

    if (fit->cache || !first) return NY_OK;
    ny_fit_course_bytes(&sizes->job, fit->job.workers, ny_memory_limit(fit->job.ctx), &bytes);
    if (!bytes.cache) return NY_OK;
    fit->job.state.report.columns_kept_bytes = bytes.cache;
    return ny_tile_cache_new(&fit->cache, fit->job.ctx, fit->job.points.n, fit->m, element);
}

int ny_fit_lower_workers(struct ny_fit *fit)
{
    struct ny_sizes sizes = {.job = {fit->job.ctx, fit->planned, &fit->job, fit->settings->threads},
                             .settings = fit->settings,
                             .points = &fit->job.points,
                             .m = fit->m,
                             .gram = fit->gram,
                             .blas_bytes = fit->job.blas_bytes};
    ny_stage_count_fn *count = ny_job_stage(&fit->job)->count;
    unsigned workers;
    int err = ny_fit_load_frozen(fit);

    if (err) return err;
    sizes.spec = ny_fit_spec(fit);
    workers = ny_fit_pass_workers(&sizes, fit->job.stage, count);
    if (!workers)
        return ny_budget_refuse(fit->job.ctx, "fit", ny_plan_memory_least(&sizes.job), "",
                                fit->settings->method->whole ? ", or fewer components"
                                                             : ", or fewer landmarks");
    fit->job.workers = workers;
    if (fit->job.stage == NY_STAGE_ACCUMULATE && !ny_fit_keeps_square(&sizes, count, workers)) {
        ny_free(fit->job.ctx, fit->W.at);
        fit->W.at = NULL;
    }
    err = ny_fit_reserve_blas(fit, fit->m);
    return err ? err : open_cache(fit, &sizes);
}
