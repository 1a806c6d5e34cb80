/*
 * ny_truncate: the first rows of a store stay, and the results that the others are in go, where the
 * caller agrees.
 *
 * A result cannot follow: its landmarks and sums have rows that are gone. One that an update was to
 * take the rows into has none of them yet: the update is given up, and the result stays. Results
 * and updates go first, in transactions of their own, then the rows, in another; a kill in between
 * leaves all rows, and the same call goes on.
 */
#include <string.h>

#include "api/given.h"
#include "api/report.h"
#include "base/memory.h"
#include "results/behind.h"
#include "results/record.h"
#include "results/update.h"
#include "shards/set.h"

enum { LIST_BYTES = 512 };

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

/* Writes the names with blanks between, as for a command line, and how many there is no room for.
 */
static const char *list_names(const json_t *names, char text[LIST_BYTES])
{
    size_t at = 0, i = 0, count = json_array_size(names);

    for (; i < count && at < LIST_BYTES - 2 * 64; i++)
        at += (size_t)snprintf(text + at, LIST_BYTES - at, "%s%s", i ? " " : "",
                               json_string_value(json_array_get(names, i)));
    if (i < count) snprintf(text + at, LIST_BYTES - at, " and %zu more", count - i);
    return text;
}

static int refuse(const struct truncating *t)
{
    size_t count = json_array_size(t->reaching);
    const char *path = ny_store_path(t->store);
    char names[LIST_BYTES] = "";

    list_names(t->reaching, names);
    if (t->of_all)
        return ny_fail(t->ctx, NY_EUSAGE,
                       "nothing was changed: results of all shards have rows of %s from row %llu "
                       "on: %s; first remove them with 'nystream rm' and the path of all shards",
                       path, (unsigned long long)t->rows, names);
    return ny_fail(t->ctx, NY_EUSAGE,
                   "nothing was changed: %s rows from row %llu on: %s; give --drop-results to "
                   "remove %s too, then fit the remaining rows anew. To keep a model that a frozen "
                   "update used, first 'nystream export %s NAME --part model -o NAME.nym'; then "
                   "'nystream fit %s NAME --model NAME.nym' places the rows that stay",
                   count == 1 ? "a result has" : "results have", (unsigned long long)t->rows, names,
                   count == 1 ? "it" : "them", path, path);
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
            ny_log(
                t->ctx, NY_LOG_WARNING,
                "an interrupted --update of '%s' included rows that are removed, and is abandoned: "
                "the result stays as it was before; give --update again to take other rows in",
                name);
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
    if (json_array_size(t->reaching) && (!t->drops || t->of_all)) return refuse(t);
    if (now && json_array_size(t->reaching)) err = drop(t);
    return err || !now ? err : give_up(t);
}

/* Rows of all shards are numbered through: which of them go is for the path of one to say. */
static int check_path(struct ny_context *ctx, const char *path)
{
    struct ny_shards *shards;
    int err = ny_shards_at(path) ? ny_shards_load(&shards, ctx, path) : NY_OK;

    if (err || !ny_shards_at(path)) return err;
    err = ny_fail(ctx, NY_EUSAGE,
                  "%s is a store in shards: give the path of the last one, %s/shard-%05u, and the "
                  "number of its rows to keep",
                  path, path, shards->count - 1);
    ny_shards_free(shards);
    return err;
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
    err = check_path(context, path);
    if (!err) err = ny_store_open(&t.store, context, path);
    if (!err) err = ny_points_info(t.store, &before);
    within = !err && ny_shards_within(context, path, &home);
    if (within) noted.end = (noted.first = home.shard) + 1;
    if (within) err = ny_shards_note(context, home.folder, noted);
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
