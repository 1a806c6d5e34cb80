/* Distances as kernels, for neighbours: what is small is near. Not listed: no fit takes them. */
#include "columns/kernels.h"

/* By products values hold −2 x·y, by direct sums and of bytes d² with the norms 0. */
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

const struct ny_kernel ny_kernel_euclidean = {
    .name = "euclidean",
    .summary = "gamma ‖x-y‖²",
    .base = NY_BASE_SQUARE,
    .has_gamma = true,
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

/* A zero row is as far from all as an orthogonal one. */
static void angle(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    ny_kernel_angles(params, x_norm, y_norms, values, count);
    for (size_t j = 0; j < count; j++)
        values[j] = 1 - values[j];
}

const struct ny_kernel ny_kernel_angular = {
    .name = "angular",
    .summary = "1 - x·y / ‖x‖‖y‖",
    .base = NY_BASE_DOT,
    .unit_rows = true,
    .apply32 = angle32,
    .apply = angle,
};
