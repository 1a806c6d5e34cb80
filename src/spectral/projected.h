/* Shared by the two solvers of the projected problem (projected.c; krylov.c). */
#ifndef NY_SPECTRAL_PROJECTED_H
#define NY_SPECTRAL_PROJECTED_H

#include "spectral/basis.h"

/* Deflates a large W_R that has few eigenvalues below the cut (deflate.c): takes their eigenvectors
 * out of the problem and leaves L of the new W_R in place of its lower triangle. *count: how many;
 * 0 if W_R is small or indefinite, or they are many, and then all but that triangle is as it
 * was. */
int ny_deflate(struct ny_problem *problem, struct ny_basis *basis, size_t *count);
/* Counts what it holds while it runs. */
void ny_deflate_count(struct ny_layout *l, size_t m);

/* Puts L of W_R in place of its lower triangle, if W_R is safely of full rank. */
int ny_projected_factorise(const struct ny_problem *problem, struct ny_basis *basis,
                           bool *full_rank);
/* Computes B = Σ_r^-½U_rᵀ, as rows, of the pairs of W_R = UΣUᵀ above the cut. */
int ny_projected_whiten(struct ny_problem *problem, struct ny_basis *basis,
                        struct ny_solution *solution, struct ny_matrix *B);
/* Counts what it holds while it runs. */
void ny_projected_whiten_count(struct ny_layout *l, size_t m, size_t rank);
/* Sets λ̂ of the eigenvectors (rows of V) that are above the noise, which become v_j λ_j^-½.
 * Returns how many. */
size_t ny_projected_scale(const struct ny_problem *problem, struct ny_solution *solution,
                          const double *lambda, struct ny_matrix V);
/* Computes v = W⁺s. Then d = C v are the degrees of K̃ = C W⁺ Cᵀ, since K̃1 = C W⁺ s
 * (Proposition 2). */
int ny_projected_degrees(struct ny_problem *problem, const double *s, double *v);

#endif
