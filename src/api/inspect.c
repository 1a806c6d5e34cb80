/*
 * Says what is in a store, and removes results: ny_store_report, ny_result_report, ny_remove. A
 * report of a result is that of its record, with its status and how to go on with it. A record that
 * cannot be read is listed as "unreadable", with a warning, so that the other results are still
 * listed.
 */
#include "api/inspect.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "api/call.h"
#include "api/inspect_shards.h"
#include "api/report.h"
#include "base/checksum.h"
#include "base/guard.h"
#include "base/memory.h"
#include "records/certificate.h"
#include "job/job.h"
#include "results/behind.h"
#include "results/clusters.h"
#include "results/current.h"
#include "results/resume.h"
#include "results/shards.h"
#include "shards/open.h"

/* Says how to go on with the update that is under way (NULL: none is), or else with a job that is
 * not done; `resume` is null when all is. */
static int describe_unfinished(struct ny_store *store, const char *name, const json_t *record,
                               const json_t *update, json_t *object)
{
    bool done = ny_field_is(record, "stage", "done");
    char *command = NULL;
    int err = NY_OK;

    if (update || !done) err = ny_resume_command(store, name, update ? update : record, &command);
    ny_field_set_text(object, "update",
                      update ? ny_name_held(store, name) ? "running" : "interrupted" : NULL);
    ny_field_set_text(object, "resume", command);
    ny_free(ny_store_context(store), command);
    return err;
}

/* Landmarks of an online selection under way, at its last checkpoint. */
static double landmarks_done(const json_t *record)
{
    return ny_field_number(json_object_get(record, "checkpoint"), "sums_columns", NAN);
}

/* Rows that are done at the last checkpoint; null where the record does not count them. */
static json_t *rows_done(const json_t *record)
{
    uint64_t rows;

    return ny_record_rows_done(ny_record_of(record), &rows) ? json_integer((json_int_t)rows)
                                                            : json_null();
}

/* Fills in what the report of a result says. */
static int describe_result(struct ny_store *store, const char *name, const json_t *record,
                           json_t *object)
{
    json_t *update, *clusters = ny_stored_clusters_told(record);
    json_t *sharded = json_object_get(record, "sharded");
    int err = ny_record_load_update(store, name, &update);

    if (clusters) ny_field_set_json(object, "clustering", clusters);

    if (!err) err = describe_unfinished(store, name, record, update, object);
    json_decref(update);
    if (err) return err;
    ny_field_set_text(object, "command", ny_field_text(record, "command"));
    ny_field_set_text(object, "name", name);
    ny_field_set_text(object, "status", ny_result_status(store, name, record));
    ny_field_set_text(object, "kind", ny_field_text(record, "kind"));
    ny_field_set_text(object, "stage", ny_field_text(record, "stage"));
    if (ny_rows_behind(store, name, record))
        ny_field_set_count(object, "rows_behind", ny_rows_behind(store, name, record));
    ny_field_set_json(object, "rows_done", rows_done(record));
    if (sharded) ny_field_set_json(object, "sharded", json_incref(sharded));
    if (json_is_true(json_object_get(sharded, "same_bytes_as_one")))
        ny_field_set_text(sharded, "differs", NULL);
    ny_field_set_number(object, "landmarks_done", landmarks_done(record));
    if (json_object_update(object, json_object_get(record, "report")) ||
        json_object_set(object, "options", json_object_get(record, "options")))
        return ny_fail_memory(ny_store_context(store));
    return NY_OK;
}

/* Says how to go on with an update that a shard of the set has begun, if nothing else waits. */
static int describe_begun(struct ny_store *set, const char *name, json_t *object)
{
    int err = NY_OK;

    for (size_t k = 0; !err && k < ny_store_set(set)->count; k++) {
        struct ny_store *store;
        json_t *update = NULL;

        if (ny_field_text(object, "resume")) return NY_OK;
        err = ny_set_store(set, k, &store);
        if (!err) err = ny_record_load_update(store, name, &update);
        if (!err && update) err = describe_unfinished(store, name, update, update, object);
        json_decref(update);
    }
    return err;
}

