#include "columns/kernels.h"

#include <string.h>

static const struct ny_kernel *const kernels[] = {
    &ny_kernel_rbf,        &ny_kernel_linear, &ny_kernel_laplacian,
    &ny_kernel_polynomial, &ny_kernel_cosine, &ny_kernel_precomputed,
};

const struct ny_kernel *ny_kernel_at(size_t index)
{
    return index < sizeof(kernels) / sizeof(kernels[0]) ? kernels[index] : NULL;
}

const struct ny_kernel *ny_kernel_find(const char *name)
{
    const struct ny_kernel *kernel;

    for (size_t i = 0; (kernel = ny_kernel_at(i)); i++)
        if (strcmp(kernel->name, name) == 0) return kernel;
    return strcmp(name, ny_kernel_coordinates.name) == 0 ? &ny_kernel_coordinates : NULL;
}
