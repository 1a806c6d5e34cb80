/* Compares the updates of all shards of a store (api/update_shards.h). All updates begin before the
 * first exchange of a stage, and all are made before the first is shown, so that the records tell
 * how far an interrupted one was. */
#include "api/update_shards.h"

#include "base/memory.h"
#include "base/peers.h"

enum stand { NONE, UNDER_WAY, MADE };

struct standing {
    uint64_t stand;
    uint64_t rows; /* of all shards, as the update that was made counts them, or else the result */
};

int ny_update_shards_check(struct ny_context *ctx, const char *name, const json_t *result)
{
    uint64_t shards = ny_field_count(json_object_get(result, "sharded"), "shards", 0);

    if (shards == ny_peers_shards(ny_context_peers(ctx))) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "'%s' is another result in each shard; update it there", name);
}

/* Tells how far the update of this shard is. One of rows that are numbered otherwise now, or are
 * gone, counts as none. */
static int standing_of(struct ny_store *store, const json_t *result, const json_t *begun,
                       struct standing *mine)
{
    bool made = ny_field_is(begun, "stage", "done");
    uint64_t first = ny_field_count(begun, "first", 0);
    uint64_t n = ny_field_count(json_object_get(begun, "report"), "n", 0);
    const json_t *sharded = json_object_get(made ? begun : result, "sharded");
    struct ny_rows_info points;
    int err = ny_points_info(store, &points);

    if (err) return err;
    mine->stand = made ? MADE : UNDER_WAY;
    if (!begun || (!made && (first != points.here.first || n > points.n))) mine->stand = NONE;
    mine->rows = ny_field_count(sharded, "rows", 0);
    return NY_OK;
}

/* Tells whether all updates are made: a shard without one shows it already. */
static bool are_made(const struct standing *all, unsigned shards)
{
    uint64_t rows = 0;
    bool made = false;

    for (unsigned k = 0; k < shards; k++) {
        if (all[k].stand == MADE) rows = all[k].rows;
        made = made || all[k].stand == MADE;
    }
    for (unsigned k = 0; k < shards; k++)
        made = made && all[k].stand != UNDER_WAY && all[k].rows == rows;
    return made;
}

int ny_update_shards_stand(struct ny_store *store, const json_t *result, json_t **begun,
                           json_t **other, bool *whole)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_peers *peers = ny_context_peers(ctx);
    unsigned shards = ny_peers_shards(peers);
    struct standing mine, *all;
    bool anew = false;
    int err;

    if (!peers) return NY_OK;
    all = ny_calloc(ctx, NY_MEM_OTHER, shards, sizeof(*all));
    err = all ? standing_of(store, result, *begun, &mine) : NY_EBUDGET;
    if (!err) err = ny_peers_gather_equal(peers, &mine, sizeof(mine), all);
    if (!err) *whole = are_made(all, shards);
    for (unsigned k = 0; !err && k < shards; k++)
        anew = anew || all[k].stand == NONE;
    if (!err && !*whole && anew && *begun) {
        *other = *begun;
        *begun = NULL;
    }
    ny_free(ctx, all);
    return err;
}
