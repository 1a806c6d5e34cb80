/* A few eigenpairs of a large symmetric matrix: what ny_eigen_top() does first where it pays. */
#ifndef NY_LINALG_EIGEN_FEW_H
#define NY_LINALG_EIGEN_FEW_H

#include "linalg/eigen.h"

/* Tells whether `count` of m eigenpairs are few enough for ny_eigen_few(). */
bool ny_eigen_is_few(size_t m, size_t count);
/* The V.rows largest eigenpairs of A (lower triangle, kept). *found: false where they did not
 * settle, or where some may be missing. */
int ny_eigen_few(struct ny_context *ctx, struct ny_matrix A, double *values, struct ny_matrix V,
                 bool *found);
/* Counts its workspace. */
void ny_eigen_few_count(struct ny_layout *l, size_t m, size_t count);
/* Returns the flops of ny_eigen_few() as a rule: of the products with A, and of keeping the basis
 * orthogonal. How many columns that has depends on the eigenvalues; of kernels of digits and of
 * normal rows, 2 to 100 pairs took 208 to 656 columns, about 230 + 3·count. */
double ny_eigen_few_flops(size_t m, size_t count);
/* Returns the flops where the pairs do not settle: of a basis with all the columns it may have. */
double ny_eigen_few_flops_most(size_t m, size_t count);

#endif
