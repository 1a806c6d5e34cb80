/* Rows of a reader as a source: they come once, in order. A whole unit is fetched when it is taken,
 * into the taking worker's buffer. */
#include "stream/source.h"

#include <string.h>

#include "base/memory.h"
#include "io/reader.h"

struct reader_source {
    struct ny_source base;
    struct ny_reader *reader;
    enum ny_dtype read_dtype;
    size_t row_bytes; /* as read */
    char *units;      /* workers × one unit */
};

static int take(struct ny_source *base, struct ny_tile *tile)
{
    struct reader_source *source = (struct reader_source *)base;
    char *unit = source->units + tile->worker * NY_UNIT_ROWS * source->row_bytes;
    int err = NY_OK;

    tile->rows = 0;
    while (tile->rows < NY_UNIT_ROWS && err == NY_OK) {
        struct ny_row_batch batch = {.values = unit + tile->rows * source->row_bytes};

        err = ny_reader_next(source->reader, NY_UNIT_ROWS - tile->rows, &batch);
        if (err == NY_OK) tile->rows += batch.count;
    }
    if (err == NY_END && tile->rows > 0) err = NY_OK;
    return err;
}

static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct reader_source *source = (const struct reader_source *)base;
    const char *at = source->units + (tile->worker * NY_UNIT_ROWS + first) * source->row_bytes;

    if (base->dtype == source->read_dtype)
        memcpy(rows, at, count * source->row_bytes);
    else if (base->dtype == NY_F32)
        ny_dtype_to_f32(source->read_dtype, at, rows, count * base->d);
    else
        ny_dtype_to_f64(source->read_dtype, at, rows, count * base->d);
    return NY_OK;
}

static void release(struct ny_source *base)
{
    struct reader_source *source = (struct reader_source *)base;

    ny_free(base->ctx, source->units);
    ny_free(base->ctx, source);
}

int ny_source_of_reader(struct ny_source **out, struct ny_context *ctx, struct ny_reader *reader,
                        enum ny_dtype dtype, unsigned workers)
{
    static const struct ny_source_ops ops = {take, strip, release};
    const struct ny_table *table = ny_reader_table(reader);
    struct reader_source *source;
    size_t bytes;
    int err = NY_EBUDGET;

    *out = NULL;
    source = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*source));
    if (!source) return NY_EBUDGET;
    source->reader = reader;
    source->read_dtype = table->dtype;
    source->row_bytes = (size_t)table->d * ny_dtype_size(table->dtype);
    source->base = (struct ny_source){
        .ops = &ops,
        .ctx = ctx,
        .dtype = dtype,
        .d = (size_t)table->d,
        .n = table->rows == NY_ROWS_UNKNOWN ? 0 : table->rows,
        .stored_bytes_per_row = (double)source->row_bytes,
    };
    if (ny_product(ctx, &bytes, source->row_bytes, NY_UNIT_ROWS, workers)) goto done;
    source->units = ny_alloc(ctx, NY_MEM_IO, bytes);
    if (!source->units) goto done;
    *out = &source->base;
    source = NULL;
    err = NY_OK;
done:
    if (source) release(&source->base);
    return err;
}
