/*
 * Makes the handle of a store whose points are not imported yet: of their shape, for a plan of what
 * their fit will take, or of none, for an import.
 */
#include "store/store_private.h"
#include "stream/rows_shape.h"

/* The fullest sparse row is not known: four times the mean is usual. */
static struct ny_rows_info info_of(const struct ny_points_shape *shape)
{
    enum { FULLEST = 4 };
    bool sparse = shape->values > 0;
    uint64_t n = shape->rows, d = shape->columns, nnz = sparse ? shape->values : n * d;
    uint64_t mean = (nnz + n - 1) / n, slots = FULLEST * mean < d ? FULLEST * mean : d;
    uint64_t block_rows =
        sparse ? ny_sparse_block_rows_for(mean, shape->dtype) : ny_block_rows_for(d, shape->dtype);

    struct ny_rows_info info = {
        .n = n,
        .d = d,
        .here = {0, n},
        .aligned = true,
        .dtype = shape->dtype,
        .stored_dtype = shape->dtype,
        .layout = sparse ? NY_CSR : NY_DENSE,
        .block_rows = block_rows,
        .blocks = (n + block_rows - 1) / block_rows,
        .nnz = nnz,
        .row_slots = sparse ? slots : 0,
        .block_nnz = sparse ? block_rows * mean : 0,
        .raw_bytes = nnz * (ny_dtype_size(shape->dtype) + (sparse ? sizeof(uint32_t) : 0)),
        .reader_bytes = NY_READING_BYTES,
    };

    ny_lengths_unknown(&info.lengths, nnz);
    info.block_bytes = ny_points_block_bytes(&info);
    return info;
}

static int of_shape(struct ny_store **out, struct ny_context *ctx, const char *path,
                    const struct ny_rows_info *info, const char *folder)
{
    struct ny_given_rows rows = {.none = !info->n, .folder = folder, .free = ny_shape_rows_free};
    int err = ny_rows_of_shape(&rows.X, ctx, path, info);

    *out = NULL;
    rows.arg = rows.X;
    if (!err) err = ny_store_of_rows(out, ctx, path, &rows);
    if (!err) rows.X->name = ny_store_path(*out); /* which lasts */
    return err;
}

int ny_store_imagine(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const struct ny_points_shape *shape)
{
    const struct ny_rows_info info = info_of(shape);

    return of_shape(out, ctx, path, &info, NULL);
}

int ny_store_of_none(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const char *folder)
{
    return of_shape(out, ctx, path, &(struct ny_rows_info){.block_rows = 1}, folder);
}
