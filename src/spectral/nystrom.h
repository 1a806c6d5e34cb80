/* The pairs of Nyström's method, for those that begin with them. */
#ifndef NY_SPECTRAL_NYSTROM_H
#define NY_SPECTRAL_NYSTROM_H

#include "spectral/basis.h"
#include "spectral/methods.h"

/* Finds the U.rows largest pairs of W_R ≈ UΣUᵀ, exactly or randomized as problem->inner says. Sets
 * λ̂ and P from those above the cut, whose number is solution->rank_effective, and counts negative
 * ones. NY_ENUMERIC: none is above the cut. */
int ny_nystrom_extend(struct ny_problem *problem, struct ny_basis *basis,
                      struct ny_solution *solution, double *sigma, struct ny_matrix U);
/* Tells whether k pairs of m landmarks come from the randomized solver. */
bool ny_nystrom_randomized(const struct ny_problem *problem, size_t m, size_t k);
/* Returns the flops of the small problem, for struct ny_method. */
double ny_nystrom_flops(const struct ny_problem *problem, size_t k);
/* Counts the small problem, for struct ny_method. */
void ny_nystrom_count(struct ny_layout *l, const struct ny_problem *problem, size_t k);
/* Counts what ny_nystrom_extend() holds while it runs. */
void ny_nystrom_extend_count(struct ny_layout *l, const struct ny_problem *problem, size_t k);

#endif
