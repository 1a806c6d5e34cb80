/* Figures of a result that follow from others, so that records of any version have them right. */
#ifndef NY_RECORDS_FIGURES_H
#define NY_RECORDS_FIGURES_H

#include <jansson.h>

#include "model/model.h"

/* Sets in the report of a record, once the figures that they follow from are known:
 *
 *   variance_kept   the share of `trace` that the components hold: the sum of their eigenvalues,
 *                   without that of a trivial pair, over it, which has that too; null where the
 *                   trace is, as of `column` and other methods that do not know it, and where
 *                   eigenvalues add up to more, as negative ones are left out of a kernel that
 *                   has some
 *   trace_error     0 of an exact decomposition of a kernel matrix: nothing was approximated.
 *                   Version 1.0 wrote the share outside the components. */
void ny_figures_derive(json_t *record);

/* Returns a figure of all pairs of a model as an array, null where it is not known; null alone
 * where none is. NULL: no memory. */
json_t *ny_model_found(const struct ny_model *model, enum ny_found which);

#endif
