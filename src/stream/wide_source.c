/* The rows of another source in a wider type. */
#include "stream/source.h"

#include "base/memory.h"

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

/* Reads rows as stored into the worker's strip, then widens them. */
static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct wide_source *source = (const struct wide_source *)base;
    struct ny_source *points = source->points;
    size_t row_bytes = ny_row_bytes(points->dtype, base->d, base->slots);
    size_t wide_bytes = ny_row_bytes(base->dtype, base->d, base->slots);
    char *raw = source->strips + tile->worker * NY_STRIP_ROWS * row_bytes;
    int err = points->ops->strip(points, tile, first, count, raw);

    if (err) return err;
    for (size_t i = 0; base->slots && i < count; i++)
        ny_sparse_pack_as((char *)rows + i * wide_bytes, base->slots, base->dtype,
                          ny_sparse_of(raw + i * row_bytes, base->slots), points->dtype);
    if (base->slots) return NY_OK;
    if (base->dtype == NY_F32)
        ny_dtype_to_f32(points->dtype, raw, rows, count * base->d);
    else
        ny_dtype_to_f64(points->dtype, raw, rows, count * base->d);
    return NY_OK;
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
    static const struct ny_source_ops ops = {take, strip, release};
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
    source->strips = ny_calloc(points->ctx, NY_MEM_TILES, workers,
                               NY_STRIP_ROWS *
                                   ny_row_bytes(points->dtype, points->d, points->slots));
    return source->strips ? NY_OK : NY_EBUDGET;
}
