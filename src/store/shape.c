/*
 * Makes the handle of a store whose points are not imported yet: of their shape, for a plan of what
 * their fit will take, or of none, for an import. Its rows are described and counted, and cannot be
 * read: NY_END (stream/rows.h). Their statistics are those of columns of mean 1 and deviation 2, so
 * that a plan counts all columns and finds that --scale changes them.
 */
#include <math.h>

#include "base/memory.h"
#include "store/store_private.h"

struct shape {
    struct ny_rows rows;
    struct ny_rows_info info;
};

static int info(struct ny_rows *X, struct ny_rows_info *out)
{
    *out = ((const struct shape *)X)->info;
    return NY_OK;
}

static int stats(struct ny_rows *X, struct ny_rows_stats *out)
{
    const struct ny_rows_info *info = &((const struct shape *)X)->info;
    uint64_t d = info->d;
    double *all = ny_calloc(X->ctx, NY_MEM_OTHER, 4 * d, sizeof(*all));

    *out = (struct ny_rows_stats){.n = info->n,
                                  .d = d,
                                  .mean = all,
                                  .minimum = all + d,
                                  .maximum = all + 2 * d,
                                  .variance = all + 3 * d,
                                  .mean_square_norm = 5 * (double)d,
                                  .mean_norm = sqrt(5 * (double)d)};
    for (uint64_t k = 0; all && k < d; k++) {
        out->mean[k] = 1;
        out->minimum[k] = -1;
        out->maximum[k] = 3;
        out->variance[k] = 4;
    }
    return all ? NY_OK : NY_EBUDGET;
}

static int column_words(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES])
{
    (void)X;
    ny_rows_name_column(column, NULL, words);
    return NY_OK;
}

static int source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out)
{
    (void)X, (void)n, (void)slots, (void)workers, (void)out;
    return NY_END;
}

static int read_rows(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *out)
{
    (void)X, (void)slots, (void)first, (void)count, (void)out;
    return NY_END;
}

static int gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    (void)X, (void)slots, (void)rows, (void)count, (void)out;
    return NY_END;
}

static int visit(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                 ny_gathered_fn *take, void *arg)
{
    (void)X, (void)slots, (void)rows, (void)count, (void)take, (void)arg;
    return NY_END;
}

static void free_rows(void *X)
{
    struct ny_rows *rows = X;

    if (rows) ny_free(rows->ctx, rows);
}

/* Makes a handle of rows that have this description. */
static int of_info(struct ny_store **out, struct ny_context *ctx, const char *path,
                   const struct ny_rows_info *of, const char *folder)
{
    static const struct ny_rows_ops ops = {info,      stats,  column_words,  source,
                                           read_rows, gather, .visit = visit};
    struct shape *shape = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*shape));
    const struct ny_given_rows rows = {.X = (struct ny_rows *)shape,
                                       .none = !of->n,
                                       .folder = folder,
                                       .free = free_rows,
                                       .arg = shape};
    int err;

    *out = NULL;
    if (!shape) return NY_EBUDGET;
    *shape = (struct shape){.rows = {&ops, ctx, path}, .info = *of};
    err = ny_store_of_rows(out, ctx, path, &rows);
    if (!err) shape->rows.name = ny_store_path(*out); /* which lasts */
    return err;
}

/* Describes the rows as an import would leave them. The fullest sparse row is not known: four times
 * the mean is usual. */
int ny_store_of_shape(struct ny_store **out, struct ny_context *ctx, const char *path,
                      const struct ny_points_shape *shape)
{
    enum { FULLEST = 4 };
    bool sparse = shape->values > 0;
    uint64_t n = shape->rows, d = shape->columns, nnz = sparse ? shape->values : n * d;
    uint64_t mean = (nnz + n - 1) / n, slots = FULLEST * mean < d ? FULLEST * mean : d;
    uint64_t block_rows =
        sparse ? ny_sparse_block_rows_for(mean, shape->dtype) : ny_block_rows_for(d, shape->dtype);
    struct ny_stored_points points = {
        .rows = {.n = n,
                 .d = d,
                 .here = {0, n},
                 .aligned = true,
                 .dtype = shape->dtype,
                 .stored_dtype = shape->dtype,
                 .layout = sparse ? NY_CSR : NY_DENSE,
                 .nnz = nnz,
                 .row_slots = sparse ? slots : 0,
                 .block_rows = block_rows,
                 .reader_bytes = NY_READING_BYTES},
        .block_nnz = sparse ? block_rows * mean : 0,
    };
    struct ny_rows_info *info = &points.rows;

    ny_lengths_unknown(&info->lengths, nnz);
    info->block_bytes = ny_points_block_bytes(&points);
    if (sparse) info->unit_values = ny_rows_unit_most(info, points.block_nnz);
    return of_info(out, ctx, path, info, NULL);
}

int ny_store_of_none(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const char *folder)
{
    return of_info(out, ctx, path, &(struct ny_rows_info){.block_rows = 1}, folder);
}
