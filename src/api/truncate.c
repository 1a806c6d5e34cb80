/*
 * ny_truncate: the first rows of a store stay, and the results that the others are in go, where the
 * caller agrees.
 *
 * A result cannot follow: its landmarks and sums have rows that are gone. One that an update was to
 * take the rows into has none of them yet: the update is given up, and the result stays. Results
 * and updates go first, in transactions of their own, then the rows, in another; a kill in between
 * leaves all rows, and the same call goes on.
 */

#include "api/call.h"
#include "api/report.h"
#include "base/memory.h"
#include "results/behind.h"
#include "results/record.h"
#include "results/update.h"
#include "shards/open.h"

struct truncating {
    struct ny_context *ctx;
    struct ny_store *store;
    uint64_t rows;
    bool drops;       /* results may go */
    bool of_all;      /* one of them is of all shards */
    json_t *reaching; /* names of results that reach beyond the rows */
    json_t *updates;  /* and of those that only an update under way of theirs does */
};

/* Adds a result that has rows which are to go. */
static int add_reaching(void *user, const char *name)
{
    struct truncating *t = user;
    json_t *record = NULL;
    struct ny_rows_end reach;
    bool sharded, updates;
    int err = ny_rows_reach(t->store, name, &reach);

    if (err || (reach.result <= t->rows && reach.update <= t->rows)) return err;
    err = ny_record_load(t->store, name, &record);
    sharded = json_object_get(record, "sharded") != NULL;
    json_decref(record);
    updates = !sharded && reach.result <= t->rows;
    t->of_all |= sharded;
    ny_field_append(updates ? t->updates : t->reaching, ny_json_text(name));
    return err;
}

static int drop(const struct truncating *t)
{
    struct ny_batch *batch;
    int err = ny_batch_begin(&batch, t->store);

    if (err) return err;
    for (size_t i = 0; i < json_array_size(t->reaching); i++)
        ny_batch_delete(batch, json_string_value(json_array_get(t->reaching, i)), NULL);
    return ny_batch_commit(batch);
}

/* Gives up the updates that take in rows which go. Their results are as they were before. */
static int give_up(const struct truncating *t)
{
    int err = NY_OK;

    for (size_t i = 0; i < json_array_size(t->updates) && !err; i++) {
        const char *name = json_string_value(json_array_get(t->updates, i));
        json_t *update;

        err = ny_record_load_update(t->store, name, &update);
        if (!err && update) err = ny_update_discard(t->store, name, update);
        if (!err)
            ny_log(t->ctx, NY_LOG_WARNING, "an interrupted --update of '%s' is abandoned", name);
        json_decref(update);
    }
    return err;
}

/* Looks for results that would have rows which are not there, and removes them when it is time. */
static int clear(void *user, bool now)
{
    struct truncating *t = user;
    int err;

    json_array_clear(t->reaching);
    json_array_clear(t->updates);
    err = ny_results_list(t->store, add_reaching, t);
    if (!err) err = ny_fields_check(t->ctx); /* or one of them might be missing */
    if (err) return err;
    if (json_array_size(t->reaching) && (!t->drops || t->of_all))
        return ny_fail(
            t->ctx, NY_EUSAGE, "'%s' has rows from row %llu on; %s",
            json_string_value(json_array_get(t->reaching, 0)), (unsigned long long)t->rows,
            t->of_all ? "remove it with 'nystream rm'" : "give --drop-results to remove it");
    if (now && json_array_size(t->reaching)) err = drop(t);
    return err || !now ? err : give_up(t);
}

int ny_truncate(struct ny_context *context, const char *path, uint64_t rows, int drop_results,
                struct ny_report **report)
{
    struct truncating t = {.ctx = context, .rows = rows, .drops = drop_results};
    struct ny_rows_info before = {0};
    struct ny_shards_noted noted = {.cut = true, .rows = rows};
    struct ny_shard_home home;
    bool within;
    json_t *object;
    int err = NY_GIVEN(context, path);

    if (report) *report = NULL;
    if (err) return err;
    ny_fields_begin();
    t.reaching = json_array();
    t.updates = json_array();
    err = ny_store_open(&t.store, context, path);
    if (!err) err = ny_points_info(t.store, &before);
    within = !err && ny_shards_within(context, path, &home);
    if (within) noted.end = (noted.first = home.shard) + 1;
    if (within) err = ny_whole_refuse(context, home.folder);
    if (within && !err) err = ny_shards_note(context, home.folder, noted);
    if (!err) err = ny_store_truncate(t.store, rows, clear, &t);
    noted.cut = false;
    if (!err && within) ny_shards_note(context, home.folder, noted);
    if (!err && report) {
        object = json_object();
        ny_field_set_count(object, "n", rows);
        ny_field_set_count(object, "rows_removed", before.n - rows);
        ny_field_set_json(object, "removed", json_incref(t.reaching));
        err = ny_report_of_json(report, context, object);
    }
    json_decref(t.reaching);
    json_decref(t.updates);
    ny_store_close(t.store);
    return err;
}
