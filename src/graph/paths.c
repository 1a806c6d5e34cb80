#include "graph/paths.h"

#include <math.h>

#include "base/memory.h"
#include "graph/relax.h"

/* A patch that waits, by the least of what came into it since it was quiet. */
struct heap {
    uint32_t *patch; /* count, a binary heap */
    uint32_t *place; /* patches: where in it, or NY_NO_ROW */
    float *key;      /* patches */
    uint32_t count;
};

/* A node's place in the list of its bucket. */
struct link {
    uint32_t before, after, bucket;
};

struct ny_paths {
    struct ny_context *ctx;
    const struct ny_edges *graph;
    enum ny_paths_way way;
    float *distance; /* n × NY_LANES */
    uint8_t *waits;  /* n: a node whose edges are to be tried */
    struct heap heap;
    uint32_t *queue; /* of the patch at work, a ring of its nodes */
    float *near;     /* n: buckets, of one source */
    struct link *link;
    uint32_t *bucket; /* BUCKETS: the first node of each */
    double step;      /* width of a bucket */
};

enum { BUCKETS = 1 << 14 };

static uint32_t patches_of(uint64_t nodes)
{
    return (uint32_t)((nodes + NY_PATCH_NODES - 1) / NY_PATCH_NODES);
}

/* ---- patches -------------------------------------------------------------------------------- */

static void heap_put(struct heap *heap, uint32_t at, uint32_t patch)
{
    heap->patch[at] = patch;
    heap->place[patch] = at;
}

/* The patch has a new, lower key, or is new in the heap. */
static void heap_raise(struct heap *heap, uint32_t patch)
{
    uint32_t at = heap->place[patch];

    if (at == NY_NO_ROW) at = heap->count++;
    for (; at > 0; at = (at - 1) / 2) {
        uint32_t above = heap->patch[(at - 1) / 2];

        if (heap->key[above] <= heap->key[patch]) break;
        heap_put(heap, at, above);
    }
    heap_put(heap, at, patch);
}

static uint32_t heap_pop(struct heap *heap)
{
    uint32_t top = heap->patch[0], last = heap->patch[--heap->count], at = 0;

    heap->place[top] = NY_NO_ROW;
    heap->key[top] = INFINITY;
    if (!heap->count) return top;
    for (;;) {
        uint32_t below = 2 * at + 1;

        if (below + 1 < heap->count &&
            heap->key[heap->patch[below + 1]] < heap->key[heap->patch[below]])
            below++;
        if (below >= heap->count || heap->key[last] <= heap->key[heap->patch[below]]) break;
        heap_put(heap, at, heap->patch[below]);
        at = below;
    }
    heap_put(heap, at, last);
    return top;
}

static void wake(void *arg, uint32_t node, float key)
{
    struct ny_paths *paths = arg;
    uint32_t patch = node / NY_PATCH_NODES;

    paths->waits[node] = 1;
    if (key >= paths->heap.key[patch]) return;
    paths->heap.key[patch] = key;
    heap_raise(&paths->heap, patch);
}

static int run_patches(struct ny_paths *paths, const uint32_t *sources, size_t count)
{
    uint32_t n = paths->graph->n;
    int err = NY_OK;
    ny_relax_fn *relax = ny_relax();
    struct ny_patch patch = {.graph = paths->graph,
                             .distance = paths->distance,
                             .waits = paths->waits,
                             .queue = paths->queue,
                             .wake = wake,
                             .arg = paths};

    for (size_t i = 0; i < (size_t)n * NY_LANES; i++)
        paths->distance[i] = INFINITY;
    for (size_t l = 0; l < count; l++) {
        paths->distance[(size_t)sources[l] * NY_LANES + l] = 0;
        wake(paths, sources[l], 0);
    }
    while (paths->heap.count && err == NY_OK) {
        uint32_t left;

        patch.first = heap_pop(&paths->heap) * NY_PATCH_NODES;
        left = n - patch.first;
        patch.count = left < NY_PATCH_NODES ? left : NY_PATCH_NODES;
        relax(&patch);
        err = ny_check_interrupt(paths->ctx);
    }
    return err;
}

/* ---- buckets -------------------------------------------------------------------------------- */

/* Rings of nodes with about the same distance, the present one at `now`. */
static void bucket_leave(struct ny_paths *paths, uint32_t node)
{
    struct link *link = &paths->link[node];

    if (link->before == NY_NO_ROW)
        paths->bucket[link->bucket] = link->after;
    else
        paths->link[link->before].after = link->after;
    if (link->after != NY_NO_ROW) paths->link[link->after].before = link->before;
}

