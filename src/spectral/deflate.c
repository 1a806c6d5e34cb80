/*
 * The rank cut of many landmarks without all eigenvectors of W_R: the few of eigenvalues below the
 * cut, S, by inverse iteration on W_R + μI. With P = I − SSᵀ the problem of W′ = P W_R P + τSSᵀ and
 * PGP is that of what is above the cut, since W′ keeps the range of P and that of S apart; and W′
 * is safely of full rank. Costs two Cholesky factors and products with S, where all eigenvectors of
 * W_R take ten times that.
 */
#include "spectral/projected.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "linalg/factor.h"
#include "spectral/smallest.h"

/* The least order worth it; the share of vectors iterated at first, 1/FIRST_SHARE, and their
 * maximum; iterations; rows of a block of W′. */
enum { ORDER = 1024, FIRST_SHARE = 32, MOST = 512, STEPS = 3, BLOCK = 256 };

static size_t most_of(size_t r)
{
    return r / 4 < MOST ? r / 4 : MOST;
}

size_t ny_deflate_bytes(size_t m)
{
    size_t b = most_of(m);

    if (m < ORDER) return 0;
    return (3 * m * b + 3 * b * b + BLOCK * m + 4 * m) * sizeof(double) +
           ny_orthonormalise_bytes(b) + ny_eigen_top_bytes(b, b);
}

/* S (r × b): the smallest of LLᵀ's eigenvectors, nearly. */
static int iterate(struct ny_context *ctx, struct ny_matrix L, uint64_t seed, struct ny_matrix S)
{
    int err = NY_OK;

    ny_gaussian(seed, NY_STREAM_SAMPLE, 0, S.at, S.rows * S.cols);
    for (int step = 0; step < STEPS && !err; step++) {
        ny_solve_lower(L, S);
        ny_solve_lower_t(L, S);
        err = ny_orthonormalise(ctx, S);
    }
    return err;
}

/* The Ritz vectors of S whose values are below `limit`, into the first columns of T (r × count). */
static int keep_small(struct ny_context *ctx, struct ny_matrix W, struct ny_matrix S,
                      struct ny_matrix X, double limit, size_t *count)
{
    size_t b = S.cols;
    double *at = ny_calloc(ctx, NY_MEM_SOLVE, b, (2 * b + 1) * sizeof(double));
    struct ny_matrix H, V;
    double *theta;
    size_t first = 0;
    int err = NY_EBUDGET;

    if (!at) goto done;
    H = ny_matrix(at, b, b);
    V = ny_matrix(at + b * b, b, b);
    theta = at + 2 * b * b;
    ny_gemm(1, W, S, 0, X);                                             /* H = SᵀWS */
    ny_gemm(1, ny_t(S), X, 0, H);
    err = ny_eigen_top(ctx, H, b, theta, V);
    if (err) goto done;
    while (first < b && theta[first] >= limit)
        first++;
    *count = b - first;
    if (*count)
        ny_gemm(1, S, ny_t(ny_rows(V, first, *count)), 0,
                ny_matrix(X.at, S.rows, *count));
done:
    ny_free(ctx, at);
    return err;
}

/* The lower triangle of A ← A − SYᵀ − YSᵀ; the strict upper one stays. */
static void update_lower(struct ny_matrix A, struct ny_matrix S, struct ny_matrix Y, double *room)
{
    for (size_t first = 0; first < A.rows; first += BLOCK) {
        size_t rows = A.rows - first < BLOCK ? A.rows - first : BLOCK, cols = first + rows;
        struct ny_matrix R = ny_matrix(room, rows, cols);

        ny_gemm(1, ny_rows(S, first, rows), ny_t(ny_rows(Y, 0, cols)), 0, R);
        ny_gemm(1, ny_rows(Y, first, rows), ny_t(ny_rows(S, 0, cols)), 1, R);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j <= first + i; j++)
                A.at[(first + i) * A.stride + j] -= R.at[i * cols + j];
    }
}

