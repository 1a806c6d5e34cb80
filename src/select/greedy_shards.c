/*
 * Greedy selection over shards (greedy.c): rows are visited in their order, so that shards take
 * turns. In its turn a shard visits its rows, and then gives the dictionary to the others, if rows
 * have joined.
 *
 * Most rows join in the first shard's turn. After it, the other shards measure their rows against
 * that dictionary, all at the same time; residuals only fall, so that what they reject stays
 * rejected, and their own turns visit the few rows that are left. What is visited in which order is
 * that of one store with all rows, and so are the landmarks; bounds of rows that do not join may be
 * those of another dictionary on the way, unless a certificate measures them all.
 */
#include "select/greedy.h"

#include <math.h>

#include "base/clock.h"
#include "base/peers.h"
#include "select/rules_private.h"
#include "stream/rows.h"

/* Makes the dictionary an empty one. */
static int empty(struct ny_greedy *greedy)
{
    struct ny_dictionary_options options = greedy->dictionary->options;

    ny_prefixes_drop(&greedy->prefixes, greedy->ctx);
    ny_dictionary_free(greedy->dictionary);
    greedy->dictionary = NULL;
    return ny_dictionary_new(&greedy->dictionary, greedy->request->spec, &options);
}

/* Sets the bounds of rows before the first landmark, in shards before its own: zero in feature
 * space, as far from the affine hull as it is from them. */
static void bound_zeros(struct ny_greedy *greedy)
{
    const struct ny_dictionary *D = greedy->dictionary;
    uint64_t end = D->rows[0] < greedy->here.end ? D->rows[0] : greedy->here.end;

    for (uint64_t row = greedy->here.first; row < end; row++)
        greedy->residuals[row] = D->options.affine ? ny_delta_bound(D->origin_k) : 0;
}

int ny_greedy_share_dictionary(struct ny_greedy *greedy, size_t before)
{
    struct ny_peers *peers = ny_context_peers(greedy->ctx);
    bool gives = ny_peers_shard(peers) == greedy->turn;
    uint64_t head[3] = {greedy->too_large, ny_dictionary_size(greedy->dictionary)};
    char *image;
    int err;

    if (!greedy->too_large) head[2] = ny_dictionary_save(greedy->dictionary, NULL);
    err = ny_peers_share_of(peers, greedy->turn, head, sizeof(head));

    greedy->too_large = head[0] != 0;
    if (err || greedy->too_large || head[1] == before) return err;
    image = ny_alloc(greedy->ctx, NY_MEM_DICTIONARY, (size_t)head[2]);
    if (!image) return NY_EBUDGET;
    if (gives) ny_dictionary_save(greedy->dictionary, image);
    err = ny_peers_share_of(peers, greedy->turn, image, (size_t)head[2]);
    if (!err && !gives) err = empty(greedy);
    if (!err && !gives) err = ny_dictionary_restore(greedy->dictionary, image, (size_t)head[2]);
    ny_free(greedy->ctx, image);
    if (!err && !gives && !before) bound_zeros(greedy);
    return err || gives ? err : ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
}

/* Measures the rows that are here against the dictionary as it is: none joins. */
static int measure(struct ny_greedy *greedy, double tolerance, struct ny_source *source)
{
    const struct ny_greedy_limits limits = {tolerance, ny_dictionary_size(greedy->dictionary),
                                            false};
    int err;

    if (!limits.landmarks_max) return NY_OK;
    err = ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
    if (!err) err = ny_greedy_run(greedy, &limits, source, 0, false);
    return err ? err : ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
}

/* Saves where the run is, if that is due, at the end of a shard's turn. */
static int checkpoint_turn(struct ny_greedy *greedy)
{
    if (ny_now() - greedy->checkpoint_s < ny_context_checkpoint_s(greedy->ctx) / 2) return NY_OK;
    return ny_greedy_checkpoint(greedy, ny_units_of(greedy->here.end - greedy->here.first));
}

int ny_greedy_run_all(struct ny_greedy *greedy, const struct ny_greedy_limits *limits,
                      struct ny_source *source, uint64_t first_unit, bool checkpoints)
{
    struct ny_peers *peers = ny_context_peers(greedy->ctx);
    unsigned self = ny_peers_shard(peers);
    int err = NY_OK;

