/* The dense rows of a file as the rows of a computation (stream/rows.h), for kernels that are
 * precomputed. */
#ifndef NY_IO_FILE_ROWS_H
#define NY_IO_FILE_ROWS_H

#include "stream/rows.h"

/* Makes rows of which `info` tells n, d and type: n is NY_ROWS_UNKNOWN where the file does not say,
 * until a gather has read all of it. `source` and `gather` read the file from its first row on;
 * there is nothing else. The path is borrowed. ny_rows_of_file_free() them. */
int ny_rows_of_file(struct ny_rows **out, struct ny_context *ctx, const char *path);
/* Frees the rows; NULL is allowed. */
void ny_rows_of_file_free(struct ny_rows *rows);

#endif
