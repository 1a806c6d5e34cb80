/*
 * Measures drift (place/drift.h) for transforms and, on the fitted rows, for the warning that
 * compares the two (api/transform.c); the rows that it draws and the rule by which it warns are
 * also those of updates (update/drift.c). At most the first 1,024 landmarks are used. Where
 * landmarks are the columns, the sums of a projector tell the drift of all new rows, and the result
 * that of its own. A drift that cannot be measured, for numerical reasons or lack of memory, is NaN
 * and no error, since the rows have been placed.
 *
 * The drift is a mean over rows, and one row that is left out wholly raises the mean of some
 * hundred by more than what a good fit leaves out of all. So the warning goes by the drift less two
 * standard errors. Of rows that are alike but for one, already the drift less one standard error is
 * exactly the drift of the others.
 */
#include "place/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "base/random.h"
#include "select/rules.h"

/* Rows that are measured: new ones, of which wide ones are fewer, and those of the fit. */
enum { ROWS_MAX = 2048, ROWS_MIN = 256, ROWS_BYTES = 16 << 20 };
enum { FITTED_MAX = 512, FITTED_MIN = 64, FITTED_BYTES = 4 << 20 };
enum { LANDMARKS_MAX = 1024, LENGTHS_LEAST = 16, LENGTHS_ROWS = 128 };

/* New rows that the landmarks leave out so much more of than of the rows of the fit are on another
 * scale, or of other things. A model that stands alone does not know its own rows. */
static const double drift_factor = 10, drift_twice = 2, drift_alone = 0.5, drift_least = 1e-3;
static const double drift_errors = 2, drift_spread = 3;

/* Rows that are multiplied by 0.1 lie among the landmarks, near 0, which leave little of them out.
 * They are told by their lengths: half of them have less than half of the length that 19 in 20 rows
 * of the fit have. Of two halves of one set of rows this does not happen. The mean length of the
 * points, which is known, says whether their rows have to be looked at. */
static const double short_share = 0.05, short_factor = 0.5, short_glance = 0.25;

/* ---- which rows ----------------------------------------------------------------------------- */

size_t ny_drift_room(size_t row_bytes)
{
    size_t room = ROWS_MAX;

    while (room > ROWS_MIN && room * row_bytes > ROWS_BYTES)
        room /= 2;
    return room;
}

size_t ny_drift_fitted_rows(size_t row_bytes)
{
    size_t most = FITTED_BYTES / (row_bytes ? row_bytes : 1);

    return most > FITTED_MAX ? FITTED_MAX : most < FITTED_MIN ? FITTED_MIN : most;
}

/* Tells which half of a slice of 2^level rows stands for both; rows that alternate are not all of
 * one kind then. */
static uint64_t half_of(uint64_t slice, unsigned level)
{
    return ny_hash64(level, NY_STREAM_SAMPLE, slice) & 1;
}

/* Returns the row that stands for a slice of 2^level rows. */
static uint64_t drawn_row(uint64_t slice, unsigned level)
{
    for (; level; level--)
        slice = 2 * slice + half_of(slice, level);
    return slice;
}

/* Tells whether a row stands for its slice of 2^level rows. */
static bool is_drawn(uint64_t row, unsigned level)
{
    for (unsigned i = 1; i <= level; i++)
        if ((row >> (i - 1) & 1) != half_of(row >> i, i)) return false;
    return true;
}

size_t ny_drift_draw(uint64_t rows, size_t room, uint64_t *numbers)
{
    unsigned level = 0;
    uint64_t count;

    /* The row that stands for the last slice, which may be cut off, may be missing. */
    for (;; level++) {
        count = rows >> level;
        if (count << level < rows && drawn_row(count, level) < rows) count++;
        if (count <= room) break;
    }
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = drawn_row(i, level);
    return (size_t)count;
}

