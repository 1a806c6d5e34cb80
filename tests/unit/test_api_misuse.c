/*
 * Mistakes that a program makes, and handles of two contexts: each ends in words, and leaves the
 * budgets as they were.
 */
#include "base/memory.h"
#include "support/options.h"
#include "unit/sums_case.h"

static void put_rows(void)
{
    struct ny_table table = dense(NY_F32, 0);

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
}

/* Leaves bytes on the stack that are no struct of a function which is called next. */
static void dirty_stack(void)
{
    volatile unsigned char bytes[1 << 14];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0x7f;
}

TEST(parts_that_are_none_are_refused_by_name)
{
    static const char *const names[] = {NULL, "map"}; /* the points, and a result */
    const uint64_t row = 0;
    struct ny_view *view;
    double out[COLUMNS];
    uint64_t rows;

    put_rows();
    ok(ny_fit(in.ctx, in.store, "map", NULL, NULL));
    for (size_t i = 0; i < 2; i++) {
        ok(ny_view_open(&view, in.ctx, in.store, names[i]));
        fails(NY_EUSAGE, ny_view_shape(view, "embeding", &rows, NULL, NULL));
        assert_int_equal(rows, 0);
        dirty_stack();
        fails(NY_EUSAGE, ny_view_read(view, "embeding", 0, 1, out));
        dirty_stack();
        fails(NY_EUSAGE, ny_view_gather(view, "embeding", &row, 1, out));
        ny_view_free(view);
    }
    ok(ny_view_open(&view, in.ctx, in.store, "map"));
    fails(NY_EUSAGE, ny_view_read(view, "model", 0, 1, out));
    fails(NY_EUSAGE, ny_view_gather(view, "ids", &row, 1, out));
    fails(NY_EUSAGE, ny_view_read(view, "graph", 0, 1, out));
    ny_view_free(view);
}

TEST(an_appender_takes_no_rows_after_its_commit_or_a_failure)
{
    struct ny_table table = dense(NY_F32, 0);
    struct ny_appender *appender;
    OWNED(ny_report) *report = NULL;

    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    ok(ny_appender_put(appender, &table));
    ok(ny_appender_commit(appender, NULL));
    fails(NY_EUSAGE, ny_appender_put(appender, &table));
    fails(NY_EUSAGE, ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    table.columns--;
    fails(NY_EDATA, ny_appender_put(appender, &table));
    fails(NY_EUSAGE, ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    ok(ny_store_report(in.ctx, in.store, &report));
    assert_true(number_of(report, "n") == ROWS);
}

TEST(a_table_without_rows_gets_no_places)
{
    const struct ny_table none = {
        .struct_bytes = sizeof(none), .dtype = NY_F32, .columns = COLUMNS};
    struct ny_neighbors_room neighbors = {.neighbors = 2};
    struct ny_places_room places = {.dtype = NY_F32, .components = 2};
    OWNED(ny_options) *clusters = NULL;
    OWNED(ny_model) *model = NULL;
    uint64_t number;
    float place[2];

    put_rows();
    ok(ny_fit(in.ctx, in.store, "map", NULL, NULL));
    ok(ny_graph(in.ctx, in.store, "graph", NULL, NULL));
    clusters = options_with(in.ctx, "clusters=2");
    ok(ny_evaluate(in.ctx, in.store, "map", clusters, NULL));
    ok(ny_model_open(&model, in.ctx, in.store, "map"));
    ok(ny_model_place(model, &none, NY_F32, place, 0));
    places.values = place;
    ok(ny_place_rows(in.ctx, in.store, "map", &none, &places));
    neighbors.numbers = &number;
    ok(ny_neighbors_of(in.ctx, in.store, "graph", &none, &neighbors));
    assert_true(neighbors.found == 1);
    ok(ny_clusters_of(in.ctx, in.store, "map", &none, &number));
}

TEST(an_appender_adds_to_points_that_came_meanwhile)
{
    struct ny_table table = dense(NY_F32, 0);
    OWNED(ny_appender) *appender = NULL;
    OWNED(ny_report) *report = NULL;

    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    put_rows();
    ok(ny_appender_put(appender, &table));
    fails(NY_EBUSY, ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_appender_commit(appender, &report));
    assert_true(number_of(report, "n") == 2 * ROWS);
}

TEST(sums_of_another_context_are_merged)
{
    struct ny_table table = dense(NY_F32, 0), part = part_of(&table, 0, 500);
    OWNED(ny_options) *options = options_of(NULL);
    OWNED(ny_context) *other = NULL;
    struct ny_sums *sums, *copy;
    size_t before;

    ok(ny_sums_new(&sums, in.ctx, options));
    ok(ny_sums_add(sums, &part));
    before = ny_memory_used(in.ctx);
    assert_int_equal(ny_context_new(&other), NY_OK);
    assert_int_equal(ny_sums_new(&copy, other, NULL), NY_OK);
    assert_int_equal(ny_sums_merge(copy, sums), NY_OK);
    assert_int_equal(ny_memory_used(in.ctx), before);
    ny_sums_free(copy);
    assert_int_equal(ny_memory_used(other), 0);
    ny_sums_free(sums);
}

AROUND_EACH(setup, api_case_end)
