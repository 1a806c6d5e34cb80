/*
 * A frozen update of a result that all shards of a store have by one fit: places the rows that were
 * appended to any of them, by the model as it is. (A full one is a job of all shards, as a fit is:
 * api/update.c.)
 *
 *   look     finds which shards have rows that the result lacks
 *   take in  each of these updates its result, as that of an ordinary store; the landmarks, whose
 *            rows may be those of other shards, are read from the model
 *   tell     all hear that it is done, and what the shard that was updated most often reports
 *
 * Each shard is whole or as it was, so that the same command resumes an update that was
 * interrupted: those that have all of their rows have nothing to do.
 */
#include "api/sharded.h"

#include "api/call.h"
#include "api/fit.h"
#include "api/inspect.h"
#include "base/memory.h"
#include "fit/shards.h"
#include "results/behind.h"
#include "results/record.h"
#include "update/update.h"

/* The update, as all shards of this process share it. */
struct shards_update {
    const struct ny_shard_team *team;
    const char *name;
    const struct ny_options *options;
    bool *behind;              /* by shard: it has rows that the result lacks */
    enum ny_update_mode begun; /* ny_sharded_update_begun() */
    json_t *report;
};

/* ---- look ----------------------------------------------------------------------------------- */

/* Refuses a result that is not one of all shards, or whose full update other shards may show
 * already, and finds whether it lacks rows of this one. */
static int check_result(struct ny_store *store, struct shards_update *update, unsigned shard,
                        const json_t *record)
{
    struct ny_context *ctx = ny_store_context(store);
    json_t *begun = NULL;
    int err = ny_update_check_shards(ctx, update->name, record);

    if (!err) err = ny_record_load_update(store, update->name, &begun);
    if (!err && ny_field_is(begun, "stage", "done"))
        err = ny_fail(ctx, NY_EUSAGE, "'%s' has a full update that was interrupted; end it first",
                      update->name);
    json_decref(begun);
    update->behind[shard] = !err && ny_rows_behind(store, update->name, record) > 0;
    return err;
}

static int look(void *arg, struct ny_store *store, unsigned shard)
{
    struct shards_update *update = arg;
    json_t *record = NULL;
    int err = ny_record_need_done(store, update->name, &record);

    if (!err) err = check_result(store, update, shard, record);
    json_decref(record);
    return err ? err : ny_peers_wait(ny_context_peers(ny_store_context(store)));
}

/* ---- take in -------------------------------------------------------------------------------- */

/* Tells whether a shard has rows to take in. Where none of this process has, the last one says so,
 * or that the options are others. */
static bool takes_in(const struct shards_update *update, unsigned shard)
{
    const struct ny_group_shape *own = &update->team->shape;
    const unsigned end = own->first + own->count;
    bool some = end < own->shards;

    for (unsigned k = own->first; k < end; k++)
        some = some || update->behind[k];
    return some ? update->behind[shard] : shard + 1 == end;
}

/* Updates a shard that has rows to take in by itself. */
static int take_in(void *arg, struct ny_context *ctx, unsigned shard)
{
    const struct shards_update *update = arg;
    struct ny_peers *peers = ny_context_peers(ctx);
    struct ny_options options = *update->options; /* only read, but for errors about them */
    struct ny_store *store = NULL;
    struct ny_name_lock *lock = NULL;
    json_t *record = NULL;
    int err;

    if (!takes_in(update, shard)) return NY_OK;
    options.ctx = ctx;
    err = ny_store_open(&store, ctx, update->team->shards->shard[shard].path);
    if (!err) err = ny_name_lock(&lock, store, update->name);
    ny_context_set_peers(ctx, NULL);
    if (!err) err = ny_call_begin(ctx);
    if (!err) {
        err = ny_update_run(store, update->name, &options, true, &record);
        ny_call_end(ctx);
    }
    ny_context_set_peers(ctx, peers);
    json_decref(record);
    ny_name_unlock(lock);
    ny_store_close(store);
    return err;
}

/* ---- tell ----------------------------------------------------------------------------------- */

