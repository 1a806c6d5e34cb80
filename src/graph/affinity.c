/*
 * Weighs the edges of a graph and multiplies by its Laplacian (graph/affinity.h), for eigenmaps
 * (maps/eigenmaps.c), for lobpcg and for multigrid. Each edge has a weight in both directions,
 * computed on its own, so that the result does not depend on threads. The loop of the product is
 * compiled once for each CPU family (graph/affinity_variant.c).
 */
#include "graph/affinity.h"

#include <math.h>

#include "base/cpu.h"
#include "base/memory.h"

int ny_affinity_gamma(const struct ny_edges *graph, double *gamma)
{
    size_t edges = (size_t)graph->head[graph->n] / 2, count = 0;
    float *length = ny_alloc(graph->ctx, NY_MEM_DICTIONARY, edges * sizeof(float));
    double median;

    if (!length) return NY_EBUDGET;
    for (uint32_t v = 0; v < graph->n; v++)
        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++)
            if (graph->target[e] > v && graph->length[e] > 0) length[count++] = graph->length[e];
    median = count ? ny_quantile(length, count, 0.5) : 1;
    ny_free(graph->ctx, length);
    *gamma = 1 / (median * median);
    return NY_OK;
}

static int weigh_nodes(void *arg, size_t first, size_t count)
{
    const struct ny_affinity *affinity = arg;
    const struct ny_edges *graph = affinity->graph;

    for (size_t v = first; v < first + count; v++) {
        double sum = 0;

        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
            double length = (double)graph->length[e];

            affinity->weight[e] =
                graph->affinities ? length
                                  : fmax(exp(-affinity->gamma * length * length), NY_WEIGHT_LEAST);
            sum += affinity->weight[e];
        }
        affinity->degree[v] = sum;
        affinity->inverse[v] = 1 / sum;
    }
    return NY_OK;
}

/* Nodes whose weights are all the least. A few are far out; of many the width tells nothing. */
static int count_far(struct ny_affinity *affinity)
{
    enum { MANY = 10 }; /* one in so many */
    const struct ny_edges *graph = affinity->graph;

    affinity->far_row = UINT64_MAX;
    for (uint32_t v = 0; v < graph->n; v++) {
        double edges = (double)(graph->head[v + 1] - graph->head[v]);

        if (affinity->degree[v] > edges * NY_WEIGHT_LEAST) continue;
        affinity->far++;
        if (graph->row[v] < affinity->far_row) affinity->far_row = graph->row[v];
    }
    if (affinity->far <= graph->n / MANY) return NY_OK;
    return ny_fail(affinity->ctx, NY_ENUMERIC,
                   "row %llu, the first of %llu such rows, is so far from all of its neighbours "
                   "that the weights exp(-%g d^2) vanish; give a smaller --gamma, or a "
                   "--max-distance that leaves such rows out",
                   (unsigned long long)affinity->far_row, (unsigned long long)affinity->far,
                   affinity->gamma);
}

void ny_affinity_lay(struct ny_layout *l, struct ny_affinity *affinity, size_t nodes, size_t edges)
{
    affinity->weight = ny_lay(l, NY_MEM_DICTIONARY, edges, sizeof(double));
    affinity->degree = ny_lay(l, NY_MEM_DICTIONARY, nodes, sizeof(double));
    affinity->inverse = ny_lay(l, NY_MEM_DICTIONARY, nodes, sizeof(double));
    affinity->outward = affinity->degree;
}

int ny_affinity_new(struct ny_affinity *affinity, const struct ny_edges *graph, double gamma)
{
    struct ny_context *ctx = graph->ctx;
    int err;

    *affinity = (struct ny_affinity){.own.ctx = ctx, .ctx = ctx, .graph = graph, .gamma = gamma};
    ny_affinity_lay(&affinity->own, affinity, graph->n, (size_t)graph->head[graph->n]);
    err = affinity->own.err;
    if (err == NY_OK) err = ny_parallel_ranges(ctx, graph->n, weigh_nodes, affinity);
    if (err == NY_OK) err = count_far(affinity);
    if (err) ny_affinity_release(affinity);
    return err;
}

void ny_affinity_release(struct ny_affinity *affinity)
{
    ny_layout_free(&affinity->own);
}

/* ---- products ------------------------------------------------------------------------------- */

NY_CPU_FAMILIES(ny_laplacian_fn, ny_laplacian_rows)

static void laplacian_rows(void *arg, size_t first, size_t count)
{
    ny_laplacian_rows_families[ny_cpu_family()](arg, first, count);
}

static int laplacian_share(void *arg, size_t first, size_t count)
{
    laplacian_rows(arg, first, count);
    return NY_OK;
}

int ny_laplacian(const struct ny_laplacian *product)
{
    enum { FEW = 4096 }; /* less work than to start threads */
    struct ny_laplacian shared = *product;
    size_t n = product->affinity->graph->n;

    if (n < FEW) return laplacian_share(&shared, 0, n);
    return ny_parallel_ranges(product->affinity->ctx, n, laplacian_share, &shared);
}

void ny_laplacian_step(const struct ny_worker *worker, struct ny_laplacian *product)
{
    ny_team_step(worker, product->affinity->graph->n, laplacian_rows, product);
}
