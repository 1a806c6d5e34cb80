/*
 * The eigenpairs of K = ΦΦᵀ from those of ΦᵀΦ, d × d, which is known by its products alone
 * (spectral/restarted.h): a pass each, so that neither K nor ΦᵀΦ is ever there. It has no `solve`,
 * as no sums are left to solve for.
 */
#include "spectral/methods.h"

static double flops(size_t m, size_t p, size_t k, const struct ny_problem *problem)
{
    (void)k;
    (void)problem;
    return 2 * (double)m * (double)p * (double)p;
}

static size_t bytes(size_t m, size_t p, size_t k, const struct ny_problem *problem)
{
    (void)k;
    (void)problem;
    return m * p * sizeof(double);
}

const struct ny_method ny_method_factored = {
    .name = "exact",
    .implicit = true,
    .trace_below = true,
    .flops = flops,
    .bytes = bytes,
};