/* Describes the result of a shard, and counts its rows and updates. */
static int describe(struct ny_store *store, const struct shards_update *update, json_t **object,
                    uint64_t counts[2])
{
    struct ny_report *report = NULL;
    json_t *record = NULL;
    int err = ny_record_need_done(store, update->name, &record);

    if (!err) err = ny_result_describe(&report, store, update->name, record);
    if (!err) {
        *object = json_deep_copy(ny_report_object(report));
        counts[0] = ny_field_count(*object, "n", 0);
        counts[1] = ny_field_count(*object, "updates", 0);
    }
    ny_report_free(report);
    json_decref(record);
    return err;
}

/* Finds the rows of all shards, and the shard whose report is told: as ny_spread_find() does. */
static int choose(struct ny_context *ctx, const uint64_t mine[2], uint64_t *rows, unsigned *shard)
{
    struct ny_peers *peers = ny_context_peers(ctx);
    unsigned shards = ny_peers_shards(peers);
    uint64_t(*all)[2] = ny_calloc(ctx, NY_MEM_OTHER, shards, sizeof(*all));
    int err = all ? ny_peers_gather_equal(peers, mine, sizeof(*all), all) : NY_EBUDGET;

    *rows = 0;
    *shard = 0;
    for (unsigned k = 0; k < shards && !err; k++) {
        *rows += all[k][0];
        if (all[k][1] >= all[*shard][1]) *shard = k;
    }
    ny_free(ctx, all);
    return err;
}

static int tell(void *arg, struct ny_store *store, unsigned shard)
{
    struct shards_update *update = arg;
    struct ny_context *ctx = ny_store_context(store);
    json_t *mine = NULL, *shared = NULL;
    uint64_t counts[2] = {0}, rows;
    unsigned of = 0;
    int err = describe(store, update, &mine, counts);

    if (!err) err = choose(ctx, counts, &rows, &of);
    if (!err) err = ny_shards_share_json(ctx, of, mine, &shared);
    if (!err) ny_field_set_count(shared, "n", rows);
    if (shard == update->team->shape.first)
        update->report = shared;
    else
        json_decref(shared);
    json_decref(mine);
    return err;
}

/* ---- all steps ------------------------------------------------------------------------------ */

int ny_sharded_update(struct ny_shard_team *team, const char *name,
                      const struct ny_options *options, struct ny_report **report)
{
    struct shards_update update = {.team = team, .name = name, .options = options};
    int err;

    update.behind = ny_calloc(team->ctx, NY_MEM_OTHER, team->shards->count, sizeof(bool));
    err = update.behind ? ny_shard_team_visit(team, look, &update) : NY_EBUDGET;
    if (!err) err = ny_group_take_turns(team->ctx, &team->shape, team->transport, take_in, &update);
    if (!err) err = ny_shard_team_visit(team, tell, &update);
    ny_free(team->ctx, update.behind);
    return ny_shard_team_report(team, err, update.report, report);
}

/* Finds whether an update of a shard was begun; a frozen one goes on first. */
static int find_begun(void *arg, struct ny_store *store, unsigned shard)
{
    struct shards_update *update = arg;
    json_t *record = NULL;
    double begun[] = {0, 0, 0}; /* by mode */
    int err = ny_record_load_update(store, update->name, &record);

    begun[ny_update_mode_of(ny_record_of(record))] = 1;
    if (!err) err = ny_peers_fold(ny_context_peers(ny_store_context(store)), begun, 3);
    if (shard == update->team->shape.first && begun[NY_UPDATE_FULL] > 0)
        update->begun = NY_UPDATE_FULL;
    if (shard == update->team->shape.first && begun[NY_UPDATE_FROZEN] > 0)
        update->begun = NY_UPDATE_FROZEN;
    json_decref(record);
    return err;
}

int ny_sharded_update_begun(struct ny_shard_team *team, const char *name, enum ny_update_mode *mode)
{
    struct shards_update update = {.team = team, .name = name};
    int err = ny_shard_team_visit(team, find_begun, &update);

    *mode = update.begun;
    return err;
}
