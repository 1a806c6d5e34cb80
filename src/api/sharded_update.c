/*
 * An update of a result that all shards of a store have by one fit: places the rows that were
 * appended to the last shard, by the model as it is.
 *
 *   look     the shards compare what they have; no other than the last may have grown, since rows
 *            are numbered through. They warn of a model that no longer suits all rows.
 *   take in  the process that has the last shard updates its result, as that of an ordinary store;
 *            the landmarks, whose rows are those of other shards, are read from the model.
 *   follow   the other shards take over the report, and how many rows there are in all.
 *
 * The result of the last shard is whole or as it was, and the others follow it: an update that was
 * interrupted is resumed at any of these steps, and shards that had not followed do so with
 * the next one.
 */
#include "api/sharded.h"

#include <string.h>

#include "api/call.h"
#include "api/fit.h"
#include "api/inspect.h"
#include "api/report.h"
#include "base/memory.h"
#include "fit/shards.h"
#include "peers/group.h"
#include "results/keep.h"
#include "update/update.h"

/* The update, as all shards of this process share it. */
struct shards_update {
    const struct ny_shards *shards;
    const char *name;
    const struct ny_options *options;
    unsigned first; /* the shard of this process that tells what was found */
    bool needed;    /* the last shard has rows to take in */
    bool begun;     /* an update was begun: ny_sharded_update_begun() */
    uint64_t rows;  /* of all shards */
    json_t *report;
};

/* The facts of a shard that decide what is to be done. */
struct shard_rows {
    uint64_t now, had; /* rows of the shard, and those that its result has */
    uint64_t begun;
};

static unsigned last_of(const struct shards_update *update)
{
    return update->shards->count - 1;
}

/* Returns the options for the context of a shard; they are only read, but for errors about them. */
static struct ny_options options_for(const struct shards_update *update, struct ny_context *ctx)
{
    struct ny_options options = *update->options;

    options.ctx = ctx;
    return options;
}

/* A shard's store with the lock of the NAME. */
struct held_shard {
    struct ny_store *store;
    struct ny_name_lock *lock;
};

static int hold(struct held_shard *held, const struct shards_update *update, struct ny_context *ctx,
                unsigned shard)
{
    int err = ny_store_open(&held->store, ctx, update->shards->shard[shard].path);

    return err ? err : ny_name_lock(&held->lock, held->store, update->name);
}

static void let_go(struct held_shard *held)
{
    ny_name_unlock(held->lock);
    ny_store_close(held->store);
}

/* ---- look ----------------------------------------------------------------------------------- */

/* Refuses a result that is not one of all shards. */
static int check_result(struct ny_context *ctx, const struct shards_update *update,
                        const json_t *record)
{
    const json_t *sharded = json_object_get(record, "sharded");

    if (sharded && ny_field_count(sharded, "shards", 0) == update->shards->count) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "'%s' is another result in each shard of %s; update it there",
                   update->name, update->shards->path);
}

/* Reads what this shard has. */
static int read_rows(struct ny_store *store, const char *name, const json_t *record,
                     struct shard_rows *rows)
{
    struct ny_rows_info points;
    json_t *begun;
    int err = ny_record_load_update(store, name, &begun);

    if (!err) err = ny_points_info(store, &points);
    if (!err)
        *rows =
            (struct shard_rows){.now = ny_rows_here(&points),
                                .had = ny_field_count(json_object_get(record, "report"), "n", 0),
                                .begun = begun != NULL};
    json_decref(begun);
    return err;
}

/* Refuses rows that were appended to another shard than the last. */
static int check_rows(struct ny_context *ctx, const struct shards_update *update,
                      const struct shard_rows *all)
{
    for (unsigned k = 0; k < last_of(update); k++)
        if (all[k].now != all[k].had)
            return ny_fail(
                ctx, NY_EUSAGE,
                "shard %u of %s, not the last, has other rows than '%s'; fit it anew with "
                "--restart",
                k, update->shards->path, update->name);
    return NY_OK;
}

/* Tells the other shards what this one has, and hears of theirs. */
static int compare(struct ny_store *store, const struct shards_update *update, const json_t *record,
                   struct shard_rows *last)
{
    struct ny_context *ctx = ny_store_context(store);
    struct shard_rows mine, *all;
    int err = read_rows(store, update->name, record, &mine);

