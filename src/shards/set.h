/* A store in shards, opened for reading as one. */
#ifndef NY_SHARDS_SET_H
#define NY_SHARDS_SET_H

#include "shards/shards.h"

/* Opens the shards that are there, which were read, as one (store/store.h, struct ny_set), for what
 * only reads; takes `shards` over, also after a failure. `steady`: all stay open, so that threads
 * may read from them in passes. */
int ny_shards_set(struct ny_store **out, struct ny_shards *shards, bool steady);
/* Lends the rows of all shards to a store without rows (ny_store_lend_set()), which closes them;
 * takes `shards` over, also after a failure. */
int ny_shards_lend(struct ny_store *store, struct ny_shards *shards);

/* Returns the shards behind such a handle, which belong to it; NULL: it is that of a store. */
const struct ny_shards *ny_shards_of(const struct ny_store *store);
/* Returns the number of the shard that is the k-th store of such a set. */
unsigned ny_shards_number(const struct ny_store *store, size_t k);

#endif
