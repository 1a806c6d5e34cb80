/* Views of results that are made anew, evaluated or removed while they are viewed. */
#include "support/options.h"
#include "support/results.h"
#include "unit/table_case.h"

static void fit(const char *name, const char *components)
{
    must_fit(in.ctx, in.store, name, NULL, "components=%s landmarks=40 restart=yes", components);
}

/* Opens a view of result "a", of two components, of a store of its own. */
static struct ny_view *viewed(void)
{
    struct ny_table table = dense(NY_F32, 0);
    struct ny_view *view;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    fit("a", "2");
    ok(ny_view_open(&view, in.ctx, in.store, "a"));
    return view;
}

/* No call reads rows of the fit that came in the place of that which was opened. */
static void check_refused(struct ny_view *view)
{
    static float rows[ROWS * 2];
    uint64_t numbers[] = {5, 2}, count;

    fails(NY_EUSAGE, ny_view_read(view, "embedding", 0, ROWS, rows));
    fails(NY_EUSAGE, ny_view_gather(view, "embedding", numbers, 2, rows));
    fails(NY_EUSAGE, ny_view_shape(view, "embedding", &count, NULL, NULL));
}

TEST(a_result_that_is_fitted_anew_needs_a_new_view)
{
    struct ny_view *view = viewed();
    uint64_t columns;

    fit("a", "3");
    check_refused(view);
    ny_view_free(view);
    ok(ny_view_open(&view, in.ctx, in.store, "a"));
    ok(ny_view_shape(view, "embedding", NULL, &columns, NULL));
    assert_int_equal(columns, 3);
    ny_view_free(view);
}

TEST(a_result_that_is_removed_is_not_read)
{
    OWNED(ny_view) *view = viewed();

    ok(ny_remove(in.ctx, in.store, "a"));
    check_refused(view);
}

/* Other results are fitted, and this one is evaluated: its rows are what they were. */
TEST(a_result_that_stays_is_read_on)
{
    OWNED(ny_view) *view = viewed();
    static float before[ROWS * 2], after[ROWS * 2];
    uint64_t cluster = 9;

    ok(ny_view_read(view, "embedding", 0, ROWS, before));
    fit("b", "3");
    ok(ny_view_read(view, "embedding", 0, ROWS, after));
    assert_memory_equal(before, after, sizeof(before));
    for (int k = 3; k < 5; k++) {
        OWNED(ny_options) *o = options_with(in.ctx, "clusters=%d", k);

        ok(ny_evaluate(in.ctx, in.store, "a", o, NULL));
        ok(ny_view_read(view, "embedding", 0, ROWS, after));
        assert_memory_equal(before, after, sizeof(before));
        ok(ny_view_read(view, "clusters", 0, 1, &cluster));
        assert_true(cluster < (uint64_t)k);
    }
}

/* Rows that are appended leave those that are viewed as they are; others that come in the place of
 * rows that were cut off do not. */
TEST(points_that_are_replaced_need_a_new_view)
{
    struct ny_table table = dense(NY_F32, 0);
    static float before[ROWS * COLUMNS], after[ROWS * COLUMNS];
    OWNED(ny_view) *view = NULL;
    uint64_t rows;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_read(view, "points", 0, ROWS, before));
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_view_read(view, "points", 0, ROWS, after));
    assert_memory_equal(before, after, sizeof(before));
    ok(ny_truncate(in.ctx, in.store, ROWS, 0, NULL));
    ok(ny_view_read(view, "points", 0, ROWS, after));
    assert_memory_equal(before, after, sizeof(before));
    ok(ny_truncate(in.ctx, in.store, ROWS / 2, 0, NULL));
    table.rows = ROWS / 2;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    fails(NY_EUSAGE, ny_view_shape(view, "points", &rows, NULL, NULL));
    fails(NY_EUSAGE, ny_view_read(view, "points", 0, ROWS, after));
}

AROUND_EACH(setup, teardown)
