/* A forecast by fits of a sample in memory (api/forecast.h). */
#include "api/forecast.h"

#include <math.h>

#include "api/call.h"
#include "api/fit_store.h"
#include "api/settings.h"
#include "base/budget.h"
#include "base/memory.h"
#include "records/fields.h"
#include "job/record.h"
#include "stream/rows_sample.h"
#include "records/begin.h"

/* Rows of a sample, and at least so many of them for each landmark: with fewer, the landmarks
 * themselves, whose rows are exact, would count too much. */
enum { SAMPLE_ROWS = 16384, ROWS_OF_LANDMARK = 4 };
static const size_t first_landmarks = 48, check_rows = 256;

void ny_accuracy_take(struct ny_fit_settings *fit, const struct ny_options *options)
{
    if (ny_options_number(options, "accuracy", &fit->accuracy)) return;
    fit->of_trace = ny_options_number(options, "trace-error", &fit->accuracy);
}

double ny_error_of(const json_t *report, const struct ny_fit_settings *fit)
{
    const json_t *errors = json_object_get(report, "component_errors");
    double worst = NAN;

    if (fit->of_trace) return ny_field_number(report, "trace_error", NAN);
    for (size_t k = (size_t)ny_field_count(report, "eigenvalues_trivial", 0);
         k < json_array_size(errors); k++)
        if (json_is_number(json_array_get(errors, k)))
            worst = fmax(worst, json_number_value(json_array_get(errors, k)));
    return worst;
}

size_t ny_forecast_first(const struct ny_fit_settings *fit)
{
    size_t least = 4 * ny_settings_pairs(fit);

    return first_landmarks > least ? first_landmarks : least;
}

bool ny_forecast_pays(uint64_t n)
{
    return n >= 2 * SAMPLE_ROWS;
}

static void free_sample(void *sample)
{
    ny_row_sample_free(sample);
}

/* Makes a store in memory of a sample, which takes an eighth of the budget at most. */
static int take_sample(struct ny_store **out, struct ny_store *store,
                       const struct ny_rows_info *points, uint64_t seed)
{
    struct ny_context *ctx = ny_store_context(store);
    const size_t part = 8, row_bytes = ny_rows_row_bytes(points);
    uint64_t most = ny_memory_left(ctx) / part / row_bytes, least = 4 * first_landmarks;
    struct ny_row_sample *sample;
    int err = ny_budget_need(ctx, "a sample of the rows",
                             part * (points->n < least ? (size_t)points->n : least) * row_bytes);

    if (!err)
        err = ny_row_sample_take(&sample, ny_store_rows(store),
                                 most < SAMPLE_ROWS ? most : SAMPLE_ROWS, seed);
    if (err) return err;
    return ny_store_of_rows(out, ctx, ny_store_path(store),
                            &(struct ny_given_rows){.X = ny_row_sample_rows(sample),
                                                    .free = free_sample,
                                                    .arg = sample});
}

/* Fits the sample with so many landmarks. */
static int attempt(struct ny_store *sample, const struct ny_options *options,
                   const struct ny_fit_settings *fit, size_t m, double *error)
{
    struct ny_context *ctx = ny_store_context(sample);
    struct ny_owned_settings settings = {0};
    struct ny_rows_info points;
    struct ny_plan plan;
    json_t *record = NULL;
    int err = ny_settings_new(&settings, sample, options, NY_GROUP_FIT, NULL);

    if (!err) err = ny_points_info(sample, &points);
    if (err) goto done;
    settings.fit.landmarks = m;
    settings.fit.check_rows = check_rows;
    err = ny_store_fit_plan(sample, &settings.fit, 0, &plan);
    if (!err && !plan.fits) err = NY_EBUDGET;
    if (err) goto done;
    record = ny_record_new(&points, json_object(), "fit");
    err = ny_store_fit_start(sample, "sample", &settings.fit, record, &plan);
    *error = ny_error_of(json_object_get(record, "report"), fit);
done:
    json_decref(record);
    ny_settings_release(&settings, ctx);
    return err;
}

static bool is_known(const struct ny_curve *curve, size_t m)
{
    bool known = false;

    for (size_t i = 0; i < curve->count; i++)
        known = known || curve->at[i].m == (double)m;
    return known;
}

/* Makes attempts at the sample, as a fit would. The rows of landmarks are exact, which are a
 * smaller part of all rows; the errors of components are roots of sums over the others. */
static int try_sample(struct ny_store *sample, const struct ny_options *options,
                      const struct ny_fit_settings *fit, double n, struct ny_curve *curve)
{
    struct ny_rows_info points;
    size_t m = ny_forecast_first(fit), most;
    int err = ny_points_info(sample, &points);

    if (err) return err;
    most = (size_t)points.n / ((double)points.n < n ? ROWS_OF_LANDMARK : 2);
    while (!err && m <= most && !is_known(curve, m)) {
        double error, others;

        err = attempt(sample, options, fit, m, &error);
        if (err || !isfinite(error)) break;
        others = (1 - (double)m / n) / (1 - (double)m / (double)points.n);
        error *= fit->of_trace ? others : sqrt(others);
        ny_curve_add(curve, (double)m, error);
        m = ny_curve_next(curve, fit->accuracy);
    }
    return err;
}

int ny_forecast(struct ny_store *store, const struct ny_options *options,
                const struct ny_fit_settings *fit, struct ny_curve *curve)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_store *sample = NULL;
    struct ny_rows_info points;
    int err = ny_call_begin(ctx);

    if (err) return err;
    err = ny_points_info(store, &points);
    ny_context_set_silent(ctx, true); /* the fit of all rows tells the same */
    if (!err) err = take_sample(&sample, store, &points, fit->seed);
    if (!err) err = try_sample(sample, options, fit, (double)points.n, curve);
    ny_context_set_silent(ctx, false);
    ny_store_close(sample);
    ny_call_end(ctx);
    if (err != NY_EBUDGET || !curve->count) return err;
    ny_error_clear(ctx); /* there is no room for more landmarks */
    return NY_OK;
}
