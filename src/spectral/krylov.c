/*
 * The block Krylov iteration of krylov.h: the first block, the product with A that a pass leaves in
 * H, Rayleigh–Ritz, and the next block. fit/krylov.c drives it, one pass a step; krylov_partial.c
 * makes a unit's share of H, krylov_solve.c the map.
 *
 * All that a resumed fit needs is one array, `state`: t, ω, the residual and the rank, then s′, H,
 * Q and T. sums, H, Q and T are views into it, so that a checkpoint writes the array as it is. The
 * factor B and the directions U are computed again from W and Q.
 *
 * H, m × l, is what a step gathers over all points; its small problem T has the columns of all
 * blocks so far. Q is kept orthonormal to all blocks before by three rounds, as columns that are
 * made up for a block that lost rank may lie in Q.
 */
#include "spectral/krylov_private.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/peers.h"
#include "spectral/projected.h"

/* The numbers at the end of a state: t, ω, the residual, the rank. */
enum { T_SUM, OMEGA, RESIDUAL, RANK, NUMBERS };

/* A pair is found if ‖Av − λv‖ is below this share of λ. λ is then off by at most its square, 1e-4,
 * over the relative gap to the pairs that are not in Q, and v by the share over that gap. The error
 * that landmarks leave in K is larger. */
static const double tolerance = 1e-2;

/* Rounds p + oversample up to a multiple of 16: products with fewer columns take as long. */
size_t ny_krylov_width(const struct ny_problem *problem, size_t m)
{
    const size_t columns = 16;
    size_t p = ny_smaller(problem->components, m);
    size_t asked = ny_smaller(problem->randomized.oversample, m - p) + p;

    return ny_smaller((asked + columns - 1) / columns * columns, m);
}

size_t ny_krylov_most(const struct ny_problem *problem, size_t width, size_t rank)
{
    return ny_smaller(((size_t)problem->randomized.power + 1) * width, rank);
}

unsigned ny_krylov_steps(const struct ny_problem *problem, size_t m)
{
    size_t width = ny_krylov_width(problem, m);

    return (unsigned)((ny_krylov_most(problem, width, m) + width - 1) / width);
}

size_t ny_krylov_before(const struct ny_krylov *krylov, unsigned step)
{
    return ny_smaller(step * krylov->width, krylov->most);
}

/* Columns of that block. */
static size_t columns_of(const struct ny_krylov *krylov, unsigned step)
{
    return ny_krylov_before(krylov, step + 1) - ny_krylov_before(krylov, step);
}

/* ---- the state ------------------------------------------------------------------------------ */

size_t ny_krylov_state_bytes(const struct ny_problem *problem, size_t m)
{
    size_t width = ny_krylov_width(problem, m), most = ny_krylov_most(problem, width, m);

    return (NUMBERS + m + m * width + m * most + most * most) * sizeof(double);
}

const double *ny_krylov_save(struct ny_krylov *krylov)
{
    krylov->state[T_SUM] = krylov->sums.t;
    krylov->state[OMEGA] = krylov->sums.omega;
    krylov->state[RANK] = (double)krylov->rank;
    return krylov->state;
}

double ny_krylov_residual(const struct ny_krylov *krylov)
{
    return krylov->state[RESIDUAL];
}

bool ny_krylov_converged(const struct ny_krylov *krylov)
{
    return krylov->state[RESIDUAL] <= tolerance;
}

/* H of the block under way. */
static void view_product(struct ny_krylov *krylov)
{
    size_t m = krylov->problem.m;

    krylov->H = ny_matrix(krylov->state + NUMBERS + m, m, columns_of(krylov, krylov->step));
}