/* Returns how many rows of a sample a quarter of these bytes holds; 0: not even two. */
static size_t room_in(size_t row_bytes, size_t most, size_t bytes)
{
    size_t room = ny_drift_room(row_bytes);

    if (room > most) room = most;
    while (room > 1 && room * row_bytes >= bytes / 4)
        room /= 2;
    return room > 1 ? room : 0;
}

size_t ny_drift_sample_bytes(size_t row_bytes, size_t most, size_t left)
{
    return room_in(row_bytes, most, left) * row_bytes;
}

void ny_drift_sample_begin(struct ny_drift_sample *sample, struct ny_context *ctx, size_t row_bytes,
                           size_t most)
{
    size_t room = room_in(row_bytes, most, ny_memory_limit(ctx) / 2); /* in any threads the same */

    *sample = (struct ny_drift_sample){.ctx = ctx, .row_bytes = row_bytes, .room = room};
    if (room) sample->rows = ny_alloc(ctx, NY_MEM_OTHER, room * row_bytes);
    if (room && !sample->rows) ny_error_clear(ctx); /* rows are placed all the same */
}

void ny_drift_sample_release(struct ny_drift_sample *sample)
{
    if (sample->ctx) ny_free(sample->ctx, sample->rows);
    *sample = (struct ny_drift_sample){0};
}

/* Keeps one row of each two slices, which are all there as the sample is full. */
static void thin_out(struct ny_drift_sample *sample)
{
    sample->level++;
    sample->count /= 2;
    for (size_t i = 0; i < sample->count; i++) {
        size_t from = 2 * i + (size_t)half_of(i, sample->level);

        if (from != i)
            memcpy(sample->rows + i * sample->row_bytes, sample->rows + from * sample->row_bytes,
                   sample->row_bytes);
    }
}

int ny_drift_sample_take(struct ny_drift_sample *sample, const struct ny_tile *tile)
{
    int err = NY_OK;

    for (size_t i = 0; sample->rows && i < tile->rows && err == NY_OK; i++) {
        uint64_t row = tile->first_row + i;

        if (!is_drawn(row, sample->level)) continue;
        if (sample->count == sample->room) thin_out(sample);
        if (!is_drawn(row, sample->level)) continue;
        err = ny_tile_strip(tile, i, 1, sample->rows + sample->count * sample->row_bytes);
        sample->count++;
    }
    return err;
}

/* ---- residuals ------------------------------------------------------------------------------ */

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
    ny_context_set_crew(sample->ctx, 1); /* OpenBLAS has room for those who place rows alone */
    if (!err) err = ny_greedy_measure(&request, landmarks, m, source, sample->count, residuals);
    ny_context_set_crew(sample->ctx, 0);
    ny_source_free(source);
    return err;
}

void ny_drift_of_rows(const float *residuals, const double *diagonal, size_t count,
                      struct ny_drift *drift)
{
    double left = 0, trace = 0, squares = 0;

    drift->share = drift->error = NAN;
    for (size_t i = 0; i < count; i++) {
        left += (double)residuals[i];
        trace += diagonal[i];
    }
    if (!(trace > 0)) return;
    drift->share = left / trace;
    if (count < 2) return;
    /* The jackknife: also a row that has nearly all of the trace is seen to decide alone. */
    for (size_t i = 0; i < count; i++) {
        double rest = trace - diagonal[i];
        double others = rest > 0 ? (left - (double)residuals[i]) / rest : 0;
        double off = fmin(fmax(others, 0), 1) - drift->share;

        squares += off * off;
    }
    drift->error = sqrt(squares * (double)(count - 1) / (double)count);
}

/* Computes the drift of a sample. */
static int measure(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                   const struct ny_drift_sample *sample, struct ny_drift *drift)
{
    struct ny_context *ctx = sample->ctx;
    double *diagonal = ny_calloc(ctx, NY_MEM_OTHER, sample->count, sizeof(double));
    float *residuals = ny_calloc(ctx, NY_MEM_OTHER, sample->count, sizeof(float));
    struct ny_columns *none = NULL;
    int err = diagonal && residuals ? ny_columns_new(&none, spec) : NY_EBUDGET;

    if (!err) err = ny_columns_diagonal(none, ny_raw_rows(sample->rows), sample->count, diagonal);
    if (!err) err = residuals_of(spec, landmarks, m, sample, residuals);
    if (!err) ny_drift_of_rows(residuals, diagonal, sample->count, drift);
    ny_columns_free(none);
    ny_free(ctx, diagonal);
    ny_free(ctx, residuals);
    return err;
}

