/* The records of updates (update/update.h) in a store. */
#ifndef NY_RESULTS_UPDATE_H
#define NY_RESULTS_UPDATE_H

#include "fit/earlier.h"
#include "job/job.h"
#include "store/store.h"
#include "records/record.h"

/* The record of a new update of a finished result to all rows of the store, committed;
 * json_decref() it. */
int ny_update_begin(struct ny_store *store, const char *name, const json_t *result,
                    enum ny_update_mode mode, json_t **record);
/* Forgets an update under way, with all that it has made. */
int ny_update_discard(struct ny_store *store, const char *name, const json_t *update);
/* Makes the update's record that of the result, in the batch of the last commit. */
int ny_update_finish(struct ny_job *job, struct ny_batch *batch);
/* Likewise, of an update that has waited for those of other shards, in a commit of its own. */
int ny_update_put(struct ny_store *store, const char *name, json_t *record);

#endif
