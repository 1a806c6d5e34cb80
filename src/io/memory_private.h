/* A table in the caller's memory: what its description says, and the rows of its entries. */
#ifndef NY_IO_MEMORY_PRIVATE_H
#define NY_IO_MEMORY_PRIVATE_H

#include "base/borrowed.h"
#include "io/format.h"
#include "io/memory.h"
#include "io/sparse_rows.h"

/* The state of a reader of a table. */
struct ny_memory_state {
    const struct ny_table *table;
    double *label_of; /* the store's label for each class name; NULL: the table has none */
    struct ny_sparse_rows rows; /* its types serve dense rows, too */
    struct ny_borrowed_rows values; /* of dense rows: the bytes from the first to the last */
    uint64_t done;                  /* pages of rows before this one were given back */
};

/* ---- memory_table.c ---- */

/* Tells whether the rows of the table are sparse. */
static inline bool ny_memory_is_sparse(const struct ny_table *table)
{
    return table->row_start != NULL;
}

/* Number i of row_start; a negative one is larger than any size. */
uint64_t ny_memory_start(const struct ny_table *table, uint64_t row);
/* Returns the bytes of a value. */
size_t ny_memory_element(const struct ny_table *table);
/* Returns the bytes from a dense row to the next. */
uint64_t ny_memory_stride(const struct ny_table *table);
/* Describes the bytes of dense rows, which may be those of a mapped file. */
struct ny_borrowed_rows ny_memory_values(const struct ny_table *table);

#endif
