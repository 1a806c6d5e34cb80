/* Scratch folders: the stores of calls that embed rows without leaving a store. */
#ifndef NY_API_SCRATCH_H
#define NY_API_SCRATCH_H

#include "base/context.h"

/* Makes a folder of its own in `parent`; writes its path to `path`. */
int ny_scratch_make(struct ny_context *ctx, const char *parent, char *path, size_t size);
/* Removes the folder with the stores in it. */
void ny_scratch_remove(const char *path);

#endif
