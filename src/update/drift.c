/* Measures how well a frozen model fits the rows that were appended: residuals of new rows, beside
 * those of rows of the fit, or without landmarks their spread (place/spread.h); and how far γ, mean
 * and scale of all rows are from those that the model has. The report keeps the largest drift since
 * the model was made, until a full update takes the rows in. */
#include <math.h>
#include <string.h>

#include "fit/sums.h"
#include "place/spread.h"
#include "update/update.h"

/* ---- residuals ----------------------------------------------------------------------------- */

static const char fitted_key[] = "drift_trace_error_fitted";

struct sample {
    size_t fitted; /* the first ones, rows of the fit; 0: these were measured before */
    size_t count;  /* with them */
    uint64_t *numbers;
    void *rows; /* raw */
    struct ny_columns *landmarks;
    double *diagonal; /* k(x,x) */
    float *residuals; /* δ */
};

static void release(struct sample *sample, struct ny_context *ctx)
{
    ny_free(ctx, sample->numbers);
    ny_free(ctx, sample->rows);
    ny_columns_free(sample->landmarks);
    ny_free(ctx, sample->diagonal);
    ny_free(ctx, sample->residuals);
}

/* Tells whether the model is from elsewhere, which takes no rows in. */
static bool is_placed(const struct ny_fit *fit)
{
    return json_is_true(json_object_get(fit->job.record, "placed"));
}

/* Returns what is left out of rows of the fit that are no landmarks, where it is `share` of all.
 * A model from elsewhere has chosen none of them. NaN where all rows are landmarks. */
static double of_others(const struct ny_fit *fit, double share)
{
    bool chosen = !fit->settings->landmark_points.count && !is_placed(fit);

    return ny_drift_of_others(share, chosen ? (double)fit->m : 0, (double)fit->earlier.selected);
}

/* Returns how many rows of the fit are measured: none where the report has their figure, all are
 * landmarks, or there are no landmarks. */
static size_t fitted_rows(const struct ny_fit *fit, size_t row_bytes)
{
    size_t most = ny_drift_fitted_rows(row_bytes);
    uint64_t rows = fit->earlier.selected;

    if (!ny_settings_selects(fit->settings) || isnan(of_others(fit, 0))) return 0;
    if (!isnan(ny_field_number(ny_job_report(&fit->job), fitted_key, NAN))) return 0;
    if (rows > fit->earlier.rows) rows = fit->earlier.rows; /* a shard counts those of all */
    return rows < most ? (size_t)rows : most;
}

/* Numbers the rows of the fit at even distances, then the new rows that a transform of them would
 * measure. */
static int number_rows(const struct ny_fit *fit, struct sample *sample, size_t row_bytes)
{
    uint64_t first = fit->earlier.rows, rows = fit->job.points.n - first;
    uint64_t old = fit->earlier.selected < first ? fit->earlier.selected : first;
    size_t room = ny_drift_room(row_bytes);

    sample->fitted = fitted_rows(fit, row_bytes);
    sample->numbers =
        ny_calloc(fit->job.ctx, NY_MEM_OTHER, sample->fitted + room, sizeof(uint64_t));
    if (!sample->numbers) return NY_EBUDGET;
    for (size_t i = 0; i < sample->fitted; i++)
        sample->numbers[i] = (uint64_t)((double)i * (double)old / (double)sample->fitted);
    sample->count = sample->fitted + ny_drift_draw(rows, room, sample->numbers + sample->fitted);
    for (size_t i = sample->fitted; i < sample->count; i++)
        sample->numbers[i] += first;
    return NY_OK;
}

double ny_update_drift_rows(double rows)
{
    return fmin(rows, (double)ny_drift_room(1)) + (double)ny_drift_fitted_rows(1);
}

/* Draws the rows to be measured, and reads them. */
static int draw_rows(const struct ny_fit *fit, struct sample *sample)
{
    size_t row_bytes = ny_rows_row_bytes(&fit->job.points);
    int err = number_rows(fit, sample, row_bytes);

    if (err) return err;
    sample->rows = ny_calloc(fit->job.ctx, NY_MEM_OTHER, sample->count, row_bytes);
    if (!sample->rows) return NY_EBUDGET;
    return ny_rows_gather_wide(fit->job.X, fit->job.points.dtype, (size_t)fit->job.points.row_slots,
                               sample->numbers, sample->count, sample->rows);
}

