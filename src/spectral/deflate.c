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

struct room {
    struct ny_matrix S, X; /* r × b, of up to `most` columns b */
    double *H, *V, *theta; /* b × b each, and b */
    double *block;         /* BLOCK × r */
};

static void lay(struct ny_layout *l, struct room *room, size_t r)
{
    size_t most = most_of(r);

    room->S = ny_lay_matrix(l, NY_MEM_SOLVE, r, most);
    room->X = ny_lay_matrix(l, NY_MEM_SOLVE, r, most);
    room->H = ny_lay(l, NY_MEM_SOLVE, most, most * sizeof(double));
    room->V = ny_lay(l, NY_MEM_SOLVE, most, most * sizeof(double));
    room->theta = ny_lay(l, NY_MEM_SOLVE, most, sizeof(double));
    room->block = ny_lay(l, NY_MEM_SOLVE, BLOCK, r * sizeof(double));
}

void ny_deflate_count(struct ny_layout *l, size_t m)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    if (m < ORDER) return;
    lay(l, &(struct room){0}, m);
    ny_orthonormalise_count(l, most_of(m));
    ny_eigen_top_count(l, most_of(m), most_of(m));
    ny_layout_back(l, &mark);
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
static int keep_small(struct ny_context *ctx, struct ny_matrix W, struct room *room, double limit,
                      size_t *count)
{
    struct ny_matrix S = room->S, X = room->X, H = ny_matrix(room->H, S.cols, S.cols);
    struct ny_matrix V = ny_matrix(room->V, S.cols, S.cols);
    size_t first = 0;
    int err;

    ny_gemm(1, W, S, 0, X);                                             /* H = SᵀWS */
    ny_gemm(1, ny_t(S), X, 0, H);
    err = ny_eigen_top(ctx, H, S.cols, room->theta, V);
    if (err) return err;
    while (first < S.cols && room->theta[first] >= limit)
        first++;
    *count = S.cols - first;
    if (*count)
        ny_gemm(1, S, ny_t(ny_rows(V, first, *count)), 0,
                ny_matrix(X.at, S.rows, *count));
    return NY_OK;
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

/* The lower triangle of A ← PAP + τSSᵀ of a full square A. */
static void project_out(struct ny_matrix A, struct room *room, double tau)
{
    struct ny_matrix S = room->S, Y = room->X, T = ny_matrix(room->H, S.cols, S.cols);

    ny_gemm(1, A, S, 0, Y);                                             /* Y = AS − ½S(T + τI) */
    ny_gemm(1, ny_t(S), Y, 0, T);
    for (size_t i = 0; i < S.cols; i++)
        T.at[i * S.cols + i] += tau;
    ny_gemm(-0.5, S, T, 1, Y);
    update_lower(A, S, Y, room->block);
}

/* x ← Px */
static void project_vector(struct ny_matrix S, double *x, double *room)
{
    ny_gemv(1, ny_t(S), x, 0, room);
    ny_gemv(-1, S, room, 1, x);
}

/* S of so many vectors that all below `limit` are among them, or *count = 0. W full, on return too.
 */
static int find_small(struct ny_problem *problem, struct ny_basis *basis, struct room *room,
                      size_t *count)
{
    const double limit = 2 * NY_CUT_MARGIN * basis->gram_cut;
    struct ny_matrix W = basis->W;
    size_t r = basis->r, most = most_of(r), b = r / FIRST_SHARE < most ? r / FIRST_SHARE : most;
    bool enough = false, positive;
    int err = NY_OK;

    *count = 0;
    for (; !enough && !err; b = 2 * b < most ? 2 * b : most) {
        room->S = ny_matrix(room->S.at, r, b);
        room->X = ny_matrix(room->X.at, r, b);
        err = ny_basis_restore(basis, problem->ctx);
        if (err) break;
        for (size_t i = 0; i < r; i++)
            W.at[i * W.stride + i] += basis->gram_cut;
        err = ny_factor(problem->ctx, W, &positive);
        if (err || !positive) break;
        err = iterate(problem->ctx, W, 1, room->S);
        if (!err) err = ny_basis_restore(basis, problem->ctx);
        if (!err) err = keep_small(problem->ctx, W, room, limit, count);
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
    struct ny_layout l = {.ctx = ctx};
    double smallest = 0, tau = 0;
    struct room room;
    bool positive;
    int err;

    *count = 0;
    if (basis->r < ORDER || (problem->rank && problem->rank < basis->r)) return NY_OK;
    lay(&l, &room, basis->r);
    err = l.err ? l.err : find_small(problem, basis, &room, count);
    if (err || !*count) goto done;
    memcpy(room.S.at, room.X.at, basis->r * *count * sizeof(double));
    room.S = ny_matrix(room.S.at, basis->r, *count);
    room.X = ny_matrix(room.X.at, basis->r, *count);
    for (size_t i = 0; i < basis->r; i++)
        tau += basis->diagonal[i] / (double)basis->r;
    project_out(basis->W, &room, tau);
    err = ny_factor(ctx, basis->W, &positive);
    if (!err && positive) err = ny_smallest_eigenvalue(ctx, basis->W, &smallest);
    if (err || smallest <= NY_CUT_MARGIN * basis->gram_cut) {
        *count = 0;
        goto done;
    }
    project_out(basis->G, &room, 0);
    project_vector(room.S, basis->s_R, room.theta);
    project_vector(room.S, basis->b_R, room.theta);
    project_vector(room.S, basis->c, room.theta);
done:
    ny_layout_free(&l);
    return err;
}
