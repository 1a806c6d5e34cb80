/* Scans and sums over plain arrays; the lanes are ours, so the bits depend on neither BLAS nor its
 * threads. */
#include <math.h>

#include "linalg/blas.h"

enum { LANES = 16, SCAN = 1024 };

/* 0·x is 0 exactly when x is finite. */
#define SCANS(all_finite, first_not_finite, type)                                                  \
    static bool all_finite(const type *x, size_t count)                                            \
    {                                                                                              \
        type sum[LANES] = {0}, total = 0;                                                          \
        size_t i = 0;                                                                              \
                                                                                                   \
        for (; i + LANES <= count; i += LANES)                                                     \
            for (size_t k = 0; k < LANES; k++)                                                     \
                sum[k] += x[i + k] * (type)0;                                                      \
        for (; i < count; i++)                                                                     \
            total += x[i] * (type)0;                                                               \
        for (size_t k = 0; k < LANES; k++)                                                         \
            total += sum[k];                                                                       \
        return total == 0;                                                                         \
    }                                                                                              \
                                                                                                   \
    size_t first_not_finite(const type *x, size_t count)                                           \
    {                                                                                              \
        for (size_t first = 0; first < count; first += SCAN) {                                     \
            size_t share = count - first < SCAN ? count - first : SCAN;                            \
                                                                                                   \
            if (all_finite(x + first, share)) continue;                                            \
            for (size_t i = first;; i++)                                                           \
                if (!all_finite(x + i, 1)) return i + 1;                                           \
        }                                                                                          \
        return 0;                                                                                  \
    }

SCANS(all_finite, ny_first_not_finite, double)
SCANS(all_finite32, ny_first_not_finite32, float)

int ny_check_lower(struct ny_context *ctx, struct ny_matrix A)
{
    for (size_t i = 0; i < A.rows; i++) {
        /* the lower triangle of a transposed view is the upper one in memory */
        const double *row = A.at + i * A.stride + (A.transposed ? i : 0);

        if (ny_first_not_finite(row, A.transposed ? A.rows - i : i + 1))
            return ny_fail_infinite(ctx, "matrix", NY_NO_LINE);
    }
    return NY_OK;
}

/* In four sums, since an addition waits for the one before. */
double ny_sum(const double *x, size_t count)
{
    double sum[4] = {0};

    for (size_t i = 0; i < count; i++)
        sum[i % 4] += x[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double ny_length(const double *x, size_t count)
{
    double largest = 0, sum = ny_dot(x, x, count);

    if ((sum > 0x1p-900 && isfinite(sum)) || isnan(sum)) return sqrt(sum);
    sum = 0; /* squares over- or underflow: the largest element is taken out */
    for (size_t i = 0; i < count; i++)
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    for (size_t i = 0; i < count && largest > 0; i++)
        sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

double ny_dot(const double *x, const double *y, size_t count)
{
    double sum[LANES] = {0}, total = 0;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sum[k] += x[i + k] * y[i + k];
    for (; i < count; i++)
        total += x[i] * y[i];
    for (size_t k = 0; k < LANES; k++)
        total += sum[k];
    return total;
}
