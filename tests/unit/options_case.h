/* Options that tests set: begun and freed for each test, which leaves no memory behind. */
#ifndef TESTS_UNIT_OPTIONS_CASE_H
#define TESTS_UNIT_OPTIONS_CASE_H

#include "api/options.h"
#include "base/memory.h"
#include "support/test.h"

static struct ny_context *ctx;
static struct ny_options *options;

static int start(void **state)
{
    (void)state;
    if (ny_context_new(&ctx)) return -1;
    return ny_options_new(&options, ctx);
}

static int stop(void **state)
{
    size_t left;

    (void)state;
    ny_options_free(options);
    left = ny_memory_used(ctx);
    ny_context_free(ctx);
    return left == 0 ? 0 : -1;
}

static void set(const char *name, const char *value)
{
    if (ny_options_set(options, name, value))
        fail_msg("--%s %s refused: %s", name, value ? value : "", ny_context_message(ctx));
}

#endif
