/*
 * The external sort of sparse entries by row: a matrix that comes by columns, or in any order,
 * becomes rows in bounded memory. Readers of sparse files (io/npz.c, io/mtx.c) stand on it. For io/
 * alone.
 */
#ifndef NY_IO_ROW_SORT_H
#define NY_IO_ROW_SORT_H

#include "io/sparse_rows.h"

struct ny_row_sort_spec {
    uint64_t rows;
    uint64_t entries;   /* that are expected; more are sorted, too */
    enum ny_dtype type; /* type of the values */
};

struct ny_row_sort;

/* Returns the folder of a reader's temporary files. */
const char *ny_scratch_folder(const struct ny_reader *reader);
/* Makes a sort, which keeps its entries in a temporary file in the reader's folder for scratch
 * files where they do not fit in its memory, at most an eighth of what is left of the budget.
 * NY_EIO, here and later, where the folder cannot have it, or has no room. */
int ny_row_sort_new(struct ny_row_sort **out, struct ny_reader *reader,
                    const struct ny_row_sort_spec *spec);
/* Frees the sort and its file; NULL is allowed. */
void ny_row_sort_free(struct ny_row_sort *sort);
/* Adds an entry of a row below spec.rows. */
int ny_row_sort_add(struct ny_row_sort *sort, uint64_t row, uint32_t column, const void *value);
/* Gives the entries of a row (columns of 4 bytes), in the order in which they were added; they are
 * valid until the next call. Rows are asked for from 0 on, once, after the last entry was added.
 * NY_EBUDGET where the rows of a bucket do not fit in what is left of the budget. */
int ny_row_sort_row(struct ny_row_sort *sort, uint64_t row, struct ny_row_entries *entries);
/* Has the rows that come by `rows` be those of reader->sort. */
void ny_row_sort_serves(struct ny_sparse_rows *rows);
/* Sorts so many columns, which rows->fetch() gives one after another, as reader->sort, from which
 * the rows come then. */
int ny_row_sort_columns(struct ny_reader *reader, struct ny_sparse_rows *rows, uint64_t columns,
                        const struct ny_row_sort_spec *spec);

#endif