/* The lower triangle of A ← PAP + τSSᵀ of a full square A. Y: r × S.cols. */
static int project_out(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix S,
                       struct ny_matrix Y, double tau)
{
    size_t b = S.cols;
    double *at = ny_calloc(ctx, NY_MEM_SOLVE, b, b * sizeof(double));
    double *room = ny_calloc(ctx, NY_MEM_SOLVE, BLOCK, A.rows * sizeof(double));
    struct ny_matrix T = ny_matrix(at, b, b);
    int err = at && room ? NY_OK : NY_EBUDGET;

    if (err) goto done;
    ny_gemm(1, A, S, 0, Y);                                             /* Y = AS − ½S(T + τI) */
    ny_gemm(1, ny_t(S), Y, 0, T);
    for (size_t i = 0; i < b; i++)
        T.at[i * b + i] += tau;
    ny_gemm(-0.5, S, T, 1, Y);
    update_lower(A, S, Y, room);
done:
    ny_free(ctx, room);
    ny_free(ctx, at);
    return err;
}

/* x ← Px */
static void project_vector(struct ny_matrix S, double *x, double *room)
{
    ny_gemv(1, ny_t(S), x, 0, room);
    ny_gemv(-1, S, room, 1, x);
}

/* S of so many vectors that all below `limit` are among them, or *count = 0. W full, on return too.
 */
static int find_small(struct ny_problem *problem, struct ny_basis *basis, double *at, double *room,
                      size_t *count)
{
    const double limit = 2 * NY_CUT_MARGIN * basis->gram_cut;
    struct ny_matrix W = basis->W;
    size_t r = basis->r, most = most_of(r), b = r / FIRST_SHARE < most ? r / FIRST_SHARE : most;
    bool enough = false, positive;
    int err = NY_OK;

    *count = 0;
    for (; !enough && !err; b = 2 * b < most ? 2 * b : most) {
        struct ny_matrix S = ny_matrix(at, r, b);

        err = ny_basis_restore(basis, problem->ctx);
        if (err) break;
        for (size_t i = 0; i < r; i++)
            W.at[i * W.stride + i] += basis->gram_cut;
        err = ny_factor(problem->ctx, W, &positive);
        if (err || !positive) break;
        err = iterate(problem->ctx, W, 1, S);
        if (!err) err = ny_basis_restore(basis, problem->ctx);
        if (!err) err = keep_small(problem->ctx, W, S, ny_matrix(room, r, b), limit, count);
        enough = !err && 4 * *count <= 3 * b; /* those near the limit have settled, too */
        if (!enough && b == most) *count = 0;
        if (b == most) break;
    }
    if (!enough) *count = 0;
    return err;
}

int ny_deflate(struct ny_problem *problem, struct ny_basis *basis, size_t *count)
{
    struct ny_context *ctx = problem->ctx;
    size_t r = basis->r, most = most_of(r);
    double *at = NULL, *room = NULL, smallest, tau = 0;
    struct ny_matrix S;
    bool positive;
    int err = NY_EBUDGET;

    *count = 0;
    if (r < ORDER || (problem->rank && problem->rank < r)) return NY_OK;
    at = ny_calloc(ctx, NY_MEM_SOLVE, r, most * sizeof(double));
    room = ny_calloc(ctx, NY_MEM_SOLVE, r, most * sizeof(double));
    if (!at || !room) goto done;
    err = find_small(problem, basis, at, room, count);
    if (err || !*count) goto done;
    memcpy(at, room, r * *count * sizeof(double));
    S = ny_matrix(at, r, *count);
    for (size_t i = 0; i < r; i++)
        tau += basis->diagonal[i] / (double)r;
    err = project_out(ctx, basis->W, S, ny_matrix(room, r, *count), tau);
    if (err) goto done;
    err = ny_factor(ctx, basis->W, &positive);
    if (err || !positive) {
        *count = 0;
        goto done;
    }
    err = ny_smallest_eigenvalue(ctx, basis->W, &smallest);
    if (err || smallest <= NY_CUT_MARGIN * basis->gram_cut) {
        *count = 0;
        goto done;
    }
    err = project_out(ctx, basis->G, S, ny_matrix(room, r, *count), 0);
    project_vector(S, basis->s_R, room);
    project_vector(S, basis->b_R, room);
    project_vector(S, basis->c, room);
done:
    ny_free(ctx, room);
    ny_free(ctx, at);
    return err;
}
