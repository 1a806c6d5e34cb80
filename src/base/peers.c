/* The calls of peers, made of the two that are their own. */
#include "base/peers.h"

#include <string.h>

#include "base/memory.h"

int ny_peers_gather(struct ny_peers *peers, const void *mine, const size_t *sizes, void *all)
{
    if (peers) return peers->ops->gather(peers, NY_PEERS_ALL, mine, sizes, all);
    if (mine != all) memcpy(all, mine, sizes[0]);
    return NY_OK;
}

int ny_peers_collect(struct ny_peers *peers, const void *mine, const size_t *sizes, void *all)
{
    if (peers) return peers->ops->gather(peers, NY_PEERS_LEAD, mine, sizes, all);
    return ny_peers_gather(NULL, mine, sizes, all);
}

int ny_peers_fold(struct ny_peers *peers, double *sums, size_t count)
{
    return peers ? peers->ops->fold(peers, NY_PEERS_ALL, sums, count) : NY_OK;
}

int ny_peers_reduce(struct ny_peers *peers, double *sums, size_t count)
{
    return peers ? peers->ops->fold(peers, NY_PEERS_LEAD, sums, count) : NY_OK;
}

int ny_peers_gather_equal(struct ny_peers *peers, const void *mine, size_t bytes, void *all)
{
    unsigned shards = ny_peers_shards(peers);
    size_t *sizes;
    int err;

    if (!peers) return ny_peers_gather(NULL, mine, &bytes, all);
    sizes = ny_calloc(peers->ctx, NY_MEM_IO, shards, sizeof(*sizes));
    if (!sizes) return NY_EBUDGET;
    for (unsigned shard = 0; shard < shards; shard++)
        sizes[shard] = bytes;
    err = ny_peers_gather(peers, mine, sizes, all);
    ny_free(peers->ctx, sizes);
    return err;
}

int ny_peers_share(struct ny_peers *peers, void *data, size_t bytes)
{
    return ny_peers_share_of(peers, 0, data, bytes);
}

int ny_peers_share_of(struct ny_peers *peers, unsigned shard, void *data, size_t bytes)
{
    size_t *sizes;
    int err;

    if (!peers) return NY_OK;
    sizes = ny_calloc(peers->ctx, NY_MEM_IO, peers->shards, sizeof(*sizes));
    if (!sizes) return NY_EBUDGET;
    sizes[shard] = bytes;
    err = ny_peers_gather(peers, data, sizes, data);
    ny_free(peers->ctx, sizes);
    return err;
}

double ny_peers_network_s(struct ny_peers *peers)
{
    double since_s = peers && peers->network_s ? *peers->network_s - peers->told_s : 0;

    if (peers) peers->told_s += since_s;
    return since_s;
}

/* Gathers one number of each peer, as an array that the caller frees. */
static int gather_numbers(struct ny_peers *peers, uint64_t mine, uint64_t **all)
{
    *all = ny_calloc(peers->ctx, NY_MEM_IO, peers->shards, sizeof(**all));
    return *all ? ny_peers_gather_equal(peers, &mine, sizeof(mine), *all) : NY_EBUDGET;
}

int ny_peers_least(struct ny_peers *peers, uint64_t *value)
{
    uint64_t *all;
    int err;

    if (!peers) return NY_OK;
    err = gather_numbers(peers, *value, &all);
    for (unsigned shard = 0; shard < peers->shards && !err; shard++)
        if (all[shard] < *value) *value = all[shard];
    ny_free(peers->ctx, all);
    return err;
}

int ny_peers_wait(struct ny_peers *peers)
{
    uint64_t nothing = 0;

    return ny_peers_least(peers, &nothing);
}

int ny_peers_agree(struct ny_peers *peers, uint64_t digest, const char *what)
{
    uint64_t *all;
    int err;

    if (!peers) return NY_OK;
    err = gather_numbers(peers, digest, &all);
    for (unsigned shard = 1; shard < peers->shards && !err; shard++)
        if (all[shard] != all[0])
            err = ny_fail(peers->ctx, NY_EUSAGE,
                          "shard %u has other %s than shard 0, but all shards of a job need the "
                          "same; give the same command to each, or --restart",
                          shard, what);
    ny_free(peers->ctx, all);
    return err;
}
