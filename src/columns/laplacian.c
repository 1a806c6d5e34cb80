/* The kernel of the 1-norm. */
#include "columns/kernels.h"

static const struct ny_param *const params[] = {&ny_param_gamma, NULL};

const struct ny_kernel ny_kernel_laplacian = {
    .name = "laplacian",
    .summary = "exp(-gamma |x-y|) with the 1-norm",
    .base = NY_BASE_ABSOLUTE,
    .params = params,
    .constant_diagonal = true,
    .apply32 = ny_kernel_decay32,
    .can_minus_one = true,
    .apply = ny_kernel_decay,
    .auto_gamma = ny_kernel_inverse,
};
