/* Shared by graph/paths.c and its search outwards. */
#ifndef NY_GRAPH_PATHS_PRIVATE_H
#define NY_GRAPH_PATHS_PRIVATE_H

#include "graph/buckets.h"
#include "graph/paths.h"

/* Patches that wait, by a key: a binary heap. */
struct ny_patch_heap {
    uint32_t *patch; /* count */
    uint32_t *place; /* patches: where in it, or NY_NO_ROW */
    float *key;      /* patches: ∞ where it does not wait */
    uint32_t count;
};

struct ny_paths {
    struct ny_context *ctx;
    const struct ny_edges *graph;
    struct ny_buckets *buckets;
    size_t lanes;
    float *distance; /* n × lanes */
    /* used where a batch is more than NY_ALONE sources: */
    uint8_t *waits;  /* n: a node of the ball; then one whose edges are to be tried */
    /* used by the search outwards, in the memory of the buckets: */
    float *centre;   /* n: distance from the source in the midst */
    uint16_t *place; /* n: in the order of these, within the patch */
    struct ny_patch_heap heap;
};

/* Makes the heap of patches, empty; false if the budget has no room. ny_patches_release() it in
 * both cases. */
bool ny_patches_allocate(struct ny_paths *paths);
/* Frees the heap of patches. */
void ny_patches_release(struct ny_paths *paths);
/* Returns the most bytes that ny_patches_allocate() charges for so many nodes. */
size_t ny_patches_bytes(uint64_t nodes);
/* Searches outwards from the nodes that wait, in the order of lane `centre`, until none waits.
 * *done false: it gave up as that took too long. */
int ny_patches_run(struct ny_paths *paths, size_t centre, bool *done);

#endif
