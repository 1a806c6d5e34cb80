/* A strip of vectors times the Laplacian of a graph; compiled once for each CPU family. */
#include "graph/affinity.h"

#include "base/cpu.h"

typedef double lanes __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8)));

/* Registers of a row: compilers take vectors that are longer than registers through memory. */
enum { LANES = NY_VECTOR_BYTES / sizeof(double), PARTS = NY_STRIP_COLUMNS / LANES };

static inline const lanes *lanes_at(const double *x)
{
    return (const lanes *)(const void *)x;
}

/* Computes a row of Y. */
static inline void compute_row(const struct ny_laplacian *product, size_t row)
{
    const struct ny_affinity *affinity = product->affinity;
    const struct ny_edges *graph = affinity->graph;
    const double *x = product->x;
    size_t stride = product->x_stride;
    lanes own[PARTS], sum[PARTS], *to = (lanes *)(void *)(product->y + row * product->y_stride);

    for (size_t part = 0; part < PARTS; part++) {
        own[part] = lanes_at(x + row * stride)[part];
        sum[part] = product->shift * affinity->degree[row] * own[part];
    }
    for (uint64_t e = graph->head[row]; e < graph->head[row + 1]; e++) {
        const lanes *other = lanes_at(x + graph->target[e] * stride);

        for (size_t part = 0; part < PARTS; part++)
            sum[part] += affinity->weight[e] * (own[part] - other[part]);
    }
    for (size_t part = 0; part < PARTS; part++) {
        sum[part] = product->own * own[part] + product->factor * product->inverse[row] * sum[part];
        if (product->base) sum[part] += lanes_at(product->base + row * product->y_stride)[part];
        to[part] = sum[part];
    }
}

#define ROWS NY_VARIANT_NAME(ny_laplacian_rows)

extern ny_laplacian_fn ROWS;

void ROWS(const struct ny_laplacian *product, size_t first, size_t count)
{
    for (size_t row = first; row < first + count; row++)
        compute_row(product, row);
}
