/* Rows in memory that passes are tried over, and the context that they belong to. */
#ifndef TESTS_UNIT_STREAM_CASE_H
#define TESTS_UNIT_STREAM_CASE_H

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "stream/pass.h"
#include "support/test.h"

enum { D = 3, UNITS = 23, N = (UNITS - 1) * NY_UNIT_ROWS + 137, WORKERS_MAX = 5 };

static struct ny_context *ctx;
static float *rows;

static void start(void)
{
    rows = lend(N * D * sizeof(*rows));
    for (size_t i = 0; i < N * D; i++)
        rows[i] = (float)(ny_hash64(2, NY_STREAM_DATA, i) % 2000) / 8 - 100;
    assert_int_equal(ny_context_new(&ctx), NY_OK);
}

static void stop(void)
{
    assert_int_equal(ny_memory_used(ctx), 0);
    ny_context_free(ctx);
}

static void sleep_s(double seconds)
{
    struct timespec t = {0, (long)(1e9 * seconds)};

    nanosleep(&t, NULL);
}

#endif
