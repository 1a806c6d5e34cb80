/* Distances as kernels, for neighbours: what is small is near. Not listed: no fit takes them. */
#include <math.h>

#include "columns/kernels.h"

/* In: −2 x·y from products; d², with the norms 0, from direct sums and from bytes. */
static void square32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    float gamma = (float)how->params->gamma;

    for (size_t j = 0; j < count; j++)
        values[j] = gamma * (values[j] + x_norm + how->y_norm[j]) - how->shift[j];
}

static void square(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                   double *values, size_t count)
{
    (void)x_norm;
    (void)y_norms;
    for (size_t j = 0; j < count; j++)
        values[j] *= params->gamma;
}

static const struct ny_param *const width[] = {&ny_param_gamma, NULL};

const struct ny_kernel ny_kernel_euclidean = {
    .name = "euclidean",
    .base = NY_BASE_SQUARE,
    .params = width,
    .apply32 = square32,
    .apply = square,
};

/* f32 rows have unit length already. */
static void angle32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    (void)x_norm;
    for (size_t j = 0; j < count; j++)
        values[j] = 1 - values[j] - how->shift[j];
}

/* 1 − cos from xy = x·y and norms = ‖x‖²‖y‖². Both of cos² = xy²/norms and sin² = (norms −
 * xy²)/norms are rounded once where all are whole numbers below 2⁵³: pairs of rows at the same
 * angle then have the same value to the last bit, and rows in the same direction have 0. */
static inline double one_minus_cosine(double xy, double norms)
{
    double square = xy * xy, cosine = sqrt(square / norms);

    if (xy < 0) return 1 + cosine;
    return cosine > 0.5 ? (norms - square) / norms / (1 + cosine) : 1 - cosine;
}

/* A zero row is as far from all as an orthogonal one. Norms whose product f64 does not hold are
 * taken one by one. */
static void angle(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    const double least = 1e-250, most = 1e250;

    (void)params;
    for (size_t j = 0; j < count; j++) {
        double norms = x_norm * y_norms[j], lengths = sqrt(x_norm) * sqrt(y_norms[j]);

        if (norms > least && norms < most)
            values[j] = one_minus_cosine(values[j], norms);
        else
            values[j] = lengths == 0 ? 1 : 1 - values[j] / lengths;
    }
}

const struct ny_kernel ny_kernel_angular = {
    .name = "angular",
    .base = NY_BASE_DOT,
    .unit_rows = true,
    .half_chord = true,
    .apply32 = angle32,
    .apply = angle,
};
