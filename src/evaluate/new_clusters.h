/* The clusters of new rows: of those that an evaluation has left with a result (results/clusters.h)
 * the one whose centre a row's place is nearest to, as k-means would put it. */
#ifndef NY_EVALUATE_NEW_CLUSTERS_H
#define NY_EVALUATE_NEW_CLUSTERS_H

#include "io/writer.h"
#include "results/parts.h"

/* Finds the clusters of rows while they are placed, and writes their numbers, u64. */
struct ny_cluster_finder {
    struct ny_context *ctx;
    const char *output; /* a file; NULL: `number` */
    uint64_t *number;   /* room for one a row */
    size_t k, p;
    double *centre; /* k × p, the means of the clusters' rows; NaN of a cluster without rows */
    uint64_t found; /* rows so far */
    struct ny_writer *writer;
};

/* Computes the centres, in one pass over the embedding, and charges 8·k·p bytes. NY_EUSAGE where
 * the result has no clusters, or its rows are others than those that were clustered. Close it
 * after a failure, too. */
int ny_cluster_finder_open(struct ny_cluster_finder *finder, struct ny_store *store,
                           const char *name);
/* Does so for a result that is open, of the k clusters of its first `rows` rows. */
int ny_cluster_finder_of(struct ny_cluster_finder *finder, struct ny_result *result, size_t k,
                         uint64_t rows);
/* Opens the file of so many rows (NY_ROWS_COUNTED: as many as come). */
int ny_cluster_finder_begin(struct ny_cluster_finder *finder, uint64_t rows);
/* Takes the next rows of the embedding, count × p, f64 or f32. */
int ny_cluster_finder_put(struct ny_cluster_finder *finder, bool f64, const void *rows,
                          size_t count);
/* Gives the file its name. */
int ny_cluster_finder_end(struct ny_cluster_finder *finder);
/* Frees the centres, and drops a file that has not got its name. */
void ny_cluster_finder_close(struct ny_cluster_finder *finder);

/* Carries the clusters that a result had before a frozen update to the rows that this has added, if
 * that is still to be done: each gets the cluster whose centre is nearest. Where the budget is too
 * small it warns, and the next call does it. The caller has the lock of the NAME. */
int ny_clusters_carry(struct ny_store *store, const char *name);

#endif
