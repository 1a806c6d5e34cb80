/*
 * Chooses for each batch of sources between one shared search and a search for each source
 * (graph/paths.h). The shared search runs in three steps: from the centre to all nodes, from each
 * other source within the ball around the centre, and outwards from the edge of the ball
 * (graph/patches.c). If the last step gives up, all lanes but the centre's are forgotten and
 * searched one by one.
 */
#include "graph/paths.h"

#include <math.h>

#include "base/memory.h"
#include "graph/paths_private.h"

/* Up to so many sources are searched from one by one: a shared search is not worth the order. */
enum { FEW = 2 };

/* Lanes of all nodes but one. */
static void forget(struct ny_paths *paths, size_t but)
{
    for (uint32_t v = 0; v < paths->graph->n; v++)
        for (size_t l = 0; l < NY_LANES; l++)
            if (l != but) paths->distance[(size_t)v * NY_LANES + l] = INFINITY;
}

/* Lowers the distances of one lane from a source; within: only to such nodes. */
static int search(struct ny_paths *paths, size_t lane, uint32_t source, const uint8_t *within)
{
    const struct ny_reach reach = {paths->distance + lane, NY_LANES, within};

    return ny_buckets_run(paths->buckets, &reach, source);
}

/* Searches from each source but that of the centre's lane to the nodes within `radius`, by paths
 * through such nodes. */
static int search_ball(struct ny_paths *paths, const uint32_t *sources, size_t count, float radius)
{
    const size_t centre = count / 2;
    int err = NY_OK;

    for (uint32_t v = 0; v < paths->graph->n; v++)
        paths->waits[v] = paths->distance[(size_t)v * NY_LANES + centre] <= radius;
    for (size_t l = 0; l < count && err == NY_OK; l++)
        if (l != centre) err = search(paths, l, sources[l], paths->waits);
    return err;
}

/* Has the nodes wait that have an edge out of the ball. Tells whether there are any. */
static bool open_ball(struct ny_paths *paths, size_t centre, float radius)
{
    const struct ny_edges *graph = paths->graph;
    const float *far = paths->distance + centre;
    bool any = false;

    for (uint32_t v = 0; v < graph->n; v++) {
        bool out = false;

        for (uint64_t e = graph->head[v]; paths->waits[v] && e < graph->head[v + 1]; e++)
            out |= far[(size_t)graph->target[e] * NY_LANES] > radius;
        paths->waits[v] = out;
        any |= out;
    }
    return any;
}

int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances)
{
    const size_t centre = count / 2;
    float radius = count > FEW ? 0 : INFINITY;
    bool done = false;
    int err;

    *distances = paths->distance;
    forget(paths, NY_LANES);
    err = search(paths, centre, sources[centre], NULL);
    if (err) return err;
    for (size_t l = 0; l < count; l++)
        radius = fmaxf(radius, paths->distance[(size_t)sources[l] * NY_LANES + centre]);
    err = search_ball(paths, sources, count, radius);
    if (err || !open_ball(paths, centre, radius)) return err;
    err = ny_patches_run(paths, centre, &done);
    if (err || done) return err;
    forget(paths, centre);
    return search_ball(paths, sources, count, INFINITY);
}

/* ---- room ----------------------------------------------------------------------------------- */

size_t ny_paths_bytes(uint64_t nodes)
{
    const size_t small_bytes = 4096;
    const size_t node_bytes = NY_LANES * sizeof(float) + sizeof(uint8_t);

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
    paths->waits = ny_calloc(ctx, NY_MEM_TILES, graph->n, sizeof(uint8_t));
    if (paths->distance && paths->waits && ny_patches_allocate(paths))
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
    ny_free(paths->ctx, paths->waits);
    ny_free(paths->ctx, paths);
}
