/* The state of the csv reader, between its header (csv_header.c, csv_columns.c) and its rows
 * (csv.c). */
#ifndef NY_IO_CSV_H
#define NY_IO_CSV_H

#include "io/columns.h"
#include "io/fields.h"
#include "io/format.h"
#include "io/text.h"

enum ny_csv_use { NY_CSV_IGNORED, NY_CSV_VALUE, NY_CSV_LABEL, NY_CSV_NAME };

struct ny_csv {
    struct ny_dialect dialect;
    size_t columns;
    uint8_t *use;    /* of each column, enum ny_csv_use */
    uint32_t *place; /* where a column of points stands in a row */
    struct ny_header_names header;
    bool comma; /* numbers have a decimal comma; unless commas separate the fields: */
    const char *(*number)(const char *, double *); /* parses a number of a field without quotes */
    char unquoted[NY_FIELD_MAX + 1];
};

/* Finds delimiter and header, chooses the columns; the first row of data is at bytes->at then.
 * delimiter NUL: by the first line. */
int ny_csv_open(struct ny_reader *reader, char delimiter);
/* Fails because of a field: its line, its column from 0, and what is wrong with it. */
int ny_csv_refuse_field(const struct ny_reader *reader, uint64_t line, size_t column,
                        const struct ny_field *field, const char *what);

/* ---- csv_columns.c ---- */

/* Decides the use of each column, and takes the names of those of points from the header. */
int ny_csv_choose_columns(struct ny_reader *reader);

#endif
