/* Clusters of a result's rows, which an evaluation leaves with it: a number for each row. */
#ifndef NY_RESULTS_CLUSTERS_H
#define NY_RESULTS_CLUSTERS_H

#include "results/parts.h"

/* Clusters whose sizes are told with them, at most: a record is small. */
enum { NY_CLUSTERS_LISTED = 256 };

/* Returns how many clusters there are of the rows that the result has now, after any update. */
size_t ny_stored_clusters(const struct ny_result *result);
/* Gets the clusters of rows first … first + count − 1, as u64. */
int ny_stored_clusters_get(struct ny_result *result, uint64_t first, size_t count, void *out);
/* Returns what the evaluation that found the clusters has measured of them, which belongs to the
 * record; NULL: there are none of its rows, or nothing was kept. */
const json_t *ny_stored_clusters_figures(const json_t *record);
/* Returns what is known of them: `clusters`, how many; `cluster_sizes`, of up to
 * NY_CLUSTERS_LISTED; and of how many `rows` the measures are that an evaluation has given it. NULL
 * where there are none; json_decref() it. */
json_t *ny_stored_clusters_told(const json_t *record);
/* Tells whether two shards of a store have clusters that one evaluation of all has found: the same
 * is told of both. */
bool ny_stored_clusters_same(const json_t *record, const json_t *other);
/* Computes a digest of what is told of them, by which processes compare those of their shards; 0
 * where there are none. */
int ny_stored_clusters_digest(struct ny_context *ctx, const json_t *record, uint64_t *digest);
/* Calls `each` with the parts of clusters that this record neither has nor carries. */
int ny_stored_clusters_unneeded(const json_t *record, ny_part_fn *each, void *user);
/* Replaces them; `figures` is what is told of these. If the store is not to be written, or was
 * compacted since it was opened, or the result is in other hands or was changed since then, warns
 * and stores nothing. */
int ny_stored_clusters_put(const struct ny_result *result, const uint32_t *cluster, size_t count,
                           const json_t *figures);

/* Makes the clusters of a result, if it has some, those of `record`, which is to take its place,
 * and has rows more: they are to be carried to these. */
void ny_stored_clusters_pass_on(const json_t *result, json_t *record);
/* Returns how many clusters of its first *rows rows the result has that are to be carried to the
 * others; 0: none. ny_stored_clusters_get() gets those of these rows. */
size_t ny_carried_clusters(const struct ny_result *result, uint64_t *rows);
/* Opens a writer for the clusters of all rows, beside those that there are. The caller has the lock
 * of the NAME. */
int ny_carried_clusters_open(const struct ny_result *result, struct ny_embedding_writer *writer);
/* Stores what the writer has so far. */
int ny_carried_clusters_flush(struct ny_embedding_writer *writer);
/* Stores the rest, and makes these `count` clusters, of so many rows each, those of the result. */
int ny_carried_clusters_end(const struct ny_result *result, struct ny_embedding_writer *writer,
                            size_t count, const uint64_t *sizes);

#endif
