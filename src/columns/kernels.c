#include "columns/kernels.h"

#include <string.h>

/* The kernels in the order of the help. A new kernel is its file and a line here. */
#define KERNELS(X)                                                                                 \
    X(ny_kernel_rbf)                                                                               \
    X(ny_kernel_linear)                                                                            \
    X(ny_kernel_laplacian)                                                                         \
    X(ny_kernel_matern)                                                                            \
    X(ny_kernel_rational_quadratic)                                                                \
    X(ny_kernel_polynomial)                                                                        \
    X(ny_kernel_cosine)                                                                            \
    X(ny_kernel_precomputed)

#define DECLARE(kernel) extern const struct ny_kernel kernel;
KERNELS(DECLARE)

#define ENTRY(kernel) &kernel,
static const struct ny_kernel *const kernels[] = {KERNELS(ENTRY)};

const struct ny_kernel *ny_kernel_at(size_t index)
{
    return index < sizeof(kernels) / sizeof(kernels[0]) ? kernels[index] : NULL;
}

const char *ny_kernel_shown(const struct ny_kernel *kernel)
{
    if (kernel->base != NY_BASE_COORDINATE) return kernel->name;
    return kernel->unit_rows ? ny_kernel_cosine.name : ny_kernel_linear.name;
}

const struct ny_param *ny_kernel_param(const struct ny_kernel *kernel, const char *name)
{
    for (size_t i = 0; kernel->params && kernel->params[i]; i++)
        if (strcmp(kernel->params[i]->name, name) == 0) return kernel->params[i];
    return NULL;
}

const struct ny_param *ny_kernel_number(const struct ny_kernel *kernel, size_t index)
{
    const struct ny_param *const *at = kernel->params;

    while (at && *at && index--)
        at++;
    return at ? *at : NULL;
}

const struct ny_kernel *ny_kernel_find(const char *name)
{
    static const struct ny_kernel *const unlisted[] = {&ny_kernel_coordinates, &ny_kernel_features,
                                                       &ny_kernel_directions};
    const struct ny_kernel *kernel;

    for (size_t i = 0; (kernel = ny_kernel_at(i)); i++)
        if (strcmp(kernel->name, name) == 0) return kernel;
    for (size_t i = 0; i < sizeof(unlisted) / sizeof(unlisted[0]); i++)
        if (strcmp(unlisted[i]->name, name) == 0) return unlisted[i];
    return NULL;
}
