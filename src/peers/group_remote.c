/*
 * The talk between the peers of one process and those of the others, through a transport. One peer,
 * the speaker, speaks for all of its process, while the others wait (peers/group.c).
 */
#include <string.h>

#include "base/layout.h"
#include "base/memory.h"
#include "peers/group_private.h"

/* The failure of a call of the transport. */
static int transport_failed(struct ny_peer *speaker)
{
    const struct ny_transport *transport = speaker->group->transport;
    int interrupt = ny_check_interrupt(speaker->base.ctx);

    if (interrupt) return interrupt;
    speaker->heard = transport->others;
    return ny_fail(speaker->base.ctx, transport->status, "%s", transport->why);
}

/* Tells whether this process gets what is exchanged. */
static bool receives(const struct ny_peer *speaker)
{
    return speaker->to == NY_PEERS_ALL || speaker->group->transport->rank == 0;
}

/* Brings the bytes of all ranks to those that are to have them. */
static int send(struct ny_peer *speaker, const void *mine, const size_t *sizes, void *all)
{
    struct ny_transport *transport = speaker->group->transport;
    const struct ny_transport_ops *ops = transport->ops;
    int failed = speaker->to == NY_PEERS_ALL ? ops->gather(transport, mine, sizes, all)
                                             : ops->collect(transport, mine, sizes, all);

    return failed ? transport_failed(speaker) : NY_OK;
}

int ny_group_gather_remote(struct ny_peer *speaker, const size_t *sizes)
{
    struct ny_group *group = speaker->group;
    struct ny_transport *transport = group->transport;
    size_t *rank_bytes =
        ny_calloc(speaker->base.ctx, NY_MEM_IO, transport->ranks, sizeof(*rank_bytes));
    char *mine = NULL;
    size_t at = 0;
    int err = NY_EBUDGET;

    if (!rank_bytes) goto done;
    for (unsigned rank = 0; rank < transport->ranks; rank++) {
        struct ny_group_shape shape = ny_group_shape(group->shape.shards, rank, transport->ranks);

        for (unsigned i = 0; i < shape.count; i++)
            rank_bytes[rank] += sizes[shape.first + i];
    }
    mine = ny_alloc(speaker->base.ctx, NY_MEM_IO, rank_bytes[transport->rank]);
    if (receives(speaker)) group->gathered = ny_alloc(group->ctx, NY_MEM_IO, speaker->bytes);
    if (!mine || (receives(speaker) && !group->gathered)) goto done;
    for (unsigned i = 0; i < group->shape.count; i++) {
        size_t bytes = sizes[group->shape.first + i];

        if (bytes) memcpy(mine + at, group->peer[i].mine, bytes);
        at += bytes;
    }
    err = send(speaker, mine, rank_bytes, group->gathered);
done:
    ny_free(speaker->base.ctx, rank_bytes);
    ny_free(speaker->base.ctx, mine);
    return err;
}

/* Doubles of each buffer of a fold, if all processes together have not more shards than that: as
 * many as an eighth of the memory that is left holds in every process, within these bounds. */
enum { TRADED_LEAST = 1 << 18, TRADED_MOST = 1 << 23 };

/* The buffers of a fold between processes. */
struct trade {
    unsigned most;        /* shards of a rank, at most */
    size_t slice;         /* doubles that a rank adds up at a time */
    struct ny_layout own; /* of the arrays: */
    double *out, *in, *sum, *all;
    size_t *sizes;
};

/* Agrees on how many doubles a buffer has: they travel in fewer rounds where there is room. */
static int agree_on_room(struct ny_peer *speaker, size_t *sizes, size_t *room)
{
    struct ny_transport *transport = speaker->group->transport;
    struct ny_context *ctx = speaker->base.ctx;
    uint64_t mine = ny_memory_left(ctx) / 8 / sizeof(double), *all;
    int err = NY_OK;

    *room = TRADED_LEAST;
    if (speaker->bytes <= TRADED_LEAST * sizeof(double)) return NY_OK;
    all = ny_calloc(ctx, NY_MEM_IO, transport->ranks, sizeof(*all));
    if (!all) return NY_EBUDGET;
    for (unsigned rank = 0; rank < transport->ranks; rank++)
        sizes[rank] = sizeof(mine);
    if (transport->ops->gather(transport, &mine, sizes, all)) err = transport_failed(speaker);
    mine = TRADED_MOST;
    for (unsigned rank = 0; rank < transport->ranks; rank++)
        if (all[rank] < mine) mine = all[rank];
    if (mine > TRADED_LEAST) *room = (size_t)mine;
    ny_free(ctx, all);
    return err;
}

