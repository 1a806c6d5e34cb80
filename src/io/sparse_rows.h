/*
 * Rows of entries (a column and a value each, in any order) become rows of a batch, sparse or dense
 * as the reader's table is. Readers of sparse matrices keep a struct ny_sparse_rows in their state
 * and hand it the entries of one row after another. For io/ alone.
 */
#ifndef NY_IO_SPARSE_ROWS_H
#define NY_IO_SPARSE_ROWS_H

#include "io/convert.h"
#include "io/format.h"

/* The entries of one row as they came: columns from 0, values of one type. */
struct ny_row_entries {
    const void *column, *value;
    size_t count;
};

/* Entries of one row on their way from a text. */
struct ny_row_pairs {
    uint32_t *column;
    double *value;
    size_t room;
};
/* Makes room for one entry behind `count`. */
int ny_row_pairs_room(struct ny_context *ctx, struct ny_row_pairs *pairs, size_t count);
/* Frees what the pairs hold. */
void ny_row_pairs_free(struct ny_context *ctx, struct ny_row_pairs *pairs);

/* Entries of one sparse row in f64, and room of the same size for sorting them. */
struct ny_entries {
    size_t count, room;
    uint32_t *column, *other_column;
    double *value, *other_value;
};

/* How rows of entries are read. The first fields are the reader's to set; zeroed, the others hold
 * nothing yet. */
struct ny_sparse_rows {
    unsigned index_bytes;  /* size of a column number: 4 or 8 */
    enum ny_dtype type;    /* type of the values */
    /* Gives the entries of row reader->consumed, which stay valid until the next call. */
    int (*fetch)(struct ny_reader *reader, struct ny_row_entries *row);
    bool rounding; /* floats may be rounded to f32 */
    struct ny_entries entries;
};

/* Checks rows and columns of the reader's table, which a file claims together with so many entries:
 * NY_EDATA for more columns than rows may have, and for a million rows of which few have one. */
int ny_sparse_rows_check(struct ny_reader *reader, uint64_t entries);
/* Sets the layout of the reader's table, whose rows and columns are known: sparse where fewer than
 * one value in eight is an entry, unless the options say. `most`: entries of the fullest row; 0:
 * unknown. */
void ny_sparse_rows_layout(struct ny_reader *reader, uint64_t entries, uint64_t most);
/* Reads one row to the end of the batch; *dropped: it is left out, as it holds NaN. NY_EDATA with
 * its row and column for a column that is not there and for a value that does not fit. */
int ny_sparse_rows_read(struct ny_reader *reader, struct ny_sparse_rows *rows,
                        const struct ny_row_entries *row, struct ny_row_batch *batch,
                        bool *dropped);
/* The next() of a format whose rows come by fetch() and have no labels. It ends a batch early
 * where its rows are full; NY_END when no row is left. */
int ny_sparse_rows_next(struct ny_reader *reader, struct ny_sparse_rows *rows, size_t max_rows,
                        struct ny_row_batch *batch);

#endif
