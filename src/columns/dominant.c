/*
 * Warns where a few columns decide what a map shows, because their unit is smaller than that of the
 * others: one of several columns that makes up more than nine tenths of the distances, or at most a
 * tenth of at least ten columns that do; or one that makes up more than three quarters, and 25
 * times as much as the others on average. The variances are those of the store's statistics, so
 * that no row is read.
 *
 * Few columns among many say nothing of units where rows are sparse, bytes, or counts that were
 * prepared: some words, pixels and genes vary more than others, and all have one unit. There only a
 * column alone is told that makes up nine tenths of the distances. Of fewer than five columns, the
 * longest may well be the shape of the data that a linear map is to show.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "columns/columns.h"
#include "columns/kernels.h"
#include "stream/rows.h"

/* The largest columns, which together make up a share of `percent`. */
struct dominant {
    size_t count, columns; /* of them; of those that vary */
    size_t largest;
    double percent, top; /* top: the share of the largest */
    const char *of; /* "distances between rows" */
};

static bool is_linear(const struct ny_kernel *kernel)
{
    return !kernel->unit_rows &&
           (ny_kernel_has_features(kernel) || kernel->base == NY_BASE_COORDINATE);
}

/* Returns the share of a column of such a deviation, times a constant: that in the mean ‖x−y‖² or
 * in the variance, or about that in the mean ‖x−y‖₁. */
static double spread_of(double deviation, enum ny_base_quantity base)
{
    return base == NY_BASE_ABSOLUTE ? deviation : deviation * deviation;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Finds the fewest columns that make up more than nine tenths. Turns the variances into spreads,
 * and sorts them. */
static struct dominant find(const struct ny_geometry *geometry, struct ny_rows_stats *stats,
                            enum ny_base_quantity base)
{
    const double most = 0.9;
    struct dominant found = {.of = "distances between rows"};
    double sum = 0, held = 0, top = 0;

    for (size_t k = 0; k < geometry->d; k++) {
        double spread = spread_of(geometry->factor[k] * sqrt(stats->variance[k]), base);

        found.columns += geometry->factor[k] > 0 && stats->minimum[k] < stats->maximum[k];
        stats->variance[k] = spread;
        sum += spread;
        if (spread <= top) continue;
        top = spread;
        found.largest = k;
    }
    qsort(stats->variance, geometry->d, sizeof(double), descending);
    while (found.count < found.columns && !(held > most * sum))
        held += stats->variance[found.count++];
    found.percent = 100 * held / sum;
    found.top = top / sum;
    return found;
}

/* Tells whether the largest column makes up most, and many times as much as the others on average:
 * of two or three columns, one makes up most of all where it is but little larger. */
static bool stands_out(const struct dominant *found)
{
    const double most = 0.75, times = 25; /* it deviates five times as much */

    return found->columns > 1 && found->top > most &&
           found->top * (double)(found->columns - 1) > times * (1 - found->top);
}

/* Tells the largest column, and warns. */
static int warn(struct ny_rows *X, const struct dominant *found, struct ny_dominant *told)
{
    bool alone = found->count == 1;
    char column[NY_COLUMN_WORDS_BYTES], many[80];
    int err = X->ops->column_words(X, found->largest, column);

    if (err) return err;
    snprintf(many, sizeof(many), "%zu of %zu columns, the largest of them ", found->count,
             found->columns);
    ny_decimal_print(told->text, sizeof(told->text), "%s%s%s %.4g %% of the %s",
                     alone ? "" : many, column, alone ? " alone makes up" : ", make up",
                     found->percent, found->of);
    ny_log(
        X->ctx, NY_LOG_WARNING,
        "%s: the other columns hardly count; %s--scale standard gives all of them the same "
        "weight%s",
        told->text, alone ? "" : "where their units differ, ",
        alone
            ? ", and an import with --columns leaves out one that is not data, such as a row number"
            : "");
    return NY_OK;
}

int ny_geometry_warn_dominant(const struct ny_geometry *geometry, struct ny_rows *X,
                              const struct ny_kernel *kernel, bool centred,
                              struct ny_dominant *told)
{
    enum { SEVERAL = 5, MANY = 10 };
    enum ny_base_quantity base = kernel->base;
    bool distances = base == NY_BASE_SQUARE || base == NY_BASE_ABSOLUTE, of_units, few, alone;
    struct ny_rows_stats stats;
    struct ny_rows_info info;
    struct dominant found;
    int err;

    told->text[0] = '\0';
    if (!distances && !(centred && is_linear(kernel))) return NY_OK;
    err = X->ops->info(X, &info);
    if (err == NY_OK) err = X->ops->stats(X, &stats);
    if (err) return err;
    found = find(geometry, &stats, base);
    ny_rows_stats_release(&stats, X->ctx);
    if (!distances) found.of = "variance";
    of_units = !info.row_slots && info.dtype != NY_U8 && !ny_prepares(&info.preparation);
    few = (of_units && found.count && found.count <= found.columns / MANY) ||
          (distances && found.columns > 1 && found.count == 1);
    alone = of_units && (distances || found.columns >= SEVERAL) && stands_out(&found);
    if (alone && !few) {
        found.count = 1;
        found.percent = 100 * found.top;
    }
    return few || alone ? warn(X, &found, told) : NY_OK;
}
