/*
 * The measure of f32 tile Grams (gram_noise.h): which rows of the Gram are compared, the comparison
 * of one unit, and the rules that judge the sum of all of them. fit/gram_noise.c runs the pass.
 *
 * Rows of the Gram that are looked at are m/8 of m, at least 64 and at most 128 (all of them below
 * 64). One half are the rows j with the largest ‖W⁺e_j‖²·(mean square of column j), estimated from
 * 16 vectors of random signs; the other half lie at equal distances among the rest and count for
 * all of it. A unit then takes a 2,048 × count × m product in f32 and the same in f64, instead of
 * two whole Grams.
 *
 * ny_gram_loss() and the two _blurs() rules take four standard deviations: 4σ√(u + ρu²) for u units
 * of deviation σ, of whose variance the share ρ is common to all units. The rules answer true where
 * nothing was measured and all numbers are NaN.
 */
#include "spectral/gram_noise.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/peers.h"
#include "stream/source.h"

/* MOST: the standard deviation of tr W⁺D from 128 rows of the Gram is within a tenth of that from
 * a thousand, on images, normal and sparse rows, for widths 1e-8 … 1e-6 and m from 1,000 to 3,000;
 * the rule leaves four of them. */
enum { STRIP = NY_STRIP_ROWS, PROBES = 16, LEAST = 64, MOST = 128, SHARE = 8, RESIDUAL_STEP = 32 };

size_t ny_gram_meter_rows(size_t m)
{
    size_t rows = m / SHARE;

    if (rows < LEAST) rows = LEAST;
    if (rows > MOST) rows = MOST;
    return rows < m ? rows : m;
}

/* ---- what is compared --------------------------------------------------------------------- */

struct ranked {
    double weight;
    size_t row;
};

/* Orders rows by weight, descending; the lower row first where weights are equal. */
static int heavier(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Orders rows by number, so that rows at equal distances can be taken from them. */
static int by_row(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

/* The work space of a meter that begins: X is m × count, or m × PROBES where that is more. */
struct search {
    struct ranked *ranked;
    double *X;
};

static struct search lay_search(struct ny_layout *l, size_t m, size_t count)
{
    return (struct search){
        ny_lay(l, NY_MEM_GRAM, m, sizeof(struct ranked)),
        ny_lay(l, NY_MEM_GRAM, m, (count > PROBES ? count : PROBES) * sizeof(double))};
}

/* ‖W⁺e_j‖² g_jj of each row, from random signs: E (W⁺z)_j² = ‖W⁺e_j‖². */
static void rank_rows(const struct ny_gram_meter *meter, const double *spread,
                      const struct search *search)
{
    size_t m = meter->m;
    double *X = search->X;

    for (size_t i = 0; i < m; i++) {
        uint64_t bits = ny_hash64(0, NY_STREAM_PROBES, i);

        for (size_t k = 0; k < PROBES; k++)
            X[i * PROBES + k] = bits >> k & 1 ? 1 : -1;
    }
    ny_solve_lower(meter->L, ny_matrix(X, m, PROBES));
    ny_solve_lower_t(meter->L, ny_matrix(X, m, PROBES));
    for (size_t i = 0; i < m; i++)
        search->ranked[i] =
            (struct ranked){ny_dot(X + i * PROBES, X + i * PROBES, PROBES) * spread[i], i};
}

/* Takes the heaviest rows as one half; the other half stands for the rest. */
static void choose_rows(struct ny_gram_meter *meter, struct ranked *ranked)
{
    size_t m = meter->m, heavy = meter->count < m ? meter->count / 2 : m;
    size_t others = meter->count - heavy, left = m - heavy;

    qsort(ranked, m, sizeof(*ranked), heavier);
    if (others) qsort(ranked + heavy, left, sizeof(*ranked), by_row);
    for (size_t i = 0; i < meter->count; i++) {
        size_t at = i < heavy ? i : heavy + (i - heavy) * left / others;

        meter->row[i] = ranked[at].row;
        meter->weight[i] = i < heavy ? 1 : (double)left / (double)others;
    }
}

/* Rows of W⁺, of which the unit vectors are solved side by side. */
static void find_inverse(struct ny_gram_meter *meter, double *X)
{
    size_t m = meter->m, count = meter->count;

    memset(X, 0, m * count * sizeof(*X));
    for (size_t i = 0; i < count; i++)
        X[meter->row[i] * count + i] = 1;
    ny_solve_lower(meter->L, ny_matrix(X, m, count));
    ny_solve_lower_t(meter->L, ny_matrix(X, m, count));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < m; j++)
            meter->inverse[i * m + j] = X[j * count + i];
}

void ny_gram_meter_lay(struct ny_layout *l, struct ny_gram_meter *meter, size_t m)
{
    size_t count = ny_gram_meter_rows(m);
    struct ny_layout_mark mark;

    *meter = (struct ny_gram_meter){.m = m, .count = count};
    meter->row = ny_lay(l, NY_MEM_GRAM, count, sizeof(*meter->row));
    meter->weight = ny_lay(l, NY_MEM_GRAM, count, sizeof(*meter->weight));
    meter->inverse = ny_lay(l, NY_MEM_GRAM, count, m * sizeof(*meter->inverse));
    meter->sum = ny_lay(l, NY_MEM_GRAM, count, m * sizeof(*meter->sum));
    if (l->ctx) return; /* ny_gram_meter_begin() takes what follows, for a while */
    mark = ny_layout_mark(l);
    (void)lay_search(l, m, count);
    ny_layout_back(l, &mark);
}

int ny_gram_meter_begin(struct ny_gram_meter *meter, struct ny_layout *l, struct ny_matrix L,
                        const double *a, const double *spread)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct search search = lay_search(l, meter->m, meter->count);

    if (l->err) return l->err;
    meter->L = L;
    meter->a = a;
    rank_rows(meter, spread, &search);
    choose_rows(meter, search.ranked);
    find_inverse(meter, search.X);
    ny_layout_back(l, &mark);
    return NY_OK;
}

