/*
 * Block columns are taken from left to right. Each is finished with the triangle on its diagonal,
 * and then changes the triangle below and to the right of it, in strips of rows, which are most of
 * the work. The reduction (dsygst's: Martin & Wilkinson 1968) has half a product with the block on
 * the diagonal before that change and half of it after, so that the change is symmetric:
 * −(A Lᵀ + L Aᵀ). Its last step, L_rr⁻¹A_rk, is needed by no later block: all of them are solved
 * together at the end.
 */
#include "linalg/factor.h"

#include <string.h>

#include "linalg/blas.h"
#include "linalg/parts.h"

/* Columns of a block, which are the rows of a strip: with fewer, products are slower. */
enum { BLOCK = 96 };

/* A matrix on its way, and L of a reduction. */
struct factor {
    struct ny_matrix A, L;
    struct ny_matrix AL, LA;   /* m × 2·BLOCK: a block column of both, in either order */
    struct ny_matrix diagonal; /* the block on the diagonal of A, with both triangles */
    bool failed;
};

/* Rows and columns of a block of a matrix. */
static struct ny_matrix block_of(struct ny_matrix A, size_t i, size_t j)
{
    size_t row = i * BLOCK, column = j * BLOCK;

    return ny_cols(ny_rows(A, row, ny_smaller(A.rows - row, BLOCK)), column,
                   ny_smaller(A.cols - column, BLOCK));
}

/* The blocks of row i that are left of its diagonal, from column block j on. */
static struct ny_matrix left_of(struct ny_matrix A, size_t i, size_t j)
{
    struct ny_matrix row = block_of(A, i, j);

    row.cols = (i - j) * BLOCK;
    return row;
}

/* ---- L of A = LLᵀ --------------------------------------------------------------------------- */

/* Takes off row i of the triangle what block column k has of it. */
static void take_off(const struct factor *of, size_t i, size_t k)
{
    struct ny_matrix row = block_of(of->A, i, k), above = left_of(of->A, i, k + 1);

    if (i > k + 1) {
        struct ny_matrix rows = ny_rows(of->A, (k + 1) * BLOCK, above.cols);

        ny_gemm(-1, row, ny_t(ny_cols(rows, k * BLOCK, BLOCK)), 1, above);
    }
    NY_BLAS(cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, ny_blas_int(row.rows), BLOCK, -1,
                        row.at, ny_blas_stride(row.stride), 1, block_of(of->A, i, i).at,
                        ny_blas_stride(of->A.stride)));
}

static int factor(void *arg, const struct ny_worker *worker)
{
    struct factor *of = arg;
    size_t blocks = ny_parts_of(of->A.rows, BLOCK);
    int err = NY_OK;

    for (size_t k = 0; k < blocks && !err; k++) {
        if (worker->index == 0) of->failed = ny_cholesky(block_of(of->A, k, k)) != 0;
        ny_team_meet(worker);
        if (of->failed) break;
        for (size_t i = k + 1; i < blocks; i++)
            if (ny_part_is_mine(worker, i))
                ny_solve_rows(block_of(of->A, k, k), block_of(of->A, i, k));
        ny_team_meet(worker);
        for (size_t i = k + 1; i < blocks; i++)
            if (ny_part_is_mine(worker, i)) take_off(of, i, k);
        err = ny_team_check(worker);
    }
    return err;
}

int ny_factor(struct ny_context *ctx, struct ny_matrix A, bool *positive)
{
    struct factor of = {.A = A};
    int err;

    assert(A.rows == A.cols && !A.transposed);
    err = ny_parts_run(ctx, A.rows, factor, &of);
    *positive = !err && !of.failed;
    return err;
}

/* ---- L⁻¹GL⁻ᵀ -------------------------------------------------------------------------------- */

/* L_kk⁻¹A_kkL_kk⁻ᵀ. */
static void reduce_diagonal(struct factor *of, size_t k)
{
    struct ny_matrix A = block_of(of->A, k, k), L = block_of(of->L, k, k);
    struct ny_matrix square = ny_matrix(of->diagonal.at, A.rows, A.rows);

    for (size_t i = 0; i < A.rows; i++)
        memcpy(square.at + i * square.stride, A.at + i * A.stride, (i + 1) * sizeof(*A.at));
    ny_mirror_lower(square);
    ny_solve_lower(L, square);
    ny_solve_rows(L, square);
    for (size_t i = 0; i < A.rows; i++)
        memcpy(A.at + i * A.stride, square.at + i * square.stride, (i + 1) * sizeof(*A.at));
    ny_mirror_lower(square);
    of->diagonal = square;
}

