/*
 * A coarser graph: each node is taken together with those of its neighbours that are still free and
 * to which it is strongly tied, and A_c = RᵀAR, R the indicators of these aggregates. Degrees are
 * sums of degrees, so that vectors Rz_c have the Rayleigh quotients of z_c in D − A beside D
 * (Galerkin's choice), and the coarser problem is one of the same kind. Edges inside of aggregates
 * do not change D − A and are in its degrees alone.
 */
#ifndef NY_GRAPH_COARSE_H
#define NY_GRAPH_COARSE_H

#include "graph/affinity.h"

struct ny_coarse {
    uint32_t *of; /* the aggregate of each node of the finer graph */
    uint32_t *first, *member; /* and the nodes of each: those of k are member[first[k]] … */
    struct ny_edges graph; /* n, head and target alone */
    struct ny_affinity affinity;
};

/* Makes the coarser graph in a layout. joined: aggregates of fewer than eight nodes are joined with
 * others. NY_EBUDGET. */
int ny_coarse_new(struct ny_coarse *coarse, struct ny_layout *l, const struct ny_affinity *fine,
                  bool joined);
/* Counts the most for so many nodes and entries (two an edge) of the finer graph; what is left in
 * the end has half of the entries. */
void ny_coarse_count(struct ny_layout *l, size_t nodes, size_t entries);

#endif
