/*
 * Products, factorisations and triangular solves of dense matrices: thin wrappers around BLAS and
 * LAPACK that small problems, tile Grams and projections go through.
 *
 * Views are row-major and LAPACK is column-major. No matrix is copied for that: the lower triangle
 * of a view is the upper triangle of its transpose, so ny_lapack_lower() tells LAPACK the other
 * letter, and L of A = LLᵀ is found as its U of A = UᵀU. A routine that works on one triangle
 * leaves the other one as it was, which is why W can be kept in the upper triangle while the lower
 * one becomes L.
 *
 * Empty matrices are allowed everywhere; BLAS is not called for them. Failures are numbers in the
 * matrix (a pivot that is not positive, a NaN) and sizes beyond LAPACK's 32-bit integers; a wrong
 * shape is a mistake of the caller and asserted.
 */
#include "linalg/matrix.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/mutex.h"
#include "linalg/blas.h"

void ny_blas_parallel(const struct ny_context *ctx, size_t m)
{
    unsigned threads = m > NY_BLAS_SERIAL_ORDER ? ny_context_threads(ctx) : 1;

    if (threads > 1 && !ny_blas_may_start(ctx, threads - 1)) threads = 1;
    openblas_set_num_threads(threads < INT_MAX ? (int)threads : INT_MAX);
}

size_t ny_blas_bytes(unsigned threads, unsigned workers, size_t m)
{
    const size_t fixed = (size_t)3 << 20, panel_rows = 512;
    size_t callers = m > NY_BLAS_SERIAL_ORDER || workers > threads ? threads : workers;

    return callers * (fixed + panel_rows * m * sizeof(double));
}

void ny_blas_serial(void)
{
    openblas_set_num_threads(1);
}

static unsigned borrowers;
static int callers_threads; /* those of the program around, while there are borrowers */

void ny_blas_borrow(void)
{
    ny_shared_lock(NY_SHARED_BLAS);
    if (borrowers++ == 0) {
        callers_threads = openblas_get_num_threads();
        ny_blas_serial();
    }
    ny_shared_unlock(NY_SHARED_BLAS);
}

void ny_blas_return(void)
{
    ny_shared_lock(NY_SHARED_BLAS);
    if (--borrowers == 0) openblas_set_num_threads(callers_threads);
    ny_shared_unlock(NY_SHARED_BLAS);
}

static struct ny_once naming = NY_ONCE_INIT;
static char name_of_blas[256];

/* OpenBLAS makes the text anew in one buffer at each call, and threads would read it half made. */
static void keep_name(void)
{
    snprintf(name_of_blas, sizeof(name_of_blas), "%s", openblas_get_config());
}

const char *ny_blas_name(void)
{
    ny_once(&naming, keep_name);
    return name_of_blas;
}

int ny_check_order(struct ny_context *ctx, size_t m, size_t factor)
{
    if (m <= INT_MAX / factor) return NY_OK;
    return ny_fail(ctx, NY_EBUDGET,
                   "a dense problem of %zu landmarks is beyond LAPACK's 32-bit sizes; use fewer",
                   m);
}

static CBLAS_TRANSPOSE transpose_of(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

/* Names the triangle of a view for BLAS: the lower one of a transposed view is the upper one in
 * memory. */
static CBLAS_UPLO lower_of(bool transposed)
{
    return transposed ? CblasUpper : CblasLower;
}

#define PRODUCTS(multiply, gram, solve_rows, blas, type, matrix)                                   \
    void multiply(type alpha, matrix A, matrix B, type beta, matrix C)                             \
    {                                                                                              \
        assert(A.cols == B.rows && A.rows == C.rows && B.cols == C.cols && !C.transposed);         \
        if (!C.rows || !C.cols) return;                                                            \
        NY_BLAS(blas##gemm(CblasRowMajor, transpose_of(A.transposed), transpose_of(B.transposed),  \
                           ny_blas_int(C.rows), ny_blas_int(C.cols), ny_blas_int(A.cols), alpha,   \
                           A.at, ny_blas_stride(A.stride), B.at, ny_blas_stride(B.stride), beta,   \
                           C.at, ny_blas_stride(C.stride)));                                       \
    }                                                                                              \
                                                                                                   \
    void gram(matrix A, type beta, matrix C)                                                       \
    {                                                                                              \
        assert(C.rows == A.cols && C.cols == A.cols && !C.transposed);                             \
        if (!C.rows) return;                                                                       \
        NY_BLAS(blas##syrk(CblasRowMajor, CblasLower, transpose_of(!A.transposed),                 \
                           ny_blas_int(A.cols), ny_blas_int(A.rows), 1, A.at,                      \
                           ny_blas_stride(A.stride), beta, C.at, ny_blas_stride(C.stride)));       \
    }                                                                                              \
                                                                                                   \
    void solve_rows(matrix L, matrix X)                                                            \
    {                                                                                              \
        assert(L.rows == L.cols && L.rows == X.cols && !X.transposed);                             \
        if (!X.rows || !X.cols) return;                                                            \
        NY_BLAS(blas##trsm(CblasRowMajor, CblasRight, lower_of(L.transposed),                      \
                           transpose_of(!L.transposed), CblasNonUnit, ny_blas_int(X.rows),         \
                           ny_blas_int(X.cols), 1, L.at, ny_blas_stride(L.stride), X.at,           \
                           ny_blas_stride(X.stride)));                                             \
    }

