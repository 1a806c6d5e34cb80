/* Fields of delimited text: RFC 4180 quoting, any line ends. For io/ alone. */
#ifndef NY_IO_FIELDS_H
#define NY_IO_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bytes.h"

enum { NY_FIELD_MAX = 64 * 1024 };

struct ny_dialect {
    char delimiter; /* ' ': runs of blanks */
    bool stop[256]; /* bytes that end an unquoted field: the delimiter, CR, LF */
};

/* Sets the delimiter and the bytes at which an unquoted field ends. */
void ny_dialect_set(struct ny_dialect *dialect, char delimiter);
/* The delimiter that the first line uses outside quotes: tab, semicolon or comma, whichever is most
 * frequent, else blanks where there are any, else comma. Between n fields with semicolons or tabs
 * n commas may be decimal ones. `decimal`: commas between digits are. */
char ny_dialect_guess(const char *text, const char *end, bool decimal);

enum ny_field_kind {
    NY_FIELD,
    NY_FIELD_CUT, /* the window ends in it: more bytes are needed */
    NY_FIELD_BAD  /* `wrong` says why */
};

struct ny_field {
    const char *text; /* blanks around it and quotes removed, doubled quotes still doubled */
    size_t length;
    bool quoted;
    uint64_t newlines; /* inside the quotes */
    const char *wrong; /* "holds a NUL byte" */
};

/* Scans one field from *at, which moves to the stop byte after it, or to `end` (NUL there) when
 * the input has ended. */
enum ny_field_kind ny_field_scan(const struct ny_dialect *dialect, const char **at, const char *end,
                                 bool ended, struct ny_field *field);
/* Steps over the stop byte: true with *at on the next field of the record; false at its end. */
bool ny_field_follows(const struct ny_dialect *dialect, const char **at);
/* Passes over the line end at *at. NY_FIELD_CUT when it may go on beyond the window. */
enum ny_field_kind ny_line_end(const char **at, const char *end, bool ended);
/* Passes over empty lines; NY_FIELD_BAD at the end of the input. */
enum ny_field_kind ny_empty_lines(const struct ny_dialect *dialect, struct ny_bytes *bytes);
/* Copies without doubled quotes, with a NUL; `to` has room for length + 1. Returns the length. */
size_t ny_field_copy(const struct ny_field *field, char *to);

#endif
