/* The geometry of the points, (x − centre)·factor: from the store's statistics and --scale, or from
 * a stored model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/peers.h"
#include "base/random.h"
#include "columns/alleles.h"
#include "columns/columns.h"
#include "columns/moments.h"
#include "stream/rows.h"
#include "stream/source.h"

static int geometry_alloc(struct ny_geometry **out, struct ny_context *ctx, size_t d)
{
    struct ny_geometry *geometry = ny_calloc(ctx, NY_MEM_MODEL, 1, sizeof(*geometry));

    *out = NULL;
    if (!geometry) return NY_EBUDGET;
    geometry->d = d;
    geometry->centre = ny_calloc(ctx, NY_MEM_MODEL, d, sizeof(double));
    geometry->factor = ny_calloc(ctx, NY_MEM_MODEL, d, sizeof(double));
    if (!geometry->centre || !geometry->factor) {
        ny_geometry_free(geometry, ctx);
        return NY_EBUDGET;
    }
    *out = geometry;
    return NY_OK;
}

/* 0: what the column would be divided by is above or below all numbers. */
static double factor_of(const struct ny_rows_stats *stats, size_t k, enum ny_scale scale)
{
    double range = stats->maximum[k] - stats->minimum[k], p = stats->mean[k] / 2;
    double spread = scale == NY_SCALE_STANDARD   ? sqrt(stats->variance[k])
                    : scale == NY_SCALE_BINOMIAL ? sqrt(2 * p * (1 - p))
                                                 : range;
    double factor = 1 / spread;

    return isfinite(factor) ? factor : 0;
}

/* Multiplies the factor of each column that is chosen: by 1/√variance or 1/range, and by 0 where it
 * is constant. NY_EDATA when one cannot be scaled. */
static int scale_factors(struct ny_geometry *geometry, struct ny_rows *X,
                         const struct ny_rows_stats *stats, enum ny_scale scale)
{
    char column[NY_COLUMN_WORDS_BYTES];
    int err;

    for (size_t k = 0; k < stats->d; k++) {
        if (geometry->factor[k] == 0) continue;
        geometry->factor[k] = 0;
        if (stats->maximum[k] == stats->minimum[k]) continue;
        geometry->factor[k] = factor_of(stats, k, scale);
        if (geometry->factor[k] > 0) continue;
        err = X->ops->column_words(X, k, column);
        if (err) return err;
        return ny_fail(X->ctx, NY_EDATA,
                       "%s: %s, from %g to %g, cannot be scaled: its %s is %s the range of f64; "
                       "rescale the data%s",
                       X->name, column, stats->minimum[k], stats->maximum[k],
                       scale == NY_SCALE_STANDARD ? "variance" : "range",
                       stats->maximum[k] - stats->minimum[k] > 1 ? "above" : "below",
                       scale == NY_SCALE_STANDARD ? ", or give --scale unit" : "");
    }
    return NY_OK;
}

static unsigned workers_of(const struct ny_geometry_wish *wish)
{
    return wish->workers ? wish->workers : 1;
}

/* Sets each factor to 1, or 0 where the column is not chosen. */
static int choose(struct ny_geometry *geometry, struct ny_rows *X,
                  const struct ny_rows_stats *stats, const struct ny_geometry_wish *wish)
{
    struct ny_context *ctx = X->ctx;
    unsigned char *own = wish->chosen ? NULL : ny_alloc(ctx, NY_MEM_OTHER, stats->d);
    unsigned char *chosen = wish->chosen ? wish->chosen : own;
    int err = chosen ? ny_choose_columns(&wish->choice, X, stats,
                                         wish->rough ? 0 : workers_of(wish), chosen)
                     : NY_EBUDGET;

    for (size_t k = 0; !err && k < stats->d; k++)
        geometry->factor[k] = chosen[k];
    ny_free(ctx, own);
    return err;
}

/* Multiplies the factors as --scale says. */
static int scale_columns(struct ny_geometry *geometry, struct ny_rows *X,
                         const struct ny_rows_stats *stats, const struct ny_geometry_wish *wish)
{
    bool smooth = wish->scale == NY_SCALE_IDF_SMOOTH;

    if (wish->scale == NY_SCALE_NONE) return NY_OK;
    if (ny_scale_spread(wish->scale)) return scale_factors(geometry, X, stats, wish->scale);
    if (!wish->rough) return ny_frequency_weigh(geometry, X, smooth, workers_of(wish));
    ny_frequency_guess(geometry, stats, smooth);
    return NY_OK;
}

/* Returns the share of what is missing in the columns that count. */
static double missing_of(const struct ny_geometry *geometry, const struct ny_rows_stats *stats)
{
    double missing = 0, all = 0;

    for (size_t k = 0; stats->missing && k < stats->d; k++) {
        missing += geometry->factor[k] != 0 ? stats->missing[k] : 0;
        all += geometry->factor[k] != 0 ? (double)stats->n : 0;
    }
    return all > 0 ? missing / all : 0;
}

