/* Rows in memory as a source. */
#include "stream/source.h"

#include <string.h>

#include "base/memory.h"

struct memory_source {
    struct ny_source base;
    const char *rows;
    size_t row_bytes;
};

static int take(struct ny_source *base, struct ny_tile *tile)
{
    uint64_t left;

    if (tile->first_row >= base->n) return NY_END;
    left = base->n - tile->first_row;
    tile->rows = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
    return NY_OK;
}

static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct memory_source *source = (const struct memory_source *)base;

    memcpy(rows, source->rows + (tile->first_row + first) * source->row_bytes,
           count * source->row_bytes);
    return NY_OK;
}

static void release(struct ny_source *base)
{
    ny_free(base->ctx, base);
}

int ny_source_of_memory(struct ny_source **out, struct ny_context *ctx, const void *rows,
                        enum ny_dtype dtype, uint64_t n, size_t d)
{
    static const struct ny_source_ops ops = {take, strip, release};
    struct memory_source *source = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*source));

    *out = NULL;
    if (!source) return NY_EBUDGET;
    source->rows = rows;
    source->row_bytes = d * ny_dtype_size(dtype);
    source->base = (struct ny_source){.ops = &ops,
                                      .ctx = ctx,
                                      .dtype = dtype,
                                      .d = d,
                                      .n = n,
                                      .stored_bytes_per_row = (double)source->row_bytes};
    *out = &source->base;
    return NY_OK;
}
