/* A store in shards, opened for reading as one. */
#ifndef NY_SHARDS_SET_H
#define NY_SHARDS_SET_H

#include "shards/shards.h"

/* Calls `each` with the path of a store, or with that of each shard whose store was made and with
 * its number (ny_shards_look() compares it); NULL, −1: it is no shard. An error ends it. */
typedef int ny_shard_fn(void *arg, const char *path, struct ny_shards *shards, int shard);
/* Walks over the shards without opening their stores: to verify them, with a warning of those that
 * are not there; to repair them, taking those from older copies as they are; or to change them,
 * once all are as the file says. How far they have come is noted in the end. */
enum ny_shards_way { NY_SHARDS_VERIFY, NY_SHARDS_MEND, NY_SHARDS_CHANGE };
int ny_shards_each(struct ny_context *ctx, const char *path, enum ny_shards_way way,
                   ny_shard_fn *each, void *arg);

/* Opens a store, or all shards of a store in shards as one (store/store.h, struct ny_set): for what
 * only reads. NY_EUSAGE where not all shards are there. */
int ny_shards_open(struct ny_store **out, struct ny_context *ctx, const char *path);
/* Opens a store, or those of its shards that are there. */
int ny_shards_open_some(struct ny_store **out, struct ny_context *ctx, const char *path);
/* Returns the shards behind such a handle, which belong to it; NULL: it is that of a store. */
const struct ny_shards *ny_shards_of(const struct ny_store *store);
/* Returns the number of the shard that is the k-th store of such a set. */
unsigned ny_shards_number(const struct ny_store *store, size_t k);

#endif
