/* The kernel of which C is the rows themselves: principal components of all columns. */
#include "columns/kernels.h"

/* The linear kernel with the unit vectors for landmarks: a tile is its prepared rows, and W = I. */
const struct ny_kernel ny_kernel_coordinates = {
    .name = NY_COORDINATES_KERNEL,
    .summary = "the rows themselves, for principal components of all columns",
    .base = NY_BASE_COORDINATE,
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_identity,
};
