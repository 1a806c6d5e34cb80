/*
 * Measures drift (place/drift.h) for transforms and, on the fitted rows, for the warning that
 * compares the two (api/transform.c). At most 512 rows and 8 MiB are sampled, and at most the
 * first 1,024 landmarks used. Where landmarks are the columns, the sums of a projector tell it of
 * all new rows, and the result that of its own. A drift that cannot be measured, for numerical
 * reasons or lack of memory, is NaN and no error, since the rows have been placed.
 */
#include "place/drift.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "select/rules.h"
#include "store/store.h"

enum { SAMPLE_ROWS = 512, SAMPLE_BYTES = 8 << 20, LANDMARKS_MAX = 1024 };

/* New rows that the landmarks leave out so much more of than of the rows of the fit are on another
 * scale, or of other things. A model that stands alone does not know its own rows. */
static const double drift_factor = 10, drift_alone = 0.5, drift_least = 1e-3;

void ny_drift_sample_begin(struct ny_drift_sample *sample, struct ny_context *ctx, size_t row_bytes)
{
    size_t room = SAMPLE_BYTES / (row_bytes ? row_bytes : 1);

    room = room < 2 ? 2 : room > SAMPLE_ROWS ? SAMPLE_ROWS : room / 2 * 2;
    *sample =
        (struct ny_drift_sample){.ctx = ctx, .row_bytes = row_bytes, .room = room, .stride = 1};
    if (room * row_bytes < ny_memory_left(ctx) / 4)
        sample->rows = ny_alloc(ctx, NY_MEM_OTHER, room * row_bytes);
}

void ny_drift_sample_release(struct ny_drift_sample *sample)
{
    if (sample->ctx) ny_free(sample->ctx, sample->rows);
    *sample = (struct ny_drift_sample){0};
}

/* Drops every second row of the sample, so that it stays evenly spread however many rows come. */
static void thin_out(struct ny_drift_sample *sample)
{
    for (size_t i = 1; 2 * i < sample->count; i++)
        memcpy(sample->rows + i * sample->row_bytes, sample->rows + 2 * i * sample->row_bytes,
               sample->row_bytes);
    sample->count = (sample->count + 1) / 2;
    sample->stride *= 2;
}

int ny_drift_sample_take(struct ny_drift_sample *sample, const struct ny_tile *tile)
{
    int err = NY_OK;

    for (size_t i = 0; sample->rows && i < tile->rows && err == NY_OK; i++) {
        if ((tile->first_row + i) % sample->stride) continue;
        if (sample->count == sample->room) thin_out(sample);
        if ((tile->first_row + i) % sample->stride) continue;
        err = ny_tile_strip(tile, i, 1, sample->rows + sample->count * sample->row_bytes);
        sample->count++;
    }
    return err;
}

/* Computes the residuals of the sample by the landmarks, as greedy selection would. */
static int residuals_of(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                        const struct ny_drift_sample *sample, float *residuals)
{
    const struct ny_selection_request request = {
        .ctx = sample->ctx, .n = sample->count, .spec = spec, .workers = 1};
    struct ny_source *source = NULL;
    int err = ny_source_of_memory(&source, sample->ctx, sample->rows, spec->dtype, sample->count,
                                  spec->geometry->d);

    if (!err && spec->slots) ny_source_of_memory_slots(source, spec->slots, false);
    if (!err) err = ny_greedy_measure(&request, landmarks, m, source, sample->count, residuals);
    ny_source_free(source);
    return err;
}

/* Computes the drift of a sample: the sum of its residuals over the sum of k(x,x). */
static int measure(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                   const struct ny_drift_sample *sample, double *error)
{
    struct ny_context *ctx = sample->ctx;
    double *diagonal = ny_calloc(ctx, NY_MEM_OTHER, sample->count, sizeof(double));
    float *residuals = ny_calloc(ctx, NY_MEM_OTHER, sample->count, sizeof(float));
    double left = 0, trace = 0;
    struct ny_columns *none = NULL;
    int err = diagonal && residuals ? ny_columns_new(&none, spec) : NY_EBUDGET;

    if (!err) err = ny_columns_diagonal(none, ny_raw_rows(sample->rows), sample->count, diagonal);
    if (!err) err = residuals_of(spec, landmarks, m, sample, residuals);
    for (size_t i = 0; !err && i < sample->count; i++) {
        left += (double)residuals[i];
        trace += diagonal[i];
    }
    if (!err && trace > 0) *error = left / trace;
    ny_columns_free(none);
    ny_free(ctx, diagonal);
    ny_free(ctx, residuals);
    return err;
}

