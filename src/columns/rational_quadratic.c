/*
 * The rational quadratic kernel (1 + γ‖x − y‖²/α)^−α, a mixture of rbf kernels of all widths, which
 * goes to rbf as α grows. With γ = 1/(2ℓ²) it is scikit-learn's RationalQuadratic(length_scale=ℓ,
 * alpha=α).
 */
#include <stdint.h>
#include <string.h>

#include "columns/radial.h"
#include "columns/vector.h"

/* ln(1 + u), u ≥ 0, to two units of the last place. 1 + u = 2ⁿ(1 + f) with |f| < ½; of s = f/(2 +
 * f), ln(1 + f) = 2s(1 + s²/3 + s⁴/5 + …). Infinite u and NaN give NaN. */
static inline double log_above_one(double u)
{
    const double ln2 = 0x1.62e42fefa39efp-1;
    const uint64_t root_half = 0x3fe6a09e667f3bcd; /* the bits of √½ */
    double whole = 1 + u, n, f, s, z, sum = 1.0 / 23;
    uint64_t bits, exponent;

    memcpy(&bits, &whole, sizeof(bits));
    exponent = (bits - root_half) >> 52;
    bits -= exponent << 52;
    memcpy(&f, &bits, sizeof(f));
    n = (double)(int64_t)exponent;
    f = exponent ? f - 1 : u;
    s = f / (2 + f);
    z = s * s;
    for (int k = 21; k > 0; k -= 2)
        sum = sum * z + 1.0 / k;
    return n * ln2 + 2 * s * sum + 0 * u;
}

static void rational_quadratic(const struct ny_kernel_params *params, bool minus_one,
                               double *values, size_t count)
{
    static const double series[4] = {-1, 1.0 / 2, -1.0 / 6, 1.0 / 24};
    double alpha = params->first, scale = params->gamma / alpha, y[NY_RADIAL_VALUES];

    for (size_t j = 0; j < count; j++)
        y[j] = values[j] = alpha * log_above_one(scale * values[j]);
    ny_vector()->pointwise->exponential64(1, values, count);
    for (size_t j = 0; minus_one && j < count; j++)
        values[j] = ny_radial_less_one(values[j], y[j], series);
}

static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    ny_kernel_radial32(how, rational_quadratic, x_norm, values, count);
}

static void apply(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    (void)x_norm;
    (void)y_norms;
    ny_kernel_radial(params, rational_quadratic, values, count);
}

static const struct ny_param alpha = {
    .name = "alpha",
    .kind = NY_NUMBER,
    .argument = "A",
    .fallback = "1",
    .summary = "shape of the rational-quadratic kernel; it goes to rbf as A grows",
    .rare = true,
    .gives = offsetof(struct ny_kernel_params, first),
};

static const struct ny_param *const params[] = {&ny_param_gamma, &alpha, NULL};

const struct ny_kernel ny_kernel_rational_quadratic = {
    .name = "rational-quadratic",
    .summary = "(1 + gamma |x-y|^2/alpha)^-alpha",
    .base = NY_BASE_SQUARE,
    .params = params,
    .constant_diagonal = true,
    .apply32 = apply32,
    .can_minus_one = true,
    .apply = apply,
    .auto_gamma = ny_kernel_inverse,
};