/* Makes sums, H, Q and T views into the state, in the order that the head of this file names. */
static void view_state(struct ny_krylov *krylov)
{
    size_t m = krylov->problem.m;

    krylov->sums.t = krylov->state[T_SUM];
    krylov->sums.omega = krylov->state[OMEGA];
    krylov->sums.s = krylov->state + NUMBERS;
    krylov->Q = ny_matrix(krylov->sums.s + m + m * krylov->width, krylov->rank, krylov->most);
    krylov->T = ny_matrix(krylov->Q.at + krylov->rank * krylov->most, krylov->most, krylov->most);
    view_product(krylov);
}

int ny_krylov_fold_peers(struct ny_krylov *krylov, struct ny_peers *peers)
{
    int err = ny_peers_fold(peers, krylov->H.at, krylov->H.rows * krylov->H.cols);

    return err || krylov->step ? err : ny_accumulator_fold_peers(&krylov->sums, peers);
}

void ny_krylov_clear_pass(struct ny_krylov *krylov)
{
    memset(krylov->H.at, 0, krylov->H.rows * krylov->H.cols * sizeof(double));
    if (krylov->step) return;
    memset(krylov->sums.s, 0, krylov->problem.m * sizeof(double));
    krylov->sums.t = krylov->sums.omega = 0;
}

/* ---- B, and what is between the points and A ------------------------------------------------ */

void ny_krylov_whiten(const struct ny_krylov *krylov, struct ny_matrix X, struct ny_matrix Y)
{
    if (krylov->B.at) {
        ny_gemm(1, krylov->B, X, 0, Y);
        return;
    }
    ny_copy(X, Y);
    ny_solve_lower(krylov->basis.W, Y);
}

void ny_krylov_unwhiten(const struct ny_krylov *krylov, struct ny_matrix V, struct ny_matrix X)
{
    if (krylov->B.at) {
        ny_gemm(1, ny_t(krylov->B), V, 0, X);
        return;
    }
    ny_copy(V, X);
    ny_solve_lower_t(krylov->basis.W, X);
}

/* Averages over D leave W̃ = HWH, of which 1 is in the kernel, as it is in that of C̃: a multiple
 * of 11ᵀ makes it regular and changes nothing of C̃W̃⁺C̃ᵀ. */
static void lift_average(const struct ny_krylov *krylov)
{
    struct ny_matrix W = krylov->basis.W;
    double mean = 0;

    for (size_t i = 0; i < W.rows; i++)
        mean += krylov->basis.diagonal[i] / (double)W.rows;
    for (size_t i = 0; i < W.rows; i++)
        for (size_t j = 0; j <= i; j++)
            W.at[i * W.stride + j] += mean / (double)W.rows;
}

/* B: by Cholesky where that is safe. */
static int find_whitening(struct ny_krylov *krylov)
{
    struct ny_problem *problem = &krylov->problem;
    struct ny_basis *basis = &krylov->basis;
    bool lifted = problem->normalisation == NY_CENTRED_LANDMARKS && basis->r == basis->m;
    size_t rows = problem->rank ? ny_smaller(problem->rank, basis->r) : basis->r;
    bool full_rank;
    int err;

    krylov->counts.rank_effective = basis->r - lifted;
    krylov->rank = basis->r;
    if (lifted) lift_average(krylov);
    err = ny_projected_factorise(problem, basis, &full_rank);
    if (err || full_rank) return err;
    err = ny_basis_restore(basis, problem->ctx);
    if (err) return err;
    krylov->B = ny_lay_matrix(&krylov->own, NY_MEM_SOLVE, rows, basis->r);
    if (krylov->own.err) return krylov->own.err;
    err = ny_projected_whiten(problem, basis, &krylov->counts, &krylov->B);
    krylov->rank = krylov->B.rows;
    return err;
}

/* U = R·B·V of the block under way. */
static void find_directions(struct ny_krylov *krylov)
{
    size_t first = ny_krylov_before(krylov, krylov->step), count = columns_of(krylov, krylov->step);

    krylov->U = ny_matrix(krylov->U.at, krylov->problem.m, count);
    ny_krylov_unwhiten(krylov, ny_cols(krylov->Q, first, count),
                       ny_rows(krylov->U, 0, krylov->basis.r));
    ny_basis_expand(&krylov->basis, &krylov->problem, krylov->U);
}

