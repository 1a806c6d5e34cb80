/* The kernel whose columns the user has computed. */
#include "columns/kernels.h"

/* A row is its kernel values with the landmarks, from a file: what is left to apply is the shift.
 */
const struct ny_kernel ny_kernel_precomputed = {
    .name = "precomputed",
    .summary = "columns from --columns-file",
    .options = "columns-file",
    .without = "landmarks-points|scale|features|probe",
    .base = NY_BASE_GIVEN,
    .apply32 = ny_kernel_identity32,
    .apply = ny_kernel_identity,
};
