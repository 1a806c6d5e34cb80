/*
 * The calls that plan and fit: ny_plan, ny_gamma_grid, ny_fit, ny_select and ny_calibrate;
 * and ny_resume, which goes on with a job of any kind.
 *
 * A fit and a selection of landmarks are two kinds of request (api/request.h). The functions of a
 * kind say how its options become settings, which files they name, what a new record holds, and
 * what is run; api/request.c does the rest. A plan and a grid of widths leave nothing in the store.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/accuracy.h"
#include "api/announce.h"
#include "api/fit.h"
#include "api/fit_store.h"
#include "api/forecast.h"
#include "api/call.h"
#include "api/placed.h"
#include "api/report.h"
#include "api/request.h"
#include "api/settings.h"
#include "api/sharded.h"
#include "base/decimal.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "fit/gamma_grid.h"
#include "fit/shards.h"
#include "spectral/methods.h"
#include "fit/plan.h"
#include "update/courses.h"
#include "io/identity.h"
#include "shards/open.h"
#include "store/format.h"
#include "records/plan.h"
#include "records/begin.h"

/* Reads a whole number, which may be written as 1e7. */
static bool read_count(const char *word, uint64_t *count)
{
    const double most = 9e15; /* below it doubles are whole */
    double value;

    if (!ny_decimal_whole(word, &value) || !(value >= 1 && value <= most) || value != floor(value))
        return false;
    *count = (uint64_t)value;
    return true;
}

/* Takes the words of a shape; false where they make none, or one that no store can hold. */
static bool read_words(char *text, struct ny_points_shape *shape)
{
    uint64_t counts[3] = {0};
    size_t count = 0;
    bool typed = false;
    double cells;
    char *rest;

    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (!typed && count < 3 && read_count(word, &counts[count])) {
            count++;
            continue;
        }
        shape->dtype = ny_dtype_parse(word);
        if (typed || !shape->dtype) return false;
        typed = true;
    }
    shape->rows = counts[0];
    shape->columns = counts[1];
    shape->values = counts[2];
    cells = (double)shape->rows * (double)shape->columns;
    return count >= 2 && shape->rows <= NY_ROWS_MAX && shape->columns <= NY_STORE_COLUMNS_MAX &&
           cells <= 1e18 && (double)shape->values <= cells;
}

/* Reads points that are not imported yet (--shape), "ROWS,COLUMNS[,VALUES][,TYPE]": the values of
 * sparse rows that are not 0, and the type of an element, f32 where it is not said. NY_EUSAGE where
 * it is none, or too large for a store. */
static int read_shape(struct ny_context *ctx, const char *text, struct ny_points_shape *shape)
{
    char words[128];
    int length = snprintf(words, sizeof(words), "%s", text);

    *shape = (struct ny_points_shape){.dtype = NY_F32};
    if (length < (int)sizeof(words) && read_words(words, shape)) return NY_OK;
    return ny_fail_value(
        ctx, "shape", "ROWS,COLUMNS[,VALUES][,u8|i16|f32|f64] of a store, as in 1e7,784,u8", text);
}

/* Opens what a plan is of: a store, or points that are not imported yet. */
static int open_planned(struct ny_store **store, struct ny_context *context, const char *path,
                        const struct ny_options *options)
{
    const char *text = ny_options_get(options, "shape");
    struct ny_points_shape shape;
    char name[160];
    int err;

    if (text && path) return ny_fail_idle(context, "shape", path);
    if (text) {
        snprintf(name, sizeof(name), "--shape %s", text);
        err = read_shape(context, text, &shape);
        return err ? err : ny_store_of_shape(store, context, name, &shape);
    }
    if (!path)
        return ny_fail(context, NY_EUSAGE,
                       "name a STORE to plan for, or give --shape ROWS,COLUMNS");
    return ny_shards_open(store, context, path, NULL, NY_SHARDS_STEADY);
}

/* Tells what a plan could not read: the rows of a shape. */
static int need_points(struct ny_context *context, const struct ny_store *store, int err)
{
    if (err != NY_END) return err;
    return ny_fail(context, NY_EUSAGE,
                   "this needs the points, but %s gives only their shape: import them first",
                   ny_store_path(store));
}

/* Warns of components that no fit of these columns can find, as the fit itself does at its end. */
static void warn_components(struct ny_context *context, const struct ny_fit_settings *fit)
{
    bool of_columns = fit->kernel && (ny_settings_unit_landmarks(fit) || ny_settings_features(fit));

    if (of_columns && ny_settings_pairs(fit) > fit->landmarks)
        ny_log(context, NY_LOG_WARNING, "only %zu components exist: the others will be zero",
               fit->landmarks);
}

