/*
 * Finds a shortest path between two rows of a stored graph. ny_path() and pages call it.
 *
 * The component of the two rows is loaded as edges. Distances of all its nodes from the first row
 * are computed once; the path is then traced back from the second row over edges whose length is
 * exactly the difference of the distances, which every node that is reached has.
 */
#include "results/path.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "graph/buckets.h"
#include "results/record.h"

/* Backwards from the end over edges that a shortest path may take: next[v] is the node after v. */
static void trace(const struct ny_edges *graph, const uint32_t ends[2], const float *distance,
                  uint32_t *next, uint32_t *queue)
{
    uint32_t from = ends[0], to = ends[1], begin = 0, end = 0;

    for (uint32_t v = 0; v < graph->n; v++)
        next[v] = NY_NO_ROW;
    next[to] = to;
    queue[end++] = to;
    while (next[from] == NY_NO_ROW && begin < end) {
        uint32_t v = queue[begin++];
        float here = distance[v];

        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
            uint32_t w = graph->target[e];
            float before = distance[w];

            if (next[w] != NY_NO_ROW || before + graph->length[e] != here) continue;
            next[w] = v;
            queue[end++] = w;
        }
    }
}

/* Follows the trace from the first row to the last, and keeps the rows and the length up to
 * each. */
static int follow(struct ny_stored_path *path, const struct ny_edges *graph, const uint32_t ends[2],
                  const float *distance)
{
    uint32_t *next = ny_calloc(path->ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
    uint32_t *queue = ny_calloc(path->ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
    uint32_t v;
    int err = NY_EBUDGET;

    if (!next || !queue) goto done;
    trace(graph, ends, distance, next, queue);
    path->count = 1;
    for (v = ends[0]; v != ends[1]; v = next[v])
        path->count++;
    path->rows = ny_calloc(path->ctx, NY_MEM_OTHER, path->count, sizeof(uint64_t));
    path->lengths = ny_calloc(path->ctx, NY_MEM_OTHER, path->count, sizeof(double));
    if (!path->rows || !path->lengths) goto done;
    v = ends[0];
    for (size_t k = 0; k < path->count; k++, v = next[v]) {
        path->rows[k] = graph->row[v];
        path->lengths[k] = (double)distance[v];
    }
    err = NY_OK;
done:
    ny_free(path->ctx, queue);
    ny_free(path->ctx, next);
    return err;
}

/* Refuses a row that the graph does not have, and names it. */
static int check_rows(const struct ny_stored_path *path, const struct ny_stored_graph *graph,
                      uint64_t from, uint64_t to)
{
    if (from < graph->n && to < graph->n) return NY_OK;
    return ny_fail(path->ctx, NY_EUSAGE, "the rows of '%s' are 0 to %llu", graph->keep.name,
                   (unsigned long long)graph->n - 1);
}

/* *component: that of both rows. */
static int find_component(const struct ny_stored_path *path, const struct ny_stored_graph *graph,
                          const uint64_t rows[2], uint32_t *component)
{
    uint64_t from, to;
    int err = ny_stored_components(graph, rows[0], 1, &from);

    if (err == NY_OK) err = ny_stored_components(graph, rows[1], 1, &to);
    if (err) return err;
    *component = (uint32_t)from;
    if (from == to) return NY_OK;
    return ny_fail(path->ctx, NY_EDATA,
                   "'%s' has no path from row %llu to row %llu; make a graph with more --neighbors",
                   graph->keep.name, (unsigned long long)rows[0], (unsigned long long)rows[1]);
}

/* Distances of all nodes from one, in their place. */
static int find_distances(const struct ny_edges *graph, uint32_t from, float *distance)
{
    const struct ny_reach reach = {.distance = distance, .stride = 1};
    struct ny_layout l = {.ctx = graph->ctx};
    struct ny_buckets *buckets = ny_buckets_lay(&l, graph);
    int err;

    if (!buckets) return ny_layout_end(&l);
    for (uint32_t v = 0; v < graph->n; v++)
        distance[v] = INFINITY;
    err = ny_buckets_run(buckets, &reach, from);
    ny_layout_free(&l);
    return err;
}

/* Says why a row of the component is not reached: lengths of paths are f32, as those of edges. */
static int not_reached(const struct ny_stored_path *path, const struct ny_stored_graph *graph,
                       const struct ny_edges *edges)
{
    double sum = 0;

    for (uint64_t e = 0; e < edges->head[edges->n]; e++)
        sum += (double)edges->length[e];
    if (sum > (double)FLT_MAX)
        return ny_fail(path->ctx, NY_ENUMERIC,
                       "the path in '%s' is too long for f32; make the graph of lengths in a "
                       "larger unit",
                       graph->keep.name);
    return ny_fail_damaged(path->ctx, graph->keep.name, graph->keep.place);
}

int ny_stored_path_find(struct ny_stored_path *path, const struct ny_stored_graph *graph,
                        uint64_t from, uint64_t to)
{
    const uint64_t rows[2] = {from, to};
    struct ny_edges edges = {0};
    float *distance = NULL;
    uint32_t component, ends[2];
    int err;

    *path = (struct ny_stored_path){.ctx = graph->keep.ctx};
    err = check_rows(path, graph, from, to);
    if (err == NY_OK) err = find_component(path, graph, rows, &component);
    if (err) return err;
    err = ny_stored_edges(graph, component, &edges);
    if (err) goto done;
    distance = ny_calloc(path->ctx, NY_MEM_TILES, edges.n, sizeof(float));
    err = NY_EBUDGET;
    if (!distance) goto done;
    for (size_t k = 0; k < 2; k++)
        ends[k] = edges.node[rows[k]];
    err = find_distances(&edges, ends[0], distance);
    if (err == NY_OK && !(distance[ends[1]] < INFINITY))
        err = not_reached(path, graph, &edges);
    if (err == NY_OK) err = follow(path, &edges, ends, distance);
done:
    ny_free(path->ctx, distance);
    ny_edges_release(&edges);
    return err;
}

void ny_stored_path_release(struct ny_stored_path *path)
{
    if (!path->ctx) return;
    ny_free(path->ctx, path->lengths);
    ny_free(path->ctx, path->rows);
    path->ctx = NULL;
}
