/*
 * Chooses for each batch of sources between one shared search and a search for each source
 * (graph/paths.h). The shared search runs in three steps: from the centre until it has reached all
 * sources of the batch, from each other source within the ball around the centre, and outwards from
 * the edge of the ball, all lanes at once in the order of the centre's. If the last step takes too
 * long, all lanes are forgotten and searched one by one.
 */
#include "graph/paths.h"

#include <math.h>

#include "graph/buckets.h"

/* How far the search from the centre goes on at a time, in mean edges, until it has all sources. */
enum { STEP = 16 };

/* Times that each node may be relaxed for a batch, on average. It is hardly more than one where
 * paths do lead outwards. With so many, the shared search has cost about what 16 searches one by
 * one do, so that both together take at most about twice the better of them. */
enum { PATIENCE = 24 };

struct ny_paths {
    const struct ny_edges *graph;
    struct ny_buckets *buckets;
    size_t lanes;
    float *distance; /* n × lanes */
};

static void forget(struct ny_paths *paths)
{
    for (size_t i = 0; i < (size_t)paths->graph->n * paths->lanes; i++)
        paths->distance[i] = INFINITY;
}

/* Lowers the distances of each lane from its source. */
static int search_alone(struct ny_paths *paths, const uint32_t *sources, size_t count)
{
    int err = NY_OK;

    for (size_t l = 0; l < count && err == NY_OK; l++) {
        const struct ny_reach reach = {.distance = paths->distance + l, .stride = paths->lanes};

        err = ny_buckets_run(paths->buckets, &reach, sources[l]);
    }
    return err;
}

/* Searches from the centre until it has all sources, and a bit farther. *radius: how far they are.
 */
static int search_centre(struct ny_paths *paths, const uint32_t *sources, size_t count,
                         float *radius)
{
    const size_t centre = count / 2;
    const float *far = paths->distance + centre;
    const struct ny_reach reach = {.distance = paths->distance + centre, .stride = paths->lanes};
    float step = (float)(STEP * paths->graph->mean_length), until = 0;
    int err;

    paths->distance[sources[centre] * paths->lanes + centre] = 0;
    ny_buckets_wait(paths->buckets, sources[centre], 0);
    do {
        until = until + step > until ? until + step : INFINITY;
        err = ny_buckets_go(paths->buckets, &reach, until, UINT64_MAX);
        *radius = 0;
        for (size_t l = 0; l < count; l++)
            *radius = fmaxf(*radius, far[sources[l] * paths->lanes]);
    } while (err == NY_OK && *radius > until);
    ny_buckets_forget(paths->buckets);
    return err;
}

/* Searches from the other sources to the nodes within `radius` of the centre, by paths through such
 * nodes. */
static int search_ball(struct ny_paths *paths, const uint32_t *sources, size_t count, float radius)
{
    int err = NY_OK;

    for (size_t l = 0; l < count && err == NY_OK; l++) {
        const struct ny_reach reach = {.distance = paths->distance + l,
                                       .stride = paths->lanes,
                                       .within = paths->distance + count / 2,
                                       .radius = radius};

        if (l != count / 2) err = ny_buckets_run(paths->buckets, &reach, sources[l]);
    }
    return err;
}

/* Has the nodes wait that have an edge out of the ball. */
static void open_ball(struct ny_paths *paths, size_t centre, float radius)
{
    const struct ny_edges *graph = paths->graph;
    const float *far = paths->distance + centre;

    for (uint32_t v = 0; v < graph->n; v++) {
        bool out = false;
        struct ny_edge_page page;

        if (!(far[(size_t)v * paths->lanes] <= radius)) continue;
        page = ny_page_with(graph, ny_buckets_pages(paths->buckets), v);
        for (uint64_t e = page.head[v - page.first]; e < page.head[v - page.first + 1]; e++)
            out |= far[(size_t)page.target[e] * paths->lanes] > radius;
        if (out) ny_buckets_wait(paths->buckets, v, far[(size_t)v * paths->lanes]);
    }
}

int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances)
{
    const struct ny_reach reach = {.distance = paths->distance,
                                   .stride = paths->lanes,
                                   .lanes = paths->lanes,
                                   .key = count / 2};
    float radius;
    int err;

    *distances = paths->distance;
    forget(paths);
    if (count <= NY_ALONE) return search_alone(paths, sources, count);
    err = search_centre(paths, sources, count, &radius);
    if (err == NY_OK) err = search_ball(paths, sources, count, radius);
    if (err) return err;
    open_ball(paths, count / 2, radius);
    err = ny_buckets_go(paths->buckets, &reach, INFINITY, (uint64_t)PATIENCE * paths->graph->n);
    if (err || !ny_buckets_left(paths->buckets)) return err;
    ny_buckets_forget(paths->buckets);
    forget(paths);
    return search_alone(paths, sources, count);
}

double ny_paths_rate(size_t lanes)
{
    return lanes == 1 ? 0.3 : lanes == NY_FEW_LANES ? 0.75 : lanes == NY_HALF_LANES ? 0.9 : 1;
}

/* ---- room ----------------------------------------------------------------------------------- */

struct ny_paths *ny_paths_lay(struct ny_layout *l, const struct ny_edges *graph, size_t lanes)
{
    struct ny_paths spare, *paths = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);

    *paths = (struct ny_paths){.graph = graph, .lanes = lanes};
    paths->distance = ny_lay(l, NY_MEM_TILES, graph->n, lanes * sizeof(float));
    paths->buckets = ny_buckets_lay(l, graph);
    return ny_laid(l, paths);
}
