/*
 * Weights of columns by how many rows have a value in them (--scale idf, idf-smooth): a column that
 * nearly all rows have tells them apart less. Of n rows, df with a value that is not 0:
 *
 *    idf          ln(n / df), 0 where df is 0 or n
 *    idf-smooth   ln((1 + n) / (1 + df)) + 1, as scikit-learn has it
 *
 * One pass counts. The store does not keep df, since a minimum and maximum can not tell it.
 */
#include <math.h>

#include "base/memory.h"
#include "columns/columns.h"
#include "columns/visit.h"

/* Adds the values of one row that are not 0. */
static int count_row(void *arg, uint64_t number, enum ny_dtype dtype, const struct ny_sparse *row)
{
    double *df = arg;

    (void)number;
    for (size_t k = 0; k < row->count; k++)
        df[row->index ? row->index[k] : k] += ny_dtype_at(dtype, row->value, k) != 0;
    return NY_OK;
}

int ny_frequency_count(struct ny_store *store, double *df)
{
    return ny_visit_rows(store, false, count_row, df);
}

/* Warns of columns that idf weighs 0 as all rows have them, and refuses to weigh all of them so. */
static int check_weights(const struct ny_geometry *geometry, struct ny_store *store, size_t full,
                         size_t first)
{
    struct ny_context *ctx = ny_store_context(store);
    bool any = false;

    for (size_t k = 0; k < geometry->d; k++)
        any |= geometry->factor[k] > 0;
    if (!any)
        return ny_fail(ctx, NY_EDATA,
                       "each column of %s that counts has a value in all rows or in none, so that "
                       "--scale idf weighs them all 0; give --scale idf-smooth",
                       ny_store_path(store));
    if (full)
        ny_log(ctx, NY_LOG_WARNING,
               "%zu column%s, the first of them number %zu (from 1), %s a value in every row: "
               "--scale idf weighs them 0; idf-smooth keeps them",
               full, full == 1 ? "" : "s", first + 1, full == 1 ? "has" : "have");
    return NY_OK;
}

size_t ny_frequency_bytes(const struct ny_points_info *points)
{
    return ny_visit_bytes(points) + (size_t)points->d * sizeof(double);
}

/* Weighs the columns that are chosen by their df, of n rows. */
static int weigh(struct ny_geometry *geometry, struct ny_store *store, const double *df, double n,
                 bool smooth)
{
    size_t full = 0, first = 0;

    for (size_t k = 0; k < geometry->d; k++) {
        bool everywhere = df[k] >= n;

        if (geometry->factor[k] == 0) continue;
        if (everywhere && !full++) first = k;
        if (smooth)
            geometry->factor[k] = log((1 + n) / (1 + df[k])) + 1;
        else
            geometry->factor[k] = df[k] == 0 ? NY_UNSEEN : everywhere ? 0 : log(n / df[k]);
    }
    return smooth ? NY_OK : check_weights(geometry, store, full, first);
}

int ny_frequency_weigh(struct ny_geometry *geometry, struct ny_store *store, bool smooth)
{
    struct ny_context *ctx = ny_store_context(store);
    double *df = ny_calloc(ctx, NY_MEM_OTHER, geometry->d, sizeof(double));
    struct ny_points_info points;
    int err = df ? ny_points_info(store, &points) : NY_EBUDGET;

    if (!err) err = ny_frequency_count(store, df);
    if (!err) err = weigh(geometry, store, df, (double)points.n, smooth);
    ny_free(ctx, df);
    return err;
}

void ny_frequency_guess(struct ny_geometry *geometry, const struct ny_points_stats *stats,
                        bool smooth)
{
    const double middling = 0.5;

    for (size_t k = 0; k < geometry->d; k++)
        if (geometry->factor[k] != 0)
            geometry->factor[k] = smooth || stats->minimum[k] < stats->maximum[k] ? middling : 0;
}