/* The rest of the job's own goes, to make room. */
static void take_landmarks(struct ny_fit *fit, struct sample *sample)
{
    sample->landmarks = fit->columns;
    fit->columns = NULL;
}

/* Opens the rows of the sample, which `spec` describes. */
static int open_rows(const struct sample *sample, const struct ny_columns_spec *spec,
                     struct ny_source **out)
{
    int err = ny_source_of_memory(out, spec->ctx, sample->rows, spec->dtype, sample->count,
                                  spec->geometry->d);

    if (!err && spec->slots) ny_source_of_memory_slots(*out, spec->slots, false);
    return err;
}

/* Measures the residuals of the sample against the landmarks of the model. */
static int measure(struct ny_fit *fit, struct sample *sample)
{
    struct ny_columns_spec spec = ny_fit_spec(fit);
    const struct ny_selection_request request = {.ctx = fit->job.ctx,
                                                 .X = fit->job.X,
                                                 .n = sample->count,
                                                 .spec = &spec,
                                                 .greedy.dictionary.affine =
                                                     fit->settings->dictionary.affine,
                                                 .workers = fit->job.workers};
    struct ny_columns *none = NULL;
    struct ny_source *source = NULL;
    int err;

    sample->diagonal = ny_calloc(fit->job.ctx, NY_MEM_OTHER, sample->count, sizeof(double));
    sample->residuals = ny_calloc(fit->job.ctx, NY_MEM_OTHER, sample->count, sizeof(float));
    if (!sample->diagonal || !sample->residuals) return NY_EBUDGET;
    err = ny_columns_new(&none, &spec);
    if (!err)
        err = ny_columns_diagonal(none, ny_raw_rows(sample->rows), sample->count, sample->diagonal);
    if (!err) err = open_rows(sample, &spec, &source);
    if (!err)
        err = ny_greedy_measure(&request, ny_columns_rows(sample->landmarks), fit->m, source,
                                sample->count, sample->residuals);
    ny_source_free(source);
    ny_columns_free(none);
    return err;
}

/* Returns what to do about new rows that are far from those of the fit. */
static const char *remedy_of(const struct ny_fit *fit)
{
    return is_placed(fit) ? " If not, take them out again by truncate; if they are right, a new "
                            "fit of all rows takes them into its model"
                          : " If not, take them out again by truncate; if they are right, "
                            "--update full takes them into the model";
}

/* Tells the share of the trace that the landmarks leave out, beside what they leave out of the rows
 * of the fit. */
static void tell(const struct ny_fit *fit, struct ny_drift drift)
{
    const json_t *report = ny_job_report(&fit->job);
    double of_all = of_others(fit, ny_field_number(report, "trace_error", NAN));

    drift.fitted = ny_field_number(report, fitted_key, of_all);
    if (isnan(drift.share))
        ny_log(fit->job.ctx, NY_LOG_NOTE,
               "the drift of the new rows is not measured: k(x,x) of all of them is 0");
    else
        ny_drift_tell(fit->job.ctx, "the new rows", &drift, remedy_of(fit));
}

/* Keeps the largest drift since the model was made, and the rows that have it; a full update clears
 * them (job/facts.h). Of a result of all shards, rows are numbered over all of them. */
static void keep_largest(struct ny_fit *fit, double drift)
{
    const json_t *sharded = json_object_get(fit->job.record, "sharded");
    json_t *report = ny_job_report(&fit->job);

    if (isnan(drift) || drift <= ny_field_number(report, "drift_largest", NAN)) return;
    ny_field_set_number(report, "drift_largest", drift);
    ny_field_set_count(report, "drift_largest_first",
                       ny_field_count(sharded, "first", 0) + fit->earlier.rows);
    ny_field_set_count(report, "drift_largest_rows", fit->job.points.n - fit->earlier.rows);
}

/* Reports the share of the trace that the landmarks leave out and, for a selection by a
 * tolerance, how many rows are above it. */
