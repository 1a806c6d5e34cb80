/*
 * Numbers the nodes of a graph so that neighbours are near in memory, and cuts the numbering into
 * patches (graph/order.h). ny_edges_new() calls it between its two fills.
 *
 * Cells of up to 64 nodes are grown breadth first; a cell of fewer than 16 nodes is a gap that its
 * neighbours left, and joins one of them. The graph of cells is then halved until each half has at
 * most 1,024 nodes: a breadth-first search from an entry orders the cells of a set, the nearer half
 * of the nodes stays with that entry, and the first cell of the farther half becomes its entry. The
 * recursion starts at an end of the graph: the cell farthest from the one farthest from cell 0.
 * Unfinished jobs hold arrays by node: a change of the order has to raise NY_NODE_ORDER.
 */
#include "graph/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "graph/pages.h"

/* Nodes of a cell at most; fewer than NY_CELL_LEAST are rather part of another one: they are a gap
 * that the cells around it left. */
enum { CELL_NODES = 64 };

struct ny_order {
    struct ny_edges *graph;
    uint32_t *place; /* n: the result, as far as `placed` */
    uint32_t placed;
    uint32_t cells, reached;
    uint32_t *cell;  /* n: the one that a node is of */
    uint32_t *node;  /* n: nodes, cell by cell … */
    uint32_t *start; /* cells + 2: … from start[c] to start[c + 1] */
    uint32_t *near;  /* 2 n: nodes as they were reached; then cells that a cell borders on … */
    uint32_t *head;  /* cells + 1: … from head[c] to head[c + 1] */
    uint32_t *set;   /* cells: parts of it are cut in two */
    uint32_t *queue; /* cells, as they were reached */
    uint32_t *mark;  /* cells: `round` in those that are to be reached */
    uint32_t round;
};

/* ---- cells ---------------------------------------------------------------------------------- */

/* Returns the other end of an edge. */
static inline uint32_t target_of(const struct ny_edges *graph, uint64_t e)
{
    return graph->target ? graph->target[e] : ny_pages_target(graph, e);
}

/* Nodes that no cell has yet, breadth first from v; or what was left between cells joins one. */
static void grow_cell(struct ny_order *order, uint32_t v)
{
    const struct ny_edges *graph = order->graph;
    uint32_t queue[CELL_NODES] = {v}, begin = 0, end = 1, beside = NY_NO_ROW;

    order->cell[v] = order->cells;
    while (begin < end) {
        uint32_t u = queue[begin++];

        for (uint64_t e = graph->head[u]; e < graph->head[u + 1]; e++) {
            uint32_t w = target_of(graph, e);

            if (order->cell[w] != NY_NO_ROW) {
                if (order->cell[w] != order->cells) beside = order->cell[w];
            } else if (end < CELL_NODES) {
                order->cell[w] = order->cells;
                queue[end++] = w;
            }
        }
    }
    memcpy(order->near + order->reached, queue, end * sizeof(uint32_t));
    order->reached += end;
    if (end >= NY_CELL_LEAST || beside == NY_NO_ROW) order->cells++;
    else
        while (end > 0)
            order->cell[queue[--end]] = beside;
}

/* Cells of NY_CELL_LEAST nodes, and one. */
static uint64_t cells_most(uint64_t nodes)
{
    return nodes / NY_CELL_LEAST + 1;
}

/* Grows cells until every node is in one. NY_ESTORE if there are more than the nodes of one
 * component can make: then the stored edges do not join it. */
static int grow_cells(struct ny_order *order)
{
    struct ny_context *ctx = order->graph->ctx;
    const uint32_t n = order->graph->n;

    for (uint32_t v = 0; v < n; v++)
        order->cell[v] = NY_NO_ROW;
    for (uint32_t v = 0; v < n; v++) {
        int err = v % (1 << 16) == 0 ? ny_check_interrupt(ctx) : NY_OK;

        if (err) return err;
        if (order->cell[v] == NY_NO_ROW) grow_cell(order, v);
    }
    if (order->cells <= cells_most(n)) return NY_OK;
    return ny_fail_damaged(ctx, NULL, NULL);
}

/* Nodes by cells: counted at c + 2, so that start[c + 1] is where the next one of c goes. */
static void list_nodes(struct ny_order *order)
{
    const uint32_t n = order->graph->n;

    memset(order->start, 0, ((size_t)order->cells + 2) * sizeof(uint32_t));
    for (uint32_t v = 0; v < n; v++)
        order->start[order->cell[v] + 2]++;
    for (uint32_t c = 0; c < order->cells; c++)
        order->start[c + 2] += order->start[c + 1];
    for (uint32_t i = 0; i < n; i++)
        order->node[order->start[order->cell[order->near[i]] + 1]++] = order->near[i];
}

/* Lists the cells that a cell borders on, at most two for a node: all, where cells are regions. */
static void join_cells(struct ny_order *order)
{
    const struct ny_edges *graph = order->graph;
    uint32_t count = 0;

    for (uint32_t c = 0; c < order->cells; c++)
        order->mark[c] = NY_NO_ROW;
    for (uint32_t c = 0; c < order->cells; c++) {
        order->head[c] = count;
        for (uint32_t i = order->start[c]; i < order->start[c + 1]; i++) {
            uint32_t v = order->node[i];

            for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
                uint32_t other = order->cell[target_of(graph, e)];

                if (other == c || order->mark[other] == c) continue;
                if (count == 2 * order->start[c + 1]) break;
                order->mark[other] = c;
                order->near[count++] = other;
            }
        }
    }
    order->head[order->cells] = count;
    memset(order->mark, 0, (size_t)order->cells * sizeof(uint32_t));
}

