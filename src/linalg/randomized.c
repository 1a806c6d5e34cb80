/* Randomized eigenpairs: Li, Kwok & Lu 2010, "Making large-scale Nyström approximation possible",
 * Algorithm 1, whose steps are the numbers in brackets, with an orthonormal basis kept between the
 * products and, for step 4, B = QᵀAQ (eq. 4). */
#include "base/random.h"
#include "base/thread.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"

/* Columns per block of dgelqf and dorglq in their workspace; LAPACK prefers 32. */
enum { LWORK = 64 };

/* Doubles of ny_orthonormalise()'s workspace: the Gram, or tau and work of LAPACK. */
static size_t orthonormalise_size(size_t r)
{
    return r * (r > LWORK + 1 ? r : LWORK + 1);
}

size_t ny_orthonormalise_bytes(size_t r)
{
    return orthonormalise_size(r) * sizeof(double);
}

/* Factors the Gram G of some columns by Cholesky, in place. Pivot i is what is left of column i's
 * squared length beside the columns before it; false where the share left is at most `share`, which
 * rounding in G (≈ r·2⁻⁵³) would have eaten. */
static bool factor_gram(struct ny_matrix G, double share)
{
    if (ny_cholesky(G)) return false;
    for (size_t i = 0; i < G.rows; i++) {
        const double *row = G.at + i * G.stride;
        if (!(row[i] * row[i] > share * ny_dot(row, row, i + 1))) return false;
    }
    return true;
}

/* Y row-major is Yᵀ for LAPACK: of Yᵀ = L·Qᵀ the rows of Qᵀ are the columns wanted, in place. */
static int householder(struct ny_context *ctx, struct ny_matrix Y, double *tau, double *work)
{
    int m = ny_blas_int(Y.rows), r = ny_blas_int(Y.cols), stride = ny_blas_stride(Y.stride);
    lapack_int info;

    for (size_t i = 0; i < Y.rows; i++)
        if (ny_first_not_finite(Y.at + i * Y.stride, Y.cols))
            return ny_fail(ctx, NY_ENUMERIC,
                           "row %zu of a basis to orthonormalise is not finite; look for huge "
                           "values in the data (--scale standard)", i);
    info = LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, r, m, Y.at, stride, tau, work, LWORK * r);
    assert(info == 0);
    info = LAPACKE_dorglq_work(LAPACK_COL_MAJOR, r, m, r, Y.at, stride, tau, work, LWORK * r);
    assert(info == 0);
    return NY_OK;
}

/* CholeskyQR2 (Yamamoto et al. 2015): the second round is exact to rounding where the first left
 * the columns nearly orthonormal, which its pivots tell. */
int ny_orthonormalise(struct ny_context *ctx, struct ny_matrix Y)
{
    static const double share[2] = {1e-11, 0.5};
    size_t r = Y.cols;
    double *space;
    int err;

    assert(r <= Y.rows && !Y.transposed);
    if (!r) return NY_OK;
    err = ny_check_order(ctx, r, LWORK);
    if (err) return err;
    space = ny_alloc(ctx, NY_MEM_SOLVE, ny_orthonormalise_bytes(r));
    if (!space) return NY_EBUDGET;
    for (int round = 0; round < 2; round++) {
        struct ny_matrix G = ny_matrix(space, r, r);

        ny_gram(Y, 0, G);
        if (!factor_gram(G, share[round])) {
            err = householder(ctx, Y, space, space + r);
            break;
        }
        ny_solve_rows(G, Y);
    }
    ny_free(ctx, space);
    return err;
}

static size_t range_columns(size_t m, size_t count, const struct ny_randomized *how)
{
    return how->oversample < m - count ? count + how->oversample : m;
}

/* Doubles of the buffers below. */
static size_t sketch_size(size_t m, size_t count, size_t r)
{
    return 2 * m * r + r * r + count * r;
}

size_t ny_eigen_randomized_bytes(size_t m, size_t count, const struct ny_randomized *how)
{
    size_t r = range_columns(m, count, how);
    size_t basis = ny_orthonormalise_bytes(r), small = ny_eigen_top_bytes(r, count);

    return sketch_size(m, count, r) * sizeof(double) + (basis > small ? basis : small);
}

struct gaussian {
    double *at;
    uint64_t seed;
};

static int gaussian_share(void *arg, size_t first, size_t count)
{
    const struct gaussian *g = arg;

    ny_gaussian(g->seed, NY_STREAM_RANGE, first, g->at + first, count);
    return NY_OK;
}

/* [1–3] Q ← an orthonormal basis of the range of A^q Ω; Z is of Q's shape. They may come back
 * swapped. */
static int find_range(struct ny_context *ctx, struct ny_matrix A, const struct ny_randomized *how,
                      struct ny_matrix *Q, struct ny_matrix *Z)
{
    struct gaussian omega = {Q->at, how->seed};
    int err = ny_parallel_ranges(ctx, Q->rows * Q->cols, gaussian_share, &omega);

    if (!err && !how->power) err = ny_orthonormalise(ctx, *Q);
    for (unsigned q = 0; q < how->power && !err; q++) {
        struct ny_matrix Y = *Z;

        ny_gemm(1, A, *Q, 0, Y);
        *Z = *Q;
        *Q = Y;
        err = ny_orthonormalise(ctx, Y);
        if (!err) err = ny_check_interrupt(ctx);
    }
    return err;
}

int ny_eigen_randomized(struct ny_context *ctx, struct ny_matrix A, size_t count,
                        const struct ny_randomized *how, double *values, struct ny_matrix V)
{
    size_t m = A.rows, r, bytes;
    struct ny_matrix Q, Z, B, U;
    double *space = NULL;
    int err;

    assert(A.rows == A.cols && count <= m);
    assert(V.rows == count && V.cols == m && !V.transposed);
    if (!count) return NY_OK;
    r = range_columns(m, count, how);
    err = ny_product(ctx, &bytes, m + r, r, 4 * sizeof(double)); /* above the true size */
    if (err) goto done;
    space = ny_alloc(ctx, NY_MEM_SOLVE, sketch_size(m, count, r) * sizeof(double));
    err = NY_EBUDGET;
    if (!space) goto done;
    Q = ny_matrix(space, m, r);
    Z = ny_matrix(Q.at + m * r, m, r);
    B = ny_matrix(Z.at + m * r, r, r);
    U = ny_matrix(B.at + r * r, count, r);
    err = find_range(ctx, A, how, &Q, &Z);
    if (err) goto done;
    ny_gemm(1, A, Q, 0, Z);
    ny_gemm(1, ny_t(Q), Z, 0, B);           /* [4] B = QᵀAQ */
    err = ny_eigen_top(ctx, B, count, values, U); /* [5] */
    if (err) goto done;
    ny_gemm(1, U, ny_t(Q), 0, V);           /* [6] rows of V: (Q·u)ᵀ */
done:
    ny_free(ctx, space);
    return err;
}
