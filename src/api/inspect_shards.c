/*
 * Tells info about stores in shards (api/inspect_shards.h). Figures of points are summed over the
 * shards that are there; of a result they are those of the whole where one fit over all shards has
 * made it (field "sharded" of its records), and else those in which all shards agree.
 */
#include "api/inspect_shards.h"

#include <string.h>

#include "job/job.h"
#include "results/behind.h"
#include "results/clusters.h"
#include "results/record.h"
#include "results/shards.h"
#include "shards/open.h"
#include "stream/source.h"

/* ---- the status of a result ---------------------------------------------------------------- */

/* A job that is not done is running when somebody holds its lock, and summed up where it was to end
 * with its sums. */
const char *ny_result_status(struct ny_store *store, const char *name, const json_t *record)
{
    if (ny_field_is(record, "stage", "done")) return "done";
    if (json_is_true(json_object_get(record, "summed")) && !ny_name_held(store, name))
        return "summed";
    return ny_name_held(store, name) ? "running" : "interrupted";
}

/* Joins the status of one shard to that of those before it. */
static const char *join(const char *before, const char *one)
{
    if (!before || strcmp(before, one) == 0) return one;
    return strcmp(before, "running") == 0 || strcmp(one, "running") == 0 ? "running"
                                                                         : "interrupted";
}

const char *ny_status_of_all(struct ny_store *store, const char *name, const json_t *record)
{
    const struct ny_set *set = ny_store_set(store);
    const char *status = NULL;
    struct ny_together whole = {0};

    if (!set) return ny_result_status(store, name, record);
    for (size_t k = 0; k < set->count; k++) {
        struct ny_store *one;
        json_t *own = NULL;

        if (ny_set_store(store, k, &one) || ny_record_load(one, name, &own)) return "unreadable";
        if (own) status = join(status, ny_result_status(one, name, own));
        ny_together_add(&whole, own);
        json_decref(own);
    }
    if (whole.torn) return "unreadable";
    if (whole.lacking && !ny_together_joined(&whole, ny_shards_of(store)->count))
        status = join(status, "interrupted");
    return status ? status : "interrupted";
}

/* ---- a result ------------------------------------------------------------------------------ */

int ny_spread_find(struct ny_store *set, const char *name, struct ny_store **store, json_t **record)
{
    size_t found = SIZE_MAX;
    bool done = false;
    uint64_t most = 0;
    int err = NY_OK;

    *record = NULL;
    for (size_t k = 0; !err && k < ny_store_set(set)->count; k++) {
        json_t *own = NULL;
        uint64_t updates;

        err = ny_set_store(set, k, store);
        if (!err) err = ny_record_load(*store, name, &own);
        updates = ny_field_count(json_object_get(own, "report"), "updates", 0);
        if (!err && own && (found == SIZE_MAX || (done && updates >= most))) {
            found = k;
            done = ny_field_is(own, "stage", "done");
            most = updates;
        }
        json_decref(own);
    }
    if (err) return err;
    if (found == SIZE_MAX) return ny_result_missing(set, name);
    err = ny_set_store(set, found, store);
    return err ? err : ny_record_load(*store, name, record);
}

/* Numbers rows that the record `first` tells as they are numbered now, from one shard to the next.
 */
static void number_rows(const json_t *fitted, uint64_t now, const json_t *first, json_t *object)
{
    const uint64_t before[2] = {ny_field_count(fitted, "first", 0), now};

    ny_report_rows_now(object, json_object_get(first, "report"), before,
                       json_equal(fitted, json_object_get(first, "sharded")));
}

/* Sets figures of the report to null in which another shard's report differs. */
static void keep_equal(json_t *object, const json_t *first, const json_t *other)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)first, key, value)
    {
        const json_t *theirs = json_object_get(other, key);

        if (strcmp(key, "n") != 0 && !(theirs && json_equal(value, theirs)))
            ny_field_set_json(object, key, json_null());
    }
}

