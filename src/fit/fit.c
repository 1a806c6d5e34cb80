#include "fit/fit.h"

#include <string.h>

#include "fit/given_columns.h"
#include "fit/shards.h"
#include "model/model.h"

/* A result computed half with one BLAS and half with another is right, but not to the last bit. */
static void warn_of_other_machine(const struct ny_fit *fit)
{
    const char *blas = fit->job.state.facts.blas;

    if (blas && strcmp(blas, ny_blas_name()) != 0)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "'%s' was started with %s and continues with %s: its last bits may differ from "
               "those of an uninterrupted run",
               fit->job.keep.name, blas, ny_blas_name());
}

void ny_fit_release(struct ny_fit *fit)
{
    ny_model_free(fit->model);
    ny_tile_cache_free(fit->cache);
    ny_free(fit->job.ctx, fit->state);
    ny_fit_drop_problem(fit);
    ny_geometry_free(fit->geometry, fit->job.ctx);
    ny_unreserve(fit->job.ctx, NY_MEM_PROCESS, fit->job.blas_bytes);
}

/* Checks the row counts of a record, since later stages rely on them. */
static int check_rows(const struct ny_fit *fit)
{
    const struct ny_state *state = &fit->job.state;
    const struct ny_state_update *update = &state->update;
    uint64_t n = fit->job.points.n;
    bool others = state->sharded.there; /* have landmarks, too */

    if (n && state->report.landmarks && update->rows <= n && (others || update->selected <= n) &&
        (update->landmarks <= n || update->landmarks <= fit->job.points.d || others ||
         fit->settings->landmark_points.count))
        return NY_OK;
    return ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
}

/* The rows of the job: those that its record counts. */
static int count_rows(struct ny_fit *fit)
{
    struct ny_job *job = &fit->job;
    uint64_t n;
    int err = job->X->ops->info(job->X, &job->points);

    if (err) return err;
    ny_job_count_anew(job);
    n = job->state.report.n;
    if (job->points.n < n)
        return ny_fail(job->ctx, NY_ESTORE, "%s has %llu rows, but '%s' was begun on %llu",
                       job->keep.place, (unsigned long long)job->points.n, job->keep.name,
                       (unsigned long long)n);
    if (job->points.n > n)
        ny_log(job->ctx, NY_LOG_NOTE, "%llu %s appended since %s'%s' began, and not in it",
               (unsigned long long)(job->points.n - n),
               job->points.n - n == 1 ? "row was" : "rows were", fit->mode ? "the update of " : "",
               job->keep.name);
    job->points.n = n;
    if (job->points.here.end > n) job->points.here.end = n;
    return check_rows(fit);
}

int ny_fit_run(struct ny_fit *fit)
{
    struct ny_job *job = &fit->job;
    int err;

    job->state = ny_state_of(job->record);
    if (!fit->settings->until_sums) job->state.record.summed = false; /* it goes on beyond them */
    err = ny_shards_align(fit);
    if (err == NY_OK) err = count_rows(fit);
    if (err == NY_OK) err = ny_given_columns_shape(job->ctx, fit->settings, &job->points);
    if (err) goto done;
    ny_settings_widen(fit->settings, &job->points);
    warn_of_other_machine(fit);
    err = ny_fit_reserve_blas(fit, ny_state_landmarks(&job->state));
    if (err == NY_OK) err = ny_job_run(job);
done:
    ny_fit_release(fit);
    return err;
}