/* Plans a fit of one store, of a shard with its peers, or of a shape. */
static int plan_store(struct ny_context *context, const char *path,
                      const struct ny_options *options, json_t **json)
{
    struct ny_store *store = NULL;
    struct ny_owned_settings settings = {0};
    struct ny_rows_info points;
    struct ny_plan plan;
    json_t *accuracies = NULL;
    int err;

    ny_fields_begin();
    ny_blas_borrow();
    ny_plan_lend(context);
    err = open_planned(&store, context, path, options);
    if (!err) ny_context_set_kept(context, path ? ny_store_kept(store) : NY_KEPT_IN_STORE);
    if (!err) err = ny_store_join(store);
    if (err) goto done;
    err = ny_settings_new(&settings, store, options, NY_GROUP_FIT | NY_GROUP_PLAN, NULL);
    if (!err) err = ny_shards_check(ny_store_context(store), &settings.fit);
    if (err) goto done;
    warn_components(context, &settings.fit);
    settings.fit.patient = true;
    ny_accuracy_take(&settings.fit, options);
    if (settings.fit.accuracy > 0)
        err = ny_accuracy_plan(store, options, &settings.fit, &accuracies);
    if (!err) err = ny_store_fit_plan(store, &settings.fit, 0, &plan);
    if (!err) *json = ny_plan_json(&plan);
    if (!err && accuracies) ny_field_set_json(*json, "accuracies", json_incref(accuracies));
    if (!err && !path) err = ny_points_info(store, &points);
    if (!err && !path) ny_field_set_count(*json, "store_bytes", ny_points_raw_bytes(&points));
done:
    err = need_points(context, store, err);
    json_decref(accuracies);
    ny_settings_release(&settings, context);
    ny_store_close(store);
    ny_memory_lend(context, 0);
    ny_memory_set_aside(context, 0);
    ny_context_set_kept(context, NY_KEPT_IN_STORE);
    ny_blas_return();
    return err;
}

int ny_plan(struct ny_context *context, const char *path, const struct ny_options *options,
            struct ny_report **report)
{
    struct ny_request_call call = {.path = path, .kind = &ny_request_fit};
    struct ny_options none;
    json_t *json = NULL;
    double limit_s;
    bool whole = true;
    int err = ny_given(context, __func__, "", NULL, 0);

    if (report) *report = NULL;
    if (err) return err;
    call.options = options = ny_options_given(options, context, &none);
    if (path && ny_shards_at(path)) err = ny_request_is_whole(context, &call, &whole);
    if (err) return err;
    err = path && !whole ? ny_sharded_plan(plan_store, context, path, options, &json)
                         : plan_store(context, path, options, &json);
    if (!err && ny_options_seconds(options, "time-limit", &limit_s)) {
        ny_field_set_number(json, "time_limit", limit_s);
        ny_field_set_json(json, "within_time_limit",
                          json_boolean(ny_field_number(json, "seconds", 0) <= limit_s));
    }
    return err ? err : ny_report_of_json(report, context, json);
}

int ny_gamma_grid(struct ny_context *context, const char *path, const struct ny_options *options,
                  struct ny_report **report)
{
    const char *widths;
    struct ny_store *store = NULL;
    struct ny_owned_settings settings = {0};
    struct ny_gamma_grid grid;
    struct ny_rows_info points;
    struct ny_options none;
    int err = ny_given(context, __func__, "", NULL, 0);

    if (report) *report = NULL;
    if (err) return err;
    options = ny_options_given(options, context, &none);
    widths = ny_options_get(options, "gamma-grid");
    err = ny_call_begin(context);
    if (err) return err;
    err = open_planned(&store, context, path, options);
    if (err) goto done;
    err = ny_settings_new(&settings, store, options, NY_GROUP_FIT | NY_GROUP_PLAN, NULL);
    if (err) goto done;
    if (settings.fit.map->graph || !settings.fit.kernel->auto_gamma) {
        err = settings.fit.map->graph
                  ? ny_fail_idle(context, "gamma-grid", settings.fit.map->name)
                  : ny_fail_idle(context, "gamma-grid", ny_kernel_shown(settings.fit.kernel));
        goto done;
    }
    err = ny_points_info(store, &points);
    if (err == NY_OK)
        err = ny_gamma_grid_make(ny_store_rows(store), &settings.fit, widths ? widths : "auto",
                                 &grid);
    if (err) goto done;
    err = ny_report_of_json(report, context, ny_gamma_grid_json(&grid, &settings.fit, &points));
done:
    err = need_points(context, store, err);
    ny_settings_release(&settings, context);
    ny_store_close(store);
    ny_call_end(context);
    return err;
}

/* ---- the kinds ----------------------------------------------------------------------------- */

