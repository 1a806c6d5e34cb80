/* Decides which course makes a result, be it a fit or an update of one, and which plan it has. */
#ifndef NY_UPDATE_COURSES_H
#define NY_UPDATE_COURSES_H

#include "fit/fit.h"

/* Plans a fit of any kind. m: landmarks already selected; 0: not yet. */
int ny_fit_plan(struct ny_rows *X, const struct ny_fit_settings *settings, size_t m,
                struct ny_plan *plan);

/* Plans the memory of a selection of landmarks alone; m likewise. */
int ny_select_plan(struct ny_rows *X, const struct ny_fit_settings *settings, size_t m,
                   struct ny_plan *plan);

/* Runs a fit or an update from the record's stage to the end; nobody else works at what is kept.
 * `record` is brought up to date. `plan`: of the same settings. end_update: makes the record of an
 * update that of the result, with the batch of the last commit; NULL for a fit.
 * Passes: those of the selection, one to accumulate, one to project; an update's: of its new rows.
 */
int ny_fit_start(struct ny_rows *X, const struct ny_keep *keep,
                 const struct ny_fit_settings *settings, struct ny_record record,
                 const struct ny_plan *plan,
                 int (*end_update)(struct ny_job *job, struct ny_batch *batch));

#endif
