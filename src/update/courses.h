/* Decides which course makes a result, be it a fit or an update of one, and which plan it has. */
#ifndef NY_UPDATE_COURSES_H
#define NY_UPDATE_COURSES_H

#include "fit/fit.h"
#include "store/store.h"

/* Plans a fit of any kind. m: landmarks already selected; 0: not yet. */
int ny_fit_plan(struct ny_store *store, const struct ny_fit_settings *settings, size_t m,
                struct ny_plan *plan);

/* Plans the memory of a selection of landmarks alone; m likewise. */
int ny_select_plan(struct ny_store *store, const struct ny_fit_settings *settings, size_t m,
                   struct ny_plan *plan);

/* Runs the fit or the update under NAME from the record's stage to the end; the caller holds the
 * NAME's lock. `record` is brought up to date. `plan`: of the same settings.
 * Passes: those of the selection, one to accumulate, one to project; an update's: of its new rows.
 */
int ny_fit_start(struct ny_store *store, const char *name, const struct ny_fit_settings *settings,
                 json_t *record, const struct ny_plan *plan);

#endif
