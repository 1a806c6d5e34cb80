#include "columns/tile_cache.h"

#include <string.h>

struct ny_tile_cache {
    struct ny_layout own;
    uint64_t strips;
    size_t row_bytes;
    uint16_t *count;  /* of each strip: rows that it has; 0: it is not there */
    double *diagonal; /* strips × NY_STRIP_ROWS: k(x,x) */
    char *C;          /* strips × NY_STRIP_ROWS × m */
};

static uint64_t strips_of(uint64_t rows)
{
    return (rows + NY_STRIP_ROWS - 1) / NY_STRIP_ROWS;
}

static struct ny_tile_cache *lay(struct ny_layout *l, uint64_t rows, size_t row_bytes)
{
    struct ny_tile_cache spare, *cache = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);
    size_t strips = (size_t)strips_of(rows);

    *cache = (struct ny_tile_cache){.strips = strips, .row_bytes = row_bytes};
    cache->count = ny_lay(l, NY_MEM_TILES, strips, sizeof(*cache->count));
    cache->diagonal = ny_lay(l, NY_MEM_TILES, strips, NY_STRIP_ROWS * sizeof(double));
    cache->C = ny_lay(l, NY_MEM_TILES, strips, NY_STRIP_ROWS * row_bytes);
    return ny_laid(l, cache);
}

void ny_tile_cache_count(struct ny_layout *l, uint64_t rows, size_t m, size_t element)
{
    lay(l, rows, m * element);
}

int ny_tile_cache_new(struct ny_tile_cache **cache, struct ny_context *ctx, uint64_t rows, size_t m,
                      size_t element)
{
    struct ny_layout own = {.ctx = ctx};

    *cache = lay(&own, rows, m * element);
    if (!*cache) return ny_layout_end(&own);
    (*cache)->own = own;
    return NY_OK;
}

void ny_tile_cache_free(struct ny_tile_cache *cache)
{
    struct ny_layout own;

    if (!cache) return;
    own = cache->own;
    ny_layout_free(&own);
}

bool ny_tile_cache_whole(const struct ny_tile_cache *cache)
{
    for (uint64_t s = 0; cache && s < cache->strips; s++)
        if (!cache->count[s]) return false;
    return cache;
}

/* Rows of the tile from `first` on that are in one strip, and the number of that strip. */
static size_t strip_of(const struct ny_tile *tile, size_t first, uint64_t *strip)
{
    size_t left = tile->rows > first ? tile->rows - first : 0;

    *strip = (tile->first_row + first) / NY_STRIP_ROWS;
    return left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS;
}

bool ny_tile_cache_get(const struct ny_tile_cache *cache, const struct ny_tile *tile, size_t first,
                       void *C, double *diagonal)
{
    uint64_t strip;
    size_t count = strip_of(tile, first, &strip), bytes = count * cache->row_bytes;

    if (!count || strip >= cache->strips || cache->count[strip] != count) return false;
    memcpy(C, cache->C + strip * NY_STRIP_ROWS * cache->row_bytes, bytes);
    memset((char *)C + bytes, 0, NY_STRIP_ROWS * cache->row_bytes - bytes);
    memcpy(diagonal, cache->diagonal + strip * NY_STRIP_ROWS, count * sizeof(*diagonal));
    memset(diagonal + count, 0, (NY_STRIP_ROWS - count) * sizeof(*diagonal));
    return true;
}

void ny_tile_cache_put(struct ny_tile_cache *cache, const struct ny_tile *tile, size_t first,
                       const void *C, const double *diagonal)
{
    uint64_t strip;
    size_t count = strip_of(tile, first, &strip);

    if (!count || strip >= cache->strips) return;
    memcpy(cache->C + strip * NY_STRIP_ROWS * cache->row_bytes, C, count * cache->row_bytes);
    memcpy(cache->diagonal + strip * NY_STRIP_ROWS, diagonal, count * sizeof(*diagonal));
    cache->count[strip] = (uint16_t)count;
}
