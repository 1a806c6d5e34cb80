/* The end of the randomized solver of projected, the map and its certificate; and for plans. */
#include <math.h>

#include "spectral/krylov_private.h"
#include "spectral/methods.h"
#include "spectral/projected.h"

/* Computes tr K and Σλ of the pairs that are kept. If implicitly centred, also u = −W⁺c = −BBᵀc,
 * and tr K loses n cᵀW⁺c. */
static int certify(struct ny_krylov *krylov, struct ny_solution *solution)
{
    struct ny_context *ctx = krylov->problem.ctx;
    size_t r = krylov->basis.r;
    double *z = ny_calloc(ctx, NY_MEM_SOLVE, r, sizeof(double));
    struct ny_matrix Z = ny_matrix(z, krylov->rank, 1);

    if (!z) return NY_EBUDGET;
    solution->trace = krylov->basis.trace;
    solution->trace_approx = 0;
    for (size_t k = 0; k < solution->p; k++)
        solution->trace_approx += solution->values[k];
    if (krylov->problem.normalisation == NY_CENTRED_IMPLICIT) {
        ny_krylov_whiten(krylov, ny_matrix(krylov->basis.c, r, 1), Z);
        solution->trace -= (double)krylov->problem.n * ny_dot(z, z, krylov->rank);
        ny_krylov_unwhiten(krylov, Z, ny_matrix(solution->averages, r, 1));
        for (size_t i = 0; i < r; i++)
            solution->averages[i] = -solution->averages[i];
    }
    if (solution->trace_approx > solution->trace * (1 + 1e-6) || !isfinite(solution->trace_approx))
        solution->inaccurate = true;
    ny_free(ctx, z);
    return NY_OK;
}

/* Q times the eigenvectors of T, as B and the basis take it: P = R·B·Q·X·Λ^-½. */
static int map_of(struct ny_krylov *krylov, struct ny_matrix X, size_t kept,
                  struct ny_solution *solution)
{
    struct ny_context *ctx = krylov->problem.ctx;
    double *at;

    if (!kept) return NY_OK;
    at = ny_calloc(ctx, NY_MEM_SOLVE, krylov->rank, kept * sizeof(double));
    if (!at) return NY_EBUDGET;
    ny_gemm(1, ny_cols(krylov->Q, 0, X.cols), ny_t(ny_rows(X, 0, kept)), 0,
            ny_matrix(at, krylov->rank, kept));
    ny_krylov_unwhiten(krylov, ny_matrix(at, krylov->rank, kept),
                       ny_cols(ny_rows(solution->P, 0, krylov->basis.r), 0, kept));
    ny_free(ctx, at);
    return NY_OK;
}

int ny_krylov_solve(struct ny_krylov *krylov, struct ny_solution *solution)
{
    struct ny_problem *problem = &krylov->problem;
    size_t known = ny_krylov_before(krylov, krylov->step), pairs;
    double *values = NULL;
    struct ny_matrix X;
    int err = ny_solution_new(solution, problem);

    if (err) goto done;
    pairs = ny_smaller(problem->components, known);
    values = ny_calloc(problem->ctx, NY_MEM_SOLVE, pairs, (1 + known) * sizeof(double));
    err = NY_EBUDGET;
    if (!values) goto done;
    X = ny_matrix(values + pairs, pairs, known);
    err = ny_krylov_ritz(krylov, known, values, X);
    if (err) goto done;
    solution->rank_effective = krylov->counts.rank_effective;
    solution->negative = krylov->counts.negative;
    solution->negative_share = krylov->counts.negative_share;
    err = map_of(krylov, X, ny_projected_scale(problem, solution, values, X), solution);
    if (err == NY_OK) err = certify(krylov, solution);
    if (err == NY_OK) err = ny_basis_finish(&krylov->basis, problem, solution);
done:
    ny_free(problem->ctx, values);
    return err;
}

/* ---- for plans ------------------------------------------------------------------------------ */

static double flops(const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m;
    double M = (double)m, l = (double)ny_krylov_width(problem, m);
    double steps = ny_krylov_steps(problem, m);

    (void)k;
    return M * M * M / 3 + M * M * l * (2 * NY_KRYLOV_START_PRODUCTS + 2 * steps) +
           M * l * l * steps * (8 * steps + 8) + 6 * M * M * (double)problem->components;
}

/* Assumes B of a rank deficient W, which cannot be foreseen. Besides it, memory holds first the
 * search for it, then the state with the end of a step or of all. */
static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m, p = problem->components;
    size_t width = ny_krylov_width(problem, m), most = ny_krylov_most(problem, width, m);
    size_t rows = k ? k : m, pairs = ny_smaller(p, most);
    struct ny_krylov krylov;
    struct ny_layout_mark mark;

    ny_basis_count(l, problem);
    ny_krylov_lay(l, &krylov, m, width);
    ny_lay_matrix(l, NY_MEM_SOLVE, rows, m); /* B */
    ny_projected_whiten_count(l, m, rows);
    ny_lay(l, NY_MEM_SOLVE, 1, ny_krylov_state_bytes(problem, m));
    mark = ny_layout_mark(l);
    ny_lay_matrix(l, NY_MEM_SOLVE, most, width); /* what the next block has of those before */
    ny_orthonormalise_count(l, width);
    ny_layout_back(l, &mark);
    ny_lay_matrix(l, NY_MEM_SOLVE, pairs, 1 + most); /* Ritz pairs, and their residuals or P_R */
    ny_lay_matrix(l, NY_MEM_SOLVE, pairs, m);
    ny_lay_matrix(l, NY_MEM_SOLVE, most, most);
    ny_eigen_top_count(l, most, pairs);
}

const struct ny_method ny_method_krylov = {
    .name = "projected",
    .rule = "rpcholesky",
    .needs_gram = true,
    .implicit = true,
    .trace_below = true,
    .all_ranks = true,
    .krylov = true,
    .oversample = "30",
    .power = "4",
    .degrees = ny_projected_degrees,
    .flops = flops,
    .count = count,
};
