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

/* Makes the coarser graph. joined: aggregates of fewer than eight nodes are joined with others.
 * NY_EBUDGET; release it then, too. */
int ny_coarse_new(struct ny_coarse *coarse, const struct ny_affinity *fine, bool joined);
/* Frees a coarser graph, of any state that ny_coarse_new() leaves; a zeroed one is left alone. */
void ny_coarse_release(struct ny_coarse *coarse);
/* The most bytes for so many nodes and entries (two an edge) of the finer graph. */
size_t ny_coarse_bytes(uint64_t nodes, uint64_t entries);

#endif
