/*
 * A store, in shards or not, by its path, and a store in shards, opened for reading as one.
 *
 * Results of all rows are graphs and maps of them, which have links between rows of different
 * shards, so that no shard can keep a part of one. Their place is a store without rows in the
 * folder of the shards, "whole", to which the rows of all shards are lent: they are made, gone on
 * with and read as in one store that has these rows.
 */
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
 * only reads. Where NAME (NULL: none is meant) is a result of all rows, as ny_whole_open() does.
 * NY_EUSAGE where a shard is missing. */
int ny_shards_open(struct ny_store **out, struct ny_context *ctx, const char *path,
                   const char *name, enum ny_shards_which which);

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

/* ---- results of all rows ------------------------------------------------------------------- */

/* Sets its path, and tells whether it is there. */
bool ny_whole_path(const char *path, char whole[PATH_MAX]);
/* Tells whether the store in shards `path` has this result (NULL: no name) as one of all rows. */
int ny_whole_has(struct ny_context *ctx, const char *path, const char *name, bool *has);
/* Opens that store with the rows of all shards, and makes it where there is none. NY_EUSAGE where
 * not all shards are there, or there are too many. */
int ny_whole_open(struct ny_store **out, struct ny_context *ctx, const char *path);
/* Likewise of shards that were read, which it takes over, also after a failure. */
int ny_whole_of(struct ny_store **out, struct ny_shards *shards);
/* NY_EUSAGE where it has a result: rows of the shards are about to go. */
int ny_whole_refuse(struct ny_context *ctx, const char *path);

#endif
