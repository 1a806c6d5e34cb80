#include "columns/kernels.h"
#include "columns/vector.h"

static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    (void)x_norm;
    ny_vector()->pointwise->power(how, values, count);
}

static double apply(const struct ny_kernel_params *params, double base, double x_norm,
                    double y_norm)
{
    double square = params->gamma * base + params->coef0, k = 1;

    (void)x_norm;
    (void)y_norm;
    for (unsigned degree = params->degree; degree; degree >>= 1) {
        if (degree & 1) k *= square;
        square *= square;
    }
    return k;
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
