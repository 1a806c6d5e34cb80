/*
 * ny_verify, ny_repair, ny_compact: what is damaged, what can be saved, and what is not needed.
 *
 * A verification reads everything and changes nothing. It reports each damaged piece, also where it
 * then fails with NY_ESTORE, and finds points/ that are from an older copy than the results. A
 * repair reports what it has set aside and removed.
 */
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/report.h"
#include "base/memory.h"
#include "results/behind.h"
#include "results/current.h"
#include "results/export.h"
#include "results/shards.h"
#include "results/unneeded.h"
#include "shards/open.h"

/* Gathers what a verification finds. */
struct finding {
    struct ny_context *ctx;
    struct ny_store *store;
    int shard; /* the number of that store among the shards; −1: it is none */
    json_t *damaged;
    uint64_t rows;   /* of points, in damaged blocks */
    json_t *results; /* names of those with a damaged chunk; of shards, a name is one result */
};

/* The rows of an embedding that a chunk holds; none where its record cannot be read. */
static void embedding_rows(struct ny_store *store, struct ny_damage *damage)
{
    struct ny_embedding_layout layout;
    size_t components;

    if (strcmp(damage->part, "embedding") != 0) return;
    if (ny_result_layout(store, damage->name, &layout, &components) == NY_OK &&
        damage->chunk * layout.chunk_rows < layout.rows) {
        damage->first_row = damage->chunk * layout.chunk_rows;
        damage->rows = layout.rows - damage->first_row;
        if (damage->rows > layout.chunk_rows) damage->rows = layout.chunk_rows;
    }
    ny_error_clear(ny_store_context(store));
}

/* Adds a name to the results that are damaged, unless it is there. */
static void add_result(struct finding *finding, const char *name)
{
    const json_t *known;
    size_t k;

    json_array_foreach(finding->results, k,
                       known) if (strcmp(json_string_value(known), name) == 0) return;
    ny_field_append(finding->results, ny_json_text(name));
}

/* Adds a damage to the report. */
static int add_damage(void *user, const struct ny_damage *found)
{
    struct finding *finding = user;
    struct ny_damage damage = *found;
    json_t *entry = json_object();

    if (damage.kind == NY_DAMAGED_POINTS) finding->rows += damage.rows;
    if (damage.kind == NY_DAMAGED_RESULT) {
        embedding_rows(finding->store, &damage);
        add_result(finding, damage.name);
    }
    ny_field_set_count(entry, "block", damage.block);
    ny_field_set_count(entry, "first_row", damage.first_row);
    ny_field_set_count(entry, "rows", damage.rows);
    ny_field_set_json(entry, "what", ny_json_text(damage.what));
    ny_field_set_text(entry, "result", damage.name);
    if (finding->shard >= 0) ny_field_set_count(entry, "shard", (uint64_t)finding->shard);
    ny_field_append(finding->damaged, entry);
    return NY_OK;
}

/* Finds the row behind those that a result has, or that its update is to have. */
static int find_end(const struct finding *finding, const char *name, uint64_t *end)
{
    struct ny_rows_end reach;
    int err = ny_rows_reach(finding->store, name, &reach);

    *end = 0;
    if (!err) *end = reach.update > reach.result ? reach.update : reach.result;
    return err;
}

/* A result of rows that the points do not have: they are older than it is. Rows are there before a
 * result has them, and go when no result has them any more; so they are counted after the first,
 * and before the second look at the result. */
static int compare_rows(void *user, const char *name)
{
    struct finding *finding = user;
    struct ny_context *ctx = ny_store_context(finding->store);
    char what[256];
    struct ny_rows_info info;
    uint64_t end, still = 0;
    int err = find_end(finding, name, &end);

    if (!err) err = ny_points_info(finding->store, &info);
    if (!err && end > info.n) err = find_end(finding, name, &still);
    if (err == NY_ESTORE) { /* it is among the damages by now */
        ny_error_clear(ctx);
        return NY_OK;
    }
    if (err || end <= info.n || still != end) return err;
    snprintf(what, sizeof(what),
             "result '%.64s' has %llu rows, but points/ has %llu: points/ is from an older copy of "
             "the store; put the newer one back, or remove the result",
             name, (unsigned long long)end, (unsigned long long)info.n);
    return add_damage(finding, &(struct ny_damage){.kind = NY_DAMAGED_OLDER, .what = what});
}

/* Adds the error of this context, NY_ESTORE, as a damage, of a result unless `name` is NULL: all
 * else is verified all the same. */
static int add_error(struct finding *finding, const char *name)
{
    const char *text = ny_context_message(finding->ctx);
    char what[512];

    snprintf(what, sizeof(what), name ? "result '%.64s': %s" : "%s%s", name ? name : "", text);
    ny_error_clear(finding->ctx);
    return add_damage(finding,
                      &(struct ny_damage){.kind = name ? NY_DAMAGED_RESULT : NY_DAMAGED_OTHER,
                                          .name = name,
                                          .part = name ? "" : NULL,
                                          .what = what});
}

