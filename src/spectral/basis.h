/*
 * The basis in which a method works: features Φ = (C′ − 1bᵀ)R of the shifted tiles C′ = C − 1aᵀ.
 *
 *   map                       R                      b          W_R = RᵀWR
 *   svd                       I                      −a         W
 *   kpca, averages over D     H = I − 11ᵀ/m          0          HWH            (a = w̄)
 *   kpca, implicit averages   I                      s′/n       W              (Proposition 2)
 *   the affine hull           T = [−1ᵀ; I], m−1      w₁ − a     kernel translated by x₁
 *   affine and implicit       T                      s′/n       the same
 *   affine, averages over D   T                      0          the same           (a = w̄)
 *   divided, degrees over D   S = 𝒟_D^-½             −a         SWS
 *   divided, implicit degrees I                      −a         W
 *
 * In all of them ΦᵀΦ = Rᵀ(G′ − s′bᵀ − bs′ᵀ + ωbbᵀ)R, the map is P = R·P_R, q = −Pᵀb, and the
 * rows of D itself have features W_R + 1cᵀ (the first one, on the affine hull, cᵀ alone). Divided,
 * rows count 1/d_i in s′, G′ and ω, and each row of features still has to be divided by √d_i; those
 * of D with implicit degrees too.
 *
 * b may be much larger than C′ is: then what rounding makes of the last three terms is as large as
 * the small eigenvalues of the first. So `projected` takes RᵀG′R, Rᵀs′ and Rᵀb to its basis apart.
 *
 * One basis serves all maps: raw, centred over landmarks, implicitly centred, divided and affine
 * problems differ by R and b, not by code. A method only sees W_R and ΦᵀΦ, or RᵀG′R and its parts.
 */
#ifndef NY_SPECTRAL_BASIS_H
#define NY_SPECTRAL_BASIS_H

#include "base/layout.h"
#include "spectral/method.h"

struct ny_basis {
    size_t m, r;          /* r = m, or m − 1 on the affine hull */
    struct ny_matrix W;   /* r × r inside problem->W. The strict upper triangle keeps W_R; methods
                           * may destroy the lower triangle and the diagonal. */
    struct ny_matrix G;   /* r × r inside acc->G: RᵀG′R, and ΦᵀΦ once it is moved; at = NULL without
                           * it */
    double *s_R, *b_R;    /* Rᵀs′ and Rᵀb, r numbers each, by which G moves */
    double omega;
    double *diagonal;     /* diagonal of W_R, r numbers, kept apart */
    double *b;            /* m */
    double *c;            /* r: Φ_D = W_R + 1cᵀ; zero but for implicit averages and affine ones */
    double *roots;        /* m, divided: d_j^-½ over D; NULL elsewhere */
    /* The columns of W_R·P_R, if a method knows them without that product, and c and roots are
     * none: row k is column k but for a positive factor, as far as columns are not 0. They are the
     * method's own; at = NULL elsewhere. */
    struct ny_matrix vectors;
    double cut;      /* σ of W_R below it is noise: max(m·2⁻⁵³‖W‖₂, with f32 tiles
                      * 2⁻²²‖W − 1aᵀ‖₂ and 10·√m times the error of their entries that was
                      * measured), where W − 1aᵀ = HW is what a tile rounds */
    double gram_cut; /* cut; of a coarse problem max(cut, 2⁻³⁰ of ‖W‖₂, or where K is centred
                      * of ‖HW‖₂): G rounds at 2⁻⁵³‖ΦᵀΦ‖ ≈ 2⁻⁵³(n/m)‖W‖², which BᵀGB takes to
                      * 2⁻⁵³‖W‖/σ·λ₁, and that stays well below 1e-6·λ₁ */
    double trace;         /* tr K of the matrix that is decomposed; NaN without pass 1 */
    struct ny_layout own; /* the arrays; W and G belong to the problem */
};

/* Forms W_R and RᵀG′R in place of problem->W and problem->acc->G. */
int ny_basis_new(struct ny_basis *basis, struct ny_problem *problem);
/* Computes b, c and tr K again from the sums that problem->acc has now: ΦᵀΦ moves with them. */
void ny_basis_use_sums(struct ny_basis *basis, const struct ny_problem *problem);
/* Computes A ← A − sbᵀ − bsᵀ + ωbbᵀ in the lower triangle, which takes RᵀG′R to ΦᵀΦ, both in the
 * basis that `s` and `b` were taken to. */
void ny_basis_move(const struct ny_basis *basis, struct ny_matrix A, const double *s,
                   const double *b);
/* Moves basis->G by s_R and b_R, in both triangles; does nothing where there is no G. */
void ny_basis_move_gram(struct ny_basis *basis);
/* Counts the arrays of a basis, and leaves them counted. */
void ny_basis_count(struct ny_layout *l, const struct ny_problem *problem);
void ny_basis_release(struct ny_basis *basis);
/* Puts W_R back, both triangles, from what was kept. */
int ny_basis_restore(struct ny_basis *basis, struct ny_context *ctx);

/* Computes X ← R·X_R in place: X has m rows, and X_R is its first r. */
void ny_basis_expand(const struct ny_basis *basis, const struct ny_problem *problem,
                     struct ny_matrix X);
/* Computes RᵀX in place: X has m rows, and the result is in its first r. */
void ny_basis_contract(const struct ny_basis *basis, const struct ny_problem *problem,
                       struct ny_matrix X);

/* Completes the map from P_R (r × p, in the first r rows of solution->P) and, if implicitly
 * centred, u_R = −W_R⁺c in the first r of solution->averages. Fixes the signs of its columns — in
 * each column of Û over D the entry of largest magnitude is positive; ties within 1e-6: the first —
 * then P = R·P_R and q = −Pᵀb. Restores W_R. */
int ny_basis_finish(struct ny_basis *basis, struct ny_problem *problem,
                    struct ny_solution *solution);
/* Counts what it holds while it runs. */
void ny_basis_finish_count(struct ny_layout *l, size_t m, size_t p);

/* Scales U's rows, eigenvectors of W_R or of a block of it with σ descending: those above gram_cut
 * become u_j σ_j^-½, so that their UᵀU is W⁺. Returns how many. */
size_t ny_basis_whiten(const struct ny_basis *basis, const double *sigma, struct ny_matrix U);

/* Returns tr A of a positive semidefinite A, given by its lower triangle, that was made from G.
 * Sets solution->inaccurate where its diagonal shows that A is not semidefinite. */
double ny_basis_trace(struct ny_matrix A, struct ny_solution *solution);

/* NY_ENUMERIC: no eigenvalue is above the cut. */
int ny_basis_empty(struct ny_context *ctx);

/* A new solution and a basis for it, G moved, which `solve` fills. */
typedef int ny_basis_solve_fn(struct ny_problem *problem, struct ny_basis *basis,
                              struct ny_solution *solution);
/* Makes the solution (the caller owns it, also after an error) and the basis, moves G, calls
 * `solve`, and releases the basis. */
int ny_basis_solve(struct ny_problem *problem, struct ny_solution *solution,
                   ny_basis_solve_fn *solve);

#endif
