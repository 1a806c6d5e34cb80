#include "columns/kernels.h"
#include "columns/vector.h"

/* The linear kernel with the unit vectors for landmarks: a tile is its prepared rows, and W = I. */
static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    (void)x_norm;
    ny_vector()->pointwise->identity(how, values, count);
}

static double apply(const struct ny_kernel_params *params, double base, double x_norm,
                    double y_norm)
{
    (void)params;
    (void)x_norm;
    (void)y_norm;
    return base;
}

const struct ny_kernel ny_kernel_coordinates = {
    .name = NY_COORDINATES_KERNEL,
    .summary = "the rows themselves, for principal components of all columns",
    .base = NY_BASE_COORDINATE,
    .apply32 = apply32,
    .apply = apply,
};
