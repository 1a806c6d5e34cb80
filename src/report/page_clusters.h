/* The section of a report about the clusters that an evaluation has left with a result. */
#ifndef NY_REPORT_PAGE_CLUSTERS_H
#define NY_REPORT_PAGE_CLUSTERS_H

#include "report/sink.h"
#include "results/parts.h"

/* Writes how many clusters there are, how many rows each has, and what was measured of them;
 * nothing where there are none. */
void ny_put_clusters(struct ny_sink *sink, const struct ny_result *result);

#endif