    if (err) return err;
    all = ny_calloc(ctx, NY_MEM_OTHER, update->shards->count, sizeof(*all));
    if (!all) return NY_EBUDGET;
    err = ny_peers_gather_equal(ny_context_peers(ctx), &mine, sizeof(mine), all);
    if (!err) err = check_rows(ctx, update, all);
    *last = all[last_of(update)];
    ny_free(ctx, all);
    return err;
}

/* Looks at the result of one shard. */
static int look_at(struct ny_store *store, struct shards_update *update, unsigned shard)
{
    struct ny_context *ctx = ny_store_context(store);
    const struct ny_options options = options_for(update, ctx);
    struct ny_updated result;
    struct ny_rows_info points;
    struct shard_rows last;
    int err = ny_updated_read(&result, store, update->name, &options, 0);

    if (!err) err = check_result(ctx, update, result.record);
    if (!err)
        err = ny_update_allowed(ctx, &result.settings.fit, NY_UPDATE_FROZEN, update->name,
                                result.record);
    if (!err) err = compare(store, update, result.record, &last);
    if (!err) err = ny_points_info(store, &points);
    if (err || shard != update->first) goto done;
    update->needed = last.begun || last.now > last.had;
    update->rows = points.n;
    if (!update->needed)
        ny_log(ctx, NY_LOG_NOTE, "'%s' has all rows of %s", update->name, update->shards->path);
done:
    ny_updated_release(&result, ctx);
    return err;
}

static int look(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct shards_update *update = arg;
    struct held_shard held = {0};
    int err = hold(&held, update, ctx, shard);

    if (!err) err = ny_store_join(held.store);
    if (!err) err = ny_call_begin(ctx);
    if (!err) {
        err = look_at(held.store, update, shard);
        ny_call_end(ctx);
    }
    let_go(&held);
    return err;
}

/* ---- take in -------------------------------------------------------------------------------- */

/* Updates the last shard, by itself. */
static int take_in(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct shards_update *update = arg;
    const struct ny_options options = options_for(update, ctx);
    struct ny_peers *peers = ny_context_peers(ctx);
    struct held_shard held = {0};
    json_t *record = NULL;
    int err = hold(&held, update, ctx, shard);

    ny_context_set_peers(ctx, NULL);
    if (!err) err = ny_call_begin(ctx);
    if (!err) {
        err = ny_update_run_last(held.store, update->name, &options, update->rows, &record);
        ny_call_end(ctx);
    }
    ny_context_set_peers(ctx, peers);
    json_decref(record);
    let_go(&held);
    return err;
}

/* Has the process that has the last shard update it. Where there are others, they are watched
 * meanwhile. */
static int take_in_last(struct ny_shard_team *team, struct shards_update *update)
{
    const struct ny_group_shape alone = {team->shards->count, last_of(update), 1};

    if (team->shape.first + team->shape.count != team->shards->count) return NY_OK;
    return team->transport ? ny_group_run(team->ctx, &alone, team->transport, take_in, update)
                           : take_in(update, team->ctx, alone.first);
}

/* ---- follow --------------------------------------------------------------------------------- */

/* Gives the others what they take over of the record of the last shard, as *last. */
static int share(struct ny_context *ctx, const struct shards_update *update, unsigned shard,
                 const json_t *record, json_t **last)
{
    static const char *const keys[] = {"report", "sharded", "selected"};
    json_t *taken = shard == last_of(update) ? json_object() : NULL;
    int err;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && taken; i++)
        if (json_object_get(record, keys[i]))
            ny_field_set_json(taken, keys[i], json_incref(json_object_get(record, keys[i])));
    err = ny_shards_share_json(ctx, last_of(update), taken, last);
    json_decref(taken);
    return err;
}

/* Tells whether the last shard has been updated since this one followed it. */
static bool is_behind(const json_t *own, const json_t *last)
{
    return ny_field_count(json_object_get(own, "report"), "updates", 0) !=
           ny_field_count(json_object_get(last, "report"), "updates", 0);
}

/* Makes the record of this shard, *own, follow that of the last, whose clusters went with its
 * update. */
