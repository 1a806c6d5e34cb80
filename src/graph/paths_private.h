/* What graph/paths.c and the two ways of finding paths share. */
#ifndef NY_GRAPH_PATHS_PRIVATE_H
#define NY_GRAPH_PATHS_PRIVATE_H

#include "graph/paths.h"

/* Patches that wait, by a key: a binary heap. */
struct ny_patch_heap {
    uint32_t *patch; /* count */
    uint32_t *place; /* patches: where in it, or NY_NO_ROW */
    double *key;     /* patches: ∞ where it does not wait */
    uint32_t count;
};

/* A node's place in the list of its bucket. */
struct ny_bucket_link {
    uint32_t before, after, bucket;
};

struct ny_paths {
    struct ny_context *ctx;
    const struct ny_edges *graph;
    enum ny_paths_way way;
    float *distance; /* n × NY_LANES */
    uint8_t *waits;  /* n: a node whose edges are to be tried */
    double longest, mean; /* edge */
    /* By patches. */
    struct ny_patch_heap heap;
    uint32_t *queue;      /* of the patch at work, a ring of its nodes */
    size_t sources;       /* of the batch … */
    uint32_t begin, last; /* … and the stretch of patches that they are in */
    uint64_t visits;      /* of patches */
    /* By buckets. */
    float *near; /* n: distances from one source */
    struct ny_bucket_link *link;
    uint32_t *bucket; /* the first node of each */
    double step;      /* width of a bucket */
};

bool ny_patches_allocate(struct ny_paths *paths);
void ny_patches_release(struct ny_paths *paths);
size_t ny_patches_bytes(uint64_t nodes);
/* All of paths->distance, from `count` sources. */
int ny_patches_run(struct ny_paths *paths, const uint32_t *sources, size_t count);

bool ny_buckets_allocate(struct ny_paths *paths);
void ny_buckets_release(struct ny_paths *paths);
size_t ny_buckets_bytes(uint64_t nodes);
void ny_buckets_forget(struct ny_paths *paths);
/* paths->near, where it comes nearer from `source`. */
int ny_buckets_run(struct ny_paths *paths, uint32_t source);

#endif
