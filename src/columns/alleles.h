/* Means and variances of columns of genotypes (NY_GENOTYPE), some of which are missing. */
#ifndef NY_COLUMNS_ALLELES_H
#define NY_COLUMNS_ALLELES_H

#include "base/layout.h"
#include "stream/rows.h"

/* Makes mean and variance those of the genotypes that are there, in all rows (of all shards), and
 * minimum and maximum equal where these are all the same; and counts what is missing. One pass.
 * NY_EBUDGET. */
int ny_alleles_measure(struct ny_rows *X, unsigned workers, struct ny_rows_stats *stats);
/* Counts what it charges beside the statistics. */
void ny_alleles_count(struct ny_layout *l, const struct ny_rows_info *points, unsigned workers);

#endif
