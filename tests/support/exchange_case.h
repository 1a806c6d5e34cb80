/* All that the peers of a job can say to one another, and a digest of what each has got. It is
 * equal for all shards, whatever carries the bytes between how many processes. */
#ifndef TESTS_SUPPORT_EXCHANGE_CASE_H
#define TESTS_SUPPORT_EXCHANGE_CASE_H

#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "peers/group.h"

enum { CASE_SHARDS = 5, CASE_COUNT = 300007, CASE_GATHERED = 300007 };

/* Numbers whose sum depends on the order of the additions. */
static inline double case_number(unsigned shard, size_t i)
{
    return ldexp(1.0 + (double)((i * 7919 + shard * 104729) % 1009) / 1009,
                 (int)((shard * 13 + i) % 60));
}

/* Collects the pieces of case_gather() over and over, in turn from each shard alone and from all:
 * the shard that leads gets what it has gathered, whatever the others are at. */
static inline int case_collect(struct ny_context *peer, const char *mine, const size_t *sizes,
                               const char *gathered)
{
    struct ny_peers *peers = ny_context_peers(peer);
    size_t total = 0;
    char *all;
    int err = NY_OK;

    for (unsigned k = 0; k < CASE_SHARDS; k++)
        total += sizes[k];
    all = ny_alloc(peer, NY_MEM_OTHER, total);
    for (unsigned turn = 0; turn < 4 * (CASE_SHARDS + 1) && !err; turn++) {
        size_t some[CASE_SHARDS], at = 0, bytes = 0;
        unsigned only = turn % (CASE_SHARDS + 1);

        for (unsigned k = 0; k < CASE_SHARDS; k++) {
            some[k] = only == CASE_SHARDS || only == k ? sizes[k] : 0;
            if (k < only && only < CASE_SHARDS) at += sizes[k];
            bytes += some[k];
        }
        memset(all, 0, total);
        err = ny_peers_collect(peers, mine, some, all);
        if (!err && ny_peers_leads(peers) && memcmp(all, gathered + at, bytes) != 0)
            err = ny_fail(peer, NY_EINTERNAL, "turn %u collects other bytes", turn);
        if (!err && turn % 7 == 6) err = ny_peers_wait(peers);
    }
    ny_free(peer, all);
    return err;
}

/* Adds up for the shard that leads, as ny_peers_fold() does for all: `folded` is what that gave. */
static inline int case_reduce(struct ny_context *peer, const double *folded)
{
    struct ny_peers *peers = ny_context_peers(peer);
    double *sums = ny_alloc(peer, NY_MEM_OTHER, CASE_COUNT * sizeof(*sums));
    int err;

    for (size_t i = 0; i < CASE_COUNT; i++)
        sums[i] = case_number(ny_peers_shard(peers), i);
    err = ny_peers_reduce(peers, sums, CASE_COUNT);
    if (!err && ny_peers_leads(peers) && memcmp(sums, folded, CASE_COUNT * sizeof(*sums)) != 0)
        err = ny_fail(peer, NY_EINTERNAL, "the sums of the peer that leads are others");
    ny_free(peer, sums);
    return err;
}

/* Gathers pieces of differing lengths, one of them empty. */
static inline int case_gather(struct ny_context *peer, uint64_t *digest)
{
    struct ny_peers *peers = ny_context_peers(peer);
    unsigned shard = ny_peers_shard(peers);
    size_t sizes[CASE_SHARDS], total = 0;
    char *mine = ny_alloc(peer, NY_MEM_OTHER, CASE_GATHERED), *all;
    int err;

    for (unsigned k = 0; k < CASE_SHARDS; total += sizes[k++])
        sizes[k] = k == 1 ? 0 : CASE_GATHERED / (k + 1);
    all = ny_alloc(peer, NY_MEM_OTHER, total);
    for (size_t i = 0; i < sizes[shard]; i++)
        mine[i] = (char)(i * 31 + shard * 7);
    err = ny_peers_gather(peers, mine, sizes, all);
    *digest ^= ny_checksum(all, total);
    if (!err) err = case_collect(peer, mine, sizes, all);
    ny_free(peer, mine);
    ny_free(peer, all);
    return err;
}

/* A ny_group_fn: arg is an array of CASE_SHARDS digests, of which it sets its own. */
static inline int case_exchange(void *arg, struct ny_context *peer, unsigned shard)
{
    struct ny_peers *peers = ny_context_peers(peer);
    uint64_t *digests = arg, least = 100 + (shard * 3 + 2) % CASE_SHARDS;
    double few[2] = {case_number(shard, 1), case_number(shard, 2)};
    double *sums = ny_alloc(peer, NY_MEM_OTHER, CASE_COUNT * sizeof(*sums));
    char word[8] = "none";
    int err;

    digests[shard] = 0;
    for (size_t i = 0; i < CASE_COUNT; i++)
        sums[i] = case_number(shard, i);
    if (shard == 0) strcpy(word, "first");
    err = case_gather(peer, &digests[shard]);
    if (!err) err = ny_peers_fold(peers, sums, CASE_COUNT);
    if (!err) err = case_reduce(peer, sums);
    if (!err) err = ny_peers_fold(peers, few, 2); /* fewer than there are ranks */
    if (!err) err = ny_peers_share(peers, word, sizeof(word));
    if (!err) err = ny_peers_least(peers, &least);
    if (!err) err = ny_peers_agree(peers, 42, "numbers");
    digests[shard] ^= ny_checksum(sums, CASE_COUNT * sizeof(*sums));
    digests[shard] += ny_checksum(word, sizeof(word)) + least + ny_checksum(few, sizeof(few));
    ny_free(peer, sums);
    return err;
}

#endif
