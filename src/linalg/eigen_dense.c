/*
 * A = QTQᵀ in threads (linalg/tridiagonal.h), eigenpairs of T by the ways of LAPACK's dsyevr, of
 * which only bisection has threads, and Q times its vectors in threads again. T takes a third to a
 * fifth of the time where all pairs are wanted. No bit depends on the number of threads.
 */
#include "linalg/eigen_dense.h"

#include <math.h>
#include <string.h>

#include "linalg/bisection.h"
#include "linalg/blas.h"
#include "linalg/tridiagonal.h"

/* The most that dstemr (18m and 10m), dstebz (4m and 3m) and dstein (5m and m) ask for. */
enum { WORK = 18, IWORK = 10 };

/* Largest elements from 2^-LIMIT to 2^LIMIT have squares that sum up. */
enum { LIMIT = 400 };

/* Workspace of one eigenproblem. */
struct workspace {
    struct ny_context *ctx;
    double *d, *e, *d_kept, *e_kept, *tau, *values; /* m, whatever the range */
    double *work;                                   /* WORK·m */
    lapack_int *iwork;                              /* IWORK·m */
    lapack_int *support;                            /* 2·count + 2: of dstemr; dstein's failures */
    lapack_int *block, *split;                      /* m: dstebz's */
};

static struct workspace lay(struct ny_layout *l, size_t m, size_t count)
{
    struct workspace space = {.ctx = l->ctx};

    space.d = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    space.e = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    space.d_kept = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    space.e_kept = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    space.tau = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    space.values = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    space.work = ny_lay(l, NY_MEM_SOLVE, m, WORK * sizeof(double));
    space.iwork = ny_lay(l, NY_MEM_SOLVE, m, IWORK * sizeof(lapack_int));
    space.support = ny_lay(l, NY_MEM_SOLVE, 2 * count + 2, sizeof(lapack_int));
    space.block = ny_lay(l, NY_MEM_SOLVE, m, sizeof(lapack_int));
    space.split = ny_lay(l, NY_MEM_SOLVE, m, sizeof(lapack_int));
    return space;
}

void ny_eigen_dense_count(struct ny_layout *l, size_t m, size_t count)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    lay(l, m, count);
    ny_tridiagonal_count(l, m, count);
    ny_layout_back(l, &mark);
}

/* Checks A, and lays out what its problem takes. */
static int begin(struct ny_layout *l, struct ny_matrix A, size_t count, struct workspace *space)
{
    int err = ny_check_lower(l->ctx, A);

    if (!err) err = ny_check_order(l->ctx, A.rows, WORK);
    if (err) return err;
    *space = lay(l, A.rows, count);
    return l->err;
}

/* Turns the outcome of a solver into an error: it failed, or found fewer eigenvalues than were
 * asked for. */
static int check_solver(struct ny_context *ctx, lapack_int info, lapack_int found, size_t count)
{
    assert(info >= 0);
    if (info == 0 && (size_t)found == count) return NY_OK;
    return ny_fail(ctx, NY_ENUMERIC,
                   "the symmetric eigensolver did not converge (info %d, %d of %zu "
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

/* LAPACK's order is ascending; the values are those of A / 2^exponent. */
static void reverse_values(const double *ascending, size_t count, int exponent, double *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = ldexp(ascending[count - 1 - i], exponent);
}

/* Makes the largest element of A's lower triangle one that LIMIT allows, by a power of two, which
 * is exact. Returns its exponent. */
static int scale_down(struct ny_matrix A)
{
    double largest = 0;
    int exponent;

    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j <= i; j++)
            largest = fmax(largest, fabs(A.at[i * A.stride + j]));
    frexp(largest, &exponent);
    if (largest == 0 || (exponent > -LIMIT && exponent < LIMIT)) return 0;
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j <= i; j++)
            A.at[i * A.stride + j] = ldexp(A.at[i * A.stride + j], -exponent);
    return exponent;
}

