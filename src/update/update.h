/*
 * An update: a finished result takes in the rows that were appended since it was made.
 *
 *   full     what a fit from scratch with the result's γ and geometry gives, to rounding. Select
 *            looks at the new rows alone where the rule allows it, accumulate adds them to the sums
 *            that stay with the model, and the columns of landmarks that joined; the small problem
 *            is solved, and all rows are projected.
 *   frozen   the new rows are placed with the model as it is and appended to the embedding; the
 *            sums take them in, for a later full.
 *
 * A job like any other, with a record and parts of its own beside those of the result: its record
 * is part "update" until the last commit puts it in the place of "job", and what it makes anew goes
 * to parts of the next generation ("model@2"). So readers see the old result, whole, until the new
 * one is; a killed update goes on with the same command, and one that fails is forgotten. A frozen
 * update adds to the embedding in place, behind the rows that the visible record speaks of.
 * Parts that readers read stay for one update more, as "stale": who has read the old record reads
 * its parts to the end.
 *
 * Field "update" of such a record:
 *   mode              full or frozen
 *   command           the command line that began it, null for a call of the library
 *   rows, landmarks   n and m of the result that is updated
 *   selected          its rows that selection has looked at: fewer after a frozen update
 *   parts             where it has its landmarks, residuals and model; and its sums
 *   sums              as in the record, null where it has none that are usable
 *   checkpoint        its last: the sums of stage project
 *   same_landmarks    what stage select found
 */
#ifndef NY_UPDATE_UPDATE_H
#define NY_UPDATE_UPDATE_H

#include "fit/earlier.h"

struct ny_job;
struct ny_plan;

/* NY_EUSAGE with the reason where results of these settings cannot be updated in this mode. */
int ny_update_allowed(struct ny_context *ctx, const struct ny_fit_settings *settings,
                      enum ny_update_mode mode, const char *name);
/* The record of a new update of a finished result to n rows, committed; json_decref() it. */
int ny_update_begin(struct ny_store *store, const char *name, const json_t *result, uint64_t n,
                    enum ny_update_mode mode, json_t **record);
/* Forgets an update under way, with all that it has made. */
int ny_update_discard(struct ny_store *store, const char *name, const json_t *update);
/* Makes the update's record that of the result, in the batch of the last commit. */
int ny_update_finish(struct ny_job *job, struct ny_batch *batch);

/* Makes of the plan of a fit that of the update, and marks the parts of it that look at new rows
 * alone. */
void ny_update_plan(struct ny_plan *plan, struct ny_context *ctx,
                    const struct ny_fit_settings *settings, const json_t *result, uint64_t n,
                    enum ny_update_mode mode);
/* Warns where γ, mean or scale of all rows are 10 % away from those of the model. */
int ny_update_warn_drift(struct ny_job *job);

#endif
