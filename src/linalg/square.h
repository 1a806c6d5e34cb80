/* Passes over a large matrix by all threads of the context's crew. Their bits are those of one
 * thread. NY_EBUDGET, or an interrupt. */
#ifndef NY_LINALG_SQUARE_H
#define NY_LINALG_SQUARE_H

#include "linalg/matrix.h"

/* Copy the lower triangle to the upper, and the upper to the lower. */
int ny_square_mirror_lower(struct ny_context *ctx, struct ny_matrix A);
int ny_square_mirror_upper(struct ny_context *ctx, struct ny_matrix A);
/* sums[i] = Σ_j a_ij, added up from left to right. */
int ny_square_sums(struct ny_context *ctx, struct ny_matrix A, double *sums);
/* A ← HAH of a symmetric matrix with both triangles, H = I − 11ᵀ/m: rows and columns lose their
 * means, and the mean of all is added. mean: room for m numbers, of which the means of A's rows are
 * left. */
int ny_square_centre(struct ny_context *ctx, struct ny_matrix A, double *mean);
/* *finite: whether all elements are. */
int ny_square_finite(struct ny_context *ctx, struct ny_matrix A, bool *finite);
/* y ← αAx; A of any shape. */
int ny_gemv_lanes(struct ny_context *ctx, double alpha, struct ny_matrix A, const double *x,
                  double *y);
/* lengths[i] = ‖row i‖₂, which overflows only where the norm itself does; A of any shape, not
 * transposed. */
int ny_lengths_lanes(struct ny_context *ctx, struct ny_matrix A, double *lengths);

#endif
