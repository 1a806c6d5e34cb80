/* Measures how well a frozen model fits the rows that were appended: residuals of new rows, and how
 * far γ, mean and scale of all rows are from those that the model has. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "update/sums.h"

/* ---- residuals ----------------------------------------------------------------------------- */

/* New rows that are measured: all of them, or so many that are drawn, one of each slice. Many rows
 * give an eighth, up to ROWS_MAX; for a few thousand rows, a thousand tell as much. */
enum { ROWS_MIN = 1024, ROWS_SHARE = 8, ROWS_MAX = 4096, BYTES_MAX = 16 << 20 };

struct sample {
    size_t count;
    uint64_t *numbers;
    void *rows;        /* raw */
    void *landmarks;   /* raw, m */
    double *diagonal;  /* k(x,x) */
    float *residuals;  /* δ */
};

static void release(struct sample *sample, struct ny_context *ctx)
{
    ny_free(ctx, sample->numbers);
    ny_free(ctx, sample->rows);
    ny_free(ctx, sample->landmarks);
    ny_free(ctx, sample->diagonal);
    ny_free(ctx, sample->residuals);
}

static int draw_rows(const struct ny_job *job, struct sample *sample)
{
    size_t row_bytes = ny_points_row_bytes(&job->points);
    uint64_t first = job->update.rows, rows = job->points.n - first;
    double most = fmax(256, (double)BYTES_MAX / (double)row_bytes);

    most = fmin(most, fmin(fmax(ROWS_MIN, (double)rows / ROWS_SHARE), ROWS_MAX));
    sample->count = rows < (uint64_t)most ? (size_t)rows : (size_t)most;
    sample->numbers = ny_calloc(job->ctx, NY_MEM_OTHER, sample->count, sizeof(uint64_t));
    sample->rows = ny_calloc(job->ctx, NY_MEM_OTHER, sample->count, row_bytes);
    sample->diagonal = ny_calloc(job->ctx, NY_MEM_OTHER, sample->count, sizeof(double));
    sample->residuals = ny_calloc(job->ctx, NY_MEM_OTHER, sample->count, sizeof(float));
    if (!sample->numbers || !sample->rows || !sample->diagonal || !sample->residuals)
        return NY_EBUDGET;
    for (size_t i = 0; i < sample->count; i++) {
        double slice = (double)rows / (double)sample->count;
        double at = rows == sample->count
                        ? (double)i
                        : ((double)i + ny_hash01(job->settings->seed, NY_STREAM_SAMPLE, i)) * slice;

        sample->numbers[i] = first + (at < (double)rows ? (uint64_t)at : rows - 1);
    }
    return ny_points_gather(job->store, (size_t)job->points.row_slots, sample->numbers,
                            sample->count, sample->rows);
}

/* A copy: the job's own goes, to make room. */
static int take_landmarks(struct ny_job *job, struct sample *sample)
{
    size_t bytes = job->m * ny_points_row_bytes(&job->points);

    sample->landmarks = ny_alloc(job->ctx, NY_MEM_OTHER, bytes);
    if (!sample->landmarks) return NY_EBUDGET;
    memcpy(sample->landmarks, ny_columns_raw(job->columns), bytes);
    return NY_OK;
}

static int measure(struct ny_job *job, struct sample *sample)
{
    struct ny_columns_spec spec = ny_job_spec(job);
    const struct ny_selection_request request = {
        .ctx = job->ctx,
        .store = job->store,
        .n = sample->count,
        .spec = &spec,
        .dictionary = {.affine = job->settings->dictionary.affine},
        .workers = job->workers};
    struct ny_columns *none = NULL;
    struct ny_source *source = NULL;
    int err = ny_columns_new(&none, &spec);

    if (!err) err = ny_columns_diagonal(none, sample->rows, sample->count, sample->diagonal);
    if (!err)
        err = ny_source_of_memory(&source, job->ctx, sample->rows, spec.dtype, sample->count,
                                  spec.geometry->d);
    if (!err && spec.slots) ny_source_of_memory_slots(source, spec.slots, false);
    if (!err)
        err = ny_greedy_measure(&request, sample->landmarks, job->m, source, sample->count,
                                sample->residuals);
    ny_source_free(source);
    ny_columns_free(none);
    return err;
}

static void report(struct ny_job *job, const struct sample *sample)
{
    json_t *report = ny_job_report(job);
    double tolerance = ny_field_number(report, "tolerance", NAN), left = 0, trace = 0, share;
    size_t above = 0;

    for (size_t i = 0; i < sample->count; i++) {
        left += (double)sample->residuals[i];
        trace += sample->diagonal[i];
        above += (double)sample->residuals[i] > tolerance;
    }
    share = isnan(tolerance) ? NAN : (double)above / (double)sample->count;
    ny_field_set_number(report, "drift_trace_error", left / trace);
    ny_field_set_number(report, "drift_residual_share", share);
    ny_field_set_count(report, "drift_rows", sample->count);
    if (isnan(tolerance))
        ny_log(job->ctx, NY_LOG_NOTE,
               "drift: the landmarks leave out %.3g %% of the trace of the new rows",
               100 * left / trace);
    else
        ny_log(job->ctx, NY_LOG_NOTE,
               "drift: the landmarks leave out %.3g %% of the trace of the new rows; %.3g %% of "
               "these rows have a residual above the tolerance of %g",
               100 * left / trace, 100 * share, tolerance);
}

