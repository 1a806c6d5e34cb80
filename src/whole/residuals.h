/* The errors of the eigenpairs (λ_k, û_k) that methods on all of K find: ‖Aû − λû‖/λ of û = QUᵀ. */
#ifndef NY_WHOLE_RESIDUALS_H
#define NY_WHOLE_RESIDUALS_H

#include "whole/products_private.h"

/* Reports component_errors. Row k of U is eigenvector k of B, and `values` are their eigenvalues.
 * If Y is AQ, r = Aû − λû is known exactly. Else R random columns ω tell its size, of independent
 * standard normal numbers, with their products Aω: z = (Aω)ᵀû − λωᵀû = ωᵀr has variance ‖r‖².
 *
 *    ‖r‖² ≈ Σ z²/R          with relative standard error √(2/R)
 *    ûᵀAû ≈ λ + Σ (ωᵀû) z/R
 *
 * These are reported as those of check rows (fit/checks.h). */
int ny_report_residuals(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values);
/* Counts what it holds while it runs. */
void ny_residuals_count(struct ny_layout *l, const struct ny_products *shape, size_t pairs);

#endif
