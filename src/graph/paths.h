/*
 * Finds shortest paths over a graph, from batches of sources at a time. A node's distances from all
 * sources of a batch are one vector of NY_LANES (16) floats, or of fewer lanes, NY_HALF_LANES (8),
 * NY_FEW_LANES (4) or 1, where memory is scarce. Sweeps (graph/sweep.h) call it for the landmarks
 * of isomap.
 *
 * Distances have the same bits whichever way they are found, since each is the least of f32 sums
 * along paths, and each sum runs from its source outwards. The order in which paths are tried, the
 * lanes, the threads and the ways below change only the time.
 *
 * Sources of a batch that have a common direction share the work. The distance from the source in
 * their midst (the centre) says which way is outwards. Beyond the ball around the centre that holds
 * all sources, paths lead outwards, or nearly: nodes are relaxed in the order of their distances
 * from the centre, each for all sources at once and 1.1 times on average. That distance is one of
 * those that are found, so that it is known when a front comes to a node. Within the ball each
 * source has a search of its own. The ball therefore has to be small: batches are formed by halving
 * the sources along their longest extent (graph/batches.c).
 *
 * Two limits were measured. The order of the search outwards has to be kept to a dozen edges. The
 * ball may not be made smaller: with four fifths of its radius, nodes are relaxed 4 to 500 times.
 *
 * Small worlds, in which any node is a few edges from any other, have no common direction. There
 * the ball is nearly the whole graph, or the search outwards gives up once nodes were relaxed eight
 * times on average; the batch then goes source by source.
 *
 * All of these searches go patch by patch (graph/buckets.h). Nodes are numbered by halving the
 * graph again and again (graph/order.h), so that a patch of at most 1,024 nodes is in cache while
 * it is worked on.
 */
#ifndef NY_GRAPH_PATHS_H
#define NY_GRAPH_PATHS_H

#include "base/layout.h"
#include "graph/edges.h"

enum { NY_LANES = 16, NY_HALF_LANES = 8, NY_FEW_LANES = 4 };
/* Up to so many sources are searched from one by one: a shared search is not worth the order. */
enum { NY_ALONE = 2 };

/* One thread's: room for the distances of a batch, and what is pending. */
struct ny_paths;
/* Lays out the workspace of one thread for a graph, which must outlive it, and batches of so many
 * lanes: NY_LANES, NY_HALF_LANES, NY_FEW_LANES or 1. */
struct ny_paths *ny_paths_lay(struct ny_layout *l, const struct ny_edges *graph, size_t lanes);
/* Returns how many sources a thread searches from in the time of one in a batch of NY_LANES, where
 * batches have so many lanes: measured. */
double ny_paths_rate(size_t lanes);

/* Distances from `count` ≤ lanes source nodes, the nearer to one another the faster: n × lanes,
 * node by node, ∞ where there is no path and in lanes ≥ count; valid until the next
 * call. Fails where it is interrupted, and is of no more use then. */
int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances);

#endif
