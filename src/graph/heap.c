#include "graph/heap.h"

#include <math.h>

static void set(struct ny_patch_heap *heap, uint32_t at, uint32_t patch)
{
    heap->patch[at] = patch;
    heap->place[patch] = at;
}

void ny_patch_heap_put(struct ny_patch_heap *heap, uint32_t patch, float key)
{
    uint32_t at = heap->place[patch];

    if (key >= heap->key[patch]) return;
    heap->key[patch] = key;
    if (at == NY_NO_ROW) at = heap->count++;
    for (; at > 0; at = (at - 1) / 2) {
        uint32_t above = heap->patch[(at - 1) / 2];

        if (heap->key[above] <= key) break;
        set(heap, at, above);
    }
    set(heap, at, patch);
}

uint32_t ny_patch_heap_pop(struct ny_patch_heap *heap, float *key)
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
        set(heap, at, heap->patch[below]);
        at = below;
    }
    set(heap, at, last);
    return top;
}

void ny_patch_heap_lay(struct ny_layout *l, struct ny_patch_heap *heap,
                       const struct ny_edges *graph)
{
    const uint32_t patches = graph->patches.count;

    heap->count = 0;
    heap->patch = ny_lay(l, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->place = ny_lay(l, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->key = ny_lay(l, NY_MEM_TILES, patches, sizeof(float));
    for (uint32_t p = 0; p < patches && heap->key; p++) {
        heap->place[p] = NY_NO_ROW;
        heap->key[p] = INFINITY;
    }
}
