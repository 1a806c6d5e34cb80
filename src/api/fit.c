/* ny_plan, ny_gamma_grid, ny_fit, ny_select. */
#include <stdio.h>
#include <string.h>

#include "api/fit.h"
#include "api/inspect.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/checksum.h"
#include "base/memory.h"
#include "embed/gamma_grid.h"
#include "embed/plan.h"
#include "io/identity.h"

struct request {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    const struct ny_options *options;
    unsigned groups; /* NY_GROUP_FIT or NY_GROUP_SELECT */
    struct ny_owned_settings settings;
    json_t *record;
};

int ny_plan(struct ny_context *context, const char *path, const struct ny_options *options,
            struct ny_report **report)
{
    struct ny_store *store = NULL;
    struct ny_owned_settings settings = {0};
    struct ny_plan plan;
    int err;

    *report = NULL;
    ny_error_clear(context);
    ny_fields_begin();
    err = ny_store_open(&store, context, path);
    if (err) goto done;
    err = ny_settings_new(&settings, store, options, NY_GROUP_FIT, NULL);
    if (err) goto done;
    err = ny_plan_make(store, &settings.fit, 0, &plan);
    if (err) goto done;
    err = ny_report_of_json(report, context, ny_plan_json(&plan));
done:
    ny_settings_release(&settings, context);
    ny_store_close(store);
    return err;
}

int ny_gamma_grid(struct ny_context *context, const char *path, const struct ny_options *options,
                  struct ny_report **report)
{
    const char *widths = ny_options_text(options, "gamma-grid");
    struct ny_store *store = NULL;
    struct ny_owned_settings settings = {0};
    struct ny_gamma_grid grid;
    struct ny_points_info points;
    int err;

    *report = NULL;
    ny_error_clear(context);
    ny_fields_begin();
    err = ny_reserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) return err;
    err = ny_store_open(&store, context, path);
    if (err) goto done;
    err = ny_settings_new(&settings, store, options, NY_GROUP_FIT | NY_GROUP_PLAN, NULL);
    if (err) goto done;
    if (!settings.fit.kernel->has_gamma) {
        err = ny_fail(context, NY_EUSAGE, "--gamma-grid does not act on the %s kernel",
                      settings.fit.kernel->name);
        goto done;
    }
    err = ny_points_info(store, &points);
    if (err == NY_OK)
        err = ny_gamma_grid_make(store, &settings.fit, widths ? widths : "auto", &grid);
    if (err) goto done;
    err = ny_report_of_json(report, context, ny_gamma_grid_json(&grid, &settings.fit, &points));
done:
    ny_settings_release(&settings, context);
    ny_store_close(store);
    ny_unreserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}

/* What was asked for, into the report: the keys that do not wait for a stage. */
static void describe(struct request *request)
{
    json_t *report = json_object_get(request->record, "report");
    const struct ny_fit_settings *fit = &request->settings.fit;

    if (!(request->groups & NY_GROUP_FIT) ||
        (!fit->method->whole && !fit->method->coordinates))
        ny_field_set_text(report, "select", fit->rule->name);
    ny_field_set_text(report, "kernel",
                      fit->kernel->base == NY_BASE_COORDINATE ? "linear" : fit->kernel->name);
    ny_field_set_count(report, "seed", fit->seed);
    ny_field_set_count(report, "threads", fit->threads);
    if (!(request->groups & NY_GROUP_FIT)) return;
    ny_field_set_text(report, "map", fit->map->name);
    ny_field_set_text(report, "approx", fit->method->name);
    ny_field_set_text(report, "precision", fit->precision == NY_PRECISION_F64 ? "f64" : "f32");
    ny_field_set_count(report, "components", fit->components);
}

static void set_digest(json_t *inputs, const char *key, uint64_t digest)
{
    char text[20];

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)digest);
    ny_field_set_text(inputs, key, text);
}

/* What the files hold that the options only name: a digest of the landmarks, and one of pieces of
 * the columns, which may be as large as the points. */
static int inputs_of(const struct request *request, json_t **out)
{
    const struct ny_fit_settings *fit = &request->settings.fit;
    json_t *inputs = json_object();
    uint64_t digest;
    int err = NY_OK;

    if (fit->given)
        set_digest(inputs, "landmarks",
                   ny_checksum(fit->given, fit->landmarks * sizeof(uint64_t)));
    if (fit->columns_file) {
        err = ny_file_identity(request->ctx, fit->columns_file, &digest);
        set_digest(inputs, "columns", digest);
    }
    *out = inputs;
    return err;
}

