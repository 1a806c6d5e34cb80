#include "columns/kernels.h"
#include "columns/vector.h"

static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    ny_vector()->pointwise->exponential(how, x_norm, values, count);
}

static void apply(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    (void)x_norm;
    (void)y_norms;
    ny_vector()->pointwise->exponential64(params->gamma, values, count);
}

static double auto_gamma(double median, size_t d)
{
    (void)d;
    return 1 / median;
}

const struct ny_kernel ny_kernel_rbf = {
    .name = "rbf",
    .summary = "exp(-gamma ‖x-y‖²), gamma = 1/(2 sigma²) = 1/epsilon",
    .base = NY_BASE_SQUARE,
    .has_gamma = true,
    .has_sigma = true,
    .constant_diagonal = true,
    .apply32 = apply32,
    .can_minus_one = true,
    .apply = apply,
    .auto_gamma = auto_gamma,
};
