/* Tells whether a file is still the one that it was. */
#ifndef NY_IO_IDENTITY_H
#define NY_IO_IDENTITY_H

#include "base/context.h"

/* A digest of the size of a regular file and of pieces of it: its head, its tail, and some evenly
 * spread between. Neither name nor time count. */
int ny_file_identity(struct ny_context *ctx, const char *path, uint64_t *digest);
/* A digest of the size of a regular file and of all of its bytes, which are read. */
int ny_file_digest(struct ny_context *ctx, const char *path, uint64_t *digest);

#endif
