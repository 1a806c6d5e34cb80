/*
 * Work on one tile, shared out. A unit is one worker's, but where units are few, or at the end of a
 * pass, others have none: they do pieces of it. Pieces are cut by their shape alone, so that a
 * result does not depend on who did them.
 */
#ifndef NY_STREAM_SHARE_H
#define NY_STREAM_SHARE_H

#include "base/mutex.h"
#include "stream/source.h"

struct ny_share; /* pieces of a tile that are not all done */

/* The work of a pass that is shared out at the moment. */
struct ny_sharing {
    struct ny_mutex lock;   /* guards what is open, and what the pass keeps beside it */
    struct ny_cond changed; /* work came or ended, or something of the pass changed */
    struct ny_share *open;  /* work that came last, then those before it; NULL: none */
};

/* Does one piece, with the buffers of `worker`. */
typedef int ny_piece_fn(void *arg, size_t piece, unsigned worker);

/* Runs work(arg, piece, worker) for pieces 0 … pieces−1, by the tile's worker and by others of its
 * pass that wait, in no order; returns when all are done. The status is that of the lowest piece
 * that failed. A piece shares out nothing itself. */
int ny_tile_share(const struct ny_tile *tile, size_t pieces, ny_piece_fn *work, void *arg);

/* Returns the tile as it is for `worker`, who does a piece of it: rows are those of the tile. */
struct ny_tile ny_tile_seen_by(const struct ny_tile *tile, unsigned worker);

/* Makes an empty one. */
void ny_sharing_init(struct ny_sharing *sharing);
/* Ends one for which nobody works or waits. */
void ny_sharing_release(struct ny_sharing *sharing);
/* Does a piece of another worker's work, or waits until something changes; with the lock held,
 * which is given back meanwhile. */
void ny_sharing_help(struct ny_sharing *sharing, unsigned worker);

#endif
