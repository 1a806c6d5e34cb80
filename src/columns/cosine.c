/* The kernel of the angle between two rows, x·y / ‖x‖‖y‖. */
#include <math.h>

#include "columns/kernels.h"

/* A zero row is orthogonal to all, itself included. */
void ny_kernel_angles(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
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
    .summary = "x.y/|x||y|",
    .options = "tol|max-passes",
    .base = NY_BASE_DOT,
    .unit_rows = true, /* in f32: the dot product is the kernel */
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_angles,
};
