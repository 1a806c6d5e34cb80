/* The smallest eigenvalue of a positive definite matrix, which says whether it is of full rank. */
#ifndef NY_SPECTRAL_SMALLEST_H
#define NY_SPECTRAL_SMALLEST_H

#include "linalg/matrix.h"

/* Computes the smallest eigenvalue of LLᵀ by inverse iteration, which comes to it from above. */
int ny_smallest_eigenvalue(struct ny_context *ctx, struct ny_matrix L, double *value);
/* A matrix is safely of full rank if its smallest eigenvalue is above so many times the cut. */
#define NY_CUT_MARGIN 4

#endif