int ny_spread_describe(struct ny_store *set, const char *name, const json_t *first, json_t *object)
{
    const struct ny_shards *shards = ny_shards_of(set);
    json_t *lacking = json_array(), *spread = json_object();
    uint64_t n = 0, all = 0, behind;
    int err = NY_OK;

    for (size_t k = 0; !err && k < ny_store_set(set)->count; k++) {
        struct ny_store *store;
        json_t *record = NULL;
        const json_t *report, *fitted;

        err = ny_set_store(set, k, &store);
        if (!err) err = ny_record_load(store, name, &record);
        if (err) break;
        report = json_object_get(record, "report");
        fitted = json_object_get(record, "sharded");
        n += ny_field_count(report, "n", 0);
        if (!fitted && ny_field_count(record, "shards", 1) > 1) /* the rows of all, until it ends */
            all = ny_field_count(report, "n", 0);
        if (fitted && shards->there < shards->count) all = ny_field_count(fitted, "rows", 0);
        if (!record)
            ny_field_append(lacking, json_integer((json_int_t)ny_shards_number(set, k)));
        else if (!fitted)
            keep_equal(object, json_object_get(first, "report"), report);
        if (fitted && shards->there == shards->count)
            number_rows(fitted, ny_store_set(set)->first[k], first, object);
        if (!ny_stored_clusters_same(first, record)) json_object_del(object, "clustering");
        json_decref(record);
    }
    ny_field_set_count(object, "n", all ? all : n);
    ny_field_set_text(object, "status", ny_status_of_all(set, name, first));
    behind = ny_rows_behind(set, name, first);
    if (behind) ny_field_set_count(object, "rows_behind", behind);
    ny_field_set_count(spread, "count", shards->count);
    ny_field_set_count(spread, "there", shards->there);
    ny_field_set_json(spread, "lacking", lacking);
    ny_field_set_json(object, "shards", spread);
    return err;
}

/* ---- points -------------------------------------------------------------------------------- */

/* Tells of one shard which rows it has: first, n, and its path; null if it is not there, or a shard
 * before it is missing. */
static json_t *describe_shard(const struct ny_shards *shards, unsigned k, bool known)
{
    const struct ny_shard *shard = &shards->shard[k];
    json_t *entry = json_object();

    ny_field_set_count(entry, "shard", k);
    ny_field_set_json(entry, "there", json_boolean(shard->there));
    ny_field_set_json(entry, "first", json_null());
    ny_field_set_json(entry, "n", json_null());
    if (known && shard->there) ny_field_set_count(entry, "first", shard->first);
    if (shard->there) ny_field_set_count(entry, "n", shard->rows);
    ny_field_set_text(entry, "path", shard->path);
    return entry;
}

int ny_shards_describe(struct ny_store *store, json_t *object)
{
    const struct ny_shards *shards = ny_shards_of(store);
    json_t *described = json_object(), *list = json_array(), *missing = json_array();
    json_t *odd = json_array();
    bool known = true;

    for (unsigned k = 0; shards && k < shards->count; k++) {
        const struct ny_shard *shard = &shards->shard[k];

        ny_field_append(list, describe_shard(shards, k, known));
        known = known && shard->there;
        if (!shard->there) ny_field_append(missing, json_integer((json_int_t)k));
        if (shard->there && k + 1 < shards->count && shard->rows % NY_UNIT_ROWS)
            ny_field_append(odd, json_integer((json_int_t)k));
    }
    ny_field_set_count(described, "count", shards ? shards->count : 0);
    ny_field_set_json(described, "missing", missing);
    ny_field_set_json(described, "uneven", odd);
    ny_field_set_json(described, "list", list);
    if (!shards) json_decref(described);
    ny_field_set_json(object, "shards", shards ? described : json_null());
    return NY_OK;
}

int ny_set_uncut(struct ny_store *set, int err)
{
    const struct ny_set *all = ny_store_set(set);
    struct ny_context *ctx = ny_store_context(set);

    if (err && err != NY_ESTORE && err != NY_EINTERNAL) return err;
    for (size_t k = 0; k < all->count; k++) {
        struct ny_rows_info info;
        struct ny_store *one;
        int failed = ny_set_store(set, k, &one);

        if (!failed) failed = ny_points_info(one, &info);
        if (failed) return err ? err : failed;
        if (info.n >= all->first[k + 1] - all->first[k]) continue;
        ny_error_clear(ctx);
        return ny_fail_changed(ctx, ny_store_path(one));
    }
    return err;
}

int ny_bytes_of_all(struct ny_store *store, uint64_t *bytes)
{
    const struct ny_set *set = ny_store_set(store);
    int err = NY_OK;

    *bytes = set ? 0 : ny_store_bytes(store);
    for (size_t k = 0; set && !err && k < set->count; k++) {
        struct ny_store *one;

        err = ny_set_store(store, k, &one);
        if (!err) *bytes += ny_store_bytes(one);
    }
    return err;
}
