/*
 * Shortest paths over a graph from one source, or from a batch of them at once, patch by patch. A
 * patch goes by the least distance of its nodes that wait; it is relaxed for a stretch, by buckets
 * of rising distance that are in cache (graph/relax.h), and waits again where more is to be done.
 */
#ifndef NY_GRAPH_BUCKETS_H
#define NY_GRAPH_BUCKETS_H

#include "base/layout.h"
#include "graph/pages.h"

/* The distances that a search lowers: distance[v · stride] of each node v. */
struct ny_reach {
    float *distance;
    size_t stride;
    size_t lanes; /* 0: that alone; else those of so many sources, distance[v · stride + l], … */
    size_t key;   /* … in the order of this lane's */
    const float *within; /* if it is given, for one source: … */
    float radius;        /* … only nodes of within[v · stride] ≤ radius are passed */
};

struct ny_buckets;
/* Lays out the workspace of one thread for a graph, which must outlive it. */
struct ny_buckets *ny_buckets_lay(struct ny_layout *l, const struct ny_edges *graph);
/* Returns the pages through which the buckets read edges, between two searches; NULL: the graph is
 * in memory. */
struct ny_page_cache *ny_buckets_pages(struct ny_buckets *buckets);

/* The distances from `source`, where they are less than what is there: nodes that it comes no
 * nearer to are not passed. Fails where it is interrupted, and is of no more use then. */
int ny_buckets_run(struct ny_buckets *buckets, const struct ny_reach *reach, uint32_t source);

/* Has a node wait whose edges are to be tried; `key`: its distance in the lane of the order. */
void ny_buckets_wait(struct ny_buckets *buckets, uint32_t node, float key);
/* Tells whether some node waits. */
bool ny_buckets_left(const struct ny_buckets *buckets);
/* Has no node wait any more. */
void ny_buckets_forget(struct ny_buckets *buckets);
/* Tries the edges of the nodes that wait, in the order of their keys, until the key of all that are
 * left is above `until`, or more than `most` nodes were relaxed; some are then left. Fails as
 * ny_buckets_run() does. */
int ny_buckets_go(struct ny_buckets *buckets, const struct ny_reach *reach, float until,
                  uint64_t most);

#endif
