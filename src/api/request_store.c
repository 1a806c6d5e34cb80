/* The store of a request: who may work at it, and opening or making it. */
#include <errno.h>
#include <unistd.h>

#include "api/request.h"
#include "peers/open.h"
#include "shards/shards.h"

/* Tells whether there is nothing at a path. */
static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

int ny_request_refuse_ranks(const struct ny_request *request, const char *path)
{
    const struct ny_transport_wish wish = {.peers = ny_options_text(request->options, "peers"),
                                           .shards = 1};
    bool program = !ny_context_command(request->ctx);
    struct ny_transport *transport;

    if (ny_context_peers(request->ctx) || (program && !wish.peers) || ny_shards_at(path) ||
        (is_missing(path) && !request->kind->makes_store))
        return NY_OK;
    return ny_transport_open(&transport, request->ctx, &wish);
}

int ny_request_open_store(struct ny_request *request, const char *path)
{
    const char *option = request->kind->makes_store;

    if (!is_missing(path) || !option || !ny_options_is_set(request->options, option))
        return ny_store_open(&request->store, request->ctx, path);
    return ny_store_create(&request->store, request->ctx, path);
}
