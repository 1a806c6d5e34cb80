/* Stage stats: what is frozen for good — geometry (centre, scale) and kernel width. */
#include "base/text.h"
#include "fit/courses.h"
#include "fit/sizes.h"
#include "fit/timing.h"

#include <math.h>

#include "base/peers.h"
#include "model/choice.h"
#include "model/geometry.h"

static int check_points(const struct ny_fit *fit)
{
    struct ny_rows_stats stats;
    bool equal = true;
    int err;

    if (fit->settings->until_sums) return NY_OK; /* other parts may differ */
    if (fit->job.points.n < 2) return ny_fail_few(fit->job.ctx, fit->job.keep.place);
    err = fit->job.X->ops->stats(fit->job.X, &stats);
    if (err) return err;
    for (uint64_t j = 0; j < stats.d && equal; j++)
        equal = stats.minimum[j] == stats.maximum[j];
    ny_rows_stats_release(&stats, fit->job.ctx);
    if (equal)
        return ny_fail(fit->job.ctx, NY_EDATA, "all %llu rows of %s are equal: nothing to fit",
                       (unsigned long long)fit->job.points.n, fit->job.keep.place);
    return NY_OK;
}

void ny_fit_report_width(struct ny_fit *fit, double gamma)
{
    struct ny_state_report *report = &fit->job.state.report;

    report->gamma = gamma;
    if (fit->settings->kernel->base != NY_BASE_SQUARE) return;
    report->sigma = sqrt(0.5 / gamma);
    report->epsilon = 1 / gamma;
    ny_log(fit->job.ctx, NY_LOG_DETAIL, "kernel width: gamma %.6g = sigma %.6g = epsilon %.6g%s",
           gamma, sqrt(0.5 / gamma), 1 / gamma, fit->settings->gamma_auto ? " (auto)" : "");
}

static int decide_width(struct ny_fit *fit)
{
    struct ny_columns_spec spec =
        ny_settings_spec(fit->settings, fit->job.ctx, &fit->job.points, fit->geometry);
    double gamma = fit->settings->params.gamma;
    int err;

    if (fit->settings->gamma_auto) {
        err = ny_columns_auto_gamma(&spec, fit->job.X,
                                    ny_settings_frozen_rows(fit->settings, &fit->job.points),
                                    fit->settings->seed, &gamma);
        if (err) return err;
    }
    fit->params.gamma = gamma;
    if (fit->settings->kernel->auto_gamma) ny_fit_report_width(fit, gamma);
    return NY_OK;
}

static int save_geometry(struct ny_fit *fit)
{
    ny_record_renew(fit->job.record, "geometry");
    return ny_stored_geometry_put(&fit->job.keep, ny_record_part(fit->job.record, "geometry").name,
                                  fit->geometry, NULL);
}

/* Makes the geometry, and keeps the columns that are chosen where they are not all. */
static int make_geometry(struct ny_fit *fit)
{
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_job *job = &fit->job;
    struct ny_geometry_wish wish = ny_settings_geometry_wish(settings, &job->points);
    unsigned passes = ny_geometry_passes(&wish, &job->points);
    size_t d = (size_t)job->points.d;
    unsigned char *chosen = NULL;
    int err;

    ny_geometry_free(fit->geometry, job->ctx);
    fit->geometry = NULL;
    if (settings->choice.rule != NY_CHOOSE_ALL) {
        chosen = ny_alloc(job->ctx, NY_MEM_OTHER, d);
        if (!chosen) return NY_EBUDGET;
    }
    err = ny_settings_geometry(&fit->geometry, job->X, settings, d, job->workers, chosen);
    if (!err && passes) ny_job_count_passes(job, passes, passes * job->points.n, 0);
    if (!err && chosen) err = ny_stored_choice_put(&job->keep, chosen, d, &job->state);
    ny_free(job->ctx, chosen);
    return err;
}

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_dominant told;
    int err;

    err = check_points(fit);
    if (!err) err = make_geometry(fit);
    if (err) return err;
    err = ny_settings_warn_dominant(settings, fit->job.X, fit->geometry, &told);
    if (err) return err;
    if (told.text[0]) job->state.report.dominant_columns = told.text;
    if (settings->scale == NY_SCALE_BINOMIAL) {
        job->state.report.scale = "binomial";
        job->state.report.genotypes_missing = fit->geometry->missing;
    }
    job->record.ops->put(job->record, &job->state);
    err = decide_width(fit);
    if (err) return err;
    err = save_geometry(fit);
    if (err) return err;
    ny_job_mark_time(job);
    return ny_job_save(job, ny_job_next(job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The geometry is made from statistics of four arrays, which are read from a record of four. */
static void count(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                  size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_geometry_wish wish = ny_settings_geometry_wish(f->settings, f->points);

    ny_sizes_common(l, f, workers, 1);
    ny_layout_add(l, NY_MEM_STORE, ny_sizes_gather(f, 0) + f->points->stats_bytes);
    ny_layout_add(l, NY_MEM_OTHER, ny_sizes_arrays(f, 8));
    wish.workers = workers;
    ny_geometry_count(l, &wish, f->points);
    if (f->settings->choice.rule != NY_CHOOSE_ALL)
        ny_batch_count(l, NY_MEM_STORE, limit, ny_sizes_arrays(f, 1));
    if (f->settings->gamma_auto) ny_columns_auto_gamma_count(l, f->points, ny_sizes_row(f), limit);
}

/* The process begins, the machine is looked at; passes for columns that are chosen or weighed, of
 * one thread but for those that count values; the width of the kernel. */
static void work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    const double begin_s = 0.06, pairs = ny_columns_auto_gamma_pairs((uint64_t)t->n);
    const struct ny_kernel *kernel = t->sizes->spec.kernel;
    struct ny_geometry_wish wish = ny_settings_geometry_wish(t->settings, t->sizes->points);
    unsigned passes = ny_geometry_passes(&wish, t->sizes->points);
    unsigned counts = ny_geometry_counts(&wish);
    bool width = t->settings->gamma_auto && kernel->auto_gamma && kernel->base != NY_BASE_DOT;

    t->plan->stage_s[NY_STAGE_STATS] = begin_s + ny_price_commit(&t->price, 0);
    t->plan->passes += passes;
    t->plan->stage_s[NY_STAGE_STATS] +=
        (counts + (passes - counts) * ny_price_threads(t->settings->threads)) *
        ny_price_rows(&t->price, t->n);
    if (width)
        t->plan->stage_s[NY_STAGE_STATS] += ny_price_pairs(&t->price, pairs, t->settings->threads);
}

const struct ny_stage ny_stage_stats = {NY_STAGE_STATS, run, count, work};
