/*
 * Counts of genotypes by column, from which follow the means and variances of a fit of them: those
 * of its rows where the genotype is not missing. Statistics of an import cannot tell what is
 * missing, so that a pass of the fit counts. Whole numbers have the same sums in any order.
 */
#include "columns/alleles.h"

#include "base/peers.h"
#include "columns/visit.h"
#include "stream/statistics.h"

enum { ROWS = 16 }; /* that are read at a time */
/* These are counted of a column. */
enum { ONES, TWOS, MISSING, COUNTS };

struct counts {
    size_t d;
    double *sums;  /* COUNTS × d */
    uint32_t *of;  /* COUNTS × d, a worker */
    uint8_t *rows; /* ROWS × d, a worker */
};

/* Adds the counts of some rows, at columns first … first+width−1. */
static void count_strip(const uint8_t *rows, size_t count, size_t d, size_t width, uint32_t *of)
{
    struct ny_alleles alleles;

    ny_alleles_of(&alleles, rows, d, count, width);
    for (size_t j = 0; j < width; j++) {
        of[ONES * d + j] += alleles.ones[j];
        of[TWOS * d + j] += alleles.twos[j];
        of[MISSING * d + j] += alleles.missing[j];
    }
}

static int count_unit(void *arg, const struct ny_tile *tile)
{
    const struct counts *counts = arg;
    const size_t d = counts->d;
    uint8_t *rows = counts->rows + tile->worker * ROWS * d;
    uint32_t *of = counts->of + tile->worker * COUNTS * d;
    int err = NY_OK;

    for (size_t first = 0, some; first < tile->rows && !err; first += some) {
        some = tile->rows - first < ROWS ? tile->rows - first : ROWS;
        err = ny_tile_strip(tile, first, some, rows);
        for (size_t j = 0; !err && j < d; j += NY_ALLELE_COLUMNS)
            count_strip(rows + j, some, d, d - j < NY_ALLELE_COLUMNS ? d - j : NY_ALLELE_COLUMNS,
                        of + j);
    }
    return err;
}

static void lay(struct ny_layout *l, struct counts *counts, size_t d, unsigned workers)
{
    counts->d = d;
    counts->sums = ny_lay(l, NY_MEM_OTHER, COUNTS * d, sizeof(double));
    counts->of = ny_lay(l, NY_MEM_OTHER, workers * d, COUNTS * sizeof(uint32_t));
    counts->rows = ny_lay(l, NY_MEM_STORE, workers * d, ROWS);
}

/* Tells of variants that count for nothing. */
static void tell_alike(struct ny_rows *X, const struct ny_rows_stats *stats)
{
    size_t alike = 0;

    for (size_t j = 0; j < stats->d; j++)
        alike += stats->maximum[j] == 0;
    if (alike)
        ny_log(X->ctx, NY_LOG_NOTE, "%zu variants of %s are alike in all rows, and left out", alike,
               X->name);
}

/* Makes the statistics of n rows of column j of its counts, which are whole numbers. */
static void tell(struct ny_rows_stats *stats, size_t j, const double *of, double n)
{
    const size_t d = stats->d;
    double ones = of[ONES * d + j], twos = of[TWOS * d + j], there = n - of[MISSING * d + j];
    double sum = ones + 2 * twos, squares = ones + 4 * twos;
    double scaled = squares * there - sum * sum; /* exact below 2⁵³ */

    stats->missing[j] = of[MISSING * d + j];
    stats->mean[j] = there > 0 ? sum / there : 0;
    stats->variance[j] = there > 0 ? scaled / there / there : 0;
    stats->minimum[j] = 0;
    stats->maximum[j] = scaled > 0 ? 2 : 0;
}

int ny_alleles_measure(struct ny_rows *X, unsigned workers, struct ny_rows_stats *stats)
{
    struct ny_context *ctx = X->ctx;
    struct ny_layout l = {.ctx = ctx};
    struct counts counts;
    size_t d = stats->d;
    int err;

    stats->missing = ny_calloc(ctx, NY_MEM_OTHER, d, sizeof(double));
    lay(&l, &counts, d, workers);
    err = stats->missing ? l.err : NY_EBUDGET;
    if (!err) err = ny_visit_units(X, workers, count_unit, &counts);
    for (size_t i = 0; !err && i < workers * COUNTS * d; i++)
        counts.sums[i % (COUNTS * d)] += counts.of[i];
    if (!err) err = ny_peers_fold(ny_context_peers(ctx), counts.sums, COUNTS * d);
    for (size_t j = 0; !err && j < d; j++)
        tell(stats, j, counts.sums, (double)stats->n);
    if (!err) tell_alike(X, stats);
    ny_layout_free(&l);
    return err;
}

void ny_alleles_count(struct ny_layout *l, const struct ny_rows_info *points, unsigned workers)
{
    lay(l, &(struct counts){0}, (size_t)points->d, workers);
    ny_rows_source_count(l, NY_MEM_STORE, points, workers);
}
