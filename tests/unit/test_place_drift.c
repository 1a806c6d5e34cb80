/* place/drift.h: which new rows are measured, and from where on their drift is large. */
#include "support/context.h"

#include "base/compare.h"
#include "base/random.h"
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

TEST(test_a_stream_gives_the_rows_that_are_drawn)
{
    enum { ROOM = 8 };

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
TEST(test_rows_are_drawn_from_everywhere)
{
    enum { ROWS = 1000000, SLICE = 512 };
    size_t room = ny_drift_room(8), count, odd = 0;
    uint64_t numbers[2048];

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

/* Bytes of a sample under a budget of 2 MiB, without the header of its block. */
static size_t sample_takes(size_t row_bytes, size_t most)
{
    struct ny_layout counted = {0};
    uint64_t limit = ny_context_memory(ctx);

    ny_context_set_memory(ctx, 2 << 20);
    ny_drift_sample_count(&counted, ny_memory_limit(ctx), row_bytes, most);
    ny_context_set_memory(ctx, limit);
    return ny_layout_most(&counted) - 64;
}

TEST(test_wide_rows_are_fewer)
{
    assert_int_equal(ny_drift_room(8 << 10), 2048);
    assert_int_equal(ny_drift_room((8 << 10) + 1), 1024);
    assert_int_equal(ny_drift_room(1 << 20), 256);
    assert_int_equal(sample_takes(8, SIZE_MAX), 2048 * 8);
    assert_int_equal(sample_takes(8, 64), 64 * 8);
    assert_int_equal(sample_takes(1 << 10, SIZE_MAX), 128 << 10);
    assert_int_equal(sample_takes(1 << 20, SIZE_MAX), 0);
}

/* ---- the rule ------------------------------------------------------------------------------- */

static double share_up_to(const double *values, size_t count, double at)
{
    size_t below = 0;

    for (size_t i = 0; i < count; i++)
        below += values[i] <= at;
    return (double)below / (double)count;
}

/* The distance is the largest over all values, whatever repeats. */
TEST(test_the_distance_is_that_of_all_values)
{
    enum { A = 40, B = 25 };

    for (uint64_t round = 0; round < 200; round++) {
        double a[A], b[B], most = 0;
        double few = round % 2 ? 9 : 1e6; /* of so many different values many repeat */

        for (size_t i = 0; i < A; i++)
            a[i] = floor(few * ny_hash01(round, 1, i));
        for (size_t i = 0; i < B; i++)
            b[i] = floor(few * ny_hash01(round, 2, i)) + (double)(round % 5);
        qsort(a, A, sizeof(double), ny_compare_doubles);
        qsort(b, B, sizeof(double), ny_compare_doubles);
        for (size_t i = 0; i < A + B; i++) {
            double at = i < A ? a[i] : b[i - A];

            most = fmax(most, fabs(share_up_to(a, A, at) - share_up_to(b, B, at)));
        }
        assert_true(fabs(ny_drift_distance(a, A, b, B, false) - most) < 1e-12);
        assert_true(fabs(ny_drift_distance(b, B, a, A, false) - most) < 1e-12);
        assert_true(fabs(fmax(ny_drift_distance(a, A, b, B, true),
                              ny_drift_distance(b, B, a, A, true)) - most) < 1e-12);
    }
}

TEST(test_rows_that_are_far_are_a_drift_unless_they_are_few)
{
    struct ny_drift drift = {.distance = 0.36, .rows = 100, .of_fit = 512};

    assert_true(ny_drift_is_large(&drift));
    drift.distance = 0.34;
    assert_false(ny_drift_is_large(&drift));
    drift = (struct ny_drift){.distance = 0.6, .rows = 9, .of_fit = 512};
    assert_false(ny_drift_is_large(&drift)); /* chance makes 0.62 of so few */
    drift.distance = 0.63;
    assert_true(ny_drift_is_large(&drift));
    drift = (struct ny_drift){.distance = 1, .rows = 3, .of_fit = 512};
    assert_false(ny_drift_is_large(&drift));
    drift = ny_drift_unknown;
    assert_false(ny_drift_is_large(&drift));
}

/* Rows that are drawn alike: fewer than one case in 200 is a drift, however few they are. */
TEST(test_false_alarms)
{
    enum { FIT = 512, CASES = 2000 };
    static const size_t rows[] = {4, 10, 20, 64};
    size_t alarms = 0;

    for (uint64_t c = 0; c < CASES; c++) {
        struct ny_drift drift = {.of_fit = FIT, .rows = rows[c % 4]};
        double fit[FIT], new[64];

        for (size_t i = 0; i < FIT; i++)
            fit[i] = ny_hash01(c, 3, i);
        for (size_t i = 0; i < drift.rows; i++)
            new[i] = ny_hash01(c, 4, i);
        qsort(fit, FIT, sizeof(double), ny_compare_doubles);
        qsort(new, drift.rows, sizeof(double), ny_compare_doubles);
        drift.distance = ny_drift_distance(fit, FIT, new, drift.rows, false);
        alarms += ny_drift_is_large(&drift);
    }
    assert_true(alarms < CASES / 200);
}

AROUND_ALL(start, stop)
