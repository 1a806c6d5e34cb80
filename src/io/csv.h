/* The state of the csv reader, between its header (csv_header.c) and its rows (csv.c). */
#ifndef NY_IO_CSV_H
#define NY_IO_CSV_H

#include "io/columns.h"
#include "io/fields.h"
#include "io/format.h"

enum ny_csv_use { NY_CSV_IGNORED, NY_CSV_VALUE, NY_CSV_LABEL };

struct ny_csv {
    struct ny_dialect dialect;
    size_t columns;
    uint8_t *use; /* of each column, enum ny_csv_use */
    struct ny_header_names header;
    char *name_text; /* what header.names point into */
    uint64_t rounded, rounded_line; /* whole numbers that lost digits, and where the first was */
    size_t rounded_column;
    char unquoted[NY_FIELD_MAX + 1];
};

/* Finds delimiter and header, chooses the columns; the first row of data is at bytes->at then.
 * delimiter NUL: by the first line. */
int ny_csv_open(struct ny_reader *reader, char delimiter);
void ny_csv_close(struct ny_reader *reader);
/* Passes over empty lines; NY_FIELD_BAD at the end of the input. */
enum ny_field_kind ny_csv_skip_empty(const struct ny_dialect *dialect, struct ny_bytes *bytes);

#endif
