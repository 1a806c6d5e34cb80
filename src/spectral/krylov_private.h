/* Shared by the files of the randomized solver of projected. */
#ifndef NY_SPECTRAL_KRYLOV_PRIVATE_H
#define NY_SPECTRAL_KRYLOV_PRIVATE_H

#include "spectral/krylov.h"

/* Products with the landmarks' own matrix before the first pass: each costs 2m²l, and a pass
 * 2nm(d + 2l). */
enum { NY_KRYLOV_START_PRODUCTS = 3 };

/* Lays out the directions, their products, and the sums of the first pass. */
void ny_krylov_lay(struct ny_layout *l, struct ny_krylov *krylov, size_t m, size_t width);
/* Returns the columns of all blocks, where W has `rank` directions. */
size_t ny_krylov_most(const struct ny_problem *problem, size_t width, size_t rank);
/* Returns the columns of the blocks before `step`. */
size_t ny_krylov_before(const struct ny_krylov *krylov, unsigned step);
/* Computes Y ← BᵀX, by a solve with L or with the rows of B. */
void ny_krylov_whiten(const struct ny_krylov *krylov, struct ny_matrix X, struct ny_matrix Y);
/* Computes X ← BV, the way back to the basis. */
void ny_krylov_unwhiten(const struct ny_krylov *krylov, struct ny_matrix V, struct ny_matrix X);
/* Finds the Ritz pairs of the first `known` columns of Q: values, and vectors as rows of X. */
int ny_krylov_ritz(const struct ny_krylov *krylov, size_t known, double *values,
                   struct ny_matrix X);

#endif