/* The same options do not make the same job where a file has changed since. */
static int check_inputs(const struct request *request)
{
    json_t *inputs, *stored = json_object_get(request->record, "inputs");
    const char *key, *then;
    json_t *now;
    int err = inputs_of(request, &inputs);

    if (err) goto done;
    json_object_foreach(inputs, key, now)
    {
        then = ny_field_text(stored, key);
        if (!then || strcmp(then, json_string_value(now)) == 0) continue;
        err = ny_fail(request->ctx, NY_EUSAGE,
                      "'%s' was made with other %s: what --%s names has changed since; give "
                      "--restart to replace it, or another name",
                      request->name, key,
                      strcmp(key, "columns") == 0 ? "columns-file"
                      : ny_options_is_set(request->options, "landmarks-file") ? "landmarks-file"
                                                                              : "landmarks-from");
        break;
    }
done:
    json_decref(inputs);
    return err;
}

/* NAME exists: it is resumed when it was made with the same options, else refused. */
static int check_existing(const struct request *request)
{
    char *difference = ny_options_differences(request->options, request->groups,
                                              json_object_get(request->record, "options"));
    int err = NY_OK;

    if (!difference) return NY_EBUDGET;
    if (difference[0])
        err = ny_fail(request->ctx, NY_EUSAGE,
                      "'%s' exists with other options (%s); give --restart "
                      "to replace it, or another name",
                      request->name, difference);
    ny_free(request->ctx, difference);
    return err ? err : check_inputs(request);
}

static int remove_existing(struct request *request)
{
    struct ny_batch *batch;
    int err;

    json_decref(request->record);
    request->record = NULL;
    err = ny_batch_begin(&batch, request->store);
    if (err) return err;
    err = ny_batch_delete(batch, request->name, NULL);
    if (err) {
        ny_batch_abort(batch);
        return err;
    }
    return ny_batch_commit(batch);
}

static void note_lost(struct request *request, uint64_t rows)
{
    ny_record_set_lost(request->record, ny_store_skipped(request->store));
    ny_field_set_count(json_object_get(request->record, "report"), "lost", rows);
    ny_log(request->ctx, NY_LOG_WARNING,
           "%llu rows of %s are lost and not in '%s'; 'nystream export --part rows' lists those "
           "that are",
           (unsigned long long)rows, ny_store_path(request->store), request->name);
}

/* A new record, stored at once. */
static int create_record(struct request *request)
{
    struct ny_points_info points;
    json_t *options, *inputs = NULL;
    int err;

    err = ny_points_info(request->store, &points);
    if (err == NY_OK) err = inputs_of(request, &inputs);
    if (err) {
        json_decref(inputs);
        return err;
    }
    options = ny_options_to_json(request->options, request->groups);
    if (!options) {
        json_decref(inputs);
        return ny_fail(request->ctx, NY_EBUDGET, "no memory for the job's options");
    }
    request->record =
        ny_job_record_new(&points, options, request->groups & NY_GROUP_FIT ? "fit" : "dictionary");
    ny_field_set_json(request->record, "inputs", inputs);
    if (points.lost) note_lost(request, points.lost);
    describe(request);
    return ny_record_save(request->store, request->name, request->record);
}

/* A job that would fail again in the same way leaves no trace; one that may go on when there is
 * space, memory or time is kept as it is. */
static int forget_hopeless(struct request *request, int err)
{
    bool hopeless = err == NY_EDATA || err == NY_EUSAGE || err == NY_ENUMERIC;

    if (hopeless) remove_existing(request);
    return err;
}

static bool finished(const struct request *request)
{
    return strcmp(ny_field_text(request->record, "stage"), "done") == 0;
}

/* Refused here is only what cannot fit whatever else is given up for it. */
static int check_disk(struct ny_context *ctx, struct ny_store *store, const struct ny_plan *plan)
{
    uint64_t room = ny_results_room(store);

    if (plan->result_bytes <= room) return NY_OK;
    return ny_fail(ctx, NY_EIO,
                   "the embedding takes %llu bytes, and %s can grow by %llu before its disk is "
                   "full: make space, or ask for fewer components",
                   (unsigned long long)plan->result_bytes, ny_store_path(store),
                   (unsigned long long)room);
}

