/* Exact values of the kernel between one row and others: how a list of neighbours is measured. */
#ifndef NY_NEAREST_ONE_ROW_H
#define NY_NEAREST_ONE_ROW_H

#include "columns/columns.h"

/* One row as the only landmark, and room to evaluate its column. Each thread has its own. */
struct ny_one_row {
    struct ny_layout own;
    struct ny_columns *column;
    struct ny_columns_room *room;
};

/* Returns NY_OK, or NY_EBUDGET; ny_one_row_release() is right after both, and of a zeroed one. */
int ny_one_row_init(struct ny_one_row *one, const struct ny_columns_spec *spec);
/* Frees the row and its workspace. */
void ny_one_row_release(struct ny_one_row *one);

/* Counts what ny_one_row_init() takes. */
void ny_one_row_count(struct ny_layout *l, const struct ny_columns_spec *spec);

/* Makes raw row x the row. Returns NY_OK or the error of ny_columns_append(). */
int ny_one_row_set(const struct ny_one_row *one, const void *x);

/* Writes the f64 values of the kernel between the row and each of `count` raw rows, which are where
 * y[i] says, to `values`. */
int ny_one_row_values(const struct ny_one_row *one, const void *const *y, size_t count,
                      double *values);

#endif
