/*
 * An approximate inverse of the Laplacian, (D − A + σD)⁻¹, by multigrid over aggregates of strongly
 * tied nodes (Vaněk, Mandel & Brezina 1996, without smoothing them; Notay 2010): errors that are
 * rough are taken away by a polynomial of the graph itself, those that are smooth are solved for
 * on a graph of some fifth of the nodes, in the same way, twice (a W cycle). How many cycles an
 * eigensolver needs hardly depends on the size of the graph, or on how far weights are apart.
 *
 * It is linear, symmetric and positive, in the scalar product of D_out + σD.
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
    struct ny_context *ctx;
    size_t count;
    double shift; /* σ */
    struct ny_grid grid[NY_GRIDS_MOST];
};

/* grid[0] is the graph itself. ny_multigrid_shift() has to follow. Release it also after an
 * error. */
int ny_multigrid_new(struct ny_multigrid *grids, const struct ny_affinity *affinity);
void ny_multigrid_shift(struct ny_multigrid *grids, double shift);
void ny_multigrid_release(struct ny_multigrid *grids);
/* Sets x of grid `at` to its inverse times b, which is kept: Δ⁻¹ times the right side, Δ = D_out +
 * σD. Called by all workers of a team. NY_EINTERRUPTED, NY_ETERMINATED. Four products with that
 * graph, some seven with all. */
int ny_multigrid_solve(struct ny_multigrid *grids, size_t at, const struct ny_worker *worker);
/* Bytes for a graph of so many nodes and undirected edges, at most. */
size_t ny_multigrid_bytes(uint64_t nodes, uint64_t edges);

#endif
