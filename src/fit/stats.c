/* Stage stats: what is frozen for good — geometry (centre, scale) and kernel width. */
#include "job/job.h"

#include <math.h>

#include "results/geometry.h"

static int check_points(const struct ny_job *job)
{
    struct ny_points_stats stats;
    bool equal = true;
    int err;

    if (job->points.n < 2)
        return ny_fail(job->ctx, NY_EDATA, "%s has %llu rows: nothing to fit; import at least two",
                       ny_store_path(job->store), (unsigned long long)job->points.n);
    if (job->settings->arrivals) return NY_OK; /* who knows */
    err = ny_points_stats(job->store, &stats);
    if (err) return err;
    for (uint64_t j = 0; j < stats.d && equal; j++)
        equal = stats.minimum[j] == stats.maximum[j];
    ny_points_stats_release(&stats, job->ctx);
    if (equal)
        return ny_fail(job->ctx, NY_EDATA, "all %llu rows of %s are equal: nothing to fit",
                       (unsigned long long)job->points.n, ny_store_path(job->store));
    return NY_OK;
}

void ny_job_report_width(struct ny_job *job, double gamma)
{
    json_t *report = ny_job_report(job);

    ny_field_set_number(report, "gamma", gamma);
    if (!job->settings->kernel->has_sigma) return;
    ny_field_set_number(report, "sigma", sqrt(0.5 / gamma));
    ny_field_set_number(report, "epsilon", 1 / gamma);
    ny_log(job->ctx, NY_LOG_DETAIL, "kernel width: gamma %.6g = sigma %.6g = epsilon %.6g%s", gamma,
           sqrt(0.5 / gamma), 1 / gamma, job->settings->gamma_auto ? " (auto)" : "");
}

static int decide_width(struct ny_job *job)
{
    struct ny_columns_spec spec =
        ny_settings_spec(job->settings, job->ctx, &job->points, job->geometry);
    double gamma = job->settings->params.gamma;
    int err;

    if (job->settings->gamma_auto) {
        err = ny_columns_auto_gamma(&spec, job->store,
                                    ny_settings_frozen_rows(job->settings, &job->points),
                                    job->settings->seed, &gamma);
        if (err) return err;
    }
    job->params.gamma = gamma;
    if (job->settings->kernel->has_gamma) ny_job_report_width(job, gamma);
    return NY_OK;
}

static int save_geometry(struct ny_job *job)
{
    ny_record_renew(job->record, "geometry");
    return ny_stored_geometry_put(job->store, job->name,
                                  ny_record_part(job->record, "geometry").name, job->geometry,
                                  NULL);
}

int ny_stage_stats(struct ny_job *job)
{
    const struct ny_fit_settings *settings = job->settings;
    int err;

    err = check_points(job);
    if (err) return err;
    ny_geometry_free(job->geometry, job->ctx);
    err = ny_settings_geometry(&job->geometry, job->store, settings, (size_t)job->points.d);
    if (err) return err;
    err = ny_geometry_warn_dominant(job->geometry, job->store, settings->kernel->base);
    if (err) return err;
    err = decide_width(job);
    if (err) return err;
    err = save_geometry(job);
    if (err) return err;
    ny_job_mark_time(job);
    return ny_job_save(job, NY_STAGE_SELECT);
}
