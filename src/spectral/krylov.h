/*
 * The projected problem without its Gram: the leading eigenpairs of A = BᵀΦᵀΦB, B whitening W_R
 * (spectral/projected.c), by randomized block Krylov iteration (Musco & Musco 2015, Algorithm 2, as
 * block Lanczos that keeps all of its basis). `projected --inner randomized` uses it, for few
 * components of many landmarks; fit/krylov.c makes the passes.
 *
 * A step is one pass over the points: it multiplies their ΦᵀΦ with U = R·B·V, m × l, instead of
 * summing ΦᵀΦ up. Its l = p + oversample columns, rounded up to a multiple of 16, take 4nml flop
 * instead of the Gram's nm², and there is no m × m eigenproblem. Y = AV follows from the product;
 * Rayleigh–Ritz over all blocks so far, T = QᵀAQ, gives pairs whose residuals ‖Av − λv‖ are known,
 * and that say when to stop. What Y has outside of Q is the next block.
 *
 * The first block costs no pass: it comes from W, the landmarks taken as a sample of the points.
 * There ΦᵀΦ is (n/m) W_R S W_R, whose leading eigenvectors are found at once. W is whitened by
 * Cholesky, and by its eigenvectors only where it is rank deficient. A checkpoint keeps Q, QᵀAQ and
 * the product under way.
 */
#ifndef NY_SPECTRAL_KRYLOV_H
#define NY_SPECTRAL_KRYLOV_H

#include "spectral/basis.h"

struct ny_krylov {
    struct ny_problem problem; /* its acc is `sums` below */
    struct ny_basis basis;
    struct ny_accumulator sums; /* s′, t and ω, which the first pass sums */
    struct ny_matrix B; /* at = NULL: L⁻ᵀ, L in place of W_R; else Σ_r^-½U_rᵀ, rows */
    struct ny_solution counts; /* ranks and negative eigenvalues that the rank cut has found */
    size_t rank;               /* rows of Q */
    size_t width;              /* l */
    size_t most;               /* columns of Q: all blocks there may be */
    unsigned step;             /* the block under way */
    double *state;             /* what a checkpoint keeps: s′, H, Q, T, and some numbers */
    struct ny_matrix H;        /* m × columns of this block: C′ᵀC′U so far */
    struct ny_matrix Q, T;     /* the basis, rank × most; QᵀAQ, most × most */
    struct ny_matrix U, Y; /* what this pass multiplies with, m × width; workspace of that size */
    struct ny_layout own;  /* all but the state */
};

/* Starts with the first block, or with that of `step` where `image` is a saved state (taken over;
 * NULL: none). Destroys the problem's W and does not look at its acc. Release it also after an
 * error. */
int ny_krylov_new(struct ny_krylov *krylov, const struct ny_problem *problem, double *image,
                  unsigned step);
/* Frees all that ny_krylov_new() has made, the image that it took over included. */
void ny_krylov_release(struct ny_krylov *krylov);
/* Brings `state` up to date with what is not kept in it. */
const double *ny_krylov_save(struct ny_krylov *krylov);

struct ny_peers;
/* Makes of the product of a pass over this peer's rows, and in the first step of the sums, those of
 * all peers. */
int ny_krylov_fold_peers(struct ny_krylov *krylov, struct ny_peers *peers);
/* Forgets the product under way, and in the first step the sums: the state is that of another peer.
 */
void ny_krylov_clear_pass(struct ny_krylov *krylov);

/* Returns l, the columns of a block, with m landmarks. */
size_t ny_krylov_width(const struct ny_problem *problem, size_t m);
/* Returns the most passes there may be, with m landmarks. */
unsigned ny_krylov_steps(const struct ny_problem *problem, size_t m);
/* Bytes of a state, with m landmarks. */
size_t ny_krylov_state_bytes(const struct ny_problem *problem, size_t m);

/* Makes the next block when the pass of a step has ended, with H complete, and the sums in the
 * first one. *done: all pairs are found, or there is no room for another block. */
int ny_krylov_next(struct ny_krylov *krylov, bool *done);
/* Returns the largest residual ‖Av − λv‖/λ of the pairs that are wanted. */
double ny_krylov_residual(const struct ny_krylov *krylov);
/* Tells whether the residual is as small as it has to be. */
bool ny_krylov_converged(const struct ny_krylov *krylov);
/* Computes the map from the blocks before `step`. */
int ny_krylov_solve(struct ny_krylov *krylov, struct ny_solution *solution);

/* ---- one unit's share of H ------------------------------------------------------------------ */

struct ny_krylov_partial {
    size_t m, width;
    double *T, *H; /* NY_STRIP_ROWS × width, m × width */
    double *strip; /* a strip of the tile, widened */
};

/* Lays out the buffers of one worker, for blocks of `width` columns. */
struct ny_krylov_partial *ny_krylov_partial_lay(struct ny_layout *l, size_t m, size_t width);
/* Computes the partial C′ᵀ(C′U) of the tile C (NY_UNIT_ROWS × m). */
void ny_krylov_partial_set(struct ny_krylov_partial *partial, struct ny_matrix32 C,
                           struct ny_matrix U);
/* Like ny_krylov_partial_set(), for a tile in f64. */
void ny_krylov_partial_set64(struct ny_krylov_partial *partial, struct ny_matrix C,
                             struct ny_matrix U);
/* Adds the partial to H, as one step of the left fold. */
void ny_krylov_fold(struct ny_krylov *krylov, const struct ny_krylov_partial *partial);

#endif
