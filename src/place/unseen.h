/* Counts the columns in which new rows have values though no row of the fit had any: their weight
 * is then 0 (NY_UNSEEN), and what is there is dropped. */
#ifndef NY_PLACE_UNSEEN_H
#define NY_PLACE_UNSEEN_H

#include "columns/columns.h"

struct ny_unseen {
    const struct ny_columns_spec *spec;
    unsigned char *met; /* d: new rows have values there; NULL: the fit has seen all columns */
    void *row;
};

/* Begins to count; `spec` is that of the new rows, and is borrowed. Release it also after a
 * failure. */
int ny_unseen_begin(struct ny_unseen *unseen, const struct ny_columns_spec *spec);
/* Looks at the rows of a tile; called for one tile at a time. */
int ny_unseen_take(struct ny_unseen *unseen, const struct ny_tile *tile);
/* Returns how many columns there are so far. */
size_t ny_unseen_count(const struct ny_unseen *unseen);
/* Bytes that it charges. */
size_t ny_unseen_bytes(const struct ny_columns_spec *spec);
/* Frees what it holds. */
void ny_unseen_release(struct ny_unseen *unseen);

#endif
