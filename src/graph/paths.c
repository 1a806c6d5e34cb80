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

/* Lanes of all nodes but one. */
static void forget(struct ny_paths *paths, size_t but)
{
    for (uint32_t v = 0; v < paths->graph->n; v++)
        for (size_t l = 0; l < paths->lanes; l++)
            if (l != but) paths->distance[(size_t)v * paths->lanes + l] = INFINITY;
}

/* Lowers the distances of one lane from a source; within: only to such nodes. */
static int search(struct ny_paths *paths, size_t lane, uint32_t source, const uint8_t *within)
{
    const struct ny_reach reach = {paths->distance + lane, paths->lanes, within};

    return ny_buckets_run(paths->buckets, &reach, source);
}

/* Searches from each source but that of the centre's lane. */
static int search_others(struct ny_paths *paths, const uint32_t *sources, size_t count,
                         const uint8_t *within)
{
    int err = NY_OK;

    for (size_t l = 0; l < count && err == NY_OK; l++)
        if (l != count / 2) err = search(paths, l, sources[l], within);
    return err;
}

/* Searches from them to the nodes within `radius` of the centre, by paths through such nodes. */
static int search_ball(struct ny_paths *paths, const uint32_t *sources, size_t count, float radius)
{
    for (uint32_t v = 0; v < paths->graph->n; v++)
        paths->waits[v] = paths->distance[(size_t)v * paths->lanes + count / 2] <= radius;
    return search_others(paths, sources, count, paths->waits);
}

/* Has the nodes wait that have an edge out of the ball. Tells whether there are any. */
static bool open_ball(struct ny_paths *paths, size_t centre, float radius)
{
    const struct ny_edges *graph = paths->graph;
    const float *far = paths->distance + centre;
    bool any = false;

    for (uint32_t v = 0; v < graph->n; v++) {
        bool out = false;
        struct ny_edge_page page;

        if (!paths->waits[v]) continue;
        page = ny_page_with(graph, ny_buckets_pages(paths->buckets), v);
        for (uint64_t e = page.head[v - page.first]; e < page.head[v - page.first + 1]; e++)
            out |= far[(size_t)page.target[e] * paths->lanes] > radius;
        paths->waits[v] = out;
        any |= out;
    }
    return any;
}

int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances)
{
    const size_t centre = count / 2;
    float radius = 0;
    bool done = false;
    int err;

    *distances = paths->distance;
    forget(paths, paths->lanes);
    err = search(paths, centre, sources[centre], NULL);
    if (err) return err;
    if (count <= NY_ALONE) return search_others(paths, sources, count, NULL);
    for (size_t l = 0; l < count; l++)
        radius = fmaxf(radius, paths->distance[(size_t)sources[l] * paths->lanes + centre]);
    err = search_ball(paths, sources, count, radius);
    if (err) return err;
    if (!open_ball(paths, centre, radius))
        return ny_page_cache_error(ny_buckets_pages(paths->buckets));
    err = ny_patches_run(paths, centre, &done);
    if (err || done) return err;
    forget(paths, centre);
    return search_others(paths, sources, count, NULL);
}

/* ---- room ----------------------------------------------------------------------------------- */

size_t ny_paths_bytes(uint64_t nodes, size_t lanes)
{
    const size_t small_bytes = 4096;
    size_t bytes = (size_t)nodes * lanes * sizeof(float) + small_bytes + ny_buckets_bytes(nodes);

    if (lanes > NY_ALONE) bytes += (size_t)nodes * sizeof(uint8_t) + ny_patches_bytes(nodes);
    return bytes;
}

/* Takes room for what a search that sources share has beside the distances. */
static bool allocate_shared(struct ny_paths *paths)
{
    paths->waits = ny_calloc(paths->ctx, NY_MEM_TILES, paths->graph->n, sizeof(uint8_t));
    return paths->waits && ny_patches_allocate(paths);
}

int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph, size_t lanes)
{
    struct ny_context *ctx = graph->ctx;
    struct ny_paths *paths = ny_calloc(ctx, NY_MEM_TILES, 1, sizeof(*paths));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!paths) return err;
    *paths = (struct ny_paths){.ctx = ctx, .graph = graph, .lanes = lanes};
    paths->distance = ny_calloc(ctx, NY_MEM_TILES, graph->n, lanes * sizeof(float));
    if (paths->distance && (lanes <= NY_ALONE || allocate_shared(paths)))
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
