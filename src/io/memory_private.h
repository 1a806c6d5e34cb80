/* A table in the caller's memory: what its description says, and the rows of its entries. */
#ifndef NY_IO_MEMORY_PRIVATE_H
#define NY_IO_MEMORY_PRIVATE_H

#include "io/format.h"
#include "io/memory.h"

enum { NY_MEMORY_SCRATCH = 4096 }; /* values that are converted at once */

/* Entries of one sparse row in f64, and room of the same size for sorting them. */
struct ny_memory_entries {
    size_t count;
    uint32_t *column, *other_column;
    double *value, *other_value;
};

/* The state of a reader of a table. */
struct ny_memory_state {
    const struct ny_table *table;
    struct ny_memory_entries entries; /* room for the fullest row */
    uint64_t unsorted;                /* rows so far whose entries were put in order */
    uint64_t doubled;                 /* rows so far with a column twice */
    double wide[NY_MEMORY_SCRATCH], piece[NY_MEMORY_SCRATCH];
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
/* Converts `count` values of a type to that of the reader's table, where a table of floats may be
 * rounded. Returns the first that does not fit, with its value in *wrong; count: none. */
size_t ny_memory_convert(const struct ny_reader *reader, enum ny_dtype type, const void *from,
                         void *to, size_t count, double *wrong);
/* Fails because a value of the row that is read cannot be kept in the type of the store. */
int ny_memory_unfit(struct ny_reader *reader, uint64_t column, double value);

/* ---- memory_sparse.c ---- */

/* Allocates room for the fullest row of the table, which has `most` entries. */
int ny_memory_entries_new(struct ny_reader *reader, uint64_t most);
/* Frees that room. */
void ny_memory_entries_free(struct ny_reader *reader);
/* Reads the sparse row that comes to the end of the batch, sparse or dense as the reader's table
 * is; *dropped: it is left out. */
int ny_memory_read_sparse(struct ny_reader *reader, struct ny_row_batch *batch, bool *dropped);

#endif
