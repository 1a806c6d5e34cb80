/* A column of the store's points, as its readers see them, for the pictures of a result. */
#ifndef NY_REPORT_POINTS_COLUMN_H
#define NY_REPORT_POINTS_COLUMN_H

#include "store/store.h"

enum { NY_POINTS_COLUMN_TITLE_BYTES = 96 };

struct ny_points_column {
    struct ny_context *ctx;
    struct ny_store *store;
    struct ny_rows_info info;
    char title[NY_POINTS_COLUMN_TITLE_BYTES];
    uint64_t number;
    void *room;   /* for dense rows of the points */
    size_t piece; /* dense rows in the room */
};

/* Finds a column by its name or, where columns have no names, by its number from 0. NY_EUSAGE,
 * NY_EDATA: there is none. Close it after a failure, too. */
int ny_points_column_open(struct ny_points_column *column, struct ny_store *store,
                          const char *name);
/* Sets the values of the rows listed. */
int ny_points_column_read(struct ny_points_column *column, const uint64_t *rows, size_t count,
                          double *values);
/* Frees what it holds; zeroed, it is left alone. */
void ny_points_column_close(struct ny_points_column *column);

#endif
