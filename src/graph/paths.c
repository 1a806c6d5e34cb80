#include "graph/paths.h"

#include <math.h>

#include "base/memory.h"
#include "graph/paths_private.h"

int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances)
{
    uint32_t n = paths->graph->n;
    int err = NY_OK;

    *distances = paths->distance;
    if (paths->way == NY_PATHS_PATCHES) return ny_patches_run(paths, sources, count);
    for (size_t l = 0; l < NY_LANES && err == NY_OK; l++) {
        ny_buckets_forget(paths);
        if (l < count) err = ny_buckets_run(paths, sources[l]);
        for (uint32_t v = 0; v < n; v++)
            paths->distance[(size_t)v * NY_LANES + l] = paths->near[v];
    }
    return err;
}

int ny_paths_join(struct ny_paths *paths, uint32_t source, const float **near)
{
    *near = paths->near;
    return ny_buckets_run(paths, source);
}

static void measure_edges(struct ny_paths *paths)
{
    const struct ny_edges *graph = paths->graph;
    double sum = 0;

    for (uint64_t e = 0; e < graph->head[graph->n]; e++) {
        sum += (double)graph->length[e];
        paths->longest = fmax(paths->longest, (double)graph->length[e]);
    }
    paths->mean = graph->head[graph->n] ? sum / (double)graph->head[graph->n] : 0;
}

size_t ny_paths_bytes(uint64_t nodes, enum ny_paths_way way)
{
    const size_t small_bytes = 4096, node_bytes = NY_LANES * sizeof(float) + 1;

    return (size_t)nodes * node_bytes + small_bytes +
           (way == NY_PATHS_BUCKETS ? ny_buckets_bytes(nodes) : ny_patches_bytes(nodes));
}

int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph, enum ny_paths_way way)
{
    struct ny_context *ctx = graph->ctx;
    struct ny_paths *paths = ny_calloc(ctx, NY_MEM_TILES, 1, sizeof(*paths));

    *out = NULL;
    if (!paths) return NY_EBUDGET;
    *paths = (struct ny_paths){.ctx = ctx, .graph = graph, .way = way};
    measure_edges(paths);
    paths->distance = ny_calloc(ctx, NY_MEM_TILES, graph->n, NY_LANES * sizeof(float));
    paths->waits = ny_calloc(ctx, NY_MEM_TILES, graph->n, 1);
    if (!paths->distance || !paths->waits ||
        !(way == NY_PATHS_BUCKETS ? ny_buckets_allocate(paths) : ny_patches_allocate(paths))) {
        ny_paths_free(paths);
        return NY_EBUDGET;
    }
    *out = paths;
    return NY_OK;
}

void ny_paths_free(struct ny_paths *paths)
{
    if (!paths) return;
    ny_buckets_release(paths);
    ny_patches_release(paths);
    ny_free(paths->ctx, paths->distance);
    ny_free(paths->ctx, paths->waits);
    ny_free(paths->ctx, paths);
}
