/* The inner loop of shortest paths by patches, compiled once for each CPU family. */
#ifndef NY_GRAPH_RELAX_H
#define NY_GRAPH_RELAX_H

#include "base/cpu.h"
#include "graph/pages.h"
#include "graph/paths.h"

/* A node of another patch has come nearer, and waits from now on; `key`: its place in the order. */
typedef void ny_wake_fn(void *arg, uint32_t node, float key);

/* The buckets of one patch, empty between two calls: lists of its nodes, counted from its first,
 * that wait. */
enum { NY_PATCH_BUCKETS = 64, NY_NO_NEXT = UINT16_MAX, NY_IN_NONE = UINT16_MAX - 1 };

struct ny_patch_queue {
    uint16_t head[NY_PATCH_BUCKETS]; /* or NY_NO_NEXT */
    uint16_t after[NY_PATCH_NODES], before[NY_PATCH_NODES]; /* before: NY_IN_NONE where in none */
    uint8_t bucket[NY_PATCH_NODES];
};

struct ny_patch {
    struct ny_edge_page edges;  /* of its nodes */
    float *distance;            /* of all nodes: that in lane l is distance[node · stride + l] */
    size_t stride, lanes;       /* lanes that are relaxed: NY_LANES, NY_HALF_LANES or NY_FEW_LANES,
                                 * all of a node; or 1 */
    size_t key;                 /* the lane that gives the order */
    const float *within;        /* where lanes is 1: only nodes are passed whose … */
    float radius;               /* … within[node · stride] is at most this; NULL: all are */
    uint8_t *waits;             /* of all nodes */
    struct ny_patch_queue *queue;
    uint32_t first, count;
    float from, until; /* the stretch: keys of the nodes that are relaxed */
    float rest;        /* out: the least key of a node that still waits, ∞: none does */
    uint64_t relaxed;  /* out: so many more */
    ny_wake_fn *wake;
    void *arg;
};

/* Tries the edges of the patch's nodes in the stretch that wait, and of those that come nearer by
 * that, in the order of their keys, until none in the stretch waits. */
typedef void ny_relax_fn(struct ny_patch *patch);
/* Returns the loop that was compiled for this CPU. */
ny_relax_fn *ny_relax(void);
/* Empties a queue before its first use. */
void ny_patch_queue_clear(struct ny_patch_queue *queue);

#endif
