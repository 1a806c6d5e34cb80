/*
 * The graph as shortest paths want it: compressed rows of a component's nodes, numbered so that
 * neighbours in the graph are near in memory at every scale (graph/order.h).
 */
#ifndef NY_GRAPH_EDGES_H
#define NY_GRAPH_EDGES_H

#include "graph/components.h"

/* Nodes of a patch at most: their distances from 16 sources take 64 KiB. And of a cell, of which
 * patches are made, at least, but for the only one. */
enum { NY_PATCH_NODES = 1024, NY_PATCH_STEP = 64, NY_CELL_LEAST = 16 };

/* Nodes first[p] to first[p + 1] - 1 are patch p; of[v / NY_PATCH_STEP] is that of the first node
 * of so many. */
struct ny_patches {
    uint32_t count, *first, *of;
};

struct ny_edges {
    struct ny_context *ctx;
    uint32_t n;       /* nodes */
    uint64_t *head;   /* n + 1: where a node's edges begin; in all head[n], each edge twice */
    uint32_t *target; /* nodes */
    float *length;
    double mean_length, longest;
    uint32_t *row;    /* n: the point that a node is, … */
    uint32_t *node;   /* … of all points: the node it is, or NY_NO_ROW */
    struct ny_patches patches;
};

static inline uint32_t ny_patch_of(const struct ny_patches *patches, uint32_t node)
{
    uint32_t patch = patches->of[node / NY_PATCH_STEP];

    while (node >= patches->first[patch + 1])
        patch++;
    return patch;
}

/* Of the points of component `component`, with all edges among them. distance of `lists` is needed,
 * whether there is a limit or not. */
int ny_edges_new(struct ny_edges *graph, struct ny_context *ctx, const struct ny_lists *lists,
               const struct ny_components *components, uint32_t component);
void ny_edges_release(struct ny_edges *graph);
/* The point is a node of the graph: for selections among them. */
bool ny_edges_has(const void *graph, uint64_t row);
/* Of a graph among n points with at most so many nodes and edges; what is held more while it is
 * made. */
size_t ny_edges_bytes(uint64_t n, uint64_t nodes, uint64_t edges);
size_t ny_edges_building_bytes(uint64_t nodes);
/* Patches of so many nodes at most. */
uint64_t ny_patches_most(uint64_t nodes);

#endif
