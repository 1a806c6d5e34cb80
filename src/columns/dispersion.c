/*
 * How variable columns are, as Seurat and scanpy's flavor "seurat" have it (--features variable).
 *
 * The dispersion of a column is ln(variance / mean) of its values before --values: of counts that
 * are stored with --rows total:S --values log1p, of the scaled counts. Columns are cut into 20 bins
 * of equal width by ln(1 + mean), and the score of a column is how many standard deviations its
 * dispersion is above the mean of those in its bin. A column that is alone in its bin has score 1.
 * One that does not vary has no dispersion and no score, but its mean counts for the bins.
 *
 * Details are those of scanpy, so that the same columns are chosen: variances and deviations are
 * divided by n − 1, a mean of 0 counts as 1e-12, bins are open below and closed above, and the
 * lowest edge is moved down by a thousandth of the range (pandas.cut).
 */
#include <math.h>

#include "base/peers.h"
#include "columns/choice.h"
#include "columns/visit.h"

enum { BINS = 20 };

/* ---- mean and variance ---------------------------------------------------------------------- */

/* The values of a column that are not 0: how many, their mean, and Σ(x − mean)². */
struct moments {
    double count, mean, squares;
};

struct gathering {
    struct ny_rows *X;
    struct ny_prepared rows; /* only --rows is applied, not --values */
    struct moments *column;  /* d */
    double *values;          /* a row's values, in f64 */
};

static void lay(struct ny_layout *l, struct gathering *g, const struct ny_rows_info *points)
{
    size_t values = (size_t)(points->row_slots ? points->row_slots : points->d);

    g->column = ny_lay(l, NY_MEM_OTHER, (size_t)points->d, sizeof(*g->column));
    g->values = ny_lay(l, NY_MEM_OTHER, values, sizeof(double));
}

static int refuse_negative(const struct gathering *g, uint64_t row, size_t column, double value)
{

    row = ny_rows_number(g->X, row);
    return ny_fail_at(g->X->ctx, NY_EDATA, g->X->name, row,
                      "row %llu, column %zu (both from 0) of %s is %g: --features variable is for "
                      "counts, which are not negative; give --features variance:N",
                      (unsigned long long)row, column, g->X->name, value);
}

/* Adds a row to the moments, value by value, so that nothing cancels (Welford). */
static int add_row(void *arg, uint64_t number, enum ny_dtype dtype, const struct ny_sparse *row)
{
    struct gathering *g = arg;

    ny_prepare_row(&g->rows, dtype, row->value, row->count, NY_F64, g->values);
    for (size_t k = 0; k < row->count; k++) {
        size_t at = row->index ? row->index[k] : k;
        struct moments *column = &g->column[at];
        double x = g->values[k], from = x - column->mean;

        if (x == 0) continue;
        if (x < 0) return refuse_negative(g, number, at, ny_dtype_at(dtype, row->value, k));
        column->count++;
        column->mean += from / column->count;
        column->squares += from * (x - column->mean);
    }
    return NY_OK;
}

/* Makes of the moments of a shard those of all, about the common mean, by sums in the order of the
 * shards. `sum` and `count` have room for a number a column. */
static int add_shards(struct ny_peers *peers, struct moments *column, size_t d, double *sum,
                      double *count)
{
    int err;

    if (!peers) return NY_OK;
    for (size_t k = 0; k < d; k++) {
        sum[k] = column[k].count * column[k].mean;
        count[k] = column[k].count;
    }
    err = ny_peers_fold(peers, sum, d);
    if (!err) err = ny_peers_fold(peers, count, d);
    for (size_t k = 0; !err && k < d; k++) {
        double mean = count[k] > 0 ? sum[k] / count[k] : 0, from = column[k].mean - mean;

        sum[k] = column[k].squares + column[k].count * from * from;
        column[k] = (struct moments){.count = count[k], .mean = mean};
    }
    if (!err) err = ny_peers_fold(peers, sum, d);
    for (size_t k = 0; !err && k < d; k++)
        column[k].squares = sum[k];
    return err;
}

/* Gathers mean and variance of all rows in a pass; the zeros of a column come in at the end. */
static int gather(struct ny_rows *X, const struct ny_rows_info *points, double *mean,
                  double *variance)
{
    struct ny_layout l = {.ctx = X->ctx};
    size_t d = (size_t)points->d;
    double n = (double)points->n;
    struct gathering g = {.X = X, .rows = points->preparation};
    int err;

    g.rows.values = NY_VALUES_RAW;
    lay(&l, &g, points);
    err = l.err ? l.err : ny_visit_rows(X, true, add_row, &g);
    if (!err) err = add_shards(ny_context_peers(X->ctx), g.column, d, mean, variance);
    for (size_t k = 0; !err && k < d; k++) {
        const struct moments *of = &g.column[k];
        double squares = of->squares + of->mean * of->mean * of->count * ((n - of->count) / n);

        mean[k] = of->mean * of->count / n;
        variance[k] = squares / (n - 1);
    }
    ny_layout_free(&l);
    return err;
}

