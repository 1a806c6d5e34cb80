/* Two ways into a fit besides the public ones: of a file that is still read, and as an update. */
#ifndef NY_API_FIT_H
#define NY_API_FIT_H

#include <jansson.h>

#include "api/options.h"
#include "fit/settings.h"

/* Runs ny_fit() with option online on rows that `arrivals` (NULL: none) waits for. */
int ny_fit_arrivals(struct ny_context *context, const char *path, const struct ny_options *options,
                    const struct ny_arrivals *arrivals, const char *name,
                    struct ny_report **report);

/* Runs ny_fit() with option update, under the NAME's lock: *record is that of the result
 * afterwards, json_decref() it. */
int ny_update_run(struct ny_store *store, const char *name, const struct ny_options *options,
                  json_t **record);

#endif
