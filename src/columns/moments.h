/* Means and variances of columns over all shards of X, the same however its rows are cut into
 * shards. */
#ifndef NY_COLUMNS_MOMENTS_H
#define NY_COLUMNS_MOMENTS_H

#include "base/layout.h"
#include "stream/rows.h"

/* Tells whether the rows that are read are whole numbers. */
bool ny_moments_whole(const struct ny_rows_info *points);
/* Rounds the means of whole numbers to what the sums of these give, which are whole, too: means of
 * statistics that were merged may be off by some last bits, which depend on the order. */
void ny_moments_round(struct ny_rows_stats *stats);
/* Returns the passes over the rows that ny_moments_of_shards() makes: none for points of one store,
 * for whole numbers, whose statistics are exact as they are, and for sparse rows. */
unsigned ny_moments_passes(const struct ny_rows_info *points, bool variances);
/* Replaces the means, and the variances if they are wanted, by those of exact sums; minima and
 * maxima are read. NY_EBUDGET, errors of the store or of peers, or an interrupt. */
int ny_moments_of_shards(struct ny_rows *X, struct ny_rows_stats *stats, bool variances);
/* Counts what it charges beside the statistics, where it makes a pass. */
void ny_moments_count(struct ny_layout *l, const struct ny_rows_info *points);

#endif
