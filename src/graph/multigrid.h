/*
 * Applies an approximate inverse of the Laplacian, (D − A + σD)⁻¹, by multigrid over aggregates of
 * strongly tied nodes (Vaněk, Mandel & Brezina 1996, without smoothing them; Notay 2010). Errors
 * that are rough are taken away by a polynomial of the graph itself; those that are smooth are
 * solved for on a graph of some fifth of the nodes, in the same way, twice (a W cycle). The number
 * of steps that the eigensolver (graph/lobpcg.h) needs hardly depends on the size of the graph, or
 * on how far its weights are apart.
 *
 * The inverse is linear, symmetric and positive, in the scalar product of D_out + σD.
 *
 * Its parts were chosen by measurement:
 *   - A V cycle takes twice the steps of a W cycle on LiDAR.
 *   - Aggregates have eight nodes where a graph has them: larger ones cost more steps than they
 *     save. A mesh of four edges a node has smaller ones, which leave more than half of its edges.
 *     They are joined then: a mesh of 90,000 nodes takes 14 steps, and by its own grid alone 169.
 *   - Products are sums of w_ij(z_i − z_j) in f64 (graph/affinity.h). Products with D⁻¹A would
 *     round the preconditioner to an indefinite one where λ is 1e-15.
 *   - Workers go through a cycle as a team whose members wait for each other, awake, after each
 *     step (base/thread.h): starting threads takes as long as half of the products.
 */
#ifndef NY_GRAPH_MULTIGRID_H
#define NY_GRAPH_MULTIGRID_H

#include "graph/coarse.h"

/* Each graph has at most half of the nodes and edges of the one before. */
enum { NY_GRIDS_MOST = 33 };

struct ny_grid {
    const struct ny_affinity *affinity;
    struct ny_coarse coarse; /* the next grid's graph; of the last one empty */
    double *delta, *inverse; /* n: d_out + σd, and 1 over that */
    double *x, *b, *r;       /* n × NY_STRIP_COLUMNS: solution, right side, residual */
};

struct ny_multigrid {
    size_t count;
    double shift; /* σ */
    struct ny_grid grid[NY_GRIDS_MOST];
};

/* Makes the grids in a layout, also of an error; grid[0] is the graph itself. ny_multigrid_shift()
 * has to follow. */
int ny_multigrid_new(struct ny_multigrid *grids, struct ny_layout *l,
                     const struct ny_affinity *affinity);
/* Sets σ and, of all grids, Δ and its inverse. Call it before the first cycle, and for each new σ.
 */
void ny_multigrid_shift(struct ny_multigrid *grids, double shift);
/* Sets x of grid `at` to its inverse times b, which is kept: Δ⁻¹ times the right side, Δ = D_out +
 * σD. Called by all workers of a team. NY_EINTERRUPTED, NY_ETERMINATED. Four products with that
 * graph, some seven with all. */
int ny_multigrid_solve(struct ny_multigrid *grids, size_t at, const struct ny_worker *worker);
/* Counts the most for a graph of so many nodes and undirected edges. */
void ny_multigrid_count(struct ny_layout *l, uint64_t nodes, uint64_t edges);

#endif
