/*
 * An update of a result that all shards of a store have by one fit: places the rows that were
 * appended to the last shard, by the model as it is.
 *
 *   look     no other shard than the last may have grown, since rows are numbered through
 *   take in  the process that has the last shard updates its result, as that of an ordinary store;
 *            the landmarks, whose rows are those of other shards, are read from the model
 *   tell     the others hear that it is done, and what it reports
 *
 * The other shards keep what the fit has left them: what an update changes, the record of the last
 * one has for all. It is whole or as it was, so that the same command resumes an update that was
 * interrupted.
 */
#include "api/sharded.h"

#include <string.h>

#include "api/call.h"
#include "api/fit.h"
#include "api/inspect.h"
#include "api/report.h"
#include "fit/shards.h"
#include "peers/group.h"
#include "update/update.h"

/* The update, as all shards of this process share it. */
struct shards_update {
    const struct ny_shards *shards;
    const char *name;
    const struct ny_options *options;
    unsigned first; /* the shard of this process that tells what was found */
    bool begun;     /* an update was begun: ny_sharded_update_begun() */
    json_t *report;
};

static bool is_last(const struct shards_update *update, unsigned shard)
{
    return shard + 1 == update->shards->count;
}

static int open_shard(struct ny_store **store, const struct shards_update *update,
                      struct ny_context *ctx, unsigned shard)
{
    return ny_store_open(store, ctx, update->shards->shard[shard].path);
}

/* ---- look ----------------------------------------------------------------------------------- */

/* Refuses a result that is not one of all shards, and rows of it that are numbered anew. */
static int check_result(struct ny_store *store, const struct shards_update *update,
                        const json_t *record)
{
    const json_t *sharded = json_object_get(record, "sharded");
    struct ny_rows_info points;
    int err;

    if (ny_field_count(sharded, "shards", 0) != update->shards->count)
        return ny_fail(ny_store_context(store), NY_EUSAGE,
                       "'%s' is another result in each shard of %s; update it there", update->name,
                       update->shards->path);
    err = ny_points_info(store, &points);
    return err ? err
               : ny_shards_check_first(ny_store_context(store), update->name,
                                       ny_field_count(sharded, "first", 0), &points);
}

static int look(void *arg, struct ny_context *ctx, unsigned shard)
{
    const struct shards_update *update = arg;
    struct ny_store *store = NULL;
    json_t *record = NULL;
    int err = open_shard(&store, update, ctx, shard);

    if (!err) err = ny_store_join(store);
    if (!err) err = ny_record_need_done(store, update->name, &record);
    if (!err) err = check_result(store, update, record);
    json_decref(record);
    ny_store_close(store);
    return err ? err : ny_peers_wait(ny_context_peers(ctx));
}

/* ---- take in -------------------------------------------------------------------------------- */

/* Updates the last shard, by itself. */
static int take_in(void *arg, struct ny_context *ctx, unsigned shard)
{
    const struct shards_update *update = arg;
    struct ny_options options = *update->options; /* only read, but for errors about them */
    struct ny_peers *peers = ny_context_peers(ctx);
    struct ny_store *store = NULL;
    struct ny_name_lock *lock = NULL;
    json_t *record = NULL;
    int err = open_shard(&store, update, ctx, shard);

    options.ctx = ctx;
    if (!err) err = ny_name_lock(&lock, store, update->name);
    ny_context_set_peers(ctx, NULL);
    if (!err) err = ny_call_begin(ctx);
    if (!err) {
        err = ny_update_run_last(store, update->name, &options, &record);
        ny_call_end(ctx);
    }
    ny_context_set_peers(ctx, peers);
    json_decref(record);
    ny_name_unlock(lock);
    ny_store_close(store);
    return err;
}

/* Has the process that has the last shard update it. Where there are others, they are watched
 * meanwhile. */
static int take_in_last(struct ny_shard_team *team, struct shards_update *update)
{
    const unsigned count = team->shards->count;
    const struct ny_group_shape alone = {count, count - 1, 1};

    if (team->shape.first + team->shape.count != count) return NY_OK;
    return team->transport ? ny_group_run(team->ctx, &alone, team->transport, take_in, update)
                           : take_in(update, team->ctx, alone.first);
}

/* ---- tell ----------------------------------------------------------------------------------- */

/* Describes the result of the last shard as that of all. */
static int describe(struct ny_store *store, const struct shards_update *update, json_t **object)
{
    struct ny_report *report = NULL;
    json_t *record = NULL;
    int err = ny_record_need_done(store, update->name, &record);

    if (!err) err = ny_result_describe(&report, store, update->name, record);
    if (!err) {
        *object = json_deep_copy(ny_report_object(report));
        ny_field_set_count(*object, "n",
                           ny_field_count(json_object_get(record, "sharded"), "rows", 0));
    }
    ny_report_free(report);
    json_decref(record);
    return err;
}

static int tell(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct shards_update *update = arg;
    struct ny_store *store = NULL;
    json_t *mine = NULL, *shared = NULL;
    int err = NY_OK;

    if (is_last(update, shard)) err = open_shard(&store, update, ctx, shard);
    if (!err && store) err = describe(store, update, &mine);
    if (!err) err = ny_shards_share_json(ctx, update->shards->count - 1, mine, &shared);
    if (shard == update->first)
        update->report = shared;
    else
        json_decref(shared);
    json_decref(mine);
    ny_store_close(store);
    return err;
}

/* ---- all steps ------------------------------------------------------------------------------ */

static int run(struct ny_shard_team *team, struct shards_update *update, struct ny_report **report)
{
    int err;

    update->shards = team->shards;
    update->first = team->shape.first;
    err = ny_group_run(team->ctx, &team->shape, team->transport, look, update);
    if (!err) err = take_in_last(team, update);
    if (!err) err = ny_group_run(team->ctx, &team->shape, team->transport, tell, update);
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

/* Tells whether an update of the last shard was begun. */
static int find_begun(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct shards_update *update = arg;
    struct ny_store *store = NULL;
    json_t *record = NULL;
    double begun = 0;
    int err = open_shard(&store, update, ctx, shard);

    if (!err && is_last(update, shard)) err = ny_record_load_update(store, update->name, &record);
    begun = record != NULL;
    if (!err) err = ny_peers_fold(ny_context_peers(ctx), &begun, 1);
    if (shard == update->first) update->begun = begun > 0;
    json_decref(record);
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
