/*
 * Warns where one column decides what a map shows, because its unit is smaller than that of the
 * others: where it makes up more than nine tenths of the distances. The variances are those of the
 * store's statistics, so that no row is read. So it is with the variance that a linear map shows;
 * of fewer than five columns, the longest may well be the shape of the data there.
 */
#include <math.h>

#include "base/decimal.h"
#include "columns/columns.h"
#include "columns/kernels.h"
#include "stream/rows.h"

static bool is_linear(const struct ny_kernel *kernel)
{
    return !kernel->unit_rows &&
           (ny_kernel_has_features(kernel) || kernel->base == NY_BASE_COORDINATE);
}

/* Finds the column of the largest share in the mean ‖x−y‖² or in the variance, or of about that in
 * the mean ‖x−y‖₁; *columns: how many vary. */
static double find(const struct ny_geometry *geometry, const struct ny_rows_stats *stats,
                   enum ny_base_quantity base, size_t *largest, size_t *columns)
{
    double sum = 0, top = 0;

    *largest = *columns = 0;
    for (size_t k = 0; k < geometry->d; k++) {
        double deviation = geometry->factor[k] * sqrt(stats->variance[k]);
        double spread = base == NY_BASE_ABSOLUTE ? deviation : deviation * deviation;

        *columns += geometry->factor[k] > 0 && stats->minimum[k] < stats->maximum[k];
        sum += spread;
        if (spread <= top) continue;
        top = spread;
        *largest = k;
    }
    return top / sum;
}

int ny_geometry_warn_dominant(const struct ny_geometry *geometry, struct ny_rows *X,
                              const struct ny_kernel *kernel, bool centred,
                              struct ny_dominant *told)
{
    enum { SEVERAL = 5 };
    const double most = 0.9;
    bool distances = kernel->base == NY_BASE_SQUARE || kernel->base == NY_BASE_ABSOLUTE;
    char column[NY_COLUMN_WORDS_BYTES];
    struct ny_rows_stats stats;
    size_t largest, columns;
    double share;
    int err;

    told->text[0] = '\0';
    if (!distances && !(centred && is_linear(kernel))) return NY_OK;
    err = X->ops->stats(X, &stats);
    if (err) return err;
    share = find(geometry, &stats, kernel->base, &largest, &columns);
    ny_rows_stats_release(&stats, X->ctx);
    if (!(share > most) || columns < (distances ? 2 : SEVERAL)) return NY_OK;
    err = X->ops->column_words(X, largest, column);
    if (err) return err;
    ny_decimal_print(told->text, sizeof(told->text), "%s alone makes up %.4g %% of the %s", column,
                     100 * share, distances ? "distances between rows" : "variance");
    ny_log(X->ctx, NY_LOG_WARNING,
           "%s: the other columns hardly count; --scale standard gives all of them the same weight",
           told->text);
    return NY_OK;
}
