/* Which eigenvalues stand out of noise: quantiles of the distribution of Tracy and Widom, and an
 * iteration that does not wait for the others. */
#include "base/random.h"
#include "spectral/bulk.h"
#include "spectral/restarted.h"
#include "support/context.h"

/* Published upper quantiles of the distribution for real matrices (Patterson, Price & Reich 2006;
 * Johnstone 2001). */
static const struct {
    double x, p;
} quantiles[] = {{-1.2686, 0.5}, {0.4501, 0.1}, {0.9793, 0.05}, {1.4538, 0.025}, {2.0234, 0.01}};

/* A bulk of eigenvalues that are 1 − s and 1 + s, whose largest has the statistic x: with all of m
 * of them, the number of columns n follows from the mean of the squares, 1 + s² = 1 + (m + 2)/n. */
static double p_at(double x, double m, double n)
{
    double root = sqrt(n - 1) + sqrt(m), centre = root * root / n;
    double spread = root / n * cbrt(1 / sqrt(n - 1) + 1 / sqrt(m));
    double largest = NY_BULK_MARGIN * (centre + x * spread);
    const struct ny_bulk bulk = {m + 1, m, m * (1 + (m + 2) / n), &largest, true};

    return ny_bulk_p(&bulk, 0);
}

TEST(p_values_are_those_of_tables)
{
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
        double p = p_at(quantiles[i].x, 1000, 50000), few = p_at(quantiles[i].x, 60, 80);

        assert_true(fabs(p / quantiles[i].p - 1) < 0.03);
        assert_true(fabs(few / quantiles[i].p - 1) < 0.03);
    }
    assert_true(p_at(40, 1000, 50000) < 1e-30);
    assert_true(p_at(-9, 1000, 50000) > 1 - 1e-9);
    assert_true(isnan(p_at(0, 2, 100)));
}

/* A spike of variance ℓ has the sample value ℓ(1 + γ/(ℓ − 1)) beside noise of mean γ. */
TEST(shrinkage_is_that_of_a_spike)
{
    const double m = 2000, n = 10000, gamma = n / m, variance = 40;
    double value = variance * (1 + gamma / (variance - 1)) / gamma;
    const struct ny_bulk bulk = {m + 2, m + value, m * (1 + (m + 2) / n) + value * value, &value,
                                 true};

    assert_true(fabs(ny_bulk_shrinkage(&bulk, 1, 0) - (variance - 1) / (variance - 1 + gamma)) <
                1e-9);
    value = 0.5;
    assert_true(ny_bulk_shrinkage(&bulk, 1, 0) == 0);
}

/* XXᵀ and XᵀX have the same eigenvalues, but for zeros, and tell the same. */
TEST(shrinkage_is_the_same_by_either_side)
{
    const double n = 4000, d = 1000, value = 30 * n, rest = n * d, squares = n * d * (n + d);
    const struct ny_bulk rows = {n, rest + value, squares + value * value, &value, true};
    const struct ny_bulk columns = {d, rest + value, squares + value * value, &value, false};
    double by_rows = ny_bulk_shrinkage(&rows, 1, 0), by_columns = ny_bulk_shrinkage(&columns, 1, 0);

    assert_true(by_rows > 0.5 && by_rows < 1);
    assert_true(fabs(by_rows - by_columns) < 2e-3);
}

enum { ORDER = 1500, PAIRS = 8, SPIKES = 3, GRID = 1000000 };

/* Eigenvalues of noise, spread as those of Marchenko and Pastur with five columns a row are, and
 * some above them. */
static double make_values(double *lambda)
{
    const double pi = 3.14159265358979323846, root = sqrt(0.2);
    double low = (1 - root) * (1 - root), high = (1 + root) * (1 + root), mass = 0, trace = 0;
    size_t next = SPIKES;

    for (size_t g = GRID; g-- > 0;) { /* quantiles, from above */
        double x = low + (high - low) * ((double)g + 0.5) / GRID;

        mass += sqrt((high - x) * (x - low)) / (2 * pi * 0.2 * x) * (high - low) / GRID;
        while (next < ORDER && mass * (ORDER - SPIKES) >= (double)(next - SPIKES) + 0.5)
            lambda[next++] = x;
    }
    for (; next < ORDER; next++)
        lambda[next] = low;
    for (size_t i = 0; i < SPIKES; i++)
        lambda[i] = 10 - (double)i;
    for (size_t i = 0; i < ORDER; i++)
        trace += lambda[i];
    return trace;
}

