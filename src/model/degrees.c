/*
 * Degrees d = Cv + offset of rows, by which maps of a divided kernel divide it, and other products
 * of the rows of a tile with a vector.
 *
 * A row whose degree is negative, or below 2⁻²⁰ of the mean degree, cannot be divided by: its root
 * is 0, and it is counted. Counts of units are added up, kept in checkpoints and judged in the end,
 * so that the message tells of all such rows: a fit allows 1 % of them (fit/unreached.c), new rows
 * are refused where most of them are such.
 */
#include "model/degrees.h"

#include <math.h>

#include "base/memory.h"
#include "job/record.h"

int ny_degrees_over_landmarks(struct ny_degrees *degrees, struct ny_context *ctx, const double *a,
                              size_t m, uint64_t n)
{
    *degrees = (struct ny_degrees){.m = m};
    degrees->v = ny_calloc(ctx, NY_MEM_DICTIONARY, m, sizeof(double));
    if (!degrees->v) return NY_EBUDGET;
    for (size_t j = 0; j < m; j++) {
        degrees->v[j] = (double)n / (double)m;
        degrees->mean += degrees->v[j] * a[j];
    }
    return NY_OK;
}

void ny_degrees_release(struct ny_degrees *degrees, struct ny_context *ctx)
{
    ny_free(ctx, degrees->v);
    *degrees = (struct ny_degrees){0};
}

double ny_degrees_offset(const struct ny_degrees *degrees, const double *a)
{
    return ny_dot(degrees->v, a, degrees->m);
}

/* Sums c·v in f64, in eight lanes, so that the result does not depend on the compiler's vectors. */
static double dot_row32(const float *restrict c, const double *restrict v, size_t m)
{
    double lane[8] = {0}, sum = 0;
    size_t j = 0;

    for (; j + 8 <= m; j += 8)
        for (size_t l = 0; l < 8; l++)
            lane[l] += (double)c[j + l] * v[j + l];
    for (; j < m; j++)
        lane[0] += (double)c[j] * v[j];
    for (size_t l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}

/* Sums c·v in f64, one value after another. */
static double dot_row64(const double *restrict c, const double *restrict v, size_t m)
{
    double sum = 0;

    for (size_t j = 0; j < m; j++)
        sum += c[j] * v[j];
    return sum;
}

void ny_tile_products(const struct ny_tiles *tiles, const struct ny_tile *tile, const double *v,
                      double offset, double *products)
{
    size_t m = tiles->m;

    for (size_t i = 0; i < tile->rows; i++) {
        products[i] = offset;
        if (tiles->precision == NY_PRECISION_F64)
            products[i] += dot_row64(ny_tiles_c64(tiles, tile->worker).at + i * m, v, m);
        else
            products[i] += dot_row32(ny_tiles_c32(tiles, tile->worker).at + i * m, v, m);
    }
}

void ny_degrees_roots(const struct ny_degrees *degrees, double offset, const struct ny_tiles *tiles,
                      const struct ny_tile *tile, double *roots)
{
    ny_tile_products(tiles, tile, degrees->v, offset, roots);
    for (size_t i = 0; i < tile->rows; i++)
        roots[i] = ny_degree_reaches(roots[i], degrees->mean) ? 1 / sqrt(roots[i]) : 0;
}

void ny_unreached_rows_note(struct ny_unreached_rows *all, uint64_t row)
{
    if (all->count++ == 0) all->first = row;
}

void ny_unreached_rows_add(struct ny_unreached_rows *all, const struct ny_unreached_rows *more)
{
    if (!all->count) all->first = more->first;
    all->count += more->count;
}

void ny_unreached_rows_warn(const struct ny_unreached_rows *unreached, struct ny_context *ctx,
                            uint64_t rows)
{
    if (unreached->count)
        ny_log(ctx, NY_LOG_WARNING,
               "%llu of %llu rows, the first of them row %llu, are too far from all landmarks "
               "(their degrees are negative or zero to rounding): they get no coordinates (NaN) "
               "and no cluster; if the kernel has a width, a wider one (a smaller --gamma) may "
               "reach them",
               (unsigned long long)unreached->count, (unsigned long long)rows,
               (unsigned long long)unreached->first);
}

int ny_unreached_rows_check(const struct ny_unreached_rows *unreached, struct ny_context *ctx,
                            uint64_t rows)
{
    if (unreached->count < 2 || unreached->count <= rows / 2) { /* one row tells of no scale */
        ny_unreached_rows_warn(unreached, ctx, rows);
        return NY_OK;
    }
    return ny_fail(ctx, NY_ENUMERIC,
                   "no landmark reaches %llu of %llu new rows, the first of them row %llu: their "
                   "degrees are negative or zero to rounding; are they on the scale of the rows of "
                   "the fit, with the columns in the same order?",
                   (unsigned long long)unreached->count, (unsigned long long)rows,
                   (unsigned long long)unreached->first);
}
