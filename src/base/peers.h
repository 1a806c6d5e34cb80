/*
 * Peers work at the same job, each on the shard of its number. This header has all that they say to
 * each other; a job of an unsharded store has no peers, and then (NULL) each call does what is
 * left to do alone. Two calls are the peers' own (peers/group.c); the others are made of these.
 *
 * All peers make the same calls in the same order. Exchanges put things together by the numbers of
 * shards, whoever holds them, so that results do not depend on the number of processes.
 *
 * Nobody waits for the dead. A peer that ends with an error says so (peers/group.c), and the
 * calls of the others fail, those included that wait already.
 */
#ifndef NY_BASE_PEERS_H
#define NY_BASE_PEERS_H

#include "base/context.h"

/* Who gets what an exchange brings together. */
enum ny_peers_to { NY_PEERS_ALL, NY_PEERS_LEAD };

/* The calls of ny_peers_gather() and ny_peers_fold(), or of those to the peer that leads, where
 * there are peers. */
struct ny_peers_ops {
    int (*gather)(struct ny_peers *peers, enum ny_peers_to to, const void *mine,
                  const size_t *sizes, void *all);
    int (*fold)(struct ny_peers *peers, enum ny_peers_to to, double *sums, size_t count);
};

/* The part that every peer starts with. */
struct ny_peers {
    const struct ny_peers_ops *ops;
    struct ny_context *ctx;
    unsigned shard, shards;  /* the number of its own, and of all of the job */
    const double *network_s; /* seconds in which bytes were on their way between processes; NULL:
                              * there is one process */
    double told_s;           /* of these, before the last ny_peers_network_s() */
};

/* Returns the number of this peer's shard, from 0; 0 for NULL. */
static inline unsigned ny_peers_shard(const struct ny_peers *peers)
{
    return peers ? peers->shard : 0;
}
/* Returns the number of shards of the job; 1 for NULL. */
static inline unsigned ny_peers_shards(const struct ny_peers *peers)
{
    return peers ? peers->shards : 1;
}
/* Tells whether this peer does for all what is done once. */
static inline bool ny_peers_leads(const struct ny_peers *peers)
{
    return ny_peers_shard(peers) == 0;
}

/* Every peer gives sizes[its shard] bytes, and gets those of all in `all`, in the order of the
 * shards; `all` NULL: this peer wants none. All of it is held once more meanwhile where there are
 * several processes. */
int ny_peers_gather(struct ny_peers *peers, const void *mine, const size_t *sizes, void *all);
/* Likewise, of the peer that leads alone: of the others `all` is not used. They do not wait for it;
 * ny_peers_wait() now and then keeps them from running ahead. */
int ny_peers_collect(struct ny_peers *peers, const void *mine, const size_t *sizes, void *all);
/* Gathers as many bytes of each peer. */
int ny_peers_gather_equal(struct ny_peers *peers, const void *mine, size_t bytes, void *all);
/* sums[i] becomes, for all peers, the sum of theirs, added in the order of the shards. */
int ny_peers_fold(struct ny_peers *peers, double *sums, size_t count);
/* Likewise, for the peer that leads alone: those of the others are not to be used afterwards. */
int ny_peers_reduce(struct ny_peers *peers, double *sums, size_t count);
/* Gives the bytes of the peer that has a shard to all others; data NULL: this one wants none. */
int ny_peers_share_of(struct ny_peers *peers, unsigned shard, void *data, size_t bytes);
/* Gives the bytes of the peer that leads to all others. */
int ny_peers_share(struct ny_peers *peers, void *data, size_t bytes);
/* *value becomes the least of all peers'. */
int ny_peers_least(struct ny_peers *peers, uint64_t *value);
/* Returns the seconds since the last call in which bytes were on their way from or to other
 * processes, without those in which one waited for another. */
double ny_peers_network_s(struct ny_peers *peers);
/* Waits until all peers have come as far. */
int ny_peers_wait(struct ny_peers *peers);
/* NY_EUSAGE where the peers' digests of `what` ("options") differ. */
int ny_peers_agree(struct ny_peers *peers, uint64_t digest, const char *what);

#endif
