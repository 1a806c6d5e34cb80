#include "spectral/basis.h"

#include <math.h>
#include <string.h>

/* A ← HAH on the full square: subtract row means and column means, add the mean. */
static void centre_square(struct ny_matrix A, double *mean)
{
    double grand = 0;

    for (size_t i = 0; i < A.rows; i++) {
        double sum = 0;

        for (size_t j = 0; j < A.cols; j++)
            sum += A.at[i * A.stride + j];
        mean[i] = sum / (double)A.cols;
        grand += mean[i] / (double)A.rows;
    }
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j <= i; j++)
            A.at[i * A.stride + j] += grand - mean[i] - mean[j];
    ny_mirror_lower(A);
}

/* The lower right (m−1)×(m−1) corner becomes TᵀAT: a_ij − a_1j − a_i1 + a_11. */
static struct ny_matrix translate_square(struct ny_matrix A)
{
    struct ny_matrix corner = {A.at + A.stride + 1, A.rows - 1, A.cols - 1, A.stride, false};

    for (size_t i = 1; i < A.rows; i++)
        for (size_t j = 1; j <= i; j++)
            A.at[i * A.stride + j] += A.at[0] - A.at[j] - A.at[i * A.stride];
    ny_mirror_lower(corner);
    return corner;
}

/* b of the table in the header, and c; W is still unchanged. */
static void choose_b(struct ny_basis *basis, const struct ny_problem *problem)
{
    const double *a = problem->a, *w1 = problem->W.at;
    bool affine = problem->affine;
    double *b = basis->b, *c = basis->c, c1 = 0;

    for (size_t j = 0; j < problem->m; j++) {
        c[j] = 0;
        switch (problem->normalisation) {
        case NY_RAW: b[j] = (affine ? w1[j] : 0) - a[j]; break;
        case NY_CENTRED_LANDMARKS:
            b[j] = 0;
            c[j] = affine ? w1[j] - a[j] : 0;
            break;
        case NY_CENTRED_IMPLICIT:
            b[j] = problem->acc->s[j] / (double)problem->n;
            c[j] = (affine ? w1[j] : 0) - a[j] - b[j];
            break;
        }
    }
    if (!affine) return;
    c1 = c[0];
    for (size_t j = 1; j < problem->m; j++)
        c[j - 1] = c[j] - c1;
}

/* G ← G′ − s′bᵀ − bs′ᵀ + nbbᵀ, full square from the lower triangle. */
static void move_gram(const struct ny_problem *problem, const double *b)
{
    struct ny_accumulator *acc = problem->acc;
    const double *s = acc->s;
    double n = (double)problem->n;

    for (size_t i = 0; i < acc->m; i++)
        for (size_t j = 0; j <= i; j++)
            acc->G.at[i * acc->G.stride + j] += n * b[i] * b[j] - s[i] * b[j] - b[i] * s[j];
    ny_mirror_lower(acc->G);
}

/* Σ k(x,x) of the kernel that is decomposed, before implicit centring: with averages over D
 * t − 2·1ᵀs/m + n·w̄, else t, or translated t − 2s₁ + n·w₁₁. W is still unchanged. */
static double trace_of(const struct ny_problem *problem)
{
    const struct ny_accumulator *acc = problem->acc;
    double n = (double)problem->n, m = (double)problem->m, sums = 0, means = 0;

    if (problem->normalisation != NY_CENTRED_LANDMARKS) {
        if (!problem->affine) return acc->t;
        return acc->t - 2 * (acc->s[0] + n * problem->a[0]) + n * problem->W.at[0];
    }
    for (size_t j = 0; j < problem->m; j++) {
        sums += acc->s[j] + n * problem->a[j];
        means += problem->a[j];
    }
    return acc->t - 2 * sums / m + n * means / m;
}

