/* Sums that stay with a result, which an update of it takes up; and the stages of updates. */
#ifndef NY_UPDATE_SUMS_H
#define NY_UPDATE_SUMS_H

#include "fit/sums.h"

/* Tells whether the earlier sums can be used: they exist, have the precision that is asked for now,
 * and no more than half of the landmarks joined since, which would cost as much as all of them.
 * Columns that join meet f32 tiles that were rounded about another shift. G loses no more by that
 * than by an f32 tile Gram, and it is allowed where that is (spectral/gram.c). */
bool ny_update_keeps_sums(const struct ny_fit *fit, const struct ny_matched *matched);
/* Loads fit->acc from them: moves columns to their places, and to the present shift. */
int ny_update_load_sums(struct ny_fit *fit, const struct ny_matched *matched);

/* Stage accumulate of an update: adds the new rows to the sums that stay with the result, and the
 * columns of landmarks that joined; full, and frozen. */
extern const struct ny_stage ny_stage_add_full, ny_stage_add_frozen;
/* Stage solve of a frozen update, which measures how far new rows are from the span of the
 * landmarks. */
extern const struct ny_stage ny_stage_drift;

#endif
