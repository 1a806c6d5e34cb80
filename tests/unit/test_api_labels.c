/* Words as labels of rows in memory: they become classes, whose names come back through views. */
#include "unit/table_case.h"

TEST(words_become_classes)
{
    static const char *const first[] = {"dog", "7", "NA"}, *const second[] = {"emu", "dog"};
    const double seen[] = {0, 1, (double)NAN, (double)NAN, 0, 2};
    struct ny_table table = dense(NY_F32, 0);
    double labels[ROWS] = {0, 1, 2, (double)NAN}, back[6];
    OWNED(ny_view) *view = NULL;
    uint64_t count, bytes;
    const char *names;
    int type;

    table.labels = labels;
    table.classes = 3;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.class_names = first;
    labels[5] = 3;
    fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
    labels[5] = 0.5;
    fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.rows = 4;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.rows = 2;
    labels[0] = 1, labels[1] = 0;
    table.class_names = second;
    table.classes = 2;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_read(view, "labels", 0, 6, back));
    for (int i = 0; i < 6; i++)
        assert_true(back[i] == seen[i] || (isnan(back[i]) && isnan(seen[i])));
    ok(ny_view_shape(view, "classes", &count, NULL, &type));
    assert_true(count == 3 && type == NY_NAME_TEXT);
    ok(ny_view_names(view, "classes", 0, 3, &names, &bytes));
    assert_memory_equal(names, "dog\0007\0emu", 10);
    assert_int_equal(bytes, 10);
    ok(ny_view_names(view, "classes", 2, 1, &names, &bytes));
    assert_string_equal(names, "emu");
    fails(NY_EUSAGE, ny_view_names(view, "classes", 2, 2, &names, &bytes));
}

AROUND_EACH(setup, teardown)
