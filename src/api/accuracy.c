/*
 * Each attempt is a whole fit under the same NAME, whose check rows (fit/checks.h) tell the error ρ
 * of each component. The first attempt has as many landmarks as a sample of many rows foretells
 * (api/forecast.h), else few, and those that follow as many as the curve through those before does
 * (api/curve.h). So the attempts before the last one together take about as long as it does. A NAME
 * that is stopped goes on with the attempt under way; one that is done with an attempt that was not
 * enough goes on with the next.
 *
 * The record has "attempts": those before, with their landmarks and the largest ρ, and "attempt":
 * the landmarks of its own.
 */
#include "api/accuracy.h"

#include <math.h>

#include "api/announce.h"
#include "api/forecast.h"
#include "api/fit_store.h"
#include "records/fields.h"
#include "results/record.h"

size_t ny_accuracy_landmarks(const json_t *record)
{
    return (size_t)ny_field_count(record, "attempt", 0);
}

void ny_accuracy_set(struct ny_request *request)
{
    struct ny_fit_settings *fit = &request->settings.fit;
    uint64_t most = UINT64_MAX;

    ny_accuracy_take(fit, request->options);
    ny_options_size(request->options, "landmarks", &most);
    request->most = (size_t)most;
}

/* Returns the landmarks of the first attempt: those that a sample foretells, where it pays;
 * shards have none. A sample that cannot be fitted foretells none: the fit itself says what is
 * wrong. */
static int first_of(struct ny_request *request, uint64_t n, size_t *m)
{
    const struct ny_fit_settings *fit = &request->settings.fit;
    struct ny_curve curve = {0};
    int err;

    *m = ny_forecast_first(fit);
    if (!ny_forecast_pays(n) || ny_context_peers(request->ctx)) return NY_OK;
    err = ny_forecast(request->store, request->options, fit, &curve);
    if (curve.count) *m = ny_curve_foretold(&curve, fit->accuracy);
    if (err != NY_EBUDGET && !ny_is_final(err)) return err;
    ny_error_clear(request->ctx);
    return NY_OK;
}

static size_t at_most(size_t m, uint64_t most)
{
    return m < most ? m : (size_t)most;
}

int ny_accuracy_begin(struct ny_request *request)
{
    struct ny_fit_settings *fit = &request->settings.fit;
    size_t m = ny_accuracy_landmarks(request->record);
    struct ny_rows_info points;
    int err;

    if (!(fit->accuracy > 0)) return NY_OK;
    err = ny_points_info(request->store, &points);
    if (err) return err;
    request->most = at_most(request->most, points.n);
    if (!m) err = first_of(request, points.n, &m);
    fit->landmarks = at_most(m, request->most);
    return err;
}

void ny_accuracy_note(const struct ny_request *request, json_t *record)
{
    if (!(request->settings.fit.accuracy > 0)) return;
    ny_field_set_count(record, "attempt", request->settings.fit.landmarks);
    if (request->attempts) ny_field_set_json(record, "attempts", json_incref(request->attempts));
}

/* Returns the attempts of the record, and the one that it is of. */
static struct ny_curve curve_of(const struct ny_request *request)
{
    const json_t *record = request->record;
    const json_t *attempts = json_object_get(record, "attempts");
    const json_t *report = json_object_get(record, "report");
    struct ny_curve curve = {0};

    for (size_t i = 0; i < json_array_size(attempts); i++)
        ny_curve_add(&curve, ny_field_number(json_array_get(attempts, i), "landmarks", 1),
                     ny_field_number(json_array_get(attempts, i), "error", 1));
    ny_curve_add(&curve, ny_field_number(report, "landmarks", 1),
                 ny_error_of(report, &request->settings.fit));
    return curve;
}

/* Returns the landmarks of the attempt that follows; 0: the result stays, which is right, or there
 * are no more landmarks. */
static size_t next_of(const struct ny_request *request)
{
    const json_t *report = json_object_get(request->record, "report");
    const struct ny_fit_settings *fit = &request->settings.fit;
    size_t m = (size_t)ny_field_count(report, "landmarks", 0), next;
    struct ny_curve curve;

    if (isnan(ny_error_of(report, fit)) || m < fit->landmarks) return 0;
    curve = curve_of(request);
    next = at_most(ny_curve_next(&curve, fit->accuracy), request->most);
    return next == m ? 0 : next;
}

