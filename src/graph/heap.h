/* The patches of a graph that wait, by a key: a binary heap. */
#ifndef NY_GRAPH_HEAP_H
#define NY_GRAPH_HEAP_H

#include "base/layout.h"
#include "graph/edges.h"

struct ny_patch_heap {
    uint32_t *patch; /* count */
    uint32_t *place; /* patches: where in it, or NY_NO_ROW */
    float *key;      /* patches: ∞ where it does not wait */
    uint32_t count;
};

/* Lays out an empty heap of the patches of a graph. */
void ny_patch_heap_lay(struct ny_layout *l, struct ny_patch_heap *heap,
                       const struct ny_edges *graph);

/* The patch waits, by this key or a lower one that it has. */
void ny_patch_heap_put(struct ny_patch_heap *heap, uint32_t patch, float key);
/* Takes out the patch with the least key; there has to be one. */
uint32_t ny_patch_heap_pop(struct ny_patch_heap *heap, float *key);

#endif
