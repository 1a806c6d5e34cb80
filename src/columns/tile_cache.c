#include "columns/tile_cache.h"

#include <string.h>

struct ny_tile_cache {
    struct ny_context *ctx;
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

size_t ny_tile_cache_bytes(uint64_t rows, size_t m, size_t element)
{
    const double headers = 4096;
    double row = (double)m * (double)element + sizeof(double);
    double strip = NY_STRIP_ROWS * row + sizeof(uint16_t);
    double bytes = (double)strips_of(rows) * strip + headers;

    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX;
}

int ny_tile_cache_new(struct ny_tile_cache **cache, struct ny_context *ctx, uint64_t rows, size_t m,
                      size_t element)
{
    struct ny_tile_cache *new = ny_calloc(ctx, NY_MEM_TILES, 1, sizeof(*new));
    size_t strips = (size_t)strips_of(rows);

    *cache = NULL;
    if (!new) return NY_EBUDGET;
    *new = (struct ny_tile_cache){.ctx = ctx, .strips = strips, .row_bytes = m * element};
    new->count = ny_calloc(ctx, NY_MEM_TILES, strips, sizeof(*new->count));
    new->diagonal = ny_alloc(ctx, NY_MEM_TILES, strips * NY_STRIP_ROWS * sizeof(double));
    new->C = ny_alloc(ctx, NY_MEM_TILES, strips * NY_STRIP_ROWS * new->row_bytes);
    if (!new->count || !new->diagonal || !new->C) {
        ny_tile_cache_free(new);
        return NY_EBUDGET;
    }
    *cache = new;
    return NY_OK;
}

void ny_tile_cache_free(struct ny_tile_cache *cache)
{
    if (!cache) return;
    ny_free(cache->ctx, cache->count);
    ny_free(cache->ctx, cache->diagonal);
    ny_free(cache->ctx, cache->C);
    ny_free(cache->ctx, cache);
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