/* Tells whether the mean is subtracted: always of genotypes, where it stands for what is missing.
 * Sparse rows stay so. */
static bool is_shifted(const struct ny_geometry_wish *wish, const struct ny_rows_info *points)
{
    return wish->centred || points->dtype == NY_GENOTYPE ||
           (ny_scale_spread(wish->scale) && !points->row_slots);
}

/* Returns the passes that means of all shards take, where they are wanted. */
static unsigned passes_of_means(const struct ny_geometry_wish *wish,
                                const struct ny_rows_info *points)
{
    if (wish->rough || !is_shifted(wish, points)) return 0;
    return ny_moments_passes(points, wish->scale == NY_SCALE_STANDARD);
}

/* Reads the statistics, the means of which do not depend on how rows are cut into shards. */
static int load_stats(struct ny_rows *X, const struct ny_geometry_wish *wish,
                      const struct ny_rows_info *points, struct ny_rows_stats *stats)
{
    int err = X->ops->stats(X, stats);

    if (!err && ny_moments_whole(points)) ny_moments_round(stats);
    if (!err && !wish->rough && points->dtype == NY_GENOTYPE)
        return ny_alleles_measure(X, workers_of(wish), stats);
    if (err || !passes_of_means(wish, points)) return err;
    return ny_moments_of_shards(X, stats, wish->scale == NY_SCALE_STANDARD);
}

/* ---- a centre among the rows ------------------------------------------------------------------
 *
 * One value of 1e20, as many files have it for what is missing, makes the mean of a thousand rows
 * 1e17. About this mean all other rows are equal, even in f64: their kernel values would be 1, and
 * their neighbours any. Statistics cannot tell where these rows are, which some hashed rows do.
 * Means that leave 13 bits of what tells these rows apart stay as they are.
 */
enum { ROWS = 15 };

/* Tells whether few values can have made this mean: it is large, and no larger than the spread. */
static bool may_be_drawn(const struct ny_rows_stats *stats, size_t k)
{
    double mean = fabs(stats->mean[k]);

    return mean > 0x1p30 && sqrt(stats->variance[k]) >= mean;
}

static bool any_drawn(const struct ny_rows_stats *stats)
{
    for (size_t k = 0; k < stats->d; k++)
        if (may_be_drawn(stats, k)) return true;
    return false;
}

/* Returns the mean, or the median of the values where that is too far from the mean for the
 * smallest difference from it; 1 stands for that where the values are all equal. */
static double centre_of(double *values, double mean)
{
    double median, least = INFINITY;

    qsort(values, ROWS, sizeof(*values), ny_compare_doubles);
    median = values[ROWS / 2];
    for (size_t i = 0; i < ROWS; i++)
        if (values[i] != median) least = fmin(least, fabs(values[i] - median));
    if (isinf(least)) least = 1;
    return fabs(mean - median) > 0x1p40 * least ? median : mean;
}

/* Moves the centre, where it is a mean that a few huge values have drawn far away from all other
 * rows, to the median of some rows. Processes that share the shards call it together. */
static int centre_among_rows(struct ny_geometry *geometry, struct ny_rows *X,
                             const struct ny_rows_info *points, const struct ny_rows_stats *stats)
{
    struct ny_context *ctx = X->ctx;
    size_t bytes = ny_rows_row_bytes(points);
    uint64_t numbers[ROWS];
    double values[ROWS];
    unsigned char *rows;
    int err;

    if (points->row_slots || !any_drawn(stats)) return NY_OK;
    rows = ny_calloc(ctx, NY_MEM_OTHER, ROWS, bytes);
    if (!rows) return NY_EBUDGET;
    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = (uint64_t)(ny_hash01(0, NY_STREAM_SAMPLE, i) * (double)points->n);
        if (numbers[i] >= points->n) numbers[i] = points->n - 1;
    }
    err = X->ops->gather(X, 0, numbers, ROWS, rows);
    for (size_t k = 0; !err && k < stats->d; k++) {
        if (!may_be_drawn(stats, k)) continue;
        for (size_t i = 0; i < ROWS; i++)
            values[i] = ny_dtype_at(points->dtype, rows + i * bytes, k);
        geometry->centre[k] = centre_of(values, stats->mean[k]);
    }
    ny_free(ctx, rows);
    return err;
}

static void count_centre(struct ny_layout *l, const struct ny_rows_info *points)
{
    bool may = !points->row_slots && (points->dtype == NY_F32 || points->dtype == NY_F64);

    if (may) ny_lay(l, NY_MEM_OTHER, ROWS, ny_rows_row_bytes(points));
}

/* ---- the geometry ---------------------------------------------------------------------------- */

