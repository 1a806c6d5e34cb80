/*
 * Parts of a result that its record no longer names: those from before an update, listed as stale
 * (results/update.c), and clusters of other rows than it has (results/clusters.h). Whoever opened
 * the result earlier may still read them, so that they stay until the next update begins, or are
 * left out of a compact copy.
 */
#ifndef NY_RESULTS_UNNEEDED_H
#define NY_RESULTS_UNNEEDED_H

#include "results/record.h"

/* Calls `each` with the parts that this record no longer names, whether they are there or not. */
int ny_unneeded_of(const json_t *record, ny_part_fn *each, void *user);
/* Does so for the result under NAME; of one whose record cannot be read all parts are needed. */
int ny_unneeded_parts(struct ny_store *store, const char *name, ny_part_fn *each, void *user);

#endif