/* ‖HA‖₂ of a symmetric A, H = I − 11ᵀ/m, by power iteration on AHA from a fixed start. */
static int centred_norm(struct ny_context *ctx, struct ny_matrix A, double *norm)
{
    enum { STEPS = 20 };
    double *x = ny_alloc(ctx, NY_MEM_SOLVE, 2 * A.rows * sizeof(double));
    double *y = x ? x + A.rows : NULL;

    *norm = 0;
    if (!x) return NY_EBUDGET;
    for (size_t i = 0; i < A.rows; i++)
        x[i] = i % 2 ? 1 : -0.5 - (double)(i % 7);
    for (int step = 0; step < STEPS; step++) {
        double mean = 0, length = sqrt(ny_dot(x, x, A.rows)), before = *norm;

        if (!(length > 0)) break;
        for (size_t i = 0; i < A.rows; i++)
            x[i] /= length;
        ny_gemv(1, A, x, 0, y);
        for (size_t i = 0; i < A.rows; i++)
            mean += y[i] / (double)A.rows;
        for (size_t i = 0; i < A.rows; i++)
            y[i] -= mean;
        *norm = sqrt(ny_dot(y, y, A.rows));
        if (fabs(*norm - before) <= 1e-2 * *norm) break;
        ny_gemv(1, A, y, 0, x);
    }
    ny_free(ctx, x);
    return NY_OK;
}

/* The rank cut; W is still unchanged. Averages and translation take differences of its entries:
 * what they leave of a small σ is noise of the size of W, not of W_R. */
static int choose_cut(const struct ny_problem *problem, struct ny_basis *basis)
{
    double top, shifted;
    int err;

    err = ny_spectral_norm(problem->ctx, problem->W, &top);
    if (!err) err = centred_norm(problem->ctx, problem->W, &shifted);
    if (err) return err;
    basis->cut = (double)problem->m * 0x1p-53 * top;
    if (problem->f32_tiles) basis->cut = fmax(basis->cut, 0x1p-22 * shifted);
    basis->gram_cut = basis->cut;
    if (problem->coarse)
        basis->gram_cut =
            fmax(basis->cut, 0x1p-30 * (problem->normalisation == NY_RAW ? top : shifted));
    return NY_OK;
}

int ny_basis_new(struct ny_basis *basis, struct ny_problem *problem)
{
    struct ny_context *ctx = problem->ctx;
    size_t m = problem->m;
    int err;

    *basis = (struct ny_basis){.m = m, .r = m, .W = problem->W, .trace = NAN};
    if (problem->affine && m < 2)
        return ny_fail(ctx, NY_ENUMERIC,
                       "an affine dictionary of one row spans nothing; give a smaller --tolerance "
                       "or --no-affine");
    basis->b = ny_calloc(ctx, NY_MEM_SOLVE, m, sizeof(double));
    basis->diagonal = ny_calloc(ctx, NY_MEM_SOLVE, m, sizeof(double));
    basis->c = ny_calloc(ctx, NY_MEM_SOLVE, m, sizeof(double));
    if (!basis->b || !basis->diagonal || !basis->c) return NY_EBUDGET;
    err = choose_cut(problem, basis);
    if (err) return err;
    choose_b(basis, problem);
    if (problem->acc) {
        basis->trace = trace_of(problem);
        move_gram(problem, basis->b);
        basis->G = problem->acc->G;
    }
    if (problem->affine) {
        basis->r = m - 1;
        basis->W = translate_square(problem->W);
        if (problem->acc) basis->G = translate_square(problem->acc->G);
    } else if (problem->normalisation == NY_CENTRED_LANDMARKS) {
        centre_square(basis->W, basis->diagonal);
        if (problem->acc) centre_square(basis->G, basis->diagonal);
    }
    for (size_t i = 0; i < basis->r; i++)
        basis->diagonal[i] = basis->W.at[i * basis->W.stride + i];
    return NY_OK;
}

void ny_basis_release(struct ny_basis *basis, struct ny_context *ctx)
{
    ny_free(ctx, basis->b);
    ny_free(ctx, basis->diagonal);
    ny_free(ctx, basis->c);
    *basis = (struct ny_basis){0};
}

