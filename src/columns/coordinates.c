/* The kernels of which C is the rows themselves: landmark j is the unit vector e_j. */
#include "columns/kernels.h"

/* The linear kernel with the unit vectors for landmarks: a tile is its prepared rows, and W = I. */
const struct ny_kernel ny_kernel_coordinates = {
    .name = NY_COORDINATES_KERNEL,
    .base = NY_BASE_COORDINATE,
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_identity,
};

/* The linear kernel of rows of many columns, without tiles: products are with the rows themselves.
 */
const struct ny_kernel ny_kernel_features = {
    .name = NY_FEATURES_KERNEL,
    .base = NY_BASE_COORDINATE,
    .features = true,
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_identity,
};

const struct ny_kernel ny_kernel_directions = {
    .name = NY_DIRECTIONS_KERNEL,
    .base = NY_BASE_COORDINATE,
    .unit_rows = true,
    .features = true,
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_identity,
};
