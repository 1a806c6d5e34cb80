/* The context of a test program, made before its tests; after them all that was charged to it has
 * been given back. */
#ifndef NY_TESTS_CONTEXT_H
#define NY_TESTS_CONTEXT_H

#include "base/memory.h"
#include "support/test.h"

static struct ny_context *ctx;

static void start(void)
{
    assert_int_equal(ny_context_new(&ctx), NY_OK);
}

static void stop(void)
{
    assert_int_equal(ny_memory_used(ctx), 0);
    ny_context_free(ctx);
}

#endif
