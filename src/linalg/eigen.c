#include "linalg/eigen.h"

#include <math.h>

#include "base/random.h"
#include "linalg/blas.h"
#include "linalg/eigen_few.h"

/* dsyevr: lwork at least 26m; 38m lets dsytrd work in its preferred blocks of 32 columns. */
enum { LWORK = 38, LIWORK = 10 };

/* Workspace of one dsyevr call, in one block. */
struct workspace {
    double *values; /* m, whatever the range */
    double *work;   /* LWORK·m */
    lapack_int *iwork, *support;
};

static size_t workspace_bytes(size_t m, size_t count)
{
    return m * (1 + LWORK) * sizeof(double) + (LIWORK * m + 2 * count + 2) * sizeof(lapack_int);
}

size_t ny_eigen_top_bytes(size_t m, size_t count)
{
    size_t all = workspace_bytes(m, count), few;

    if (!ny_eigen_is_few(m, count)) return all;
    few = ny_eigen_few_bytes(m, count);
    return few > all ? few : all;
}

static int workspace_new(struct workspace *space, struct ny_context *ctx, size_t m, size_t count)
{
    int err = ny_check_order(ctx, m, LWORK);

    space->values = NULL;
    if (err) return err;
    space->values = ny_alloc(ctx, NY_MEM_SOLVE, workspace_bytes(m, count));
    if (!space->values) return NY_EBUDGET;
    space->work = space->values + m;
    space->iwork = (lapack_int *)(void *)(space->work + LWORK * m);
    space->support = space->iwork + LIWORK * m;
    return NY_OK;
}

static int check_solver(struct ny_context *ctx, lapack_int info, lapack_int found, size_t count)
{
    assert(info >= 0);
    if (info == 0 && (size_t)found == count) return NY_OK;
    return ny_fail(ctx, NY_ENUMERIC,
                   "the symmetric eigensolver did not converge (dsyevr: info %d, %d of %zu "
                   "eigenvalues); drop duplicate landmarks or use --inner randomized",
                   (int)info, (int)found, count);
}

static void swap_rows(struct ny_matrix V, size_t a, size_t b)
{
    double *x = V.at + a * V.stride, *y = V.at + b * V.stride;

    for (size_t i = 0; i < V.cols; i++) {
        double swapped = x[i];
        x[i] = y[i];
        y[i] = swapped;
    }
}

/* LAPACK's order is ascending. */
static void reverse_values(const double *ascending, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = ascending[count - 1 - i];
}

/* Row j of V in memory is column j of LAPACK's Z: the vectors come out where they belong. */
int ny_eigen_top(struct ny_context *ctx, struct ny_matrix A, size_t count, double *values,
                 struct ny_matrix V)
{
    struct workspace space = {NULL, NULL, NULL, NULL};
    int m = ny_blas_int(A.rows), first = m - ny_blas_int(count) + 1;
    lapack_int info, found = 0;
    bool settled = false;
    int err;

    assert(A.rows == A.cols && count <= A.rows);
    assert(V.rows == count && V.cols == A.rows && !V.transposed);
    if (!count) return NY_OK;
    err = ny_check_lower(ctx, A, "the matrix of the eigenproblem");
    if (err) goto done;
    if (ny_eigen_is_few(A.rows, count)) err = ny_eigen_few(ctx, A, values, V, &settled);
    if (err || settled) goto done;
    err = workspace_new(&space, ctx, A.rows, count);
    if (err) goto done;
    info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', ny_lapack_lower(A), m, A.at,
                               ny_blas_stride(A.stride), 0, 0, first, m, 0, &found, space.values,
                               V.at, ny_blas_stride(V.stride), space.support, space.work,
                               LWORK * m, space.iwork, LIWORK * m);
    err = check_solver(ctx, info, found, count);
    if (err) goto done;
    reverse_values(space.values, count, values);
    for (size_t i = 0; i < count / 2; i++)
        swap_rows(V, i, count - 1 - i);
    for (size_t j = 0; j < count && !err; j++)
        if (!isfinite(values[j]) || ny_first_not_finite(V.at + j * V.stride, V.cols))
            err = ny_fail(ctx, NY_ENUMERIC, "eigenpair %zu is not finite; look for huge values "
                          "in the data (--scale standard)", j);
done:
    ny_free(ctx, space.values);
    return err;
}