/* Tells whether coordinates can go to the caller's memory alone, or be left out: nobody opens a
 * store in memory once more, no later stage reads them, and they need not be as right as an option
 * says. */
static bool leaves_rows(const struct ny_request *request)
{
    const struct ny_fit_settings *fit = &request->settings.fit;
    const struct ny_row_room *room = request->kind->room;
    int dtype = fit->precision == NY_PRECISION_F64 ? NY_F64 : NY_F32;

    return room && (room->rows ? room->dtype == dtype : !(fit->accuracy > 0)) &&
           ny_context_kept(request->ctx) != NY_KEPT_IN_STORE && !fit->map->graph && !fit->probes &&
           !ny_context_peers(request->ctx);
}

/* Takes the settings from the options. Room for coordinates comes with the kind, because no option
 * says so. */
static int take_settings(struct ny_request *request)
{
    const struct ny_own_landmarks own = {
        .name = request->name, .record = request->record, .again = request->again != NULL};
    bool placed = ny_options_is_set(request->options, "model");
    int err = placed ? ny_placed_options(request) : ny_placed_check(request);

    if (err) return err;
    err = ny_settings_new(&request->settings, request->store, request->options,
                          request->kind->groups, request->stored ? &own : NULL);

    if (!err) err = ny_shards_check(request->ctx, &request->settings.fit);
    if (!err) ny_accuracy_set(request);
    if (!err && leaves_rows(request)) request->settings.fit.room = request->kind->room;
    request->settings.fit.placed =
        placed || json_is_true(json_object_get(request->record, "placed"));
    return err;
}

/* Returns the way in which `exact` finds the eigenpairs of K; NULL: another method does. */
static const char *way_of(const struct ny_fit_settings *fit)
{
    if (!fit->method || !ny_method_by_features(ny_method_find(fit->method->name))) return NULL;
    if (ny_settings_features(fit)) return "krylov";
    return ny_settings_unit_landmarks(fit) ? "scatter" : "kernel";
}

/* Puts the settings of a kernel into the report. */
static void put_kernel(json_t *report, const struct ny_fit_settings *fit, bool embeds)
{
    if ((!embeds || ny_settings_selects(fit)) && !fit->placed)
        ny_field_set_text(report, "select", fit->rule->name);
    if (embeds && way_of(fit) && !fit->placed) ny_field_set_text(report, "way", way_of(fit));
    ny_field_set_text(report, "kernel", ny_kernel_shown(fit->kernel));
}

/* Puts those of the graph that the fit makes; the facts of a stored graph replace them later. */
static void put_graph(json_t *report, const struct ny_fit_settings *fit)
{
    json_t *graph = json_object();

    ny_record_begin_graph(graph, &fit->graph);
    ny_field_set_json(graph, "name", json_null());
    ny_field_set_json(report, "graph", graph);
    if (fit->method) ny_field_set_text(report, "select", fit->rule->name);
    if (!fit->map->kernel) return;
    ny_field_set_text(report, "kernel", fit->kernel->name);
    ny_field_set_text(report, "edge_weights",
                      fit->edge_weights == NY_EDGES_BINARY ? "binary" : "heat");
}

/* Makes the record, with the keys of the report that do not wait for a stage. */
static json_t *record_of(const struct ny_request *request, const struct ny_rows_info *points,
                         json_t *options)
{
    json_t *record = ny_record_new(points, options, request->kind->name);
    json_t *report = json_object_get(record, "report");
    const struct ny_fit_settings *fit = &request->settings.fit;
    bool embeds = (request->kind->groups & NY_GROUP_FIT) != 0;

    if (fit->map->graph)
        put_graph(report, fit);
    else
        put_kernel(report, fit, embeds);
    ny_field_set_text(report, "features", ny_options_get(request->options, "features"));
    ny_field_set_count(report, "seed", fit->seed);
    ny_field_set_count(report, "threads", fit->threads);
    if (!embeds) return record;
    ny_field_set_text(report, "map", fit->map->name);
    if (fit->method && !fit->placed) ny_field_set_text(report, "approx", fit->method->name);
    ny_field_set_text(report, "precision", fit->precision == NY_PRECISION_F64 ? "f64" : "f32");
    ny_field_set_json(report, "online", json_boolean(fit->online));
    if (fit->placed) ny_field_set_json(record, "placed", json_true());
    ny_accuracy_note(request, record);
    ny_field_set_count(report, "components", fit->components);
    return record;
}

/* Describes the files that the options only name: digests of the landmarks and of the columns that
 * count, and one of pieces of the columns of C, which may be as large as the points. */
