/* A strip of vectors times the Laplacian of a graph; compiled once for each CPU family. */
#include "graph/affinity.h"

#include "base/cpu.h"

typedef double lanes __attribute__((vector_size(NY_STRIP_COLUMNS * sizeof(double)), aligned(8)));

static inline const lanes *lanes_at(const double *x)
{
    return (const lanes *)(const void *)x;
}

#define ROWS NY_VARIANT_NAME(ny_laplacian_rows)

extern ny_laplacian_fn ROWS;

void ROWS(const struct ny_laplacian *product, size_t first, size_t count)
{
    const struct ny_affinity *affinity = product->affinity;
    const struct ny_edges *graph = affinity->graph;
    const double *x = product->x;
    size_t stride = product->x_stride;

    for (size_t row = first; row < first + count; row++) {
        lanes own = *lanes_at(x + row * stride), *to;
        lanes sum = product->shift * affinity->degree[row] * own;

        for (uint64_t e = graph->head[row]; e < graph->head[row + 1]; e++)
            sum += affinity->weight[e] * (own - *lanes_at(x + graph->target[e] * stride));
        sum = product->own * own + product->factor * product->inverse[row] * sum;
        if (product->base) sum += *lanes_at(product->base + row * product->y_stride);
        to = (lanes *)(void *)(product->y + row * product->y_stride);
        *to = sum;
    }
}
