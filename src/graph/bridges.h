/*
 * Finds bridges: the shortest edges that join the components of a graph, a minimum spanning tree
 * among them (Borůvka 1926). Option --connect of the verb graph asks for them; neighbors/connect.c
 * runs the rounds and saves their state.
 *
 * Each component but the largest finds its closest pair in a round, a row of it and one of another
 * component: the rows outside the largest component are compared with all points in f64,
 * NY_COMPARE_ROWS (256) of them in a pass. Joined components are one in the next round, in which at
 * most half of the others are left beside the largest. Pairs have one order (length, then row
 * numbers), so that two components which are closest to each other choose the same pair; a pair
 * that would close a ring is left out.
 *
 * Bridges are kept beside the lists of neighbours, in a part of their own, so that the neighbours
 * of a row stay what they are.
 */
#ifndef NY_GRAPH_BRIDGES_H
#define NY_GRAPH_BRIDGES_H

#include "graph/components.h"
#include "nearest/knn.h"

struct ny_bridging {
    struct ny_knn knn; /* of 1 neighbour */
    const struct ny_components *components; /* of the round */
    struct ny_bridge *found; /* room for as many as there were components at first */
    struct ny_bridge *best;  /* as many: the closest pair of each component of the round so far */
    size_t count;            /* found */
};

/* Begins a round: no pair is known yet for its components. */
void ny_bridges_begin(struct ny_bridging *bridging);
/* Compares the next NY_COMPARE_ROWS rows outside the largest component, from *row on, in one pass
 * over all points. *row moves behind them, and to n when there are no more. */
int ny_bridges_compare(struct ny_bridging *bridging, uint64_t *row);
/* Counts what ny_bridges_compare() takes while it runs, beside the source of the points. */
void ny_bridges_count(struct ny_layout *l, const struct ny_knn *knn);
/* The pairs of a round become bridges, but for those that close a ring with others. */
int ny_bridges_take(struct ny_bridging *bridging);

#endif
