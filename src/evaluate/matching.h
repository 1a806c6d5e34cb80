/* The best matching of clusters and classes, each of one with at most one of the other. */
#ifndef NY_EVALUATE_MATCHING_H
#define NY_EVALUATE_MATCHING_H

#include "base/layout.h"

/* *matched: the most rows that lie in a cluster and the class matched with it (the assignment
 * problem). counts: clusters × classes. O(s²·l) time for the shorter and the longer side s and l.
 */
int ny_matching_most(struct ny_context *ctx, const uint64_t *counts, size_t clusters,
                     size_t classes, uint64_t *matched);
/* Counts what it holds while it runs. */
void ny_matching_count(struct ny_layout *l, size_t clusters, size_t classes);

#endif
