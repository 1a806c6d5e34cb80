/* Stage stats: what is frozen for good — geometry (centre, scale) and kernel width. */
#include "fit/courses.h"

#include <math.h>

#include "results/geometry.h"

static int check_points(const struct ny_fit *fit)
{
    struct ny_points_stats stats;
    bool equal = true;
    int err;

    if (fit->job.points.n < 2)
        return ny_fail(fit->job.ctx, NY_EDATA,
                       "%s has %llu rows: nothing to fit; import at least two",
                       ny_store_path(fit->job.store), (unsigned long long)fit->job.points.n);
    if (fit->settings->arrivals) return NY_OK; /* who knows */
    err = ny_points_stats(fit->job.store, &stats);
    if (err) return err;
    for (uint64_t j = 0; j < stats.d && equal; j++)
        equal = stats.minimum[j] == stats.maximum[j];
    ny_points_stats_release(&stats, fit->job.ctx);
    if (equal)
        return ny_fail(fit->job.ctx, NY_EDATA, "all %llu rows of %s are equal: nothing to fit",
                       (unsigned long long)fit->job.points.n, ny_store_path(fit->job.store));
    return NY_OK;
}

void ny_fit_report_width(struct ny_fit *fit, double gamma)
{
    json_t *report = ny_job_report(&fit->job);

    ny_field_set_number(report, "gamma", gamma);
    if (!fit->settings->kernel->has_sigma) return;
    ny_field_set_number(report, "sigma", sqrt(0.5 / gamma));
    ny_field_set_number(report, "epsilon", 1 / gamma);
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
        err = ny_columns_auto_gamma(&spec, fit->job.store,
                                    ny_settings_frozen_rows(fit->settings, &fit->job.points),
                                    fit->settings->seed, &gamma);
        if (err) return err;
    }
    fit->params.gamma = gamma;
    if (fit->settings->kernel->has_gamma) ny_fit_report_width(fit, gamma);
    return NY_OK;
}

static int save_geometry(struct ny_fit *fit)
{
    ny_record_renew(fit->job.record, "geometry");
    return ny_stored_geometry_put(fit->job.store, fit->job.name,
                                  ny_record_part(fit->job.record, "geometry").name, fit->geometry,
                                  NULL);
}

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    const struct ny_fit_settings *settings = fit->settings;
    int err;

    err = check_points(fit);
    if (err) return err;
    ny_geometry_free(fit->geometry, fit->job.ctx);
    err = ny_settings_geometry(&fit->geometry, fit->job.store, settings, (size_t)fit->job.points.d);
    if (err) return err;
    err = ny_geometry_warn_dominant(fit->geometry, fit->job.store, settings->kernel->base);
    if (err) return err;
    err = decide_width(fit);
    if (err) return err;
    err = save_geometry(fit);
    if (err) return err;
    ny_job_mark_time(job);
    return ny_job_save(job, ny_job_next(job));
}

const struct ny_stage ny_stage_stats = {NY_STAGE_STATS, run};
