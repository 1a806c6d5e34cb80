/*
 * Results of all rows of a store in shards. Graphs, and maps of them, have links between rows of
 * different shards, so that no shard can keep a part of one. Their place is a store without rows in
 * the folder of the shards, "whole", to which the rows of all shards are lent: they are made, gone
 * on with and read as in one store that has these rows.
 */
#ifndef NY_SHARDS_WHOLE_H
#define NY_SHARDS_WHOLE_H

#include "shards/shards.h"

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
