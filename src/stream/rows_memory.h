/*
 * Rows in the memory of their caller as the rows of a computation (stream/rows.h): a pass and a
 * gather read them where they are, and nothing of them is copied, but what is asked for.
 *
 * A fit of them has the bytes of a fit of a store which imported the same rows, as statistics are
 * summed up over the same blocks. There are no lost rows and no shards.
 */
#ifndef NY_STREAM_ROWS_MEMORY_H
#define NY_STREAM_ROWS_MEMORY_H

#include "base/names.h"
#include "stream/rows.h"
#include "stream/source.h"

/* All of it belongs to the caller, and stays as it is while the rows are read. */
struct ny_memory_rows {
    const char *name;         /* of the rows, in messages */
    struct ny_kept_rows kept; /* n and d ≥ 1 */
    uint64_t entries;         /* sparse: values that they came with, zeros and repeats included, by
                               * which an import cuts blocks; 0: as many as they have */
    const struct ny_names *columns; /* their names; NULL: they have none */
    const char *from;               /* the file that they were in; NULL: in none */
    const uint64_t *number;         /* the number in it of each row; NULL: one after another */
};

/* Makes the rows, and counts them in the statistics: one pass. The caller frees them, before `ctx`.
 *
 * NY_END: sparse rows are not in order (struct ny_kept_rows); nobody may read them before a reader
 * has put them in order, and no error is set. NY_EDATA where a value is not finite or cannot be
 * prepared, told as an import tells it; a caller who has a reader of these rows (io/memory.h) can
 * let that say it. NY_EIO where a file that dense rows are mapped from was cut
 * short; NY_EBUDGET, or an interrupt.
 *
 * Memory, under NY_MEM_STORE: 32 bytes a column; meanwhile 20 more of sparse rows, and one block of
 * rows that have gaps, column numbers of 8 bytes or are prepared. */
int ny_rows_of_memory(struct ny_rows **out, struct ny_context *ctx,
                      const struct ny_memory_rows *rows);
/* Frees what ny_rows_of_memory() has made; NULL is allowed. */
void ny_memory_rows_free(struct ny_rows *X);

#endif
