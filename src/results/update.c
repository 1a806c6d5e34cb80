/*
 * Begins, ends and forgets updates: the record and the parts of the update of a result
 * (update/update.h). The stages of an update do its work.
 *
 * ny_update_begin() copies the result's record, empties what the update finds anew, notes where
 * the parts of before are, and commits the copy as part "update" of the next generation.
 * ny_update_finish() runs in the batch of the last commit: the record becomes that of the result,
 * parts of before that readers may still read are listed as stale (results/unneeded.h), and those
 * that served the job alone are deleted. ny_update_discard() deletes everything of the generation;
 * the result is as it was. A kill at any moment leaves the old result whole, and the update to be
 * resumed.
 */
#include "results/update.h"

#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "fit/earlier.h"
#include "job/facts.h"
#include "results/clusters.h"
#include "results/keep.h"
#include "results/record.h"
#include "results/resume.h"
#include "results/unneeded.h"
#include "records/begin.h"

/* Parts that stay readable, and those that serve the job alone. */
static const char *const read_parts[] = {"landmarks", "residuals", "model",
                                         "embedding", "extension", "roots"};
static const char *const work_parts[] = {
    "geometry", "degrees",    "centring",   "averages",   "map",        "select.0",
    "select.1", "sums.0",     "sums.1",     "late.0",     "late.1",     "gram.0",
    "gram.1",   "products.0", "products.1", "probe.0",    "probe.1",    "drawn.0",
    "drawn.1",  "krylov.0",   "krylov.1",   "features.0", "features.1", "checks"};
enum {
    READ_PARTS = sizeof(read_parts) / sizeof(read_parts[0]),
    WORK_PARTS = sizeof(work_parts) / sizeof(work_parts[0])
};

/* ---- records ------------------------------------------------------------------------------- */

/* Forgets what the update finds anew. */
static void clear_report(json_t *report, enum ny_update_mode mode)
{
    const struct ny_fact *fact;

    for (size_t i = 0; (fact = ny_fact_at(i)); i++)
        if (fact->update == NY_FACT_RUN ||
            (fact->update == NY_FACT_FOUND && mode == NY_UPDATE_FULL))
            ny_field_set_json(report, fact->key, json_null());
    ny_field_set_json(report, "stages", json_object());
    ny_field_set_json(report, "stage_memory_bytes", json_object());
    ny_field_set_count(report, "landmarks_added", 0);
    ny_field_set_text(report, "mode", ny_update_mode_name(mode));
}

/* Describes the earlier result: its sizes, and the names of the parts that the update reads. */
static json_t *describe_result(const json_t *result, enum ny_update_mode mode)
{
    static const char *const parts[] = {"landmarks", "residuals", "model"};
    const json_t *report = json_object_get(result, "report"),
                 *sums = json_object_get(result, "sums");
    uint64_t n = ny_field_count(report, "n", 0);
    json_t *update = json_object(), *where = json_object();

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        ny_field_set_text(where, parts[i], ny_record_part(ny_record_of(result), parts[i]).name);
    if (sums)
        ny_field_set_text(where, "sums",
                          ny_record_part(ny_record_of(result), ny_field_text(sums, "part")).name);
    ny_field_set_text(update, "mode", ny_update_mode_name(mode));
    ny_field_set_count(update, "rows", n);
    ny_field_set_count(update, "selected", ny_record_selected(ny_record_of(result)));
    ny_field_set_count(update, "landmarks", ny_field_count(report, "landmarks", 0));
    ny_field_set_count(update, "model_bytes", ny_field_count(result, "model_bytes", 0));
    ny_field_set_json(update, "parts", where);
    ny_field_set_json(update, "sums", sums ? json_deep_copy(sums) : json_null());
    ny_field_set_json(update, "checkpoint", json_deep_copy(json_object_get(result, "checkpoint")));
    return update;
}

