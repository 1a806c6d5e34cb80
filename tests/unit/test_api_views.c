/* Views of a result that is removed, and of points that are replaced, while they are viewed; parts
 * of an embedding. (Views of results that are made anew: tests/python/test_anew.py.) */
#include "support/results.h"
#include "unit/table_case.h"

/* No call reads rows of a result that is gone. */
TEST(a_result_that_is_removed_is_not_read)
{
    struct ny_table table = dense(NY_F32, 0);
    static float rows[ROWS * 2];
    uint64_t numbers[] = {5, 2}, count;
    OWNED(ny_view) *view = NULL;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    must_fit(in.ctx, in.store, "a", NULL, "components=2 landmarks=40");
    ok(ny_view_open(&view, in.ctx, in.store, "a"));
    ok(ny_remove(in.ctx, in.store, "a"));
    fails(NY_EUSAGE, ny_view_read(view, "embedding", 0, ROWS, rows));
    fails(NY_EUSAGE, ny_view_gather(view, "embedding", numbers, 2, rows));
    fails(NY_EUSAGE, ny_view_shape(view, "embedding", &count, NULL, NULL));
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

TEST(a_part_of_an_embedding_can_be_read)
{
    static float all[ROWS * 2], part[10 * 2];
    struct ny_table table = dense(NY_F32, 0);
    uint64_t rows, components;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    must_fit(in.ctx, in.store, "a", NULL, "components=2 landmarks=40");
    ok(ny_embedding_shape(in.ctx, in.store, "a", &rows, &components));
    assert_true(rows == ROWS && components == 2);
    ok(ny_embedding_read(in.ctx, in.store, "a", 0, ROWS, all));
    ok(ny_embedding_read(in.ctx, in.store, "a", 123, 10, part));
    assert_memory_equal(part, all + 123 * 2, sizeof(part));
    fails(NY_EUSAGE, ny_embedding_read(in.ctx, in.store, "a", ROWS - 5, 10, part));
    /* The end wraps around 2⁶⁴. */
    fails(NY_EUSAGE, ny_embedding_read(in.ctx, in.store, "a", UINT64_MAX - 4, 10, part));
    fails(NY_EUSAGE, ny_embedding_read(in.ctx, in.store, "a", 1, UINT64_MAX, part));
}

AROUND_EACH(setup, api_case_end)
