/* Parts of a result that no job has written, and what is then answered (support/hostile_case.h). */
#ifndef TESTS_SUPPORT_HOSTILE_PARTS_H
#define TESTS_SUPPORT_HOSTILE_PARTS_H

#include "base/memory.h"
#include "support/hostile_case.h"

/* Puts bytes in the place of a part of the result "r". */
static void put(const char *part, const void *data, size_t bytes)
{
    OWNED(ny_store) *store = NULL;

    assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
    assert_int_equal(ny_blob_put(store, "r", part, data, bytes), NY_OK);
}

/* Fails unless a call gave this status, and all memory back. */
static void is(int err, int wanted)
{
    if (err != wanted) fail_msg("%d, not %d: %s", err, wanted, ny_context_message(in.ctx));
    assert_int_equal(ny_memory_used(in.ctx), 0);
}

#endif