PRODUCTS(ny_gemm, ny_gram, ny_solve_rows, cblas_d, double, struct ny_matrix)
PRODUCTS(ny_gemm32, ny_gram32, ny_solve_rows32, cblas_s, float, struct ny_matrix32)

void ny_matrix_widen(struct ny_matrix32 A, double *to)
{
    for (size_t i = 0; i < A.rows; i++) {
        const float *restrict from = A.at + i * A.stride;
        double *restrict row = to + i * A.cols;

        for (size_t j = 0; j < A.cols; j++)
            row[j] = (double)from[j];
    }
}

size_t ny_gram_blocks(size_t m)
{
    size_t side = (m + NY_GRAM_BLOCK - 1) / NY_GRAM_BLOCK;

    return side * (side + 1) / 2;
}

/* Returns A[:, first …], as many columns as a block has. */
static struct ny_matrix block_columns(struct ny_matrix A, size_t first)
{
    size_t left = A.cols - first;

    return ny_cols(A, first, left < NY_GRAM_BLOCK ? left : NY_GRAM_BLOCK);
}

void ny_gram_block(struct ny_matrix A, double beta, struct ny_matrix C, size_t index)
{
    size_t i = 0, j, row, col;
    struct ny_matrix of_rows, of_cols, block;

    while ((i + 1) * (i + 2) / 2 <= index) /* block row i begins at i(i + 1)/2 */
        i++;
    j = index - i * (i + 1) / 2;
    row = i * NY_GRAM_BLOCK;
    col = j * NY_GRAM_BLOCK;
    of_rows = block_columns(A, row);
    of_cols = block_columns(A, col);
    block = ny_cols(ny_rows(C, row, of_rows.cols), col, of_cols.cols);
    if (i == j)
        ny_gram(of_rows, beta, block);
    else
        ny_gemm(1, ny_t(of_rows), of_cols, beta, block);
}

void ny_gram_crossed(double alpha, struct ny_matrix A, struct ny_matrix B, struct ny_matrix C)
{
    assert(A.rows == B.rows && A.cols == B.cols && A.transposed == B.transposed);
    assert(C.rows == A.cols && C.cols == A.cols && !C.transposed);
    if (!C.rows) return;
    NY_BLAS(cblas_dsyr2k(CblasRowMajor, CblasLower, transpose_of(!A.transposed),
                         ny_blas_int(A.cols), ny_blas_int(A.rows), alpha, A.at,
                         ny_blas_stride(A.stride), B.at, ny_blas_stride(B.stride), 1.0, C.at,
                         ny_blas_stride(C.stride)));
}

void ny_gemv(double alpha, struct ny_matrix A, const double *x, double beta, double *y)
{
    size_t rows = A.transposed ? A.cols : A.rows, cols = A.transposed ? A.rows : A.cols;

    if (!A.rows) return;
    if (!A.cols) {
        for (size_t i = 0; i < A.rows; i++)
            y[i] = beta == 0 ? 0 : beta * y[i];
        return;
    }
    NY_BLAS(cblas_dgemv(CblasRowMajor, transpose_of(A.transposed), ny_blas_int(rows),
                        ny_blas_int(cols), alpha, A.at, ny_blas_stride(A.stride), x, 1, beta, y,
                        1));
}

/* In square blocks, so that the strided side stays in cache. */
void ny_mirror_rows(struct ny_matrix A, size_t first, size_t rows, bool lower)
{
    enum { BLOCK = 32 };
    size_t s = A.stride, end = first + rows;
    double *a = A.at;

    for (size_t j0 = 0; j0 < end; j0 += BLOCK)
        for (size_t i = first; i < end; i++) {
            size_t j1 = j0 + BLOCK < i ? j0 + BLOCK : i;

            for (size_t j = j0; j < j1 && lower; j++)
                a[j * s + i] = a[i * s + j];
            for (size_t j = j0; j < j1 && !lower; j++)
                a[i * s + j] = a[j * s + i];
        }
}

void ny_copy(struct ny_matrix from, struct ny_matrix to)
{
    assert(from.rows == to.rows && from.cols == to.cols && !from.transposed && !to.transposed);
    for (size_t i = 0; i < from.rows; i++)
        memcpy(to.at + i * to.stride, from.at + i * from.stride, from.cols * sizeof(*to.at));
}

