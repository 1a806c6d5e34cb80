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
/* A folder, which nobody removes as long as the process that made it lives: see api/scratch.c. */
struct ny_scratch_folder {
    char path[4200];
    int held;
};

/* Makes a folder of its own in `parent`, after it has removed those that ended processes of this
 * user have left there and in memory. */
int ny_scratch_make(struct ny_context *ctx, const char *parent, struct ny_scratch_folder *folder);
/* Names what the user has heard of in an error of `store`, which is in such a folder: where a file
 * of the store failed the folder's parent, else the input. */
void ny_scratch_told(struct ny_context *ctx, const char *store, const char *input);
/* Removes the folder with the stores in it. */
void ny_scratch_remove(const struct ny_scratch_folder *folder);

#endif
