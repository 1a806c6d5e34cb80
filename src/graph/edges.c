/*
 * Builds the graph of one component in compressed rows (graph/edges.h) from the lists of neighbours
 * and the bridges; model/graph.c calls it wherever a stored graph is opened.
 *
 * Edges are filled twice. The first time nodes have the order of their rows, or of near ones
 * (lists->order); from these edges graph/order.c finds a numbering in which neighbours are near in
 * memory, and the second fill writes the edges of the renumbered nodes into the same arrays. Each
 * fill walks the lists twice, to count and to put. Every edge is met in the list of one end and
 * entered in both directions, whichever of the lists has it. The result does not depend on the
 * number of threads.
 */
#include "graph/edges.h"

#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "graph/order.h"
#include "graph/pages.h"

/* Workers share the nodes: each counts what the lists of its own give every node, and then knows
 * where that goes, behind what those before it give. Edges come to lie as one worker puts them.
 * More workers would need more memory than the order of the nodes does, which is found later. */
enum { WORKERS = 4 };

struct walk {
    struct ny_edges *graph;
    const struct ny_lists *lists;
    unsigned workers;
    uint32_t *next; /* workers × n: edges of a node, counted; then how many are there already */
};

/* A directed edge that was met. */
typedef void edge_fn(struct ny_edges *graph, uint32_t *next, uint32_t from, uint32_t to,
                     float length);

/* Nodes between two looks at the interrupt. */
enum { CHECK_NODES = 1 << 16 };

/* Calls `each` for both directions of every edge, once: of what nodes from `begin` to `end` list,
 * in their order, in which neighbours are near each other … */
static inline int walk_lists(const struct walk *walk, uint32_t *next, uint32_t begin, uint32_t end,
                             edge_fn *each)
{
    const struct ny_lists *lists = walk->lists;
    struct ny_edges *graph = walk->graph;

    for (uint32_t v = begin; v < end; v++) {
        uint64_t i = graph->row[v];
        int err = v % CHECK_NODES == 0 ? ny_check_interrupt(graph->ctx) : NY_OK;

        if (err) return err;
        for (size_t k = 0; k < lists->t; k++) {
            size_t at = (size_t)i * lists->stored + k;
            uint32_t j = lists->row[at];

            if (!ny_lists_edge(lists, i, k)) continue;
            if (ny_lists_met(lists, i, j)) continue;
            each(graph, next, v, graph->node[j], lists->distance[at]);
            each(graph, next, graph->node[j], v, lists->distance[at]);
        }
    }
    return NY_OK;
}

/* Calls `each` for both directions of every bridge. */
static inline void walk_bridges(const struct walk *walk, uint32_t *next, edge_fn *each)
{
    for (size_t k = 0; k < walk->lists->bridges; k++) {
        const struct ny_bridge *bridge = &walk->lists->bridge[k];
        uint32_t from = walk->graph->node[bridge->from], to = walk->graph->node[bridge->to];

        if (from == NY_NO_ROW) continue;
        each(walk->graph, next, from, to, (float)bridge->length);
        each(walk->graph, next, to, from, (float)bridge->length);
    }
}

/* A worker's share; the bridges are the last one's. */
static inline int walk_share(const struct walk *walk, unsigned worker, edge_fn *each)
{
    uint32_t *next = walk->next + (size_t)worker * walk->graph->n;
    uint64_t n = walk->graph->n;
    int err = walk_lists(walk, next, (uint32_t)(n * worker / walk->workers),
                         (uint32_t)(n * (worker + 1) / walk->workers), each);

    if (err == NY_OK && worker + 1 == walk->workers) walk_bridges(walk, next, each);
    return err;
}

static void count_edge(struct ny_edges *graph, uint32_t *next, uint32_t from, uint32_t to,
                       float length)
{
    (void)graph;
    (void)to;
    (void)length;
    next[from]++;
}

static void put_edge(struct ny_edges *graph, uint32_t *next, uint32_t from, uint32_t to,
                     float length)
{
    uint64_t at = graph->head[from] + next[from]++;

    graph->target[at] = to;
    graph->length[at] = length;
}

static int count_share(void *walk, unsigned worker)
{
    return walk_share(walk, worker, count_edge);
}

static int put_share(void *walk, unsigned worker)
{
    return walk_share(walk, worker, put_edge);
}

/* head[v] is where v's edges begin, next what of them comes before a worker's. */
static void place_edges(struct walk *walk)
{
    struct ny_edges *graph = walk->graph;

    graph->head[0] = 0;
    for (uint32_t v = 0; v < graph->n; v++) {
        uint32_t before = 0;

        for (unsigned w = 0; w < walk->workers; w++) {
            uint32_t *next = walk->next + (size_t)w * graph->n + v, count = *next;

            *next = before;
            before += count;
        }
        graph->head[v + 1] = graph->head[v] + before;
    }
}

/* Lays out room for the edges once they are counted, which the second fill uses again. */
static void lay_edges(struct ny_layout *l, struct ny_edges *graph, uint64_t directed)
{
    graph->target = ny_lay(l, NY_MEM_DICTIONARY, (size_t)directed, sizeof(uint32_t));
    graph->length = ny_lay(l, NY_MEM_DICTIONARY, (size_t)directed, sizeof(float));
}