static int adopt(struct ny_store *store, const char *name, json_t *own, const json_t *last)
{
    static const char *const kept[] = {"n", "store_bytes"};
    json_t *before = json_deep_copy(own), *report = json_object_get(last, "report");
    json_t *sharded = json_object_get(own, "sharded");
    int err = NY_OK;

    if (is_behind(own, last)) json_object_del(own, "clusters");
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        ny_field_set_json(report, kept[i],
                          json_incref(json_object_get(json_object_get(own, "report"), kept[i])));
    ny_field_set_json(own, "report", json_incref(report));
    ny_field_set_count(sharded, "rows",
                       ny_field_count(json_object_get(last, "sharded"), "rows", 0));
    if (json_is_integer(json_object_get(last, "selected")))
        ny_field_set_json(own, "selected", json_incref(json_object_get(last, "selected")));
    if (!before || !json_equal(before, own)) err = ny_record_save(store, name, own);
    json_decref(before);
    return err;
}

/* Takes over the report of a shard as that of all, with the rows of all. */
static int take_report(struct shards_update *update, struct ny_store *store, const json_t *record)
{
    struct ny_report *report = NULL;
    int err = ny_result_describe(&report, store, update->name, record);

    if (err) return err;
    update->report = json_deep_copy(ny_report_object(report));
    ny_field_set_count(update->report, "n",
                       ny_field_count(json_object_get(record, "sharded"), "rows", 0));
    ny_report_free(report);
    return NY_OK;
}

static int follow(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct shards_update *update = arg;
    struct held_shard held = {0};
    json_t *record = NULL, *last = NULL;
    int err = hold(&held, update, ctx, shard);

    if (!err) err = ny_record_need_done_held(held.store, update->name, &record);
    if (!err) err = share(ctx, update, shard, record, &last);
    if (!err && shard != last_of(update)) err = adopt(held.store, update->name, record, last);
    if (!err && shard == update->first) err = take_report(update, held.store, record);
    json_decref(record);
    json_decref(last);
    let_go(&held);
    return err ? err : ny_peers_wait(ny_context_peers(ctx)); /* the result is whole then */
}

/* ---- all steps ------------------------------------------------------------------------------ */

static int run(struct ny_shard_team *team, struct shards_update *update, struct ny_report **report)
{
    int err;

    update->shards = team->shards;
    update->first = team->shape.first;
    err = ny_group_run(team->ctx, &team->shape, team->transport, look, update);
    if (!err && update->needed) err = take_in_last(team, update);
    if (!err) err = ny_group_run(team->ctx, &team->shape, team->transport, follow, update);
    if (!err && report && team->shape.first == 0) {
        err = ny_report_of_json(report, team->ctx, update->report);
        update->report = NULL;
    }
    json_decref(update->report);
    return err;
}

int ny_sharded_update(struct ny_shard_team *team, const char *name,
                      const struct ny_options *options, struct ny_report **report)
{
    struct shards_update update = {.name = name, .options = options};
    struct ny_options *frozen = NULL;
    int err = NY_OK;

    if (!options) {
        err = ny_options_new(&frozen, team->ctx);
        if (!err) err = ny_options_set(frozen, "update", "frozen");
        update.options = frozen;
    } else if (strcmp(ny_options_text(options, "update"), "frozen") != 0) {
        err = ny_fail_idle(team->ctx, "update", "full across shards");
    }
    if (!err) err = run(team, &update, report);
    ny_options_free(frozen);
    return err;
}

/* Tells whether an update of this shard was begun. */
static int find_begun(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct shards_update *update = arg;
    struct ny_store *store = NULL;
    json_t *begun = NULL;
    double count = 0;
    int err = ny_store_open(&store, ctx, update->shards->shard[shard].path);

    if (!err) err = ny_record_load_update(store, update->name, &begun);
    count = begun != NULL;
    if (!err) err = ny_peers_fold(ny_context_peers(ctx), &count, 1);
    if (shard == update->first) update->begun = count > 0;
    json_decref(begun);
    ny_store_close(store);
    return err;
}

int ny_sharded_update_begun(struct ny_shard_team *team, const char *name, bool *begun)
{
    struct shards_update update = {
        .shards = team->shards, .name = name, .first = team->shape.first};
    int err = ny_group_run(team->ctx, &team->shape, team->transport, find_begun, &update);

    *begun = update.begun;
    return err;
}