int ny_drift_measure(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                     const struct ny_drift_sample *sample, struct ny_drift *drift)
{
    int err = NY_OK;

    drift->share = drift->error = NAN;
    if (!sample->count || !(landmarks.at || landmarks.list) ||
        spec->kernel->base == NY_BASE_COORDINATE)
        return NY_OK;
    err = measure(spec, landmarks, m < LANDMARKS_MAX ? m : LANDMARKS_MAX, sample, drift);
    if (err != NY_ENUMERIC && err != NY_EBUDGET) return err;
    ny_log(sample->ctx, NY_LOG_DETAIL, "the drift of the new rows is not measured: %s",
           ny_context_message(sample->ctx));
    ny_error_clear(sample->ctx); /* rows are placed without knowing it */
    return NY_OK;
}

/* Takes up to `most` of the first `rows` points, evenly spread, as a sample of rows of the model's
 * type and slots; none where they are of others. */
static int sample_points(const struct ny_model *model, struct ny_rows *X, uint64_t rows,
                         size_t most, struct ny_drift_sample *sample)
{
    const struct ny_columns_spec *spec = &model->spec;
    struct ny_rows_info points;
    uint64_t numbers[FITTED_MAX];
    int err = X->ops->info(X, &points);

    *sample = (struct ny_drift_sample){0};
    if (err || ny_dtype_common(points.dtype, spec->dtype) != spec->dtype ||
        (points.row_slots > 0) != (spec->slots > 0))
        return err;
    /* Fuller rows that have joined since lie behind those of the fit. A shard counts those of all,
     * so that its own may be fuller. */
    if (rows >= points.n && points.row_slots > spec->slots) return NY_OK;
    if (rows > points.n) rows = points.n;
    ny_drift_sample_begin(sample, model->ctx, ny_raw_bytes(spec), most);
    if (sample->rows) sample->count = rows < sample->room ? (size_t)rows : sample->room;
    for (size_t i = 0; i < sample->count; i++)
        numbers[i] = (uint64_t)((double)i * (double)rows / (double)sample->count);
    return sample->count ? ny_rows_gather_wide(X, spec->dtype, spec->slots, numbers, sample->count,
                                               sample->rows)
                         : NY_OK;
}

double ny_drift_of_others(double share, double landmarks, double rows)
{
    double left = landmarks < rows ? share * rows / (rows - landmarks) : NAN;

    return left > 1 ? 1 : left; /* they are taken to have their share of the trace */
}

int ny_drift_of_points(const struct ny_model *model, struct ny_rows *X, uint64_t rows, bool chosen,
                       double *share)
{
    size_t used = model->m < LANDMARKS_MAX ? model->m : LANDMARKS_MAX;
    struct ny_drift drift = ny_drift_unknown;
    struct ny_drift_sample sample;
    int err;

    *share = NAN;
    if (chosen && used >= rows) return NY_OK; /* no row tells what is left out of others */
    err = sample_points(model, X, rows, ny_drift_fitted_rows(ny_raw_bytes(&model->spec)), &sample);
    if (!err) err = ny_drift_measure(&model->spec, ny_model_rows(model), model->m, &sample, &drift);
    *share = chosen ? ny_drift_of_others(drift.share, (double)used, (double)rows) : drift.share;
    ny_drift_sample_release(&sample);
    return err;
}

/* ---- lengths ------------------------------------------------------------------------------ */

