/* Options that tests set: begun and freed for each test, which leaves no memory behind. */
#ifndef TESTS_UNIT_OPTIONS_CASE_H
#define TESTS_UNIT_OPTIONS_CASE_H

#include "api/options.h"
#include "base/memory.h"
#include "support/test.h"

static struct ny_context *ctx;
static struct ny_options *options;

static void start(void)
{
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
}

static void stop(void)
{
    size_t left;

    ny_options_free(options);
    left = ny_memory_used(ctx);
    ny_context_free(ctx);
    assert_int_equal(left, 0);
}

static void set(const char *name, const char *value)
{
    if (ny_options_set(options, name, value))
        fail_msg("--%s %s refused: %s", name, value ? value : "", ny_context_message(ctx));
}

#endif
