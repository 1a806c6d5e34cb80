/*
 * Centres among the rows. One value of 1e20, as many files have it for what is missing, makes the
 * mean of a thousand rows 1e17. About this mean all other rows are equal, even in f64: their kernel
 * values would be 1, and their neighbours any. Statistics cannot tell where these rows are, which
 * some hashed rows do. Means that leave 13 bits of what tells these rows apart stay as they are.
 */
#include "columns/centre.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/random.h"
#include "stream/rows.h"

enum { ROWS = 15 };

/* Tells whether few values can have made this mean: it is large, and no larger than the spread. */
static bool may_be_drawn(const struct ny_rows_stats *stats, size_t k)
{
    double mean = fabs(stats->mean[k]);

    return mean > 0x1p30 && sqrt(stats->variance[k]) >= mean;
}

static bool any_drawn(const struct ny_rows_stats *stats)
{
    for (size_t k = 0; k < stats->d; k++)
        if (may_be_drawn(stats, k)) return true;
    return false;
}

/* Returns the mean, or the median of the values where that is too far from the mean for the
 * smallest difference from it; 1 stands for that where the values are all equal. */
static double centre_of(double *values, double mean)
{
    double median, least = INFINITY;

    qsort(values, ROWS, sizeof(*values), ny_compare_doubles);
    median = values[ROWS / 2];
    for (size_t i = 0; i < ROWS; i++)
        if (values[i] != median) least = fmin(least, fabs(values[i] - median));
    if (isinf(least)) least = 1;
    return fabs(mean - median) > 0x1p40 * least ? median : mean;
}

int ny_centre_among_rows(struct ny_geometry *geometry, struct ny_rows *X,
                         const struct ny_rows_info *points, const struct ny_rows_stats *stats)
{
    struct ny_context *ctx = X->ctx;
    size_t bytes = ny_rows_row_bytes(points);
    uint64_t numbers[ROWS];
    double values[ROWS];
    unsigned char *rows;
    int err;

    if (points->row_slots || !any_drawn(stats)) return NY_OK;
    rows = ny_calloc(ctx, NY_MEM_OTHER, ROWS, bytes);
    if (!rows) return NY_EBUDGET;
    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = (uint64_t)(ny_hash01(0, NY_STREAM_SAMPLE, i) * (double)points->n);
        if (numbers[i] >= points->n) numbers[i] = points->n - 1;
    }
    err = X->ops->gather(X, 0, numbers, ROWS, rows);
    for (size_t k = 0; !err && k < stats->d; k++) {
        if (!may_be_drawn(stats, k)) continue;
        for (size_t i = 0; i < ROWS; i++)
            values[i] = ny_dtype_at(points->dtype, rows + i * bytes, k);
        geometry->centre[k] = centre_of(values, stats->mean[k]);
    }
    ny_free(ctx, rows);
    return err;
}

void ny_centre_count(struct ny_layout *l, const struct ny_rows_info *points)
{
    bool may = !points->row_slots && (points->dtype == NY_F32 || points->dtype == NY_F64);

    if (may) ny_lay(l, NY_MEM_OTHER, ROWS, ny_rows_row_bytes(points));
}
