/*
 * The leading eigenpairs of a large symmetric positive semidefinite A that is known by its products
 * alone, each of which is a pass over the data: block Krylov iteration (Musco & Musco 2015,
 * Algorithm 2) with Rayleigh–Ritz over the whole basis, and a thick restart where the basis is full
 * (Wu & Simon 2000), which keeps the best Ritz vectors and the block that comes next. Unlike
 * spectral/krylov.h it goes on until each pair has an error that was asked for.
 *
 * With V the basis and T = VᵀAV, a Ritz pair is θ, Vy with Ty = θy. Of a product H = AV_b with the
 * last block, E = H − VVᵀH is what A takes out of the basis, so that the residual ‖AVy − θVy‖ is
 * ‖E y_b‖, and E is where the next block comes from. A pair is found when
 *
 *   min(‖r‖, ‖r‖²/gap) ≤ tolerance · max(θ, 2⁻²⁰θ₁)
 *
 * bounds the relative error of its eigenvalue; the gap is to the largest Ritz value that is not
 * wanted, with its own residual, and the second bound counts only where the gap is positive. Pairs
 * below 2⁻²⁰θ₁ are lost in the rounding of T, which is of the size of θ₁.
 *
 * If some of the wanted pairs are so small, those above are made exact, and locked: they stay in
 * the basis, to which all blocks are orthogonal, and leave T. Its rounding is then of the size of
 * the next value, θ of the largest that is not locked, which takes the place of θ₁; and a product
 * AV = Φᵀ(ΦV) with vectors orthogonal to the large ones has an error of 2⁻⁵³√(θ₁θ) in f64. So pairs
 * are found down to `reach`·θ₁, and what is left below it has its size.
 *
 * Blocks begin with about a third of the columns that are wanted, or what the caller sets: the
 * smaller they are, the more powers of A a space of so many columns has, and the more products it
 * takes. A space that begins with w
 * columns has no more than w vectors of a multiple eigenvalue, and would find those of smaller ones
 * in their place. So where w found values lie together, as blocks of as many columns as are wanted
 * would show them, new hashed columns join the next block, and have as many steps to show what is
 * missing as those before took to find theirs.
 *
 * Eigenvalues of noise lie close together, so that each takes many products. Where A is a
 * covariance matrix, and `bulk` says so, those that are told from no noise (spectral/bulk.h) count
 * as found. The test needs the sum of the squares of all eigenvalues, which the products with
 * the hashed first block tell: E‖Aq‖² = tr A²/N.
 *
 * All of it is the same for any number of threads: sums over the rows of the basis run in fixed
 * lanes. How many columns the basis may have depends on the shape of the problem alone, so that no
 * budget changes a bit.
 */
#ifndef NY_SPECTRAL_RESTARTED_H
#define NY_SPECTRAL_RESTARTED_H

#include "linalg/matrix.h"

struct ny_restarted_shape {
    size_t order; /* N: rows of the basis */
    size_t pairs; /* eigenpairs wanted */
    size_t width; /* columns of a block at most: pairs + oversample, up to a multiple of 16 */
    size_t start; /* columns of the first block */
    size_t keep;  /* Ritz vectors that a restart keeps */
    size_t most;  /* columns of the basis */
    bool bulk;    /* pairs in the bulk are not waited for (spectral/bulk.h) */
};

/* Returns the sizes for so many pairs of a matrix of this order. */
struct ny_restarted_shape ny_restarted_shape(size_t order, size_t pairs, size_t oversample);
/* Bytes of the state, which a checkpoint keeps: T, H, V and some numbers. */
size_t ny_restarted_state_bytes(const struct ny_restarted_shape *shape);
/* Counts what ny_restarted_next() and ny_restarted_vectors() hold beside the state. */
void ny_restarted_count(struct ny_layout *l, const struct ny_restarted_shape *shape);

