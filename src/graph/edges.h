/*
 * The graph as shortest paths want it: compressed rows of a component's nodes, numbered so that
 * neighbours in the graph are near in memory at every scale (graph/order.h).
 */
#ifndef NY_GRAPH_EDGES_H
#define NY_GRAPH_EDGES_H

#include "base/layout.h"
#include "graph/components.h"

/* The most nodes of a patch: their distances from 16 sources take 64 KiB. Patches are made of
 * cells, which have at least NY_CELL_LEAST nodes unless there is only one. */
enum { NY_PATCH_NODES = 1024, NY_PATCH_STEP = 64, NY_CELL_LEAST = 16 };

/* Nodes first[p] to first[p + 1] - 1 are patch p; of[v / NY_PATCH_STEP] is that of the first node
 * of so many. */
struct ny_patches {
    uint32_t count, *first, *of;
};

struct ny_pages;

struct ny_edges {
    struct ny_layout own;
    struct ny_context *ctx;
    uint32_t n;       /* nodes */
    uint64_t *head;   /* n + 1: where a node's edges begin; in all head[n], each edge twice */
    uint32_t *target; /* nodes */
    float *length;
    double mean_length, longest;
    bool near;        /* nodes begin in the order of near rows, not in that of all */
    bool affinities;  /* `length` has affinities of the edges, which no path is measured by */
    uint32_t *row;    /* n: the point that a node is */
    uint32_t *node;   /* of all points: the node it is, or NY_NO_ROW */
    struct ny_patches patches;
    struct ny_pages *pages; /* has the edges where memory has no room for them (graph/pages.h):
                             * head, target, length and row are then NULL */
};

/* Returns the patch of a node: the entry of its stretch of NY_PATCH_STEP nodes, and from there on a
 * short search. */
static inline uint32_t ny_patch_of(const struct ny_patches *patches, uint32_t node)
{
    uint32_t patch = patches->of[node / NY_PATCH_STEP];

    while (node >= patches->first[patch + 1])
        patch++;
    return patch;
}

/* Makes the graph of the points of component `component`, with all edges among them. distance of
 * `lists` is needed, whether there is a limit or not. */
int ny_edges_new(struct ny_edges *graph, struct ny_context *ctx, const struct ny_lists *lists,
               const struct ny_components *components, uint32_t component);
/* Frees a graph; a zeroed one is left alone. */
void ny_edges_release(struct ny_edges *graph);
/* Tells whether the point is a node of the graph, for selections among nodes. */
bool ny_edges_has(const void *graph, uint64_t row);
/* Lays out what a graph of graph->n nodes among so many points holds, with so many edges. */
void ny_edges_lay(struct ny_layout *l, struct ny_edges *graph, uint64_t points, uint64_t edges);
/* Counts what ny_edges_new() takes beside the graph while it makes it. */
void ny_edges_making_count(struct ny_layout *l, uint64_t nodes);
/* Lays out the patches of so many nodes. */
void ny_patches_lay(struct ny_layout *l, struct ny_patches *patches, uint64_t nodes);
/* The most patches that so many nodes can have. */
uint64_t ny_patches_most(uint64_t nodes);

#endif