int ny_update_drift(struct ny_job *job)
{
    struct sample sample = {0};
    int err = NY_OK;

    if (job->acc || json_is_string(json_object_get(ny_job_checkpoint(job), "part")))
        ny_job_keep_sums(job);
    if (!job->settings->method->coordinates) {
        err = ny_job_prepare(job);
        if (err) goto done;
        err = take_landmarks(job, &sample);
        if (err) goto done;
        ny_job_drop_problem(job);
        err = draw_rows(job, &sample);
        if (!err) err = measure(job, &sample);
        if (err == NY_OK) report(job, &sample);
    }
    if (err == NY_ENUMERIC || err == NY_EBUDGET) { /* the update needs no measure of itself */
        ny_log(job->ctx, NY_LOG_NOTE, "the drift of the new rows is not measured: %s",
               ny_context_message(job->ctx));
        ny_error_clear(job->ctx);
        err = NY_OK;
    }
done:
    release(&sample, job->ctx);
    if (err) return err;
    ny_job_drop_problem(job);
    json_object_clear(ny_job_checkpoint(job));
    ny_job_mark_time(job);
    return ny_job_save(job, NY_STAGE_PROJECT);
}

/* ---- what is frozen ------------------------------------------------------------------------ */

static const double drift_max = 0.1;

/* The pairs lie all over the store: they are looked at again when it has grown by a share, below
 * which a median hardly moves. */
static int warn_of_width(const struct ny_job *job)
{
    enum { PAIRS = 2000, SHARE = 40 };
    const struct ny_fit_settings *settings = job->settings;
    struct ny_columns_spec spec = ny_job_spec(job);
    uint64_t seen = ny_field_count(job->record, "width_rows", 0), n = job->points.n;
    double gamma;
    int err;

    if (!settings->gamma_auto || settings->kernel->base == NY_BASE_DOT) return NY_OK;
    if (n - seen < n / SHARE) return NY_OK;
    ny_field_set_count(job->record, "width_rows", n);
    err = ny_columns_auto_gamma_of(&spec, job->store, n, settings->seed, PAIRS, &gamma);
    if (err == NY_EDATA) { /* no distance among so few pairs */
        ny_error_clear(job->ctx);
        return NY_OK;
    }
    if (!err && fabs(gamma / job->params.gamma - 1) > drift_max)
        ny_log(job->ctx, NY_LOG_WARNING,
               "--gamma auto of all rows would be about %.4g, which is %.3g times the %.4g that "
               "the model keeps: fit again with --restart to have it follow the data",
               gamma, gamma / job->params.gamma, job->params.gamma);
    return err;
}

/* The drift of one column: how far its mean is from the centre, in standard deviations, and by how
 * much its scale is off. */
static double drift_of(const struct ny_job *job, const struct ny_points_stats *stats, size_t k)
{
    const struct ny_geometry *geometry = job->geometry;
    double deviation = sqrt(stats->variance[k]), factor = geometry->factor[k], mean, scale = 1;

    if (!(deviation > 0)) return 0;
    mean = fabs(stats->mean[k] - geometry->centre[k]) / deviation;
    if (job->settings->scale == NY_SCALE_STANDARD) scale = deviation * factor;
    if (job->settings->scale == NY_SCALE_UNIT)
        scale = (stats->maximum[k] - stats->minimum[k]) * factor;
    if (job->points.row_slots && !job->settings->map->centred_rows) mean = 0;
    return fmax(mean, factor > 0 ? fabs(scale - 1) : 0);
}

static int warn_of_geometry(const struct ny_job *job)
{
    struct ny_points_stats stats;
    size_t off = 0, worst = 0;
    double most = 0;
    int err;

    if (job->settings->scale == NY_SCALE_NONE && !job->settings->map->centred_rows) return NY_OK;
    err = ny_points_stats(job->store, &stats);
    if (err) return err;
    for (size_t k = 0; k < stats.d; k++) {
        double drift = drift_of(job, &stats, k);

        off += drift > drift_max;
        if (drift <= most) continue;
        most = drift;
        worst = k;
    }
    ny_points_stats_release(&stats, job->ctx);
    if (off)
        ny_log(job->ctx, NY_LOG_WARNING,
               "mean or scale of %zu columns, most of all of column %zu (from 1), have moved by "
               "more than 10 %% of a standard deviation from those that the model keeps; fit again "
               "with --restart to have it follow the data",
               off, worst + 1);
    return NY_OK;
}

int ny_update_warn_drift(const struct ny_job *job)
{
    int err = warn_of_width(job);

    return err ? err : warn_of_geometry(job);
}
