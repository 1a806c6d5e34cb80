/* Scratch folders: the stores of calls that embed rows without leaving a store. */
#ifndef NY_API_SCRATCH_H
#define NY_API_SCRATCH_H

#include "nystream_memory.h"

/* Names what the user has heard of in an error of `store`, which is in such a folder: where a file
 * of the store failed the folder's parent, else the input. */
void ny_scratch_told(struct ny_context *ctx, const char *store, const char *input);
#endif