int ny_drift_measure(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                     const struct ny_drift_sample *sample, double *error)
{
    int err = NY_OK;

    *error = NAN;
    if (!sample->count || !(landmarks.at || landmarks.list) ||
        spec->kernel->base == NY_BASE_COORDINATE)
        return NY_OK;
    err = measure(spec, landmarks, m < LANDMARKS_MAX ? m : LANDMARKS_MAX, sample, error);
    if (err != NY_ENUMERIC && err != NY_EBUDGET) return err;
    ny_log(sample->ctx, NY_LOG_DETAIL, "the drift of the new rows is not measured: %s",
           ny_context_message(sample->ctx));
    ny_error_clear(sample->ctx); /* rows are placed without knowing it */
    return NY_OK;
}

int ny_drift_of_store(const struct ny_model *model, struct ny_store *store, uint64_t rows,
                      double *error)
{
    struct ny_columns_spec spec = model->spec;
    struct ny_drift_sample sample;
    struct ny_points_info points;
    uint64_t numbers[SAMPLE_ROWS];
    int err = ny_points_info(store, &points);

    *error = NAN;
    if (err || ny_dtype_common(points.dtype, spec.dtype) != spec.dtype ||
        (points.row_slots > 0) != (spec.slots > 0))
        return err;
    if (rows > points.n) rows = points.n; /* a shard counts those of all */
    spec.slots = (size_t)points.row_slots > spec.slots ? (size_t)points.row_slots : spec.slots;
    if (spec.slots != model->spec.slots) return NY_OK; /* fuller rows joined since the fit */
    ny_drift_sample_begin(&sample, model->ctx, ny_raw_bytes(&spec));
    if (sample.rows) sample.count = rows < sample.room ? (size_t)rows : sample.room;
    for (size_t i = 0; i < sample.count; i++)
        numbers[i] = (uint64_t)((double)i * (double)rows / (double)sample.count);
    if (sample.count)
        err = ny_points_gather_wide(store, spec.dtype, spec.slots, numbers, sample.count,
                                    sample.rows);
    if (!err) err = ny_drift_measure(&spec, ny_model_rows(model), model->m, &sample, error);
    ny_drift_sample_release(&sample);
    return err;
}

bool ny_drift_is_large(double drift, double fitted)
{
    return drift > drift_least && drift > (isnan(fitted) ? drift_alone : drift_factor * fitted);
}

struct ny_drift ny_drift_of_sums(const struct ny_model *model, uint64_t rows, double squares,
                                 double kept)
{
    const struct ny_fitted_variance *fitted = &model->fitted;

    if (!rows || !(squares > 0)) return ny_drift_unknown;
    return (struct ny_drift){.share = fmax(0, 1 - kept / squares),
                             .fitted = fitted->left,
                             .distance = squares / (double)rows / fitted->distance};
}

/* Warns of new rows that are far from the mean of the fit, or lie in other directions. */
static void warn_of_components(struct ny_context *ctx, const char *from,
                               const struct ny_drift *drift)
{
    bool far = drift->distance > drift_factor;
    bool other = 1 - drift->share < (1 - drift->fitted) / drift_factor;

    if (!far && !other && !ny_drift_is_large(drift->share, drift->fitted)) return;
    ny_log(ctx, NY_LOG_WARNING,
           "the components leave out %.3g %% of the variance of %s, whose rows are %.3g times as "
           "far from the mean of the fit as its own, and %.3g %% of that of the rows of the fit: "
           "are they on the same scale, with the columns in the same order?",
           100 * drift->share, from, sqrt(drift->distance), 100 * drift->fitted);
}

void ny_drift_warn(struct ny_context *ctx, const char *from, const struct ny_drift *drift)
{
    if (!isnan(drift->distance)) {
        warn_of_components(ctx, from, drift);
        return;
    }
    if (!ny_drift_is_large(drift->share, drift->fitted)) return;
    if (isnan(drift->fitted))
        ny_log(ctx, NY_LOG_WARNING,
               "the landmarks leave out %.3g %% of the trace of %s: are its rows on the scale of "
               "those of the fit, and its columns in their order?",
               100 * drift->share, from);
    else
        ny_log(ctx, NY_LOG_WARNING,
               "the landmarks leave out %.3g %% of the trace of %s, and %.3g %% of that of the "
               "rows of the fit: are they on the same scale, with the columns in the same order?",
               100 * drift->share, from, 100 * drift->fitted);
}
