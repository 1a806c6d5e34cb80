#include "graph/paths.h"

#include <math.h>

#include "base/memory.h"
#include "graph/paths_private.h"

/* So few sources are searched from one by one: what they would share is not worth the order. */
enum { FEW = 2 };

static int find_centre(struct ny_paths *paths, uint32_t source)
{
    const struct ny_reach reach = {.distance = paths->centre, .stride = 1};

    for (uint32_t v = 0; v < paths->graph->n; v++)
        paths->centre[v] = INFINITY;
    return ny_buckets_run(paths->buckets, &reach, source);
}

/* All distances from each source to the nodes within `radius`, by paths through such nodes. */
static int search_ball(struct ny_paths *paths, const uint32_t *sources, size_t count, float radius)
{
    const uint32_t n = paths->graph->n;
    int err = NY_OK;

    for (size_t i = 0; i < (size_t)n * NY_LANES; i++)
        paths->distance[i] = INFINITY;
    for (uint32_t v = 0; v < n; v++)
        paths->waits[v] = paths->centre[v] <= radius;
    for (size_t l = 0; l < count && err == NY_OK; l++) {
        const struct ny_reach reach = {paths->distance + l, NY_LANES, paths->waits};

        err = ny_buckets_run(paths->buckets, &reach, sources[l]);
    }
    return err;
}

/* What leads out of the ball waits. */
static void open_ball(struct ny_paths *paths, float radius)
{
    const struct ny_edges *graph = paths->graph;

    for (uint32_t v = 0; v < graph->n; v++) {
        bool out = false;

        for (uint64_t e = graph->head[v]; paths->waits[v] && e < graph->head[v + 1]; e++)
            out |= paths->centre[graph->target[e]] > radius;
        paths->waits[v] = out;
    }
}

int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances)
{
    float radius = count > FEW ? 0 : INFINITY;
    bool done = false;
    int err = find_centre(paths, sources[count / 2]);

    *distances = paths->distance;
    if (err) return err;
    for (size_t l = 0; l < count; l++)
        radius = fmaxf(radius, paths->centre[sources[l]]);
    err = search_ball(paths, sources, count, radius);
    if (err) return err;
    open_ball(paths, radius);
    ny_patches_order(paths);
    err = ny_patches_run(paths, &done);
    return err || done ? err : search_ball(paths, sources, count, INFINITY);
}

/* ---- room ----------------------------------------------------------------------------------- */

size_t ny_paths_bytes(uint64_t nodes)
{
    const size_t small_bytes = 4096;
    const size_t node_bytes = (NY_LANES + 1) * sizeof(float) + sizeof(uint16_t) + sizeof(uint8_t);

    return (size_t)nodes * node_bytes + small_bytes + ny_buckets_bytes(nodes) +
           ny_patches_bytes(nodes);
}

int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph)
{
    struct ny_context *ctx = graph->ctx;
    struct ny_paths *paths = ny_calloc(ctx, NY_MEM_TILES, 1, sizeof(*paths));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!paths) return err;
    *paths = (struct ny_paths){.ctx = ctx, .graph = graph};
    paths->distance = ny_calloc(ctx, NY_MEM_TILES, graph->n, NY_LANES * sizeof(float));
    paths->centre = ny_calloc(ctx, NY_MEM_TILES, graph->n, sizeof(float));
    paths->place = ny_calloc(ctx, NY_MEM_TILES, graph->n, sizeof(uint16_t));
    paths->waits = ny_calloc(ctx, NY_MEM_TILES, graph->n, sizeof(uint8_t));
    if (paths->distance && paths->centre && paths->place && paths->waits &&
        ny_patches_allocate(paths))
        err = ny_buckets_new(&paths->buckets, graph);
    if (err) {
        ny_paths_free(paths);
        return err;
    }
    *out = paths;
    return NY_OK;
}

void ny_paths_free(struct ny_paths *paths)
{
    if (!paths) return;
    ny_buckets_free(paths->buckets);
    ny_patches_release(paths);
    ny_free(paths->ctx, paths->distance);
    ny_free(paths->ctx, paths->centre);
    ny_free(paths->ctx, paths->place);
    ny_free(paths->ctx, paths->waits);
    ny_free(paths->ctx, paths);
}
