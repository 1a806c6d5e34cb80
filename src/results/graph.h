/* Reads the lists that a graph job has stored, in pieces or as a whole. */
#ifndef NY_RESULTS_GRAPH_H
#define NY_RESULTS_GRAPH_H

#include "graph/edges.h"
#include "results/embedding.h"

struct ny_stored_graph {
    struct ny_store *store;
    const char *name;
    uint64_t n;
    uint64_t largest, largest_edges; /* rows of the largest component; its edges, of a graph of an
                                      * older version those of all */
    size_t neighbors, stored; /* columns that count, and all */
    double limit;
    bool mutual;
    size_t bridges; /* edges beside those of the lists */
};

/* Facts about the graph that a NAME has made: in the report of a graph itself, in "graph" of that
 * of a fit. */
json_t *ny_graph_facts(const json_t *record);
/* Returns the layout of a part of `columns` 4-byte numbers a row: neighbours, distances, rows. */
struct ny_embedding_layout ny_graph_layout(const char *part, uint64_t n, size_t columns);

/* Sets it from the record of a graph, or of a fit that made its own; false, and neighbors = 0, for
 * any other record. */
bool ny_stored_graph_of(struct ny_stored_graph *graph, struct ny_store *store, const char *name,
                        const json_t *record);

/* NY_ESTORE where what the record says of it cannot be so. */
int ny_stored_graph_check(const struct ny_stored_graph *graph);

/* Rows first … first + count − 1, count × neighbors values: distances, ∞ beyond the limit, and row
 * numbers, 2⁶⁴ − 1 there. room: count × stored × 4 bytes. */
int ny_stored_distances(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, float *out);
/* Reads the row numbers, in the same form. */
int ny_stored_neighbors(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, uint64_t *out);
/* Component numbers of rows first … first + count − 1. */
int ny_stored_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                         uint64_t *out);
/* The next `count` rows of the largest component from row *next on, which moves on. */
int ny_stored_largest(const struct ny_stored_graph *graph, uint64_t *next, size_t count,
                      uint64_t *out);

/* Loads a component into memory; ny_edges_release() it. The second: bytes held besides
 * meanwhile. */
int ny_stored_edges(const struct ny_stored_graph *graph, uint32_t component,
                    struct ny_edges *edges);
/* Returns the bytes that ny_stored_edges() holds besides its result. */
size_t ny_stored_edges_bytes(const struct ny_stored_graph *graph);

#endif
