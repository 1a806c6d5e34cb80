/* place/drift.h: which new rows are measured, and from where on their drift is large. */
#include "support/context.h"

#include <math.h>

#include "place/drift.h"

/* ---- which rows ----------------------------------------------------------------------------- */

/* The rows of this source are their numbers. */
static int numbers_of(struct ny_source *source, const struct ny_tile *tile, size_t first,
                      size_t count, void *rows)
{
    (void)source;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)rows)[i] = tile->first_row + first + i;
    return NY_OK;
}

/* Offers so many rows, some at a time. */
static void stream(struct ny_drift_sample *sample, uint64_t rows)
{
    static const struct ny_source_ops ops = {.strip = numbers_of};
    struct ny_source source = {.ops = &ops};
    struct ny_tile tile = {.source = &source};

    for (; tile.first_row < rows; tile.first_row += tile.rows) {
        tile.rows = rows - tile.first_row < 37 ? (size_t)(rows - tile.first_row) : 37;
        assert_int_equal(ny_drift_sample_take(sample, &tile), NY_OK);
    }
}

static void test_a_stream_gives_the_rows_that_are_drawn(void **state)
{
    enum { ROOM = 8 };

    (void)state;
    for (uint64_t rows = 1; rows < 300; rows++) {
        struct ny_drift_sample sample;
        uint64_t numbers[ROOM];
        size_t count = ny_drift_draw(rows, ROOM, numbers);

        ny_drift_sample_begin(&sample, ctx, sizeof(uint64_t), ROOM);
        assert_int_equal(sample.room, ROOM);
        stream(&sample, rows);
        assert_int_equal(sample.count, count);
        assert_memory_equal(sample.rows, numbers, count * sizeof(uint64_t));
        assert_true(rows <= ROOM ? count == rows : count >= ROOM / 2 && count <= ROOM);
        ny_drift_sample_release(&sample);
    }
}

/* Each slice has one, and of rows that alternate both kinds come. */
static void test_rows_are_drawn_from_everywhere(void **state)
{
    enum { ROWS = 1000000, SLICE = 512 };
    size_t room = ny_drift_room(8), count, odd = 0;
    uint64_t numbers[2048];

    (void)state;
    assert_int_equal(room, 2048);
    count = ny_drift_draw(ROWS, room, numbers);
    assert_in_range(count, ROWS / SLICE, ROWS / SLICE + 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(numbers[i] / SLICE, i);
        odd += numbers[i] % 2;
    }
    assert_in_range(odd, 2 * count / 5, 3 * count / 5);
    assert_int_equal(ny_drift_draw(0, room, numbers), 0);
}

static void test_wide_rows_are_fewer(void **state)
{
    (void)state;
    assert_int_equal(ny_drift_room(8 << 10), 2048);
    assert_int_equal(ny_drift_room((8 << 10) + 1), 1024);
    assert_int_equal(ny_drift_room(1 << 20), 256);
    assert_int_equal(ny_drift_sample_bytes(8, SIZE_MAX, 1 << 20), 2048 * 8);
    assert_int_equal(ny_drift_sample_bytes(8, 64, 1 << 20), 64 * 8);
    assert_int_equal(ny_drift_sample_bytes(1 << 10, SIZE_MAX, 1 << 20), 128 << 10);
    assert_int_equal(ny_drift_sample_bytes(1 << 20, SIZE_MAX, 1 << 20), 0);
}

/* ---- the rule ------------------------------------------------------------------------------- */

enum { MOST = 100 };

/* Returns the drift of so many rows, the first ones of which are left out wholly, and of the others
 * a thousandth; k(x,x) of the first row is `first`. */
static struct ny_drift drift_of(size_t rows, size_t out, double first, double fitted)
{
    struct ny_drift drift = {.fitted = fitted};
    float residuals[MOST];
    double diagonal[MOST];

