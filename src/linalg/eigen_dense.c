#include "linalg/eigen_dense.h"

#include <math.h>

#include "linalg/blas.h"

/* dsyevr: lwork at least 26m; 38m lets dsytrd work in its preferred blocks of 32 columns. */
enum { LWORK = 38, LIWORK = 10 };

/* Workspace of one dsyevr call, in one block. */
struct workspace {
    double *values; /* m, whatever the range */
    double *work;   /* LWORK·m */
    lapack_int *iwork, *support;
};

size_t ny_eigen_dense_bytes(size_t m, size_t count)
{
    return m * (1 + LWORK) * sizeof(double) + (LIWORK * m + 2 * count + 2) * sizeof(lapack_int);
}

static int workspace_new(struct workspace *space, struct ny_context *ctx, size_t m, size_t count)
{
    int err = ny_check_order(ctx, m, LWORK);

    space->values = NULL;
    if (err) return err;
    space->values = ny_alloc(ctx, NY_MEM_SOLVE, ny_eigen_dense_bytes(m, count));
    if (!space->values) return NY_EBUDGET;
    space->work = space->values + m;
    space->iwork = (lapack_int *)(void *)(space->work + LWORK * m);
    space->support = space->iwork + LIWORK * m;
    return NY_OK;
}

/* Turns the outcome of dsyevr into an error: it failed, or found fewer eigenvalues than were asked
 * for. */
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
int ny_eigen_dense_behind(struct ny_context *ctx, struct ny_matrix A, size_t skip, size_t count,
                          double *values, struct ny_matrix V)
{
    struct workspace space = {NULL, NULL, NULL, NULL};
    int m = ny_blas_int(A.rows), last = m - ny_blas_int(skip);
    int first = last - ny_blas_int(count) + 1, err;
    lapack_int info, found = 0;

    assert(A.rows == A.cols && count > 0 && skip + count <= A.rows);
    assert(V.rows == count && V.cols == A.rows && !V.transposed);
    err = ny_check_lower(ctx, A, "the matrix of the eigenproblem");
    if (err) goto done;
    err = workspace_new(&space, ctx, A.rows, count);
    if (err) goto done;
    info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', ny_lapack_lower(A), m, A.at,
                               ny_blas_stride(A.stride), 0, 0, first, last, 0, &found, space.values,
                               V.at, ny_blas_stride(V.stride), space.support, space.work, LWORK * m,
                               space.iwork, LIWORK * m);
    err = check_solver(ctx, info, found, count);
    if (err) goto done;
    reverse_values(space.values, count, values);
    for (size_t i = 0; i < count / 2; i++)
        swap_rows(V, i, count - 1 - i);
    for (size_t j = 0; j < count && !err; j++)
        if (!isfinite(values[j]) || ny_first_not_finite(V.at + j * V.stride, V.cols))
            err = ny_fail(ctx, NY_ENUMERIC,
                          "eigenpair %zu is not finite; look for huge values "
                          "in the data (--scale standard)",
                          j);
done:
    ny_free(ctx, space.values);
    return err;
}

int ny_eigen_dense(struct ny_context *ctx, struct ny_matrix A, size_t count, double *values,
                   struct ny_matrix V)
{
    return ny_eigen_dense_behind(ctx, A, 0, count, values, V);
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
                               ny_blas_stride(A.stride), 0, 0, 1, m, 0, &found, space.values, NULL,
                               1, space.support, space.work, LWORK * m, space.iwork, LIWORK * m);
    err = check_solver(ctx, info, found, A.rows);
    if (err) goto done;
    reverse_values(space.values, A.rows, values);
    if (ny_first_not_finite(values, A.rows))
        err = ny_fail(ctx, NY_ENUMERIC,
                      "an eigenvalue is not finite; look for huge values in the "
                      "data (--scale standard)");
done:
    ny_free(ctx, space.values);
    return err;
}