/* A result whose record speaks of a part that is not there; none that is removed or made anew while
 * it is looked at. */
static int compare_parts(void *user, const char *name)
{
    struct finding *finding = user;
    struct ny_context *ctx = ny_store_context(finding->store);
    struct ny_result result;
    json_t *record = NULL;
    int err = ny_record_load(finding->store, name, &record);
    bool done = !err && ny_field_is(record, "stage", "done");

    if (err || !done) {
        json_decref(record);
        return err;
    }
    err = ny_result_open(&result, finding->store, name);
    if (!err) err = ny_result_check_parts(&result);
    ny_result_close(&result);
    if (err && ny_record_untouched(finding->store, name, record, NY_ESTORE) == NY_EBUSY) {
        ny_error_clear(ctx);
        err = NY_OK;
    }
    json_decref(record);
    if (err != NY_ESTORE) return err;
    return add_error(finding, name);
}

/* Adds a result of all shards which they have from different fits, or not all of them. */
static int compare_shards(void *user, const char *name)
{
    struct finding *finding = user;
    struct ny_together whole;
    int err = ny_result_together(finding->store, name, NULL, &whole);

    if (!err && whole.lacking && whole.shards &&
        !ny_together_joined(&whole, ny_shards_of(finding->store)->count))
        err = ny_fail(finding->ctx, NY_ESTORE,
                      "%zu shards lack a result of all; run its command again", whole.lacking);
    return err == NY_ESTORE ? add_error(finding, name) : err;
}

/* Verifies what shards that are sound by themselves have together, and counts those not here. */
static int verify_together(struct finding *finding, const char *path, json_t *report)
{
    int err = ny_shards_open(&finding->store, finding->ctx, path, NULL, NY_SHARDS_SOME);
    const struct ny_shards *shards = err ? NULL : ny_shards_of(finding->store);

    finding->shard = -1;
    if (!err) err = ny_results_list(finding->store, compare_shards, finding);
    if (!err && shards->there < shards->count)
        ny_field_set_count(report, "shards_missing", shards->count - shards->there);
    ny_store_close(finding->store);
    return err;
}

/* Verifies a store, or one of the shards of one. */
static int verify_store(void *arg, const char *path, struct ny_shards *shards, int shard)
{
    struct finding *finding = arg;
    size_t before = json_array_size(finding->damaged);
    int err;

    finding->shard = shard;
    err = ny_store_open(&finding->store, finding->ctx, path);
    if (err == NY_ESTORE && shards) return add_error(finding, NULL);
    if (err) return err;
    if (shard >= 0) err = ny_shards_look(shards, (unsigned)shard, finding->store);
    if (err == NY_ESTORE) err = add_error(finding, NULL);
    if (!err) err = ny_store_verify(finding->store, add_damage, finding);
    if (err == NY_OK) err = ny_results_list(finding->store, compare_rows, finding);
    if (err == NY_OK && json_array_size(finding->damaged) == before) /* all chunks can be read */
        err = ny_results_list(finding->store, compare_parts, finding);
    ny_store_close(finding->store);
    if (err != NY_ESTORE || !json_array_size(finding->damaged)) return err;
    ny_error_clear(finding->ctx); /* it is the list of results */
    return NY_OK;
}

int ny_verify(struct ny_context *context, const char *path, struct ny_report **report)
{
    struct finding finding = {.ctx = context};
    json_t *object;
    size_t count;
    int err = NY_GIVEN(context, path);

    if (report) *report = NULL;
    if (!err) err = ny_call_begin(context);
    if (err) return err;
    finding.damaged = json_array();
    finding.results = json_array();
    object = json_object();
    err = ny_shards_each(context, path, NY_SHARDS_VERIFY, verify_store, &finding);
    if (!err && !json_array_size(finding.damaged) && ny_shards_at(path))
        err = verify_together(&finding, path, object);
    if (err) goto done;
    count = json_array_size(finding.damaged);
    ny_field_set_json(object, "ok", json_boolean(count == 0));
    ny_field_set_json(object, "damaged", json_incref(finding.damaged));
    ny_field_set_count(object, "rows_damaged", finding.rows);
    ny_field_set_count(object, "results_damaged", json_array_size(finding.results));
    err = ny_report_of_json(report, context, object);
    object = NULL;
    if (err == NY_OK && count > 0)
        err = ny_fail(context, NY_ESTORE,
                      "%s is damaged (pieces: %zu, rows of points: %llu, results: %zu); 'nystream "
                      "repair' sets "
                      "aside what is lost",
                      path, count, (unsigned long long)finding.rows,
                      json_array_size(finding.results));
done:
    json_decref(object);
    json_decref(finding.damaged);
    json_decref(finding.results);
    ny_call_end(context);
    return err;
}

