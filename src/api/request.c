#include "api/request.h"

#include <string.h>

#include "api/fit.h"
#include "api/given.h"
#include "api/inspect.h"
#include "base/memory.h"

static int inputs_of(const struct ny_request *request, json_t **inputs)
{
    *inputs = NULL;
    return request->kind->inputs ? request->kind->inputs(request, inputs) : NY_OK;
}

/* The same options do not make the same job where a file has changed since. */
static int check_inputs(const struct ny_request *request)
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
static int check_existing(const struct ny_request *request)
{
    const char *kind = ny_field_text(request->record, "kind");
    char *difference;
    int err = NY_OK;

    if (kind && strcmp(kind, request->kind->name) != 0)
        return ny_fail(request->ctx, NY_EUSAGE,
                       "'%s' exists and is a %s; give --restart to replace it, or another name",
                       request->name, kind);
    difference = ny_options_differences(request->options, request->kind->groups,
                                        json_object_get(request->record, "options"));
    if (!difference) return NY_EBUDGET;
    if (difference[0])
        err = ny_fail(request->ctx, NY_EUSAGE,
                      "'%s' exists with other options (%s); give --restart "
                      "to replace it, or another name",
                      request->name, difference);
    ny_free(request->ctx, difference);
    return err ? err : check_inputs(request);
}

static int remove_existing(struct ny_request *request)
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

static void note_lost(struct ny_request *request, uint64_t rows)
{
    ny_record_set_lost(request->record, ny_store_skipped(request->store));
    ny_field_set_count(json_object_get(request->record, "report"), "lost", rows);
    ny_log(request->ctx, NY_LOG_WARNING,
           "%llu rows of %s are lost and not in '%s'; 'nystream export --part rows' lists those "
           "that are",
           (unsigned long long)rows, ny_store_path(request->store), request->name);
}

/* A new record, stored at once. */
static int create_record(struct ny_request *request)
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
    options = ny_options_to_json(request->options, request->kind->groups);
    if (!options) {
        json_decref(inputs);
        return ny_fail(request->ctx, NY_EBUDGET, "no memory for the job's options");
    }
    request->record = request->kind->record(request, &points, options);
    if (inputs) ny_field_set_json(request->record, "inputs", inputs);
    if (points.lost) note_lost(request, points.lost);
    return ny_record_save(request->store, request->name, request->record);
}

/* A job that would fail again in the same way leaves no trace; one that may go on when there is
 * space, memory or time is kept as it is. */
static int forget_hopeless(struct ny_request *request, int err)
{
    if (ny_is_final(err)) remove_existing(request);
    return err;
}

static void note_done(const struct ny_request *request)
{
    uint64_t n = ny_field_count(json_object_get(request->record, "report"), "n", 0);
    const struct ny_map *map = request->settings.fit.map;
    struct ny_points_info points;

    ny_log(request->ctx, NY_LOG_NOTE, "'%s' is done already, with these options", request->name);
    if (ny_points_info(request->store, &points) || points.n <= n) return;
    ny_log(request->ctx, NY_LOG_NOTE, "%llu rows were appended since; %s",
           (unsigned long long)(points.n - n),
           request->kind->updates && !map->graph ? "--update full or frozen takes them in"
                                  : "--restart makes it again with them");
}

/* After the plan: of a budget below even this it says which one works. */
static int reserve_process(struct ny_request *request)
{
    int err = ny_reserve(request->ctx, NY_MEM_PROCESS, NY_PROCESS_BYTES);

    request->reserved = err == NY_OK;
    return err;
}

static int run_job(struct ny_request *request)
{
    bool restart = ny_options_flag(request->options, "restart");
    int err;

    err = ny_record_load(request->store, request->name, &request->record);
    if (err) return err;
    if (request->record && !restart) {
        err = check_existing(request);
        if (err) return err;
        if (ny_field_is(request->record, "stage", "done")) {
            note_done(request);
            return NY_OK;
        }
    }
    if (restart) {
        json_decref(request->record);
        request->record = NULL;
    }
    if (request->kind->announce) err = request->kind->announce(request);
    if (err == NY_OK) err = reserve_process(request);
    if (err) return err;
    if (restart) err = remove_existing(request);
    if (err == NY_OK && !request->record) err = create_record(request);
    if (err) return err;
    return forget_hopeless(request, request->kind->run(request));
}

static int run(struct ny_request *request)
{
    struct ny_name_lock *lock = NULL;
    int err;

    err = ny_name_lock(&lock, request->store, request->name);
    if (err) goto done;
    if (request->kind->updates && ny_options_is_set(request->options, "update")) {
        err = reserve_process(request);
        if (err) goto done;
        err = ny_update_run(request->store, request->name, request->options, &request->record);
        goto done;
    }
    err = request->kind->settings(request);
    if (err) goto done;
    err = run_job(request);
done:
    ny_name_unlock(lock);
    return err;
}

int ny_request_run(const struct ny_request_kind *kind, struct ny_context *context,
                   const char *path, const char *name, const struct ny_options *options,
                   struct ny_report **report)
{
    struct ny_request request = {.ctx = context, .name = name, .kind = kind};
    struct ny_options none;
    int err = NY_GIVEN(context, path, name);

    if (report) *report = NULL;
    if (err) return err;
    request.options = ny_options_given(options, context, &none);
    ny_fields_begin();
    err = ny_store_open(&request.store, context, path);
    if (err) goto done;
    err = run(&request);
    if (err == NY_OK && report)
        err = ny_result_describe(report, request.store, name, request.record);
done:
    json_decref(request.record);
    ny_settings_release(&request.settings, context);
    ny_store_close(request.store);
    if (request.reserved) ny_unreserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}
