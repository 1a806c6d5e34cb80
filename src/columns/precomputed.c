#include "columns/kernels.h"
#include "columns/vector.h"

/* A row is its kernel values with the landmarks, from a file: what is left to apply is the shift.
 */
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

const struct ny_kernel ny_kernel_precomputed = {
    .name = "precomputed",
    .summary = "columns of K from a file, with the landmark rows",
    .base = NY_BASE_GIVEN,
    .apply32 = apply32,
    .apply = apply,
};
