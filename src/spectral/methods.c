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
