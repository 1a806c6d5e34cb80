/* The lines of a sparse matrix of scipy as they stand: rows of CSR, columns of CSC. For io/ alone.
 */
#ifndef NY_IO_NPZ_LINES_H
#define NY_IO_NPZ_LINES_H

#include "io/sparse_rows.h"

/* A line, whose entries stay until the next call; `across`: the numbers that columns may have. */
struct ny_npz_line {
    struct ny_row_entries entries;
    enum ny_dtype type;   /* type of the values */
    unsigned index_bytes; /* bytes of a column number: 4 or 8 */
    uint64_t across;
};

/* Opens the matrix in reader->bytes and sets rows and d of reader->table. Close it also after a
 * failure. */
int ny_npz_lines_open(struct ny_reader *reader);
/* Reads the next line; NY_END behind the last, once the checksums of the file were compared. */
int ny_npz_lines_next(struct ny_reader *reader, struct ny_npz_line *line);
/* Frees the state of the reader; one that has none is left alone. */
void ny_npz_lines_close(struct ny_reader *reader);

#endif
