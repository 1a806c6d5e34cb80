#include "linalg/eigen.h"

#include <math.h>

#include "base/random.h"
#include "linalg/blas.h"
#include "linalg/eigen_dense.h"
#include "linalg/eigen_few.h"
#include "linalg/square.h"

double *ny_lay_pairs(struct ny_layout *l, size_t count, size_t m, struct ny_matrix *V)
{
    *V = ny_lay_matrix(l, NY_MEM_SOLVE, count, m);
    return ny_lay(l, NY_MEM_SOLVE, count, sizeof(double));
}

void ny_eigen_top_count(struct ny_layout *l, size_t m, size_t count)
{
    ny_eigen_dense_count(l, m, count);
    if (ny_eigen_is_few(m, count)) ny_eigen_few_count(l, m, count);
}

int ny_eigen_top(struct ny_context *ctx, struct ny_matrix A, size_t count, double *values,
                 struct ny_matrix V)
{
    bool settled = false;
    int err;

    if (!count) return NY_OK;
    if (ny_eigen_is_few(A.rows, count)) {
        err = ny_check_lower(ctx, A);
        if (err == NY_OK) err = ny_eigen_few(ctx, A, values, V, &settled);
        if (err || settled) return err;
    }
    return ny_eigen_dense(ctx, A, count, values, V);
}

/* Columns of a block of dsytrf. */
enum { SYTRF_COLUMNS = 64 };

static const size_t sytrf_row = SYTRF_COLUMNS * sizeof(double) + sizeof(lapack_int);

void ny_eigen_below_count(struct ny_layout *l, size_t m)
{
    ny_lay_peak(l, NY_MEM_SOLVE, m, sytrf_row);
}

/* A − bound·I = LDLᵀ (Bunch & Kaufman 1977), and D has as many eigenvalues of each sign. Pivots of
 * order 2 are chosen where their determinant is negative: one of either sign. */
int ny_eigen_count_below(struct ny_context *ctx, struct ny_matrix A, double bound, size_t *count)
{
    int m = ny_blas_int(A.rows);
    double *work = NULL;
    lapack_int *pivots, info;
    int err = ny_check_order(ctx, A.rows, SYTRF_COLUMNS);

    *count = 0;
    if (err == NY_OK) err = ny_check_lower(ctx, A);
    if (err) return err;
    work = ny_alloc(ctx, NY_MEM_SOLVE, A.rows * sytrf_row);
    if (!work) return NY_EBUDGET;
    pivots = (lapack_int *)(void *)(work + SYTRF_COLUMNS * A.rows);
    for (size_t i = 0; i < A.rows; i++)
        A.at[i * A.stride + i] -= bound;
    NY_BLAS(info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, ny_lapack_lower(A), m, A.at,
                                       ny_blas_stride(A.stride), pivots, work, SYTRF_COLUMNS * m));
    assert(info >= 0); /* > 0: an eigenvalue is `bound` */
    (void)info;
    for (size_t i = 0, second = 0; i < A.rows; i++) {
        *count += pivots[i] > 0 ? A.at[i * A.stride + i] < 0 : second;
        second = pivots[i] < 0 && !second; /* rows of a pivot of order 2 follow one another */
    }
    ny_free(ctx, work);
    return NY_OK;
}

int ny_frobenius_norm(struct ny_context *ctx, struct ny_matrix A, double *norm)
{
    double *lengths = ny_alloc(ctx, NY_MEM_SOLVE, A.rows * sizeof(*lengths));
    int err = lengths ? ny_lengths_lanes(ctx, A, lengths) : NY_EBUDGET;

    *norm = err ? 0 : ny_length(lengths, A.rows);
    ny_free(ctx, lengths);
    return err;
}

int ny_spectral_norm(struct ny_context *ctx, struct ny_matrix A, double *norm)
{
    enum { STEPS = 30 };
    double bound, estimate = 0;
    int err = ny_frobenius_norm(ctx, A.transposed ? ny_t(A) : A, &bound);
    double *x = ny_alloc(ctx, NY_MEM_SOLVE, (A.rows + A.cols) * sizeof(*x)), *y;

    if (!x) return NY_EBUDGET;
    y = x + A.cols;
    ny_gaussian(0, NY_STREAM_RANGE, 0, x, A.cols);
    for (int step = 0; step < STEPS && bound > 0 && !err; step++) {
        double before = estimate, size = ny_length(x, A.cols);

        if (!(size > 0)) break;
        for (size_t j = 0; j < A.cols; j++)
            x[j] /= size;
        err = ny_gemv_lanes(ctx, 1 / bound, A, x, y);
        estimate = bound * ny_length(y, A.rows); /* ‖Ax‖ ≤ ‖A‖₂ for ‖x‖ = 1 */
        if (!err) err = ny_gemv_lanes(ctx, 1 / bound, ny_t(A), y, x);
        if (fabs(estimate - before) <= 1e-3 * estimate) break;
    }
    ny_free(ctx, x);
    *norm = estimate < bound ? estimate : bound;
    if (!err && !isfinite(bound)) err = ny_fail_infinite(ctx, "matrix", NY_NO_LINE);
    return err;
}
