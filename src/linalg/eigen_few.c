/*
 * A few eigenpairs of a large symmetric matrix, by block Lanczos with full orthogonalisation: where
 * the eigenvalues fall as those of kernels do, a basis of some hundred columns holds the wanted
 * vectors to rounding, and the reduction of the whole matrix, which dsyevr begins with, is saved.
 *
 * A block sees at most as many copies of an equal eigenvalue as it has columns. So, at the end,
 * steps from another start, orthogonal to what was found, must find nothing larger.
 */
#include "linalg/eigen_few.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "linalg/blas.h"
#include "linalg/eigen_dense.h"

/* Columns of a block; orders below are not worth it. */
enum { BLOCK = 16, ORDER = 2049 };

/* Residuals relative to the largest eigenvalue: those of dsyevr itself; and of the last look. */
static const double TOLERANCE = 0x1p-50, LOOK_TOLERANCE = 0x1p-26;

struct krylov {
    struct ny_context *ctx;
    struct ny_matrix A;    /* lower triangle */
    uint64_t seed;
    size_t used, most;     /* columns of Q */
    struct ny_matrix Q;    /* n × most, orthonormal */
    struct ny_matrix H;    /* most × most, QᵀAQ: lower triangle */
    struct ny_matrix S;    /* scratch for its eigenproblem */
    struct ny_matrix X;    /* n × BLOCK: the next block */
    struct ny_matrix T, R; /* most × BLOCK, BLOCK × BLOCK */
    double *values;        /* most */
    struct ny_matrix Y;    /* count × most: vectors of H */
};

/* Returns the most columns of Q for `count` pairs: some four a pair, in whole blocks. */
static size_t most_of(size_t count)
{
    return (4 * count + 512) / BLOCK * BLOCK;
}

bool ny_eigen_is_few(size_t m, size_t count)
{
    return m >= ORDER && 3 * most_of(count) <= m;
}

/* Returns the doubles of all arrays of lay_out(). */
static size_t doubles(size_t m, size_t count)
{
    size_t most = most_of(count);

    return m * (most + BLOCK) + (2 * most + BLOCK + 1 + count) * most + BLOCK * BLOCK;
}

size_t ny_eigen_few_bytes(size_t m, size_t count)
{
    size_t most = most_of(count), block = ny_orthonormalise_bytes(BLOCK),
           small = ny_eigen_dense_bytes(most, count);

    return doubles(m, count) * sizeof(double) + (block > small ? block : small);
}

/* Cuts the arrays of the iteration out of one block. */
static struct krylov lay_out(struct ny_context *ctx, struct ny_matrix A, size_t count, double *at)
{
    size_t n = A.rows, most = most_of(count);
    struct krylov k = {.ctx = ctx, .A = A, .most = most};

    k.Q = ny_matrix(at, n, most);
    k.X = ny_matrix(k.Q.at + n * most, n, BLOCK);
    k.H = ny_matrix(k.X.at + n * BLOCK, most, most);
    k.S = ny_matrix(k.H.at + most * most, most, most);
    k.T = ny_matrix(k.S.at + most * most, most, BLOCK);
    k.R = ny_matrix(k.T.at + most * BLOCK, BLOCK, BLOCK);
    k.Y = ny_matrix(k.R.at + BLOCK * BLOCK, count, most);
    k.values = k.Y.at + count * most;
    return k;
}

/* X ← X − QQᵀX; T = QᵀX. */
static void project(struct krylov *k, struct ny_matrix T)
{
    struct ny_matrix Q = ny_cols(k->Q, 0, k->used);

    if (!k->used) return;
    ny_gemm(1, ny_t(Q), k->X, 0, T);
    ny_gemm(-1, Q, T, 1, k->X);
}

/* Adds random directions, far below the tolerance, so that a block that A maps into Q goes on. */
static void disturb(struct krylov *k)
{
    size_t first = k->used * k->X.rows;
    double share = 0, g[BLOCK];

    for (size_t i = 0; i < k->used; i++)
        share = fmax(share, 0x1p-60 * fabs(k->H.at[i * k->most + i]));
    for (size_t i = 0; i < k->X.rows; i++) {
        ny_gaussian(k->seed, NY_STREAM_RANGE, first + i * BLOCK, g, BLOCK);
        for (size_t j = 0; j < BLOCK; j++)
            k->X.at[i * BLOCK + j] += (share > 0 ? share : 1) * g[j];
    }
}

