/*
 * The eigenpairs of K = ΦΦᵀ from those of ΦᵀΦ, d × d, which is known by its products alone
 * (spectral/restarted.h): a pass each, so that neither K nor ΦᵀΦ is ever there. It has no `solve`,
 * as no sums are left to solve for.
 */
#include "spectral/methods.h"

#include <math.h>

static double flops(const struct ny_problem *problem, size_t k)
{
    (void)k;
    return 2 * (double)problem->m * pow((double)problem->components, 2);
}

static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    (void)k;
    ny_lay_matrix(l, NY_MEM_SOLVE, problem->m, problem->components);
}

const struct ny_method ny_method_factored = {
    .name = "exact",
    .implicit = true,
    .trace_below = true,
    .flops = flops,
    .count = count,
};
