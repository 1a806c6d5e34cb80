/*
 * Products of matrices of many rows and few columns, as the bases of iterations are, by all threads
 * of the context's crew. Each BLAS call has one thread.
 *
 * The rows are cut in chunks, which eight lanes share: lane i has the chunks i, i + 8, …, and the
 * sums of lanes are added in order, so that the number of threads changes no bit. Each lane has a
 * chunk where there are rows enough.
 */
#ifndef NY_LINALG_TALL_H
#define NY_LINALG_TALL_H

#include "linalg/matrix.h"

/* C (A.cols × B.cols, packed) = AᵀB. */
int ny_tall_inner(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix B, double *C);
/* The lower triangle of G (A.cols × A.cols, packed) = AᵀA; the upper one is unspecified. */
int ny_tall_gram(struct ny_context *ctx, struct ny_matrix A, double *G);
/* C −= A·B. */
int ny_tall_subtract(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix B,
                     struct ny_matrix C);
/* C = A·B, where C may be columns of A. */
int ny_tall_turn(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix B,
                 struct ny_matrix C);
/* X ← X·L⁻ᵀ, as ny_solve_rows() does. */
int ny_tall_solve_rows(struct ny_context *ctx, struct ny_matrix L, struct ny_matrix X);
/* Counts what ny_tall_inner() or ny_tall_gram() holds for so many columns of A and of B, and
 * ny_tall_turn() for so many of B. */
void ny_tall_inner_count(struct ny_layout *l, size_t a, size_t b);
void ny_tall_turn_count(struct ny_layout *l, size_t columns);

#endif
