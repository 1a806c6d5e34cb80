/*
 * Shortest paths over a graph in memory, from batches of NY_LANES sources at a time, all of whose
 * distances to a node are one vector.
 *
 * From one source in the midst of a batch, its centre, all distances are found first; they say
 * which way is outwards. The ball around the centre that holds the sources is searched from one
 * after the other, by buckets. Beyond it all paths lead outwards, or nearly: nodes go in the order
 * of their distances from the centre, each for all sources at once, most of them once
 * (graph/patches.c). Where a graph has no such directions, as any node is a few edges from any
 * other, the ball is all of it.
 *
 * Whatever the order in which paths are tried, distances have the same bits: they are minima of
 * sums of f32 along paths, each sum from its source outwards.
 */
#ifndef NY_GRAPH_PATHS_H
#define NY_GRAPH_PATHS_H

#include "graph/edges.h"

enum { NY_LANES = 16 };

/* One thread's: room for the distances of a batch, and what is pending. */
struct ny_paths;
int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph);
void ny_paths_free(struct ny_paths *paths);
size_t ny_paths_bytes(uint64_t nodes);

/* Distances from `count` ≤ NY_LANES source nodes, the nearer to one another the faster: n ×
 * NY_LANES, node by node, ∞ where there is no path and in lanes ≥ count; valid until the next
 * call. Fails where it is interrupted, and is of no more use then. */
int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances);

#endif
