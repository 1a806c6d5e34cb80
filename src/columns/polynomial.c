/* The kernel of powers of shifted dot products, (γ x·y + c₀)^degree. */
#include <limits.h>
#include <math.h>

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

/* Odd powers of negative numbers are negative. */
static bool indefinite(const struct ny_kernel_params *params)
{
    return params->first < 0;
}

static double auto_gamma(double median, size_t d)
{
    (void)median;
    return 1 / (double)d;
}

static const struct ny_param degree = {
    .name = "degree",
    .kind = NY_COUNT,
    .least = 1,
    .most = INT_MAX,
    .argument = "N",
    .fallback = "3",
    .of_all = true,
    .summary = "degree of the polynomial kernel",
    .rare = true,
    .gives = offsetof(struct ny_kernel_params, second),
};

static const struct ny_param coef0 = {
    .name = "coef0",
    .kind = NY_NUMBER,
    .least = -INFINITY,
    .argument = "C",
    .fallback = "1",
    .of_all = true,
    .summary = "constant of the polynomial kernel",
    .rare = true,
    .gives = offsetof(struct ny_kernel_params, first),
};

static const struct ny_param *const params[] = {&ny_param_gamma, &degree, &coef0, NULL};

const struct ny_kernel ny_kernel_polynomial = {
    .name = "polynomial",
    .summary = "(gamma x.y + coef0)^degree",
    .base = NY_BASE_DOT,
    .params = params,
    .apply32 = apply32,
    .apply = apply,
    .auto_gamma = auto_gamma,
    .indefinite = indefinite,
};
