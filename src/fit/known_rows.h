/* Rows of a result that stage solve has found already, where all of K was decomposed. */
#ifndef NY_FIT_KNOWN_ROWS_H
#define NY_FIT_KNOWN_ROWS_H

#include "fit/fit.h"
#include "model/model.h"

/* Tells whether rows of a fit with m landmarks are known: every row is a landmark, and K P = P Λ,
 * so that no kernel value is needed again. A divided kernel needs each row's degree, and a probe
 * its average, which a pass finds. */
bool ny_rows_are_known(const struct ny_fit_settings *settings, const struct ny_rows_info *points,
                       size_t m);

/* Computes rows first … first+count−1 of Y = P Λ, for λ the p eigenvalues: packed in `out`, float
 * or double as the model is. Adds Σ‖y‖² to *squares. NY_ENUMERIC when one is not finite. */
int ny_known_rows(const struct ny_model *model, const double *values, uint64_t first, size_t count,
                  void *out, double *squares);

#endif
