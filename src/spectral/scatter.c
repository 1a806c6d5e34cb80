/*
 * Principal components of all columns: the eigenpairs of the d × d scatter matrix about the true
 * mean, X̃ᵀX̃ V = V Λ, and Û = X̃ V Λ^-½. As the tiles of C are the rows themselves, the scatter
 * matrix is the centred Gram ΦᵀΦ of pass 1, and P = V Λ^-½.
 */
#include "spectral/methods.h"

#include <math.h>

#include "spectral/basis.h"

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    double noise = (double)problem->m * (problem->f32_tiles ? 0x1p-48 : 0x1p-53);
    size_t p = solution->p, d = problem->m, pairs = ny_smaller(p, d);
    double *lambda = ny_calloc(ctx, NY_MEM_SOLVE, pairs, (d + 1) * sizeof(double));
    struct ny_matrix V;
    int err = NY_EBUDGET;

    if (!lambda) goto done;
    V = ny_matrix(lambda + pairs, pairs, d);
    err = ny_eigen_top(ctx, basis->G, pairs, lambda, V);                /* X̃ᵀX̃ V = V Λ */
    if (err) goto done;
    solution->trace = basis->trace - (double)problem->n * ny_dot(basis->c, basis->c, d);
    for (size_t i = 0; i < d; i++) /* u = s/n: W = I */
        solution->averages[i] = -basis->c[i];
    solution->trace_approx = 0;
    for (size_t j = 0; j < pairs && lambda[j] > noise * lambda[0]; j++) {
        solution->rank_effective = j + 1;
        solution->values[j] = lambda[j];
        solution->trace_approx += lambda[j];
        for (size_t i = 0; i < d; i++)                                  /* P = V Λ^-½ */
            solution->P.at[i * p + j] = V.at[j * d + i] / sqrt(lambda[j]);
    }
    err = solution->rank_effective ? ny_basis_finish(basis, problem, solution)
                                   : ny_basis_empty(ctx);
done:
    ny_free(ctx, lambda);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    return ny_basis_solve(problem, solution, solve_in_basis);
}

static double flops(size_t m, size_t p, size_t k, const struct ny_problem *problem)
{
    double d = (double)m;

    (void)k;
    (void)problem;
    return 4.0 / 3 * d * d * d + 4 * d * d * (double)p;
}

static size_t bytes(size_t m, size_t p, size_t k, const struct ny_problem *problem)
{
    size_t inner = ny_eigen_top_bytes(m, ny_smaller(p, m)), signs = m * p * sizeof(double);

    (void)k;
    (void)problem;
    return (m + 1) * p * sizeof(double) + (inner > signs ? inner : signs) + 4 * m * sizeof(double);
}

const struct ny_method ny_method_scatter = {
    .name = "exact",
    .summary = "principal components from the scatter matrix of all columns; two passes",
    .needs_gram = true,
    .gram_f64 = true,
    .implicit = true,
    .trace_below = true,
    .solve = solve,
    .flops = flops,
    .bytes = bytes,
};
