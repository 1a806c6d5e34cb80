/*
 * Measures what f32 tile Grams of a job lose, before pass 1, on a few of its units
 * (spectral/gram_noise.h). The units follow from the number of rows alone. The result stays in the
 * record, as "gram_noise", so that a resumed job decides the same way; stage solve compares it with
 * the certificate that came out.
 */
#ifndef NY_FIT_GRAM_NOISE_H
#define NY_FIT_GRAM_NOISE_H

#include "fit/fit.h"

/* Returns how many of so many units are measured. */
uint64_t ny_gram_noise_units(uint64_t units);
/* Measures if the Gram is to be f32 and the record has no measure yet; a loss of more than a
 * hundredth of what is foreseen to be left of the trace makes the Gram f64. The job is prepared. */
int ny_fit_measure_gram(struct ny_fit *fit);
/* Tells whether the measured loss is too much for this solution; gram[j]: g_jj of all rows. Sums
 * without a measurement count as too coarse. */
bool ny_fit_gram_blurs(const struct ny_fit *fit, const struct ny_solution *solution,
                       const double *gram);
/* Lays out the measurement: its tiles, and what it holds in the place of sums. */
void ny_fit_measure_lay(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m,
                        unsigned workers);

#endif
