/* The peers of one process: a thread for each of its shards, and what carries their bytes to the
 * other processes. */
#ifndef NY_PEERS_GROUP_H
#define NY_PEERS_GROUP_H

#include "base/peers.h"
#include "peers/transport.h"

struct ny_group;

/* Bytes that the system's message passing takes for itself in each of several processes. */
enum { NY_TRANSPORT_BYTES = 64 << 20 };

/* The shards of a job, and which of them this process has: `count` from `first` on. */
struct ny_group_shape {
    unsigned shards, first, count;
};

/* Returns the shape of the group of a rank: each rank has as many shards as another, or one more.
 */
static inline struct ny_group_shape ny_group_shape(unsigned shards, unsigned rank, unsigned ranks)
{
    unsigned share = shards / ranks, more = shards % ranks;
    unsigned first = rank * share + (rank < more ? rank : more);

    return (struct ny_group_shape){shards, first, share + (rank < more)};
}

/* Runs work(arg, context, shard) for each shard of this process, each in a thread and with a
 * context of its own, which has its share of the threads and the memory of `ctx`, and the peer
 * (ny_context_peers()). Returns when all have ended; the error is that of the first that failed,
 * here or in another process, with the number of its shard. `transport` is borrowed; NULL: this
 * process has all shards. */
typedef int ny_group_fn(void *arg, struct ny_context *ctx, unsigned shard);
int ny_group_run(struct ny_context *ctx, const struct ny_group_shape *shape,
                 struct ny_transport *transport, ny_group_fn *work, void *arg);
/* Runs work() for one shard of this process after another, each with all threads and memory of
 * `ctx` and no peers to exchange with; the other processes are watched meanwhile. */
int ny_group_take_turns(struct ny_context *ctx, const struct ny_group_shape *shape,
                        struct ny_transport *transport, ny_group_fn *work, void *arg);

#endif
