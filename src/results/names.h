/* Names as parts that are exported: "ids", the names of the rows of a result or of the store,
 * "columns", and "classes", the words of labels in the order of their numbers. */
#ifndef NY_RESULTS_NAMES_H
#define NY_RESULTS_NAMES_H

#include "base/names.h"
#include "results/parts.h"

/* Whose names; all but those of rows are of the store. */
enum ny_names_of { NY_NAMES_ROWS, NY_NAMES_COLUMNS, NY_NAMES_CLASSES };

/* Which names, and of which rows. */
struct ny_names_part {
    struct ny_store *store;
    struct ny_result *result; /* whose rows are meant; NULL: all rows of the store */
    enum ny_names_of of;
    uint64_t count;
};

/* Tells whether a part is one of names. */
bool ny_is_names_part(const char *name);
/* Finds a part of names. NY_EUSAGE where the store has none. */
int ny_names_part_find(struct ny_names_part *part, struct ny_store *store, struct ny_result *result,
                       const char *name);
/* Adds names first … first + count − 1. */
int ny_names_part_read(const struct ny_names_part *part, uint64_t first, size_t count,
                       struct ny_names *names);
/* Writes all of them, one a line; to .csv and .tsv with quotes where they are needed. Damaged names
 * give NY_ESTORE; with `missing` (0 before) they are empty lines, counted there and warned of. */
int ny_names_part_export(const struct ny_names_part *part, const char *output, uint64_t *missing);

#endif