static void bucket_enter(struct ny_paths *paths, uint32_t node, uint32_t bucket)
{
    struct link *link = &paths->link[node];

    *link = (struct link){NY_NO_ROW, paths->bucket[bucket], bucket};
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

static void forget_sources(struct ny_paths *paths)
{
    for (uint32_t v = 0; v < paths->graph->n; v++)
        paths->near[v] = INFINITY;
}

/* What one source is nearer to: a bucket is emptied, also of what comes into it meanwhile, before
 * the next one is looked at. */
static int run_buckets(struct ny_paths *paths, uint32_t source)
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

/* ---- both ----------------------------------------------------------------------------------- */

int ny_paths_from(struct ny_paths *paths, const uint32_t *sources, size_t count,
                  const float **distances)
{
    uint32_t n = paths->graph->n;
    int err = NY_OK;

    *distances = paths->distance;
    if (paths->way == NY_PATHS_PATCHES) return run_patches(paths, sources, count);
    for (size_t l = 0; l < NY_LANES && err == NY_OK; l++) {
        forget_sources(paths);
        if (l < count) err = run_buckets(paths, sources[l]);
        for (uint32_t v = 0; v < n; v++)
            paths->distance[(size_t)v * NY_LANES + l] = paths->near[v];
    }
    return err;
}

int ny_paths_join(struct ny_paths *paths, uint32_t source, const float **near)
{
    *near = paths->near;
    return run_buckets(paths, source);
}

/* A bucket is a quarter of an edge wide; all edges reach less than once around the ring. */
static double step_of(const struct ny_edges *graph)
{
    double sum = 0, longest = 0, step;

    for (uint64_t e = 0; e < graph->head[graph->n]; e++) {
        sum += (double)graph->length[e];
        longest = fmax(longest, (double)graph->length[e]);
    }
    step = fmax(sum / (double)graph->head[graph->n] / 4, longest / (BUCKETS - 2));
    return step > 0 ? step : 1;
}

/* What one thread holds with a way: what is per node and per patch, and the rest. */
static size_t node_bytes(enum ny_paths_way way)
{
    size_t own = way == NY_PATHS_BUCKETS ? sizeof(float) + sizeof(struct link) : 0;

    return NY_LANES * sizeof(float) + 1 + own;
}

size_t ny_paths_bytes(uint64_t nodes, enum ny_paths_way way)
{
    const size_t small_bytes = 4096, patch_bytes = 2 * sizeof(uint32_t) + sizeof(float);
    size_t lists = way == NY_PATHS_BUCKETS
                       ? BUCKETS * sizeof(uint32_t)
                       : patches_of(nodes) * patch_bytes + NY_PATCH_NODES * sizeof(uint32_t);

    return (size_t)nodes * node_bytes(way) + lists + small_bytes;
}

static bool allocate_buckets(struct ny_paths *paths)
{
    paths->near = ny_calloc(paths->ctx, NY_MEM_TILES, paths->graph->n, sizeof(float));
    paths->link = ny_calloc(paths->ctx, NY_MEM_TILES, paths->graph->n, sizeof(*paths->link));
    paths->bucket = ny_calloc(paths->ctx, NY_MEM_TILES, BUCKETS, sizeof(uint32_t));
    if (!paths->near || !paths->link || !paths->bucket) return false;
    for (uint32_t b = 0; b < BUCKETS; b++)
        paths->bucket[b] = NY_NO_ROW;
    forget_sources(paths);
    return true;
}

static bool allocate_patches(struct ny_paths *paths)
{
    uint32_t patches = patches_of(paths->graph->n);

    paths->queue = ny_calloc(paths->ctx, NY_MEM_TILES, NY_PATCH_NODES, sizeof(uint32_t));
    paths->heap.patch = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(uint32_t));
    paths->heap.place = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(uint32_t));
    paths->heap.key = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(float));
    if (!paths->queue || !paths->heap.patch || !paths->heap.place || !paths->heap.key)
        return false;
    for (uint32_t p = 0; p < patches; p++) {
        paths->heap.place[p] = NY_NO_ROW;
        paths->heap.key[p] = INFINITY;
    }
    return true;
}

int ny_paths_new(struct ny_paths **out, const struct ny_edges *graph, enum ny_paths_way way)
{
    struct ny_context *ctx = graph->ctx;
    struct ny_paths *paths = ny_calloc(ctx, NY_MEM_TILES, 1, sizeof(*paths));

    *out = NULL;
    if (!paths) return NY_EBUDGET;
    *paths = (struct ny_paths){.ctx = ctx, .graph = graph, .way = way, .step = step_of(graph)};
    paths->distance = ny_calloc(ctx, NY_MEM_TILES, graph->n, NY_LANES * sizeof(float));
    paths->waits = ny_calloc(ctx, NY_MEM_TILES, graph->n, 1);
    if (!paths->distance || !paths->waits ||
        !(way == NY_PATHS_BUCKETS ? allocate_buckets(paths) : allocate_patches(paths))) {
        ny_paths_free(paths);
        return NY_EBUDGET;
    }
    *out = paths;
    return NY_OK;
}

void ny_paths_free(struct ny_paths *paths)
{
    if (!paths) return;
    ny_free(paths->ctx, paths->distance);
    ny_free(paths->ctx, paths->waits);
    ny_free(paths->ctx, paths->near);
    ny_free(paths->ctx, paths->link);
    ny_free(paths->ctx, paths->bucket);
    ny_free(paths->ctx, paths->queue);
    ny_free(paths->ctx, paths->heap.patch);
    ny_free(paths->ctx, paths->heap.place);
    ny_free(paths->ctx, paths->heap.key);
    ny_free(paths->ctx, paths);
}
