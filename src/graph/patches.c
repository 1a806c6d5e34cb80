/*
 * Shortest paths from a batch of sources by patches: one is relaxed in cache until it is quiet,
 * which wakes those that it borders on.
 *
 * Any order gives the same distances; what it decides is how often a patch is visited. Where the
 * sources are, in a stretch of the numbering, the nearest of what came in goes first, as in
 * Dijkstra's method. Away from there their fronts follow one another, and a patch had better wait
 * for all of them: it goes by the mean of their distances, which rises along the paths that lead
 * away. On some graphs fronts then run ahead that later ones put right again and again: a batch
 * that takes too many visits goes on by the nearest.
 */
#include <math.h>

#include "base/memory.h"
#include "graph/paths_private.h"
#include "graph/relax.h"

/* Visits of each patch, on average, after which a batch goes on by the nearest: half take less. */
enum { PATIENCE = 12 };

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

static uint32_t heap_pop(struct ny_patch_heap *heap)
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

/* ---- the order of patches ------------------------------------------------------------------- */

/* Of a patch, by the distances of one of its nodes and the least of those that changed. */
static double key_of(const struct ny_paths *paths, uint32_t patch, float least,
                     const float *distances)
{
    double sum = 0;

    if (patch >= paths->begin && patch <= paths->last) return (double)least;
    if (paths->visits > (uint64_t)PATIENCE * paths->graph->patches.count) return (double)least;
    for (size_t l = 0; l < paths->sources; l++)
        sum += (double)distances[l];
    /* Fronts are missing: after all paths that are as long as any can be. */
    if (isinf(sum)) return (double)least + paths->longest * paths->graph->n;
    return sum / (double)paths->sources;
}

static void wake(void *arg, uint32_t node, float least, const float *distances)
{
    struct ny_paths *paths = arg;
    uint32_t patch = ny_patch_of(&paths->graph->patches, node);
    double key = key_of(paths, patch, least, distances);

    paths->waits[node] = 1;
    if (key >= paths->heap.key[patch]) return;
    paths->heap.key[patch] = key;
    heap_raise(&paths->heap, patch);
}

static void start(struct ny_paths *paths, const uint32_t *sources, size_t count)
{
    const size_t all = (size_t)paths->graph->n * NY_LANES;

    for (size_t i = 0; i < all; i++)
        paths->distance[i] = INFINITY;
    paths->visits = 0;
    paths->sources = count;
    paths->begin = NY_NO_ROW;
    paths->last = 0;
    for (size_t l = 0; l < count; l++) {
        uint32_t patch = ny_patch_of(&paths->graph->patches, sources[l]);

        paths->begin = patch < paths->begin ? patch : paths->begin;
        paths->last = patch > paths->last ? patch : paths->last;
    }
    for (size_t l = 0; l < count; l++) {
        float *at = paths->distance + (size_t)sources[l] * NY_LANES;

        at[l] = 0;
        wake(paths, sources[l], 0, at);
    }
}

int ny_patches_run(struct ny_paths *paths, const uint32_t *sources, size_t count)
{
    const uint32_t *first = paths->graph->patches.first;
    ny_relax_fn *relax = ny_relax();
    struct ny_patch at = {.graph = paths->graph,
                          .distance = paths->distance,
                          .waits = paths->waits,
                          .queue = paths->queue,
                          .wake = wake,
                          .arg = paths};
    int err = NY_OK;

    start(paths, sources, count);
    while (paths->heap.count && err == NY_OK) {
        uint32_t patch = heap_pop(&paths->heap);

        at.first = first[patch];
        at.count = first[patch + 1] - at.first;
        relax(&at);
        paths->visits++;
        err = ny_check_interrupt(paths->ctx);
    }
    return err;
}

/* ---- room ----------------------------------------------------------------------------------- */

bool ny_patches_allocate(struct ny_paths *paths)
{
    struct ny_patch_heap *heap = &paths->heap;
    uint32_t patches = paths->graph->patches.count;

    paths->queue = ny_calloc(paths->ctx, NY_MEM_TILES, NY_PATCH_NODES, sizeof(uint32_t));
    heap->patch = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->place = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->key = ny_calloc(paths->ctx, NY_MEM_TILES, patches, sizeof(double));
    if (!paths->queue || !heap->patch || !heap->place || !heap->key) return false;
    for (uint32_t p = 0; p < patches; p++) {
        heap->place[p] = NY_NO_ROW;
        heap->key[p] = INFINITY;
    }
    return true;
}

void ny_patches_release(struct ny_paths *paths)
{
    ny_free(paths->ctx, paths->queue);
    ny_free(paths->ctx, paths->heap.patch);
    ny_free(paths->ctx, paths->heap.place);
    ny_free(paths->ctx, paths->heap.key);
}

size_t ny_patches_bytes(uint64_t nodes)
{
    return (size_t)ny_patches_most(nodes) * (2 * sizeof(uint32_t) + sizeof(double)) +
           NY_PATCH_NODES * sizeof(uint32_t);
}
