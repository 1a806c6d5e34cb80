/*
 * Tiles in memory: the strips of C′ that the first pass over the columns has computed, which the
 * passes that follow copy instead of computing them again.
 *
 * A strip is known by the number of its first row, and is the same in all passes of a fit, as its
 * landmarks, the shift and the precision are. A strip that no pass has put is computed.
 */
#ifndef NY_COLUMNS_TILE_CACHE_H
#define NY_COLUMNS_TILE_CACHE_H

#include "base/context.h"
#include "base/layout.h"
#include "stream/source.h"

struct ny_tile_cache;

/* Counts one for `rows` rows of m values, each of `element` bytes. */
void ny_tile_cache_count(struct ny_layout *l, uint64_t rows, size_t m, size_t element);
/* Makes an empty one, charged to NY_MEM_TILES. NY_EBUDGET. Free it with ny_tile_cache_free(). */
int ny_tile_cache_new(struct ny_tile_cache **cache, struct ny_context *ctx, uint64_t rows, size_t m,
                      size_t element);
/* Frees it; NULL is allowed. */
void ny_tile_cache_free(struct ny_tile_cache *cache);
/* Tells whether all strips are there, between passes. NULL has none. */
bool ny_tile_cache_whole(const struct ny_tile_cache *cache);

/* Copies the strip that begins with row `first` of the tile to C, NY_STRIP_ROWS × m, and k(x,x) of
 * its rows to `diagonal`. Returns false where it is not there. */
bool ny_tile_cache_get(const struct ny_tile_cache *cache, const struct ny_tile *tile, size_t first,
                       void *C, double *diagonal);
/* Copies a strip from C and `diagonal`. No other thread may want the same strip. */
void ny_tile_cache_put(struct ny_tile_cache *cache, const struct ny_tile *tile, size_t first,
                       const void *C, const double *diagonal);

#endif
