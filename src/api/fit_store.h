/* Fits and updates of a NAME in a store: what the engine knows nothing of, around what it does. */
#ifndef NY_API_FIT_STORE_H
#define NY_API_FIT_STORE_H

#include "fit/plan.h"
#include "store/store.h"
#include "records/record.h"

/* Plans a fit, as ny_fit_plan() does (update/courses.h). */
int ny_store_fit_plan(struct ny_store *store, const struct ny_fit_settings *settings, size_t m,
                      struct ny_plan *plan);
/* Runs a fit or an update under NAME, whose lock the caller has, as ny_fit_start() does. Where it
 * was to end with its sums, says what these are for. */
int ny_store_fit_start(struct ny_store *store, const char *name,
                       const struct ny_fit_settings *settings, json_t *record,
                       const struct ny_plan *plan);

#endif