/* Makes X the next columns of Q, orthonormal to those there. */
static int append(struct krylov *k)
{
    int err = NY_OK;

    disturb(k);
    for (int round = 0; round < 2 && !err; round++) {
        project(k, ny_rows(k->T, 0, k->used));
        err = ny_orthonormalise(k->ctx, k->X);
    }
    for (size_t i = 0; i < k->X.rows && !err; i++)
        memcpy(k->Q.at + i * k->most + k->used, k->X.at + i * BLOCK, BLOCK * sizeof(double));
    k->used += BLOCK;
    return err;
}

/* X = A Q_last off Q, and the rows of H that belong to Q_last. */
static void multiply(struct krylov *k)
{
    struct ny_matrix T = ny_rows(k->T, 0, k->used);
    size_t first = k->used - BLOCK;

    ny_symm(k->A, ny_cols(k->Q, first, BLOCK), k->X);
    project(k, T);
    for (size_t i = 0; i < BLOCK; i++)
        for (size_t j = 0; j <= first + i; j++)
            k->H.at[(first + i) * k->most + j] = T.at[j * BLOCK + i];
    project(k, T);
}

/* Eigenpairs of H[first …, first …], the `count` largest. */
static int solve(struct krylov *k, size_t first, size_t count)
{
    size_t order = k->used - first;
    struct ny_matrix S = ny_matrix(k->S.at, order, order);

    for (size_t i = 0; i < order; i++)
        memcpy(S.at + i * order, k->H.at + (first + i) * k->most + first,
               (i + 1) * sizeof(double));
    return ny_eigen_dense(k->ctx, S, count, k->values, ny_matrix(k->Y.at, count, order));
}

/* ‖Av − θv‖ = ‖X y_last‖ for v = Qy; y: of `order` values. */
static bool settled(const struct krylov *k, size_t order, size_t count, double tolerance)
{
    double limit = tolerance * fabs(k->values[0]), r[BLOCK];

    ny_gemm(1, ny_t(k->X), k->X, 0, k->R);
    for (size_t j = 0; j < count; j++) {
        const double *last = k->Y.at + (j + 1) * order - BLOCK;
        double square;

        ny_gemv(1, k->R, last, 0, r);
        square = ny_dot(last, r, BLOCK);
        if (!(square <= limit * limit)) return false;
    }
    return true;
}

/* Lanczos steps from a random block beside the columns that are there, which A keeps apart, until
 * the residuals have settled; *found: they have. */
static int iterate(struct krylov *k, size_t count, double tolerance, bool *found)
{
    size_t first = k->used, due = first + 2 * count + 3 * BLOCK;
    int err;

    *found = false;
    memset(k->X.at, 0, k->X.rows * BLOCK * sizeof(double));
    err = append(k);
    while (!err) {
        bool full = k->used + BLOCK > k->most;

        multiply(k);
        if (k->used >= due || full) {
            err = solve(k, first, count);
            *found = !err && settled(k, k->used - first, count, tolerance);
            due = k->used + (k->used - first) / 8;
        }
        if (err || *found || full) break;
        err = ny_check_interrupt(k->ctx);
        if (!err) err = append(k);
    }
    return err;
}

/* Is anything missing above the last value? Q is overwritten by the vectors found. */
static int look_again(struct krylov *k, struct ny_matrix V, const double *values, bool *found)
{
    size_t count = V.rows;
    double least = values[count - 1] + 1e-9 * fabs(values[count - 1]) + 1e-13 * fabs(values[0]);
    int err;

    for (size_t i = 0; i < V.cols; i++)
        for (size_t j = 0; j < count; j++)
            k->Q.at[i * k->most + j] = V.at[j * V.stride + i];
    k->used = count;
    k->seed = 1;
    err = iterate(k, 1, LOOK_TOLERANCE, found);
    if (k->values[0] > least) *found = false;
    return err;
}

int ny_eigen_few(struct ny_context *ctx, struct ny_matrix A, double *values, struct ny_matrix V,
                 bool *found)
{
    size_t count = V.rows;
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, doubles(A.rows, count) * sizeof(double));
    struct krylov k;
    int err = NY_EBUDGET;

    if (!at) goto done;
    k = lay_out(ctx, A, count, at);
    err = iterate(&k, count, TOLERANCE, found);
    if (err || !*found) goto done;
    memcpy(values, k.values, count * sizeof(double));
    ny_gemm(1, ny_matrix(k.Y.at, count, k.used), ny_t(ny_cols(k.Q, 0, k.used)), 0, V);
    err = look_again(&k, V, values, found);
done:
    ny_free(ctx, at);
    return err;
}
