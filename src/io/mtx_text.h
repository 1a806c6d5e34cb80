/* The text of MatrixMarket files: header and entries, one after another. For io/ alone. */
#ifndef NY_IO_MTX_TEXT_H
#define NY_IO_MTX_TEXT_H

#include "io/format.h"

enum ny_mtx_field { NY_MTX_REAL, NY_MTX_INTEGER, NY_MTX_PATTERN };

/* The header, and the entries read so far. */
struct ny_mtx_text {
    enum ny_mtx_field field;
    bool symmetric; /* an entry (i, j) that is not on the diagonal stands for (j, i), too */
    bool array;     /* values alone, of one column after another; never symmetric */
    uint64_t rows, columns, entries;
    uint64_t read; /* entries so far */
};

struct ny_mtx_entry {
    uint64_t row, column; /* from 0 */
    double value;         /* 1 for a pattern */
};

/* Reads the header from the first byte of reader->bytes to the line of sizes. NY_EDATA for fields
 * and symmetries that are not read, with what to do. */
int ny_mtx_begin(struct ny_reader *reader, struct ny_mtx_text *text);
/* Reads the next entry, which lies in the matrix; NY_END behind the last of a file that has as
 * many as it says. NY_EDATA names file and line. */
int ny_mtx_next(struct ny_reader *reader, struct ny_mtx_text *text, struct ny_mtx_entry *entry);

#endif