/* Sorts values, and the rows of V beside them, ascending: dstebz orders them by block of T. */
static void sort_pairs(double *values, struct ny_matrix V)
{
    for (size_t i = 0; i + 1 < V.rows; i++) {
        size_t least = i;

        for (size_t j = i + 1; j < V.rows; j++)
            if (values[j] < values[least]) least = j;
        if (least != i) {
            double swapped = values[i];

            values[i] = values[least];
            values[least] = swapped;
            swap_rows(V, i, least);
        }
    }
}

/* Eigenpairs first … last of T, numbered from 1 upwards. Returns whether all were found; *info is
 * the solver's, *found how many there were. T is destroyed. */
typedef bool pairs_fn(struct workspace *space, int first, int last, struct ny_matrix V,
                      lapack_int *info, lapack_int *found);

/* Keeps those of m eigenvalues, with their blocks, that are number first … last of all: of equal
 * ones, those of earlier blocks come first. */
static void keep_numbers(struct workspace *space, int first, int last, size_t m)
{
    const double *values = space->values;
    size_t kept = 0;

    for (size_t i = 0; i < m; i++) {
        space->iwork[i] = 1;
        for (size_t j = 0; j < m; j++)
            space->iwork[i] += values[j] < values[i] || (values[j] == values[i] && j < i);
    }
    for (size_t i = 0; i < m; i++)
        if (space->iwork[i] >= first && space->iwork[i] <= last) {
            space->values[kept] = values[i];
            space->block[kept++] = space->block[i];
        }
}

/* The eigenvalues first … last in the order that dstein wants: by block, where T falls apart. There
 * dstebz is asked for all of them, as it loses equal ones that begin or end beside a part. */
static int bisect(struct workspace *space, int first, int last, size_t m, lapack_int *found)
{
    const struct ny_tridiagonal T = {space->d, space->e, m};
    size_t count = (size_t)(last - first) + 1;
    lapack_int blocks;

    if (ny_tridiagonal_splits(&T)) {
        int info = LAPACKE_dstebz_work('A', 'B', ny_blas_int(m), 0, 0, 0, 0, 0, space->d, space->e,
                                       found, &blocks, space->values, space->block, space->split,
                                       space->work, space->iwork);

        if (info || (size_t)*found != m) return info ? info : 1;
        keep_numbers(space, first, last, m);
    } else {
        for (size_t i = 0; i < count; i++)
            space->block[i] = 1;
        space->split[0] = ny_blas_int(m);
        ny_bisection(space->ctx, &T, (size_t)first - 1, count, space->work, space->values);
    }
    *found = ny_blas_int(count);
    return 0;
}

/* By bisection and inverse iteration. */
static bool by_bisection(struct workspace *space, int first, int last, struct ny_matrix V,
                         lapack_int *info, lapack_int *found)
{
    int m = ny_blas_int(V.cols);

    *info = bisect(space, first, last, V.cols, found);
    if (*info || (size_t)*found != V.rows) return false;
    *info = LAPACKE_dstein_work(LAPACK_COL_MAJOR, m, space->d, space->e, *found, space->values,
                                space->block, space->split, V.at, ny_blas_stride(V.stride),
                                space->work, space->iwork, space->support);
    sort_pairs(space->values, V);
    return *info == 0;
}

/* By relatively robust representations (Dhillon & Parlett 2004). */
static bool by_representations(struct workspace *space, int first, int last, struct ny_matrix V,
                               lapack_int *info, lapack_int *found)
{
    int m = ny_blas_int(V.cols);
    char range = V.rows == V.cols ? 'A' : 'I';
    lapack_int accurate = 1;

    *info = LAPACKE_dstemr_work(LAPACK_COL_MAJOR, 'V', range, m, space->d, space->e, 0, 0, first,
                                last, found, space->values, V.at, ny_blas_stride(V.stride),
                                ny_blas_int(V.rows), space->support, &accurate, space->work,
                                WORK * m, space->iwork, IWORK * m);
    return *info == 0 && (size_t)*found == V.rows;
}

