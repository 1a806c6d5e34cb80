/* The selection of columns that are kept of a file: "1,3-5,name", numbers from 1. */
#ifndef NY_IO_COLUMNS_H
#define NY_IO_COLUMNS_H

#include "base/context.h"

/* The names of a header; names NULL: there are none. */
struct ny_header_names {
    const char **names;
    size_t count; /* columns, named or not */
};

/* The number, or the place of the name: *column is 0-based. NY_EUSAGE when it is neither; `option`
 * for the message ("--label-column"). */
int ny_column_find(struct ny_context *ctx, const struct ny_header_names *header, const char *option,
                   const char *text, size_t *column);
/* --columns and --drop-columns, of which one at most is given; NULL: not given. */
struct ny_column_lists {
    const char *kept, *dropped;
};
/* The columns that are kept, as they were typed, else in the order of the file. Arrays of the
 * caller, header->count long. */
struct ny_kept_columns {
    bool *keep;    /* one for each column of the file */
    size_t *order; /* their numbers, from 0 */
    size_t count;
    bool turned; /* they are not in the order of the file */
};
/* Applies the lists; keeps all columns where there is none. NY_EUSAGE for a column that is not
 * there. */
int ny_columns_choose(struct ny_context *ctx, const struct ny_header_names *header,
                      const struct ny_column_lists *lists, struct ny_kept_columns *kept);
/* NY_EUSAGE: columns without names keep the order of the file. */
int ny_columns_refuse_turned(struct ny_context *ctx);
/* True when a list holds anything but numbers and ranges, so that a header is needed. */
bool ny_columns_named(const char *list);

#endif
