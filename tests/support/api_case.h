/* Shared by tests of the public interface: a context, a folder of its own, and a store in it, which
 * the tests make. */
#ifndef TESTS_SUPPORT_API_CASE_H
#define TESTS_SUPPORT_API_CASE_H

#include "nystream.h"
#include "support/store_case.h"
#include "support/test.h"

static struct {
    struct ny_context *ctx;
    char folder[128], store[160];
} in;

/* `name`: of the store. */
static void api_case_begin(const char *name)
{
    assert_int_equal(ny_context_new(&in.ctx), NY_OK);
    case_directory(in.folder);
    snprintf(in.store, sizeof(in.store), "%s/%s", in.folder, name);
}

static void api_case_end(void)
{
    ny_context_free(in.ctx);
    case_remove(in.folder);
}

#endif
