/* The context of a test program, made before its tests; after them all that was charged to it has
 * been given back. */
#ifndef NY_TESTS_CONTEXT_H
#define NY_TESTS_CONTEXT_H

#include "base/memory.h"
#include "support/test.h"

static struct ny_context *ctx;

static int start(void **state)
{
    (void)state;
    return ny_context_new(&ctx);
}

static int stop(void **state)
{
    (void)state;
    assert_int_equal(ny_memory_used(ctx), 0);
    ny_context_free(ctx);
    return 0;
}

#endif
