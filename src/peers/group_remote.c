/*
 * The talk between the peers of one process and those of the others, through a transport. One peer,
 * the speaker, speaks for all of its process, while the others wait (peers/group.c).
 */
#include <string.h>

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
    group->gathered = ny_alloc(group->ctx, NY_MEM_IO, speaker->bytes);
    if (!mine || !group->gathered) goto done;
    for (unsigned i = 0; i < group->shape.count; i++) {
        size_t bytes = sizes[group->shape.first + i];

        if (bytes) memcpy(mine + at, group->peer[i].mine, bytes);
        at += bytes;
    }
    err = transport->ops->gather(transport, mine, rank_bytes, group->gathered)
              ? transport_failed(speaker)
              : NY_OK;
done:
    ny_free(speaker->base.ctx, rank_bytes);
    ny_free(speaker->base.ctx, mine);
    return err;
}

/* Doubles of the buffers of a fold, if all processes together have not more shards than that. */
enum { TRADED = 1 << 18 };

/* The buffers of a fold between processes. */
struct trade {
    unsigned most; /* shards of a rank, at most */
    size_t slice;  /* doubles that a rank adds up at a time */
    double *out, *in, *sum, *all;
    size_t *sizes;
};

static int trade_new(struct trade *trade, const struct ny_peer *speaker)
{
    const struct ny_group *group = speaker->group;
    unsigned ranks = group->transport->ranks;
    size_t total = speaker->bytes / sizeof(double), piece;

    trade->most = (group->shape.shards + ranks - 1) / ranks;
    trade->slice = TRADED / ranks / trade->most;
    if (trade->slice > total / ranks) trade->slice = total / ranks;
    trade->slice++;
    piece = (size_t)ranks * trade->most * trade->slice;
    trade->out = ny_calloc(speaker->base.ctx, NY_MEM_IO, piece, sizeof(double));
    trade->in = ny_calloc(speaker->base.ctx, NY_MEM_IO, piece, sizeof(double));
    trade->sum = ny_calloc(speaker->base.ctx, NY_MEM_IO, trade->slice, sizeof(double));
    trade->all =
        ny_calloc(speaker->base.ctx, NY_MEM_IO, (size_t)ranks * trade->slice, sizeof(double));
    trade->sizes = ny_calloc(speaker->base.ctx, NY_MEM_IO, ranks, sizeof(size_t));
    if (!trade->out || !trade->in || !trade->sum || !trade->all || !trade->sizes) return NY_EBUDGET;
    for (unsigned rank = 0; rank < ranks; rank++)
        trade->sizes[rank] = trade->slice * sizeof(double);
    return NY_OK;
}

static void trade_release(struct trade *trade, struct ny_context *ctx)
{
    ny_free(ctx, trade->out);
    ny_free(ctx, trade->in);
    ny_free(ctx, trade->sum);
    ny_free(ctx, trade->all);
    ny_free(ctx, trade->sizes);
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
 * every number travels once to where it is added and once back. */
int ny_group_fold_remote(struct ny_peer *speaker)
{
    struct ny_group *group = speaker->group;
    struct ny_transport *transport = group->transport;
    struct trade trade = {0};
    size_t total = speaker->bytes / sizeof(double), block;
    int err = trade_new(&trade, speaker);

    block = transport->ranks * trade.slice;
    for (size_t at = 0; at < total && !err; at += block) {
        size_t count = total - at < block ? total - at : block;

        pack(&trade, group, at, count);
        err = transport->ops->trade(transport, trade.out, trade.most * trade.slice * sizeof(double),
                                    trade.in);
        if (!err) {
            add_slices(&trade, group);
            err = transport->ops->gather(transport, trade.sum, trade.sizes, trade.all);
        }
        if (err) err = transport_failed(speaker);
        for (unsigned i = 0; i < group->shape.count && !err; i++)
            memcpy(group->peer[i].sums + at, trade.all, count * sizeof(double));
    }
    trade_release(&trade, speaker->base.ctx);
    return err;
}
