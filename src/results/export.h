/* Writing the parts of a result to files. */
#ifndef NY_RESULTS_EXPORT_H
#define NY_RESULTS_EXPORT_H

#include "results/parts.h"

/* NY_EUSAGE, with the list of parts, for a name that is none of ny_parts(). */
int ny_part_check(struct ny_context *ctx, const char *name);
/* Exports a part of ny_parts(), of a result that is done, or of the points (name NULL). NY_EUSAGE
 * where these do not have it. Damaged rows give NY_ESTORE; with `missing` (0 before) they are
 * marked, counted there and warned of, unless no row is left. */
int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output,
                   uint64_t *missing);

/* Exports a part of a result that all shards of a store have, or of their points (name NULL), by
 * the peers of this shard's context, each of which makes this call for its own. NY_EUSAGE where the
 * models of shards differ, and for parts that only one process can export. */
int ny_part_export_peers(struct ny_store *store, const char *name, const char *part,
                         const char *output);

#endif
