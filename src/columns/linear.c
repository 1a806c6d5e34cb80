/* The kernel of dot products, and the steps of all kernels that are their base quantity. */
#include "columns/kernels.h"
#include "columns/vector.h"

void ny_kernel_identity32(const struct ny_pointwise *how, float x_norm, float *values,
                          size_t count)
{
    (void)x_norm;
    ny_vector()->pointwise->identity(how, values, count);
}

void ny_kernel_identity(const struct ny_kernel_params *params, double x_norm,
                        const double *y_norms, double *values, size_t count)
{
    (void)params;
    (void)x_norm;
    (void)y_norms;
    (void)values;
    (void)count;
}

const struct ny_kernel ny_kernel_linear = {
    .name = "linear",
    .summary = "x.y",
    .options = "tol|max-passes",
    .base = NY_BASE_DOT,
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_identity,
};
