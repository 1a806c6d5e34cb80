/* Ways into a fit besides the public ones: into memory, and as an update. */
#ifndef NY_API_FIT_H
#define NY_API_FIT_H

#include <jansson.h>

#include "api/options.h"
#include "api/settings.h"

/* Runs ny_fit() on one store; where room->filled is set afterwards, coordinates are there and not
 * in the store. */
int ny_fit_room(struct ny_context *context, const char *path, const char *name,
                const struct ny_options *options, struct ny_row_room *room,
                struct ny_report **report);

/* Runs ny_fit() with option update, under the NAME's lock: *record is that of the result
 * afterwards, json_decref() it. `of_all`: the store is a shard, whose result is one of those of a
 * fit over all shards, and is updated by itself. */
int ny_update_run(struct ny_store *store, const char *name, const struct ny_options *options,
                  bool of_all, json_t **record);
/* NY_EUSAGE unless the result of a shard is one of all shards. */
int ny_update_check_shards(struct ny_context *ctx, const char *name, const json_t *result);

#endif