/* Takes them from the statistics, where these are of the same values and none is negative. */
static bool known(const struct ny_rows_info *points, const struct ny_rows_stats *stats,
                  double *mean, double *variance)
{
    double n = (double)stats->n;

    if (ny_dispersion_visits(points)) return false;
    for (size_t k = 0; k < stats->d; k++) {
        if (stats->minimum[k] < 0) return false; /* a pass tells in which row */
        mean[k] = stats->mean[k];
        variance[k] = stats->variance[k] * n / (n - 1);
    }
    return true;
}

/* ---- scores --------------------------------------------------------------------------------- */

/* Fills in the edges of the bins, from the least mean to the largest. */
static void find_edges(const double *mean, size_t d, double edge[BINS + 1])
{
    double low = mean[0], high = mean[0];

    for (size_t k = 1; k < d; k++) {
        low = fmin(low, mean[k]);
        high = fmax(high, mean[k]);
    }
    if (low == high) {
        double half = low != 0 ? 0.001 * fabs(low) : 0.001;

        low -= half;
        high += half;
    }
    for (int i = 0; i < BINS; i++)
        edge[i] = low + i * ((high - low) / BINS);
    edge[BINS] = high;
    edge[0] -= (high - low) * 0.001;
}

/* Returns the bin with edge[bin] < mean ≤ edge[bin + 1]. */
static int bin_of(const double edge[BINS + 1], double mean)
{
    int bin = 0;

    while (bin + 1 < BINS && mean > edge[bin + 1])
        bin++;
    return bin;
}

/* Turns dispersions into scores, NaN staying NaN. */
static void standardise(const double *mean, size_t d, double *dispersion)
{
    double edge[BINS + 1], count[BINS] = {0}, average[BINS] = {0}, deviation[BINS] = {0};

    find_edges(mean, d, edge);
    for (size_t k = 0; k < d; k++) {
        int bin = bin_of(edge, mean[k]);

        if (isnan(dispersion[k])) continue;
        count[bin]++;
        average[bin] += dispersion[k];
    }
    for (int bin = 0; bin < BINS; bin++)
        average[bin] /= count[bin];
    for (size_t k = 0; k < d; k++) {
        int bin = bin_of(edge, mean[k]);

        if (!isnan(dispersion[k])) deviation[bin] += pow(dispersion[k] - average[bin], 2);
    }
    for (int bin = 0; bin < BINS; bin++) {
        deviation[bin] = sqrt(deviation[bin] / (count[bin] - 1));
        if (count[bin] != 1) continue;
        deviation[bin] = average[bin]; /* the score becomes 1 */
        average[bin] = 0;
    }
    for (size_t k = 0; k < d; k++) {
        int bin = bin_of(edge, mean[k]);

        dispersion[k] = (dispersion[k] - average[bin]) / deviation[bin];
    }
}

bool ny_dispersion_visits(const struct ny_rows_info *points)
{
    return points->preparation.values != NY_VALUES_RAW;
}

int ny_dispersion_scores(struct ny_rows *X, const struct ny_rows_stats *stats, double *score)
{
    struct ny_context *ctx = X->ctx;
    size_t d = stats->d;
    double *mean = ny_alloc(ctx, NY_MEM_OTHER, d * sizeof(double));
    struct ny_rows_info points;
    int err = mean ? X->ops->info(X, &points) : NY_EBUDGET;

    if (!err && !known(&points, stats, mean, score)) err = gather(X, &points, mean, score);
    for (size_t k = 0; !err && k < d; k++) {
        double dispersion = score[k] / (mean[k] == 0 ? 1e-12 : mean[k]);

        score[k] = dispersion > 0 ? log(dispersion) : NAN;
        mean[k] = log1p(mean[k] == 0 ? 1e-12 : mean[k]);
    }
    if (!err) standardise(mean, d, score);
    ny_free(ctx, mean);
    return err;
}

void ny_dispersion_count(struct ny_layout *l, const struct ny_rows_info *points)
{
    ny_lay(l, NY_MEM_OTHER, (size_t)points->d, sizeof(double)); /* means */
    lay(l, &(struct gathering){0}, points);
    ny_visit_count(l, points);
}
