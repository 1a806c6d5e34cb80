/*
 * Shares out the pieces of a tile among the workers of a pass (stream/share.h). stream/pass.c has
 * those help that wait; what computes tiles calls ny_tile_share().
 *
 * Work stands in a list under the lock of the pass. Its owner takes pieces as the helpers do, one
 * after another, and then waits for those that others are still at. A pass of 1,797 rows has one
 * unit, and its worker had to do it alone while the others slept.
 */
#include "stream/share.h"

struct ny_share {
    ny_piece_fn *work;
    void *arg;
    size_t pieces, next, done; /* pieces < next are taken, so many are done */
    size_t failed;             /* the lowest piece that failed */
    int status;                /* its status */
    struct ny_share *below;
};

void ny_sharing_init(struct ny_sharing *sharing)
{
    *sharing = (struct ny_sharing){.open = NULL};
    ny_mutex_init(&sharing->lock);
    ny_cond_init(&sharing->changed);
}

void ny_sharing_release(struct ny_sharing *sharing)
{
    ny_cond_release(&sharing->changed);
    ny_mutex_release(&sharing->lock);
}

/* Does the next piece, without the lock. */
static void do_piece(struct ny_sharing *sharing, struct ny_share *share, unsigned worker)
{
    size_t piece = share->next++;
    int status;

    ny_mutex_unlock(&sharing->lock);
    status = share->work(share->arg, piece, worker);
    ny_mutex_lock(&sharing->lock);
    if (status && (!share->status || piece < share->failed)) {
        share->status = status;
        share->failed = piece;
    }
    if (++share->done == share->pieces) ny_cond_broadcast(&sharing->changed);
}

void ny_sharing_help(struct ny_sharing *sharing, unsigned worker)
{
    for (struct ny_share *share = sharing->open; share; share = share->below)
        if (share->next < share->pieces) {
            do_piece(sharing, share, worker);
            return;
        }
    ny_cond_wait(&sharing->changed, &sharing->lock);
}

/* Takes the work out of the list. */
static void close_work(struct ny_sharing *sharing, const struct ny_share *share)
{
    struct ny_share **at = &sharing->open;

    while (*at != share)
        at = &(*at)->below;
    *at = share->below;
}

int ny_tile_share(const struct ny_tile *tile, size_t pieces, ny_piece_fn *work, void *arg)
{
    struct ny_sharing *sharing = tile->sharing;
    struct ny_share share = {.work = work, .arg = arg, .pieces = pieces};
    int err = NY_OK;

    if (!sharing) {
        for (size_t piece = 0; piece < pieces && !err; piece++)
            err = work(arg, piece, tile->worker);
        return err;
    }
    ny_mutex_lock(&sharing->lock);
    share.below = sharing->open;
    sharing->open = &share;
    ny_cond_broadcast(&sharing->changed);
    while (share.next < share.pieces)
        do_piece(sharing, &share, tile->worker);
    while (share.done < share.pieces)
        ny_cond_wait(&sharing->changed, &sharing->lock);
    close_work(sharing, &share);
    ny_mutex_unlock(&sharing->lock);
    return share.status;
}

struct ny_tile ny_tile_seen_by(const struct ny_tile *tile, unsigned worker)
{
    struct ny_tile seen = *tile;

    seen.worker = worker;
    seen.sharing = NULL;
    seen.whole = tile->whole ? tile->whole : tile;
    return seen;
}
