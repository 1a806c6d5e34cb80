/* Compares the updates of all shards of a store before one of them goes on. */
#ifndef NY_API_UPDATE_SHARDS_H
#define NY_API_UPDATE_SHARDS_H

#include "records/fields.h"
#include "store/store.h"

/* NY_EUSAGE unless the result is one of all shards. */
int ny_update_shards_check(struct ny_context *ctx, const char *name, const json_t *result);
/* Finds where the updates of all shards go on. *begun: that of this shard (NULL: none), which moves
 * to *other where all have to begin anew. *whole: all updates are made, and some shards show theirs
 * already. Alone, what was begun goes on. */
int ny_update_shards_stand(struct ny_store *store, const json_t *result, json_t **begun,
                           json_t **other, bool *whole);

#endif
