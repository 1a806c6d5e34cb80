/* Numbers and decisions that stages of a fit over shards have in common (fit/shards.h). */
#include "fit/shards.h"

#include "base/peers.h"
#include "model/degrees.h"

int ny_shards_meet(const struct ny_fit *fit)
{
    uint64_t here = 0;

    return ny_peers_least(ny_context_peers(fit->job.ctx), &here);
}

int ny_shards_share_gram(struct ny_fit *fit)
{
    int32_t gram = (int32_t)fit->gram;
    int err = ny_peers_share(ny_context_peers(fit->job.ctx), &gram, sizeof(gram));

    fit->gram = (enum ny_gram_precision)gram;
    return err;
}

int ny_shards_rows_now(struct ny_context *ctx, uint64_t then, const struct ny_rows_info *points,
                       uint64_t *rows, size_t count)
{
    struct ny_peers *peers = ny_context_peers(ctx);
    size_t shards = ny_peers_shards(peers);
    uint64_t *first;
    int err;

    if (!peers) return NY_OK;
    first = ny_calloc(ctx, NY_MEM_OTHER, 2 * shards, sizeof(*first));
    if (!first) return NY_EBUDGET;
    err = ny_peers_gather_equal(peers, &then, sizeof(then), first);
    if (!err) err = ny_peers_gather_equal(peers, &points->here.first, sizeof(then), first + shards);
    for (size_t i = 0; !err && i < count; i++)
        rows[i] = ny_row_now(first, first + shards, shards, rows[i]);
    ny_free(ctx, first);
    return err;
}

int ny_shards_fold_unreached(const struct ny_fit *fit, struct ny_unreached_rows *unreached)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    uint64_t first = unreached->count ? fit->job.points.here.first + unreached->first : UINT64_MAX;
    double count = (double)unreached->count;
    int err = ny_peers_fold(peers, &count, 1);

    if (!err) err = ny_peers_least(peers, &first);
    *unreached = (struct ny_unreached_rows){(uint64_t)count, count > 0 ? first : 0};
    return err;
}

void ny_shards_watch(struct ny_fit *fit)
{
    if (fit->acc->round_G > 0) return; /* none of its sums is rounded */
    if (!ny_context_peers(fit->job.ctx) && !fit->job.state.sharded.there) return;
    if (!fit->acc->G.at) return;
    ny_accumulator_watch(fit->acc);
    fit->acc->rounded = fit->job.state.record.rounded;
}

int ny_shards_align_state(const struct ny_fit *fit, void **image, size_t bytes,
                          const struct ny_shard_place *at, bool *anew)
{
    struct ny_context *ctx = fit->job.ctx;
    struct ny_peers *peers = ny_context_peers(ctx);
    uint64_t step = *image ? *at->place / at->places : UINT64_MAX, least = step, source;
    int err = ny_peers_least(peers, &least);

    *anew = false;
    if (err || !peers || least == UINT64_MAX) return err; /* none has begun */
    source = step == least ? ny_peers_shard(peers) : UINT64_MAX;
    err = ny_peers_least(peers, &source);
    if (err) return err;
    if (step == least)
        return ny_peers_share_of(peers, (unsigned)source,
                                 source == ny_peers_shard(peers) ? *image : NULL, bytes);
    if (!*image) *image = ny_alloc(ctx, NY_MEM_OTHER, bytes);
    if (!*image) return NY_EBUDGET;
    err = ny_peers_share_of(peers, (unsigned)source, *image, bytes);
    if (err) return err;
    *at->place = least * at->places;
    *anew = true;
    return NY_OK;
}
