/*
 * The affinity A of a graph's edges, and products with its random walk P = D⁻¹A.
 *
 * The walk has the eigenvalues of D^-½AD^-½, and vectors z = D^-½u: products with it need no second
 * factor a neighbour. Weights are f64: rounding moves Lu by its share of u, and λu may be 1e-8 of
 * it. So products of f32 blocks are for filters alone.
 */
#ifndef NY_GRAPH_AFFINITY_H
#define NY_GRAPH_AFFINITY_H

#include "graph/edges.h"

struct ny_affinity {
    struct ny_context *ctx;
    const struct ny_edges *graph;
    double gamma;
    double *weight;  /* of each edge, as graph->target */
    double *degree;  /* n: d_i = Σ_j w_ij, … */
    double *inverse; /* … and 1/d_i */
    uint64_t far, far_row; /* nodes whose weights vanish, and the first row of theirs */
};

/* 1/median of the squared lengths that are not 0; 1 where all are. */
int ny_affinity_gamma(const struct ny_edges *graph, double *gamma);
/* w = exp(−γ·length²), at least NY_WEIGHT_LEAST; γ = 0: 1. Nodes that have the least alone are
 * counted: their rows of D^½ are 0 to any digit, whatever their weights are among each other.
 * NY_ENUMERIC where they are more than a tenth. */
#define NY_WEIGHT_LEAST 0x1p-960
int ny_affinity_new(struct ny_affinity *affinity, const struct ny_edges *graph, double gamma);
void ny_affinity_release(struct ny_affinity *affinity);
/* Of so many nodes and undirected edges; ny_affinity_gamma() takes less. */
size_t ny_affinity_bytes(uint64_t nodes, uint64_t edges);

/* Columns of a block are padded to whole vectors. */
enum { NY_BLOCK_LANES = 16 };

/* Y ← own·X + walk·PX + before·Y, n × stride each; Y is not read where before is 0. */
struct ny_walk {
    const struct ny_affinity *affinity;
    size_t stride; /* of NY_BLOCK_LANES */
    bool single; /* x and y are f32, else f64 */
    const void *x;
    void *y;
    double own, walk, before;
};
int ny_walk(const struct ny_walk *product);

/* The same for rows first … first + count − 1, compiled once for each CPU family. */
typedef void ny_walk_fn(const struct ny_walk *product, size_t first, size_t count);

#endif