/* ---- the blocks ----------------------------------------------------------------------------- */

/* E −= Q_before(Q_beforeᵀE) of the columns before `first`. */
static int remove_basis(const struct ny_krylov *krylov, size_t first, struct ny_matrix E)
{
    struct ny_matrix Q = ny_cols(krylov->Q, 0, first), S;
    double *at;

    if (!first) return NY_OK;
    at = ny_calloc(krylov->problem.ctx, NY_MEM_SOLVE, first, E.cols * sizeof(double));
    if (!at) return NY_EBUDGET;
    S = ny_matrix(at, first, E.cols);
    ny_gemm(1, ny_t(Q), E, 0, S);
    ny_gemm(-1, Q, S, 1, E);
    ny_free(krylov->problem.ctx, at);
    return NY_OK;
}

/* Appends the next block of Q from the first columns of E. If E depends on the blocks before,
 * columns are made up, which may lie in Q: hence more than two rounds. */
static int append_block(struct ny_krylov *krylov, struct ny_matrix E)
{
    enum { ROUNDS = 3 };
    size_t first = ny_krylov_before(krylov, krylov->step), count = columns_of(krylov, krylov->step);
    struct ny_matrix V = ny_cols(krylov->Q, first, count);
    int err = NY_OK;

    ny_copy(ny_cols(E, 0, count), V);
    for (int round = 0; round < ROUNDS && err == NY_OK; round++) {
        err = remove_basis(krylov, first, V);
        if (err == NY_OK) err = ny_orthonormalise(krylov->problem.ctx, V);
    }
    return err;
}

/* X ← SX of the rows of D as a sample: less its means, or divided by the degrees. */
static void sample(const struct ny_krylov *krylov, struct ny_matrix X)
{
    const double *roots = krylov->basis.roots;
    bool centred = krylov->problem.normalisation == NY_CENTRED_IMPLICIT;
    bool divided = krylov->problem.normalisation == NY_DIVIDED_IMPLICIT;

    if (centred) ny_centre_columns(X);
    for (size_t i = 0; i < X.rows && divided; i++)
        for (size_t j = 0; j < X.cols; j++)
            X.at[i * X.stride + j] *= roots[i] * roots[i];
}

/* Y = W_R·X, X a basis of the leading eigenvectors of SW_R: BᵀY spans those of A for the sample. */
static int begin(struct ny_krylov *krylov)
{
    struct ny_context *ctx = krylov->problem.ctx;
    size_t r = krylov->basis.r, l = ny_smaller(ny_krylov_width(&krylov->problem, r), r);
    struct ny_matrix X = ny_matrix(krylov->U.at, r, l), Y = ny_matrix(krylov->Y.at, r, l);
    int err = NY_OK;

    ny_gaussian(krylov->problem.randomized.seed, NY_STREAM_RANGE, 0, X.at, r * l);
    for (int product = 0; product < NY_KRYLOV_START_PRODUCTS && err == NY_OK; product++) {
        struct ny_matrix swap = X;

        ny_gemm(1, krylov->basis.W, X, 0, Y);
        sample(krylov, Y);
        err = ny_orthonormalise(ctx, Y);
        X = Y;
        Y = swap;
    }
    if (err == NY_OK) ny_gemm(1, krylov->basis.W, X, 0, Y);
    krylov->Y = Y;
    krylov->U = X;
    return err;
}

void ny_krylov_lay(struct ny_layout *l, struct ny_krylov *krylov, size_t m, size_t width)
{
    krylov->U = ny_lay_matrix(l, NY_MEM_SOLVE, m, width);
    krylov->Y = ny_lay_matrix(l, NY_MEM_SOLVE, m, width);
    krylov->sums.s = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double)); /* until there is a state */
}