/* Returns the length that a share of the rows have at most; NaN where there is no room for them. */
static double length_of(const struct ny_columns_spec *spec, struct ny_raw_rows rows, size_t count,
                        double share)
{
    double *lengths = ny_alloc(spec->ctx, NY_MEM_OTHER, count * sizeof(*lengths)), found;

    if (!lengths) {
        ny_error_clear(spec->ctx);
        return NAN;
    }
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = {.count = spec->geometry->d,
                                .value = (const char *)rows.at + i * ny_raw_bytes(spec)};

        if (spec->slots) row = ny_sparse_row(spec, rows, i);
        lengths[i] = 0;
        for (size_t k = 0; k < row.count; k++) {
            double value = ny_dtype_at(spec->dtype, row.value, k);

            lengths[i] += value * value;
        }
    }
    qsort(lengths, count, sizeof(*lengths), ny_compare_doubles);
    found = sqrt(lengths[(size_t)(share * (double)(count - 1))]);
    ny_free(spec->ctx, lengths);
    return found;
}

/* Tells whether the kernel goes by the lengths of rows. */
static bool has_lengths(const struct ny_columns_spec *spec)
{
    return !spec->kernel->unit_rows && spec->kernel->base != NY_BASE_GIVEN;
}

double ny_drift_length(const struct ny_columns_spec *spec, const struct ny_drift_sample *sample)
{
    if (sample->count <= LENGTHS_LEAST || !has_lengths(spec)) return NAN;
    return length_of(spec, ny_raw_rows(sample->rows), sample->count, 0.5);
}

/* Compares with the points. */
static int shrunk_of_points(const struct ny_model *model, struct ny_rows *X, uint64_t rows,
                            double length, double *shrunk)
{
    struct ny_drift_sample sample;
    struct ny_rows_stats stats;
    int err = X->ops->stats(X, &stats);
    bool looks_short = !err && length < short_glance * stats.mean_norm;

    if (err) return err;
    ny_rows_stats_release(&stats, model->ctx);
    if (!looks_short) return NY_OK;
    err = sample_points(model, X, rows, LENGTHS_ROWS, &sample);
    if (!err && sample.count)
        *shrunk =
            length / length_of(&model->spec, ny_raw_rows(sample.rows), sample.count, short_share);
    ny_drift_sample_release(&sample);
    return err;
}

int ny_drift_shrunk(const struct ny_model *model, struct ny_rows *X, uint64_t rows, double length,
                    double *shrunk)
{
    struct ny_raw_rows landmarks = ny_model_rows(model);
    const struct ny_kernel *kernel = model->spec.kernel;

    *shrunk = NAN;
    if (isnan(length)) return NY_OK;
    if (X) return shrunk_of_points(model, X, rows, length, shrunk);
    if (kernel->constant_diagonal && model->m > LENGTHS_LEAST && (landmarks.at || landmarks.list))
        *shrunk = length / length_of(&model->spec, landmarks, model->m, short_share);
    return NY_OK;
}

bool ny_drift_is_short(const struct ny_drift *drift)
{
    return drift->shrunk < short_factor;
}

/* ---- the rule and its words ----------------------------------------------------------------- */

bool ny_drift_is_large(const struct ny_drift *drift)
{
    double sure = drift->share - drift_errors * drift->error, fitted = drift->fitted;
    double most = isnan(drift->error) ? drift->share : sure; /* of a row that is alone */
    bool alike = most <= drift_twice * fitted && 1 - most >= (1 - fitted) / drift_factor;

    return (most > drift_alone && !alike) || (sure > drift_least && sure > drift_factor * fitted);
}

void ny_drift_tell(struct ny_context *ctx, const char *from, const struct ny_drift *drift,
                   const char *cure)
{
    bool large = ny_drift_is_large(drift);
    char fitted[64] = ""; /* nothing to compare with */

    if (!isnan(drift->fitted) && large)
        ny_decimal_print(fitted, sizeof(fitted), " (%.3g %%)", 100 * drift->fitted);
    else if (!isnan(drift->fitted))
        ny_decimal_print(fitted, sizeof(fitted), ", and %.3g %% of that of the rows of the fit",
                         100 * drift->fitted);
    ny_log(ctx, large ? NY_LOG_WARNING : NY_LOG_NOTE,
           "drift: the landmarks leave out %.3g %% of the trace of %s%s%s%s%s", 100 * drift->share,
           from, large ? ", far more than of the rows of the fit" : "", fitted,
           large ? ": are they on the same scale, with the columns in the same order?" : "",
           large ? cure : "");
}