/* Makes the update's record from that of the result. */
static json_t *new_record(struct ny_store *store, const json_t *result, uint64_t n,
                          enum ny_update_mode mode)
{
    json_t *record = json_deep_copy(result), *report = json_object_get(record, "report");

    if (!record) return NULL;
    clear_report(report, mode);
    ny_field_set_count(report, "n", n);
    ny_record_describe_machine(report);
    ny_field_set_json(record, "update", describe_result(result, mode));
    ny_record_set_command(store, json_object_get(record, "update"));
    ny_field_set_json(record, "checkpoint", json_object());
    ny_field_set_count(record, "generation", ny_record_generation(result) + 1);
    if (!json_object_get(record, "generations"))
        ny_field_set_json(record, "generations", json_object());
    json_object_del(record, "clusters"); /* ny_update_finish() takes those of then */
    json_object_del(record, "stale");
    json_object_del(record, "coarse");
    if (mode == NY_UPDATE_FROZEN) {
        ny_field_set_count(record, "selected", ny_record_selected(ny_record_of(result)));
        if (json_is_array(json_object_get(report, "component_errors")))
            ny_field_set_text(report, "component_errors_from", "fit");
    }
    if (mode == NY_UPDATE_FULL) { /* the Gram's precision is chosen for all rows, as in a fit */
        json_object_del(record, "selected");
        json_object_del(record, "gram_noise");
        json_object_del(record, "gram_f64");
    }
    ny_field_set_text(
        record, "stage",
        ny_stage_name(mode == NY_UPDATE_FULL ? NY_STAGE_SELECT : NY_STAGE_ACCUMULATE));
    return record;
}

/* Tells whether the clusters of a result are carried to the rows that an update adds: its rows stay
 * where they are, and all of them are in this store. */
static bool carries_clusters(const json_t *result, enum ny_update_mode mode)
{
    return mode == NY_UPDATE_FROZEN && !json_object_get(result, "sharded");
}

/* Tells that clusters are of the rows that the result had. */
static void note_clusters(struct ny_context *ctx, const char *name, const json_t *result)
{
    if (ny_stored_clusters(&(struct ny_result){.record = result}))
        ny_log(ctx, NY_LOG_NOTE,
               "the clusters of '%s' are removed, as they cover only the rows before", name);
}

/* The parts of a NAME that a batch deletes. */
struct deletion {
    struct ny_batch *batch;
    const char *name;
};

static int delete_part(void *arg, const char *part)
{
    const struct deletion *deletion = arg;

    return ny_batch_delete(deletion->batch, deletion->name, part);
}

/* Notes in the record of an update of all shards how rows are numbered, now and in the result. */
static int note_shards(struct ny_store *store, const struct ny_rows_info *points, json_t *record)
{
    struct ny_peers *peers = ny_context_peers(ny_store_context(store));
    const json_t *sharded = json_object_get(record, "sharded");
    json_t *update = json_object_get(record, "update");
    double rows = (double)ny_field_count(update, "rows", 0);
    int err = ny_peers_fold(peers, &rows, 1);

    if (err || !peers) return err;
    ny_field_set_count(update, "rows_all", (uint64_t)rows);
    ny_field_set_count(update, "first", ny_field_count(sharded, "first", 0));
    ny_field_set_count(record, "first", points->here.first);
    json_object_del(record, "sharded");
    return NY_OK;
}

