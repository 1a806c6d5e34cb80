/*
 * Finds the smallest eigenpairs of the normalised Laplacian I − D^-½AD^-½ of a graph, as
 * (D − A)z = λDz, by the locally optimal block preconditioned conjugate gradient method (Knyazev
 * 2001, Algorithm 5.1; kept orthonormal as by Hetmaniuk & Lehoucq 2006), with multigrid as the
 * preconditioner (graph/multigrid.h). maps/eigenmaps.c runs it.
 *
 * A step takes the residuals R = D⁻¹(D − A)X − XΘ of the block X, preconditions them to
 * W ≈ (D − A + σD)⁻¹DR, and finds the best block in the span of X, W and P, the part of the last
 * step that was not X, by Rayleigh–Ritz. Scalar products are those of D. The block holds more
 * columns than are wanted. The first block is that of a coarser graph's aggregates, solved in the
 * same way to ten times the residuals; the coarsest is a dense problem. So are small graphs.
 *
 * The eigenvalues are hard for two reasons. A graph of points on a surface has eigenvalues that
 * fall as 1/n: those wanted are 1e-6 to 1e-5 at a million points. Groups of rows that weights of
 * 1e-10 tie to the rest add eigenvalues as small as 1e-20; measured clouds have hundreds of such
 * groups. Polynomials of the Laplacian, which this program had before, never ended on them. With
 * multigrid the number of steps hardly depends on either:
 *
 *   swiss roll, 10⁵ points             9 steps
 *   swiss roll, 10⁶ points            11
 *   terrain, binary weights           17
 *
 * There may be many eigenvalues that are 0 to rounding, all that are wanted and more. W is mostly
 * what rounding makes of the others then, magnified, and Rayleigh–Ritz takes it in with all its
 * errors: a cloud of LiDAR took 26 to 300 steps, by luck. Any vectors of these groups will do, so
 * that a step is one of inverse iteration instead: X is taken some way against W, by a Chebyshev
 * polynomial over four steps. This took 7 to 19 steps at four widths.
 *
 * W is made orthonormal to X and P; the three are not whitened together. Multigrid takes its
 * columns eight at a time (NY_STRIP_COLUMNS), so that three blocks, and a little for eight columns,
 * are all the memory that it takes. A sparse factorisation (shift and invert) instead takes more
 * than three times as long at 10⁵ points, and memory that grows faster than the points do.
 */
#ifndef NY_GRAPH_LOBPCG_H
#define NY_GRAPH_LOBPCG_H

#include "graph/multigrid.h"

/* A pair is found when ‖Lu − λu‖ ≤ NY_LOBPCG_RESIDUAL·λ_wanted, or is what rounding leaves. */
#define NY_LOBPCG_RESIDUAL 1e-2
#define NY_LOBPCG_ROUNDING 1e-12

/* Progress of the solver, in doubles since it is a part of the state. */
struct ny_lobpcg_place {
    double steps;      /* so far */
    double directions; /* columns of P */
    double shift;      /* σ of the preconditioner */
    double before;     /* ny_lobpcg_excess() of the step before */
};

struct ny_lobpcg {
    struct ny_layout own;
    struct ny_context *ctx;
    const struct ny_affinity *affinity;
    struct ny_multigrid *grids;
    size_t grid; /* which of them the affinity is that of */
    size_t n, wanted, columns, stride;
    double *state; /* what a checkpoint keeps: all of the following but w and sums */
    double *image; /* the state, if it was saved: it is not in `own` */
    struct ny_lobpcg_place *at;
    double *value;    /* columns: Ritz values, ascending */
    double *residual; /* columns: ‖Lu − λu‖ */
    double *bend;     /* columns × columns: PᵀLP */
    double *x, *p;    /* n × stride: z */
    double *w;        /* n × stride: between steps the residuals R */
    double *sums;     /* of groups of rows: NY_LOBPCG_GROUPS × those of a Gram matrix */
};

/* wanted ≤ nodes: the trivial pair counts. image: a state that was saved (taken over), or NULL.
 * Release it also after an error. NY_EINTERRUPTED while it makes its start. */
int ny_lobpcg_new(struct ny_lobpcg *solver, const struct ny_affinity *affinity, size_t wanted,
                  uint64_t seed, double *image);
/* Frees the solver, its grids and its state, a saved one that was taken over included. */
void ny_lobpcg_release(struct ny_lobpcg *solver);
/* Returns the bytes of a state, the image of a checkpoint. */
size_t ny_lobpcg_state_bytes(uint64_t n, size_t wanted);
/* Counts the solver, its start, multigrid and workspace included. */
void ny_lobpcg_count(struct ny_layout *l, uint64_t n, uint64_t edges, size_t wanted,
                     unsigned threads);

/* Tells whether the residuals of all wanted pairs are as small as they have to be. */
bool ny_lobpcg_converged(const struct ny_lobpcg *solver);
/* One step. Interrupted, it leaves a state to go on from: that before it, or that after it without
 * its residuals, which are found anew. After other errors the state is lost. */
int ny_lobpcg_step(struct ny_lobpcg *solver);
/* The largest residual of the wanted pairs, in shares of what is allowed; ∞ if one is NaN. */
double ny_lobpcg_excess(const struct ny_lobpcg *solver);
/* Steps still to come, as far as residuals tell; ∞ before they fall. */
double ny_lobpcg_ahead(const struct ny_lobpcg *solver);
/* Products with the graph that a step takes. */
enum { NY_LOBPCG_STEP_PRODUCTS = 6 };
/* Returns the products with the graph that all steps so far took. */
static inline uint64_t ny_lobpcg_products(const struct ny_lobpcg *solver)
{
    return (uint64_t)solver->at->steps * NY_LOBPCG_STEP_PRODUCTS;
}

#endif
