#include "fit/fit.h"

#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "fit/given_columns.h"
#include "fit/plan.h"
#include "results/model.h"
#include "spectral/krylov.h"
#include "update/update.h"

/* Called once, when an update begins. */
static int check_drift(struct ny_fit *fit)
{
    int err;

    if (!fit->update.mode || json_object_size(ny_job_checkpoint(&fit->job)) > 0) return NY_OK;
    err = ny_fit_load_frozen(fit);
    return err ? err : ny_update_warn_drift(fit);
}

/* A result computed half with one BLAS and half with another is right, but not to the last bit. */
static void warn_of_other_machine(const struct ny_fit *fit)
{
    const char *blas = ny_field_text(ny_job_report(&fit->job), "blas");

    if (blas && strcmp(blas, ny_blas_name()) != 0)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "'%s' was begun with %s and goes on with %s: its last bits may differ from an "
               "unbroken run's",
               fit->job.name, blas, ny_blas_name());
}

void ny_fit_drop_landmarks(struct ny_fit *fit)
{
    ny_columns_free(fit->columns);
    ny_degrees_release(&fit->degrees, fit->job.ctx);
    ny_free(fit->job.ctx, fit->W.at);
    ny_free(fit->job.ctx, fit->a);
    ny_free(fit->job.ctx, fit->rows);
    fit->columns = NULL;
    fit->W = (struct ny_matrix){0};
    fit->a = NULL;
    fit->rows = NULL;
}

static void release(struct ny_fit *fit)
{
    ny_model_free(fit->model);
    ny_free(fit->job.ctx, fit->state);
    ny_fit_drop_problem(fit);
    ny_geometry_free(fit->geometry, fit->job.ctx);
    ny_unreserve(fit->job.ctx, NY_MEM_PROCESS, fit->job.blas_bytes);
}

static int run_stage(void *arg)
{
    static int (*const run[])(struct ny_fit *) = {
        ny_stage_stats, ny_stage_select,  ny_stage_degrees, ny_stage_accumulate,
        ny_stage_solve, ny_stage_project, ny_stage_probe};
    struct ny_fit *fit = arg;
    enum ny_stage last = fit->settings->probes ? NY_STAGE_PROBE : NY_STAGE_PROJECT;

    if (fit->until != NY_STAGE_DONE) last = fit->until;
    if (fit->job.stage > last) return ny_job_no_such_stage(&fit->job);
    return run[fit->job.stage](fit);
}

int ny_fit_reserve_blas(struct ny_fit *fit, size_t m)
{
    size_t bytes = ny_blas_bytes(fit->settings->threads, fit->job.workers, m), more;
    int err;

    if (bytes <= fit->job.blas_bytes) return NY_OK;
    more = bytes - fit->job.blas_bytes;
    err = ny_reserve(fit->job.ctx, NY_MEM_PROCESS, more);
    if (err == NY_OK) fit->job.blas_bytes = bytes;
    return err;
}

/* Checks the row counts of a record, since later stages rely on them. */
static int check_rows(const struct ny_fit *fit)
{
    const struct ny_update *update = &fit->update;
    uint64_t landmarks = ny_field_count(ny_job_report(&fit->job), "landmarks", 1),
             n = fit->job.points.n;
    bool arriving = json_is_true(json_object_get(fit->job.record, "arriving"));

    if ((n || arriving) && landmarks && update->rows <= n && update->selected <= n &&
        (update->landmarks <= n || update->landmarks <= fit->job.points.d))
        return NY_OK;
    return ny_fail(fit->job.ctx, NY_ESTORE,
                   "the record of '%s' in %s counts rows or landmarks that it cannot have; begin "
                   "it anew with --restart",
                   fit->job.name, ny_store_path(fit->job.store));
}

int ny_fit_run(struct ny_store *store, const char *name, const struct ny_fit_settings *settings,
               json_t *record, const struct ny_plan *plan)
{
    struct ny_fit fit = {.job = {.ctx = ny_store_context(store),
                                 .store = store,
                                 .name = name,
                                 .record = record,
                                 .workers = plan ? plan->workers : settings->threads,
                                 .marked_s = ny_now()},
                         .settings = settings,
                         .until = plan ? NY_STAGE_DONE : NY_STAGE_SELECT,
                         .plan = plan,
                         .update = ny_update_of(record),
                         .params = settings->params};
    struct ny_job *job = &fit.job;
    uint64_t n;
    int err;

    if (fit.update.mode) job->at_end = ny_update_finish;
    err = ny_points_info(store, &job->points);
    if (err == NY_OK) err = ny_record_check_lost(store, name, record);
    if (err) goto done;
    if (json_is_true(json_object_get(record, "arriving"))) /* those that are there now */
        ny_field_set_count(ny_job_report(job), "n", job->points.n);
    n = ny_field_count(ny_job_report(job), "n", 0);
    if (job->points.n < n) {
        err = ny_fail(job->ctx, NY_ESTORE, "%s has %llu rows, but '%s' was begun on %llu",
                      ny_store_path(store), (unsigned long long)job->points.n, name,
                      (unsigned long long)n);
        goto done;
    }
    if (job->points.n > n)
        ny_log(
            job->ctx, NY_LOG_NOTE, "%llu rows were appended since %s'%s' began; they are not in it",
            (unsigned long long)(job->points.n - n), fit.update.mode ? "the update of " : "", name);
    job->points.n = n;
    err = check_rows(&fit);
    if (err) goto done;
    err = ny_given_columns_shape(job->ctx, settings, &job->points);
    if (err) goto done;
    warn_of_other_machine(&fit);
    err = ny_fit_reserve_blas(&fit, (size_t)ny_field_count(ny_job_report(job), "landmarks", 0));
    if (err) goto done;
    err = check_drift(&fit);
    if (err) goto done;
    err = ny_job_run_stages(job, NY_STAGE_DONE, run_stage, &fit);
done:
    release(&fit);
    return err;
}
