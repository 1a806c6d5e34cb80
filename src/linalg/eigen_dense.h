/* Eigenpairs by a reduction of the whole matrix to a tridiagonal one: what ny_eigen_top() does
 * where few of them do not pay or do not settle, and what solves the small problems of eigen_few.h.
 */
#ifndef NY_LINALG_EIGEN_DENSE_H
#define NY_LINALG_EIGEN_DENSE_H

#include "linalg/eigen.h"

/* Finds the `count` largest eigenpairs, one at least, as ny_eigen_top() does, with A destroyed. */
int ny_eigen_dense(struct ny_context *ctx, struct ny_matrix A, size_t count, double *values,
                   struct ny_matrix V);
/* Finds `count` eigenpairs, one at least, likewise: those behind the `skip` largest. */
int ny_eigen_dense_behind(struct ny_context *ctx, struct ny_matrix A, size_t skip, size_t count,
                          double *values, struct ny_matrix V);
/* Counts their workspace for an m × m matrix. */
void ny_eigen_dense_count(struct ny_layout *l, size_t m, size_t count);

#endif