int ny_result_describe(struct ny_report **out, struct ny_store *store, const char *name,
                       const json_t *record)
{
    json_t *object = json_object(), *first = NULL;
    struct ny_store *one = store;
    struct ny_together whole;
    int err = NY_OK;

    if (ny_store_set(store)) err = ny_result_together(store, name, NULL, &whole);
    if (!err && ny_store_set(store)) err = ny_spread_find(store, name, &one, &first);
    if (!err) err = describe_result(one, name, first ? first : record, object);
    if (!err && ny_store_set(store)) err = ny_spread_describe(store, name, first, object);
    if (!err && ny_store_set(store)) err = describe_begun(store, name, object);
    json_decref(first);
    if (!ny_field_is(object, "kind", "graph"))
        ny_field_set_json(object, "certificate",
                          ny_certificate(object, ny_field_is(object, "kind", "fit") &&
                                                     ny_field_is(object, "status", "done")));
    if (!err) return ny_report_of_json(out, ny_store_context(store), object);
    json_decref(object);
    return err;
}

int ny_result_report(struct ny_context *context, const char *path, const char *name,
                     struct ny_report **report)
{
    struct ny_store *store = NULL;
    json_t *record = NULL;
    int err = NY_GIVEN(context, path, name);

    if (report) *report = NULL;
    if (err) return err;
    ny_fields_begin();
    err = ny_shards_open(&store, context, path, name, NY_SHARDS_SOME);
    if (err) goto done;
    err = ny_record_need(store, name, &record);
    if (err) goto done;
    err = ny_result_describe(report, store, name, record);
done:
    json_decref(record);
    ny_store_close(store);
    return err;
}

/* ---- the store ---------------------------------------------------------------------------- */

/* Gathers the results of a store: their names, and a name with kind and status of each. */
struct names {
    struct ny_store *store;
    json_t *array, *statuses;
};

/* Adds one result to both lists. A name that has no record yet counts as interrupted. */
static int add_name(void *user, const char *name)
{
    struct names *names = user;
    json_t *record, *entry = json_object();
    int err = ny_record_load(names->store, name, &record);

    ny_field_append(names->array, ny_json_text(name));
    ny_field_set_text(entry, "name", name);
    ny_field_set_text(entry, "kind", ny_field_text(record, "kind"));
    ny_field_set_text(entry, "status",
                      record             ? ny_status_of_all(names->store, name, record)
                      : err == NY_ESTORE ? "unreadable"
                                         : "interrupted");
    ny_field_append(names->statuses, entry);
    json_decref(record);
    if (err != NY_ESTORE) return err;
    ny_log(ny_store_context(names->store), NY_LOG_WARNING, "%s",
           ny_context_message(ny_store_context(names->store)));
    ny_error_clear(ny_store_context(names->store)); /* the other results can be listed */
    return NY_OK;
}

/* Labels up to a limit: a regression target has no classes. */
enum { CLASSES_MAX = 4096, CLASS_SLOTS = 4 * CLASSES_MAX };

/* Puts a label into a table of CLASS_SLOTS, NaN where there is none; false: it is there already. */
static bool put_label(double *seen, double label)
{
    size_t at;

    if (label == 0) label = 0; /* also of -0 */
    at = ny_checksum(&label, sizeof(label)) % CLASS_SLOTS;
    for (; !isnan(seen[at]); at = (at + 1) % CLASS_SLOTS)
        if (seen[at] == label) return false;
    seen[at] = label;
    return true;
}

/* Counts distinct labels, be they words or numbers; NaN beyond CLASSES_MAX. */
static int count_classes(struct ny_store *store, const struct ny_rows_info *info, double *classes)
{
    enum { ROWS = 65536 };
    struct ny_context *ctx = ny_store_context(store);
    double *seen = ny_calloc(ctx, NY_MEM_OTHER, CLASS_SLOTS + ROWS, sizeof(double));
    double *labels = seen ? seen + CLASS_SLOTS : NULL, last = NAN;
    size_t count = 0;
    int err = seen ? NY_OK : NY_EBUDGET;

    *classes = NAN;
    for (size_t i = 0; seen && i < CLASS_SLOTS; i++)
        seen[i] = NAN;
    for (uint64_t first = 0; err == NY_OK && first < info->n && count <= CLASSES_MAX;
         first += ROWS) {
        size_t rows = info->n - first < ROWS ? (size_t)(info->n - first) : ROWS;

        err = ny_points_labels(store, first, rows, labels);
        for (size_t i = 0; err == NY_OK && i < rows && count <= CLASSES_MAX; i++) {
            if (isnan(labels[i]) || labels[i] == last) continue;
            last = labels[i];
            count += put_label(seen, last);
        }
    }
    if (err == NY_OK && count <= CLASSES_MAX) *classes = (double)count;
    ny_free(ctx, seen);
    return err;
}

