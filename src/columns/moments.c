/*
 * Sums of floats depend on their order in the last bits, so that the means of rows in four shards
 * would not be those of the same rows in eight, nor what is computed from them. Here each value is
 * rounded to a grid that depends on the number of rows and on the minimum and the maximum of its
 * column alone, and sums of multiples of a grid are exact in any order, as long as they have no
 * more than 53 bits (the pre-rounding of Demmel and Nguyen 2013). What is left of a value goes to a
 * finer grid. The geometry of a fit over shards takes its centre from them (columns/geometry.c).
 */
#include "columns/moments.h"

#include <math.h>
#include <string.h>

#include "columns/visit.h"
#include "base/peers.h"

/* The sums of a column: each value is the sum of multiples of three grids, of which each is finer
 * than the one before by as many bits as a sum of n values leaves. */
enum { GRIDS = 3 };

struct moments {
    const struct ny_rows_stats *stats;
    bool squares;        /* sums are of squared deviations from the mean; else of deviations
                          * from the minimum */
    double round[GRIDS]; /* adding and subtracting it rounds a value to the grid */
    double *shrink;      /* d: 2⁻ᵉ with 2ᵉ above the range of the column; 0: it has no sums */
    double *value;       /* d: of a row */
    double *sum;         /* GRIDS × d */
};

/* Σ|y| ≤ n 2ᵗ for the values that a grid is to round, so that sums of multiples of n 2ᵗ⁻⁵² are
 * exact; what is left of each value is at most half of such a multiple. */
static void make_grids(struct moments *moments)
{
    const int bits = (int)ceil(log2((double)moments->stats->n));
    int t = 0;

    for (int g = 0; g < GRIDS; g++) {
        moments->round[g] = ldexp(1.5, bits + t);
        t = bits + t - 53;
    }
}

/* Adds the values of a row, each between −1 and 1. */
static void add_values(const struct moments *moments)
{
    const size_t d = (size_t)moments->stats->d;
    double *value = moments->value;

    for (int g = 0; g < GRIDS; g++) {
        const double round = moments->round[g];
        double *sum = moments->sum + (size_t)g * d;

        for (size_t k = 0; k < d; k++) {
            double rounded = value[k] + round - round;

            sum[k] += rounded;
            value[k] -= rounded;
        }
    }
}

static double total_of(const struct moments *moments, size_t k)
{
    const size_t d = (size_t)moments->stats->d;

    return moments->sum[k] + (moments->sum[d + k] + moments->sum[2 * d + k]);
}

/* Reads a row, of f32 or f64 as all are that are no whole numbers. */
static int add_row(void *arg, uint64_t number, enum ny_dtype dtype, const struct ny_sparse *row)
{
    const struct moments *moments = arg;
    const struct ny_rows_stats *stats = moments->stats;
    const double *from = moments->squares ? stats->mean : stats->minimum;
    const float *narrow = row->value;
    double *value = moments->value;

    (void)number;
    if (dtype == NY_F64)
        memcpy(value, row->value, row->count * sizeof(double));
    else
        for (size_t k = 0; k < row->count; k++)
            value[k] = (double)narrow[k];
    for (size_t k = 0; k < row->count; k++)
        value[k] = (value[k] - from[k]) * moments->shrink[k];
    for (size_t k = 0; moments->squares && k < row->count; k++)
        value[k] *= value[k];
    add_values(moments);
    return NY_OK;
}

/* One pass: the sums of all columns, over all shards, whose order does not matter. */
static int gather(struct ny_rows *X, struct moments *moments, bool squares)
{
    const size_t count = GRIDS * (size_t)moments->stats->d;
    int err;

    moments->squares = squares;
    memset(moments->sum, 0, count * sizeof(double));
    err = ny_visit_rows(X, false, add_row, moments);
    return err ? err : ny_peers_fold(ny_context_peers(X->ctx), moments->sum, count);
}

/* Columns whose range is beyond what 2ᵉ can say keep the statistics that they have. */
static void measure_ranges(struct moments *moments)
{
    const struct ny_rows_stats *stats = moments->stats;

    for (size_t k = 0; k < stats->d; k++) {
        double range = stats->maximum[k] - stats->minimum[k];
        int e;

        frexp(range, &e);
        moments->shrink[k] = range > 0x1p-1000 && range < 0x1p1000 ? ldexp(1, -e) : 0;
    }
}

static void lay(struct ny_layout *l, struct moments *moments, size_t d)
{
    moments->shrink = ny_lay(l, NY_MEM_OTHER, d, sizeof(double));
    moments->value = ny_lay(l, NY_MEM_OTHER, d, sizeof(double));
    moments->sum = ny_lay(l, NY_MEM_OTHER, d, GRIDS * sizeof(double));
}

int ny_moments_of_shards(struct ny_rows *X, struct ny_rows_stats *stats, bool variances)
{
    struct ny_layout l = {.ctx = X->ctx};
    size_t d = (size_t)stats->d;
    double n = (double)stats->n;
    struct moments moments = {.stats = stats};
    int err;

    lay(&l, &moments, d);
    err = l.err;
    if (err) goto done;
    make_grids(&moments);
    measure_ranges(&moments);
    err = gather(X, &moments, false);
    for (size_t k = 0; !err && k < d; k++)
        if (moments.shrink[k] > 0)
            stats->mean[k] = stats->minimum[k] + total_of(&moments, k) / n / moments.shrink[k];
    if (err || !variances) goto done;
    err = gather(X, &moments, true);
    for (size_t k = 0; !err && k < d; k++)
        if (moments.shrink[k] > 0)
            stats->variance[k] = total_of(&moments, k) / n / moments.shrink[k] / moments.shrink[k];
done:
    ny_layout_free(&l);
    return err;
}

/* ---- whole numbers -------------------------------------------------------------------------- */

bool ny_moments_whole(const struct ny_rows_info *points)
{
    return points->dtype == NY_GENOTYPE ||
           (points->dtype == points->stored_dtype && points->stored_dtype <= NY_I16);
}

void ny_moments_round(struct ny_rows_stats *stats)
{
    const double most = 0x1p44; /* up to there 2⁸ last bits are less than half of 1 */

    for (size_t k = 0; k < stats->d; k++) {
        double sum = stats->mean[k] * (double)stats->n;

        if (fabs(sum) < most) stats->mean[k] = rint(sum) / (double)stats->n;
    }
}

/* ---- the plan ------------------------------------------------------------------------------- */

unsigned ny_moments_passes(const struct ny_rows_info *points, bool variances)
{
    bool whole = ny_moments_whole(points);

    if (ny_rows_here(points) == points->n || whole || points->row_slots) return 0;
    return variances ? 2 : 1;
}

void ny_moments_count(struct ny_layout *l, const struct ny_rows_info *points)
{
    lay(l, &(struct moments){0}, (size_t)points->d);
    ny_visit_count(l, points);
}
