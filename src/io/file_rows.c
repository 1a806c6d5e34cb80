#include "io/file_rows.h"

#include <string.h>

#include "base/memory.h"
#include "io/reader.h"
#include "io/reader_source.h"
#include "stream/source.h"

struct file_rows {
    struct ny_rows base;
    struct ny_reader *reader; /* of the source that was made last */
    uint64_t counted;         /* rows that a gather has found; 0: none has */
};

static int open_file(struct ny_rows *X, struct ny_reader **reader)
{
    struct ny_reader_options options = {0};

    return ny_reader_open(reader, X->ctx, X->name, &options);
}

static int info(struct ny_rows *X, struct ny_rows_info *out)
{
    uint64_t counted = ((struct file_rows *)X)->counted;
    const struct ny_file_table *table;
    struct ny_reader *reader;
    int err = open_file(X, &reader);

    if (err) return err;
    table = ny_reader_table(reader);
    *out = (struct ny_rows_info){.n = counted ? counted : table->rows,
                                 .d = table->d,
                                 .dtype = table->dtype,
                                 .stored_dtype = table->dtype,
                                 .block_rows = NY_UNIT_ROWS};
    ny_reader_close(reader);
    return NY_OK;
}

static int source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out)
{
    struct file_rows *rows = (struct file_rows *)X;
    int err;

    (void)n;
    ny_reader_close(rows->reader);
    rows->reader = NULL;
    err = open_file(X, &rows->reader);
    if (err) return err;
    return ny_source_of_reader(
        out, X->ctx, rows->reader,
        &(struct ny_raw_shape){.dtype = ny_reader_table(rows->reader)->dtype, .slots = slots},
        workers);
}

/* Copies those rows of a batch that are listed to their places. */
static void pick(const struct ny_row_batch *batch, uint64_t first, size_t row_bytes,
                 const uint64_t *rows, size_t count, char *out)
{
    for (size_t j = 0; j < count; j++)
        if (rows[j] >= first && rows[j] < first + batch->count)
            memcpy(out + j * row_bytes, (const char *)batch->values + (rows[j] - first) * row_bytes,
                   row_bytes);
}

static int gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    struct ny_row_batch batch = {0};
    struct ny_reader *reader;
    uint64_t first = 0;
    size_t row_bytes;
    int err = open_file(X, &reader);

    (void)slots;
    if (err) return err;
    row_bytes = (size_t)ny_reader_table(reader)->d * ny_dtype_size(ny_reader_table(reader)->dtype);
    batch.values = ny_calloc(X->ctx, NY_MEM_IO, NY_STRIP_ROWS, row_bytes);
    if (!batch.values) err = NY_EBUDGET;
    for (; !err; first += batch.count) {
        err = ny_reader_next(reader, NY_STRIP_ROWS, &batch);
        if (!err) pick(&batch, first, row_bytes, rows, count, out);
    }
    ny_reader_close(reader);
    ny_free(X->ctx, batch.values);
    if (err != NY_END) return err;
    ((struct file_rows *)X)->counted = first;
    return NY_OK;
}

int ny_rows_of_file(struct ny_rows **out, struct ny_context *ctx, const char *path)
{
    static const struct ny_rows_ops ops = {.info = info, .source = source, .gather = gather};
    struct file_rows *rows = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*rows));

    *out = NULL;
    if (!rows) return NY_EBUDGET;
    rows->base = (struct ny_rows){&ops, ctx, path};
    *out = &rows->base;
    return NY_OK;
}

void ny_rows_of_file_free(struct ny_rows *rows)
{
    if (!rows) return;
    ny_reader_close(((struct file_rows *)rows)->reader);
    ny_free(rows->ctx, rows);
}
