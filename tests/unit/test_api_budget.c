/*
 * The budget of a context, beside imports and appenders: these take 256 MiB of it at most, beside
 * what handles hold, and leave it as the caller has set it.
 */
#include "base/memory.h"
#include "unit/table_case.h"

static const size_t mib = 1 << 20;

TEST(rows_are_appended_beside_large_handles)
{
    struct ny_table table = dense(NY_F32, 0);
    OWNED(ny_model) *model = NULL;
    void *held;

    ny_context_set_memory(in.ctx, 2048 * mib);
    held = ny_alloc(in.ctx, NY_MEM_OTHER, 300 * mib); /* such as a model, or sums */
    assert_non_null(held);
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_embed(in.ctx, &table, NULL, NULL, &model, NULL));
    ny_context_set_memory(in.ctx, 310 * mib);
    fails(NY_EBUDGET, ny_append(in.ctx, in.store, &table, NULL, NULL));
    ny_free(in.ctx, held);
}

TEST(an_import_leaves_the_budget_as_it_was)
{
    struct ny_table table = dense(NY_F32, 0);

    ny_context_set_memory(in.ctx, 0);
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    assert_true(ny_context_memory_is_default(in.ctx));
}

TEST(the_budget_beside_an_appender_is_the_callers)
{
    struct ny_table table = dense(NY_F32, 0);
    struct ny_appender *first, *second;
    char *other = lend_text("%s-other", in.store);

    ny_context_set_memory(in.ctx, 600 * mib);
    ok(ny_appender_open(&first, in.ctx, in.store, NULL));
    assert_true(ny_context_memory(in.ctx) == 600 * mib);
    ok(ny_appender_open(&second, in.ctx, other, NULL));
    ok(ny_appender_put(first, &table));
    ok(ny_appender_put(second, &table));
    assert_true(ny_memory_limit(in.ctx) == 600 * mib);
    ny_context_set_memory(in.ctx, 500 * mib);
    ok(ny_appender_commit(first, NULL));
    ny_appender_free(first);
    ny_appender_free(second);
    assert_true(ny_context_memory(in.ctx) == 500 * mib);
    assert_true(ny_memory_limit(in.ctx) == 500 * mib);
    assert_int_equal(ny_memory_used(in.ctx), 0);
}

AROUND_EACH(setup, api_case_end)
