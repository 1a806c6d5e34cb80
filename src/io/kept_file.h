/*
 * Rows of files and of batches where a computation reads them again and again, in any order: in the
 * file itself, where it has them as they are, else in temporary files, which have no name. Both are
 * mapped, so that they take page cache and nothing of the budget.
 */
#ifndef NY_IO_KEPT_FILE_H
#define NY_IO_KEPT_FILE_H

#include "base/scratch.h"
#include "io/reader.h"

/* The values of the rows; of sparse ones their columns, and where each row begins; the numbers of
 * the rows in the file; and their names, and where each begins. */
enum ny_kept_part {
    NY_KEPT_VALUES,
    NY_KEPT_COLUMNS,
    NY_KEPT_STARTS,
    NY_KEPT_NUMBERS,
    NY_KEPT_NAMES,
    NY_KEPT_NAME_STARTS,
    NY_KEPT_PARTS
};

struct ny_kept_file {
    const char *folder; /* for temporary files */
    bool sparse;        /* dense rows become sparse */
    bool numbers;       /* rows may be left out: the numbers of the others are kept */
    bool names;         /* rows have names, which are kept */
    /* Set by the calls: */
    struct ny_kept_rows rows;
    const uint64_t *number; /* of each row in the file; NULL: they are not kept */
    struct ny_given_names row_names;
    struct ny_context *ctx; /* NULL: no files are open */
    struct ny_csr piece;    /* a batch of sparse rows as they are kept */
    struct ny_scratch file[NY_KEPT_PARTS];
    uint64_t bytes[NY_KEPT_PARTS];
    struct {
        void *at;
        size_t bytes;
    } map[NY_KEPT_PARTS];
};

/* Takes type, columns and layout of the rows that are to be kept; ny_file_release() them, also
 * after an error. */
void ny_file_begin(struct ny_kept_file *kept, struct ny_context *ctx,
                   const struct ny_file_table *table);
/* Maps the file of a reader that has read no row of it, and returns true; false: it does not have
 * its rows as they are read. */
bool ny_file_map(struct ny_kept_file *kept, const struct ny_reader *reader);
/* Otherwise adds rows, a batch at a time: NY_EIO where the disk is full; */
int ny_file_add(struct ny_kept_file *kept, const struct ny_row_batch *batch);
/* and maps all of them, of which there is one at least. */
int ny_file_end(struct ny_kept_file *kept);
/* Unmaps the rows. */
void ny_file_release(struct ny_kept_file *kept);

#endif
