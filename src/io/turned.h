/*
 * A table of a regular file that stands there column after column (NumPy's Fortran order), read as
 * if it stood there row after row. For io/ alone.
 */
#ifndef NY_IO_TURNED_H
#define NY_IO_TURNED_H

#include <stdbool.h>

#include "base/layout.h"
#include "io/bytes.h"

struct ny_turned_shape {
    uint64_t rows, d;
    size_t size;      /* bytes of an element: 1, 2, 4 or 8 */
    const bool *keep; /* d; columns that are read, the others are 0; NULL: all */
};

struct ny_turned;

/* Lays out a block of rows, an eighth of the budget that is left at most. The first column
 * begins at bytes->at of a regular file that is not packed and has all of the table; `bytes` and
 * shape->keep stay the caller's. */
int ny_turned_lay(struct ny_turned **out, struct ny_layout *l, struct ny_bytes *bytes,
                  const struct ny_turned_shape *shape);
/* Copies the next `wanted` bytes of the table by rows; *got is less only at its end, or where the
 * file has become shorter. */
int ny_turned_read(struct ny_turned *turned, void *to, size_t wanted, size_t *got);
/* Passes over `count` bytes of the table by rows; *passed is less only at its end. */
void ny_turned_pass(struct ny_turned *turned, uint64_t count, uint64_t *passed);

#endif
