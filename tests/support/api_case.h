/* Shared by tests of the public interface: a context, a folder of its own, and a store in it, which
 * the tests make. */
#ifndef TESTS_SUPPORT_API_CASE_H
#define TESTS_SUPPORT_API_CASE_H

#include "nystream.h"
#include "support/store_case.h"
#include "support/test.h"

struct api_case {
    struct ny_context *ctx;
    char folder[128], store[160];
};

/* `name`: of the store. */
static void api_case_begin(struct api_case *c, const char *name)
{
    assert_int_equal(ny_context_new(&c->ctx), NY_OK);
    case_directory(c->folder);
    snprintf(c->store, sizeof(c->store), "%s/%s", c->folder, name);
}

static void api_case_end(struct api_case *c)
{
    ny_context_free(c->ctx);
    case_remove(c->folder);
}

#endif
