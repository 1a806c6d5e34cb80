/* zlib's streams, whose own memory comes from the budget, too. For io/ alone. */
#ifndef NY_IO_ZLIB_H
#define NY_IO_ZLIB_H

#include <zlib.h>

#include "base/memory.h"

static inline void *ny_zlib_allocate(void *ctx, unsigned items, unsigned size)
{
    return ny_calloc(ctx, NY_MEM_IO, items, size);
}

static inline void ny_zlib_release(void *ctx, void *ptr)
{
    ny_free(ctx, ptr);
}

/* Returns a stream that is not begun. */
static inline z_stream ny_zlib_stream(struct ny_context *ctx)
{
    return (z_stream){.zalloc = ny_zlib_allocate, .zfree = ny_zlib_release, .opaque = ctx};
}

#endif
