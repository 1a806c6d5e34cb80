/* Set-up of tests that write files: a context and a folder of its own. In the end all memory that
 * was charged to the context has been given back. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include "base/memory.h"
#include "support/store_case.h"
#include "support/test.h"

static struct ny_context *ctx;
static char directory[128];

static inline void new_folder(void)
{
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    case_directory(directory);
}

static inline void remove_folder(void)
{
    size_t left = ny_memory_used(ctx);

    ny_context_free(ctx);
    case_remove(directory);
    assert_int_equal(left, 0);
}

#endif
