/*
 * Weights of columns by how many rows have a value in them (--scale idf, idf-smooth): a column that
 * nearly all rows have tells them apart less. Of n rows, df with a value that is not 0:
 *
 *    idf          ln(n / df), 0 where df is 0 or n
 *    idf-smooth   ln((1 + n) / (1 + df)) + 1, as scikit-learn has it
 *
 * One pass counts. The store does not keep df, since a minimum and maximum can not tell it. Each
 * worker counts the rows that it reads, and each peer those of its shard; whole numbers have the
 * same sums in any order.
 */
#include <math.h>

#include "base/memory.h"
#include "base/peers.h"
#include "columns/columns.h"
#include "columns/visit.h"

/* Counts of one worker. */
struct counter {
    double *df;
    enum ny_dtype dtype;
};

struct counts {
    size_t d, row_bytes; /* row_bytes: of dense rows; sparse ones are looked at where they are */
    double *df, *others; /* d of worker 0, and of each other */
    char *rows;          /* a row a worker */
};

/* Adds the values of one row that are not 0. */
static int count_row(void *arg, struct ny_sparse row)
{
    const struct counter *counter = arg;

    for (size_t k = 0; k < row.count; k++)
        counter->df[row.index ? row.index[k] : k] +=
            fabs(ny_dtype_at(counter->dtype, row.value, k)) > 0; /* NaN is missing */
    return NY_OK;
}

static int count_unit(void *arg, const struct ny_tile *tile)
{
    const struct counts *counts = arg;
    struct ny_source *source = tile->source;
    size_t worker = tile->worker;
    struct counter counter = {worker ? counts->others + (worker - 1) * counts->d : counts->df,
                              source->dtype};
    const struct ny_sparse row = {.count = counts->d,
                                  .value = counts->rows + worker * counts->row_bytes};
    int err = NY_OK;

    if (source->slots) return source->ops->visit(source, tile, 0, count_row, &counter);
    for (size_t i = 0; i < tile->rows && !err; i++) {
        err = ny_tile_strip(tile, i, 1, counts->rows + worker * counts->row_bytes);
        if (!err) err = count_row(&counter, row);
    }
    return err;
}

static void lay(struct ny_layout *l, struct counts *counts, const struct ny_rows_info *points,
                unsigned workers)
{
    counts->d = (size_t)points->d;
    counts->row_bytes = points->row_slots ? 0 : ny_rows_row_bytes(points);
    counts->others = ny_lay(l, NY_MEM_OTHER, (workers - 1) * counts->d, sizeof(double));
    counts->rows = ny_lay(l, NY_MEM_STORE, workers, counts->row_bytes);
}

int ny_frequency_measure(struct ny_rows *X, unsigned workers, double *df)
{
    struct ny_context *ctx = X->ctx;
    struct ny_layout l = {.ctx = ctx};
    struct counts counts = {.df = df};
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    if (err) return err;
    lay(&l, &counts, &points, workers);
    err = l.err;
    if (!err) err = ny_visit_units(X, workers, count_unit, &counts);
    for (size_t i = 0; !err && i < (workers - 1) * counts.d; i++)
        df[i % counts.d] += counts.others[i];
    if (!err) err = ny_peers_fold(ny_context_peers(ctx), df, counts.d);
    ny_layout_free(&l);
    return err;
}

void ny_frequency_count(struct ny_layout *l, const struct ny_rows_info *points, unsigned workers)
{
    ny_lay(l, NY_MEM_OTHER, (size_t)points->d, sizeof(double)); /* df */
    lay(l, &(struct counts){0}, points, workers);
    ny_rows_source_count(l, NY_MEM_STORE, points, workers);
}

/* Weighs the columns that are chosen by their df, of n rows; refuses to weigh all of them 0. */
static int weigh(struct ny_geometry *geometry, struct ny_rows *X, const double *df, double n,
                 bool smooth)
{
    bool any = false;

    for (size_t k = 0; k < geometry->d; k++) {
        if (geometry->factor[k] == 0) continue;
        if (smooth)
            geometry->factor[k] = log((1 + n) / (1 + df[k])) + 1;
        else
            geometry->factor[k] = df[k] == 0 ? NY_UNSEEN : df[k] >= n ? 0 : log(n / df[k]);
        any |= geometry->factor[k] > 0;
    }
    if (smooth || any) return NY_OK;
    return ny_fail(X->ctx, NY_EDATA,
                   "each chosen column of %s has a value in all rows or in none, so --scale idf "
                   "gives them all weight 0; give --scale idf-smooth",
                   X->name);
}

int ny_frequency_weigh(struct ny_geometry *geometry, struct ny_rows *X, bool smooth,
                       unsigned workers)
{
    struct ny_context *ctx = X->ctx;
    double *df = ny_calloc(ctx, NY_MEM_OTHER, geometry->d, sizeof(double));
    struct ny_rows_info points;
    int err = df ? X->ops->info(X, &points) : NY_EBUDGET;

    if (!err) err = ny_frequency_measure(X, workers, df);
    if (!err) err = weigh(geometry, X, df, (double)points.n, smooth);
    ny_free(ctx, df);
    return err;
}

void ny_frequency_guess(struct ny_geometry *geometry, const struct ny_rows_stats *stats,
                        bool smooth)
{
    const double middling = 0.5;

    for (size_t k = 0; k < geometry->d; k++)
        if (geometry->factor[k] != 0)
            geometry->factor[k] = smooth || stats->minimum[k] < stats->maximum[k] ? middling : 0;
}
