/* A block of vectors times the random walk on a graph; compiled once for each CPU family. */
#include "graph/affinity.h"

#define PASTE(name, variant) name##_##variant
#define EXPAND(name, variant) PASTE(name, variant)

typedef double lanes_t __attribute__((vector_size(NY_BLOCK_LANES * sizeof(double))));

enum { MOST = 4 }; /* vectors in registers */

/* `vectors` vectors of a row from `lane` on; inlined for each number of them, so that the sums stay
 * in registers. */
static inline __attribute__((always_inline)) void walk_row(const struct ny_walk *product,
                                                           size_t row, size_t lane, int vectors)
{
    const struct ny_edges *graph = product->affinity->graph;
    size_t stride = product->stride;
    const double *x = product->x + lane;
    const lanes_t *own = (const lanes_t *)(const void *)(x + row * stride);
    lanes_t *y = (lanes_t *)(void *)(product->y + row * stride + lane), sum[MOST];
    double walk = product->walk * product->affinity->inverse[row];

    for (int v = 0; v < vectors; v++)
        sum[v] = (lanes_t){0};
    for (uint64_t e = graph->head[row]; e < graph->head[row + 1]; e++) {
        const double *at = x + (size_t)graph->target[e] * stride;
        const lanes_t *from = (const lanes_t *)(const void *)at;
        double weight = product->affinity->weight[e];

        for (int v = 0; v < vectors; v++)
            sum[v] += weight * from[v];
    }
    if (product->before == 0) /* there may be anything */
        for (int v = 0; v < vectors; v++)
            y[v] = product->own * own[v] + walk * sum[v];
    else
        for (int v = 0; v < vectors; v++)
            y[v] = product->own * own[v] + walk * sum[v] + product->before * y[v];
}

extern ny_walk_fn EXPAND(ny_walk_rows, NY_VARIANT);

void EXPAND(ny_walk_rows, NY_VARIANT)(const struct ny_walk *product, size_t first, size_t count)
{
    for (size_t row = first; row < first + count; row++) {
        size_t lane = 0;

        for (; lane + 32 <= product->stride; lane += 32)
            walk_row(product, row, lane, 4);
        if (product->stride - lane == 24)
            walk_row(product, row, lane, 3);
        else if (product->stride - lane == 16)
            walk_row(product, row, lane, 2);
        else if (product->stride - lane == 8)
            walk_row(product, row, lane, 1);
    }
}
