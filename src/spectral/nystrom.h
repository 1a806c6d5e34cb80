/* The pairs of Nyström's method, for those that begin with them. */
#ifndef NY_SPECTRAL_NYSTROM_H
#define NY_SPECTRAL_NYSTROM_H

#include "spectral/basis.h"
#include "spectral/methods.h"

/* W_R ≈ UΣUᵀ: the U.rows largest pairs, exact or randomized as problem->inner says; of those above
 * the cut, solution->rank_effective, λ̂ and P. Negative ones are counted. NY_ENUMERIC: none is
 * above it. */
int ny_nystrom_extend(struct ny_problem *problem, struct ny_basis *basis,
                      struct ny_solution *solution, double *sigma, struct ny_matrix U);
/* Tells whether k pairs of m landmarks come from the randomized solver. */
bool ny_nystrom_randomized(const struct ny_problem *problem, size_t m, size_t k);
/* Returns the flops of the small problem, for struct ny_method. */
double ny_nystrom_flops(size_t m, size_t p, size_t k, const struct ny_problem *problem);
/* Returns its bytes beyond W and the accumulator, for struct ny_method. */
size_t ny_nystrom_bytes(size_t m, size_t p, size_t k, const struct ny_problem *problem);

#endif
