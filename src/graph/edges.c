#include "graph/edges.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "graph/order.h"

/* Directed edges as they are listed: i → its k-th neighbour, both ways where it is one. */
typedef void edge_fn(struct ny_edges *graph, uint32_t from, uint32_t to, float length);

static bool listed_back(const struct ny_lists *lists, uint64_t i, uint64_t j)
{
    for (size_t k = 0; k < lists->t; k++)
        if (lists->row[j * lists->stored + k] == i && ny_lists_edge(lists, j, k)) return true;
    return false;
}

/* Rows between two looks at the interrupt. */
enum { CHECK_ROWS = 1 << 16 };

/* Calls `each` for both directions of every edge among the nodes, once. */
static int walk(struct ny_edges *graph, const struct ny_lists *lists, edge_fn *each)
{
    for (uint64_t i = 0; i < lists->n; i++) {
        int err = i % CHECK_ROWS == 0 ? ny_check_interrupt(graph->ctx) : NY_OK;

        if (err) return err;
        if (graph->node[i] == NY_NO_ROW) continue;
        for (size_t k = 0; k < lists->t; k++) {
            size_t at = (size_t)i * lists->stored + k;
            uint32_t j = lists->row[at];

            if (!ny_lists_edge(lists, i, k)) continue;
            if (j < i && listed_back(lists, i, j)) continue; /* it was met from there */
            each(graph, graph->node[i], graph->node[j], lists->distance[at]);
            each(graph, graph->node[j], graph->node[i], lists->distance[at]);
        }
    }
    for (size_t k = 0; k < lists->bridges; k++) {
        const struct ny_bridge *bridge = &lists->bridge[k];
        uint32_t from = graph->node[bridge->from], to = graph->node[bridge->to];

        if (from == NY_NO_ROW) continue;
        each(graph, from, to, (float)bridge->length);
        each(graph, to, from, (float)bridge->length);
    }
    return NY_OK;
}

static void count_edge(struct ny_edges *graph, uint32_t from, uint32_t to, float length)
{
    (void)to;
    (void)length;
    graph->head[from + 1]++;
}

/* head[v] moves to the end of v's edges, which is where those of v + 1 begin. */
static void put_edge(struct ny_edges *graph, uint32_t from, uint32_t to, float length)
{
    uint64_t at = graph->head[from]++;

    graph->target[at] = to;
    graph->length[at] = length;
}

/* Edges of each node, counted from `head` on. */
static int count(struct ny_edges *graph, const struct ny_lists *lists)
{
    int err;

    memset(graph->head, 0, ((size_t)graph->n + 1) * sizeof(uint64_t));
    err = walk(graph, lists, count_edge);
    for (uint32_t v = 0; v < graph->n; v++)
        graph->head[v + 1] += graph->head[v];
    return err;
}

static int put(struct ny_edges *graph, const struct ny_lists *lists)
{
    int err = walk(graph, lists, put_edge);

    for (uint32_t v = graph->n; v > 0; v--)
        graph->head[v] = graph->head[v - 1];
    graph->head[0] = 0;
    return err;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Row v of the graph becomes row place[v]; `word` is room for one of each. */
static int renumber(struct ny_edges *graph, const struct ny_lists *lists, const uint32_t *place,
                    uint32_t *word)
{
    for (uint32_t v = 0; v < graph->n; v++)
        word[place[v]] = graph->row[v];
    memcpy(graph->row, word, (size_t)graph->n * sizeof(uint32_t));
    for (uint32_t v = 0; v < graph->n; v++) {
        graph->node[graph->row[v]] = v;
        word[place[v]] = (uint32_t)(graph->head[v + 1] - graph->head[v]);
    }
    for (uint32_t v = 0; v < graph->n; v++)
        graph->head[v + 1] = graph->head[v] + word[v];
    return put(graph, lists);
}

static int order(struct ny_edges *graph, const struct ny_lists *lists)
{
    struct ny_context *ctx = graph->ctx;
    uint32_t *place = ny_calloc(ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t)), *word = NULL;
    int err = place ? ny_order_nodes(graph, place) : NY_EBUDGET;

    if (err == NY_OK) {
        word = ny_calloc(ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
        err = word ? renumber(graph, lists, place, word) : NY_EBUDGET;
    }
    ny_free(ctx, word);
    ny_free(ctx, place);
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int allocate_nodes(struct ny_edges *graph, const struct ny_lists *lists)
{
    size_t n = graph->n;

    graph->head = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, n + 1, sizeof(uint64_t));
    graph->row = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, n, sizeof(uint32_t));
    graph->node = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, (size_t)lists->n, sizeof(uint32_t));
    graph->patches.first = ny_calloc(graph->ctx, NY_MEM_DICTIONARY,
                                     (size_t)ny_patches_most(n) + 1, sizeof(uint32_t));
    graph->patches.of = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, n / NY_PATCH_STEP + 1,
                                  sizeof(uint32_t));
    return graph->head && graph->row && graph->node && graph->patches.first && graph->patches.of
               ? NY_OK
               : NY_EBUDGET;
}

static int allocate_edges(struct ny_edges *graph)
{
    size_t directed = (size_t)graph->head[graph->n];

    graph->target = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, directed, sizeof(uint32_t));
    graph->length = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, directed, sizeof(float));
    return graph->target && graph->length ? NY_OK : NY_EBUDGET;
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

    *graph = (struct ny_edges){.ctx = ctx};
    for (uint64_t i = 0; i < lists->n; i++)
        graph->n += components->of[i] == component;
    err = allocate_nodes(graph, lists);
    if (err) goto done;
    for (uint64_t i = 0; i < lists->n; i++) {
        graph->node[i] = NY_NO_ROW;
        if (components->of[i] != component) continue;
        graph->row[v] = (uint32_t)i;
        graph->node[i] = v++;
    }
    err = count(graph, lists);
    if (err == NY_OK) err = allocate_edges(graph);
    if (err == NY_OK) err = put(graph, lists);
    if (err == NY_OK) err = order(graph, lists);
    if (err == NY_OK) measure(graph);
done:
    if (err) ny_edges_release(graph);
    return err;
}

void ny_edges_release(struct ny_edges *graph)
{
    if (!graph->ctx) return;
    ny_free(graph->ctx, graph->head);
    ny_free(graph->ctx, graph->row);
    ny_free(graph->ctx, graph->node);
    ny_free(graph->ctx, graph->target);
    ny_free(graph->ctx, graph->length);
    ny_free(graph->ctx, graph->patches.first);
    ny_free(graph->ctx, graph->patches.of);
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

size_t ny_edges_bytes(uint64_t n, uint64_t nodes, uint64_t edges)
{
    uint64_t patches = ny_patches_most(nodes) + 1 + nodes / NY_PATCH_STEP + 1;

    return (size_t)((n + nodes + patches) * sizeof(uint32_t) + (nodes + 1) * sizeof(uint64_t) +
                    2 * edges * (sizeof(uint32_t) + sizeof(float)));
}

/* Places of the nodes, and what finds them. */
size_t ny_edges_building_bytes(uint64_t nodes)
{
    return (size_t)nodes * sizeof(uint32_t) + ny_order_bytes(nodes);
}