int ny_plan_announce(struct ny_store *store, const struct ny_plan *plan,
                     const struct ny_fit_settings *settings)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_report *announced;
    int err = ny_report_of_json(&announced, ctx, ny_plan_json(plan));

    if (err) return err;
    ny_announce_plan(ctx, announced);
    ny_report_free(announced);
    if (plan->fits) return check_disk(ctx, store, plan);
    if (plan->whole)
        return ny_fail(ctx, NY_EBUDGET,
                       "this fit needs %zu bytes (%.1f MiB), and the budget is %zu bytes; give "
                       "--memory %zuM, or fewer components",
                       plan->memory_min_bytes, (double)plan->memory_min_bytes / 1048576.0,
                       ny_memory_limit(ctx), (plan->memory_min_bytes >> 20) + 1);
    return ny_fail(
        ctx, NY_EBUDGET,
        "this fit needs %zu bytes (%.1f MiB) with %zu%s landmarks, and the budget is %zu "
        "bytes; give --memory %zuM, or %s",
        plan->memory_min_bytes, (double)plan->memory_min_bytes / 1048576.0, plan->m,
        plan->m_estimated ? " (estimated)" : "", ny_memory_limit(ctx),
        (plan->memory_min_bytes >> 20) + 1,
        settings->rule->all ? "landmarks (--approx projected --select rpcholesky)"
                            : "fewer landmarks");
}

/* Says what the fit will cost; refuses what does not fit before anything is written. */
static int announce(const struct request *request, struct ny_plan *plan)
{
    const json_t *report = json_object_get(request->record, "report");
    int err = ny_plan_make(request->store, &request->settings.fit,
                           (size_t)ny_field_count(report, "landmarks", 0), plan);

    return err ? err : ny_plan_announce(request->store, plan, &request->settings.fit);
}

static void note_done(const struct request *request)
{
    uint64_t n = ny_field_count(json_object_get(request->record, "report"), "n", 0);
    bool fit = (request->groups & NY_GROUP_FIT) != 0;
    struct ny_points_info points;

    ny_log(request->ctx, NY_LOG_NOTE, "'%s' is done already, with these options", request->name);
    if (!fit || ny_points_info(request->store, &points) || points.n <= n) return;
    ny_log(request->ctx, NY_LOG_NOTE,
           "%llu rows were appended since; --update full or frozen takes them in",
           (unsigned long long)(points.n - n));
}

static int run_job(struct request *request)
{
    bool restart = ny_options_flag(request->options, "restart");
    bool fit = (request->groups & NY_GROUP_FIT) != 0;
    struct ny_plan plan;
    int err;

    err = ny_record_load(request->store, request->name, &request->record);
    if (err) return err;
    if (request->record && !restart) {
        err = check_existing(request);
        if (err) return err;
        if (finished(request)) {
            note_done(request);
            return NY_OK;
        }
    }
    if (restart) {
        json_decref(request->record);
        request->record = NULL;
    }
    if (fit) err = announce(request, &plan);
    if (err) return err;
    if (restart) err = remove_existing(request);
    if (err == NY_OK && !request->record) err = create_record(request);
    if (err) return err;
    err = ny_job_run(request->store, request->name, &request->settings.fit, request->record,
                     fit ? &plan : NULL);
    return forget_hopeless(request, err);
}

static int run(struct request *request)
{
    struct ny_name_lock *lock = NULL;
    int err;

    err = ny_name_lock(&lock, request->store, request->name);
    if (err) goto done;
    if (request->groups & NY_GROUP_FIT && ny_options_is_set(request->options, "update")) {
        err = ny_update_run(request->store, request->name, request->options, &request->record);
        goto done;
    }
    err = ny_settings_new(&request->settings, request->store, request->options, request->groups,
                          NULL);
    if (err) goto done;
    err = run_job(request);
done:
    ny_name_unlock(lock);
    return err;
}

static int open_and_run(struct request *request, const char *path, struct ny_report **report)
{
    int err;

    if (report) *report = NULL;
    ny_error_clear(request->ctx);
    err = ny_reserve(request->ctx, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) return err;
    err = ny_store_open(&request->store, request->ctx, path);
    if (err) goto done;
    err = run(request);
    if (err == NY_OK && report)
        err = ny_result_describe(report, request->store, request->name, request->record);
done:
    json_decref(request->record);
    ny_settings_release(&request->settings, request->ctx);
    ny_store_close(request->store);
    ny_unreserve(request->ctx, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}

int ny_fit(struct ny_context *context, const char *path, const char *name,
           const struct ny_options *options, struct ny_report **report)
{
    struct request request = {
        .ctx = context, .name = name, .options = options, .groups = NY_GROUP_FIT};

    return open_and_run(&request, path, report);
}

int ny_select(struct ny_context *context, const char *path, const char *name,
              const struct ny_options *options, struct ny_report **report)
{
    struct request request = {
        .ctx = context, .name = name, .options = options, .groups = NY_GROUP_SELECT};

    return open_and_run(&request, path, report);
}

int ny_calibrate(struct ny_context *context, struct ny_report **report)
{
    struct ny_calibration calibration;
    int err;

    *report = NULL;
    ny_error_clear(context);
    err = ny_calibration_measure(context, &calibration);
    return err ? err : ny_report_of_json(report, context, ny_calibration_json(&calibration));
}
