#include "spectral/methods.h"

#include <string.h>

#define ENTRY(method) &method,
static const struct ny_method *const methods[] = {NY_METHODS(ENTRY)};

const struct ny_method *ny_method_at(size_t index)
{
    return index < sizeof(methods) / sizeof(methods[0]) ? methods[index] : NULL;
}

const struct ny_method *ny_method_find(const char *name)
{
    for (size_t i = 0; ny_method_at(i); i++)
        if (strcmp(ny_method_at(i)->name, name) == 0) return ny_method_at(i);
    return NULL;
}

/* These are no fields of the methods that are stood in for, because files would call one another:
 * the solver by products takes much from that of projected. */
const struct ny_method *ny_method_by_products(const struct ny_method *method)
{
    return method == &ny_method_projected ? &ny_method_krylov : NULL;
}

const struct ny_method *ny_method_by_columns(const struct ny_method *method)
{
    return method == &ny_method_exact ? &ny_method_scatter : NULL;
}

const struct ny_method *ny_method_by_features(const struct ny_method *method)
{
    return method == &ny_method_exact ? &ny_method_factored : NULL;
}