int ny_geometry_new(struct ny_geometry **out, struct ny_rows *X,
                    const struct ny_geometry_wish *wish)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_stats stats = {0};
    struct ny_rows_info info;
    int err;

    *out = NULL;
    err = X->ops->info(X, &info);
    if (!err) err = load_stats(X, wish, &info, &stats);
    if (!err) err = geometry_alloc(out, ctx, stats.d);
    if (err) goto done;
    for (size_t k = 0; k < stats.d; k++)
        (*out)->centre[k] = is_shifted(wish, &info) ? stats.mean[k] : 0;
    if (wish->differences && !wish->rough) err = centre_among_rows(*out, X, &info, &stats);
    if (!err) err = choose(*out, X, &stats, wish);
    if (!err) err = scale_columns(*out, X, &stats, wish);
    if (!err) (*out)->missing = missing_of(*out, &stats);
    if (err == NY_OK) goto done;
    ny_geometry_free(*out, ctx);
    *out = NULL;
done:
    ny_rows_stats_release(&stats, ctx);
    return err;
}

unsigned ny_geometry_counts(const struct ny_geometry_wish *wish)
{
    bool scale = ny_scale_counts(wish->scale), choice = wish->choice.rule == NY_CHOOSE_MIN_ROWS;

    return (unsigned)scale + (unsigned)choice;
}

unsigned ny_geometry_passes(const struct ny_geometry_wish *wish, const struct ny_rows_info *points)
{
    return (unsigned)ny_choice_visits(&wish->choice, points) + (ny_scale_counts(wish->scale)) +
           passes_of_means(wish, points);
}

void ny_geometry_count(struct ny_layout *l, const struct ny_geometry_wish *wish,
                       const struct ny_rows_info *points)
{
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_OTHER, (size_t)points->d, 1); /* what is chosen */
    if (points->dtype == NY_GENOTYPE) ny_lay(l, NY_MEM_OTHER, (size_t)points->d, sizeof(double));
    mark = ny_layout_mark(l);
    if (points->dtype == NY_GENOTYPE)
        ny_alleles_count(l, points, workers_of(wish));
    else if (passes_of_means(wish, points))
        ny_moments_count(l, points);
    ny_layout_back(l, &mark);
    if (wish->differences) count_centre(l, points);
    ny_layout_back(l, &mark);
    ny_choice_count(l, &wish->choice, points, workers_of(wish));
    ny_layout_back(l, &mark);
    if (ny_scale_counts(wish->scale)) ny_frequency_count(l, points, workers_of(wish));
    ny_layout_back(l, &mark);
}

/* Adds row by row, so that the sum does not depend on blocks; nor on shards, which go on with the
 * sum of those before. */
static int add_rows(struct ny_geometry *geometry, struct ny_source *source, void *row)
{
    struct ny_tile tile = {.source = source};
    int err;

    while ((err = source->ops->take(source, &tile)) == NY_OK) {
        for (size_t i = 0; i < tile.rows; i++) {
            err = ny_tile_strip(&tile, i, 1, row);
            if (err) return err;
            for (size_t k = 0; k < geometry->d; k++)
                geometry->centre[k] += ny_dtype_at(source->dtype, row, k);
        }
        tile.unit++;
        tile.first_row += NY_UNIT_ROWS;
    }
    return err == NY_END ? NY_OK : err;
}

int ny_geometry_centre(struct ny_geometry *geometry, struct ny_rows *X, uint64_t rows)
{
    struct ny_context *ctx = X->ctx;
    struct ny_peers *peers = ny_context_peers(ctx);
    size_t bytes = geometry->d * sizeof(*geometry->centre);
    struct ny_source *source = NULL;
    void *row = NULL;
    int err = ny_rows_source(X, rows, 0, 1, &source);

    if (err) return err;
    row = ny_calloc(ctx, NY_MEM_MODEL, geometry->d, ny_dtype_size(source->dtype));
    err = row ? NY_OK : NY_EBUDGET;
    for (size_t k = 0; k < geometry->d; k++)
        geometry->centre[k] = 0;
    for (unsigned shard = 0; !err && shard < ny_peers_shards(peers); shard++) {
        if (shard == ny_peers_shard(peers)) err = add_rows(geometry, source, row);
        if (!err) err = ny_peers_share_of(peers, shard, geometry->centre, bytes);
    }
    for (size_t k = 0; k < geometry->d; k++)
        geometry->centre[k] /= (double)rows;
    ny_free(ctx, row);
    ny_source_free(source);
    return err;
}

int ny_geometry_copy(struct ny_geometry **out, struct ny_context *ctx, const double *centre,
                     const double *factor, size_t d)
{
    int err = geometry_alloc(out, ctx, d);

    if (err) return err;
    memcpy((*out)->centre, centre, d * sizeof(double));
    memcpy((*out)->factor, factor, d * sizeof(double));
    return NY_OK;
}

void ny_geometry_free(struct ny_geometry *geometry, struct ny_context *ctx)
{
    if (!geometry) return;
    ny_free(ctx, geometry->centre);
    ny_free(ctx, geometry->factor);
    ny_free(ctx, geometry);
}
