/* Reports on stores in shards: their points as one, and a result that is spread over them. */
#ifndef NY_API_INSPECT_SHARDS_H
#define NY_API_INSPECT_SHARDS_H

#include <jansson.h>

#include "store/store.h"

/* Returns the status of a result in one store, by its record: done, running, interrupted, summed.
 */
const char *ny_result_status(struct ny_store *store, const char *name, const json_t *record);
/* Returns the status of a result of a store, or of a set: done where all shards are, running where
 * one is, interrupted else. `record` is that of a store. */
const char *ny_status_of_all(struct ny_store *store, const char *name, const json_t *record);
/* Finds the store of a set whose result is to be described, and its record (json_decref() it): the
 * first that is not done; else of those that have it the last that was updated most often. */
int ny_spread_find(struct ny_store *set, const char *name, struct ny_store **store,
                   json_t **record);
/* Makes the description of that shard's result that of all, by its record: rows, status, and
 * which shards lack it. Figures in which shards differ are null, unless the fit was one over all of
 * them. */
int ny_spread_describe(struct ny_store *set, const char *name, const json_t *first, json_t *object);
/* Field "shards" of the report of a store: which there are, with which rows; null where the store
 * is an ordinary one. */
int ny_shards_describe(struct ny_store *store, json_t *object);
/* Returns `err`, or NY_EBUSY where a store of a set has lost rows since the set was opened, which
 * counts rows that are not there any more: it has to be opened again. */
int ny_set_uncut(struct ny_store *set, int err);
/* Bytes of the data files of a store, or of all of a set. */
int ny_bytes_of_all(struct ny_store *store, uint64_t *bytes);

#endif
