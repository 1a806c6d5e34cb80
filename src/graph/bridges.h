/*
 * Bridges: the shortest edges that join the components of a graph, a minimum spanning tree among
 * them (Borůvka 1926). In a round each component but the largest finds its closest pair, a row of
 * it and one of another component: its rows are compared with all points, NY_COMPARE_ROWS of them a
 * pass, in f64. Joined components are one in the next round, which has at most half as many.
 */
#ifndef NY_GRAPH_BRIDGES_H
#define NY_GRAPH_BRIDGES_H

#include "graph/components.h"
#include "graph/knn.h"

struct ny_bridging {
    struct ny_knn knn; /* of 1 neighbour */
    const struct ny_components *components; /* of the round */
    struct ny_bridge *found; /* room for as many as there were components at first */
    struct ny_bridge *best;  /* as many: the closest pair of each component of the round so far */
    size_t count;            /* found */
};

/* Begins a round: no pair is known yet for its components. */
void ny_bridges_begin(struct ny_bridging *bridging);
/* Compares the next rows outside the largest component, from *row on, which moves on; to n where
 * there are no more. */
int ny_bridges_compare(struct ny_bridging *bridging, uint64_t *row);
size_t ny_bridges_compare_bytes(const struct ny_knn *knn);
/* The pairs of a round become bridges, but for those that close a ring with others. */
int ny_bridges_take(struct ny_bridging *bridging);

#endif
