/*
 * Sums of pass 2 over the check rows (fit/checks.h). A row i has the numbers v_i = (w_i y_i,
 * 1), where y_i is its stored row, a multiple of ũ_i in each pair, and w_i = d̃_i^-½, or 1 where K
 * is not divided. The pass sums up, in f64 and in the order of the units,
 *
 *    B (R × (p+1))  Σ_i k′(x_i, s) v_i, of the shifted tile k′ = k − shift_s
 *    v (p+1)        Σ_i v_i
 *    q (p)          Σ_i y_i²
 *    e (p)          Σ_T (a_ii − λ)² y_i²    of artefacts
 *    Y (R × p), w, a (R)   y_s, w_s and a_ss of the check rows
 *
 * which is an array of numbers, so that shards add up theirs. A checkpoint keeps them, with S and π
 * behind them.
 */
#ifndef NY_FIT_CHECK_SUMS_H
#define NY_FIT_CHECK_SUMS_H

#include "fit/checks.h"

/* Indices of these in the array, and how many numbers there are: summed up, and in all. */
struct ny_check_places {
    size_t v, q, e, Y, w, a, summed, S, probability, count;
};

static inline struct ny_check_places ny_check_places(const struct ny_checks *checks)
{
    size_t R = checks->R, p = checks->p;
    struct ny_check_places at = {.v = R * (p + 1)};

    at.q = at.v + p + 1;
    at.e = at.q + p;
    at.Y = at.e + p;
    at.w = at.Y + R * p;
    at.a = at.w + R;
    at.summed = at.S = at.a + R;
    at.probability = at.S + R;
    at.count = at.probability + R;
    return at;
}

/* Returns (a_ii − λ)² y² of pair k if the row is an artefact, else 0: a_ii is above λ₁ by more than
 * rounding. */
static inline double ny_check_own_square(const struct ny_checks *checks, double a, double y,
                                         size_t k)
{
    double r = (a - checks->values[k]) * y;

    return a > (1 + 0x1p-10) * checks->values[0] ? r * r : 0;
}

#endif
