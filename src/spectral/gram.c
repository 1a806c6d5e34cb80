/*
 * The precision of the tile Gram, decided from W before the pass: ny_gram_choose().
 *
 * A wide kernel has all entries of C near 1, and an f32 CᵀC loses what tells them apart. On
 * 12,000 MNIST digits and 1,000 landmarks the 50 largest eigenvalues are off by up to 13 times
 * against f64, and the trace error comes out as 5.7e-4 where it is 1.26e-3. With tiles shifted by
 * a, the column means of W, the eigenvalues are right to 1e-6 and the trace error to 1e-3.
 *
 * The shift is not enough where W decays fast (duplicates, heavy tails): there the tile Gram itself
 * is f64, decided by η (spectral/method.h). Up to 16 units (32,768 rows) it is always f64, since
 * what a unit loses does not average out there (ny_settings_gram_f64()). Above, if η allows f32,
 * the loss is measured before the pass (spectral/gram_noise.h); and the Gram is made again in f64
 * where the result shows a negative eigenvalue (fit/solve.c). Products of the randomized solver and
 * precomputed columns are always summed in f64.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "linalg/factor.h"
#include "spectral/method.h"

enum { PROBES = 16 };

/* Above: f64 without more ado. MNIST at m = 1,000 … 4,000 has η = 5e-7 … 6e-6, duplicates and heavy
 * tails 5e-4 and more. Below, what f32 loses is measured (spectral/gram_noise.h). */
static const double ETA_F32 = 2e-5;

/* Sizes of the shifted W − 1aᵀ and of W, from one reading of W. */
struct sizes {
    double spread;         /* max_j of the mean square of the shifted columns */
    double shifted, plain; /* Frobenius norms */
};

/* Reads W once and finds the sizes that η and the cut need; `square` is workspace of m. */
static struct sizes measure(struct ny_matrix W, const double *a, double *square)
{
    struct sizes sizes = {0};
    double largest = 0;

    memset(square, 0, W.cols * sizeof(*square));
    for (size_t i = 0; i < W.rows; i++) {
        const double *row = W.at + i * W.stride;
        for (size_t j = 0; j < W.cols; j++)
            square[j] += (row[j] - a[j]) * (row[j] - a[j]);
        sizes.plain += ny_dot(row, row, W.cols);
    }
    for (size_t j = 0; j < W.cols; j++) {
        largest = fmax(largest, square[j]);
        sizes.shifted += square[j];
    }
    sizes.spread = largest / (double)W.rows;
    sizes.shifted = sqrt(sizes.shifted);
    sizes.plain = sqrt(sizes.plain);
    return sizes;
}

/* The rank cut: σ below it is noise, of W in f64 or of its f32 tiles. */
static double cut_of(size_t m, double plain, double shifted)
{
    return fmax((double)m * 0x1p-53 * plain, 0x1p-22 * shifted);
}

/* Returns η: the rounding of one product of a tile, 2⁻²⁴ times the spread of a column, weighed by
 * ‖W⁺‖ and relative to the mean of k(x,x). */
static double eta_of(double spread, double inverse_norm, double mean_diagonal)
{
    return 0x1p-24 * spread * inverse_norm / mean_diagonal;
}

enum ny_gram_precision ny_gram_precision_of(double eta)
{
    return eta <= ETA_F32 ? NY_GRAM_F32 : NY_GRAM_F64; /* F64 where η is NaN */
}

/* M ← W − 1aᵀ */
static void shift(struct ny_matrix W, const double *a, struct ny_matrix M)
{
    for (size_t i = 0; i < W.rows; i++)
        for (size_t j = 0; j < W.cols; j++)
            M.at[i * M.stride + j] = W.at[i * W.stride + j] - a[j];
}

static void copy_lower(struct ny_matrix W, struct ny_matrix M)
{
    for (size_t i = 0; i < W.rows; i++)
        memcpy(M.at + i * M.stride, W.at + i * W.stride, (i + 1) * sizeof(double));
}

