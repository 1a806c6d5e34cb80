/* Bounds the error of the f32 base quantity of a distance. */
#include <math.h>

#include "columns/columns_private.h"

/* The relative rounding error of an f32: half a unit in the last place of 1. */
#define HALF_ULP 0x1p-24

double ny_columns_whole_below(const struct ny_columns_spec *spec)
{
    enum ny_way way = ny_way_of(spec);

    if (spec->kernel->base != NY_BASE_SQUARE) return 0;
    return way == NY_WAY_BYTES || (way == NY_WAY_DIRECT && ny_unscaled_integers(spec)) ? 0x1p24 : 0;
}

/* An f32 sum over `columns` products loses at most this many half units of Σ|x_k y_k|: one a term
 * in each piece of a direct sum, one a piece, and two for the rounding of x and y to f32. Errors of
 * nearly equal products add up instead of averaging out, so that no √columns would do. */
static double product_rounding(size_t columns)
{
    size_t piece = NY_DIRECT_DEPTH;

    return (double)(columns < piece ? columns : piece) + (double)(columns / piece) + 2;
}

/* The most by which 1 − cos is off, whatever it is: cos is near 1 where it matters. */
static double angle_rounding(const struct ny_columns_spec *spec)
{
    double sum = spec->slots ? 1 : product_rounding(spec->geometry->d);

    return HALF_ULP * (sum + 2) * (1 + 0x1p-10);
}

/* ‖y‖ is unknown, but at most ‖x‖ + ‖x−y‖. A squared distance from products may be below 0. */
double ny_columns_rounding(const struct ny_columns_spec *spec, double base, double x_norm)
{
    double columns = (double)spec->geometry->d, distance;

    if (spec->kernel->base == NY_BASE_DOT) return angle_rounding(spec);
    if (base < 0) base = 0;
    distance = sqrt(base * x_norm);
    switch (ny_way_of(spec)) {
    case NY_WAY_BYTES:
        return 2 * HALF_ULP * base;
    case NY_WAY_SPARSE:
        return 4 * HALF_ULP * base + 1e-13 * x_norm;
    case NY_WAY_DIRECT:
        return HALF_ULP * (4 * distance + (columns + 4) * base);
    default:
        return HALF_ULP * (product_rounding(spec->geometry->d) + 8) * (3 * x_norm + 2 * base);
    }
}
