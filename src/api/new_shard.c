/*
 * Shards that have joined a store since a result of it was made (api/sharded.h): each gets the
 * result of shard 0 without any rows, which an update then adds as to any shard that has grown.
 *
 * The new shards get theirs before the others count them, so that a kill leaves what the same
 * command goes on with.
 */
#include "api/sharded.h"

#include "base/memory.h"
#include "fit/shards.h"
#include "results/keep.h"
#include "results/record.h"
#include "results/update.h"

/* The parts that are the same in all shards. */
static const char *const common[] = {"geometry",  "degrees",         "centring", "model",
                                     "landmarks", "landmark-points", "features"};

/* Tells whether shards are new to a result: those behind the first ones do not have it. `counts`:
 * the shards that the result of each counts; 0: it has none. */
static bool are_new(const uint64_t *counts, unsigned shards)
{
    uint64_t least = shards;
    bool joined = true;

    for (unsigned k = 0; k < shards; k++)
        if (counts[k] && counts[k] < least) least = counts[k];
    for (unsigned k = 0; k < shards; k++)
        joined = joined && (counts[k] == shards || counts[k] == (k < least ? least : 0));
    return joined && least < shards;
}

/* Makes the record of shard 0 that of this one, which has none of its rows so far. */
static void empty(json_t *record, unsigned shard)
{
    static const char *const own[] = {"sums",       "clusters",    "stale",
                                      "generation", "generations", "first",
                                      "rounded",    "command",     "command_around"};
    json_t *sharded = json_object_get(record, "sharded");

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        json_object_del(record, own[i]);
    ny_field_set_json(record, "checkpoint", json_object());
    ny_field_set_count(json_object_get(record, "report"), "n", 0);
    ny_field_set_count(sharded, "shard", shard);
    ny_field_set_count(sharded, "first", ny_field_count(sharded, "rows", 0));
}

/* Has the record count so many shards. */
static void count(json_t *record, unsigned shards)
{
    ny_field_set_count(record, "shards", shards);
    ny_field_set_count(json_object_get(record, "sharded"), "shards", shards);
}

/* Reads a chunk of shard 0's part; bytes UINT64_MAX: it has no more. */
static int read_chunk(const struct ny_keep *keep, const json_t *first, const char *part,
                      uint64_t index, struct ny_chunk *chunk, uint64_t *bytes)
{
    int err = keep->ops->chunk(keep, ny_record_part(ny_record_of(first), part).name, index, chunk);

    *bytes = err ? UINT64_MAX : chunk->bytes;
    return err == NY_END ? NY_OK : err;
}

/* Gives a part of shard 0 to the shards that are new. `first`: its record, there. */
static int copy_part(const struct ny_keep *keep, const json_t *first, const char *part, bool takes)
{
    struct ny_peers *peers = ny_context_peers(keep->ctx);
    struct ny_chunk chunk = {.data = ny_alloc(keep->ctx, NY_MEM_STORE, NY_CHUNK_BYTES),
                             .capacity = NY_CHUNK_BYTES};
    struct ny_batch *batch;
    uint64_t bytes = 0;
    int err = chunk.data ? NY_OK : NY_EBUDGET;

    for (uint64_t index = 0; !err; index++) {
        if (ny_peers_leads(peers)) err = read_chunk(keep, first, part, index, &chunk, &bytes);
        if (!err) err = ny_peers_share(peers, &bytes, sizeof(bytes));
        if (err || bytes > NY_CHUNK_BYTES) break;
        err = ny_peers_share(peers, chunk.data, (size_t)bytes);
        if (err || !takes) continue;
        err = keep->ops->begin(keep, &batch);
        if (!err) err = keep->ops->put(keep, batch, part, index, chunk.data, (size_t)bytes);
        if (!err) err = keep->ops->commit(batch);
    }
    ny_free(keep->ctx, chunk.data);
    return err;
}

/* Has a result that is there count the new shards. An update under way would not; it is begun anew.
 */
static int count_new(struct ny_store *store, const char *name, json_t *record, unsigned shards)
{
    json_t *update;
    int err = ny_record_load_update(store, name, &update);

    if (!err && update) err = ny_update_discard(store, name, update);
    json_decref(update);
    count(record, shards);
    return err ? err : ny_record_save(store, name, record);
}

/* Gives the result to the shards that are new, and has the others count them. */
static int give(struct ny_store *store, const char *name, json_t *record)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_peers *peers = ny_context_peers(ctx);
    const struct ny_keep keep = ny_store_keep(store, name);
    unsigned shards = ny_peers_shards(peers);
    json_t *seed;
    int err = ny_shards_share_json(ctx, 0, record, &seed);

    for (size_t i = 0; !err && i < sizeof(common) / sizeof(common[0]); i++)
        err = copy_part(&keep, record, common[i], !record);
    if (!err && !record) {
        empty(seed, ny_peers_shard(peers));
        count(seed, shards);
        err = ny_record_save(store, name, seed);
    }
    json_decref(seed);
    if (!err) err = ny_peers_wait(peers);
    if (err || !record) return err;
    return count_new(store, name, record, shards);
}

/* Looks at one shard, with its peers. */
static int join(void *arg, struct ny_store *store, unsigned shard)
{
    const char *name = arg;
    struct ny_context *ctx = ny_store_context(store);
    struct ny_peers *peers = ny_context_peers(ctx);
    unsigned shards = ny_peers_shards(peers);
    uint64_t mine = 0, *counts = ny_calloc(ctx, NY_MEM_OTHER, shards, sizeof(mine));
    struct ny_name_lock *lock = NULL;
    json_t *record = NULL;
    int err = counts ? ny_name_lock(&lock, store, name) : NY_EBUDGET;

    (void)shard;
    if (!err) err = ny_record_load(store, name, &record);
    if (record) mine = ny_field_count(json_object_get(record, "sharded"), "shards", UINT64_MAX);
    if (!err) err = ny_peers_gather_equal(peers, &mine, sizeof(mine), counts);
    if (!err && are_new(counts, shards)) err = give(store, name, record);
    json_decref(record);
    ny_name_unlock(lock);
    ny_free(ctx, counts);
    return err;
}

int ny_sharded_join(struct ny_shard_team *team, const char *name)
{
    return ny_shard_team_visit(team, join, (void *)name);
}