/* ‖A⁻¹x_j‖ / ‖x_j‖ of every column of X, which becomes A⁻¹X, A = LLᵀ: their sum of squares and
 * the largest. */
static void apply_inverse(struct ny_matrix L, struct ny_matrix X, double *sum, double *largest)
{
    double square[PROBES] = {0};

    for (size_t i = 0; i < X.rows; i++)
        for (size_t j = 0; j < PROBES; j++)
            square[j] += X.at[i * PROBES + j] * X.at[i * PROBES + j];
    for (size_t i = 0; i < X.rows; i++)
        for (size_t j = 0; j < PROBES; j++)
            X.at[i * PROBES + j] /= sqrt(square[j]);
    ny_solve_lower(L, X);
    ny_solve_lower_t(L, X);
    memset(square, 0, sizeof(square));
    for (size_t i = 0; i < X.rows; i++)
        for (size_t j = 0; j < PROBES; j++)
            square[j] += X.at[i * PROBES + j] * X.at[i * PROBES + j];
    *sum = *largest = 0;
    for (size_t j = 0; j < PROBES; j++) {
        *sum += square[j];
        *largest = fmax(*largest, square[j]);
    }
}

/* ‖W⁻¹‖_F from L, to about a tenth, well within a factor of 2: E‖W⁻¹z‖² = ‖W⁻¹‖_F² for z of
 * random signs (Hutchinson 1990). The estimate is at its worst where one eigenvector dominates
 * W⁻¹; but there a second product is nearly ‖W⁻¹‖₂ ≤ ‖W⁻¹‖_F, so the larger of the two counts. */
static int inverse_norm(struct ny_context *ctx, struct ny_matrix L, double *norm)
{
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, L.rows * PROBES * sizeof(*at)), sum, largest, unused;
    struct ny_matrix X = ny_matrix(at, L.rows, PROBES);

    if (!at) return NY_EBUDGET;
    for (size_t i = 0; i < L.rows; i++) {
        uint64_t bits = ny_hash64(0, NY_STREAM_PROBES, i);
        for (size_t j = 0; j < PROBES; j++)
            at[i * PROBES + j] = bits >> j & 1 ? 1 : -1;
    }
    apply_inverse(L, X, &sum, &unused);
    apply_inverse(L, X, &unused, &largest);
    *norm = sqrt(fmax(sum * (double)L.rows / PROBES, largest));
    ny_free(ctx, at);
    return NY_OK;
}

/* ‖W⁻¹‖_F and ‖W⁻¹‖₂ from L, in its place. */
struct inverse {
    double frobenius, spectral;
};

/* Computes W⁻¹ in place of L, and both of its norms; INFINITY for both where the inverse overflows.
 * */
static int invert(struct ny_context *ctx, struct ny_matrix L, struct inverse *inverse)
{
    double sum = 0;
    int err = ny_cholesky_inverse(ctx, L);

    if (err) return err;
    for (size_t i = 0; i < L.rows; i++) {
        const double *row = L.at + i * L.stride;
        sum += 2 * ny_dot(row, row, i) + row[i] * row[i];
    }
    *inverse = (struct inverse){INFINITY, INFINITY};
    if (!isfinite(sum)) return NY_OK;
    inverse->frobenius = sqrt(sum);
    ny_mirror_lower(L);
    return ny_spectral_norm(ctx, L, &inverse->spectral);
}

/* ‖W_r⁺‖_F and r from all eigenvalues, in M. `cut` is the f32 tiles' part of the rank cut. */
static int truncated_norm(struct ny_context *ctx, struct ny_matrix W, struct ny_matrix M,
                          double cut, struct ny_gram_choice *choice)
{
    double *values = ny_alloc(ctx, NY_MEM_SOLVE, W.rows * sizeof(*values)), sum = 0;
    int err = NY_EBUDGET;

    if (!values) return err;
    copy_lower(W, M);
    err = ny_eigenvalues(ctx, M, values);
    if (err) goto done;
    cut = fmax(cut, (double)W.rows * 0x1p-53 * values[0]);
    for (choice->rank = 0; choice->rank < W.rows; choice->rank++) {
        double value = values[choice->rank];
        if (value <= cut) break;
        sum += 1 / (value * value);
    }
    choice->inverse_norm = sqrt(sum);
done:
    ny_free(ctx, values);
    return err;
}

