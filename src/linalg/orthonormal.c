/* Orthonormal columns, made in place: the bases of the randomized, block Lanczos and LOBPCG
 * solvers. */
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
                           "values in the data (--scale standard)",
                           i);
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
