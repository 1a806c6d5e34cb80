/*
 * An update: a finished result takes in the rows that were appended since it was made.
 *
 *    full     gives what a fit from scratch with the result's γ and geometry gives, to rounding.
 *             It runs the stages of a fit; all rows are projected.
 *    frozen   places the new rows with the model as it is and appends them to the embedding; the
 *             sums take them in, for a later full.
 *
 * An update costs what is new. Whatever depends on sums over rows is kept with the result: the
 * image of the accumulator (G packed, s, t), the residual bounds of greedy selection, and the
 * shift a in the model. So the stages of full begin with what there is:
 *
 *    select      `greedy --tolerance` makes its dictionary again from the landmarks, and looks
 *                at the rows that are new (select/greedy_extend.c)
 *    accumulate  adds the new rows, and over the other rows only the columns of landmarks that
 *                joined, while columns of those that were pushed out go
 *                (spectral/accumulator_joined.c); the sums follow the shift by which a has grown,
 *                G − δsᵀ − sδᵀ + nδδᵀ (update/add.c)
 *    solve       solves the small problem anew
 *    project     projects all rows, but for `nystrom` over the same landmarks, whose rows do not
 *                depend on n: those that are there stay
 *
 * Two kinds of result begin anew: those of divided kernels, whose every degree changes, and those
 * of rules that look at all rows. Frozen only adds, to the sums and, in place, to the embedding,
 * behind the rows that the visible record speaks of.
 *
 * An update is a job like any other, with a record and parts of its own beside those of the
 * result: its record is part "update" until the last commit, one transaction, puts it in the place
 * of "job", and what it makes anew goes to parts of the next generation, whose names have the
 * number of the update ("model@2"). So readers see the old result, whole, until the new one is; a
 * killed update goes on with the same command, and one that would fail again in the same way is
 * forgotten. Parts that readers of the old record may still read stay for one update more, as
 * "stale", and go with the next.
 *
 * Field "update" of such a record:
 *
 *    mode              full or frozen
 *    command           the command line that began it, null for a call of the library
 *    rows, landmarks   n and m of the result that is updated
 *    selected          its rows that selection has looked at: fewer after a frozen update
 *    parts             where it has its landmarks, residuals and model; and its sums
 *    sums              as in the record, null where it has none that are usable
 *    checkpoint        its last: the sums of stage project
 *    same_landmarks    what stage select found
 */
#ifndef NY_UPDATE_UPDATE_H
#define NY_UPDATE_UPDATE_H

#include "fit/fit.h"

struct ny_plan;

/* NY_EUSAGE with the reason where a result of these settings cannot be
 * updated in this mode. */
int ny_update_allowed(struct ny_context *ctx, const struct ny_fit_settings *settings,
                      enum ny_update_mode mode, const char *name, struct ny_record result);
/* Stage accumulate of an update: adds the new rows to the sums that stay with the result, and the
 * columns of landmarks that joined; full, and frozen. */
extern const struct ny_stage ny_stage_add_full, ny_stage_add_frozen;
/* Stage solve of a frozen update, which measures how far new rows are from the span of the
 * landmarks. */
extern const struct ny_stage ny_stage_drift;

/* Makes of the plan of a fit that of the update, and marks the parts of it that look at new rows
 * alone. */
void ny_update_plan(struct ny_plan *plan, struct ny_context *ctx,
                    const struct ny_fit_settings *settings, struct ny_record result, uint64_t n,
                    enum ny_update_mode mode);
/* Returns how many rows a frozen update of so many new ones measures, with those of the fit, at
 * most. */
double ny_update_drift_rows(double rows);
#endif
