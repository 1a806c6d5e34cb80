/* base/budget.h: the most workers that fit, the least budget that works, and the sentence that
 * refuses one that does not. */
#include "base/budget.h"
#include "support/test.h"

/* A share of the budget, limited, goes to buffers in whole pieces. */
struct sizes {
    size_t fixed, per_worker, piece, most;
};

static void count(struct ny_layout *l, const void *arg, unsigned workers, size_t limit)
{
    const struct sizes *sizes = arg;
    size_t share = limit / 4 < sizes->most ? limit / 4 : sizes->most;
    size_t bytes = sizes->fixed + workers * sizes->per_worker + share - share % sizes->piece;

    ny_layout_add(l, NY_MEM_OTHER, bytes);
}

static const struct sizes cases[] = {
    {1000, 10, 1, 50},        {1000, 1, 1, 100000},     {7, 3, 100, 100000},
    {123456, 789, 64, 50000}, {1 << 20, 0, 4096, 8192}, {0, 1, 1, 0},
};

TEST(test_the_least_budget_is_enough_and_no_less_is)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t least = ny_budget_least(count, &cases[i]);

        assert_true(ny_budget_held(count, &cases[i], 1, least) <= least);
        for (size_t less = 0; less < least; less += 1 + least / 5000)
            assert_true(ny_budget_held(count, &cases[i], 1, less) > less);
        assert_true(ny_budget_held(count, &cases[i], 1, least - 1) > least - 1);
    }
}

TEST(test_workers_are_the_most_that_fit)
{
    for (size_t limit = 900; limit < 1500; limit++) {
        unsigned workers = ny_budget_workers(count, &cases[0], 16, limit);

        assert_true(workers <= 16);
        assert_true(workers == 0 || ny_budget_held(count, &cases[0], workers, limit) <= limit);
        assert_true(workers == 16 || ny_budget_held(count, &cases[0], workers + 1, limit) > limit);
    }
}

TEST(test_one_worker_stays_where_nothing_is_left)
{
    OWNED(ny_context) *ctx = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_memory(ctx, 1100);
    assert_int_equal(ny_budget_workers_left(ctx, count, &cases[0], 16), 5);
    assert_int_equal(ny_reserve(ctx, NY_MEM_OTHER, 1000), NY_OK);
    assert_int_equal(ny_budget_workers_left(ctx, count, &cases[0], 16), 1);
    ny_unreserve(ctx, NY_MEM_OTHER, 1000);
}

TEST(test_a_refusal_names_the_budget_that_works)
{
    OWNED(ny_context) *ctx = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_memory(ctx, 3 << 20);
    assert_int_equal(ny_budget_refuse(ctx, "fit", 5 << 20, " with 9 landmarks", ", or fewer"),
                     NY_EBUDGET);
    assert_string_equal(ny_context_message(ctx),
                        "this fit needs 5242880 bytes (5.0 MiB) with 9 landmarks, but the budget "
                        "is 3.0 MiB; give --memory 6M, or fewer");
    ny_error_clear(ctx);
    /* bytes that are held already are part of those that are needed */
    assert_int_equal(ny_reserve(ctx, NY_MEM_OTHER, 1 << 20), NY_OK);
    assert_int_equal(ny_budget_need(ctx, "plot", 2 << 20), NY_OK);
    assert_int_equal(ny_budget_need(ctx, "plot", 4 << 20), NY_EBUDGET);
    assert_string_equal(ny_context_message(ctx),
                        "this plot needs 5242880 bytes (5.0 MiB), but the budget is 3.0 MiB; give "
                        "--memory 6M");
    ny_unreserve(ctx, NY_MEM_OTHER, 1 << 20);
}