/* Sets the shapes, once the rank is known, then takes the saved state or makes the first block. */
static int enter(struct ny_krylov *krylov, double *image)
{
    struct ny_problem *problem = &krylov->problem;

    krylov->width = ny_smaller(ny_krylov_width(problem, problem->m), krylov->rank);
    krylov->most = ny_krylov_most(problem, krylov->width, krylov->rank);
    krylov->state = image;
    if (!image)
        krylov->state =
            ny_calloc(problem->ctx, NY_MEM_SOLVE, 1, ny_krylov_state_bytes(problem, problem->m));
    if (!krylov->state) return NY_EBUDGET;
    if (image && !(fabs(image[RANK] - (double)krylov->rank) < 0.5))
        return ny_fail(problem->ctx, NY_ENUMERIC,
                       "the landmarks have %zu directions here, but had %.3g where this fit was "
                       "begun, on another machine; begin it anew with --restart",
                       krylov->rank, image[RANK]);
    view_state(krylov);
    return NY_OK;
}

int ny_krylov_new(struct ny_krylov *krylov, const struct ny_problem *problem, double *image,
                  unsigned step)
{
    struct ny_matrix E;
    int err;

    *krylov = (struct ny_krylov){.problem = *problem, .step = step, .own = {.ctx = problem->ctx}};
    krylov->problem.acc = &krylov->sums;
    krylov->sums.m = problem->m;
    ny_krylov_lay(&krylov->own, krylov, problem->m, ny_krylov_width(problem, problem->m));
    err = krylov->own.err;
    if (err == NY_OK) err = ny_basis_new(&krylov->basis, &krylov->problem);
    if (err == NY_OK && !image) err = begin(krylov);
    if (err == NY_OK) err = find_whitening(krylov);
    if (err) {
        ny_free(problem->ctx, image);
        return err;
    }
    err = enter(krylov, image);
    if (err) return err;
    if (image) {
        if (step > 0) ny_basis_use_sums(&krylov->basis, &krylov->problem);
    } else {
        E = ny_matrix(krylov->U.at, krylov->rank, krylov->Y.cols);
        ny_krylov_whiten(krylov, krylov->Y, E);
        err = append_block(krylov, E);
    }
    if (err == NY_OK && columns_of(krylov, step)) find_directions(krylov);
    return err;
}

void ny_krylov_release(struct ny_krylov *krylov)
{
    struct ny_context *ctx = krylov->problem.ctx;

    if (!ctx) return;
    ny_basis_release(&krylov->basis);
    ny_free(ctx, krylov->state);
    ny_layout_free(&krylov->own);
    *krylov = (struct ny_krylov){0};
}

/* ---- a step --------------------------------------------------------------------------------- */

/* Y = AV = BᵀRᵀ(H − s′(bᵀU) − b(s′ᵀU) + ωb(bᵀU)) */
static int finish_product(struct ny_krylov *krylov)
{
    size_t m = krylov->problem.m, count = krylov->U.cols;
    const double *s = krylov->sums.s, *b = krylov->basis.b;
    double *bU = ny_calloc(krylov->problem.ctx, NY_MEM_SOLVE, 2, count * sizeof(double));
    double *sU = bU ? bU + count : NULL;

    if (!bU) return NY_EBUDGET;
    ny_gemv(1, ny_t(krylov->U), b, 0, bU);
    ny_gemv(1, ny_t(krylov->U), s, 0, sU);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < count; j++)
            krylov->H.at[i * count + j] +=
                krylov->sums.omega * b[i] * bU[j] - s[i] * bU[j] - b[i] * sU[j];
    ny_free(krylov->problem.ctx, bU);
    ny_basis_contract(&krylov->basis, &krylov->problem, krylov->H);
    krylov->Y = ny_matrix(krylov->Y.at, krylov->rank, count);
    ny_krylov_whiten(krylov, ny_rows(krylov->H, 0, krylov->basis.r), krylov->Y);
    return NY_OK;
}

