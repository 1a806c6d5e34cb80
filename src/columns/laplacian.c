#include <math.h>

#include "columns/kernels.h"
#include "columns/vector.h"

static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    ny_vector()->pointwise->exponential(how, x_norm, values, count);
}

static double apply(const struct ny_kernel_params *params, double base, double x_norm,
                    double y_norm)
{
    (void)x_norm;
    (void)y_norm;
    return exp(-params->gamma * base);
}

static double auto_gamma(double median, size_t d)
{
    (void)d;
    return 1 / median;
}

const struct ny_kernel ny_kernel_laplacian = {
    .name = "laplacian",
    .summary = "exp(-gamma ‖x-y‖₁)",
    .base = NY_BASE_ABSOLUTE,
    .has_gamma = true,
    .constant_diagonal = true,
    .apply32 = apply32,
    .can_minus_one = true,
    .apply = apply,
    .auto_gamma = auto_gamma,
};
