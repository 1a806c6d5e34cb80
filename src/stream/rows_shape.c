/*
 * Rows that are not there yet (stream/rows_shape.h). Their statistics are those of columns of mean
 * 1 and deviation 2, so that a plan counts all columns and finds that --scale changes them.
 */
#include "stream/rows_shape.h"

#include <math.h>

#include "base/memory.h"

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

static int refuse(const struct ny_rows *X)
{
    return ny_fail(X->ctx, NY_EUSAGE,
                   "this needs the points, but %s gives only their shape: import them first",
                   X->name);
}

static int source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out)
{
    (void)n, (void)slots, (void)workers, (void)out;
    return refuse(X);
}

static int read_rows(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *out)
{
    (void)slots, (void)first, (void)count, (void)out;
    return refuse(X);
}

static int gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    (void)slots, (void)rows, (void)count, (void)out;
    return refuse(X);
}

static int visit(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                 ny_gathered_fn *take, void *arg)
{
    (void)slots, (void)rows, (void)count, (void)take, (void)arg;
    return refuse(X);
}

int ny_rows_of_shape(struct ny_rows **out, struct ny_context *ctx, const char *name,
                     const struct ny_rows_info *of)
{
    static const struct ny_rows_ops ops = {info,      stats,  column_words,  source,
                                           read_rows, gather, .visit = visit};
    struct shape *shape = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*shape));

    *out = (struct ny_rows *)shape;
    if (!shape) return NY_EBUDGET;
    *shape = (struct shape){.rows = {&ops, ctx, name}, .info = *of};
    shape->info.imagined = true;
    return NY_OK;
}

void ny_shape_rows_free(void *X)
{
    struct ny_rows *rows = X;

    if (rows) ny_free(rows->ctx, rows);
}
