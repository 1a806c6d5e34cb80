/*
 * Check rows: the error of each component of a map, measured beside pass 2.
 *
 * A is the matrix that the map decomposes: K, HKH, or 𝒟^-½K𝒟^-½ with the degrees d̃ of the fit. For
 * a pair (λ̃, ũ) of the result, the residual r = Aũ − λ̃ũ has the relative size ρ = ‖r‖/(λ̃‖ũ‖). An
 * eigenvalue of A is within ρλ̃ of λ̃, and ũ is about ρ (as an angle) off the eigenvectors that
 * belong to eigenvalues near λ̃ (Parlett, The Symmetric Eigenvalue Problem, chapters 4 and 11).
 *
 * R rows S are drawn, row s with the probability π_s (fit/check_draw.h). Pass 2 sums up the rows
 * (Aũ)_S = K_{S,:}ũ of all pairs while it makes ũ, so that all methods and all kinds of
 * normalisation are measured alike, and what is measured is what is stored (Horvitz–Thompson):
 *
 *    ‖r‖² ≈ Σ_S r_s²/π_s
 *    ũᵀAũ/ũᵀũ ≈ λ̃ + Σ_S ũ_s r_s/(π_s‖ũ‖²)     an eigenvalue right to second order
 *
 * An artefact is a row whose own entry a_ii is above λ̃₁, which no row's is where the landmarks
 * represent it: of a divided kernel, one whose degree in the fit is below its own k(x,x). Its
 * residual is mostly that of its own entry, z_i = (a_ii − λ̃)ũ_i, which pass 2 knows of all rows.
 * They are few and hold most of ‖r‖², so that S would miss them. The sum over all artefacts takes
 * the place of their sample (difference estimator; Cochran, Sampling Techniques, 7.2), with z_s = 0
 * of the other rows:
 *
 *    ‖r‖² ≈ Σ z_i² + Σ_S (r_s² − z_s²)/π_s     which is at least Σ_S r_s²
 *
 * H on the left subtracts the mean over S, and on the right that of ũ, which the pass knows. It
 * takes R/m of the kernel values of the pass.
 */
#ifndef NY_FIT_CHECKS_H
#define NY_FIT_CHECKS_H

#include "fit/fit.h"
#include "fit/projector.h"

struct ny_check_side;

struct ny_checks {
    struct ny_layout own;
    size_t R, p;         /* R 0: nothing is measured */
    uint64_t *rows;      /* S */
    double *probability; /* π */
    uint64_t candidates; /* of which the draw chose */
    struct ny_columns *columns;
    struct ny_tiles tiles;      /* k(rows, S) − 1 shiftᵀ */
    double *shift;              /* R: mean of k(s, S) */
    double *values;             /* λ̃ */
    double centre;              /* ‖mean of φ‖ where K is centred, about; else 0 */
    struct ny_check_side *side; /* one a worker */
    double *sums; /* what is summed up, and what a checkpoint keeps (ny_check_places()) */
};

/* Returns how many check rows a fit has; 0: none, as it is asked for, or where there is no column
 * of K to be had for a row. */
size_t ny_checks_rows(const struct ny_fit_settings *settings, const struct ny_rows_info *points);
/* Lays out what the pass holds for R check rows and p pairs. */
void ny_checks_lay(struct ny_layout *l, struct ny_checks *checks,
                   const struct ny_columns_spec *spec, enum ny_precision precision,
                   unsigned workers);
/* Draws S, for which the projector places candidates, and reads its rows, for a pass that begins at
 * this unit: later than at the first, it goes on with S and the sums of the checkpoint. */
int ny_checks_open(struct ny_checks *checks, struct ny_fit *fit, struct ny_projector *projector,
                   uint64_t unit);
/* Frees it; also where it was not opened. */
void ny_checks_release(struct ny_checks *checks);

/* Computes the sums of a tile whose rows the projector has. */
int ny_checks_tile(struct ny_checks *checks, const struct ny_tile *tile,
                   const struct ny_projector *projector);
/* Adds them, in the order of the units, and keeps ũ_s of the check rows that are in the tile. */
void ny_checks_fold(struct ny_checks *checks, const struct ny_fit *fit, const struct ny_tile *tile,
                    const struct ny_projector *projector);
/* Puts the sums into the batch of a checkpoint; or drops them, where the pass is over. */
int ny_checks_put(const struct ny_checks *checks, struct ny_fit *fit, struct ny_batch *batch,
                  bool over);
/* Reports the errors of all pairs: component_errors, component_errors_se, eigenvalues_corrected and
 * degrees_error. Adds up the sums of all shards before. */
int ny_checks_report(struct ny_checks *checks, struct ny_fit *fit);

/*
 * The sums of pass 2 over the check rows. A row i has the numbers v_i = (w_i y_i,
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
