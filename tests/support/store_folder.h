/* Set-up of the tests of a store: a context, a folder of its own and the path of a store in it,
 * which the tests make. In the end all memory that was charged to the context has been given
 * back. */
#ifndef TESTS_SUPPORT_STORE_FOLDER_H
#define TESTS_SUPPORT_STORE_FOLDER_H

#include "base/memory.h"
#include "support/store_case.h"
#include "support/test.h"

static struct ny_context *ctx;
static char directory[128], path[160];

static inline int make_folder(void **state)
{
    (void)state;
    if (ny_context_new(&ctx)) return -1;
    case_directory(directory);
    snprintf(path, sizeof(path), "%s/a.nys", directory);
    return 0;
}

static inline int remove_folder(void **state)
{
    size_t left = ny_memory_used(ctx);

    (void)state;
    ny_context_free(ctx);
    case_remove(directory);
    return left == 0 ? 0 : -1;
}

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != NY_OK) fail_msg("%s: %s", #call, ny_context_message(ctx));                   \
    } while (0)

/* The call fails so. */
static inline void refused(int got, int status)
{
    assert_int_equal(got, status);
    assert_int_equal(ny_context_error(ctx)->status, status);
    ny_error_clear(ctx);
}

#endif
