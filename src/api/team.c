#include "api/team.h"

#include "base/checksum.h"
#include "base/memory.h"

/* Checks that the shards of this process are in the folder. */
static int check_here(const struct ny_shards *shards, const struct ny_group_shape *shape)
{
    if (shape->count == shards->count) return ny_shards_complete(shards);
    for (unsigned k = shape->first; k < shape->first + shape->count; k++)
        if (!shards->shard[k].there)
            return ny_fail(shards->ctx, NY_EUSAGE, "shard %u of %s is not here; import it", k,
                           shards->path);
    return NY_OK;
}

/* Meets the processes that have the same stores as shards. */
static int meet(struct ny_shard_team *team, struct ny_transport_wish *wish)
{
    const struct ny_shards *shards = team->shards;
    uint64_t *ids = ny_calloc(team->ctx, NY_MEM_OTHER, shards->count, sizeof(*ids));
    int err;

    if (!ids) return NY_EBUDGET;
    for (unsigned k = 0; k < shards->count; k++)
        if (shards->shard[k].there)
            ids[k] = ny_checksum(shards->shard[k].id, sizeof(shards->shard[k].id)) | 1;
    wish->shards = shards->count;
    wish->ids = ids;
    err = ny_transport_open(&team->transport, team->ctx, wish);
    ny_free(team->ctx, ids);
    return err;
}

int ny_shard_team_open(struct ny_shard_team *team, struct ny_context *context, const char *path,
                       const char *command, const struct ny_options *options)
{
    struct ny_transport_wish wish = {.wait_s = 600, .command = command};
    struct ny_transport *transport;
    int err;

    *team = (struct ny_shard_team){.ctx = context};
    if (options) {
        wish.peers = ny_options_get(options, "peers");
        wish.waits = ny_options_is_set(options, "peers-wait");
        ny_options_number(options, "peers-wait", &wish.wait_s);
    }
    ny_transport_begin(&wish, path);
    err = ny_shards_read(&team->shards, context, path);
    if (err) {
        ny_folder_word_leave(&wish.word, ny_context_message(context));
        return err;
    }
    err = meet(team, &wish);
    if (err) return err;
    transport = team->transport;
    team->shape = ny_group_shape(team->shards->count, transport ? transport->rank : 0,
                                 transport ? transport->ranks : 1);
    err = check_here(team->shards, &team->shape);
    if (err && transport) transport->ops->abandon(transport, err, ny_context_message(context));
    return err;
}

void ny_shard_team_close(struct ny_shard_team *team)
{
    if (team->transport) team->transport->ops->close(team->transport);
    ny_shards_free(team->shards);
}

/* ---- at each shard -------------------------------------------------------------------------- */

struct visit {
    const struct ny_shards *shards;
    ny_shard_work_fn *work;
    void *arg;
};

static int visit_shard(void *arg, struct ny_context *ctx, unsigned shard)
{
    const struct visit *visit = arg;
    struct ny_store *store;
    int err = ny_store_open(&store, ctx, visit->shards->shard[shard].path);

    if (!err) err = visit->work(visit->arg, store, shard);
    ny_store_close(store);
    return err;
}

int ny_shard_team_visit(struct ny_shard_team *team, ny_shard_work_fn *work, void *arg)
{
    struct visit visit = {team->shards, work, arg};

    return ny_group_run(team->ctx, &team->shape, team->transport, visit_shard, &visit);
}

int ny_shard_team_report(const struct ny_shard_team *team, int err, json_t *found,
                         struct ny_report **report)
{
    if (!err && report && team->shape.first == 0)
        return ny_report_of_json(report, team->ctx, found);
    json_decref(found);
    return err;
}