/* The settings of an iteration. */
struct ny_restarted_how {
    struct ny_restarted_shape shape;
    double tolerance; /* relative error of the eigenvalues */
    double reach;     /* pairs are told down to this share of the largest; 0: to 2⁻²⁰ alone */
    unsigned steps_most; /* products that are made at most */
    uint64_t seed;       /* draws the first block */
    bool centred;        /* the wanted vectors are orthogonal to 1, and so are all blocks; bulk:
                          * A is of the rows */
};

struct ny_restarted {
    struct ny_context *ctx;
    struct ny_restarted_how how;
    double *state;
    size_t used, count; /* columns of V, and of its last block, which is to be multiplied */
    size_t locked;      /* pairs that are locked: the first columns of V and the first values */
    size_t widest;      /* columns that a block may have: shape.width, or fewer */
    size_t seeds;       /* hashed columns that the space was made from */
    unsigned seeded;    /* step at which the last of them came */
    unsigned waits;     /* step before which the iteration does not end: they need time */
    unsigned step;      /* products that are done */
    unsigned looked;    /* step at which the pairs were looked at: before, the last was not found */
    struct ny_matrix V; /* N × most, orthonormal */
    struct ny_matrix T; /* most × most: VᵀAV of the columns that have been multiplied */
    struct ny_matrix H; /* N × count: AV of the last block; the caller adds it up */
    double *values;     /* pairs: the largest Ritz values, descending, when they were looked at */
    double *residuals;  /* pairs: ‖Av − θv‖, likewise */
    size_t converged;   /* pairs that are found, among the wanted ones, likewise */
    double trace;       /* bulk: of A, which the caller sets before the first step is taken */
    double *square;     /* bulk: the sum of the squares of all eigenvalues */
    double *before;     /* bulk: pairs: the values of the step before */
    double *p;          /* bulk: pairs: p-values of the last step; NaN: not known */
    double *shrinkage;  /* bulk: pairs: ny_bulk_shrinkage(), likewise */
};

static inline bool ny_restarted_is_whole(const struct ny_restarted *it)
{
    return it->used == it->how.shape.order; /* the basis is the whole space */
}

/* Begins with a first block of hashed normal numbers, or goes on where `resumed`: `state`, which
 * stays the caller's, then holds what ny_restarted_save() has left in it. NY_ESTORE where it cannot
 * have. */
int ny_restarted_begin(struct ny_restarted *it, struct ny_context *ctx,
                       const struct ny_restarted_how *how, double *state, bool resumed);
/* Brings the numbers of the state up to date, which is then what a checkpoint keeps. */
void ny_restarted_save(struct ny_restarted *it);

/* Takes the product that is now in H: looks at the Ritz pairs, unless the last of those wanted
 * alone tells that they are not found, and makes the next block with H = 0. *done: all wanted pairs
 * are found, the basis is the whole space, or there were `steps_most`. */
int ny_restarted_next(struct ny_restarted *it, bool *done);
/* The following are called when ny_restarted_next() is done. V begins with the Ritz vectors then.
 */
/* Begins anew with the best of them as the first block, for products that are more exact than those
 * before; blocks have so many columns at most. */
void ny_restarted_refine(struct ny_restarted *it, size_t widest);
/* Returns the value below which pairs are lost in the rounding of larger ones. */
double ny_restarted_floor(const struct ny_restarted *it);
/* X (N × pairs) = the Ritz vectors of the largest values, orthonormal; columns of 0 where the basis
 * has fewer, as steps_most was too few for it to have more. */
void ny_restarted_vectors(const struct ny_restarted *it, struct ny_matrix X);

/* ---- restarted_bulk.c, for the iteration ---- */

/* Estimates the sum of the squares of all eigenvalues, Y's rows being vectors of T of those that
 * are wanted, as long as the basis has the first block. */
void ny_restarted_measure_bulk(struct ny_restarted *it, const double *Y, size_t pairs);
/* Finds the p-values of the wanted pairs, and returns where those begin that lie in the bulk. */
size_t ny_restarted_bulk(struct ny_restarted *it, size_t pairs);

#endif
