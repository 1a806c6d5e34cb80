/*
 * The weights of an ensemble's experts (Kumar, Mohri & Talwalkar 2009, section 3.2).
 *
 * exponential: μ_r ∝ exp(−η e_r/min e), η = 1, e_r = ‖K_S − K̃_r,S‖_F on s = 20 sampled columns S.
 * ridge: the μ that minimises ‖K_S − Σ μ_r K̃_r,S‖_F² + λ‖μ‖², λ the best on s′ = 20 more columns.
 *
 * The sampled columns are the last ones of the landmarks, which belong to no expert. So the Gram of
 * pass 1 holds C_rᵀC_q, C_rᵀK_S and K_SᵀK_S: the errors are exact over all n rows, without another
 * pass and without a choice of rows, for 2 to 4 % more columns at m = 1,000. They are differences
 * of nearly equal sums, which is why tile Grams are f64 here. All is of the features Φ, that is of
 * the matrix that is decomposed; with implicit averages the errors are those about column means.
 */
#include <math.h>

#include "spectral/ensemble.h"

/* ‖K_S − Σ μ_r K̃_r,S‖_F² = norm − 2bᵀμ + μᵀAμ. */
struct quadratic {
    struct ny_matrix A; /* E × E: a_qr = ⟨K̃_q,S, K̃_r,S⟩ */
    double *b;          /* E: ⟨K_S, K̃_r,S⟩ */
    double norm;
};

static int quadratic_new(struct quadratic *form, struct ny_context *ctx, size_t experts)
{
    form->A = ny_matrix(ny_calloc(ctx, NY_MEM_SOLVE, experts, experts * sizeof(double)), experts,
                        experts);
    form->b = ny_calloc(ctx, NY_MEM_SOLVE, experts, sizeof(double));
    return form->A.at && form->b ? NY_OK : NY_EBUDGET;
}

static void quadratic_release(struct quadratic *form, struct ny_context *ctx)
{
    ny_free(ctx, form->A.at);
    ny_free(ctx, form->b);
}

static double value_of(const struct quadratic *form, const double *weight)
{
    double value = form->norm;

    for (size_t q = 0; q < form->A.rows; q++)
        value += weight[q] * (ny_dot(form->A.at + q * form->A.stride, weight, form->A.rows) -
                              2 * form->b[q]);
    return value;
}

/* Z_r = W_r⁺ W[D_r, S] of all experts, below one another: K̃_r,S = Φ_r Z_r. */
static void extend_samples(const struct ny_basis *basis, const struct ny_ensemble *ensemble,
                           size_t sample, struct ny_matrix Z, double *scratch)
{
    for (size_t r = 0; r < ensemble->experts; r++) {
        struct ny_matrix root = ny_ensemble_root(ensemble, r);
        struct ny_matrix Z_r = ny_rows(Z, ny_ensemble_first(ensemble, r), root.cols);
        struct ny_matrix W_rS = ny_cols(
            ny_rows(basis->W, ny_ensemble_first(ensemble, r), root.cols), sample, Z.cols);
        struct ny_matrix whitened = ny_matrix(scratch, root.rows, Z.cols);

        ny_gemm(1, root, W_rS, 0, whitened);
        ny_gemm(1, ny_t(root), whitened, 0, Z_r);
    }
}

/* The quadratic form of the NY_ENSEMBLE_SAMPLES columns from `sample` on. */
static int measure(const struct ny_problem *problem, const struct ny_basis *basis,
                   const struct ny_ensemble *ensemble, size_t sample, struct quadratic *form)
{
    enum { S = NY_ENSEMBLE_SAMPLES };
    struct ny_context *ctx = problem->ctx;
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, (2 * basis->r + ensemble->width) * S * sizeof(double));
    struct ny_matrix Z = ny_matrix(at, basis->r, S), Y;

    if (!at) return NY_EBUDGET;
    Y = ny_matrix(at + basis->r * S, basis->r, S);
    extend_samples(basis, ensemble, sample, Z, at + 2 * basis->r * S);
    form->norm = 0;
    for (size_t j = sample; j < sample + S; j++)
        form->norm += basis->G.at[j * basis->G.stride + j];
    for (size_t r = 0; r < ensemble->experts; r++) {
        size_t first = ny_ensemble_first(ensemble, r);
        size_t count = ny_ensemble_first(ensemble, r + 1) - first;

        ny_gemm(1, ny_cols(basis->G, first, count), ny_rows(Z, first, count), 0, Y); /* ΦᵀΦ_r Z_r */
        form->b[r] = 0;
        for (size_t j = 0; j < S; j++)
            form->b[r] += Y.at[(sample + j) * S + j];
        for (size_t q = 0; q < ensemble->experts; q++) {
            size_t begin = ny_ensemble_first(ensemble, q), end = ny_ensemble_first(ensemble, q + 1);

            form->A.at[q * form->A.stride + r] =
                ny_dot(Z.at + begin * S, Y.at + begin * S, (end - begin) * S);
        }
    }
    ny_free(ctx, at);
    return NY_OK;
}

