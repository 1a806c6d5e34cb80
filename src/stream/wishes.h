/* Rows that are asked for by their numbers, in the order in which they lie. */
#ifndef NY_STREAM_WISHES_H
#define NY_STREAM_WISHES_H

#include "base/borrowed.h"

struct ny_wish {
    uint64_t row;
    size_t position; /* in the list that asks for it */
};

/* Sorts wishes by their rows. */
void ny_wishes_sort(struct ny_wish *wishes, size_t count);
/* Asks for rows of a mapped file some wishes ahead of the `next` one, as the system would read much
 * around each of them, one after another; row_bytes: from one row to the next. */
void ny_wishes_ahead(const struct ny_borrowed_rows *rows, size_t row_bytes,
                     const struct ny_wish *wishes, size_t count, size_t next);

#endif