int ny_update_begin(struct ny_store *store, const char *name, const json_t *result,
                    enum ny_update_mode mode, json_t **record)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_rows_info points;
    struct ny_batch *batch;
    int err = ny_points_info(store, &points);

    if (err) return err;
    *record = new_record(store, result, points.n, mode);
    if (!*record) return ny_fail_memory(ny_store_context(store));
    err = note_shards(store, &points, *record);
    if (err) return err;
    if (ny_store_skipped(store)->count) { /* of the rows to come, too */
        ny_record_set_lost(*record, ny_store_skipped(store));
        ny_field_set_count(json_object_get(*record, "report"), "lost",
                           ny_store_skipped(store)->rows);
    }
    err = ny_batch_begin(&batch, store);
    if (err) return err;
    err = ny_unneeded_of(result, delete_part, &(struct deletion){batch, name});
    if (err == NY_OK) err = ny_record_put(&keep, batch, *record);
    if (err == NY_OK)
        err = ny_batch_commit(batch);
    else
        ny_batch_abort(batch);
    if (err == NY_OK && !carries_clusters(result, mode))
        note_clusters(ny_store_context(store), name, result);
    return err;
}

int ny_update_discard(struct ny_store *store, const char *name, const json_t *update)
{
    uint64_t generation = ny_record_generation(update);
    struct ny_batch *batch;
    int err = ny_batch_begin(&batch, store);

    if (err) return err;
    for (size_t i = 0; i < READ_PARTS; i++)
        ny_batch_delete(batch, name, ny_part_of(read_parts[i], generation).name);
    for (size_t i = 0; i < WORK_PARTS; i++)
        ny_batch_delete(batch, name, ny_part_of(work_parts[i], generation).name);
    ny_batch_delete(batch, name, "update");
    return ny_batch_commit(batch);
}

/* Parts that were made anew leave old ones behind: those that readers read stay for now, listed;
 * the others, and all images but that of the sums, go. */
static void leave_behind(struct ny_job *job, struct ny_batch *batch, const json_t *before)
{
    json_t *record = ny_record_json(job->record), *stale = json_array();
    const char *part = ny_field_text(json_object_get(record, "sums"), "part");
    struct ny_part sums = ny_record_part(job->record, part ? part : "");

    for (size_t i = 0; i < READ_PARTS; i++) {
        struct ny_part was = ny_record_part(ny_record_of(before), read_parts[i]);

        if (strcmp(was.name, ny_record_part(job->record, read_parts[i]).name) != 0)
            ny_field_append(stale, json_string(was.name));
    }
    ny_field_set_json(record, "stale", stale);
    for (size_t i = 0; i < WORK_PARTS; i++) {
        struct ny_part was = ny_record_part(ny_record_of(before), work_parts[i]);
        struct ny_part is = ny_record_part(job->record, work_parts[i]);
        bool image = strchr(work_parts[i], '.') != NULL;

        if (strcmp(was.name, is.name) != 0) ny_batch_delete(batch, job->keep.name, was.name);
        if (image && strcmp(is.name, sums.name) != 0)
            ny_batch_delete(batch, job->keep.name, is.name);
    }
}

int ny_update_finish(struct ny_job *job, struct ny_batch *batch)
{
    json_t *before, *record = ny_record_json(job->record);
    json_t *report = json_object_get(record, "report");
    int err = ny_record_get(&job->keep, &before);

    if (err || !before) return err ? err : NY_EINTERNAL;
    leave_behind(job, batch, before);
    if (carries_clusters(before, ny_update_mode_of(job->record)))
        ny_stored_clusters_pass_on(before, record);
    json_decref(before);
    ny_field_set_count(report, "updates", ny_field_count(report, "updates", 0) + 1);
    ny_field_set_number(report, "gemm_ratio", NAN); /* passes over some of the rows have none */
    json_object_del(record, "update");
    return ny_batch_delete(batch, job->keep.name, "update");
}

int ny_update_put(struct ny_store *store, const char *name, json_t *record)
{
    struct ny_job job = {.ctx = ny_store_context(store),
                         .keep = ny_store_keep(store, name),
                         .record = ny_record_of(record)};
    struct ny_batch *batch;
    int err = ny_batch_begin(&batch, store);

    if (err) return err;
    err = ny_update_finish(&job, batch);
    if (!err) err = ny_record_put(&job.keep, batch, record);
    if (!err) return ny_batch_commit(batch);
    ny_batch_abort(batch);
    return err;
}
