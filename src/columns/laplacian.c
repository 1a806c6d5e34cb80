/* The kernel of the 1-norm. */
#include "columns/kernels.h"

const struct ny_kernel ny_kernel_laplacian = {
    .name = "laplacian",
    .summary = "exp(-gamma ‖x-y‖₁)",
    .base = NY_BASE_ABSOLUTE,
    .has_gamma = true,
    .constant_diagonal = true,
    .apply32 = ny_kernel_decay32,
    .can_minus_one = true,
    .apply = ny_kernel_decay,
    .auto_gamma = ny_kernel_inverse,
};
