/*
 * The Matérn kernels of smoothness ν = 1/2, 3/2 and 5/2, of y = √(2ν) ‖x − y‖/ℓ:
 * e^−y, (1 + y)e^−y and (1 + y + y²/3)e^−y. The length scale ℓ is σ: γ = 1/(2ℓ²), as for rbf, and
 * y = √(4νγ) ‖x − y‖. scikit-learn's Matern(length_scale=ℓ, nu=ν) has the same values.
 */
#include <math.h>

#include "columns/radial.h"
#include "columns/vector.h"

/* k = (1 + one·y + two·y²)e^−y, and the series of k − 1. */
struct smoothness {
    double one, two, series[4];
};

static const struct smoothness *smoothness_of(double nu)
{
    static const struct smoothness half = {0, 0, {-1, 1.0 / 2, -1.0 / 6, 1.0 / 24}},
                                   three = {1, 0, {0, -1.0 / 2, 1.0 / 3, -1.0 / 8}},
                                   five = {1, 1.0 / 3, {0, -1.0 / 6, 0, 1.0 / 24}};

    return nu < 1 ? &half : nu < 2 ? &three : &five;
}

static void matern(const struct ny_kernel_params *params, bool minus_one, double *values,
                   size_t count)
{
    const struct smoothness *of = smoothness_of(params->first);
    const double zero_from = 1000; /* e^−y is 0 in f64 from 746 on */
    double scale = 4 * params->first * params->gamma, y[NY_RADIAL_VALUES];

    for (size_t j = 0; j < count; j++) {
        double root = sqrt(scale * values[j]);

        y[j] = values[j] = root > zero_from ? zero_from : root;
    }
    ny_vector()->pointwise->exponential64(1, values, count);
    for (size_t j = 0; j < count; j++)
        values[j] *= 1 + y[j] * (of->one + y[j] * of->two);
    for (size_t j = 0; minus_one && j < count; j++)
        values[j] = ny_radial_less_one(values[j], y[j], of->series);
}

static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    ny_kernel_radial32(how, matern, x_norm, values, count);
}

static void apply(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    (void)x_norm;
    (void)y_norms;
    ny_kernel_radial(params, matern, values, count);
}

/* e^−y has a corner at 0: an error of ‖x − y‖² counts by its square root. */
static bool steep(const struct ny_kernel_params *params)
{
    return params->first < 1;
}

static const struct ny_param nu = {
    .name = "nu",
    .kind = NY_CHOICE,
    .argument = "0.5|1.5|2.5",
    .fallback = "1.5",
    .summary = "smoothness of the matern kernel. With y = sqrt(4 nu gamma) |x-y|, 0.5: e^-y; 1.5: "
               "(1 + y) e^-y; 2.5: (1 + y + y^2/3) e^-y",
    .rare = true,
    .gives = offsetof(struct ny_kernel_params, first),
};

static const struct ny_param *const params[] = {&ny_param_gamma, &nu, NULL};

const struct ny_kernel ny_kernel_matern = {
    .name = "matern",
    .summary = "between exp(-sqrt(2 gamma) |x-y|) and rbf, by --nu",
    .base = NY_BASE_SQUARE,
    .params = params,
    .constant_diagonal = true,
    .apply32 = apply32,
    .can_minus_one = true,
    .apply = apply,
    .auto_gamma = ny_kernel_inverse,
    .steep = steep,
};
