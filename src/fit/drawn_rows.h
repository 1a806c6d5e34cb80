/* Rows that are drawn, and columns of K of them. */
#ifndef NY_FIT_DRAWN_ROWS_H
#define NY_FIT_DRAWN_ROWS_H

#include "base/random.h"
#include "fit/fit.h"

/* Draws `count` rows of the fit uniformly, without replacement: those of smallest hash. Charges a
 * struct ny_draw for each meanwhile. */
int ny_draw_rows(const struct ny_fit *fit, uint64_t stream, size_t count, uint64_t *rows);
/* Makes columns of the rows of the fit listed, which are read in the type that the job has. */
int ny_fit_gather_columns(struct ny_fit *fit, const struct ny_columns_spec *spec,
                          const uint64_t *rows, size_t count, struct ny_columns **columns);

#endif
