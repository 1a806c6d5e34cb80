/*
 * Makes the handle of a store that is not there: the shape of points that are not imported yet, for
 * a plan of what their fit will take. It is a set without stores; store/shape.c has what it
 * answers.
 */
#include "base/memory.h"
#include "store/store_private.h"

struct imagined {
    struct ny_context *ctx;
    struct ny_set set;
};

static void close_imagined(void *arg)
{
    struct imagined *imagined = arg;

    ny_free(imagined->ctx, imagined);
}

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
        .imagined = true,
        .dtype = shape->dtype,
        .stored_dtype = shape->dtype,
        .layout = sparse ? NY_CSR : NY_DENSE,
        .block_rows = block_rows,
        .blocks = (n + block_rows - 1) / block_rows,
        .nnz = nnz,
        .row_slots = sparse ? slots : 0,
        .block_nnz = sparse ? block_rows * mean : 0,
        .raw_bytes = nnz * (ny_dtype_size(shape->dtype) + (sparse ? sizeof(uint32_t) : 0)),
    };

    ny_lengths_unknown(&info.lengths, nnz);
    return info;
}

int ny_store_imagine(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const struct ny_points_shape *shape)
{
    struct imagined *imagined = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*imagined));
    int err;

    *out = NULL;
    if (!imagined) return NY_EBUDGET;
    *imagined =
        (struct imagined){ctx, {.info = info_of(shape), .close = close_imagined, .arg = imagined}};
    err = ny_store_open_set(out, ctx, path, &imagined->set);
    if (err) close_imagined(imagined);
    return err;
}
