/* A = QTQᵀ with T tridiagonal, by Householder's reflections: what dense eigenproblems begin with,
 * by all threads of the context's crew. Pieces are cut by the order of A alone, so that the number
 * of threads changes no bit; LAPACK's dsytrd gives other bits for each number of them. */
#ifndef NY_LINALG_TRIDIAGONAL_H
#define NY_LINALG_TRIDIAGONAL_H

#include "linalg/matrix.h"

/* Reduces the symmetric A (m × m, not transposed; finite, with a largest element between 2⁻⁴⁰¹ and
 * 2⁴⁰¹, or of zeros alone): T has the diagonal d (m) and e (m − 1) beside it. Q is left in the
 * lower triangle of A and in tau (m): row i of A is vᵢ, of i elements whose last one is 1, and
 * Q = H_{m−1} ⋯ H₁, Hᵢ = I − τᵢ vᵢ vᵢᵀ. The strict upper triangle is kept. 4/3 m³ flops, half of
 * them at the pace of memory. (Dongarra, Sorensen & Hammarling 1989: panels, of which only products
 * with vectors see all of A.) */
int ny_tridiagonal_reduce(struct ny_context *ctx, struct ny_matrix A, double *d, double *e,
                          double *tau);
/* Makes each row z of Z (packed or not, m columns) Qz: 2 m² flops a row. */
int ny_tridiagonal_apply(struct ny_context *ctx, struct ny_matrix A, const double *tau,
                         struct ny_matrix Z);
/* Counts the workspace of a reduction, and of applying it to `count` rows: some m²/64 doubles. */
void ny_tridiagonal_count(struct ny_layout *l, size_t m, size_t count);

#endif