void ny_describe_preparation(json_t *object, const struct ny_rows_info *info)
{
    const struct ny_prepared *how = &info->preparation;
    bool prepared = ny_prepares(how);
    char rows[NY_PREPARED_WORD_BYTES];

    ny_field_set_text(object, "stored_dtype", prepared ? ny_dtype_name(info->stored_dtype) : NULL);
    ny_field_set_text(object, "prepared_rows", prepared ? ny_prepared_rows(how, rows) : NULL);
    ny_field_set_text(object, "prepared_values", prepared ? ny_prepared_values(how) : NULL);
}

/* Reports the first names of rows, or of columns; null where there are none. */
static int describe_names(struct ny_store *store, json_t *report, const char *key, bool columns)
{
    enum { SHOWN = 5 };
    struct ny_stored_points points;
    const struct ny_rows_info *info = &points.rows;
    struct ny_names names = {0};
    json_t *array = NULL;
    const char *name;
    uint64_t count;
    int err = ny_points_stored(store, &points);

    if (err) return err;
    count = columns ? info->d : info->n;
    if (count > SHOWN) count = SHOWN;
    if (columns && points.column_names)
        err = ny_points_column_names(store, 0, (size_t)count, &names);
    if (!columns && points.names) err = ny_points_names(store, 0, (size_t)count, &names);
    name = names.text;
    if (names.count) array = json_array();
    for (size_t i = 0; i < names.count; i++, name += strlen(name) + 1)
        ny_field_append(array, ny_json_text(name));
    ny_names_release(&names, ny_store_context(store));
    ny_field_set_json(report, key, array ? array : json_null());
    return err;
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? ny_json_text(text) : json_null();
}

/* Reports which rows came in together; null for a set, whose shards have their own. */
static int describe_imports(struct ny_store *store, json_t *report)
{
    enum { SHOWN = 1000 };
    struct ny_imports imports;
    json_t *array = ny_store_set(store) ? json_null() : json_array();
    int err = ny_points_imports(store, &imports);

    for (size_t i = imports.count > SHOWN ? imports.count - SHOWN : 0; i < imports.count; i++) {
        const struct ny_import_note *note = &imports.note[i];
        char text[32] = "";
        time_t seconds = (time_t)note->time;
        json_t *entry = json_object();
        struct tm utc;

        if (gmtime_r(&seconds, &utc)) strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
        ny_field_set_count(entry, "first", note->first);
        ny_field_set_count(entry, "rows", note->end - note->first);
        ny_field_set_count(entry, "dropped", note->dropped);
        ny_field_set_text(entry, "time", text);
        ny_field_set_json(entry, "from", text_or_null(note->from));
        ny_field_set_json(entry, "label_column", text_or_null(note->how.label_column));
        ny_field_set_json(entry, "id_column", text_or_null(note->how.id_column));
        ny_field_append(array, entry);
    }
    ny_imports_release(&imports, ny_store_context(store));
    ny_field_set_json(report, "imports", array);
    return err;
}

/* Reports the points. Labels are counted here, which reads them all, since no record keeps the
 * number of classes; norms come from the statistics of the import. */
static int describe_points(struct ny_store *store, json_t *report)
{
    struct ny_stored_points points;
    const struct ny_rows_info *info = &points.rows;
    struct ny_rows *X = ny_store_rows(store);
    struct ny_rows_stats stats;
    double classes = NAN, norm = NAN, squares = NAN;
    int err = ny_points_stored(store, &points);

    if (err) return err;
    if (info->n > 0) {
        err = X->ops->stats(X, &stats);
        if (err) return err;
        norm = stats.mean_norm;
        squares = stats.mean_square_norm;
        ny_rows_stats_release(&stats, ny_store_context(store));
        if (points.labels) err = count_classes(store, info, &classes);
        if (err) return err;
    }
    ny_field_set_count(report, "n", info->n);
    ny_field_set_count(report, "d", info->d);
    ny_field_set_text(report, "dtype", ny_dtype_name(info->dtype));
    ny_describe_preparation(report, info);
    ny_field_set_text(report, "format", info->layout == NY_CSR ? "sparse" : "dense");
    ny_field_set_json(report, "nnz", json_null());
    if (info->layout == NY_CSR) ny_field_set_count(report, "nnz", info->nnz);
    ny_field_set_count(report, "block_rows", info->block_rows);
    ny_field_set_count(report, "blocks", points.blocks);
    ny_field_set_count(report, "bytes", ny_points_raw_bytes(info));
    ny_field_set_count(report, "compressed_bytes", info->kept_bytes);
    ny_field_set_json(report, "labels", json_boolean(points.labels));
    ny_field_set_number(report, "classes", classes);
    ny_field_set_json(report, "row_names", json_boolean(points.names));
    ny_field_set_json(report, "column_names", json_boolean(points.column_names));
    ny_field_set_number(report, "mean_norm", norm);
    ny_field_set_number(report, "mean_square_norm", squares);
    ny_field_set_count(report, "dropped", points.dropped);
    ny_field_set_count(report, "lost", info->lost);
    err = describe_imports(store, report);
    if (!err) err = describe_names(store, report, "first_row_names", false);
    return err ? err : describe_names(store, report, "first_column_names", true);
}

