/* Tests what option accuracy goes by: the curve through attempts, and a sample of rows. */
#include "support/test.h"

#include "api/curve.h"
#include "base/memory.h"
#include "nystream.h"
#include "stream/rows_memory.h"
#include "stream/rows_sample.h"

/* ---- the curve ------------------------------------------------------------------------------ */

/* Attempts at errors that fall as m^−slope, 1 with 100 landmarks. */
static struct ny_curve curve_of(double slope, const double *m, size_t count)
{
    struct ny_curve curve = {0};

    for (size_t i = 0; i < count; i++)
        ny_curve_add(&curve, m[i], pow(m[i] / 100, -slope));
    return curve;
}

/* Between attempts a power law is followed; behind them the error is to fall faster. */
TEST(a_power_law_is_followed)
{
    static const double around[] = {800, 100}, before[] = {200, 100}; /* in any order */

    for (double slope = 1; slope < 3; slope += 0.5) {
        struct ny_curve curve = curve_of(slope, around, 2);
        size_t next = ny_curve_next(&curve, pow(4, -slope)); /* 400 are right */

        assert_in_range(next, 400, 440);
        assert_in_range(ny_curve_foretold(&curve, pow(4, -slope)), next, 1.2 * (double)next);
        curve = curve_of(slope, before, 2);
        assert_in_range(ny_curve_next(&curve, pow(4, -slope)), 300, 400);
    }
}

TEST(far_beyond_the_attempts_steps_are_bounded)
{
    static const double m[] = {100, 200};
    struct ny_curve one = curve_of(1, m, 1), two = curve_of(1, m, 2);

    assert_int_equal(ny_curve_next(&one, 1e-3), 800);
    assert_int_equal(ny_curve_next(&two, 1e-3), 600);
    assert_true(ny_curve_foretold(&two, 1e-3) > 5000);
}

TEST(an_attempt_that_is_right_stays_unless_far_fewer_are_enough)
{
    static const double near[] = {100, 120}, far[] = {100, 400};
    struct ny_curve curve = curve_of(1, near, 2);

    assert_int_equal(ny_curve_next(&curve, 0.9), 120);
    curve = curve_of(1, far, 2);
    assert_in_range(ny_curve_next(&curve, 0.5), 200, 240);
    ny_curve_add(&curve, 208, 0.51); /* it was not enough, and is replaced when it is made again */
    ny_curve_add(&curve, 208, 0.52);
    assert_int_equal(curve.count, 3);
    assert_in_range(ny_curve_next(&curve, 0.5), 216, 240);
    curve = curve_of(1, near, 1); /* nothing is known of fewer */
    assert_int_equal(ny_curve_next(&curve, 1), 100);
}

/* ---- the sample ----------------------------------------------------------------------------- */

enum { N = 10000, D = 3, COUNT = 700 };

static struct ny_context *ctx;
static float values[N][D];
static uint32_t start[N + 1], column[N];

static void make(void)
{
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (size_t i = 0; i < N; i++) {
        values[i][0] = (float)(i + 1);
        start[i + 1] = (uint32_t)(i + 1);
        column[i] = (uint32_t)(i % D);
    }
}

static void drop(void)
{
    ny_context_free(ctx);
}
AROUND_ALL(make, drop)

/* Rows 1, 2, … N, in their first column or in one after another. */
static struct ny_rows *rows_of(bool sparse)
{
    struct ny_memory_rows memory = {.name = "rows"};
    struct ny_kept_rows *kept = &memory.kept;
    struct ny_rows *X;
    float *ones = lend(sizeof(float) * N);

    for (size_t i = 0; i < N; i++)
        ones[i] = (float)(i + 1);
    *kept = (struct ny_kept_rows){.dtype = NY_F32, .n = N, .d = D, .index_bytes = 4};
    kept->values = ny_borrowed_of(sparse ? (void *)ones : values, sizeof(values));
    if (sparse) kept->row_start = start, kept->column = column, kept->start_bytes = 4;
    assert_int_equal(ny_rows_of_memory(&X, ctx, &memory), NY_OK);
    return X;
}

/* Reads which rows a sample has. */
static void read(const struct ny_row_sample *sample, bool sparse, double *row)
{
    struct ny_rows *X = ny_row_sample_rows(sample);
    struct ny_rows_info info;
    char *raw;
    size_t bytes;

    assert_int_equal(X->ops->info(X, &info), NY_OK);
    assert_int_equal(info.n, COUNT);
    bytes = ny_rows_row_bytes(&info);
    raw = lend(bytes * COUNT);
    assert_int_equal(X->ops->read(X, (size_t)info.row_slots, 0, COUNT, raw), NY_OK);
    for (size_t i = 0; i < COUNT; i++) {
        const void *at = raw + i * bytes;

        if (sparse) at = ny_sparse_of(at, (size_t)info.row_slots).value;
        row[i] = *(const float *)at;
    }
}

TEST(a_sample_has_rows_from_everywhere_once)
{
    double row[COUNT], again[COUNT], other[COUNT], sum = 0;

    for (int sparse = 0; sparse < 2; sparse++) {
        struct ny_rows *X = rows_of(sparse);
        struct ny_row_sample *sample;
        struct ny_rows_stats stats;

        for (int seed = 1; seed >= 0; seed--) {
            assert_int_equal(ny_row_sample_take(&sample, X, COUNT, (uint64_t)seed), NY_OK);
            read(sample, sparse, seed ? other : sparse ? again : row);
            if (seed) ny_row_sample_free(sample);
        }
        X->ops->stats(ny_row_sample_rows(sample), &stats);
        assert_int_equal(stats.n, COUNT);
        ny_rows_stats_release(&stats, ctx);
        ny_row_sample_free(sample);
        ny_memory_rows_free(X);
    }
    assert_memory_equal(row, again, sizeof(row)); /* of both layouts the same */
    assert_memory_not_equal(row, other, sizeof(row));
    for (size_t i = 0; i < COUNT; i++) {
        if (i) assert_true(row[i] > row[i - 1]);
        sum += row[i];
    }
    assert_near(sum / COUNT, N / 2.0, N / 100.0);
}

TEST(a_sample_of_all_rows_has_them_all)
{
    struct ny_rows *X = rows_of(false);
    struct ny_row_sample *sample;
    struct ny_rows_info info;

    assert_int_equal(ny_row_sample_take(&sample, X, 2 * N, 1), NY_OK);
    CHECK(ny_row_sample_rows(sample)->ops->info(ny_row_sample_rows(sample), &info));
    assert_int_equal(info.n, N);
    for (size_t i = 0; i < N; i += 999) {
        float got[D];

        CHECK(ny_row_sample_rows(sample)->ops->read(ny_row_sample_rows(sample), 0, i, 1, got));
        assert_memory_equal(got, values[i], sizeof(got));
    }
    ny_row_sample_free(sample);
    ny_memory_rows_free(X);
}