/* T's columns and rows of this block, QᵀY; Y keeps what is outside of Q. */
static void extend_projection(struct ny_krylov *krylov)
{
    size_t first = ny_krylov_before(krylov, krylov->step), count = krylov->Y.cols;
    struct ny_matrix T = krylov->T, Q = ny_cols(krylov->Q, 0, first + count);
    struct ny_matrix column = ny_cols(ny_rows(T, 0, first + count), first, count);

    ny_gemm(1, ny_t(Q), krylov->Y, 0, column);
    ny_gemm(-1, Q, column, 1, krylov->Y);
    for (size_t j = first; j < first + count; j++)
        for (size_t i = 0; i < j; i++) {
            double value = T.at[i * T.stride + j];

            if (i >= first) value = (value + T.at[j * T.stride + i]) / 2;
            T.at[j * T.stride + i] = T.at[i * T.stride + j] = value;
        }
}

int ny_krylov_ritz(const struct ny_krylov *krylov, size_t known, double *values, struct ny_matrix X)
{
    struct ny_context *ctx = krylov->problem.ctx;
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, known * known * sizeof(double));
    int err;

    if (!at) return NY_EBUDGET;
    ny_copy(ny_cols(ny_rows(krylov->T, 0, known), 0, known), ny_matrix(at, known, known));
    err = ny_eigen_top(ctx, ny_matrix(at, known, known), X.rows, values, X);
    ny_free(ctx, at);
    return err;
}

/* The size, relative to the largest eigenvalue, that rounding gives to one of zero. */
static double noise_of(const struct ny_krylov *krylov)
{
    return krylov->problem.gram == NY_GRAM_F32 ? 1e-6 : 1e-12;
}

/* Finds the largest ‖Av − λv‖/λ, with λ at least the noise over the tolerance. The residual lies
 * outside of Q and is Y times the vector's part in this block. */
static int find_residual(const struct ny_krylov *krylov, size_t known, double *residual)
{
    struct ny_context *ctx = krylov->problem.ctx;
    size_t count = krylov->Y.cols, pairs = ny_smaller(krylov->problem.components, known);
    size_t numbers = 1 + known + krylov->rank;
    double *values = ny_calloc(ctx, NY_MEM_SOLVE, pairs, numbers * sizeof(double));
    struct ny_matrix X, R;
    int err;

    if (!values) return NY_EBUDGET;
    X = ny_matrix(values + pairs, pairs, known);
    R = ny_matrix(X.at + pairs * known, pairs, krylov->rank);
    err = ny_krylov_ritz(krylov, known, values, X);
    if (err) goto done;
    ny_gemm(1, ny_cols(X, known - count, count), ny_t(krylov->Y), 0, R);
    *residual = 0;
    for (size_t k = 0; k < pairs; k++) {
        const double *row = R.at + k * R.cols;
        double least = noise_of(krylov) / tolerance * values[0];

        *residual = fmax(*residual, sqrt(ny_dot(row, row, R.cols)) / fmax(values[k], least));
    }
done:
    ny_free(ctx, values);
    return err;
}

int ny_krylov_next(struct ny_krylov *krylov, bool *done)
{
    size_t known = ny_krylov_before(krylov, krylov->step + 1);
    int err;

    if (krylov->step == 0) ny_basis_use_sums(&krylov->basis, &krylov->problem);
    err = finish_product(krylov);
    if (err) return err;
    extend_projection(krylov);
    err = find_residual(krylov, known, &krylov->state[RESIDUAL]);
    if (err) return err;
    krylov->step++;
    *done = ny_krylov_converged(krylov) || known == krylov->most;
    if (*done) return NY_OK;
    err = append_block(krylov, krylov->Y);
    if (err) return err;
    view_product(krylov);
    memset(krylov->H.at, 0, krylov->H.rows * krylov->H.cols * sizeof(double));
    find_directions(krylov);
    return NY_OK;
}
