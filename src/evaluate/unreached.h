/* Rows of a result that have no coordinates, as no landmark reaches them (model/degrees.h):
 * measures leave them out, and number the others from 0. */
#ifndef NY_EVALUATE_UNREACHED_H
#define NY_EVALUATE_UNREACHED_H

#include "results/shards.h"

/* Lists the rows without coordinates of a result whose record counts some; ny_lost_release() it. */
int ny_evaluate_unreached(struct ny_result *result, struct ny_lost *unreached);
/* Moves an item of each row of the result, a class or a cluster, to its number among those that are
 * left. */
void ny_unreached_squeeze(const struct ny_lost *unreached, uint32_t *items, uint64_t rows);
/* Makes an array of all rows from one of those that are left, in the place of *items, with
 * UINT32_MAX of the others. */
int ny_unreached_spread(const struct ny_lost *unreached, struct ny_context *ctx, uint32_t **items,
                        uint64_t rows);

#endif
