/* The kernel of powers of shifted dot products, (γ x·y + c₀)^degree. */
#include "columns/kernels.h"
#include "columns/vector.h"

static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    (void)x_norm;
    ny_vector()->pointwise->power(how, values, count);
}

static void apply(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    (void)x_norm;
    (void)y_norms;
    ny_vector()->pointwise->power64(params, values, count);
}

static double auto_gamma(double median, size_t d)
{
    (void)median;
    return 1 / (double)d;
}

const struct ny_kernel ny_kernel_polynomial = {
    .name = "polynomial",
    .summary = "(gamma x·y + coef0)^degree",
    .base = NY_BASE_DOT,
    .has_gamma = true,
    .has_polynomial = true,
    .apply32 = apply32,
    .apply = apply,
    .auto_gamma = auto_gamma,
};