/* ---- halves --------------------------------------------------------------------------------- */

/* All cells of the set into the queue, breadth first from one of them; further pieces, where it is
 * in pieces, after it. */
static void reach(struct ny_order *order, const uint32_t *set, uint32_t count, uint32_t from)
{
    uint32_t begin = 0, end = 0, next = 0;

    order->round++;
    for (uint32_t i = 0; i < count; i++)
        order->mark[set[i]] = order->round;
    while (end < count) {
        while (end > 0 && order->mark[set[next]] != order->round)
            next++;
        if (end > 0) from = set[next];
        order->mark[from] = 0;
        order->queue[end++] = from;
        while (begin < end) {
            uint32_t c = order->queue[begin++];

            for (uint32_t i = order->head[c]; i < order->head[c + 1]; i++) {
                uint32_t other = order->near[i];

                if (order->mark[other] != order->round) continue;
                order->mark[other] = 0;
                order->queue[end++] = other;
            }
        }
    }
}

static uint32_t nodes_of(const struct ny_order *order, uint32_t cell)
{
    return order->start[cell + 1] - order->start[cell];
}

/* The cells are a patch; or one alone, which is too large, several. */
static void place_patch(struct ny_order *order, const uint32_t *set, uint32_t count)
{
    struct ny_patches *patches = &order->graph->patches;
    uint32_t first = order->placed;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = order->start[set[i]]; k < order->start[set[i] + 1]; k++) {
            if ((order->placed - first) % NY_PATCH_NODES == 0)
                patches->first[patches->count++] = order->placed;
            order->place[order->node[k]] = order->placed++;
        }
}

/* Halves a set of cells by nodes, not by cells, until a part is a patch. The order of the search in
 * each half becomes the order of the nodes. */
static void cut(struct ny_order *order, uint32_t *set, uint32_t count, uint32_t entry)
{
    uint32_t nodes = 0, before = 0, left = 0;

    for (uint32_t i = 0; i < count; i++)
        nodes += nodes_of(order, set[i]);
    reach(order, set, count, entry);
    memcpy(set, order->queue, (size_t)count * sizeof(uint32_t));
    if (count == 1 || nodes <= NY_PATCH_NODES) {
        place_patch(order, set, count);
        return;
    }
    while (left < count - 1 && before + nodes_of(order, set[left]) / 2 < nodes / 2)
        before += nodes_of(order, set[left++]);
    if (left == 0) left = 1;
    cut(order, set, left, entry);
    cut(order, set + left, count - left, set[left]);
}

/* Cuts from one end of the graph: the cell farthest from the cell that is farthest from cell 0. */
static void cut_all(struct ny_order *order)
{
    uint32_t last = order->cells - 1;

    for (uint32_t c = 0; c < order->cells; c++)
        order->set[c] = c;
    reach(order, order->set, order->cells, 0);
    reach(order, order->set, order->cells, order->queue[last]);
    cut(order, order->set, order->cells, order->queue[last]);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static uint32_t *words(struct ny_layout *l, uint64_t count)
{
    return ny_lay(l, NY_MEM_DICTIONARY, (size_t)count, sizeof(uint32_t));
}

struct ny_order *ny_order_lay(struct ny_layout *l, uint64_t n)
{
    struct ny_order spare, *order = ny_lay_struct(l, NY_MEM_DICTIONARY, sizeof(spare), &spare);
    uint64_t cells = cells_most(n);

    order->cell = words(l, n);
    order->node = words(l, n);
    order->near = words(l, 2 * n);
    order->start = words(l, cells + 2);
    order->head = words(l, cells + 1);
    order->set = words(l, cells);
    order->queue = words(l, cells);
    order->mark = words(l, cells);
    return ny_laid(l, order);
}

void ny_order_targets(uint32_t *target, size_t count)
{
    enum { FEW = 16 };

    if (count > FEW) qsort(target, count, sizeof(*target), ny_compare_nodes);
    for (size_t i = 1; i < count && count <= FEW; i++) {
        uint32_t moved = target[i];
        size_t k = i;

        for (; k > 0 && target[k - 1] > moved; k--)
            target[k] = target[k - 1];
        target[k] = moved;
    }
}

int ny_order_nodes(struct ny_edges *graph, uint32_t *place)
{
    struct ny_patches *patches = &graph->patches;
    struct ny_layout l = {.ctx = graph->ctx};
    struct ny_order *order = ny_order_lay(&l, graph->n);
    int err;

    if (!order) return ny_layout_end(&l);
    order->graph = graph;
    order->place = place;
    err = grow_cells(order);
    if (err == NY_OK) {
        list_nodes(order);
        join_cells(order);
    }
    if (err == NY_OK && !graph->target) err = ny_pages_targets_error(graph);
    if (err == NY_OK) {
        patches->count = 0;
        cut_all(order);
        patches->first[patches->count] = graph->n;
        for (uint32_t v = 0, p = 0; v < graph->n; v += NY_PATCH_STEP) {
            while (patches->first[p + 1] <= v)
                p++;
            patches->of[v / NY_PATCH_STEP] = p;
        }
    }
    ny_layout_free(&l);
    return err;
}