void ny_basis_restore(struct ny_basis *basis)
{
    struct ny_matrix W = basis->W;

    for (size_t i = 0; i < basis->r; i++) {
        W.at[i * W.stride + i] = basis->diagonal[i];
        for (size_t j = i + 1; j < basis->r; j++)
            W.at[j * W.stride + i] = W.at[i * W.stride + j];
    }
}

/* The entry of Û over D that decides the sign of column k. */
static double sign_entry(const struct ny_basis *basis, struct ny_matrix U, double constant,
                         size_t k)
{
    const double tie = 1 - 1e-6;
    double largest = basis->r < basis->m ? fabs(constant) : 0;

    for (size_t i = 0; i < U.rows; i++)
        largest = fmax(largest, fabs(U.at[i * U.stride + k] + constant));
    if (basis->r < basis->m && fabs(constant) >= tie * largest) return constant;
    for (size_t i = 0; i < U.rows; i++)
        if (fabs(U.at[i * U.stride + k] + constant) >= tie * largest)
            return U.at[i * U.stride + k] + constant;
    return 0;
}

static int fix_signs(struct ny_basis *basis, struct ny_problem *problem, struct ny_matrix P_R)
{
    struct ny_matrix U;
    double *at;

    at = ny_calloc(problem->ctx, NY_MEM_SOLVE, P_R.rows, P_R.cols * sizeof(double));
    if (!at) return NY_EBUDGET;
    U = ny_matrix(at, P_R.rows, P_R.cols);
    ny_basis_restore(basis);
    ny_gemm(1, basis->W, P_R, 0, U);
    for (size_t k = 0; k < P_R.cols; k++) {
        double constant = 0;

        for (size_t i = 0; i < P_R.rows; i++)
            constant += basis->c[i] * P_R.at[i * P_R.stride + k];
        if (sign_entry(basis, U, constant, k) >= 0) continue;
        for (size_t i = 0; i < P_R.rows; i++)
            P_R.at[i * P_R.stride + k] = -P_R.at[i * P_R.stride + k];
    }
    ny_free(problem->ctx, at);
    return NY_OK;
}

int ny_basis_finish(struct ny_basis *basis, struct ny_problem *problem,
                    struct ny_solution *solution)
{
    struct ny_matrix P = solution->P;
    size_t m = basis->m, p = solution->p;
    int err = fix_signs(basis, problem, ny_rows(P, 0, basis->r));

    if (err) return err;
    for (size_t k = 0; k < p; k++) {
        double sum = 0, offset = 0;

        for (size_t i = 0; i < basis->r; i++)
            sum += P.at[i * p + k];
        if (basis->r < m) { /* T·P_R: first row −1ᵀP_R, the others move down by one */
            for (size_t i = m - 1; i > 0; i--)
                P.at[i * p + k] = P.at[(i - 1) * p + k];
            P.at[k] = -sum;
        } else if (problem->normalisation == NY_CENTRED_LANDMARKS) { /* H·P_R */
            for (size_t i = 0; i < m; i++)
                P.at[i * p + k] -= sum / (double)m;
        }
        for (size_t i = 0; i < m; i++)
            offset += P.at[i * p + k] * basis->b[i];
        solution->q[k] = -offset;
    }
    solution->trace_of = problem->normalisation == NY_RAW ? "raw" : "centred";
    return NY_OK;
}

int ny_basis_empty(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_ENUMERIC,
                   "the kernel matrix of the landmarks is zero to rounding; choose another width "
                   "or other landmarks");
}

int ny_solution_new(struct ny_solution *solution, struct ny_problem *problem)
{
    struct ny_context *ctx = problem->ctx;
    size_t p = problem->components, m = problem->m;

    *solution = (struct ny_solution){.m = m, .p = p, .trace = NAN, .trace_approx = NAN};
    solution->P = ny_matrix(ny_calloc(ctx, NY_MEM_MODEL, m, p * sizeof(double)), m, p);
    solution->q = ny_calloc(ctx, NY_MEM_MODEL, p, sizeof(double));
    solution->values = ny_calloc(ctx, NY_MEM_MODEL, p, sizeof(double));
    if (!solution->P.at || !solution->q || !solution->values) return NY_EBUDGET;
    return NY_OK;
}
