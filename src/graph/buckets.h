/*
 * Shortest paths from one source over a graph, by buckets of rising distance, a quarter
 * of an edge wide, in a ring: one is emptied, also of what comes into it meanwhile, before the
 * next one is looked at.
 */
#ifndef NY_GRAPH_BUCKETS_H
#define NY_GRAPH_BUCKETS_H

#include "graph/pages.h"

/* The distances that a search lowers: distance[v · stride] of each node v or, if `within` is given,
 * of those alone whose `within` is not 0. */
struct ny_reach {
    float *distance;
    size_t stride;
    const uint8_t *within;
};

struct ny_buckets;
/* Makes the buckets of one thread for a graph, which must outlive them. NY_EBUDGET: *out is NULL.
 */
int ny_buckets_new(struct ny_buckets **out, const struct ny_edges *graph);
/* Frees the buckets; NULL is allowed. */
void ny_buckets_free(struct ny_buckets *buckets);
/* Returns the bytes that ny_buckets_new() charges for a graph of so many nodes, beside the pages of
 * one that is not in memory. */
size_t ny_buckets_bytes(uint64_t nodes);
/* Returns the pages through which the buckets read edges, between two searches; NULL: the graph is
 * in memory. */
struct ny_page_cache *ny_buckets_pages(struct ny_buckets *buckets);
/* Bytes for each node that ny_buckets_lend() lends. */
enum { NY_LENT_BYTES = 8 };
/* Lends the memory of the buckets' links, NY_LENT_BYTES a node, until ny_buckets_take_back(). No
 * search may run meanwhile: graph/patches.c keeps the order of nodes in it. */
void *ny_buckets_lend(struct ny_buckets *buckets);
/* Takes the lent memory back and marks every node as waiting in no bucket. */
void ny_buckets_take_back(struct ny_buckets *buckets);

/* The distances from `source`, where they are less than what is there: nodes that it comes no
 * nearer to are not passed. Fails where it is interrupted, and is of no more use then. */
int ny_buckets_run(struct ny_buckets *buckets, const struct ny_reach *reach, uint32_t source);

#endif