    for (size_t i = 0; i < rows; i++) {
        diagonal[i] = i ? 1 : first;
        residuals[i] = i < out ? (float)diagonal[i] : 1e-3F;
    }
    ny_drift_of_rows(residuals, diagonal, rows, &drift);
    return drift;
}

static void test_one_row_alone_is_no_drift(void **state)
{
    struct ny_drift drift = drift_of(MOST, 1, 1, 1e-3);

    (void)state;
    assert_true(drift.share > 10 * drift.fitted);
    assert_true(fabs(drift.share - drift.error - 1e-3) < 1e-6);
    assert_false(ny_drift_is_large(&drift));
    drift = drift_of(MOST, 1, 1e6, 1e-3); /* it has nearly all of the trace */
    assert_true(drift.share > 0.99);
    assert_false(ny_drift_is_large(&drift));
}

/* Residuals of the others that are larger than their k(x,x), as rounding makes them: without the
 * row that has the trace, they would be left out a thousand times. */
static void test_residuals_beyond_the_trace_are_no_large_error(void **state)
{
    const double diagonal[] = {1e3, 1e-9, 1e-9, 1e-9, 1e-9};
    const float residuals[] = {1e3F, 1e-6F, 1e-6F, 1e-6F, 1e-6F};
    struct ny_drift drift = {.fitted = 1e-3};

    (void)state;
    ny_drift_of_rows(residuals, diagonal, 5, &drift);
    assert_true(fabs(drift.share - 1) < 1e-6 && drift.error < 1e-6);
    assert_true(ny_drift_is_large(&drift));
}

static void test_many_rows_are_a_drift(void **state)
{
    struct ny_drift drift = drift_of(MOST, MOST / 10, 1, 1e-3);

    (void)state;
    assert_true(ny_drift_is_large(&drift));
    drift.fitted = NAN; /* less than half then counts nothing */
    assert_false(ny_drift_is_large(&drift));
    drift = drift_of(MOST, MOST, 1, 0.02);
    assert_true(drift.share == 1 && drift.error < 1e-6);
    assert_true(ny_drift_is_large(&drift));
    drift.fitted = NAN;
    assert_true(ny_drift_is_large(&drift));
}

static void test_most_of_the_trace_is_a_drift_but_for_a_poor_fit(void **state)
{
    struct ny_drift drift = drift_of(MOST, 7 * MOST / 10, 1, 0.2);

    (void)state;
    assert_true(ny_drift_is_large(&drift));
    drift.fitted = 0.4;
    assert_false(ny_drift_is_large(&drift));
    drift = drift_of(MOST, MOST, 1, 0.9); /* nothing is kept, where a tenth was */
    assert_true(ny_drift_is_large(&drift));
}

/* One row has no standard error: only more than half counts. */
static void test_a_row_by_itself(void **state)
{
    struct ny_drift drift = drift_of(1, 0, 1, 1e-5);

    (void)state;
    assert_true(isnan(drift.error));
    assert_false(ny_drift_is_large(&drift));
    drift = drift_of(1, 1, 1, 1e-5);
    assert_true(ny_drift_is_large(&drift));
}

static void test_rows_without_a_trace_have_no_drift(void **state)
{
    struct ny_drift drift = drift_of(1, 1, 0, 1e-3);

    (void)state;
    assert_true(isnan(drift.share) && isnan(drift.error));
    assert_false(ny_drift_is_large(&drift));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_gives_the_rows_that_are_drawn),
        cmocka_unit_test(test_rows_are_drawn_from_everywhere),
        cmocka_unit_test(test_wide_rows_are_fewer),
        cmocka_unit_test(test_one_row_alone_is_no_drift),
        cmocka_unit_test(test_residuals_beyond_the_trace_are_no_large_error),
        cmocka_unit_test(test_many_rows_are_a_drift),
        cmocka_unit_test(test_most_of_the_trace_is_a_drift_but_for_a_poor_fit),
        cmocka_unit_test(test_a_row_by_itself),
        cmocka_unit_test(test_rows_without_a_trace_have_no_drift),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
