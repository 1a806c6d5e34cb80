/* The patches of a graph that wait, by a key: a binary heap. */
#ifndef NY_GRAPH_HEAP_H
#define NY_GRAPH_HEAP_H

#include "graph/edges.h"

struct ny_patch_heap {
    uint32_t *patch; /* count */
    uint32_t *place; /* patches: where in it, or NY_NO_ROW */
    float *key;      /* patches: ∞ where it does not wait */
    uint32_t count;
};

/* Makes an empty heap of the patches of a graph; false if the budget has no room. Release it in
 * both cases. */
bool ny_patch_heap_new(struct ny_patch_heap *heap, const struct ny_edges *graph);
void ny_patch_heap_release(struct ny_patch_heap *heap, struct ny_context *ctx);
/* Returns the most bytes that ny_patch_heap_new() charges for so many nodes. */
size_t ny_patch_heap_bytes(uint64_t nodes);

/* The patch waits, by this key or a lower one that it has. */
void ny_patch_heap_put(struct ny_patch_heap *heap, uint32_t patch, float key);
/* Takes out the patch with the least key; there has to be one. */
uint32_t ny_patch_heap_pop(struct ny_patch_heap *heap, float *key);

#endif
