/*
 * The eigenpairs of K itself: Nyström's method with every row a landmark, in order. Then C = W = K,
 * averages over the landmarks are the true ones, Û = C U Σ⁺ = U, and new points are placed by the
 * Nyström formula over all stored ones. Only the pairs that are not asked for are left out of K.
 */
#include "spectral/nystrom.h"

/* K of features is semidefinite, and as exact as its rounding, of the size of the largest value:
 * what is smaller than a value can be told is not known to be 0. */
static void lose_small(const struct ny_problem *problem, struct ny_solution *solution)
{
    size_t known = 0;

    if (!problem->ranks) return;
    while (known < solution->rank_effective &&
           solution->values[known] > NY_REACH_SUMS * solution->values[0])
        known++;
    solution->rank_effective = known;
    for (size_t k = known; k < solution->p; k++)
        ny_solution_lose(solution, problem, k);
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    struct ny_problem whole = *problem;
    int err;

    whole.inner = NY_INNER_EXACT;
    whole.acc = NULL;
    err = ny_method_nystrom.solve(&whole, solution); /* leaves the normalised K in W */
    if (err) return err;
    solution->trace = solution->trace_approx = 0;
    for (size_t i = 0; i < problem->m; i++)
        solution->trace += problem->W.at[i * problem->W.stride + i];
    for (size_t k = 0; k < solution->p; k++)
        solution->trace_approx += solution->values[k];
    lose_small(problem, solution);
    return NY_OK;
}

static double flops(const struct ny_problem *problem, size_t k)
{
    struct ny_problem whole = *problem;

    whole.inner = NY_INNER_EXACT;
    return ny_nystrom_flops(&whole, k);
}

static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    struct ny_problem whole = *problem;

    whole.inner = NY_INNER_EXACT;
    ny_nystrom_count(l, &whole, k);
}

const struct ny_method ny_method_exact = {
    .name = "exact",
    .summary = "K itself (for any n with linear and cosine kernels and --map pca)",
    .options = "tol|max-passes",
    .rule = "all",
    .trace_below = true,
    .all_rows = true,
    .solve = solve,
    .flops = flops,
    .count = count,
};