static int trade_new(struct trade *trade, struct ny_peer *speaker)
{
    const struct ny_group *group = speaker->group;
    unsigned ranks = group->transport->ranks;
    size_t total = speaker->bytes / sizeof(double), piece, room;
    int err;

    trade->own.ctx = speaker->base.ctx;
    trade->sizes = ny_lay(&trade->own, NY_MEM_IO, ranks, sizeof(size_t));
    if (!trade->sizes) return NY_EBUDGET;
    err = agree_on_room(speaker, trade->sizes, &room);
    if (err) return err;
    trade->most = (group->shape.shards + ranks - 1) / ranks;
    trade->slice = room / ranks / trade->most;
    if (trade->slice > total / ranks) trade->slice = total / ranks;
    trade->slice++;
    piece = (size_t)ranks * trade->most * trade->slice;
    trade->out = ny_lay(&trade->own, NY_MEM_IO, piece, sizeof(double));
    trade->in = ny_lay(&trade->own, NY_MEM_IO, piece, sizeof(double));
    trade->sum = ny_lay(&trade->own, NY_MEM_IO, trade->slice, sizeof(double));
    trade->all = ny_lay(&trade->own, NY_MEM_IO, (size_t)ranks * trade->slice, sizeof(double));
    for (unsigned rank = 0; rank < ranks; rank++)
        trade->sizes[rank] = trade->slice * sizeof(double);
    return trade->own.err;
}

/* Packs sums at … at+count−1 of this process's peers: a slice for each rank, of each peer. */
static void pack(const struct trade *trade, const struct ny_group *group, size_t at, size_t count)
{
    unsigned ranks = group->transport->ranks;

    for (unsigned rank = 0; rank < ranks; rank++)
        for (unsigned i = 0; i < group->shape.count; i++) {
            double *to = trade->out + ((size_t)rank * trade->most + i) * trade->slice;
            size_t first = (size_t)rank * trade->slice, left = first < count ? count - first : 0;

            memcpy(to, group->peer[i].sums + at + (left ? first : 0),
                   (left < trade->slice ? left : trade->slice) * sizeof(double));
        }
}

/* Adds up this rank's slice in the order of the shards. */
static void add_slices(const struct trade *trade, const struct ny_group *group)
{
    unsigned ranks = group->transport->ranks;

    for (unsigned rank = 0; rank < ranks; rank++) {
        struct ny_group_shape shape = ny_group_shape(group->shape.shards, rank, ranks);

        for (unsigned i = 0; i < shape.count; i++) {
            const double *from = trade->in + ((size_t)rank * trade->most + i) * trade->slice;

            for (size_t k = 0; k < trade->slice; k++)
                trade->sum[k] = shape.first + i ? trade->sum[k] + from[k] : from[k];
        }
    }
}

/* Adds up the sums of all processes, block by block: each rank adds a slice of the block, so that
 * every number travels once to where it is added and once back, or to rank 0 alone. */
int ny_group_fold_remote(struct ny_peer *speaker)
{
    struct ny_group *group = speaker->group;
    struct ny_transport *transport = group->transport;
    struct trade trade = {0};
    size_t total = speaker->bytes / sizeof(double), block;
    unsigned receivers = speaker->to == NY_PEERS_ALL ? group->shape.count : receives(speaker);
    int err = trade_new(&trade, speaker);

    block = transport->ranks * trade.slice;
    for (size_t at = 0; at < total && !err; at += block) {
        size_t count = total - at < block ? total - at : block;

        pack(&trade, group, at, count);
        err = transport->ops->trade(transport, trade.out, trade.most * trade.slice * sizeof(double),
                                    trade.in);
        if (err) {
            err = transport_failed(speaker);
            break;
        }
        add_slices(&trade, group);
        err = send(speaker, trade.sum, trade.sizes, trade.all);
        for (unsigned i = 0; i < receivers && !err; i++)
            memcpy(group->peer[i].sums + at, trade.all, count * sizeof(double));
    }
    ny_layout_free(&trade.own);
    return err;
}
