/* select/uniform.c. What holds of every rule: property/test_contract_rules.c. */
#include "base/random.h"
#include "select/rules.h"
#include "support/context.h"

OWNS(ny_selection, ny_selection_release(at, ctx))

static struct ny_selection uniform(uint64_t n, size_t m, uint64_t seed)
{
    const struct ny_selection_request request = {
        .ctx = ctx, .n = n, .seed = seed, .landmarks = m, .workers = 2};
    struct ny_selection selection;

    assert_int_equal(ny_rule_find("uniform")->select(&request, &selection), NY_OK);
    return selection;
}

struct draw {
    double hash;
    uint64_t row;
};

static int by_hash(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

TEST(uniform_takes_the_smallest_hashes_in_order)
{
    enum { N = 30011 };
    static const size_t sizes[] = {1, 2, 3, 17, 1000, N - 1, N};
    struct draw *all = lend(sizeof(*all) * N);

    for (uint64_t seed = 0; seed < 3; seed++) {
        for (uint64_t i = 0; i < N; i++)
            all[i] = (struct draw){ny_hash01(seed, NY_STREAM_LANDMARKS, i), i};
        qsort(all, N, sizeof(*all), by_hash);
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            struct ny_selection selection = uniform(N, sizes[s], seed);

            assert_int_equal(selection.m, sizes[s]);
            for (size_t i = 0; i < selection.m; i++)
                assert_int_equal(selection.rows[i], all[i].row);
            assert_null(selection.residuals);
            assert_true(isnan(selection.residual_max) && isnan(selection.residual_mean) &&
                        isnan(selection.tolerance));
            assert_true(selection.passes == 0 && selection.rows_read == 0 && selection.flops == 0);
            ny_selection_release(&selection, ctx);
            assert_null(selection.rows);
        }
    }
}

TEST(a_smaller_uniform_selection_is_a_prefix)
{
    OWNED(ny_selection) large = uniform(50000, 3000, 7);

    for (size_t m = 1; m < 3000; m = m * 3 + 1) {
        OWNED(ny_selection) small = uniform(50000, m, 7);

        assert_memory_equal(small.rows, large.rows, m * sizeof(uint64_t));
    }
}

/* More rows only push rows out: those that stay keep their order. */
TEST(appended_rows_push_rows_out)
{
    struct ny_selection before = uniform(20000, 500, 3), after = uniform(26000, 500, 3);
    size_t kept = 0, at = 0;

    for (size_t i = 0; i < 500; i++) {
        if (after.rows[i] >= 20000) continue;
        while (at < 500 && before.rows[at] != after.rows[i])
            at++;
        assert_true(at < 500);
        kept++;
    }
    assert_in_range(kept, 300, 480); /* 500·20/26 = 385 */
    ny_selection_release(&before, ctx);
    ny_selection_release(&after, ctx);
}

/* Each row equally often, and each pair of halves: counts over seeds within five deviations. */
TEST(uniform_is_uniform)
{
    enum { N = 40, M = 10, SEEDS = 4000 };
    int count[N] = {0}, pairs = 0;
    double p = (double)M / N, sd = sqrt(SEEDS * p * (1 - p));

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        OWNED(ny_selection) selection = uniform(N, M, seed);
        int seen = 0;

        for (size_t i = 0; i < M; i++) {
            count[selection.rows[i]]++;
            seen += selection.rows[i] == 3 || selection.rows[i] == 29;
        }
        pairs += seen == 2;
    }
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(count[i] - SEEDS * p) < 5 * sd);
    p *= (double)(M - 1) / (N - 1);
    assert_true(fabs(pairs - SEEDS * p) < 5 * sqrt(SEEDS * p * (1 - p)));
}

TEST(uniform_stops_when_interrupted)
{
    const struct ny_selection_request request = {
        .ctx = ctx, .n = UINT64_C(1) << 40, .landmarks = 10};
    struct ny_selection selection;

    ny_context_interrupt(ctx, 2);
    assert_int_equal(ny_rule_find("uniform")->select(&request, &selection), NY_EINTERRUPTED);
    ny_context_interrupt(ctx, 0);
    ny_error_clear(ctx);
}

AROUND_EACH(start, stop)
