/* The kernel of the angle between two rows, x·y / ‖x‖‖y‖. */
#include <math.h>

#include "columns/kernels.h"
#include "columns/vector.h"

/* f32 rows have unit length already (unit_rows): the dot product is the kernel. */
static void apply32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    (void)x_norm;
    ny_vector()->pointwise->identity(how, values, count);
}

/* A zero row is orthogonal to all, itself included. */
static void apply(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count)
{
    double length = sqrt(x_norm);

    (void)params;
    for (size_t j = 0; j < count; j++) {
        double product = length * sqrt(y_norms[j]);

        values[j] = product == 0 ? 0 : values[j] / product;
    }
}

const struct ny_kernel ny_kernel_cosine = {
    .name = "cosine",
    .summary = "x·y / ‖x‖‖y‖; 0 for a zero row",
    .base = NY_BASE_DOT,
    .unit_rows = true,
    .apply32 = apply32,
    .apply = apply,
};
