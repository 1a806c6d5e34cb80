/*
 * Measures what tile Grams in f32 lose: for a few units some rows of the same Gram are also made in
 * f64, and the difference is weighed as the certificate weighs it. The caller takes units that
 * depend on the number of rows alone (one in 32, at least 2 and at most 32: fit/gram_noise.c), so
 * that threads, budgets and kills change nothing.
 *
 * D = G32 − G64 of one unit is rounding noise: its entries are independent of one another, and
 * nearly so from unit to unit. The certificate takes tr W⁺G, so that one unit moves it by tr W⁺D,
 * whose variance is Σ_i w⁺_ii² d_ii² + 2 Σ_i≠j w⁺_ij² d_ij². It is estimated from that sum over all
 * columns and some rows: those where W⁺ is largest, and others at equal distances. Two units
 * foretell the standard deviation to 5 % (measured on 24). An eigenvalue λ̂_k moves by its share
 * p_kᵀDp_k, p_k its column of P.
 *
 * Rows that are equal make the same error in every unit: the share of the variance that two units
 * have in common is `coherent`, does not average out, and adds up linearly.
 *
 * Four deviations of all units may be at most a hundredth of what is left of the trace (foreseen
 * from the residuals of the rows that were looked at, exact after the pass) and a thousandth of an
 * eigenvalue that is shown. Where they are more, the Gram is f64: from the beginning if that is
 * foreseen, and once more if it shows only after the pass.
 */
#ifndef NY_SPECTRAL_GRAM_NOISE_H
#define NY_SPECTRAL_GRAM_NOISE_H

#include "spectral/accumulator.h"

/* The noise of one unit of NY_UNIT_ROWS rows. */
struct ny_gram_noise {
    double trace;    /* standard deviation of tr W⁺D */
    double diagonal; /* mean of d_jj² / g_jj² */
    double others;   /* mean of d_ij² / g_ii g_jj, i ≠ j */
    double coherent; /* share of the variance that units have in common, 0 … 1 */
    double residual; /* estimate of Σ w²(k(x,x) − cᵀW⁺c) over the rows of a unit */
};

/* The rows that are compared, and the sums over the units so far. */
struct ny_gram_meter {
    size_t m, count;
    struct ny_matrix L;        /* W = LLᵀ, borrowed */
    const double *a;           /* shift of the tiles, borrowed */
    size_t *row;               /* count: rows of the Gram that are looked at */
    double *weight;            /* count: how many rows each of them stands for */
    double *inverse;           /* count × m: rows of W⁺ */
    double *sum;               /* count × m: ΣD */
    double variance;           /* sum of the units' variances */
    double diagonal, others, residual;
    uint64_t units;
};

/* Lays out a meter of m landmarks. */
void ny_gram_meter_lay(struct ny_layout *l, struct ny_gram_meter *meter, size_t m);
/* Begins with L of W, which has W above it (ny_cholesky()), by what the layout holds meanwhile.
 * spread[j]: mean square of column j of W − 1aᵀ. */
int ny_gram_meter_begin(struct ny_gram_meter *meter, struct ny_layout *l, struct ny_matrix L,
                        const double *a, const double *spread);
/* Returns how many rows of the Gram are compared, `count`, for m landmarks. */
size_t ny_gram_meter_rows(size_t m);

/* One worker's share: one unit. */
struct ny_gram_sample {
    const struct ny_gram_meter *meter;
    float *left, *G32;            /* NY_UNIT_ROWS × count of the tile's columns; count × m */
    double *left64, *strip,
        *G64; /* a strip of the columns and of the tile, widened; the Gram, count × m */
    double *square;               /* m: g_jj */
    double residual;
};

/* Lays out the buffers of one worker for `meter`, which must outlive them. */
struct ny_gram_sample *ny_gram_sample_lay(struct ny_layout *l, const struct ny_gram_meter *meter);
/* Compares the Grams of a tile, whose rows are multiplied by their weights. */
void ny_gram_sample_set(struct ny_gram_sample *sample, struct ny_matrix32 C,
                        const struct ny_tile_rows *rows);
/* Adds a unit; in unit order, so that sums are the same whoever made them. */
void ny_gram_meter_add(struct ny_gram_meter *meter, const struct ny_gram_sample *sample);
struct ny_peers;
/* Makes of the sums over this peer's units those of all peers. */
int ny_gram_meter_fold_peers(struct ny_gram_meter *meter, struct ny_peers *peers);
/* Returns the noise of one unit, from all units that were added. */
struct ny_gram_noise ny_gram_meter_read(const struct ny_gram_meter *meter);

/* Returns four standard deviations of the noise of so many units in tr K̃. */
double ny_gram_loss(const struct ny_gram_noise *noise, double units);
/* Tells whether that is over a hundredth of tr K − tr K̃, or of its estimate before the pass. */
bool ny_gram_blurs(const struct ny_gram_noise *noise, double units, double unexplained);
/* Tells whether four standard deviations are more than a thousandth of an eigenvalue. gram[j]: g_jj
 * of all units. */
bool ny_gram_blurs_values(const struct ny_gram_noise *noise, double units, const double *gram,
                          struct ny_matrix P);

#endif