    if (!peers) return ny_greedy_run(greedy, limits, source, first_unit, checkpoints);
    greedy->too_large = false;
    for (; !err && greedy->turn < ny_peers_shards(peers) && !greedy->too_large; greedy->turn++) {
        size_t before = ny_dictionary_size(greedy->dictionary);

        if (self == greedy->turn)
            err = ny_greedy_run(greedy, limits, source, first_unit, checkpoints);
        if (!err && self == greedy->turn && checkpoints && !greedy->too_large)
            err = checkpoint_turn(greedy);
        if (!err) err = ny_greedy_share_dictionary(greedy, before);
        if (!err && !greedy->turn && self && !greedy->too_large)
            err = measure(greedy, limits->tolerance, source);
    }
    greedy->limits = *limits; /* those of a measurement are others */
    greedy->turn = 0;
    return err;
}

/* ---- going on ------------------------------------------------------------------------------- */

/* Finds the shard that has come farthest, the first of them; *most 0: none has an image. */
static int find_farthest(const struct ny_greedy *greedy, uint64_t *most, unsigned *shard)
{
    struct ny_peers *peers = ny_context_peers(greedy->ctx);
    uint64_t mine = ny_greedy_progress(greedy->request), *all;
    int err;

    *most = 0;
    *shard = 0;
    all = ny_calloc(greedy->ctx, NY_MEM_OTHER, ny_peers_shards(peers), sizeof(*all));
    if (!all) return NY_EBUDGET;
    err = ny_peers_gather_equal(peers, &mine, sizeof(mine), all);
    for (unsigned k = 0; !err && k < ny_peers_shards(peers); k++) {
        if (all[k] <= *most) continue;
        *most = all[k];
        *shard = k;
    }
    ny_free(greedy->ctx, all);
    return err;
}

/* Goes on with the image of this shard, which all get. */
static int lead(struct ny_greedy *greedy, uint64_t *first_unit)
{
    const struct ny_selection_checkpoint *own = &greedy->request->checkpoint;
    struct ny_peers *peers = ny_context_peers(greedy->ctx);
    uint64_t bytes = own->image_bytes;
    int err = ny_peers_share_of(peers, ny_peers_shard(peers), &bytes, sizeof(bytes));

    if (!err)
        err = ny_peers_share_of(peers, ny_peers_shard(peers), (void *)(uintptr_t)own->image,
                                (size_t)bytes);
    return err ? err : ny_greedy_restore(greedy, first_unit);
}

static int follow(struct ny_greedy *greedy, unsigned shard)
{
    struct ny_peers *peers = ny_context_peers(greedy->ctx);
    uint64_t bytes = 0;
    void *image = NULL;
    int err = ny_peers_share_of(peers, shard, &bytes, sizeof(bytes));

    if (!err) image = ny_alloc(greedy->ctx, NY_MEM_DICTIONARY, (size_t)bytes);
    if (!err) err = image ? ny_peers_share_of(peers, shard, image, (size_t)bytes) : NY_EBUDGET;
    if (!err) err = ny_greedy_follow(greedy, image, (size_t)bytes);
    ny_free(greedy->ctx, image);
    return err;
}

int ny_greedy_resume(struct ny_greedy *greedy, uint64_t *first_unit)
{
    uint64_t most;
    unsigned shard;
    int err = find_farthest(greedy, &most, &shard);

    greedy->resumed = most > 0;
    if (err || !greedy->resumed) return err;
    return ny_peers_shard(ny_context_peers(greedy->ctx)) == shard ? lead(greedy, first_unit)
                                                                  : follow(greedy, shard);
}

/* ---- the end -------------------------------------------------------------------------------- */

int ny_greedy_complete(struct ny_greedy *greedy, struct ny_source *source)
{
    const struct ny_selection_request *request = greedy->request;
    struct ny_peers *peers = ny_context_peers(greedy->ctx);
    double counts[2];
    bool lacks = false;
    int err = NY_OK;

    if (!peers) return NY_OK;
    for (uint64_t row = greedy->here.first; row < greedy->here.end; row++)
        lacks |= isinf(greedy->residuals[row]);
    if (lacks) /* a shard that was killed has lost the bounds of its turn */
        err = measure(greedy, greedy->limits.tolerance, source);
    counts[0] = (double)greedy->rows_read;
    counts[1] = greedy->flops;
    if (!err) err = ny_peers_fold(peers, counts, 2);
    greedy->rows_read = (uint64_t)counts[0];
    greedy->flops = counts[1];
    if (err) return err;
    return ny_rows_complete(request->X, greedy->n, greedy->residuals, sizeof(*greedy->residuals));
}
