/* Asks for memory that is read soon. */
#ifndef NY_BASE_PREFETCH_H
#define NY_BASE_PREFETCH_H

#include <stddef.h>

/* Asks for so many bytes, so that they are in the cache when they are read. */
static inline void ny_prefetch(const void *at, size_t bytes)
{
    const size_t line = 64;

    for (size_t byte = 0; byte < bytes; byte += line)
        __builtin_prefetch((const char *)at + byte);
}

#endif
