/* Writing the parts of a result to files. */
#ifndef NY_RESULTS_EXPORT_H
#define NY_RESULTS_EXPORT_H

#include "results/parts.h"

/* The rows that an export leaves out because they cannot be read any more. */
enum { NY_SALVAGE_RANGES = 16 };
struct ny_salvage {
    uint64_t rows;
    size_t count; /* entries of `range`, the first ones in order */
    struct ny_row_range range[NY_SALVAGE_RANGES];
    uint64_t more; /* ranges beyond those */
};

/* NY_EUSAGE, with the list of parts, for a name that is none of ny_parts(). */
int ny_part_check(struct ny_context *ctx, const char *name);
/* Exports a part of ny_parts(). NY_EUSAGE where this result does not have it; the result must be
 * done. Damaged rows give NY_ESTORE; with a salvage (zeros before) they are marked, counted there
 * and warned of, unless no row is left. */
int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output,
                   struct ny_salvage *salvage);

/* Exports a part of the points themselves: points, raw-points, labels, source. */
int ny_points_export(struct ny_store *store, const char *part, const char *output,
                     struct ny_salvage *salvage);

/* Exports a part of a result that all shards of a store have, or of their points (name NULL), by
 * the peers of this shard's context, each of which makes this call for its own. NY_EUSAGE where the
 * models of shards differ, and for parts that only one process can export. */
int ny_part_export_peers(struct ny_store *store, const char *name, const char *part,
                         const char *output);

/* Writes the embedding as a table of `rows` rows, those of the file that was imported: each row
 * stands where it stood there, and rows that have no place are NaN. */
int ny_embedding_spread(struct ny_store *store, const char *name, const char *output,
                        uint64_t rows);

#endif
