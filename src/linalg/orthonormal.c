/* Orthonormal columns, made in place: the bases of the randomized, block Lanczos and LOBPCG
 * solvers. */
#include <math.h>

#include "linalg/blas.h"
#include "linalg/eigen.h"
#include "linalg/tall.h"

/* Columns per block of dgelqf and dorglq in their workspace; LAPACK prefers 32. */
enum { LWORK = 64 };

/* Doubles of ny_orthonormalise()'s workspace: the Gram, or tau and work of LAPACK. */
static size_t orthonormalise_size(size_t r)
{
    return r * (r > LWORK + 1 ? r : LWORK + 1);
}

void ny_orthonormalise_count(struct ny_layout *l, size_t r)
{
    ny_lay_peak(l, NY_MEM_SOLVE, orthonormalise_size(r), sizeof(double));
}

/* Factors the Gram G of some columns by Cholesky, in place. Pivot i is what is left of column i's
 * squared length beside the columns before it: returns the least share that is left, which rounding
 * in G (≈ r·2⁻⁵³) must not have eaten, or 0 where G is not positive definite. */
static double factor_gram(struct ny_matrix G)
{
    double least = 1;

    if (ny_cholesky(G)) return 0;
    for (size_t i = 0; i < G.rows; i++) {
        const double *row = G.at + i * G.stride;
        double share = row[i] * row[i] / ny_dot(row, row, i + 1);

        if (!(share > 0)) return 0; /* NaN, too */
        least = fmin(least, share);
    }
    return least;
}

/* Y row-major is Yᵀ for LAPACK: of Yᵀ = L·Qᵀ the rows of Qᵀ are the columns wanted, in place. */
static int householder(struct ny_context *ctx, struct ny_matrix Y, double *tau, double *work)
{
    int m = ny_blas_int(Y.rows), r = ny_blas_int(Y.cols), stride = ny_blas_stride(Y.stride);
    lapack_int info;

    for (size_t i = 0; i < Y.rows; i++)
        if (ny_first_not_finite(Y.at + i * Y.stride, Y.cols))
            return ny_fail_infinite(ctx, "basis", NY_NO_LINE);
    NY_BLAS(info = LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, r, m, Y.at, stride, tau, work, LWORK * r));
    assert(info == 0);
    NY_BLAS(info =
                LAPACKE_dorglq_work(LAPACK_COL_MAJOR, r, m, r, Y.at, stride, tau, work, LWORK * r));
    assert(info == 0);
    return NY_OK;
}

/* Shares that the pivots of CholeskyQR2 (Yamamoto et al. 2015) are above: the second round is exact
 * to rounding where the first left the columns nearly orthonormal, which its pivots tell. */
static const double least_share[2] = {1e-11, 0.5};

int ny_orthonormalise(struct ny_context *ctx, struct ny_matrix Y)
{
    size_t r = Y.cols;
    double *space;
    int err;

    assert(r <= Y.rows && !Y.transposed);
    if (!r) return NY_OK;
    err = ny_check_order(ctx, r, LWORK);
    if (err) return err;
    space = ny_alloc(ctx, NY_MEM_SOLVE, orthonormalise_size(r) * sizeof(double));
    if (!space) return NY_EBUDGET;
    for (int round = 0; round < 2; round++) {
        struct ny_matrix G = ny_matrix(space, r, r);

        ny_gram(Y, 0, G);
        if (!(factor_gram(G) > least_share[round])) {
            err = householder(ctx, Y, space, space + r);
            break;
        }
        ny_solve_rows(G, Y);
    }
    ny_free(ctx, space);
    return err;
}

void ny_orthonormalise_lanes_count(struct ny_layout *l, size_t r)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    ny_lay_matrix(l, NY_MEM_SOLVE, r, r);
    ny_tall_inner_count(l, r, r);
    ny_layout_back(l, &mark);
    ny_orthonormalise_count(l, r);
}

/* A round from columns that are nearly orthonormal is the last one. */
int ny_orthonormalise_lanes(struct ny_context *ctx, struct ny_matrix Y)
{
    size_t r = Y.cols;
    double *space = ny_alloc(ctx, NY_MEM_SOLVE, r * r * sizeof(double)), share = 0;
    struct ny_matrix G = ny_matrix(space, r, r);
    int err = space ? NY_OK : NY_EBUDGET;

    for (int round = 0; round < 2 && !(share > least_share[1]) && !err; round++) {
        err = ny_tall_gram(ctx, Y, G.at);
        share = err ? 0 : factor_gram(G);
        if (err || !(share > least_share[round])) break;
        err = ny_tall_solve_rows(ctx, G, Y);
    }
    ny_free(ctx, space);
    return err || share > least_share[1] ? err : ny_orthonormalise(ctx, Y);
}
