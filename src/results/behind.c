/* Rows that a result does not have yet (results/behind.h): its record counts those that it has, and
 * those that were lost by then; the store counts all. */
#include "results/behind.h"

#include <stdio.h>

#include "model/graph.h"
#include "results/record.h"
#include "results/whole.h"

/* The rows that a record lacks, whether it is done or not, beyond `has`. */
static uint64_t lacks(struct ny_store *store, const json_t *record, uint64_t has)
{
    const json_t *report = json_object_get(record, "report");
    uint64_t all;
    struct ny_rows_info points;

    if (ny_of_nodes(record)) return 0;
    if (ny_points_info(store, &points)) {
        ny_error_clear(ny_store_context(store));
        return 0;
    }
    /* A shard tells the rows of all within a fit; a record those of its shard when it is done. */
    all = json_object_get(record, "sharded") ? ny_rows_here(&points) : points.n;
    all += ny_store_skipped(store)->rows;
    has = has == UINT64_MAX ? has : has + ny_field_count(report, "lost", 0);
    return all > has ? all - has : 0;
}

/* Returns the rows that the shards of a set lack, of a result of all of them. */
static uint64_t lack(struct ny_store *set, const char *name)
{
    uint64_t behind = 0;
    int err = NY_OK;

    for (size_t k = 0; !err && k < ny_store_set(set)->count; k++) {
        struct ny_rows_info points = {.n = 0};
        struct ny_store *store;
        json_t *record = NULL;

        err = ny_set_store(set, k, &store);
        if (!err) err = ny_record_load(store, name, &record);
        if (!err && !record) err = ny_points_info(store, &points); /* it has joined since */
        if (!err) behind += record ? ny_rows_behind(store, name, record) : points.n;
        json_decref(record);
    }
    if (err) ny_error_clear(ny_store_context(set));
    return err ? 0 : behind;
}

uint64_t ny_rows_behind(struct ny_store *store, const char *name, const json_t *record)
{
    if (!ny_field_is(record, "stage", "done")) return 0;
    if (!ny_store_set(store))
        return lacks(store, record,
                     ny_field_count(json_object_get(record, "report"), "n", UINT64_MAX));
    return json_object_get(record, "sharded") ? lack(store, name) : 0;
}

/* The rows of this store that a record has. One of a fit over shards counts those of all shards
 * until it is done. */
static uint64_t rows_of(const json_t *record, const struct ny_rows_info *points)
{
    uint64_t n = ny_field_count(json_object_get(record, "report"), "n", 0);
    bool of_all = ny_field_count(record, "shards", 1) > 1 && !json_object_get(record, "sharded");

    return of_all && n > points->n ? points->n : n;
}

/* The row behind the last one of a record, by its number in the store. */
static int reach_of(struct ny_store *store, const json_t *record, uint64_t *end)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_rows_info points;
    struct ny_lost lost = {0};
    uint64_t n = 0, run;
    int err = ny_points_info(store, &points);

    if (!err) n = rows_of(record, &points);
    if (!err) err = ny_record_lost(ctx, record, &lost);
    if (!err && n && ny_record_rows_here(record)) *end = ny_lost_place(&lost, n - 1, &run) + 1;
    ny_lost_release(&lost, ctx);
    return err;
}

int ny_rows_reach(struct ny_store *store, const char *name, struct ny_rows_end *reach)
{
    json_t *record = NULL, *update = NULL;
    int err = ny_record_load(store, name, &record);

    *reach = (struct ny_rows_end){0};
    if (!err) err = ny_record_load_update(store, name, &update);
    if (!err && record) err = reach_of(store, record, &reach->result);
    if (!err && update) err = reach_of(store, update, &reach->update);
    json_decref(record);
    json_decref(update);
    return err;
}

static void warn(struct ny_store *store, const char *what, const char *name, uint64_t behind)
{
    if (behind)
        ny_log(ny_store_context(store), NY_LOG_WARNING,
               "%s'%s' lacks %llu rows appended since; update it, or make it again with --restart",
               what, name, (unsigned long long)behind);
}

void ny_warn_behind(struct ny_store *store, const char *name, const json_t *record)
{
    warn(store, "", name, ny_rows_behind(store, name, record));
}

void ny_warn_sums_behind(struct ny_store *store, const char *name, const json_t *record,
                         uint64_t rows)
{
    warn(store, "the sum of ", name, lacks(store, record, rows));
}
