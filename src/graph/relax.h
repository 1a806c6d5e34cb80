/* The inner loop of shortest paths by patches, compiled once for each CPU family. */
#ifndef NY_GRAPH_RELAX_H
#define NY_GRAPH_RELAX_H

#include "base/cpu.h"
#include "graph/pages.h"
#include "graph/paths.h"

/* A node has come nearer: its edges are to be tried, at its place in the order. */
typedef void ny_wake_fn(void *arg, uint32_t node);

struct ny_patch {
    struct ny_edge_page edges;  /* of its nodes */
    float *distance;       /* of all nodes, × lanes */
    size_t lanes;          /* NY_LANES or NY_FEW_LANES */
    const float *centre;   /* of all nodes: gives the order */
    const uint16_t *place; /* the place in that order in their patch */
    uint8_t *waits;        /* of all nodes */
    uint32_t first, count;
    float from, until; /* the stretch: distances from the centre of the nodes that are relaxed */
    uint64_t relaxed;  /* out: so many more */
    ny_wake_fn *wake;  /* called for nodes of other patches, and for one of this that still waits */
    void *arg;
};

/* Tries the edges of the patch's nodes in the stretch that wait, and of those that come nearer by
 * that, until none waits. */
typedef void ny_relax_fn(struct ny_patch *patch);
/* Returns the loop that was compiled for this CPU. */
ny_relax_fn *ny_relax(void);

#endif
