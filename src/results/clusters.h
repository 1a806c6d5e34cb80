/* Clusters of a result's rows, which an evaluation leaves with it: a number for each row. */
#ifndef NY_RESULTS_CLUSTERS_H
#define NY_RESULTS_CLUSTERS_H

#include "results/parts.h"

/* Returns how many clusters there are of the rows that the result has now, after any update. */
size_t ny_stored_clusters(const struct ny_result *result);
/* Gets the clusters of rows first … first + count − 1, as u64. */
int ny_stored_clusters_get(struct ny_result *result, uint64_t first, size_t count, void *out);
/* Replaces them. If the store is not to be written, or the result is in other hands or was changed
 * since it was opened, warns and stores nothing. */
int ny_stored_clusters_put(const struct ny_result *result, const uint32_t *cluster, size_t count);

#endif
