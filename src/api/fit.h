/* Shared by a fit and an update of it. */
#ifndef NY_API_FIT_H
#define NY_API_FIT_H

#include "api/options.h"
#include "fit/plan.h"

/* Tells the caller the plan. */
int ny_plan_tell(struct ny_context *ctx, const struct ny_plan *plan);
/* NY_EIO where the disk has no room for what the plan stores for certain; the result `replaced`
 * (NULL: none) gives its place. */
int ny_plan_check_disk(struct ny_store *store, const char *replaced, const struct ny_plan *plan);
/* Tells the plan of a fit, which is refused: NY_EBUDGET when it does not fit, NY_EIO as above. */
int ny_plan_announce(struct ny_store *store, const char *replaced, const struct ny_plan *plan,
                     const struct ny_fit_settings *settings);

/* Runs ny_fit() with option online on rows that `arrivals` (NULL: none) waits for. */
int ny_fit_arriving(struct ny_context *context, const char *path, const struct ny_options *options,
                    const struct ny_arrivals *arrivals, const char *name,
                    struct ny_report **report);

/* Runs ny_fit() with option update, under the NAME's lock: *record is that of the result
 * afterwards, json_decref() it. */
int ny_update_run(struct ny_store *store, const char *name, const struct ny_options *options,
                  json_t **record);

#endif
