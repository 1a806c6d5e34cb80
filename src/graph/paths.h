/*
 * Shortest paths from many sources over a graph in memory: batches of NY_LANES sources at a time on
 * each thread, all of whose distances to a node are one vector.
 *
 * Two methods, which give the same bits: distances are minima of sums of f32 along paths, each sum
 * from its source outwards, whatever the order in which paths are tried.
 *
 *   patches   nodes in patches (graph/edges.h): one is relaxed in cache until it is quiet, then its
 *             neighbours are woken, the nearest first. Fast where sources of a batch are near one
 *             another and the graph is like a surface or a body.
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
int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph);
void ny_paths_free(struct ny_paths *paths);

/* Distances from `count` ≤ NY_LANES source nodes: n × NY_LANES, node by node, ∞ where there is no
 * path and in lanes ≥ count; valid until the next call. */
const float *ny_paths_from(struct ny_paths *paths, enum ny_paths_way way, const uint32_t *sources,
                           size_t count);

/* Batches of sources in node order over all threads: `take` gets the distances of each, one call at
 * a time, in no certain order; sources[first …] are those of the lanes. `sources` is sorted here.
 * The first two batches decide the way. */
typedef int ny_paths_fn(void *arg, size_t first, size_t count, const float *distances);
int ny_paths_run(const struct ny_edges *graph, uint32_t *sources, size_t count, ny_paths_fn *take,
                 void *arg);

#endif
