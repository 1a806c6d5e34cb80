/* The centre of rows of which nothing but differences is taken: it may lie anywhere among them. */
#ifndef NY_COLUMNS_CENTRE_H
#define NY_COLUMNS_CENTRE_H

#include "columns/columns.h"

struct ny_points_info;
struct ny_points_stats;

/* Moves the centre, where it is a mean that a few huge values have drawn far away from all other
 * rows, to the median of some rows. Processes that share the shards call it together. */
int ny_centre_among_rows(struct ny_geometry *geometry, struct ny_store *store,
                         const struct ny_points_info *points, const struct ny_points_stats *stats);
/* Bytes that it charges. */
size_t ny_centre_bytes(const struct ny_points_info *points);

#endif