/* Adds the result to the attempts before. */
static void add_attempt(struct ny_request *request)
{
    const json_t *report = json_object_get(request->record, "report");
    json_t *attempt = json_object();

    json_decref(request->attempts);
    request->attempts = json_deep_copy(json_object_get(request->record, "attempts"));
    if (!request->attempts) request->attempts = json_array();
    ny_field_set_count(attempt, "landmarks", ny_field_count(report, "landmarks", 0));
    ny_field_set_number(attempt, "error", ny_error_of(report, &request->settings.fit));
    ny_field_append(request->attempts, attempt);
}

bool ny_accuracy_settled(const struct ny_request *request)
{
    return !(request->settings.fit.accuracy > 0) || next_of(request) == 0;
}

static const char *option_of(const struct ny_request *request)
{
    return request->settings.fit.of_trace ? "trace-error" : "accuracy";
}

bool ny_accuracy_again(struct ny_request *request)
{
    const json_t *report = json_object_get(request->record, "report");
    double accuracy = request->settings.fit.accuracy,
           worst = ny_error_of(report, &request->settings.fit);
    uint64_t m = ny_field_count(report, "landmarks", 0);
    size_t next = accuracy > 0 ? next_of(request) : 0;

    if (accuracy > 0 && !next && !(worst <= accuracy))
        ny_log(request->ctx, NY_LOG_WARNING,
               "--%s %g is not reached with %llu landmarks, and there are no more: %.2g is",
               option_of(request), accuracy, (unsigned long long)m, worst);
    if (!next) return false;
    add_attempt(request);
    request->settings.fit.landmarks = next;
    ny_log(request->ctx, NY_LOG_NOTE, "%llu landmarks: %s %.2g %%; next, %zu",
           (unsigned long long)m,
           request->settings.fit.of_trace ? "trace error" : "components are right to", 100 * worst,
           next);
    return true;
}

bool ny_accuracy_less(struct ny_request *request, const json_t *before)
{
    size_t m = (size_t)ny_field_count(json_object_get(before, "report"), "landmarks", 0);
    size_t *landmarks = &request->settings.fit.landmarks;
    const double worth = 1.1;

    *landmarks = (m + *landmarks) / 2;
    if ((double)*landmarks >= worth * (double)m) {
        ny_error_clear(request->ctx);
        return true;
    }
    ny_log(request->ctx, NY_LOG_WARNING, "--%s %g is not reached: %s", option_of(request),
           request->settings.fit.accuracy, ny_context_error(request->ctx)->message);
    ny_error_clear(request->ctx);
    return false;
}

/* Adds a row of the table: what a fit that is right to this takes. */
static void add_price(json_t *table, double accuracy, const struct ny_plan *plan)
{
    json_t *row = json_object();

    ny_field_set_number(row, "accuracy", accuracy);
    ny_field_set_count(row, "landmarks", plan->m);
    ny_field_set_number(row, "seconds", plan->seconds);
    ny_field_set_count(row, "memory_min_bytes", plan->memory_min_bytes);
    ny_field_append(table, row);
}

int ny_accuracy_plan(struct ny_store *store, const struct ny_options *options,
                     struct ny_fit_settings *fit, json_t **table)
{
    struct ny_fit_settings with = *fit;
    struct ny_rows_info points;
    struct ny_curve curve = {0};
    struct ny_plan plan;
    uint64_t most;
    int err = ny_points_info(store, &points);

    *table = json_array();
    if (ny_context_peers(ny_store_context(store)))
        return ny_fail_idle(ny_store_context(store), "accuracy", "a plan of shards");
    if (!err) err = ny_forecast(store, options, fit, &curve);
    if (err) return err;
    most = points.n;
    ny_options_size(options, "landmarks", &most);
    fit->landmarks = at_most(ny_forecast_first(fit), most); /* too few rows foretell nothing */
    if (curve.count) fit->landmarks = at_most(ny_curve_foretold(&curve, fit->accuracy), most);
    for (double times = 2; !err && curve.count && times >= 0.5; times /= 2) {
        with.accuracy = times * fit->accuracy;
        with.landmarks = at_most(ny_curve_foretold(&curve, with.accuracy), most);
        err = ny_store_fit_plan(store, &with, 0, &plan);
        if (!err) add_price(*table, with.accuracy, &plan);
    }
    if (err) return err;
    ny_plan_exact(store, options, "accuracy|trace-error|landmarks", &plan);
    if (plan.m) add_price(*table, 0, &plan);
    return NY_OK;
}
