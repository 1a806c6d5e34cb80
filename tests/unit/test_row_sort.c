/* io/row_sort.c: entries in any order become rows, in memory or by way of a file. */
#include "reader_support.h"

#include "base/random.h"
#include "io/row_sort.h"

enum { ROWS = 3000, COLUMNS = 700, ENTRIES = 200000 };

static uint64_t row_of(uint64_t k)
{
    uint64_t r = ny_hash64(1, NY_STREAM_DATA, k);

    return r % 5 ? r / 5 % ROWS : r / 5 % 40; /* some rows are fuller */
}

static uint32_t column_of(uint64_t k)
{
    return (uint32_t)(ny_hash64(2, NY_STREAM_DATA, k) % COLUMNS);
}

/* Sorts all entries, whose values are their numbers, and checks that each row has its own in the
 * order in which they came. */
static int sort_all(const char *folder, size_t budget)
{
    struct ny_reader reader = {.ctx = ctx, .path = "m.mtx", .options = {.scratch = folder}};
    const struct ny_row_sort_spec spec = {ROWS, ENTRIES, NY_F64};
    static uint64_t seen;
    struct ny_row_sort *sort;
    int err;

    ny_error_clear(ctx);
    ny_context_set_memory(ctx, budget);
    seen = 0;
    err = ny_row_sort_new(&sort, &reader, &spec);
    for (uint64_t k = 0; !err && k < ENTRIES; k++) {
        double value = (double)k;

        err = ny_row_sort_add(sort, row_of(k), column_of(k), &value);
    }
    for (uint64_t row = 0; !err && row < ROWS; row++) {
        struct ny_row_entries entries;
        double last = -1;

        err = ny_row_sort_row(sort, row, &entries);
        for (size_t k = 0; !err && k < entries.count; k++) {
            double value = ((const double *)entries.value)[k];

            assert_true(value > last);
            assert_int_equal(row_of((uint64_t)value), row);
            assert_int_equal(column_of((uint64_t)value), ((const uint32_t *)entries.column)[k]);
            last = value;
            seen++;
        }
    }
    ny_row_sort_free(sort);
    assert_int_equal(ny_memory_used(ctx), 0);
    ny_context_set_memory(ctx, 64 << 20);
    if (!err) assert_int_equal(seen, ENTRIES);
    return err;
}

TEST(entries_are_sorted_under_any_budget)
{
    for (size_t budget = 4 << 20; budget <= 64 << 20; budget *= 4)
        assert_int_equal(sort_all(directory, budget), NY_OK);
}

TEST(what_fails_is_named)
{
    assert_int_equal(sort_all("/nowhere", 2 << 20), NY_EIO);
    assert_int_equal(sort_all(directory, 64 << 10), NY_EBUDGET);
    assert_non_null(strstr(ny_context_message(ctx), "--memory"));
}

AROUND_ALL(support_setup, remove_folder)