/* A_ik ← A_ikL_kk⁻ᵀ − ½L_ikA_kk, and copies of it and of L_ik. */
static void reduce_below(const struct factor *of, size_t i, size_t k)
{
    struct ny_matrix A = block_of(of->A, i, k), L = block_of(of->L, i, k);

    ny_solve_rows(block_of(of->L, k, k), A);
    ny_gemm(-0.5, L, of->diagonal, 1, A);
    for (size_t r = 0; r < A.rows; r++) {
        double *al = of->AL.at + (i * BLOCK + r) * of->AL.stride;
        double *la = of->LA.at + (i * BLOCK + r) * of->LA.stride;

        memcpy(al, A.at + r * A.stride, BLOCK * sizeof(*al));
        memcpy(al + BLOCK, L.at + r * L.stride, BLOCK * sizeof(*al));
        memcpy(la, al + BLOCK, BLOCK * sizeof(*la));
        memcpy(la + BLOCK, al, BLOCK * sizeof(*la));
    }
}

/* Row i of the triangle − (A_ikL_jkᵀ + L_ikA_jkᵀ), and the other half of A_ik's own change. */
static void reduce_row(const struct factor *of, size_t i, size_t k)
{
    struct ny_matrix A = block_of(of->A, i, k), L = block_of(of->L, i, k);
    struct ny_matrix before = left_of(of->A, i, k + 1);

    if (i > k + 1)
        ny_gemm(-1, ny_rows(of->AL, i * BLOCK, A.rows),
                ny_t(ny_rows(of->LA, (k + 1) * BLOCK, before.cols)), 1, before);
    ny_gram_crossed(-1, ny_t(A), ny_t(L), block_of(of->A, i, i));
    ny_gemm(-0.5, L, of->diagonal, 1, A);
}

/* The rows below the triangle of block column k ← L⁻¹ times them. */
static void solve_below(const struct factor *of, size_t k)
{
    size_t begin = (k + 1) * BLOCK, left = of->A.rows - begin;

    ny_solve_lower(ny_cols(ny_rows(of->L, begin, left), begin, left),
                   ny_cols(ny_rows(of->A, begin, left), k * BLOCK, BLOCK));
}

static int reduce(void *arg, const struct ny_worker *worker)
{
    struct factor *of = arg;
    size_t blocks = ny_parts_of(of->A.rows, BLOCK);
    int err = NY_OK;

    for (size_t k = 0; k < blocks && !err; k++) {
        if (worker->index == 0) reduce_diagonal(of, k);
        ny_team_meet(worker);
        for (size_t i = k + 1; i < blocks; i++)
            if (ny_part_is_mine(worker, i)) reduce_below(of, i, k);
        ny_team_meet(worker);
        for (size_t i = k + 1; i < blocks; i++)
            if (ny_part_is_mine(worker, i)) reduce_row(of, i, k);
        err = ny_team_check(worker);
    }
    for (size_t k = 0; k + 1 < blocks && !err; k++)
        if (ny_part_is_mine(worker, k)) solve_below(of, k);
    return err;
}

static size_t reduce_size(size_t m)
{
    return (4 * m + BLOCK) * BLOCK;
}

void ny_factor_reduce_count(struct ny_layout *l, size_t m)
{
    ny_lay_peak(l, NY_MEM_SOLVE, reduce_size(m), sizeof(double));
}

int ny_factor_reduce(struct ny_context *ctx, struct ny_matrix L, struct ny_matrix G)
{
    size_t m = L.rows;
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, reduce_size(m) * sizeof(double));
    struct factor of = {.A = G, .L = L};
    int err;

    assert(L.cols == m && G.rows == m && G.cols == m && !L.transposed && !G.transposed);
    if (!at) return NY_EBUDGET;
    of.AL = ny_matrix(at, m, 2 * BLOCK);
    of.LA = ny_matrix(of.AL.at + 2 * BLOCK * m, m, 2 * BLOCK);
    of.diagonal.at = of.LA.at + 2 * BLOCK * m;
    err = ny_parts_run(ctx, m, reduce, &of);
    ny_free(ctx, at);
    return err ? err : ny_check_lower(ctx, G);
}
