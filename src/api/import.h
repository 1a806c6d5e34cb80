/* An import whose rows are committed while the file is still being read: each step is an append
 * that readers see. */
#ifndef NY_API_IMPORT_H
#define NY_API_IMPORT_H

#include "api/options.h"

struct ny_import;

/* Of one file into a new store, in the order of the file; nothing of it is read yet. */
int ny_import_begin(struct ny_import **out, struct ny_context *context, const char *path,
                    const char *file, const struct ny_options *options);
/* Reads on until the store has `rows` rows, and its last block is full, or the file ends. *n: how
 * many it has. Sparse rows come all at once, as the fullest of them decides how long they are. */
int ny_import_next(struct ny_import *import, uint64_t rows, uint64_t *n);
void ny_import_end(struct ny_import *import);

#endif
