/* The store of a request: who may work at it, and opening or making it. */
#include <errno.h>
#include <unistd.h>

#include "api/request.h"
#include "peers/open.h"
#include "results/record.h"
#include "shards/open.h"

/* Tells whether there is nothing at a path. */
static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

int ny_request_refuse_ranks(const struct ny_request *request, const char *path)
{
    const struct ny_transport_wish wish = {.peers = ny_options_get(request->options, "peers"),
                                           .shards = 1};
    bool program = !ny_context_command(request->ctx);
    struct ny_transport *transport;

    if (ny_context_peers(request->ctx) || (program && !wish.peers) ||
        (is_missing(path) && !request->kind->makes_store))
        return NY_OK;
    return ny_transport_open(&transport, request->ctx, &wish);
}

static int refuse_place(struct ny_context *ctx, const char *name)
{
    return ny_fail(ctx, NY_EUSAGE,
                   "graphs and their maps are kept apart from results of each shard, such as '%s'; "
                   "remove it with 'nystream rm', or choose another name",
                   name);
}

int ny_request_is_whole(struct ny_context *ctx, const struct ny_request_call *call, bool *whole)
{
    unsigned groups = call->kind ? call->kind->groups : 0;
    const struct ny_options *options = call->options;
    bool has, fits = groups & NY_GROUP_FIT && options && ny_options_is_set(options, "map");
    int err = ny_whole_has(ctx, call->path, call->name, &has);

    *whole = groups & NY_GROUP_GRAPH || (fits ? ny_options_map(options)->graph : has);
    return err || !has || *whole ? err : refuse_place(ctx, call->name);
}

/* Refuses a result of all rows under a NAME that a shard has. */
static int check_shards(const struct ny_request *request)
{
    const struct ny_set *set = ny_store_lent(request->store);
    int err = NY_OK;

    for (size_t k = 0; !err && k < set->count; k++) {
        struct ny_store *store;
        json_t *record = NULL;

        err = ny_set_store(request->store, k, &store);
        if (!err) err = ny_record_load(store, request->name, &record);
        if (!err && record) err = refuse_place(request->ctx, request->name);
        json_decref(record);
    }
    return err;
}

int ny_request_open_store(struct ny_request *request, const char *path)
{
    const char *option = request->kind ? request->kind->makes_store : NULL;

    if (ny_shards_at(path)) {
        int err = ny_whole_open(&request->store, request->ctx, path);

        return err || !request->kind ? err : check_shards(request);
    }
    if (!is_missing(path) || !option || !ny_options_is_set(request->options, option))
        return ny_store_open(&request->store, request->ctx, path);
    return ny_store_create(&request->store, request->ctx, path);
}