/* The probes and what the norms take, or the eigenvalues. */
void ny_gram_choose_count(struct ny_layout *l, size_t m)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    ny_lay(l, NY_MEM_SOLVE, m + 1, m * sizeof(double));
    ny_lay_peak(l, NY_MEM_SOLVE, m, PROBES * sizeof(double));
    ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    ny_eigen_top_count(l, m, m);
    ny_layout_back(l, &mark);
}

/* The doubtful cases: all norms to 1e-3. `full`: M holds L. Nothing is cut where
 * σ_min = 1/‖W⁻¹‖₂ is above the cut; else the eigenvalues tell. Power iterations end a little low;
 * the margin covers that. */
static int choose_exactly(struct ny_context *ctx, struct ny_matrix W, const double *a,
                          struct ny_matrix M, bool full, struct ny_gram_choice *choice)
{
    const double margin = 1.25;
    struct inverse inverse = {INFINITY, INFINITY};
    double shifted, plain;
    int err = NY_OK;

    if (full) err = invert(ctx, M, &inverse);
    if (err) return err;
    shift(W, a, M);
    err = ny_spectral_norm(ctx, M, &shifted);
    if (!err) err = ny_spectral_norm(ctx, W, &plain);
    if (err) return err;
    choice->rank = W.rows;
    choice->inverse_norm = inverse.frobenius;
    if (1 / inverse.spectral > margin * cut_of(W.rows, plain, shifted)) return NY_OK;
    return truncated_norm(ctx, W, M, 0x1p-22 * shifted, choice);
}

/* Cholesky and one block of triangular solves settle it where both η and the cut are further than
 * a factor of 2 away: a third of the inverse's time, a fifteenth of the eigenvalues'. */
int ny_gram_choose(struct ny_context *ctx, struct ny_matrix W, const double *a,
                   double mean_diagonal, struct ny_gram_choice *choice)
{
    const double doubt = 2, hopeless = 16; /* σ_min so far below the cut: leave out the inverse */
    size_t m = W.rows;
    double *space = ny_calloc(ctx, NY_MEM_SOLVE, m + 1, m * sizeof(double)), cut;
    struct ny_matrix M = ny_matrix(space + m, m, m);
    struct sizes sizes;
    bool full, settled = false;
    int err;

    *choice = (struct ny_gram_choice){.precision = NY_GRAM_F64, .rank = m};
    if (!space) return NY_EBUDGET;
    sizes = measure(W, a, space);
    cut = cut_of(m, sizes.plain, sizes.shifted); /* at most too large */
    copy_lower(W, M);
    err = ny_factor(ctx, M, &full); /* W = LLᵀ */
    if (err) goto done;
    if (full) {
        err = inverse_norm(ctx, M, &choice->inverse_norm);
        if (err) goto done;
        choice->eta = eta_of(sizes.spread, choice->inverse_norm, mean_diagonal);
        settled = 1 / choice->inverse_norm > doubt * cut && /* σ_min ≥ 1/‖W⁻¹‖_F */
                  (choice->eta * doubt < ETA_F32 || choice->eta > doubt * ETA_F32);
    }
    if (!settled)
        err = choose_exactly(ctx, W, a, M, full && choice->inverse_norm * cut < hopeless, choice);
    if (err) goto done;
    choice->cut = choice->rank < m;
    choice->eta = eta_of(sizes.spread, choice->inverse_norm, mean_diagonal);
    choice->precision = ny_gram_precision_of(choice->eta);
done:
    ny_free(ctx, space);
    return err;
}
