/* Passes over a large square matrix by all threads of the context's crew. Their bits are those of
 * one thread. NY_EBUDGET, or an interrupt. */
#ifndef NY_LINALG_SQUARE_H
#define NY_LINALG_SQUARE_H

#include "linalg/matrix.h"

/* Does what ny_mirror_lower() does. */
int ny_square_mirror_lower(struct ny_context *ctx, struct ny_matrix A);
/* sums[i] = Σ_j a_ij, added up from left to right. */
int ny_square_sums(struct ny_context *ctx, struct ny_matrix A, double *sums);
/* *finite: whether all elements are. */
int ny_square_finite(struct ny_context *ctx, struct ny_matrix A, bool *finite);

#endif
