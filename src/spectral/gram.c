/* The precision of the tile Gram, decided from W before the pass (algorithms.md, trap 1). */
#include <math.h>
#include <string.h>

#include "spectral/method.h"

/* Below: what f32 loses in a tile Gram cannot be seen in the eigenvalues that are kept. */
static const double ETA_F32 = 3e-6;

/* M ← W − 1aᵀ; returns max_j of the mean square of its columns. */
static double shift(struct ny_matrix W, const double *a, struct ny_matrix M, double *square)
{
    double largest = 0;

    memset(square, 0, W.cols * sizeof(*square));
    for (size_t i = 0; i < W.rows; i++) {
        const double *from = W.at + i * W.stride;
        double *to = M.at + i * M.stride;
        for (size_t j = 0; j < W.cols; j++) {
            to[j] = from[j] - a[j];
            square[j] += to[j] * to[j];
        }
    }
    for (size_t j = 0; j < W.cols; j++)
        largest = square[j] > largest ? square[j] : largest;
    return largest / (double)W.rows;
}

static void copy_lower(struct ny_matrix W, struct ny_matrix M)
{
    for (size_t i = 0; i < W.rows; i++)
        memcpy(M.at + i * M.stride, W.at + i * W.stride, (i + 1) * sizeof(double));
}

/* ‖W⁻¹‖_F and ‖W⁻¹‖₂ from Cholesky, in M; false where W is not positive definite to rounding. */
struct inverse {
    bool found;
    double frobenius, spectral;
};

static int invert(struct ny_context *ctx, struct ny_matrix W, struct ny_matrix M,
                  struct inverse *inverse)
{
    double sum = 0;
    int err;

    *inverse = (struct inverse){.found = false};
    copy_lower(W, M);
    if (ny_cholesky(M)) return NY_OK;
    err = ny_cholesky_inverse(ctx, M);
    if (err) return err;
    for (size_t i = 0; i < M.rows; i++) {
        const double *row = M.at + i * M.stride;
        sum += 2 * ny_dot(row, row, i) + row[i] * row[i];
    }
    if (!isfinite(sum)) return NY_OK;
    inverse->found = true;
    inverse->frobenius = sqrt(sum);
    ny_mirror_lower(M);
    return ny_spectral_norm(ctx, M, &inverse->spectral);
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

size_t ny_gram_choose_bytes(size_t m)
{
    return (m + 3) * m * sizeof(double) + ny_eigen_top_bytes(m, m);
}

/* Nothing is cut where σ_min = 1/‖W⁻¹‖₂ is above the cut: then Cholesky is all it takes, a sixth of
 * the eigenvalues' time. The norms come from power iterations, which end a little low; the margin
 * leaves doubtful cases to the eigenvalues. */
int ny_gram_choose(struct ny_context *ctx, struct ny_matrix W, const double *a,
                   double mean_diagonal, struct ny_gram_choice *choice)
{
    const double margin = 1.25;
    size_t m = W.rows, cells;
    double *space = NULL, spread, shifted, plain, cut;
    struct inverse inverse;
    struct ny_matrix M;
    int err;

    *choice = (struct ny_gram_choice){.precision = NY_GRAM_F64};
    err = ny_product(ctx, &cells, m + 1, m, 1);
    if (err) goto done;
    space = ny_alloc(ctx, NY_MEM_SOLVE, cells * sizeof(*space));
    err = NY_EBUDGET;
    if (!space) goto done;
    M = ny_matrix(space + m, m, m);
    spread = shift(W, a, M, space);
    err = ny_spectral_norm(ctx, M, &shifted);
    if (!err) err = ny_spectral_norm(ctx, W, &plain);
    if (!err) err = invert(ctx, W, M, &inverse);
    if (err) goto done;
    cut = fmax((double)m * 0x1p-53 * plain, 0x1p-22 * shifted);
    choice->rank = m;
    choice->inverse_norm = inverse.frobenius;
    if (!inverse.found || 1 / inverse.spectral <= margin * cut)
        err = truncated_norm(ctx, W, M, 0x1p-22 * shifted, choice);
    if (err) goto done;
    choice->cut = choice->rank < m;
    choice->eta = 0x1p-24 * spread * choice->inverse_norm / mean_diagonal;
    if (choice->eta <= ETA_F32) choice->precision = NY_GRAM_F32; /* not where η is NaN */
done:
    ny_free(ctx, space);
    return err;
}