void ny_centre_columns(struct ny_matrix X)
{
    enum { TOGETHER = 64 };

    for (size_t first = 0; first < X.cols; first += TOGETHER) {
        struct ny_matrix some = ny_cols(X, first, ny_smaller(X.cols - first, TOGETHER));
        double mean[TOGETHER] = {0};

        for (size_t i = 0; i < some.rows; i++)
            for (size_t k = 0; k < some.cols; k++)
                mean[k] += some.at[i * some.stride + k] / (double)some.rows;
        for (size_t i = 0; i < some.rows; i++)
            for (size_t k = 0; k < some.cols; k++)
                some.at[i * some.stride + k] -= mean[k];
    }
}

void ny_mirror_lower(struct ny_matrix A)
{
    enum { BLOCK = 32 };

    assert(A.rows == A.cols && !A.transposed);
    for (size_t first = 0; first < A.rows; first += BLOCK)
        ny_mirror_rows(A, first, A.rows - first < BLOCK ? A.rows - first : BLOCK, true);
}

size_t ny_cholesky(struct ny_matrix A)
{
    lapack_int info;

    assert(A.rows == A.cols);
    if (!A.rows) return 0;
    NY_BLAS(info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, ny_lapack_lower(A), ny_blas_int(A.rows),
                                       A.at, ny_blas_stride(A.stride)));
    assert(info >= 0);
    if (info > 0) return (size_t)info;
    /* The factorisation stops at pivots ≤ 0, which a NaN is not. */
    for (size_t i = 0; i < A.rows; i++)
        if (!(A.at[i * A.stride + i] <= DBL_MAX)) return i + 1;
    return 0;
}

int ny_cholesky_pivoted(struct ny_context *ctx, struct ny_matrix A, double tolerance, size_t *order,
                        size_t *rank)
{
    size_t m = A.rows;
    double *work;
    lapack_int *pivots, found = 0, info;
    int err = ny_check_order(ctx, m, 2);

    assert(A.rows == A.cols);
    *rank = 0;
    if (err || !m) return err;
    err = ny_check_lower(ctx, A);
    if (err) return err;
    work = ny_alloc(ctx, NY_MEM_SOLVE, m * (2 * sizeof(*work) + sizeof(*pivots)));
    if (!work) return NY_EBUDGET;
    pivots = (lapack_int *)(void *)(work + 2 * m);
    NY_BLAS(info = LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, ny_lapack_lower(A), ny_blas_int(m), A.at,
                                       ny_blas_stride(A.stride), pivots, &found, tolerance, work));
    assert(info >= 0);
    (void)info;
    *rank = (size_t)found;
    for (size_t i = 0; i < m; i++)
        order[i] = (size_t)pivots[i] - 1;
    ny_free(ctx, work);
    return NY_OK;
}

/* B ← op(L)⁻¹ B. For one column dtrsm, which packs L, takes five times as long as dtrsv. */
static void solve_left(struct ny_matrix L, bool transpose, struct ny_matrix B)
{
    CBLAS_TRANSPOSE op = transpose_of(L.transposed != transpose);

    assert(L.rows == L.cols && L.rows == B.rows && !B.transposed);
    if (!B.rows || !B.cols) return;
    if (B.cols == 1) {
        NY_BLAS(cblas_dtrsv(CblasRowMajor, lower_of(L.transposed), op, CblasNonUnit,
                            ny_blas_int(L.rows), L.at, ny_blas_stride(L.stride), B.at,
                            ny_blas_stride(B.stride)));
        return;
    }
    NY_BLAS(cblas_dtrsm(CblasRowMajor, CblasLeft, lower_of(L.transposed), op, CblasNonUnit,
                        ny_blas_int(B.rows), ny_blas_int(B.cols), 1.0, L.at,
                        ny_blas_stride(L.stride), B.at, ny_blas_stride(B.stride)));
}

void ny_solve_lower(struct ny_matrix L, struct ny_matrix B)
{
    solve_left(L, false, B);
}

void ny_solve_lower_t(struct ny_matrix L, struct ny_matrix B)
{
    solve_left(L, true, B);
}

int ny_cholesky_inverse(struct ny_context *ctx, struct ny_matrix L)
{
    lapack_int info;
    int err;

    assert(L.rows == L.cols);
    if (!L.rows) return NY_OK;
    err = ny_check_order(ctx, L.rows, 1);
    if (err) return err;
    NY_BLAS(info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, ny_lapack_lower(L), ny_blas_int(L.rows),
                                       L.at, ny_blas_stride(L.stride)));
    assert(info >= 0);
    if (info > 0)
        return ny_fail(ctx, NY_ENUMERIC, "pivot %d of a Cholesky factor is 0: it has no inverse",
                       (int)info - 1);
    return NY_OK;
}
