/* Scratch folders: the stores of calls that embed rows without leaving a store. */
#ifndef NY_API_SCRATCH_H
#define NY_API_SCRATCH_H

#include "api/options.h"

struct ny_table;

/* Chooses the folder for a scratch store of these rows: option tmpdir, else $TMPDIR, else memory
 * where they and their results take less than a quarter of what is free there and of the budget,
 * else /tmp. */
const char *ny_scratch_parent(const struct ny_context *ctx, const struct ny_options *options,
                              const struct ny_table *table);
/* Makes a folder of its own in `parent`; writes its path to `path`. */
int ny_scratch_make(struct ny_context *ctx, const char *parent, char *path, size_t size);
/* Names what the user has heard of in an error of `store`, which is in such a folder: where a file
 * of the store failed the folder's parent, else the input. */
void ny_scratch_told(struct ny_context *ctx, const char *store, const char *input);
/* Removes the folder with the stores in it. */
void ny_scratch_remove(const char *path);

#endif