/* Warns of a scale that is smaller: 19 in 20 rows of the fit are longer by the factor 1/shrunk. */
static void warn_of_lengths(struct ny_context *ctx, const char *from, double shrunk)
{
    char share[48] = "0"; /* such rows are 0 */

    if (shrunk > 0) ny_decimal_print(share, sizeof(share), "1/%.4g", 1 / shrunk);
    ny_log(ctx, NY_LOG_WARNING,
           "half of the rows of %s have at most %s of the length that nearly all rows of the fit "
           "(19 in 20) have: are they on the same scale?",
           from, share);
}

bool ny_drift_is_wide(const struct ny_drift *drift)
{
    return drift->ratio - drift_errors * drift->ratio_error > drift_spread;
}

/* Warns of new rows that spread far more, in squares, than those of the fit. */
static void warn_of_spread(struct ny_context *ctx, const char *from, const struct ny_drift *drift,
                           const char *cure)
{
    ny_log(ctx, NY_LOG_WARNING,
           "drift: %s %s, in mean squares, %.3g times what %s the rows of the fit: are they on the "
           "same scale, with the columns in the same order?%s",
           drift->beside ? "the components leave out of" : "along the components is the spread of",
           from, drift->ratio, drift->beside ? "they leave out of" : "it is of", cure);
}

/* Shares are judged only where the spread is not known: if a few rows of the fit are far from all
 * others, and have most of its variance, rows like the others have other shares. */
static bool warn_of_components(struct ny_context *ctx, const char *from,
                               const struct ny_drift *drift, const char *cure)
{
    bool alone = isnan(drift->distance_others); /* it is one row */
    bool far = (alone ? drift->distance : drift->distance_others) > drift_factor;
    bool other = 1 - drift->share < (1 - drift->fitted) / drift_factor;
    bool large = drift->share > drift_least && drift->share > drift_factor * drift->fitted;

    if (far || (isnan(drift->ratio) && (other || large)))
        ny_log(ctx, NY_LOG_WARNING,
               "drift: %s: distances from the mean of the fit are %.3g times those of its own "
               "rows; the components leave out %.3g %% of the variance, and %.3g %% of that of its "
               "own rows: are they on the same scale, with the columns in the same order?%s",
               from, sqrt(drift->distance), 100 * drift->share, 100 * drift->fitted, cure);
    else if (ny_drift_is_wide(drift))
        warn_of_spread(ctx, from, drift, cure);
    else
        return false;
    return true;
}

void ny_drift_tell_components(struct ny_context *ctx, const char *from,
                              const struct ny_drift *drift, const char *cure)
{
    char spread[80] = "";

    if (isnan(drift->share) || warn_of_components(ctx, from, drift, cure)) return;
    if (!isnan(drift->ratio))
        ny_decimal_print(spread, sizeof(spread), "; their spread is %.3g times that of the latter",
                         drift->ratio);
    ny_log(ctx, NY_LOG_NOTE,
           "drift: the components leave out %.3g %% of the variance of %s, and %.3g %% of that of "
           "the rows of the fit%s",
           100 * drift->share, from, 100 * drift->fitted, spread);
}

void ny_drift_judge(struct ny_context *ctx, const char *from, const struct ny_drift *drift)
{
    if (ny_drift_is_short(drift)) {
        warn_of_lengths(ctx, from, drift->shrunk);
        return;
    }
    if (!isnan(drift->distance))
        ny_drift_tell_components(ctx, from, drift, "");
    else if (!isnan(drift->share))
        ny_drift_tell(ctx, from, drift, "");
}