/* ---- repair -------------------------------------------------------------------------------- */

/* Gathers what a repair has done; the lists belong to the report. */
struct repaired {
    struct ny_context *ctx;
    int shard; /* set by a verification */
    json_t *lost, *labels, *source, *names, *removed;
    uint64_t rows;
    bool older, columns, imports;
};

/* Adds what was set aside, a range of rows, or the name of a result that was removed. */
static int add_repaired(void *user, const struct ny_repaired *done)
{
    struct repaired *r = user;
    json_t *range, *list = done->kind == NY_DAMAGED_POINTS   ? r->lost
                           : done->kind == NY_DAMAGED_LABELS ? r->labels
                           : done->kind == NY_DAMAGED_NAMES  ? r->names
                           : done->kind == NY_DAMAGED_SOURCE ? r->source
                                                             : NULL;

    r->older |= done->kind == NY_DAMAGED_OLDER;
    r->columns |= done->kind == NY_DAMAGED_COLUMN_NAMES;
    r->imports |= done->kind == NY_DAMAGED_IMPORTS;
    if (done->kind == NY_DAMAGED_RESULT) ny_field_append(r->removed, ny_json_text(done->name));
    if (!list) return NY_OK;
    if (list == r->lost) r->rows += done->rows;
    range = json_object();
    ny_field_set_count(range, "first_row", done->first_row);
    ny_field_set_count(range, "rows", done->rows);
    if (r->shard >= 0) ny_field_set_count(range, "shard", (uint64_t)r->shard);
    ny_field_append(list, range);
    return NY_OK;
}

static int repair_store(void *arg, const char *path, struct ny_shards *shards, int shard)
{
    struct repaired *r = arg;
    struct ny_store *store;
    int err = ny_store_open(&store, r->ctx, path);

    r->shard = shard;
    if (!err && shard >= 0) err = ny_shards_look(shards, (unsigned)shard, store);
    if (!err && shard >= 0) r->older |= shards->shard[shard].older;
    if (err == NY_OK) err = ny_store_repair(store, add_repaired, r);
    ny_store_close(store);
    return err;
}

int ny_repair(struct ny_context *context, const char *path, struct ny_report **report)
{
    struct repaired r;
    json_t *object;
    int err = NY_GIVEN(context, path);

    if (report) *report = NULL;
    if (!err) err = ny_call_begin(context);
    if (err) return err;
    r = (struct repaired){.ctx = context,
                          .lost = json_array(),
                          .labels = json_array(),
                          .source = json_array(),
                          .names = json_array(),
                          .removed = json_array()};
    object = json_object();
    ny_field_set_json(object, "lost", r.lost);
    ny_field_set_json(object, "labels", r.labels);
    ny_field_set_json(object, "source", r.source);
    ny_field_set_json(object, "row_names", r.names);
    ny_field_set_json(object, "removed", r.removed);
    err = ny_shards_each(context, path, NY_SHARDS_MEND, repair_store, &r);
    if (err == NY_OK && report) {
        ny_field_set_count(object, "rows_lost", r.rows);
        ny_field_set_json(object, "older_accepted", json_boolean(r.older));
        ny_field_set_json(object, "column_names_removed", json_boolean(r.columns));
        ny_field_set_json(object, "imports_removed", json_boolean(r.imports));
        err = ny_report_of_json(report, context, json_incref(object));
    }
    json_decref(object);
    ny_call_end(context);
    return err;
}

/* Bytes of stores before they were compacted, and now. */
struct compacted {
    struct ny_context *ctx;
    uint64_t before, now;
};

static int compact_store(void *arg, const char *path, struct ny_shards *shards, int shard)
{
    struct compacted *compacted = arg;
    struct ny_store *store;
    int err = ny_store_open(&store, compacted->ctx, path);

    (void)shards;
    (void)shard;
    if (err) return err;
    compacted->before += ny_store_bytes(store);
    err = ny_store_compact(store, ny_unneeded_parts);
    compacted->now += ny_store_bytes(store);
    ny_store_close(store);
    return err;
}

int ny_compact(struct ny_context *context, const char *path, struct ny_report **report)
{
    struct compacted compacted = {.ctx = context};
    json_t *object;
    int err = NY_GIVEN(context, path);

    if (report) *report = NULL;
    if (!err) err = ny_shards_each(context, path, NY_SHARDS_CHANGE, compact_store, &compacted);
    if (err || !report) return err;
    ny_fields_begin();
    object = json_object();
    ny_field_set_count(object, "bytes_before", compacted.before);
    ny_field_set_count(object, "bytes", compacted.now);
    return ny_report_of_json(report, context, object);
}
