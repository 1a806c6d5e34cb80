/* A store, in shards or not, by its path. */
#ifndef NY_SHARDS_OPEN_H
#define NY_SHARDS_OPEN_H

#include "shards/shards.h"

/* Calls `each` with the path of a store, or with that of each shard whose store was made and with
 * its number (ny_shards_look() compares it), and then with that of the store of what is of all rows
 * (−1); NULL, −1: it is no store in shards. An error ends it. */
typedef int ny_shard_fn(void *arg, const char *path, struct ny_shards *shards, int shard);
/* Walks over the shards without opening their stores: to verify them, with a warning of those that
 * are not there; to repair them, taking those from older copies as they are; or to change them,
 * once all are as the file says. How far they have come is noted in the end. */
enum ny_shards_way { NY_SHARDS_VERIFY, NY_SHARDS_MEND, NY_SHARDS_CHANGE };
int ny_shards_each(struct ny_context *ctx, const char *path, enum ny_shards_way way,
                   ny_shard_fn *each, void *arg);

/* Says which shards have to be there: all; none, and those that are not are left out; or all, whose
 * rows may then be read in passes, too. */
enum ny_shards_which { NY_SHARDS_ALL, NY_SHARDS_SOME, NY_SHARDS_STEADY };
/* Opens a store, or the shards of a store in shards as one (store/store.h, struct ny_set), for what
 * only reads. Where NAME (NULL: none is meant) is a result of all rows, as ny_whole_open() does
 * (shards/whole.h). NY_EUSAGE where a shard is missing. */
int ny_shards_open(struct ny_store **out, struct ny_context *ctx, const char *path,
                   const char *name, enum ny_shards_which which);

#endif
