/* How far the f32 base quantity of a distance may be from the exact one. */
#include <math.h>

#include "columns/columns_private.h"

/* Half a unit in the last place of 1. */
#define HALF_ULP 0x1p-24

double ny_columns_whole_below(const struct ny_columns_spec *spec)
{
    enum ny_way way = ny_way_of(spec);

    if (spec->kernel->base != NY_BASE_SQUARE) return 0;
    return way == NY_WAY_BYTES || (way == NY_WAY_DIRECT && ny_unscaled_integers(spec)) ? 0x1p24 : 0;
}

/* Of y with d² = ‖x−y‖² it is only known that ‖y‖ ≤ ‖x‖ + d. Sums of products run in
 * pieces, and their errors are as often up as down: √d of them, and some. */
double ny_columns_rounding(const struct ny_columns_spec *spec, double base, double x_norm)
{
    double columns = (double)spec->geometry->d, distance = sqrt(base * x_norm);

    switch (ny_way_of(spec)) {
    case NY_WAY_BYTES:
        return 2 * HALF_ULP * base;
    case NY_WAY_SPARSE:
        return 4 * HALF_ULP * base + 1e-13 * x_norm;
    case NY_WAY_DIRECT:
        return HALF_ULP * (4 * distance + (columns + 4) * base);
    default:
        return 2 * HALF_ULP * (8 + sqrt(columns)) * (3 * x_norm + 2 * base);
    }
}
