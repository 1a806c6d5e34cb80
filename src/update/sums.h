/* The sums of a result taken up by an update of it, for the stages. */
#ifndef NY_UPDATE_SUMS_H
#define NY_UPDATE_SUMS_H

#include "fit/sums.h"

/* A part of the result that is updated: landmarks, residuals, model or sums. */
int ny_update_get(const struct ny_fit *fit, const char *part, void *data, size_t bytes);

/* rows: m landmarks; NULL: those of before. */
int ny_update_match(struct ny_matched *matched, struct ny_fit *fit, const uint64_t *rows, size_t m);
void ny_matched_release(struct ny_matched *matched, struct ny_context *ctx);

/* Tell whether the earlier sums can be used: they exist, have the precision that is asked for now,
 * and no more than half of the landmarks joined since, which would cost as much as all of them.
 * Columns that join meet f32 tiles that were rounded about another shift. G loses no more by that
 * than by an f32 tile Gram, and it is allowed where that is (trap 1). */
bool ny_update_has_sums(const struct ny_fit *fit);
bool ny_update_keeps_sums(const struct ny_fit *fit, const struct ny_matched *matched);
/* Loads job->acc from them: moves columns to their places, and to the present shift. */
int ny_update_load_sums(struct ny_fit *fit, const struct ny_matched *matched);
/* Bytes of a worker's sums of a unit: over all columns, or in an update over up to half of them,
 * which joined. */
size_t ny_update_partial_bytes(const struct ny_fit_settings *settings, size_t m,
                               enum ny_gram_precision gram);

/* Stage accumulate of an update: adds the new rows to the sums that stay with the result, and the
 * columns of landmarks that joined; full, and frozen. */
extern const struct ny_stage ny_stage_add_full, ny_stage_add_frozen;
/* Stage solve of a frozen update, which measures how far new rows are from the span of the
 * landmarks. */
extern const struct ny_stage ny_stage_drift;

#endif
