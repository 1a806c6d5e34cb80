/* Rows in a wider type than they are stored in: those of another source, and a few of a store. */
#include "stream/source.h"

#include <string.h>

#include "base/memory.h"
#include "stream/rows.h"

struct wide_source {
    struct ny_source base;
    struct ny_source *points;
    char *strips; /* workers × one strip, as stored */
};

static int take(struct ny_source *base, struct ny_tile *tile)
{
    struct ny_source *points = ((struct wide_source *)base)->points;

    return points->ops->take(points, tile);
}

/* Widens rows of d values, or records of `slots`, which are elsewhere. */
static void widen(enum ny_dtype from, const char *in, const struct ny_source *as, size_t count,
                  char *out)
{
    size_t row_bytes = ny_row_bytes(from, as->d, as->slots);
    size_t wide_bytes = ny_row_bytes(as->dtype, as->d, as->slots);

    for (size_t i = 0; as->slots && i < count; i++)
        ny_sparse_pack_as(out + i * wide_bytes, as->slots, as->dtype,
                          ny_sparse_of(in + i * row_bytes, as->slots), from);
    if (!as->slots) ny_dtype_widen(from, in, as->dtype, out, count * as->d);
}

/* Reads rows as stored into the worker's strip, then widens them. */
static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct wide_source *source = (const struct wide_source *)base;
    struct ny_source *points = source->points;
    size_t row_bytes = ny_row_bytes(points->dtype, base->d, base->slots);
    char *raw = source->strips + tile->worker * NY_STRIP_ROWS * row_bytes;
    int err = points->ops->strip(points, tile, first, count, raw);

    if (err == NY_OK) widen(points->dtype, raw, base, count, rows);
    return err;
}

static void release(struct ny_source *base)
{
    struct wide_source *source = (struct wide_source *)base;

    ny_source_free(source->points);
    ny_free(base->ctx, source->strips);
    ny_free(base->ctx, source);
}

int ny_source_widen(struct ny_source **out, struct ny_source *points, enum ny_dtype dtype,
                    unsigned workers)
{
    static const struct ny_source_ops ops = {.take = take, .strip = strip, .free = release};
    struct wide_source *source;

    *out = points;
    if (points->dtype == dtype) return NY_OK;
    *out = NULL;
    source = ny_calloc(points->ctx, NY_MEM_TILES, 1, sizeof(*source));
    if (!source) {
        ny_source_free(points);
        return NY_EBUDGET;
    }
    source->base = *points;
    source->base.ops = &ops;
    source->base.dtype = dtype;
    source->points = points;
    *out = &source->base;
    source->strips =
        ny_calloc(points->ctx, NY_MEM_TILES, workers,
                  NY_STRIP_ROWS * ny_row_bytes(points->dtype, points->d, points->slots));
    return source->strips ? NY_OK : NY_EBUDGET;
}

/* The stored rows are gathered at the end of the room, where none is overwritten before it has been
 * widened: row i then ends where the first one that is not widened begins, or before. */
int ny_rows_gather_wide(struct ny_rows *X, enum ny_dtype dtype, size_t slots, const uint64_t *rows,
                        size_t count, void *out)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_info info;
    struct ny_source as = {.dtype = dtype, .slots = slots};
    size_t row_bytes, wide_bytes;
    char *stored, *row;
    int err = X->ops->info(X, &info);

    if (err || info.dtype == dtype) return err ? err : X->ops->gather(X, slots, rows, count, out);
    as.d = (size_t)info.d;
    row_bytes = ny_row_bytes(info.dtype, as.d, slots);
    wide_bytes = ny_row_bytes(dtype, as.d, slots);
    stored = (char *)out + count * (wide_bytes - row_bytes);
    row = ny_alloc(ctx, NY_MEM_STORE, row_bytes);
    err = row ? X->ops->gather(X, slots, rows, count, stored) : NY_EBUDGET;
    for (size_t i = 0; err == NY_OK && i < count; i++) {
        memcpy(row, stored + i * row_bytes, row_bytes);
        widen(info.dtype, row, &as, 1, (char *)out + i * wide_bytes);
    }
    ny_free(ctx, row);
    return err;
}
