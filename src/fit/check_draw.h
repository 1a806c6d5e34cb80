/*
 * The draw of check rows (fit/checks.h): more of them where residuals may be large.
 *
 * A row's residual has two bounds of its own. E = K − K̃ is positive semidefinite where K̃ is
 * Nyström's, and r_i = (Eũ)_i, so that r_i² ≤ δ_i ũᵀEũ with δ_i = e_ii (Cauchy–Schwarz): rows that
 * landmarks represent have none. Where few rows are near one another E is about its diagonal, so
 * that r_i ≈ δ_i ũ_i. And where a pair is none of K's, as methods other than projected may have
 * them, r_i is of the size of λ̃ũ_i. In the place of δ, what the best landmark alone leaves of
 * k(x,x) is enough:
 *
 *    b_i = k_ii − max_j k_ij²/k_jj ≥ δ_i
 *
 * and of an ensemble the mean of this over its experts.
 *
 * N = 32 R candidates are drawn uniformly and placed. With β_i = w_i² b_i their importance is
 *
 *    g_i = β_i/Σβ + Σ_k (β_i y_ik)²/Σ_l(β_l y_lk)²/p + Σ_k y_ik²/Σ_l y_lk²/p + 3/N
 *
 * and p_i = min(1, c g_i), which add up to R, their probabilities. S are the R candidates of
 * smallest u_i(1 − p_i)/((1 − u_i)p_i), where u_i is uniform in (0, 1): Pareto sampling (Rosén, On
 * sampling with probability proportional to size, J. Statistical Planning and Inference 62, 1997),
 * which draws a fixed number of rows, each about with its p_i. Row i is in S with π_i = N/n p_i.
 */
#ifndef NY_FIT_CHECK_DRAW_H
#define NY_FIT_CHECK_DRAW_H

#include "fit/fit.h"
#include "fit/projector.h"

/* Returns N, of R check rows of n rows. */
static inline uint64_t ny_check_candidates(size_t R, uint64_t n)
{
    enum { TIMES = 32 };

    return n < TIMES * (uint64_t)R ? n : TIMES * (uint64_t)R;
}

/* Draws S and its probabilities, R of each. The projector places rows of this fit; its sums are
 * changed. All processes of a set of shards call it. */
int ny_check_draw(struct ny_fit *fit, struct ny_projector *projector, size_t R, uint64_t *rows,
                  double *probability);
/* Counts a draw of R rows, with m landmarks and p pairs, beside the gather of its rows. */
void ny_check_draw_count(struct ny_layout *l, const struct ny_rows_info *points, size_t R, size_t m,
                         size_t p, unsigned workers);

#endif
