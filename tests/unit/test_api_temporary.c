/* Rows of one context alone that come by an import: one that fails leaves none, and their results
 * go to another context and come back as they were. */
#include "unit/table_case.h"
#include "support/results.h"

enum { PAIRS = 3 };

static const char name[] = "rows of a call"; /* of no file */

/* Parts of a table: its rows first … end − 1. */
static struct ny_table part(const struct ny_table *table, uint64_t first, uint64_t end)
{
    struct ny_table some = *table;

    some.rows = end - first;
    some.values = (const char *)table->values + first * COLUMNS * sizes[table->dtype];
    return some;
}

/* Puts the table into a store piece by piece. */
static int put_pieces(const char *store, const struct ny_table *table)
{
    static const uint64_t ends[] = {0, 1, 1500, ROWS};
    OWNED(ny_appender) *appender = NULL;
    OWNED(ny_report) *report = NULL;
    int err = ny_appender_open(&appender, in.ctx, store, NULL);

    for (size_t i = 0; !err && i < 3; i++) {
        const struct ny_table some = part(table, ends[i], ends[i + 1]);

        err = ny_appender_put(appender, &some);
    }
    if (!err) err = ny_appender_commit(appender, &report);
    if (err) return err;
    assert_true(number_of(report, "n") == ROWS);
    return NY_OK;
}

static void fit(struct ny_context *ctx, const char *store, float *found)
{
    must_fit(ctx, store, "f", NULL, "landmarks=40 components=3");
    ok(ny_embedding_read(ctx, store, "f", 0, ROWS, found));
}

/* A table that fails leaves the place for another import. */
TEST(an_import_that_fails_leaves_no_rows)
{
    static float found[ROWS * PAIRS];
    struct ny_table table = dense(NY_F32, 0);

    ok(ny_temporary(in.ctx, name, in.folder));
    case_put((void *)(uintptr_t)table.values, NY_F32, 2000 * COLUMNS + 2, NAN);
    fails(NY_EDATA, ny_append(in.ctx, name, &table, NULL, NULL));
    fails(NY_EDATA, put_pieces(name, &table));
    case_put((void *)(uintptr_t)table.values, NY_F32, 2000 * COLUMNS + 2, 1);
    ok(put_pieces(name, &table));
    fit(in.ctx, name, found);
    ok(ny_temporary(in.ctx, name, "/nowhere"));
    fails(NY_EIO, ny_append(in.ctx, name, &table, NULL, NULL));
}

TEST(results_go_to_another_context)
{
    static float wanted[ROWS * PAIRS], found[ROWS * PAIRS];
    struct ny_table table = dense(NY_F32, 0);
    struct ny_context *ctx = in.ctx, *other;
    size_t bytes, again;
    char *image;

    fails(NY_EIO, ny_results_image(in.ctx, name, NULL, &bytes));
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    fails(NY_EUSAGE, ny_results_image(in.ctx, in.store, NULL, &bytes));
    ok(ny_temporary(in.ctx, name, in.folder));
    ok(ny_append(in.ctx, name, &table, NULL, NULL));
    ok(ny_results_image(in.ctx, name, NULL, &bytes));
    assert_int_equal(bytes, 0);
    fit(in.ctx, name, wanted);
    ok(ny_results_image(in.ctx, name, NULL, &bytes));
    image = lend(bytes);
    ok(ny_results_image(in.ctx, name, image, &again));
    assert_int_equal(again, bytes);
    ok(ny_context_new(&other));
    in.ctx = other;
    ok(ny_borrow(other, name, &table, NULL, NULL)); /* results in memory, and not in a file */
    ok(ny_results_load(other, name, image, bytes));
    ok(ny_embedding_read(other, name, "f", 0, ROWS, found));
    assert_memory_equal(found, wanted, sizeof(wanted));
    for (size_t cut = 1; cut < bytes; cut += cut < 200 ? 1 : 997)
        if (!ny_results_load(other, name, image, cut)) /* all of some chunks */
            ok(ny_embedding_read(other, name, "f", 0, 1, found));
    fails(NY_ESTORE, ny_results_load(other, name, image, 1));
    memset(image, 'x', 128);
    fails(NY_ESTORE, ny_results_load(other, name, image, bytes));
    in.ctx = ctx;
    ny_context_free(other);
}

/* A message about rows that nothing keeps says what makes them again. */
TEST(rows_that_went_to_memory_are_fitted_anew)
{
    const struct ny_dense_room room = {NY_F32, lend(sizeof(float) * ROWS * 2)};
    struct ny_table rows = dense(NY_F32, 0);
    OWNED(ny_options) *options = NULL;
    float first;

    ok(ny_options_new(&options, in.ctx));
    ok(ny_options_set(options, "landmarks", "30"));
    ok(ny_borrow(in.ctx, in.store, &rows, NULL, NULL));
    ok(ny_fit_into(in.ctx, in.store, "map", options, &room, NULL));
    first = *(float *)room.values;
    fails(NY_EUSAGE, ny_fit_into(in.ctx, in.store, "map", options, &room, NULL));
    fails(NY_EUSAGE, ny_plot(in.ctx, in.store, "map", "map.png", NULL));
    ok(ny_options_set(options, "restart", "yes"));
    *(float *)room.values = 0;
    ok(ny_fit_into(in.ctx, in.store, "map", options, &room, NULL));
    assert_true(*(float *)room.values == first);
}

AROUND_EACH(setup, api_case_end)
