/* Cholesky factors of small problems, and what they reduce, by all threads of the context's crew.
 * Parts are cut by the order alone, so that the number of threads changes no bit, as that of
 * LAPACK's does. */
#ifndef NY_LINALG_FACTOR_H
#define NY_LINALG_FACTOR_H

#include "linalg/matrix.h"

/* Does what ny_cholesky() does. *positive: whether all pivots are; else A's lower triangle is
 * lost. */
int ny_factor(struct ny_context *ctx, struct ny_matrix A, bool *positive);
/* G ← L⁻¹ G L⁻ᵀ in place, G symmetric, lower triangle in and out. */
int ny_factor_reduce(struct ny_context *ctx, struct ny_matrix L, struct ny_matrix G);
/* Counts its workspace. */
void ny_factor_reduce_count(struct ny_layout *l, size_t m);

#endif