static void weigh_uniformly(struct ny_ensemble *ensemble)
{
    for (size_t r = 0; r < ensemble->experts; r++)
        ensemble->weight[r] = 1 / (double)ensemble->experts;
}

/* μ_r ∝ exp(−e_r/min e); errors that are rounding alone count as equal. */
static void weigh_exponentially(const struct quadratic *form, struct ny_ensemble *ensemble)
{
    const double rounding = 0x1p-40;
    double least = INFINITY, sum = 0;

    for (size_t r = 0; r < ensemble->experts; r++) {
        double square = form->norm - 2 * form->b[r] + form->A.at[r * form->A.stride + r];

        ensemble->weight[r] = sqrt(fmax(square, rounding * form->norm));
        least = fmin(least, ensemble->weight[r]);
    }
    if (!(least > 0)) {
        weigh_uniformly(ensemble);
        return;
    }
    for (size_t r = 0; r < ensemble->experts; r++) {
        ensemble->weight[r] = exp(1 - ensemble->weight[r] / least);
        sum += ensemble->weight[r];
    }
    for (size_t r = 0; r < ensemble->experts; r++)
        ensemble->weight[r] /= sum;
}

/* μ = (A + λI)⁻¹b; false where A + λI is not positive definite to rounding. */
static bool regress(const struct quadratic *form, double ridge, struct ny_matrix L, double *weight)
{
    for (size_t q = 0; q < L.rows; q++) {
        for (size_t r = 0; r <= q; r++)
            L.at[q * L.stride + r] = form->A.at[q * form->A.stride + r];
        L.at[q * L.stride + q] += ridge;
        weight[q] = form->b[q];
    }
    if (ny_cholesky(L) != 0) return false;
    ny_solve_lower(L, ny_matrix(weight, L.rows, 1));
    ny_solve_lower_t(L, ny_matrix(weight, L.rows, 1));
    return true;
}

/* λ from 1e-8 to 1 times the mean of A's diagonal; the one whose μ is best on other columns. */
static int weigh_by_ridge(struct ny_context *ctx, const struct quadratic *fit,
                          const struct quadratic *choice, struct ny_ensemble *ensemble)
{
    enum { STEPS = 9 };
    size_t E = ensemble->experts;
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, (E + 1) * E * sizeof(double)), best = INFINITY;
    double mean = 0;

    if (!at) return NY_EBUDGET;
    weigh_uniformly(ensemble); /* where K_S is zero */
    for (size_t r = 0; r < E; r++)
        mean += fit->A.at[r * fit->A.stride + r] / (double)E;
    for (int step = 1; step <= STEPS; step++) {
        double *weight = at + E * E, error;

        if (!regress(fit, mean * pow(10, step - STEPS), ny_matrix(at, E, E), weight)) continue;
        error = value_of(choice, weight);
        if (!(error < best)) continue;
        best = error;
        for (size_t r = 0; r < E; r++)
            ensemble->weight[r] = weight[r];
    }
    ny_free(ctx, at);
    return NY_OK;
}

int ny_ensemble_weigh(const struct ny_problem *problem, const struct ny_basis *basis,
                      struct ny_ensemble *ensemble)
{
    struct ny_context *ctx = problem->ctx;
    struct quadratic fit = {0}, choice = {0};
    int err;

    weigh_uniformly(ensemble);
    if (problem->weights == NY_WEIGHTS_UNIFORM) return NY_OK;
    err = quadratic_new(&fit, ctx, ensemble->experts);
    if (!err) err = quadratic_new(&choice, ctx, ensemble->experts);
    if (!err) err = measure(problem, basis, ensemble, ensemble->columns, &fit);
    if (err) goto done;
    if (problem->weights == NY_WEIGHTS_EXPONENTIAL) {
        weigh_exponentially(&fit, ensemble);
        goto done;
    }
    err = measure(problem, basis, ensemble, ensemble->columns + NY_ENSEMBLE_SAMPLES, &choice);
    if (!err) err = weigh_by_ridge(ctx, &fit, &choice, ensemble);
done:
    quadratic_release(&fit, ctx);
    quadratic_release(&choice, ctx);
    return err;
}

size_t ny_ensemble_weigh_bytes(const struct ny_ensemble *ensemble)
{
    size_t E = ensemble->experts, m = ensemble->columns + ensemble->samples;

    if (!ensemble->samples) return 0;
    return (3 * E * E + 3 * E + (2 * m + ensemble->width) * NY_ENSEMBLE_SAMPLES) * sizeof(double);
}