/* Reports the points as they are at one time: NY_EBUSY where rows are cut off meanwhile. */
static int describe_one_state(struct ny_store *store, json_t *report)
{
    struct ny_points_state state;
    int err;

    if (ny_store_set(store)) return ny_set_uncut(store, describe_points(store, report));
    err = ny_points_state(store, &state);
    return err ? err : ny_points_current(store, &state, describe_points(store, report));
}

/* Adds the results of all rows of a set. */
static int add_whole(struct names *names, uint64_t *bytes)
{
    char path[PATH_MAX];
    int err;

    if (!ny_whole_path(ny_store_path(names->store), path)) return NY_OK;
    err = ny_store_open(&names->store, ny_store_context(names->store), path);
    if (!err) err = ny_results_list(names->store, add_name, names);
    if (!err) *bytes += ny_store_bytes(names->store);
    ny_store_close(names->store);
    return err;
}

int ny_store_describe(struct ny_report **out, struct ny_store *store)
{
    json_t *object = json_object();
    struct names names;
    uint64_t bytes = 0;
    bool set = ny_store_set(store), waits = false, runs;
    int err = describe_one_state(store, object);

    if (!err && !set) err = ny_ingest_waits(store, &waits);
    runs = !set && ny_ingest_runs(store);
    ny_field_set_text(object, "import_status", runs ? "running" : waits ? "interrupted" : NULL);
    if (!err) err = ny_shards_describe(store, object);
    if (!err) err = ny_bytes_of_all(store, &bytes);
    if (err) {
        json_decref(object);
        return err;
    }
    names = (struct names){store, json_array(), json_array()};
    err = ny_results_list(store, add_name, &names);
    if (!err && set) err = add_whole(&names, &bytes);
    ny_field_set_json(object, "results", names.array);
    ny_field_set_json(object, "result_status", names.statuses);
    ny_field_set_count(object, "store_bytes", bytes);
    ny_field_set_text(object, "version", ny_version());
    if (err == NY_OK) return ny_report_of_json(out, ny_store_context(store), object);
    json_decref(object);
    return err;
}

int ny_store_report(struct ny_context *context, const char *path, struct ny_report **report)
{
    struct ny_store *store = NULL;
    int err = NY_GIVEN(context, path);

    if (report) *report = NULL;
    if (err) return err;
    ny_fields_begin();
    err = ny_shards_open(&store, context, path, NULL, NY_SHARDS_SOME);
    if (!err) err = ny_store_describe(report, store);
    ny_store_close(store);
    return err;
}

void ny_guard_sigbus(void)
{
    ny_guard_install();
}

/* A result to be removed, and from how many stores it was. */
struct removal {
    struct ny_context *ctx;
    const char *name;
    size_t removed;
};

/* Shards that lack the result are left alone. One whose record cannot be read is removed, and so is
 * what a removal that was cut short has left. */
static int remove_from(void *arg, const char *path, struct ny_shards *shards, int shard)
{
    struct removal *removal = arg;
    struct ny_store *store;
    struct ny_name_lock *lock = NULL;
    int err = ny_store_open(&store, removal->ctx, path);

    (void)shard;
    if (err) return err;
    err = ny_name_lock(&lock, store, removal->name);
    if (!err) err = ny_result_remove(store, removal->name);
    ny_name_unlock(lock);
    ny_store_close(store);
    removal->removed += !err;
    if (err == NY_EUSAGE && shards) { /* there is none */
        ny_error_clear(removal->ctx);
        err = NY_OK;
    }
    return err;
}

int ny_remove(struct ny_context *context, const char *path, const char *name)
{
    struct removal removal = {.ctx = context, .name = name};
    struct ny_store *store;
    int err = NY_GIVEN(context, path, name);

    if (!err) err = ny_shards_each(context, path, NY_SHARDS_CHANGE, remove_from, &removal);
    if (err || removal.removed) return err;
    err = ny_shards_open(&store, context, path, NULL, NY_SHARDS_SOME);
    if (!err) err = ny_result_missing(store, name);
    ny_store_close(store);
    return err;
}