static int inputs_of(const struct ny_request *request, json_t **out)
{
    const struct ny_fit_settings *fit = &request->settings.fit;
    json_t *inputs = json_object();
    uint64_t digest = ny_landmarks_digest(&request->settings.given);
    int err = NY_OK;

    if (digest) ny_request_set_digest(inputs, "landmarks", digest);
    if (request->model) {
        err = ny_placed_digest(request, &digest);
        ny_request_set_digest(inputs, "model", digest);
    }
    digest = ny_given_choice_digest(&request->settings.given_choice);
    if (digest) ny_request_set_digest(inputs, "features", digest);
    if (!err && fit->columns) {
        err = ny_file_identity(request->ctx, fit->columns->name, &digest);
        ny_request_set_digest(inputs, "columns", digest);
    }
    *out = inputs;
    return err;
}

static int keep(struct ny_request *request)
{
    int err = ny_given_choice_keep(&request->settings.given_choice, request->store, request->name,
                                   request->record);

    if (!err)
        err = ny_landmarks_keep(&request->settings.given, request->store, request->name,
                                request->record);
    return err || !request->settings.fit.placed ? err : ny_placed_keep(request);
}

/* Says what the fit will cost; refuses what does not fit before anything is written. */
static int announce(struct ny_request *request)
{
    const struct ny_state state = ny_state_of(ny_record_of(request->record));
    int err;

    request->settings.fit.graph.n = ny_job_rows(&state, 0);
    err = ny_store_fit_plan(request->store, &request->settings.fit, ny_state_landmarks(&state),
                            &request->plan);
    if (!err)
        err =
            ny_plan_announce(request->store, request->name, &request->plan, &request->settings.fit);
    return err ? err
               : ny_plan_check_time(request->options, &request->plan, request->record, "this fit");
}

/* Plans the memory of the selection, without a word of it; refuses one that does not fit. */
static int announce_selection(struct ny_request *request)
{
    const json_t *report = json_object_get(request->record, "report");
    int err = ny_select_plan(ny_store_rows(request->store), &request->settings.fit,
                             (size_t)ny_field_count(report, "landmarks", 0), &request->plan);

    if (err || request->plan.fits) return err;
    return ny_plan_refuse(request->ctx, "selection", &request->plan, ", or fewer landmarks");
}

/* Runs the stages. */
static int run(struct ny_request *request)
{
    return ny_store_fit_start(request->store, request->name, &request->settings.fit,
                              request->record, &request->plan);
}

const struct ny_request_kind ny_request_fit = {.name = "fit",
                                               .function = "ny_fit",
                                               .groups = NY_GROUP_FIT,
                                               .settings = take_settings,
                                               .inputs = inputs_of,
                                               .record = record_of,
                                               .announce = announce,
                                               .keep = keep,
                                               .run = run,
                                               .updates = true};

const struct ny_request_kind ny_request_select = {.name = "dictionary",
                                                  .function = "ny_select",
                                                  .groups = NY_GROUP_SELECT,
                                                  .settings = take_settings,
                                                  .inputs = inputs_of,
                                                  .record = record_of,
                                                  .announce = announce_selection,
                                                  .keep = keep,
                                                  .run = run};

int ny_fit_room(struct ny_context *context, const char *path, const char *name,
                const struct ny_options *options, struct ny_row_room *room,
                struct ny_report **report)
{
    struct ny_request_kind kind = ny_request_fit;
    const struct ny_request_call call = {path, name, options, &kind, NULL};

    kind.room = room;
    return ny_request_run(context, &call, report);
}

int ny_fit(struct ny_context *context, const char *path, const char *name,
           const struct ny_options *options, struct ny_report **report)
{
    const struct ny_request_call call = {path, name, options, &ny_request_fit, NULL};

    return ny_request_any(context, &call, report);
}

int ny_select(struct ny_context *context, const char *path, const char *name,
              const struct ny_options *options, struct ny_report **report)
{
    const struct ny_request_call call = {path, name, options, &ny_request_select, NULL};

    return ny_request_any(context, &call, report);
}

int ny_resume(struct ny_context *context, const char *path, const char *name,
              struct ny_report **report)
{
    static const struct ny_request_kind *const kinds[] = {&ny_request_fit, &ny_request_select,
                                                          &ny_request_graph, NULL};
    const struct ny_request_call call = {.path = path, .name = name, .kinds = kinds};

    return ny_request_any(context, &call, report);
}

int ny_calibrate(struct ny_context *context, struct ny_report **report)
{
    struct ny_calibration calibration;
    int err = ny_given(context, __func__, "", NULL, 0);

    if (report) *report = NULL;
    if (err) return err;
    err = ny_call_begin(context);
    if (err) return err;
    err = ny_calibration_measure(context, &calibration);
    ny_call_end(context);
    return err ? err : ny_report_of_json(report, context, ny_calibration_json(&calibration));
}
