/* The errors of pairs where the last product was made with the basis itself. */
#ifndef NY_WHOLE_RESIDUALS_H
#define NY_WHOLE_RESIDUALS_H

#include "whole/products_private.h"

/* Reports component_errors, ‖Aû − λû‖/λ of û = Qu, exactly: AQ is Y, all rows of it. Row k of U is
 * the k-th u, of unit length. */
int ny_report_residuals(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values);
/* Bytes that this charges for so many pairs. */
size_t ny_residuals_bytes(size_t pairs);

#endif