/* Iterates on diag(λ), whose trace is given to it after the first product, as a pass tells it. */
static unsigned iterate(struct ny_restarted *it, const double *lambda, double trace, unsigned save)
{
    bool done = false;

    while (!done) {
        struct ny_matrix Q = ny_cols(it->V, it->used - it->count, it->count);

        for (size_t i = 0; i < Q.rows; i++)
            for (size_t k = 0; k < Q.cols; k++)
                it->H.at[i * it->H.stride + k] += lambda[i] * Q.at[i * Q.stride + k];
        it->trace = trace;
        assert_int_equal(ny_restarted_next(it, &done), NY_OK);
        if (it->step != save || done) continue;
        ny_restarted_save(it);
        assert_int_equal(ny_restarted_begin(it, ctx, &it->how, it->state, true), NY_OK);
    }
    return it->step;
}

/* All of a small matrix is known in the end: p is that of its eigenvalues, however many are wanted.
 */
TEST(p_values_are_exact_where_the_basis_is_the_whole_space)
{
    enum { SMALL = 60, MOST = 24 };
    double lambda[SMALL], trace = 0, squares = 0;

    for (size_t i = 0; i < SMALL; i++) {
        lambda[i] = i ? 1.3 - 0.01 * (double)i : 1.8;
        trace += lambda[i];
        squares += lambda[i] * lambda[i];
    }
    for (size_t pairs = 12; pairs <= MOST; pairs += 12) {
        struct ny_restarted_how how = {
            .tolerance = 1e-12, .steps_most = 100, .shape = ny_restarted_shape(SMALL, pairs, 10)};
        const struct ny_bulk bulk = {SMALL, trace, squares, lambda, false};
        struct ny_restarted it;

        how.shape.start = how.shape.width;
        how.shape.bulk = true;
        assert_int_equal(
            ny_restarted_begin(&it, ctx, &how, lend(ny_restarted_state_bytes(&how.shape)), false),
            NY_OK);
        iterate(&it, lambda, trace, 0);
        for (size_t k = 0; k < 4; k++)
            assert_true(fabs(it.p[k] - ny_bulk_p(&bulk, k)) < 1e-9);
    }
}

TEST(pairs_of_noise_are_not_waited_for)
{
    struct ny_restarted_how how = {
        .tolerance = 1e-6, .steps_most = 100, .shape = ny_restarted_shape(ORDER, PAIRS, 10)};
    double *lambda = lend(ORDER * sizeof(*lambda)), trace = make_values(lambda), *state,
           last[PAIRS];
    unsigned steps[3];

    how.shape.start = how.shape.width;
    for (unsigned run = 0; run < 3; run++) { /* to the end; with the test, and with a checkpoint */
        struct ny_restarted it;

        how.shape.bulk = run > 0;
        state = lend(ny_restarted_state_bytes(&how.shape));
        assert_int_equal(ny_restarted_begin(&it, ctx, &how, state, false), NY_OK);
        steps[run] = iterate(&it, lambda, trace, run == 2 ? 3 : 0);
        assert_int_equal(it.converged, PAIRS);
        for (size_t k = 0; k < SPIKES; k++)
            assert_true(fabs(it.values[k] / lambda[k] - 1) < 1e-6);
        if (run == 0) continue;
        for (size_t k = 0; k < PAIRS; k++) {
            assert_true(k < SPIKES ? it.p[k] < 1e-6 : it.p[k] >= NY_BULK_P);
            assert_true(k <= SPIKES || it.p[k] >= it.p[k - 1]);
            assert_true(k < SPIKES ? it.shrinkage[k] > 0.5 : it.shrinkage[k] == 0);
        }
        if (run == 2) assert_memory_equal(last, it.values, sizeof(last));
        memcpy(last, it.values, sizeof(last));
    }
    assert_true(2 * steps[1] < steps[0]);
    assert_int_equal(steps[2], steps[1]);
}

/* The largest of the bulk is raised a little above it. At first its Ritz value is one of noise; and
 * the first block is gone before it is found where the basis is small. */
TEST(a_value_that_hardly_stands_out_is_waited_for)
{
    struct ny_restarted_how how = {
        .tolerance = 1e-4, .steps_most = 100, .shape = ny_restarted_shape(ORDER, PAIRS, 10)};
    double *lambda = lend(ORDER * sizeof(*lambda)), trace = make_values(lambda);

    trace += 0.04 * lambda[SPIKES];
    lambda[SPIKES] *= 1.04;
    how.shape.start = how.shape.width;
    how.shape.bulk = true;
    for (unsigned blocks = 4; blocks <= 12; blocks += 8) {
        struct ny_restarted it;
        double *state;

        how.shape.most = blocks * how.shape.width;
        state = lend(ny_restarted_state_bytes(&how.shape));
        assert_int_equal(ny_restarted_begin(&it, ctx, &how, state, false), NY_OK);
        assert_in_range(iterate(&it, lambda, trace, 0), 5, 20);
        assert_true(it.p[SPIKES] < NY_BULK_P && it.p[SPIKES + 1] >= NY_BULK_P);
        assert_true(fabs(it.values[SPIKES] / lambda[SPIKES] - 1) < 1e-4);
    }
}

AROUND_EACH(start, stop)
