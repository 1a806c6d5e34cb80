/* The inner loop of shortest paths by patches, compiled once for each CPU family. */
#ifndef NY_GRAPH_RELAX_H
#define NY_GRAPH_RELAX_H

#include "base/cpu.h"
#include "graph/paths.h"

/* A node outside of the patch has come nearer: its edges are to be tried. Its distances, NY_LANES,
 * and the least of those that changed. */
typedef void ny_wake_fn(void *arg, uint32_t node, float least, const float *distances);

struct ny_patch {
    const struct ny_edges *graph;
    float *distance; /* of all nodes, × NY_LANES */
    uint8_t *waits;  /* of all nodes */
    uint32_t first, count;
    uint32_t *queue; /* room for NY_PATCH_NODES */
    ny_wake_fn *wake;
    void *arg;
};

/* Tries the edges of the patch's nodes that wait, and of those that come nearer by that, until none
 * waits. */
typedef void ny_relax_fn(const struct ny_patch *patch);
ny_relax_fn *ny_relax(void);

#endif
