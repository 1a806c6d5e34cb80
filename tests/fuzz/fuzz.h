/*
 * Shared by the fuzzers. Each is one function of some bytes, called by libFuzzer (`make fuzz`) and,
 * with every file of corpus/ and regressions/, by replay.c (`make check`). FUZZ_CHECK is what must
 * hold beyond "no crash".
 */
#ifndef NY_TESTS_FUZZ_H
#define NY_TESTS_FUZZ_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The context of all calls, one thread; the budget also bounds the work for absurd claims. */
static inline struct ny_context *fuzz_context(size_t memory)
{
    static struct ny_context *ctx;

    if (!ctx) {
        FUZZ_CHECK(ny_context_new(&ctx) == NY_OK);
        ny_context_set_memory(ctx, memory);
        ny_context_set_threads(ctx, 1);
    }
    ny_error_clear(ctx);
    return ctx;
}

/* Checks that the status is one that hostile bytes may end in, and that the context has the
 * same. */
static inline int fuzz_status(const struct ny_context *ctx, int status)
{
    FUZZ_CHECK(status == NY_OK || ny_context_error(ctx)->status == status);
    FUZZ_CHECK(status != NY_EINTERNAL && status != NY_EIO && status != NY_END);
    return status;
}

/* Bytes taken one after another; zeros past the end. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

static inline void fuzz_take(struct fuzz_bytes *bytes, void *out, size_t count)
{
    size_t some = count < bytes->left ? count : bytes->left;

    memset(out, 0, count);
    if (some) memcpy(out, bytes->at, some);
    bytes->at += some;
    bytes->left -= some;
}

static inline uint32_t fuzz_number(struct fuzz_bytes *bytes, size_t count)
{
    uint32_t number = 0;

    fuzz_take(bytes, &number, count);
    return number;
}

#endif
