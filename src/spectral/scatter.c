/*
 * Principal components of all columns: the eigenpairs of the d × d scatter matrix about the true
 * mean, X̃ᵀX̃ V = V Λ, and Û = X̃ V Λ^-½. As the tiles of C are the rows themselves, the scatter
 * matrix is the centred Gram ΦᵀΦ of pass 1, and P = V Λ^-½.
 */
#include "spectral/methods.h"

#include <math.h>

#include "spectral/basis.h"

/* Tells whether a value is exact to 1e-4 of itself. Rounding the entries of X̃ moves X̃v by up to
 * u·√(Σ v_j² g_jj), which is little where small values have columns of their own; that of the
 * matrix and of its pairs is of the size of the largest value. */
static bool is_known(const struct ny_problem *problem, const double *diagonal, const double *v,
                     double value, double largest)
{
    const double exact = 1e-4, unit = problem->f32_tiles ? 0x1p-24 : 0x1p-53;
    double moved = 0;

    if (!(value > NY_REACH_SUMS * largest)) return false;
    for (size_t j = 0; j < problem->m; j++)
        moved += v[j] * v[j] * diagonal[j];
    moved = unit * sqrt(moved / value);
    return moved * (2 + moved) <= exact;
}

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    size_t p = solution->p, d = problem->m, pairs = ny_smaller(p, d);
    struct ny_layout l = {.ctx = ctx};
    double *diagonal = ny_lay(&l, NY_MEM_SOLVE, d, sizeof(double));
    struct ny_matrix V;
    double *lambda = ny_lay_pairs(&l, pairs, d, &V);
    int err = l.err;

    if (err) goto done;
    for (size_t i = 0; i < d; i++)
        diagonal[i] = basis->G.at[i * basis->G.stride + i];
    err = ny_eigen_top(ctx, basis->G, pairs, lambda, V); /* X̃ᵀX̃ V = V Λ */
    if (err) goto done;
    solution->trace = basis->trace - (double)problem->n * ny_dot(basis->c, basis->c, d);
    for (size_t i = 0; i < d; i++) /* u = s/n: W = I */
        solution->averages[i] = -basis->c[i];
    solution->trace_approx = 0;
    for (size_t j = 0; j < pairs; j++) {
        if (!is_known(problem, diagonal, V.at + j * d, lambda[j], lambda[0])) {
            ny_solution_lose(solution, problem, j);
            continue;
        }
        solution->rank_effective++;
        solution->values[j] = lambda[j];
        solution->trace_approx += lambda[j];
        for (size_t i = 0; i < d; i++) /* P = V Λ^-½ */
            solution->P.at[i * p + j] = V.at[j * d + i] / sqrt(lambda[j]);
    }
    err =
        solution->rank_effective ? ny_basis_finish(basis, problem, solution) : ny_basis_empty(ctx);
done:
    ny_layout_free(&l);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    return ny_basis_solve(problem, solution, solve_in_basis);
}

static double flops(const struct ny_problem *problem, size_t k)
{
    double d = (double)problem->m;

    (void)k;
    return 4.0 / 3 * d * d * d + 4 * d * d * (double)problem->components;
}

static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    size_t d = problem->m, p = problem->components, pairs = ny_smaller(p, d);
    struct ny_matrix V;

    (void)k;
    ny_basis_count(l, problem);
    ny_lay(l, NY_MEM_SOLVE, d, sizeof(double)); /* the diagonal */
    ny_lay_pairs(l, pairs, d, &V);
    ny_eigen_top_count(l, d, pairs);
    ny_basis_finish_count(l, d, p);
}

const struct ny_method ny_method_scatter = {
    .name = "exact",
    .needs_gram = true,
    .gram_f64 = true,
    .implicit = true,
    .trace_below = true,
    .solve = solve,
    .flops = flops,
    .count = count,
};
