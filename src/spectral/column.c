/*
 * Column sampling: λ̂ = √(n/m) Σ_C, Û = C V_k Σ_C⁺ with C = ÛΣ_CVᵀ from G = CᵀC = V Σ_C² Vᵀ
 * (Talwalkar, Kumar & Rowley 2008, eqs. 4 and 8).
 */
#include "spectral/methods.h"

#include <math.h>

#include "spectral/basis.h"

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    double n = (double)problem->n, m = (double)problem->m;
    double noise = problem->f32_tiles ? fmax(m * 0x1p-53, 0x1p-44) : m * 0x1p-53;
    size_t p = solution->p, k = p < basis->r ? p : basis->r;
    double *squares = ny_calloc(ctx, NY_MEM_SOLVE, k, sizeof(double));
    double *at = ny_calloc(ctx, NY_MEM_SOLVE, k, basis->r * sizeof(double));
    struct ny_matrix V = ny_matrix(at, k, basis->r);
    int err = NY_EBUDGET;

    if (!squares || !at) goto done;
    err = ny_eigen_top(ctx, basis->G, k, squares, V);                  /* G = V Σ_C² Vᵀ */
    if (err) goto done;
    for (size_t j = 0; j < k && squares[j] > noise * squares[0]; j++) {
        double sigma = sqrt(squares[j]);

        solution->rank_effective = j + 1;
        solution->values[j] = sqrt(n / m) * sigma;                      /* λ̂ = √(n/m) σ */
        for (size_t i = 0; i < basis->r; i++)                           /* P = V Σ_C⁺ */
            solution->P.at[i * p + j] = V.at[j * basis->r + i] / sigma;
    }
    if (k > 0 && !solution->rank_effective) err = ny_basis_empty(ctx);
    if (!err) err = ny_basis_finish(basis, problem, solution);
done:
    ny_free(ctx, at);
    ny_free(ctx, squares);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    struct ny_basis basis = {0};
    int err = ny_solution_new(solution, problem);

    if (err == NY_OK) err = ny_basis_new(&basis, problem);
    if (err == NY_OK) err = solve_in_basis(problem, &basis, solution);
    ny_basis_release(&basis, problem->ctx);
    return err;
}

static double flops(size_t m, size_t p, size_t k, const struct ny_problem *problem)
{
    double M = (double)m, P = (double)p;

    (void)k;
    (void)problem;
    return 4.0 / 3 * M * M * M + 4 * M * M * P;
}

static size_t bytes(size_t m, size_t p, size_t k, const struct ny_problem *problem)
{
    size_t inner = ny_eigen_top_bytes(m, p);
    size_t signs = m * p * sizeof(double);

    (void)k;
    (void)problem;
    return (m + 1) * p * sizeof(double) + (inner > signs ? inner : signs) + 4 * m * sizeof(double);
}

const struct ny_method ny_method_column = {
    .name = "column",
    .summary = "singular vectors of the sampled columns",
    .needs_gram = true,
    .gram_f64 = true, /* √ of what f32 leaves of G's small eigenvalues would be 1e-4 of the top */
    .uniform_only = true,
    .solve = solve,
    .flops = flops,
    .bytes = bytes,
};
