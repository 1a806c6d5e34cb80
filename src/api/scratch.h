/* Scratch folders: the stores of calls that embed rows without leaving a store. */
#ifndef NY_API_SCRATCH_H
#define NY_API_SCRATCH_H

#include "api/options.h"
#include "nystream_memory.h"

/* Chooses the folder for a scratch store of these rows: option tmpdir, else $TMPDIR, else memory
 * where they and their results take less than a quarter of what is free there and of the budget,
 * else /tmp. */
const char *ny_scratch_parent(const struct ny_context *ctx, const struct ny_options *options,
                              const struct ny_table *table);
/* Names what the user has heard of in an error of `store`, which is in such a folder: where a file
 * of the store failed the folder's parent, else the input. */
void ny_scratch_told(struct ny_context *ctx, const char *store, const char *input);
#endif