/* The way that finds a part of the pairs at a higher accuracy, or all of them faster; where it
 * fails, the other one. */
static int pairs_of_tridiagonal(struct ny_context *ctx, struct workspace *space, int first,
                                int last, struct ny_matrix V)
{
    bool all = V.rows == V.cols;
    pairs_fn *ways[2] = {all ? by_representations : by_bisection,
                         all ? by_bisection : by_representations};
    lapack_int info = 0, found = 0;

    for (int i = 0; i < 2; i++) {
        memcpy(space->d, space->d_kept, V.cols * sizeof(double));
        memcpy(space->e, space->e_kept, V.cols * sizeof(double));
        if (ways[i](space, first, last, V, &info, &found)) return NY_OK;
    }
    return check_solver(ctx, info, found, V.rows);
}

/* A vector of zeros is what LAPACK may give, without an error, for one of equal eigenvalues. */
static int check_pairs(struct ny_context *ctx, const double *values, struct ny_matrix V)
{
    for (size_t j = 0; j < V.rows; j++) {
        const double *v = V.at + j * V.stride;

        if (!isfinite(values[j]) || !(fabs(ny_dot(v, v, V.cols) - 1) < 1e-6))
            return ny_fail_infinite(ctx, "eigenvector", NY_NO_LINE);
    }
    return NY_OK;
}

/* Row j of V in memory is column j of LAPACK's Z: the vectors come out where they belong. */
int ny_eigen_dense_behind(struct ny_context *ctx, struct ny_matrix A, size_t skip, size_t count,
                          double *values, struct ny_matrix V)
{
    struct ny_layout l = {.ctx = ctx};
    struct workspace space;
    int last = ny_blas_int(A.rows) - ny_blas_int(skip), first = last - ny_blas_int(count) + 1;
    int err = begin(&l, A, count, &space), exponent;

    assert(A.rows == A.cols && count > 0 && skip + count <= A.rows && !A.transposed);
    assert(V.rows == count && V.cols == A.rows && !V.transposed);
    if (err) goto done;
    exponent = scale_down(A);
    err = ny_tridiagonal_reduce(ctx, A, space.d_kept, space.e_kept, space.tau);
    space.e_kept[A.rows - 1] = 0; /* dstemr's */
    if (!err) err = pairs_of_tridiagonal(ctx, &space, first, last, V);
    if (!err) err = ny_tridiagonal_apply(ctx, A, space.tau, V);
    if (err) goto done;
    reverse_values(space.values, count, exponent, values);
    for (size_t i = 0; i < count / 2; i++)
        swap_rows(V, i, count - 1 - i);
    err = check_pairs(ctx, values, V);
done:
    ny_layout_free(&l);
    return err;
}

int ny_eigen_dense(struct ny_context *ctx, struct ny_matrix A, size_t count, double *values,
                   struct ny_matrix V)
{
    return ny_eigen_dense_behind(ctx, A, 0, count, values, V);
}

int ny_eigenvalues(struct ny_context *ctx, struct ny_matrix A, double *values)
{
    struct ny_layout l = {.ctx = ctx};
    struct workspace space;
    lapack_int info;
    int err, exponent;

    assert(A.rows == A.cols && !A.transposed);
    if (!A.rows) return NY_OK;
    err = begin(&l, A, 0, &space);
    if (err) goto done;
    exponent = scale_down(A);
    err = ny_tridiagonal_reduce(ctx, A, space.d, space.e, space.tau);
    if (err) goto done;
    info = LAPACKE_dsterf_work(ny_blas_int(A.rows), space.d, space.e);
    err = check_solver(ctx, info, ny_blas_int(A.rows), A.rows);
    if (err) goto done;
    reverse_values(space.d, A.rows, exponent, values);
    if (ny_first_not_finite(values, A.rows)) err = ny_fail_infinite(ctx, "eigenvalue", NY_NO_LINE);
done:
    ny_layout_free(&l);
    return err;
}
