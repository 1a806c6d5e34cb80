/* Graphs of known shapes, as lists of neighbours, and what src/graph/ makes of them. */
#ifndef TESTS_SUPPORT_NET_H
#define TESTS_SUPPORT_NET_H

#include "graph/affinity.h"

struct net {
    size_t n, t;
    uint32_t *row;
    float *distance;
    struct ny_lists lists;
};

/* Makes n nodes without edges, with room for t of each; net_link() adds one. */
struct net net_new(size_t n, size_t t);
void net_link(struct net *net, size_t from, size_t to, double distance);

/* DUMBBELL: two sheets joined by a long edge; OUTLIER, FAR_GROUP: a small world, and a node or a few
 * beside it that are so far out that no f32 holds their weights. */
enum net_shape { SHEET, SMALL_WORLD, CYCLE, PATH, STAR, COMPLETE, DUMBBELL, OUTLIER, FAR_GROUP };
struct net net_of(enum net_shape shape, size_t n);

/* The largest component's graph and its affinity; gamma < 0: the automatic one. */
struct made {
    struct ny_components components;
    struct ny_edges graph;
    struct ny_affinity affinity;
    double gamma;
};
void make(struct made *made, struct ny_context *ctx, const struct net *net, double gamma);
void unmake(struct made *made);

/* A of that graph as the lists have it: node by node, each pair that is listed at least once. */
double *dense_weights(const struct net *net, const struct ny_edges *graph, double gamma);

#endif
