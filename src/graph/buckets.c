/*
 * Shortest paths from one source by buckets of rising distance, a quarter of an edge wide, in a
 * ring: one is emptied, also of what comes into it meanwhile, before the next one is looked at.
 */
#include <math.h>

#include "base/memory.h"
#include "graph/paths_private.h"

enum { BUCKETS = 1 << 14 };

/* Rings of nodes with about the same distance, the present one at `now`. */
static void bucket_leave(struct ny_paths *paths, uint32_t node)
{
    struct ny_bucket_link *link = &paths->link[node];

    if (link->before == NY_NO_ROW)
        paths->bucket[link->bucket] = link->after;
    else
        paths->link[link->before].after = link->after;
    if (link->after != NY_NO_ROW) paths->link[link->after].before = link->before;
}

static void bucket_enter(struct ny_paths *paths, uint32_t node, uint32_t bucket)
{
    struct ny_bucket_link *link = &paths->link[node];

    *link = (struct ny_bucket_link){NY_NO_ROW, paths->bucket[bucket], bucket};
    if (link->after != NY_NO_ROW) paths->link[link->after].before = node;
    paths->bucket[bucket] = node;
}

/* `node` is at this distance now. Returns 1 where it was in no bucket. */
static uint32_t come_nearer(struct ny_paths *paths, uint32_t node, float distance)
{
    uint32_t bucket = (uint32_t)((uint64_t)((double)distance / paths->step) % BUCKETS), new = 1;

    paths->near[node] = distance;
    if (paths->waits[node]) {
        bucket_leave(paths, node);
        new = 0;
    }
    paths->waits[node] = 1;
    bucket_enter(paths, node, bucket);
    return new;
}

void ny_buckets_forget(struct ny_paths *paths)
{
    for (uint32_t v = 0; v < paths->graph->n; v++)
        paths->near[v] = INFINITY;
}

int ny_buckets_run(struct ny_paths *paths, uint32_t source)
{
    const struct ny_edges *graph = paths->graph;
    uint32_t waiting = come_nearer(paths, source, 0), now = 0, taken = 0;
    int err = NY_OK;

    while (waiting && err == NY_OK) {
        uint32_t v = paths->bucket[now];

        if (v == NY_NO_ROW) {
            now = (now + 1) % BUCKETS;
            continue;
        }
        bucket_leave(paths, v);
        paths->waits[v] = 0;
        waiting--;
        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
            float through = paths->near[v] + graph->length[e];

            if (through < paths->near[graph->target[e]])
                waiting += come_nearer(paths, graph->target[e], through);
        }
        if (++taken % NY_PATCH_NODES == 0) err = ny_check_interrupt(paths->ctx);
    }
    return err;
}

/* ---- room ----------------------------------------------------------------------------------- */

/* All edges reach less than once around the ring. */
static double step_of(const struct ny_paths *paths)
{
    double step = fmax(paths->mean / 4, paths->longest / (BUCKETS - 2));

    return step > 0 ? step : 1;
}

bool ny_buckets_allocate(struct ny_paths *paths)
{
    uint32_t n = paths->graph->n;

    paths->step = step_of(paths);
    paths->near = ny_calloc(paths->ctx, NY_MEM_TILES, n, sizeof(float));
    paths->link = ny_calloc(paths->ctx, NY_MEM_TILES, n, sizeof(*paths->link));
    paths->bucket = ny_calloc(paths->ctx, NY_MEM_TILES, BUCKETS, sizeof(uint32_t));
    if (!paths->near || !paths->link || !paths->bucket) return false;
    for (uint32_t b = 0; b < BUCKETS; b++)
        paths->bucket[b] = NY_NO_ROW;
    ny_buckets_forget(paths);
    return true;
}

void ny_buckets_release(struct ny_paths *paths)
{
    ny_free(paths->ctx, paths->near);
    ny_free(paths->ctx, paths->link);
    ny_free(paths->ctx, paths->bucket);
}

size_t ny_buckets_bytes(uint64_t nodes)
{
    return (size_t)nodes * (sizeof(float) + sizeof(struct ny_bucket_link)) +
           BUCKETS * sizeof(uint32_t);
}