int ny_eigenvalues(struct ny_context *ctx, struct ny_matrix A, double *values)
{
    struct workspace space = {NULL, NULL, NULL, NULL};
    int m = ny_blas_int(A.rows);
    lapack_int info, found = 0;
    int err;

    assert(A.rows == A.cols);
    if (!m) return NY_OK;
    err = ny_check_lower(ctx, A, "the matrix of the eigenproblem");
    if (err) goto done;
    err = workspace_new(&space, ctx, A.rows, A.rows);
    if (err) goto done;
    info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'N', 'A', ny_lapack_lower(A), m, A.at,
                               ny_blas_stride(A.stride), 0, 0, 1, m, 0, &found, space.values,
                               NULL, 1, space.support, space.work, LWORK * m, space.iwork,
                               LIWORK * m);
    err = check_solver(ctx, info, found, A.rows);
    if (err) goto done;
    reverse_values(space.values, A.rows, values);
    if (ny_first_not_finite(values, A.rows))
        err = ny_fail(ctx, NY_ENUMERIC, "an eigenvalue is not finite; look for huge values in the "
                      "data (--scale standard)");
done:
    ny_free(ctx, space.values);
    return err;
}

/* Columns of a block of dsytrf. */
enum { SYTRF_COLUMNS = 64 };

size_t ny_eigen_count_bytes(size_t m)
{
    return m * (SYTRF_COLUMNS * sizeof(double) + sizeof(lapack_int));
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
    if (err == NY_OK) err = ny_check_lower(ctx, A, "the matrix of the eigenproblem");
    if (err) return err;
    work = ny_alloc(ctx, NY_MEM_SOLVE, ny_eigen_count_bytes(A.rows));
    if (!work) return NY_EBUDGET;
    pivots = (lapack_int *)(void *)(work + SYTRF_COLUMNS * A.rows);
    for (size_t i = 0; i < A.rows; i++)
        A.at[i * A.stride + i] -= bound;
    info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, ny_lapack_lower(A), m, A.at,
                               ny_blas_stride(A.stride), pivots, work, SYTRF_COLUMNS * m);
    assert(info >= 0); /* > 0: an eigenvalue is `bound` */
    (void)info;
    for (size_t i = 0, second = 0; i < A.rows; i++) {
        *count += pivots[i] > 0 ? A.at[i * A.stride + i] < 0 : second;
        second = pivots[i] < 0 && !second; /* rows of a pivot of order 2 follow one another */
    }
    ny_free(ctx, work);
    return NY_OK;
}

/* Overflows only where the norm itself does. */
static double length(const double *x, size_t count)
{
    double largest = 0, sum = 0;

    for (size_t i = 0; i < count; i++)
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    for (size_t i = 0; i < count && largest > 0; i++)
        sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

/* ‖A‖_F; NaN where an element is not finite. */
static double frobenius(struct ny_matrix A)
{
    size_t rows = A.transposed ? A.cols : A.rows, cols = A.transposed ? A.rows : A.cols;
    double norm = 0;

    for (size_t i = 0; i < rows; i++) {
        if (ny_first_not_finite(A.at + i * A.stride, cols)) return NAN;
        norm = hypot(norm, length(A.at + i * A.stride, cols));
    }
    return norm;
}

int ny_spectral_norm(struct ny_context *ctx, struct ny_matrix A, double *norm)
{
    enum { STEPS = 30 };
    double *x = ny_alloc(ctx, NY_MEM_SOLVE, (A.rows + A.cols) * sizeof(*x)), *y;
    double bound = frobenius(A), estimate = 0;

    if (!x) return NY_EBUDGET;
    y = x + A.cols;
    ny_gaussian(0, NY_STREAM_RANGE, 0, x, A.cols);
    for (int step = 0; step < STEPS && bound > 0; step++) {
        double before = estimate, size = length(x, A.cols);

        if (!(size > 0)) break;
        for (size_t j = 0; j < A.cols; j++)
            x[j] /= size;
        ny_gemv(1 / bound, A, x, 0, y);        /* y = A x */
        estimate = bound * length(y, A.rows);  /* ‖Ax‖ ≤ ‖A‖₂ for ‖x‖ = 1 */
        ny_gemv(1 / bound, ny_t(A), y, 0, x);  /* x = Aᵀ y */
        if (fabs(estimate - before) <= 1e-3 * estimate) break;
    }
    ny_free(ctx, x);
    *norm = estimate < bound ? estimate : bound;
    if (!isfinite(bound))
        return ny_fail(ctx, NY_ENUMERIC, "the norm of a matrix is not finite; look for huge values "
                       "in the data (--scale standard)");
    return NY_OK;
}
