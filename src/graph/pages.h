/*
 * The edges of a graph in a temporary file, patch by patch, where memory has no room for them. A
 * search walks them through a few pages, each the edges of one patch, and takes the page that was
 * used longest ago for another patch. Searches go outwards patch by patch (graph/paths.h), so that
 * the pages of a front are enough, unless the graph is a small world.
 *
 * Nodes have the numbers that they have in memory (graph/order.h), and paths have the same bits.
 * The file has no name, so that it never outlives the process; a job that goes on makes it again.
 */
#ifndef NY_GRAPH_PAGES_H
#define NY_GRAPH_PAGES_H

#include "base/layout.h"
#include "base/scratch.h"
#include "graph/edges.h"

struct ny_pages {
    struct ny_scratch file;
    uint64_t *at;               /* patches + 1: where in the file the edges of a patch begin */
    uint64_t directed;          /* edges, each twice */
    size_t bytes;               /* of the pages that a search holds */
    size_t largest;             /* of what one patch has in the file */
    struct ny_targets *targets; /* by the first numbers of nodes, until these are in order */
};

/* Targets of the edges while nodes have the numbers that they begin with: blocks of the file, each
 * in the one window that it may be in. */
enum { NY_TARGETS = 1024, NY_TARGET_WINDOWS = 256 };

struct ny_targets {
    struct ny_scratch file;
    uint64_t block[NY_TARGET_WINDOWS]; /* that a window has, counted from 1; 0: none */
    uint32_t window[NY_TARGET_WINDOWS][NY_TARGETS];
    int err;
};

/* Lists of neighbours that are read again and again, from the first row to the last. */
struct ny_list_source {
    struct ny_lists lists; /* row and distance are NULL; bridges are there */
    size_t piece_rows;     /* rows that are read at a time */
    size_t pages_bytes;    /* of the pages of a search, ny_pages_held() */
    const char *folder;    /* for the file */
    /* Reads rows first … first + count − 1, count × stored numbers each. */
    int (*read)(void *arg, uint64_t first, size_t count, uint32_t *row, float *distance);
    /* Fails with NY_ESTORE: what a list says cannot be so. */
    int (*damaged)(void *arg);
    void *arg;
};

/* Makes the graph of the points whose graph->node is not NY_NO_ROW, which numbers them in any
 * order, on which that of ny_order_nodes() depends; graph->node, graph->n, graph->ctx and
 * graph->own.ctx are set before. Sets the rest but head, target, length and row. Release it also
 * after an error. NY_EBUDGET where the edges of one patch are more than the pages of a search, or
 * there are more than ny_pages_most() patches. */
int ny_pages_build(struct ny_edges *graph, const struct ny_list_source *source);
/* Returns the node at the other end of directed edge e, while the order of the nodes is found;
 * 0 after an error, which ny_pages_targets_error() returns. */
uint32_t ny_pages_target(const struct ny_edges *graph, uint64_t e);
/* Returns the first error of these reads. */
int ny_pages_targets_error(const struct ny_edges *graph);
/* Lays out what a graph of graph->n nodes among so many points holds beside its file; graph->node
 * unless it is there. */
void ny_pages_lay(struct ny_layout *l, struct ny_edges *graph, uint64_t points);
/* Counts the most that ny_pages_build() takes besides. */
void ny_pages_making_count(struct ny_layout *l, uint64_t nodes,
                           const struct ny_list_source *source);
/* Returns the most bytes of its files at a time: the pages, where each of so many edges is there
 * once, and the ends of what all rows list (graph/ends.h). */
static inline uint64_t ny_pages_disk_bytes(uint64_t nodes, uint64_t edges, size_t neighbors)
{
    uint64_t record = sizeof(uint32_t) + sizeof(float), end = sizeof(uint32_t) + record;

    return nodes * (sizeof(uint64_t) + 2 * neighbors * end) + 2 * edges * record;
}
/* Returns the most patches whose edges are put in pages. */
uint64_t ny_pages_most(uint64_t nodes);
/* Returns a graph that has the most patches which one of so many nodes can have, for layouts that
 * count. `pages`, where they are given, become those of so many edges; NULL: it is in memory. */
struct ny_edges ny_edges_planned(uint64_t nodes, uint64_t edges, struct ny_pages *pages);
/* Returns the bytes of the pages of one search: a 32nd of what the edges take in memory. */
size_t ny_pages_held(uint64_t edges);

/* The pages of one search. */
struct ny_page_cache;
/* Lays out room for them: graph->pages->bytes. NULL for a graph in memory. */
struct ny_page_cache *ny_page_cache_lay(struct ny_layout *l, const struct ny_edges *graph);
/* Returns the first error of a read since the last call. A patch that was not read has no edges. */
int ny_page_cache_error(struct ny_page_cache *cache);

/* Returns the edges of a graph, each once. */
static inline uint64_t ny_edges_count(const struct ny_edges *graph)
{
    return (graph->pages ? graph->pages->directed : graph->head[graph->n]) / 2;
}

/* The edges of nodes first, first + 1 …: node first + i has those from head[i] to head[i + 1]. */
struct ny_edge_page {
    uint32_t first;
    const uint64_t *head;
    const uint32_t *target;
    const float *length;
};
/* Returns the page of a patch, which is valid until the next call. */
const struct ny_edge_page *ny_page_of(struct ny_page_cache *cache, uint32_t patch);

/* Returns the edges of a node, and others, in memory or on a page; cache NULL: in memory. */
static inline struct ny_edge_page ny_page_with(const struct ny_edges *graph,
                                               struct ny_page_cache *cache, uint32_t node)
{
    if (!cache) return (struct ny_edge_page){0, graph->head, graph->target, graph->length};
    return *ny_page_of(cache, ny_patch_of(&graph->patches, node));
}

#endif