static void report(struct ny_fit *fit, const struct sample *sample)
{
    json_t *report = ny_job_report(&fit->job);
    double tolerance = ny_field_number(report, "tolerance", NAN), share;
    size_t above = 0, count = sample->count - sample->fitted;
    struct ny_drift drift = ny_drift_unknown, fitted = ny_drift_unknown;

    ny_drift_of_rows(sample->residuals + sample->fitted, sample->diagonal + sample->fitted, count,
                     &drift);
    ny_drift_of_rows(sample->residuals, sample->diagonal, sample->fitted, &fitted);
    for (size_t i = sample->fitted; i < sample->count; i++)
        above += (double)sample->residuals[i] > tolerance;
    share = isnan(tolerance) ? NAN : (double)above / (double)count;
    ny_field_set_number(report, "drift_trace_error", drift.share);
    ny_field_set_number(report, "drift_standard_error", drift.error);
    ny_field_set_number(report, "drift_residual_share", share);
    ny_field_set_count(report, "drift_rows", count);
    if (sample->fitted)
        ny_field_set_number(report, fitted_key, of_others(fit, fitted.share));
    keep_largest(fit, drift.share);
    tell(fit, drift);
    if (!isnan(tolerance))
        ny_log(fit->job.ctx, NY_LOG_NOTE,
               "%.3g %% of the new rows have a residual above the tolerance of %g", 100 * share,
               tolerance);
}

/* Measures and reports how far new rows are from what the landmarks span. */
static int by_landmarks(struct ny_fit *fit, struct sample *sample)
{
    int err;

    take_landmarks(fit, sample);
    ny_fit_drop_problem(fit);
    err = draw_rows(fit, sample);
    if (!err) err = measure(fit, sample);
    if (!err) report(fit, sample);
    return err;
}

/* Reports how far the sample spreads, and tells it. */
static void report_spread(struct ny_fit *fit, size_t count, const struct ny_drift *drift)
{
    json_t *report = ny_job_report(&fit->job);

    ny_field_set_number(report, "drift_trace_error", drift->share);
    ny_field_set_number(report, "drift_ratio", drift->ratio);
    ny_field_set_number(report, "drift_ratio_error", drift->ratio_error);
    ny_field_set_count(report, "drift_rows", count);
    ny_field_set_number(report, fitted_key, drift->fitted);
    keep_largest(fit, drift->share);
    ny_drift_tell_components(fit->job.ctx, "the new rows", drift, remedy_of(fit));
}

/* Measures and reports how far new rows spread beside those of a fit without landmarks, where its
 * result knows how these lie. */
static int by_components(struct ny_fit *fit, struct sample *sample)
{
    struct ny_drift drift = ny_drift_unknown;
    struct ny_model *model = NULL;
    struct ny_source *source = NULL;
    struct ny_columns_spec spec;
    json_t *before = NULL;
    int err = ny_record_get(&fit->job.keep, &before);

    if (!err) err = ny_model_of_record(&model, &fit->job.keep, before);
    if (err || !model->fitted.spread) goto done;
    err = draw_rows(fit, sample);
    if (err) goto done;
    spec = model->spec;
    spec.dtype = fit->job.points.dtype;
    spec.slots = (size_t)fit->job.points.row_slots;
    err = open_rows(sample, &spec, &source);
    if (!err) err = ny_spread_measure(model, &spec, source, &drift);
    if (!err) report_spread(fit, sample->count, &drift);
done:
    ny_source_free(source);
    ny_model_free(model);
    json_decref(before);
    return err;
}

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct sample sample = {0};
    int err = NY_OK;

    if (fit->acc || json_is_string(json_object_get(ny_job_checkpoint(&fit->job), "part")))
        ny_fit_keep_sums(fit);
    if (ny_settings_selects(fit->settings)) {
        err = ny_fit_prepare(fit);
        if (err) goto done;
        err = by_landmarks(fit, &sample);
    } else {
        err = by_components(fit, &sample);
    }
    if (err == NY_ENUMERIC || err == NY_EBUDGET) { /* the update needs no measure of itself */
        ny_log(fit->job.ctx, NY_LOG_NOTE, "the drift of the new rows is not measured: %s",
               ny_context_message(fit->job.ctx));
        ny_error_clear(fit->job.ctx);
        err = NY_OK;
    }
done:
    release(&sample, fit->job.ctx);
    if (err) return err;
    ny_fit_drop_problem(fit);
    json_object_clear(ny_job_checkpoint(&fit->job));
    ny_job_mark_time(&fit->job);
    return ny_job_save(job, ny_job_next(job));
}

const struct ny_stage ny_stage_drift = {.id = NY_STAGE_SOLVE, .run = run};

/* ---- what is frozen ------------------------------------------------------------------------ */

static const double drift_max = 0.1;

/* The cure depends on whether the new rows are right. */
#define TAKE_OUT                                                                                   \
    "if rows that were appended should not be there (another scale, columns in another order), "   \
    "take them out; if they are right, "

