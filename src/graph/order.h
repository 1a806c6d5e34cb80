/*
 * A numbering of a graph's nodes in which neighbours are near in memory at every scale, and its
 * patches: runs of it that are small enough for a core's cache and border on few others.
 *
 * Nodes are grown together in cells of some 64. The graph of the cells is cut in two halves, one
 * near an entry and the other, and each half again, until it is a patch; the second half is entered
 * where a front from the entry meets it. So a stretch of the numbering is a compact region of the
 * graph, however long, and shortest paths from sources in it run side by side (graph/pages.c).
 */
#ifndef NY_GRAPH_ORDER_H
#define NY_GRAPH_ORDER_H

#include "graph/edges.h"

/* The version of the order, raised whenever it changes, as unfinished jobs have arrays by node; and
 * where nodes are numbered along near rows at first (graph/near_rows.h). */
enum { NY_NODE_ORDER = 1, NY_NODE_ORDER_NEAR = 2 };

/* Sorts the other ends of a node's edges, before the order is found, where nodes are not numbered
 * along their rows at first: the order depends on it, and not on how the edges were met. */
void ny_order_targets(uint32_t *target, size_t count);
/* place[v] (graph->n) of each node; and graph->patches, of places. */
int ny_order_nodes(struct ny_edges *graph, uint32_t *place);
/* Lays out what ny_order_nodes() holds while it runs. */
struct ny_order;
struct ny_order *ny_order_lay(struct ny_layout *l, uint64_t nodes);

#endif