/* Edges of the nodes, as they are numbered. */
static int fill(struct ny_edges *graph, const struct ny_lists *lists)
{
    struct ny_layout l = {.ctx = graph->ctx};
    unsigned threads = ny_context_threads(l.ctx);
    struct walk walk = {graph, lists, threads < WORKERS ? threads : WORKERS, NULL};
    int err;

    walk.next = ny_lay(&l, NY_MEM_DICTIONARY, (size_t)walk.workers * graph->n, sizeof(uint32_t));
    err = l.err ? l.err : ny_parallel(l.ctx, walk.workers, count_share, &walk);
    if (err == NY_OK) {
        place_edges(&walk);
        if (!graph->target) lay_edges(&graph->own, graph, graph->head[graph->n]);
        err = graph->own.err;
    }
    if (err == NY_OK) err = ny_parallel(l.ctx, walk.workers, put_share, &walk);
    ny_layout_free(&l);
    return err;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Node v becomes node place[v]. */
static void renumber(struct ny_edges *graph, const uint32_t *place, uint32_t *before)
{
    memcpy(before, graph->row, graph->n * sizeof(*before));
    for (uint32_t v = 0; v < graph->n; v++) {
        graph->row[place[v]] = before[v];
        graph->node[before[v]] = place[v];
    }
}

/* Finds the numbering and gives rows and nodes their new numbers; edges are then filled again. */
static int order(struct ny_edges *graph)
{
    struct ny_layout l = {.ctx = graph->ctx};
    uint32_t *place = ny_lay(&l, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t)), *before;
    int err;

    for (uint32_t v = 0; v < graph->n && graph->near; v++)
        ny_order_targets(graph->target + graph->head[v],
                         (size_t)(graph->head[v + 1] - graph->head[v]));
    err = place ? ny_order_nodes(graph, place) : NY_EBUDGET;
    before = err ? NULL : ny_lay(&l, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
    if (before) renumber(graph, place, before);
    if (err == NY_OK) err = l.err;
    ny_layout_free(&l);
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void lay_nodes(struct ny_layout *l, struct ny_edges *graph, uint64_t points)
{
    size_t n = graph->n;

    graph->head = ny_lay(l, NY_MEM_DICTIONARY, n + 1, sizeof(uint64_t));
    graph->row = ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint32_t));
    graph->node = ny_lay(l, NY_MEM_DICTIONARY, (size_t)points, sizeof(uint32_t));
    ny_patches_lay(l, &graph->patches, n);
}

/* Sets mean_length and longest. */
static void measure(struct ny_edges *graph)
{
    const uint64_t directed = graph->head[graph->n];
    double sum = 0;

    for (uint64_t e = 0; e < directed; e++) {
        sum += (double)graph->length[e];
        graph->longest = fmax(graph->longest, (double)graph->length[e]);
    }
    graph->mean_length = directed ? sum / (double)directed : 0;
}

int ny_edges_new(struct ny_edges *graph, struct ny_context *ctx, const struct ny_lists *lists,
               const struct ny_components *components, uint32_t component)
{
    uint32_t v = 0;
    int err;

    *graph = (struct ny_edges){.own.ctx = ctx, .ctx = ctx, .near = !!lists->order};
    for (uint64_t i = 0; i < lists->n; i++)
        graph->n += components->of[i] == component;
    lay_nodes(&graph->own, graph, lists->n);
    err = graph->own.err;
    if (err) goto done;
    for (uint64_t k = 0; k < lists->n; k++) {
        uint64_t i = lists->order ? lists->order[k] : k;

        graph->node[i] = NY_NO_ROW;
        if (components->of[i] != component) continue;
        graph->row[v] = (uint32_t)i;
        graph->node[i] = v++;
    }
    err = fill(graph, lists);
    if (err == NY_OK) err = order(graph);
    if (err == NY_OK) err = fill(graph, lists);
    if (err == NY_OK) measure(graph);
done:
    if (err) ny_edges_release(graph);
    return err;
}

void ny_edges_release(struct ny_edges *graph)
{
    if (graph->pages) ny_scratch_close(&graph->pages->file);
    ny_layout_free(&graph->own);
    *graph = (struct ny_edges){0};
}

bool ny_edges_has(const void *graph, uint64_t row)
{
    return ((const struct ny_edges *)graph)->node[row] != NY_NO_ROW;
}

/* A patch holds a cell or is a piece of one. */
uint64_t ny_patches_most(uint64_t nodes)
{
    return nodes / NY_CELL_LEAST + nodes / NY_PATCH_NODES + 2;
}

void ny_patches_lay(struct ny_layout *l, struct ny_patches *patches, uint64_t nodes)
{
    size_t most = (size_t)ny_patches_most(nodes), steps = (size_t)nodes / NY_PATCH_STEP;

    patches->first = ny_lay(l, NY_MEM_DICTIONARY, most + 1, sizeof(uint32_t));
    patches->of = ny_lay(l, NY_MEM_DICTIONARY, steps + 1, sizeof(uint32_t));
}

void ny_edges_lay(struct ny_layout *l, struct ny_edges *graph, uint64_t points, uint64_t edges)
{
    lay_nodes(l, graph, points);
    lay_edges(l, graph, 2 * edges);
}

/* Places of the nodes, and what finds them; that is more than the workers' counts. */
void ny_edges_making_count(struct ny_layout *l, uint64_t nodes)
{
    ny_lay(l, NY_MEM_DICTIONARY, (size_t)nodes, sizeof(uint32_t));
    ny_order_lay(l, nodes);
}
