/* Rows of fixed size: what npy, idx, fvecs and bvecs have in common once the header is read. */
#ifndef NY_IO_BINARY_H
#define NY_IO_BINARY_H

#include "io/convert.h"
#include "io/format.h"

struct ny_binary_layout {
    enum ny_element_type type;
    bool big_endian;
    bool prefixed; /* an int32 d before each row (fvecs) */
    uint64_t rows; /* NY_ROWS_UNKNOWN: until the end */
    uint64_t d;
    bool by_columns; /* column after column, in a regular file that is not packed */
};

/* The rest of a format's open(): checks what the header claims against the options and the size of
 * the file; the data begin at reader->bytes->at. */
int ny_binary_open(struct ny_reader *reader, const struct ny_binary_layout *layout);

/* Finds where a file that is not packed has its rows as the reader gives them, one after another:
 * from byte *place on. False: it has not. Called before the first row is read. */
bool ny_binary_place(const struct ny_reader *reader, uint64_t *place);

/* The other functions of such a format. */
int ny_binary_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch);
/* Passes over at most `rows` rows, by seeking where the file allows it. */
int ny_binary_skip(struct ny_reader *reader, uint64_t rows);
#define NY_BINARY_FORMAT                                                                           \
    .next = ny_binary_next, .skip = ny_binary_skip, .takes_columns = true,                         \
    .takes_column_names = true

#endif
