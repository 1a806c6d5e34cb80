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

struct room {
    struct quadratic fit, choice;
    double *samples;    /* r × S, twice, and width × S */
    double *regression; /* E × E, and E */
};

static void lay_quadratic(struct ny_layout *l, struct quadratic *form, size_t experts)
{
    double *at = ny_lay(l, NY_MEM_SOLVE, experts, experts * sizeof(double));

    form->A = ny_matrix(at, experts, experts);
    form->b = ny_lay(l, NY_MEM_SOLVE, experts, sizeof(double));
}

static void lay(struct ny_layout *l, struct room *room, const struct ny_ensemble *ensemble,
                size_t r)
{
    const size_t sample = NY_ENSEMBLE_SAMPLES * sizeof(double), E = ensemble->experts;

    lay_quadratic(l, &room->fit, E);
    lay_quadratic(l, &room->choice, E);
    room->samples = ny_lay(l, NY_MEM_SOLVE, 2 * r + ensemble->width, sample);
    room->regression = ny_lay(l, NY_MEM_SOLVE, E + 1, E * sizeof(double));
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
static void measure(const struct ny_basis *basis, const struct ny_ensemble *ensemble, size_t sample,
                    struct room *room, struct quadratic *form)
{
    enum { S = NY_ENSEMBLE_SAMPLES };
    struct ny_matrix Z = ny_matrix(room->samples, basis->r, S);
    struct ny_matrix Y = ny_matrix(room->samples + basis->r * S, basis->r, S);

    extend_samples(basis, ensemble, sample, Z, Y.at + basis->r * S);
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
static void weigh_by_ridge(const struct room *room, struct ny_ensemble *ensemble)
{
    enum { STEPS = 9 };
    const struct quadratic *fit = &room->fit;
    size_t E = ensemble->experts;
    double *weight = room->regression + E * E, mean = 0, best = INFINITY;

    weigh_uniformly(ensemble); /* where K_S is zero */
    for (size_t r = 0; r < E; r++)
        mean += fit->A.at[r * fit->A.stride + r] / (double)E;
    for (int step = 1; step <= STEPS; step++) {
        struct ny_matrix L = ny_matrix(room->regression, E, E);
        double error;

        if (!regress(fit, mean * pow(10, step - STEPS), L, weight)) continue;
        error = value_of(&room->choice, weight);
        if (!(error < best)) continue;
        best = error;
        for (size_t r = 0; r < E; r++)
            ensemble->weight[r] = weight[r];
    }
}

int ny_ensemble_weigh(const struct ny_problem *problem, const struct ny_basis *basis,
                      struct ny_ensemble *ensemble)
{
    struct ny_layout l = {.ctx = problem->ctx};
    struct room room;

    weigh_uniformly(ensemble);
    if (problem->weights == NY_WEIGHTS_UNIFORM) return NY_OK;
    lay(&l, &room, ensemble, basis->r);
    if (l.err) return ny_layout_end(&l);
    measure(basis, ensemble, ensemble->columns, &room, &room.fit);
    if (problem->weights == NY_WEIGHTS_EXPONENTIAL) {
        weigh_exponentially(&room.fit, ensemble);
    } else {
        measure(basis, ensemble, ensemble->columns + NY_ENSEMBLE_SAMPLES, &room, &room.choice);
        weigh_by_ridge(&room, ensemble);
    }
    return ny_layout_end(&l);
}

void ny_ensemble_weigh_count(struct ny_layout *l, const struct ny_ensemble *ensemble)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct room room;

    if (ensemble->samples) lay(l, &room, ensemble, ensemble->columns + ensemble->samples);
    ny_layout_back(l, &mark);
}
