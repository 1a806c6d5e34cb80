/*
 * Shortest paths over a graph in memory, from batches of NY_LANES sources at a time, all of whose
 * distances to a node are one vector.
 *
 * Two methods, which give the same bits: distances are minima of sums of f32 along paths, each sum
 * from its source outwards, whatever the order in which paths are tried.
 *
 *   patches   nodes in patches (graph/order.h), relaxed one by one for all sources at once. Fast
 *             where sources of a batch are near one another and the graph is like a surface or a
 *             body.
 *   buckets   one source after the other, nodes in buckets of rising distance. Where any node is a
 *             few edges from any other, patches are visited too often.
 */
#ifndef NY_GRAPH_PATHS_H
#define NY_GRAPH_PATHS_H

#include "graph/edges.h"

enum { NY_LANES = 16 };

enum ny_paths_way { NY_PATHS_PATCHES, NY_PATHS_BUCKETS };

/* One thread's: room for the distances of a batch, and what is pending. */
struct ny_paths;
int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph, enum ny_paths_way way);
void ny_paths_free(struct ny_paths *paths);
size_t ny_paths_bytes(uint64_t nodes, enum ny_paths_way way);

/* Distances from `count` ≤ NY_LANES source nodes: n × NY_LANES, node by node, ∞ where there is no
 * path and in lanes ≥ count; valid until the next call. Fails where it is interrupted, and is of no
 * more use then. */
int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances);

/* Of NY_PATHS_BUCKETS, which ny_paths_from() is not called with: one source more. Distances (n) are
 * from the nearest of all, and what comes no nearer is not looked at. */
int ny_paths_join(struct ny_paths *paths, uint32_t source, const float **near);

#endif
