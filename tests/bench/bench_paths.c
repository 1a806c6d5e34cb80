/*
 * Shortest paths on a surface: source·nodes a second of a textbook Dijkstra with a binary heap, and
 * of graph/paths.h, on the same graph in the same run.
 *
 *   bench_paths [NODES [SOURCES [LANES]]]
 *
 * Nodes lie on a rolled-up sheet in space, at the places of a grid that are moved a little; the six
 * nearest of the places around are neighbours. Rows are shuffled, as data come.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "graph/batches.h"
#include "graph/sweep.h"

enum { T = 6, WINDOW = 2 };

static size_t side, n;
static uint32_t *row_of; /* of each place of the grid */

static void locate(size_t at, double x[3])
{
    double u = (double)(at % side) + 0.8 * ny_hash01(1, NY_STREAM_DATA, 2 * at);
    double v = (double)(at / side) + 0.8 * ny_hash01(1, NY_STREAM_DATA, 2 * at + 1);
    double turn = 1 + 2 * u / (double)side;

    x[0] = turn * cos(3 * turn) * (double)side;
    x[1] = v;
    x[2] = turn * sin(3 * turn) * (double)side;
}

static void shuffle(void)
{
    row_of = malloc(n * sizeof(*row_of));
    for (size_t i = 0; i < n; i++)
        row_of[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = ny_hash64(2, NY_STREAM_DATA, i) % (i + 1);
        uint32_t swap = row_of[i];

        row_of[i] = row_of[j];
        row_of[j] = swap;
    }
}

static void neighbours(size_t at, uint32_t *rows, float *distances)
{
    long x0 = (long)(at % side), y0 = (long)(at / side);
    double here[3], there[3];
    size_t count = 0;

    locate(at, here);
    for (long y = y0 - WINDOW; y <= y0 + WINDOW; y++)
        for (long x = x0 - WINDOW; x <= x0 + WINDOW; x++) {
            size_t other = (size_t)y * side + (size_t)x, k;
            float d;

            if (x < 0 || y < 0 || x >= (long)side || y >= (long)side || other == at) continue;
            locate(other, there);
            d = (float)sqrt(pow(here[0] - there[0], 2) + pow(here[1] - there[1], 2) +
                            pow(here[2] - there[2], 2));
            if (count == T && d >= distances[T - 1]) continue;
            if (count < T) count++;
            for (k = count - 1; k > 0 && distances[k - 1] > d; k--) {
                distances[k] = distances[k - 1];
                rows[k] = rows[k - 1];
            }
            distances[k] = d;
            rows[k] = row_of[other];
        }
    for (; count < T; count++)
        rows[count] = NY_NO_ROW;
}

/* ---- the textbook ---------------------------------------------------------------------------- */

struct entry {
    float distance;
    uint32_t node;
};

static double textbook(const struct ny_edges *graph, uint32_t source, float *distance)
{
    struct entry *heap = malloc((size_t)graph->head[graph->n] * sizeof(*heap));
    size_t count = 1;
    double start_s = ny_now();

    for (uint32_t v = 0; v < graph->n; v++)
        distance[v] = INFINITY;
    distance[source] = 0;
    heap[0] = (struct entry){0, source};
    while (count) {
        struct entry top = heap[0], last = heap[--count];
        size_t at = 0;

        for (size_t below = 1; below < count; at = below, below = 2 * at + 1) {
            below += below + 1 < count && heap[below + 1].distance < heap[below].distance;
            if (last.distance <= heap[below].distance) break;
            heap[at] = heap[below];
        }
        heap[at] = last;
        if (top.distance > distance[top.node]) continue;
        for (uint64_t e = graph->head[top.node]; e < graph->head[top.node + 1]; e++) {
            struct entry new = {top.distance + graph->length[e], graph->target[e]};

            if (new.distance >= distance[new.node]) continue;
            distance[new.node] = new.distance;
            for (at = count++; at > 0 && heap[(at - 1) / 2].distance > new.distance;
                 at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
            heap[at] = new;
        }
    }
    free(heap);
    return ny_now() - start_s;
}

static int nothing(void *arg, const struct ny_swept *batch)
{
    *(double *)arg += (double)batch->distances[0] + (double)batch->count;
    return NY_OK;
}

int main(int argc, char **argv)
{
    size_t wanted = argc > 1 ? (size_t)atoll(argv[1]) : 1000000;
    size_t sources = argc > 2 ? (size_t)atoll(argv[2]) : 256;
    struct ny_context *ctx;
    struct ny_lists lists = {.stored = T, .t = T, .limit = INFINITY};
    struct ny_components components;
    struct ny_edges graph;
    struct ny_sweep sweep;
    uint32_t *source, *order, *ordered, *row;
    float *distance;
    double start_s, build_s, textbook_s, paths_s, sum = 0;

    side = (size_t)sqrt((double)wanted);
    n = side * side;
    if (ny_context_new(&ctx)) return 1;
    row = malloc(n * T * sizeof(*row));
    distance = malloc(n * T * sizeof(*distance));
    shuffle();
    for (size_t at = 0; at < n; at++)
        neighbours(at, row + (size_t)row_of[at] * T, distance + (size_t)row_of[at] * T);
    lists.n = n;
    lists.row = row;
    lists.distance = distance;
    start_s = ny_now();
    if (ny_components_find(&components, ctx, &lists)) return 1;
    if (ny_edges_new(&graph, ctx, &lists, &components, 0)) return 1;
    build_s = ny_now() - start_s;
    source = malloc(sources * sizeof(*source));
    order = malloc(sources * sizeof(*order));
    ordered = malloc(sources * sizeof(*ordered));
    for (size_t i = 0; i < sources; i++)
        source[i] = (uint32_t)(ny_hash64(3, NY_STREAM_DATA, i) % graph.n);
    sweep = (struct ny_sweep){.graph = &graph,
                              .sources = ordered,
                              .count = sources,
                              .stage = "paths",
                              .workers = ny_context_threads(ctx),
                              .lanes = argc > 3 ? (size_t)atoll(argv[3]) : NY_LANES,
                              .fold = nothing,
                              .arg = &sum};
    textbook_s = textbook(&graph, source[0], distance);
    start_s = ny_now();
    if (ny_batches_form(&graph, source, sources, order)) return 1;
    for (size_t i = 0; i < sources; i++)
        ordered[i] = source[order[i]];
    if (ny_sweep_run(&sweep)) return 1;
    paths_s = ny_now() - start_s;
    printf("%u nodes, %.0f edges: components and graph in %.1f s\n", graph.n,
           (double)graph.head[graph.n] / 2, build_s);
    printf("textbook, one thread: %.1f M source·nodes/s; %zu sources, all threads: %.1f M, ratio "
           "%.1f\n",
           graph.n / textbook_s / 1e6, sources, graph.n * (double)sources / paths_s / 1e6,
           (double)sources * textbook_s / paths_s);
    ny_edges_release(&graph);
    ny_components_release(&components);
    ny_context_free(ctx);
    free(row), free(distance), free(row_of), free(source), free(order), free(ordered);
    return 0;
}
