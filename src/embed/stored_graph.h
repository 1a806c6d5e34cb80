/* What a graph job has stored, read in pieces. */
#ifndef NY_EMBED_STORED_GRAPH_H
#define NY_EMBED_STORED_GRAPH_H

#include "embed/graph_job.h"

struct ny_stored_graph {
    struct ny_store *store;
    const char *name;
    uint64_t n;
    size_t neighbors, stored; /* columns that count, and all */
    double limit;
    bool mutual;
};

/* From its record, which must live on; false, and neighbors = 0, where it is of no graph. */
bool ny_stored_graph_of(struct ny_stored_graph *graph, struct ny_store *store, const char *name,
                        const json_t *record);

/* Rows first … first + count − 1, count × neighbors values: distances, ∞ beyond the limit, and row
 * numbers, 2⁶⁴ − 1 there. room: count × stored × 4 bytes. */
int ny_stored_distances(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, float *out);
int ny_stored_neighbors(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, uint64_t *out);
/* All `stored` columns of all rows, as they are. */
int ny_stored_lists(const struct ny_stored_graph *graph, uint32_t *rows, float *distances);
/* Component numbers of rows first … first + count − 1. */
int ny_stored_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                         uint64_t *out);
/* The next `count` rows of the largest component from row *next on, which moves on. */
int ny_stored_largest(const struct ny_stored_graph *graph, uint64_t *next, size_t count,
                      uint64_t *out);

#endif