static const char *cure_of(const struct ny_fit *fit)
{
    return is_placed(fit) ? TAKE_OUT "a new fit of all rows has the scale of all"
                          : TAKE_OUT "--update full takes them into the model as it is scaled, "
                                     "and --restart fits it anew";
}

/* The pairs lie all over the store: they are looked at again when it has grown by a share, below
 * which a median hardly moves. */
static int warn_of_width(const struct ny_fit *fit)
{
    enum { PAIRS = 2000, SHARE = 40 };
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_columns_spec spec = ny_fit_spec(fit);
    uint64_t seen = ny_field_count(fit->job.record, "width_rows", 0), n = fit->job.points.n;
    double gamma;
    int err;

    if (!settings->gamma_auto || settings->kernel->base == NY_BASE_DOT) return NY_OK;
    if (n - seen < n / SHARE) return NY_OK;
    ny_field_set_count(fit->job.record, "width_rows", n);
    err = ny_columns_auto_gamma_of(&spec, fit->job.X, n, settings->seed, PAIRS, &gamma);
    if (err == NY_EDATA) { /* no distance among so few pairs */
        ny_error_clear(fit->job.ctx);
        return NY_OK;
    }
    if (!err && fabs(gamma / fit->params.gamma - 1) > drift_max)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "--gamma auto of all rows would be about %.4g, which is %.3g times the %.4g that "
               "the model keeps: %s",
               gamma, gamma / fit->params.gamma, fit->params.gamma, cure_of(fit));
    return err;
}

/* The drift of one column: how far its mean is from the centre, in standard deviations, and by how
 * much its scale is off. */
static double drift_of(const struct ny_fit *fit, const struct ny_rows_stats *stats, size_t k)
{
    const struct ny_geometry *geometry = fit->geometry;
    double deviation = sqrt(stats->variance[k]), factor = geometry->factor[k], mean, scale = 1;

    if (!(deviation > 0)) return 0;
    if (fit->settings->choice.rule != NY_CHOOSE_ALL && factor == 0) return 0;
    mean = fabs(stats->mean[k] - geometry->centre[k]) / deviation;
    if (fit->settings->scale == NY_SCALE_STANDARD) scale = deviation * factor;
    if (fit->settings->scale == NY_SCALE_UNIT)
        scale = (stats->maximum[k] - stats->minimum[k]) * factor;
    if (fit->job.points.row_slots && !fit->settings->map->centred_rows) mean = 0;
    return fmax(mean, factor > 0 ? fabs(scale - 1) : 0);
}

static int warn_of_geometry(const struct ny_fit *fit)
{
    char column[NY_COLUMN_WORDS_BYTES];
    struct ny_rows_stats stats;
    size_t off = 0, worst = 0;
    double most = 0;
    int err;

    if (!ny_scale_spread(fit->settings->scale) && !fit->settings->map->centred_rows) return NY_OK;
    err = fit->job.X->ops->stats(fit->job.X, &stats);
    if (err) return err;
    for (size_t k = 0; k < stats.d; k++) {
        double drift = drift_of(fit, &stats, k);

        off += drift > drift_max;
        if (drift <= most) continue;
        most = drift;
        worst = k;
    }
    ny_rows_stats_release(&stats, fit->job.ctx);
    if (off) err = fit->job.X->ops->column_words(fit->job.X, worst, column);
    if (off && !err)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "mean or scale of %zu column%s, most of all of %s, %s moved by more than 10 %% of a "
               "standard deviation from those that the model keeps: %s",
               off, off == 1 ? "" : "s", column, off == 1 ? "has" : "have", cure_of(fit));
    return err;
}

int ny_update_warn_drift(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    int err = ny_fit_load_frozen(fit);

    if (!err) err = warn_of_width(fit);
    return err ? err : warn_of_geometry(fit);
}

int ny_update_warn_of_all(struct ny_rows *X, const struct ny_keep *keep,
                          const struct ny_fit_settings *settings, json_t *record)
{
    struct ny_fit fit = {.job = {.ctx = X->ctx, .X = X, .keep = *keep, .record = record},
                         .settings = settings,
                         .params = settings->params};
    int err = X->ops->info(X, &fit.job.points);

    ny_settings_widen(settings, &fit.job.points);
    if (!err) err = ny_update_warn_drift(&fit.job);
    ny_fit_release(&fit);
    return err;
}
