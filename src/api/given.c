#include "api/given.h"

#include <string.h>

int ny_given(struct ny_context *ctx, const char *function, const char *names,
             const void *const *pointers, size_t count)
{
    if (!ctx) return NY_EUSAGE;
    ny_error_clear(ctx);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(names, ",");

        if (!pointers[i])
            return ny_fail(ctx, NY_EUSAGE, "%s() was given NULL as its %.*s, which it needs",
                           function, (int)length, names);
        names += length;
        names += strspn(names, ", ");
    }
    return NY_OK;
}
