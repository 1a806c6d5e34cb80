/* The centre of rows of which nothing but differences is taken: it may lie anywhere among them. */
#ifndef NY_COLUMNS_CENTRE_H
#define NY_COLUMNS_CENTRE_H

#include "columns/columns.h"

struct ny_rows_info;
struct ny_rows_stats;

/* Moves the centre, where it is a mean that a few huge values have drawn far away from all other
 * rows, to the median of some rows. Processes that share the shards call it together. */
int ny_centre_among_rows(struct ny_geometry *geometry, struct ny_rows *X,
                         const struct ny_rows_info *points, const struct ny_rows_stats *stats);
/* Counts what it charges. */
void ny_centre_count(struct ny_layout *l, const struct ny_rows_info *points);

#endif
