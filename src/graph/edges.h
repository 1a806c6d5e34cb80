/*
 * The graph as shortest paths want it: compressed rows of a component's nodes, numbered so that
 * neighbours in the graph are near in memory.
 *
 * Nodes are grown in patches: breadth first from a seed until a patch is full, the next seed from
 * what the patches so far border on. Plain breadth-first order keeps neighbours near, too, but its
 * shells have long borders, which paths cross again and again.
 */
#ifndef NY_GRAPH_EDGES_H
#define NY_GRAPH_EDGES_H

#include "graph/components.h"

/* Nodes of a patch: their distances from 16 sources take 64 KiB. */
enum { NY_PATCH_NODES = 1024 };

struct ny_edges {
    struct ny_context *ctx;
    uint32_t n;       /* nodes */
    uint64_t *head;   /* n + 1: where a node's edges begin; in all head[n], each edge twice */
    uint32_t *target; /* nodes */
    float *length;
    uint32_t *row;    /* n: the point that a node is, … */
    uint32_t *node;   /* … of all points: the node it is, or NY_NO_ROW */
};

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

#endif