/* ---- one unit ----------------------------------------------------------------------------- */

struct ny_gram_sample *ny_gram_sample_lay(struct ny_layout *l, const struct ny_gram_meter *meter)
{
    struct ny_gram_sample spare, *sample = ny_lay_struct(l, NY_MEM_GRAM, sizeof(spare), &spare);
    size_t m = meter->m, count = meter->count;

    *sample = (struct ny_gram_sample){.meter = meter};
    sample->left = ny_lay(l, NY_MEM_GRAM, NY_UNIT_ROWS, count * sizeof(*sample->left));
    sample->G32 = ny_lay(l, NY_MEM_GRAM, count, m * sizeof(*sample->G32));
    sample->G64 = ny_lay(l, NY_MEM_GRAM, count, m * sizeof(*sample->G64));
    sample->left64 = ny_lay(l, NY_MEM_GRAM, STRIP, count * sizeof(*sample->left64));
    sample->strip = ny_lay(l, NY_MEM_GRAM, STRIP, m * sizeof(*sample->strip));
    sample->square = ny_lay(l, NY_MEM_GRAM, m, sizeof(*sample->square));
    return ny_laid(l, sample);
}

/* Σ w²(k(x,x) − ‖L⁻¹c‖²) over every 32nd row, times 32: of rows that are not weighed yet. */
static double residual_of(struct ny_gram_sample *sample, struct ny_matrix32 C,
                          const struct ny_tile_rows *rows)
{
    const struct ny_gram_meter *meter = sample->meter;
    size_t columns = (rows->count + RESIDUAL_STEP - 1) / RESIDUAL_STEP;
    struct ny_matrix Z = ny_matrix(sample->strip, meter->m, columns);
    double sum = 0;

    if (!rows->diagonal) return 0;
    for (size_t k = 0; k < columns; k++)
        for (size_t j = 0; j < meter->m; j++)
            Z.at[j * columns + k] = (double)C.at[k * RESIDUAL_STEP * C.stride + j] + meter->a[j];
    ny_solve_lower(meter->L, Z);
    for (size_t k = 0; k < columns; k++) {
        double w = rows->weights ? rows->weights[k * RESIDUAL_STEP] : 1;
        double residual = rows->diagonal[k * RESIDUAL_STEP];

        for (size_t j = 0; j < meter->m; j++)
            residual -= Z.at[j * columns + k] * Z.at[j * columns + k];
        sum += w * w * fmax(residual, 0);
    }
    return sum * RESIDUAL_STEP;
}

/* Rows of the Gram of one strip, in f64. */
static void add_strip(struct ny_gram_sample *sample, struct ny_matrix32 C, size_t first)
{
    const struct ny_gram_meter *meter = sample->meter;
    size_t m = meter->m, count = meter->count;

    for (size_t i = 0; i < STRIP; i++) {
        const float *restrict from = C.at + (first + i) * C.stride;
        double *restrict to = sample->strip + i * m;

        for (size_t j = 0; j < m; j++) {
            to[j] = (double)from[j];
            sample->square[j] += to[j] * to[j];
        }
        for (size_t k = 0; k < count; k++)
            sample->left64[i * count + k] = to[meter->row[k]];
    }
    ny_gemm(1, ny_t(ny_matrix(sample->left64, STRIP, count)), ny_matrix(sample->strip, STRIP, m),
            first > 0, ny_matrix(sample->G64, count, m));
}

