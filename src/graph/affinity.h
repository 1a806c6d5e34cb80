/*
 * The affinity A of a graph's edges (Homrighausen & McDonald 2011, eq. 1, with ε = 1/γ), and
 * products with its Laplacian D − A.
 *
 * Vectors are z = D^-½u, u those of I − D^-½AD^-½. Products are sums of w_ij(z_i − z_j): they have
 * all their digits also where vectors are nearly constant and λ is 1e-15, which u would round away.
 */
#ifndef NY_GRAPH_AFFINITY_H
#define NY_GRAPH_AFFINITY_H

#include "base/layout.h"
#include "base/thread.h"
#include "graph/edges.h"

struct ny_affinity {
    struct ny_layout own;
    struct ny_context *ctx;
    const struct ny_edges *graph;
    double gamma;
    double *weight;  /* of each edge, as graph->target */
    double *degree;  /* n: d_i = Σ_j w_ij */
    double *inverse; /* n: 1/d_i */
    double *outward; /* n: Σ_{j≠i} w_ij; `degree` except in a coarser graph (graph/coarse.h) */
    uint64_t far, far_row; /* nodes whose weights vanish, and the first row of theirs */
};

/* 1/median of the squared lengths that are not 0; 1 where all are. */
int ny_affinity_gamma(const struct ny_edges *graph, double *gamma);
/* w = exp(−γ·length²), at least NY_WEIGHT_LEAST; γ = 0: 1. Edges that have affinities, which are
 * not 0, weigh these. Nodes all of whose weights are the least are counted: their rows of D^½ are 0
 * to any digit, whatever their weights are among each other. NY_ENUMERIC where they are more than a
 * tenth. */
#define NY_WEIGHT_LEAST 0x1p-960
/* Weighs the edges of a graph, which must outlive the affinity. NY_ENUMERIC as above, NY_EBUDGET;
 * releases what it made after an error. */
int ny_affinity_new(struct ny_affinity *affinity, const struct ny_edges *graph, double gamma);
/* Frees the weights and degrees of an affinity that ny_affinity_new() made; a zeroed one is left
 * alone. */
void ny_affinity_release(struct ny_affinity *affinity);
/* Lays out what it holds of so many nodes and edges, each of these in both directions;
 * ny_affinity_gamma() takes less. */
void ny_affinity_lay(struct ny_layout *l, struct ny_affinity *affinity, size_t nodes, size_t edges);

/* Columns of a strip, the operand of products: a row of a strip is a line of the cache. */
enum { NY_STRIP_COLUMNS = 8 };

/* Y ← base + own·X + factor·Δ⁻¹(D − A + σD)X, n × NY_STRIP_COLUMNS each; no base: 0. Y may be the
 * base, and X must not be Y. */
struct ny_laplacian {
    const struct ny_affinity *affinity;
    const double *inverse; /* n: of Δ */
    double shift;          /* σ */
    const double *x;
    size_t x_stride;
    double *y;
    size_t y_stride;
    const double *base; /* of y_stride */
    double own, factor;
};
/* Computes the product for all rows, with the threads of the context's crew where there are at
 * least 4,096 of them. Returns the status of ny_parallel_ranges(). */
int ny_laplacian(const struct ny_laplacian *product);
/* Runs the product as a step of a team; called by all of its workers. */
void ny_laplacian_step(const struct ny_worker *worker, struct ny_laplacian *product);

/* The product for rows first … first + count − 1, compiled once for each CPU family. */
typedef void ny_laplacian_fn(const struct ny_laplacian *product, size_t first, size_t count);

#endif
