/*
 * The search outwards: patch by patch, each relaxed in cache for all sources at once. A patch goes
 * by the distance from the centre of the first of its nodes that wait, and within it nodes go in
 * that order, a stretch at a time: far enough that a patch is not fetched too often, not so far
 * that nodes are passed by fronts that later ones put right.
 */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "graph/paths_private.h"
#include "graph/relax.h"

/* Edges that a stretch is long, and times that each node may be relaxed, on average: it is hardly
 * more than one where paths do lead outwards. */
enum { STRETCH = 12, PATIENCE = 8 };

/* ---- the heap ------------------------------------------------------------------------------- */

static void heap_put(struct ny_patch_heap *heap, uint32_t at, uint32_t patch)
{
    heap->patch[at] = patch;
    heap->place[patch] = at;
}

/* The patch has a new, lower key, or is new in the heap. */
static void heap_raise(struct ny_patch_heap *heap, uint32_t patch)
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

static uint32_t heap_pop(struct ny_patch_heap *heap, float *key)
{
    uint32_t top = heap->patch[0], last = heap->patch[--heap->count], at = 0;

    *key = heap->key[top];
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

/* ---- the order in a patch ------------------------------------------------------------------- */

/* Sorts by counting, on distances rounded to about a thousandth of the patch's range. */
static void order_patch(struct ny_paths *paths, uint32_t first, uint32_t count)
{
    const float *centre = paths->centre + first;
    uint16_t next[NY_PATCH_NODES + 1] = {0};
    float low = INFINITY, high = 0, scale;

    for (uint32_t i = 0; i < count; i++) {
        low = fminf(low, centre[i]);
        high = fmaxf(high, centre[i]);
    }
    scale = (NY_PATCH_NODES - 1) / (high - low);
    if (!isfinite(scale)) scale = 0; /* one distance, or as good as one */
    for (uint32_t i = 0; i < count; i++)
        next[(uint32_t)((centre[i] - low) * scale) + 1]++;
    for (uint32_t k = 0; k < NY_PATCH_NODES; k++)
        next[k + 1] = (uint16_t)(next[k + 1] + next[k]);
    for (uint32_t i = 0; i < count; i++)
        paths->place[first + i] = next[(uint32_t)((centre[i] - low) * scale)]++;
}

static void order(struct ny_paths *paths, size_t lane)
{
    const struct ny_patches *patches = &paths->graph->patches;
    const uint32_t n = paths->graph->n;
    void *lent = ny_buckets_lend(paths->buckets);

    static_assert(sizeof(float) + sizeof(uint16_t) <= NY_LENT_BYTES, "what is lent");
    paths->centre = lent;
    paths->place = (uint16_t *)(paths->centre + n);
    for (uint32_t v = 0; v < n; v++)
        paths->centre[v] = paths->distance[(size_t)v * paths->lanes + lane];
    for (uint32_t p = 0; p < patches->count; p++)
        order_patch(paths, patches->first[p], patches->first[p + 1] - patches->first[p]);
}

/* ---- the search ----------------------------------------------------------------------------- */

static void wake(void *arg, uint32_t node)
{
    struct ny_paths *paths = arg;
    uint32_t patch = ny_patch_of(&paths->graph->patches, node);

    paths->waits[node] = 1;
    if (paths->centre[node] >= paths->heap.key[patch]) return;
    paths->heap.key[patch] = paths->centre[node];
    heap_raise(&paths->heap, patch);
}

static int relax_all(struct ny_paths *paths, bool *done)
{
    const struct ny_edges *graph = paths->graph;
    const uint32_t *first = graph->patches.first;
    const float stretch = (float)(STRETCH * graph->mean_length);
    struct ny_page_cache *pages = ny_buckets_pages(paths->buckets);
    struct ny_patch at = {.distance = paths->distance,
                          .lanes = paths->lanes,
                          .centre = paths->centre,
                          .place = paths->place,
                          .waits = paths->waits,
                          .wake = wake,
                          .arg = paths};
    ny_relax_fn *relax = ny_relax();
    int err = NY_OK;

    while (paths->heap.count && err == NY_OK) {
        uint32_t patch = heap_pop(&paths->heap, &at.from);

        if (at.relaxed > (uint64_t)PATIENCE * graph->n) continue;
        at.first = first[patch];
        at.count = first[patch + 1] - at.first;
        at.until = at.from + stretch;
        at.edges = pages ? *ny_page_of(pages, patch) : ny_page_with(graph, NULL, at.first);
        relax(&at);
        err = ny_check_interrupt(paths->ctx);
    }
    *done = at.relaxed <= (uint64_t)PATIENCE * graph->n;
    return err ? err : ny_page_cache_error(pages);
}

int ny_patches_run(struct ny_paths *paths, size_t centre, bool *done)
{
    int err;

    order(paths, centre);
    for (uint32_t v = 0; v < paths->graph->n; v++)
        if (paths->waits[v]) wake(paths, v);
    err = relax_all(paths, done);
    ny_buckets_take_back(paths->buckets);
    return err;
}

/* ---- room ----------------------------------------------------------------------------------- */

bool ny_patches_allocate(struct ny_paths *paths)
{
    struct ny_patch_heap *heap = &paths->heap;
    uint32_t patches = paths->graph->patches.count;

    heap->patch = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->place = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->key = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(float));
    if (!heap->patch || !heap->place || !heap->key) return false;
    for (uint32_t p = 0; p < patches; p++) {
        heap->place[p] = NY_NO_ROW;
        heap->key[p] = INFINITY;
    }
    return true;
}

void ny_patches_release(struct ny_paths *paths)
{
    ny_free(paths->ctx, paths->heap.patch);
    ny_free(paths->ctx, paths->heap.place);
    ny_free(paths->ctx, paths->heap.key);
}

size_t ny_patches_bytes(uint64_t nodes)
{
    return (size_t)ny_patches_most(nodes) * (2 * sizeof(uint32_t) + sizeof(float));
}
