/* Measures how far the rows that were appended are from those of the fit (place/drift.h). The
 * report keeps the largest share that the model leaves out since it was made, until a full update
 * takes the rows in. */
#include <math.h>

#include "fit/sums.h"
#include "place/drift.h"
#include "update/update.h"

double ny_update_drift_rows(double rows)
{
    return fmin(rows, (double)ny_drift_room(1)) + (double)ny_drift_fitted_rows(1);
}

/* Returns what to do about new rows that are far from those of the fit. */
static const char *cure_of(const struct ny_fit *fit)
{
    return fit->job.state.record.placed /* no full update takes them */
               ? " If not, take them out again by truncate; if they are right, a new fit of all "
                 "rows takes them into its model"
               : " If not, take them out again by truncate; if they are right, --update full takes "
                 "them into the model";
}

/* Keeps the largest share since the model was made, and the rows that have it; a full update clears
 * them (job/facts.h). Of a result of all shards, rows are numbered over all of them. */
static void keep_largest(struct ny_fit *fit, double share)
{
    struct ny_state *state = &fit->job.state;

    if (isnan(share) || share <= state->report.drift_largest) return;
    state->report.drift_largest = share;
    state->report.drift_largest_first =
        (state->sharded.first == NY_NONE ? 0 : state->sharded.first) + state->update.rows;
    state->report.drift_largest_rows = fit->job.points.n - state->update.rows;
}

static void report(struct ny_fit *fit, const struct ny_drift *drift)
{
    struct ny_state_report *report = &fit->job.state.report;

    report->drift = drift->distance;
    report->drift_trace_error = drift->share;
    report->drift_trace_error_fitted = drift->fitted;
    report->drift_residual_share = drift->above;
    report->drift_rows = drift->rows;
    keep_largest(fit, drift->share);
    ny_drift_tell(fit->job.ctx, "the new rows", drift, cure_of(fit));
}

static int measure(struct ny_fit *fit, struct ny_model *model)
{
    const struct ny_drift_how how = {.affine = fit->settings->dictionary.affine,
                                     .tolerance = fit->job.state.report.tolerance};
    struct ny_drift_sample sample;
    struct ny_columns_spec spec = model->spec;
    struct ny_drift drift;
    int err = ny_drift_learn(model, fit->job.X, &how);

    spec.slots = (size_t)fit->job.points.row_slots;
    ny_drift_sample_begin(&sample, fit->job.ctx, ny_raw_bytes(&spec), SIZE_MAX);
    if (!err)
        err = ny_drift_sample_rows(&sample, &spec, fit->job.X, fit->job.state.update.rows,
                                   fit->job.points.n);
    if (!err) err = ny_drift_measure(model, &spec, ny_model_rows(model), &how, &sample, &drift);
    if (!err) report(fit, &drift);
    ny_drift_sample_release(&sample);
    return err;
}

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_model *model = NULL;
    struct ny_record before = {0};
    int err;

    if (fit->acc || fit->job.state.at.part) ny_fit_keep_sums(fit);
    ny_fit_drop_problem(fit); /* to make room */
    ny_columns_free(fit->columns);
    fit->columns = NULL;
    err = job->keep.records->load(&job->keep, &before);
    if (!err) err = ny_model_of_record(&model, &job->keep, before);
    if (!err) err = measure(fit, model);
    ny_model_free(model);
    ny_record_free(before);
    if (err) return err;
    ny_job_clear_checkpoint(&fit->job);
    ny_job_mark_time(&fit->job);
    return ny_job_save(job, ny_job_next(job));
}

const struct ny_stage ny_stage_drift = {.id = NY_STAGE_SOLVE, .run = run};