void ny_gram_sample_set(struct ny_gram_sample *sample, struct ny_matrix32 C,
                        const struct ny_tile_rows *rows)
{
    const struct ny_gram_meter *meter = sample->meter;
    size_t count = meter->count;

    assert(C.rows == NY_UNIT_ROWS && C.cols == meter->m && !C.transposed);
    sample->residual = residual_of(sample, C, rows);
    for (size_t i = 0; i < rows->count && rows->weights; i++)
        for (size_t j = 0; j < C.cols; j++)
            C.at[i * C.stride + j] *= (float)rows->weights[i];
    for (size_t i = 0; i < C.rows; i++)
        for (size_t k = 0; k < count; k++)
            sample->left[i * count + k] = C.at[i * C.stride + meter->row[k]];
    ny_gemm32(1, ny_t32(ny_matrix32(sample->left, C.rows, count)), C, 0,
              ny_matrix32(sample->G32, count, meter->m));
    memset(sample->square, 0, meter->m * sizeof(*sample->square));
    for (size_t first = 0; first < C.rows; first += STRIP)
        add_strip(sample, C, first);
}

/* ---- all of them -------------------------------------------------------------------------- */

void ny_gram_meter_add(struct ny_gram_meter *meter, const struct ny_gram_sample *sample)
{
    size_t m = meter->m;

    for (size_t i = 0; i < meter->count; i++) {
        size_t row = meter->row[i];
        double variance = 0, others = 0;

        for (size_t j = 0; j < m; j++) {
            double d = (double)sample->G32[i * m + j] - sample->G64[i * m + j];
            double inverse = meter->inverse[i * m + j];
            double scale = sample->square[row] * sample->square[j], twice = j == row ? 1 : 2;

            meter->sum[i * m + j] += d;
            variance += twice * inverse * inverse * d * d;
            if (scale > 0 && j != row) others += d * d / scale;
            if (scale > 0 && j == row)
                meter->diagonal += meter->weight[i] * d * d / scale / (double)m;
        }
        meter->variance += meter->weight[i] * variance;
        meter->others += meter->weight[i] * others / ((double)m * (double)m);
    }
    meter->residual += sample->residual;
    meter->units++;
}

int ny_gram_meter_fold_peers(struct ny_gram_meter *meter, struct ny_peers *peers)
{
    double totals[] = {meter->variance, meter->diagonal, meter->others, meter->residual,
                       (double)meter->units};
    int err = ny_peers_fold(peers, totals, sizeof(totals) / sizeof(totals[0]));

    if (!err) err = ny_peers_fold(peers, meter->sum, meter->count * meter->m);
    meter->variance = totals[0];
    meter->diagonal = totals[1];
    meter->others = totals[2];
    meter->residual = totals[3];
    meter->units = (uint64_t)totals[4];
    return err;
}

/* Returns the variance of ΣD. */
static double together_of(const struct ny_gram_meter *meter)
{
    size_t m = meter->m;
    double together = 0;

    for (size_t i = 0; i < meter->count; i++) {
        double sum = 0;

        for (size_t j = 0; j < m; j++) {
            double inverse = meter->inverse[i * m + j], all = meter->sum[i * m + j];

            sum += (j == meter->row[i] ? 1 : 2) * inverse * inverse * all * all;
        }
        together += meter->weight[i] * sum;
    }
    return together;
}

struct ny_gram_noise ny_gram_meter_read(const struct ny_gram_meter *meter)
{
    double units = (double)meter->units;
    struct ny_gram_noise noise = {.trace = sqrt(meter->variance / units),
                                  .diagonal = meter->diagonal / units,
                                  .others = meter->others / units,
                                  .residual = meter->residual / units};

    if (meter->units > 1 && meter->variance > 0) /* E‖ΣD‖² = s σ² + s(s − 1)ρσ² */
        noise.coherent = (together_of(meter) / meter->variance - 1) / (units - 1);
    noise.coherent = fmin(fmax(noise.coherent, 0), 1);
    return noise;
}

/* Returns 4√(u + ρu²), by which the deviation of one unit is multiplied for u units. */
static double deviations(const struct ny_gram_noise *noise, double units)
{
    const double safe = 4;

    return safe * sqrt(units + noise->coherent * units * units);
}

double ny_gram_loss(const struct ny_gram_noise *noise, double units)
{
    return deviations(noise, units) * noise->trace;
}

bool ny_gram_blurs(const struct ny_gram_noise *noise, double units, double unexplained)
{
    const double tolerance = 0.01;

    return !(ny_gram_loss(noise, units) <= tolerance * unexplained);
}

bool ny_gram_blurs_values(const struct ny_gram_noise *noise, double units, const double *gram,
                          struct ny_matrix P)
{
    const double tolerance = 1e-3;

    for (size_t k = 0; k < P.cols; k++) {
        double sum = 0, squares = 0, variance;

        for (size_t j = 0; j < P.rows; j++) {
            double p = P.at[j * P.stride + k], part = p * p * gram[j] / units;

            sum += part;
            squares += part * part;
        }
        variance = noise->diagonal * squares + 2 * noise->others * (sum * sum - squares);
        if (!(deviations(noise, units) * sqrt(fmax(variance, 0)) <= tolerance)) return true;
    }
    return false;
}
