/*
 * The smallest eigenpairs of the normalised Laplacian L = I − D^-½AD^-½ by subspace iteration with
 * Chebyshev filters (Zhou, Saad, Tiago & Chelikowsky 2006, Algorithms 3.1 and 4.3).
 *
 * A round is a polynomial of L that is at most 1 in [cut, 2] and grows fast below, one product a
 * degree, and Rayleigh–Ritz on the block that it leaves. The spectrum of L is in [0, 2]; the cut is
 * the largest Ritz value of the block, which holds more columns than are wanted. Degrees follow
 * from what residuals still lack. Where a block can hold all nodes, Rayleigh–Ritz alone solves it.
 *
 * The first vectors are those of a coarser graph (graph/coarse.h), solved in the same way to ten
 * times the residuals: near the wanted ones they are right to some percent, and what is wrong lies
 * far above. So a round's cut begins there, where few products remove it, and falls with the
 * residuals.
 *
 * Polynomials are f32 as long as residuals are larger than what that rounds; Rayleigh–Ritz is f64.
 *
 * Of large graphs the wanted eigenvalues lie at 1e-5 and below: degrees are hundreds, and beside
 * the products the few steps on dense columns at a round's end cost next to nothing. Two blocks are
 * all that is kept.
 */
#ifndef NY_GRAPH_CHEBYSHEV_H
#define NY_GRAPH_CHEBYSHEV_H

#include "graph/affinity.h"

/* A pair is found when ‖Lu − λu‖ ≤ NY_CHEBYSHEV_RESIDUAL·λ_wanted, or is what rounding leaves. */
#define NY_CHEBYSHEV_RESIDUAL 1e-2
#define NY_CHEBYSHEV_ROUNDING 1e-14

/* Where it stands; doubles, since they are a part of the state. */
struct ny_chebyshev_place {
    double products, rounds; /* so far */
    double degree, done;     /* of the polynomial under way */
    double cut;
    double turned; /* 1: x is the second of the two blocks */
    double single; /* 1: it is f32, in y */
    double excess; /* before it */
};

struct ny_chebyshev {
    struct ny_context *ctx;
    const struct ny_affinity *affinity;
    size_t n, wanted, columns, stride;
    bool narrow; /* D^-½u fits f32 */
    double *state;                 /* what a checkpoint keeps: all of the following */
    struct ny_chebyshev_place *at;
    double *value;                 /* columns: Ritz values, ascending, … */
    double *residual;              /* … and ‖Lu − λu‖ */
    double *x, *y;                 /* n × stride: vectors u between rounds, D^-½u within */
};

/* wanted ≤ nodes: the trivial pair counts. image: a state that was saved (taken over), or NULL.
 * Release it also after an error. */
int ny_chebyshev_new(struct ny_chebyshev *solver, const struct ny_affinity *affinity, size_t wanted,
                     uint64_t seed, double *image);
void ny_chebyshev_release(struct ny_chebyshev *solver);
/* Bytes of a state; and of all, workspace included. */
size_t ny_chebyshev_state_bytes(uint64_t n, size_t wanted);
size_t ny_chebyshev_bytes(uint64_t n, uint64_t edges, size_t wanted, unsigned threads);

bool ny_chebyshev_converged(const struct ny_chebyshev *solver);
/* One product, and the end of its round after a round's last one. */
int ny_chebyshev_step(struct ny_chebyshev *solver);
/* The largest residual of the wanted pairs, in shares of what is allowed. */
double ny_chebyshev_excess(const struct ny_chebyshev *solver);
/* Products still to come, as far as residuals tell; ∞ before they fall. */
double ny_chebyshev_ahead(const struct ny_chebyshev *solver);

#endif
