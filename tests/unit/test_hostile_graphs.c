/* Graphs whose checksums are right and whose edges, components and rows no job has written: they
 * are refused, as are maps of them. */
#include "support/files.h"
#include "support/hostile_parts.h"
#include "support/options.h"

#define GRAPH "neighbors=8 knn=exact connect=yes "
#define ISOMAP GRAPH "map=isomap landmarks=20 components=2 approx=nystrom"

TEST(a_graph_without_a_largest_component_is_refused)
{
    OWNED(json_t) *record = make("graph " GRAPH);
    OWNED(ny_options) *options = NULL;

    ny_field_set_count(json_object_get(record, "report"), "largest", 0);
    save(record);
    options = options_with(in.ctx, "map=isomap graph=r");
    assert_int_equal(ny_plan(in.ctx, in.store, options, NULL), NY_ESTORE);
}

/* Edges from elsewhere are as little believed as lists: nodes, order, lengths and components. */
TEST(edges_that_cannot_be_are_refused)
{
    const struct {
        double length;
        uint32_t from, to;
    } good[] = {{1, 0, 1}, {1, 1, 2}},
      cases[] = {{-1, 1, 2}, {NAN, 1, 2},  {INFINITY, 1, 2},   {1, 2, 1},
                 {1, 1, 1},  {1, 1, ROWS}, {1, 1, UINT32_MAX}, {1, 1, 3}};
    char *file = lend_text("%s/edges.txt", in.folder);
    char *options = lend_text("graph edges=%s", file);
    char *out = lend_text("%s/out.txt", in.folder);

    write_text(file, "0 1 1\n1 2 1\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char part[sizeof(good)];

        json_decref(make(options));
        is(ny_export(in.ctx, in.store, "r", "graph", out), NY_OK);
        memcpy(part, good, sizeof(good));
        memcpy(part + sizeof(good[0]), &cases[i], sizeof(good[0]));
        put("edges", part, sizeof(part));
        is(ny_export(in.ctx, in.store, "r", "graph", out), NY_ESTORE);
        put("edges", good, sizeof(good[0])); /* fewer than the record says */
        is(ny_export(in.ctx, in.store, "r", "graph", out), NY_ESTORE);
    }
}

/* The file of the edges, and what it says from when the plan is told: they were counted then. */
static char changing[160];

static void change(void *lines, const struct ny_report *plan)
{
    (void)plan;
    write_text(changing, lines);
}

TEST(edges_that_change_while_they_are_read_are_refused)
{
    static const struct {
        char lines[24];
        int status;
    } cases[] = {
        {"0 1 1\n", NY_EDATA}, {"0 1 1\n1 2 1\n0 2 1\n", NY_EDATA}, {"0 1 1\n1 2 1\n", NY_OK}};
    char options[200];

    snprintf(changing, sizeof(changing), "%s/edges.txt", in.folder);
    snprintf(options, sizeof(options), "graph edges=%s restart=yes", changing);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_text(changing, "0 1 1\n1 2 1\n");
        ny_context_set_plan(in.ctx, change, (void *)(uintptr_t)cases[i].lines);
        is(run(options), cases[i].status);
    }
    ny_context_set_plan(in.ctx, NULL, NULL);
}

/* A record that says it has more edges than memory, or none. */
TEST(counts_of_edges_that_cannot_be_are_refused)
{
    static const uint64_t counts[] = {0, (uint64_t)1 << 48, (uint64_t)1 << 62};
    char *options = lend_text("graph edges=%s/edges.txt", in.folder);
    char *out = lend_text("%s/out.txt", in.folder);

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        OWNED(json_t) *record = make(options);

        ny_field_set_count(json_object_get(record, "report"), "edges", counts[i]);
        save(record);
        is(ny_export(in.ctx, in.store, "r", "graph", out), NY_ESTORE);
    }
}

TEST(components_that_are_not_those_counted_are_refused)
{
    static const char *const rules[] = {"uniform", "maxmin"};
    static const uint32_t fills[] = {0, 1};
    uint32_t *components = lend(ROWS * sizeof(*components));

    for (size_t i = 0; i < 4; i++) {
        OWNED(json_t) *record = NULL;
        char *options = lend_text(ISOMAP " select=%s", rules[i / 2]);

        record = make(options);
        for (size_t row = 0; row < ROWS; row++)
            components[row] = fills[i % 2];
        put("components", components, ROWS * sizeof(*components));
        if (!fills[i % 2])
            ny_field_set_count(json_object_get(json_object_get(record, "report"), "graph"),
                               "largest", ROWS - 1);
        ny_field_set_text(record, "stage", "select");
        save(record);
        is(run(options), NY_ESTORE);
    }
}

TEST(rows_that_the_store_has_not_are_refused)
{
    static uint32_t rows[ROWS];
    char *out = lend_text("%s/out.npy", in.folder);

    json_decref(make(ISOMAP));
    for (uint32_t row = 0; row < ROWS; row++)
        rows[row] = row + (row == ROWS - 1);
    put("rows", rows, sizeof(rows));
    is(ny_export(in.ctx, in.store, "r", "source", out), NY_ESTORE);
    is(ny_evaluate(in.ctx, in.store, "r", NULL, NULL), NY_ESTORE);
}

/* Asks for the path from row 0 to one that was of another component. */
static int path_to(const char *row)
{
    OWNED(ny_options) *options = NULL;
    int err;

    options = options_with(in.ctx, "from=0 to=%s", row);
    err = ny_path(in.ctx, in.store, "r", options, NULL);
    return err;
}

TEST(edges_that_do_not_join_their_component_are_refused)
{
    static uint32_t neighbors[ROWS * 10], components[ROWS];
    char row[20] = "";

    for (int pieces = 0; pieces < 2; pieces++) {
        json_t *record = make("graph neighbors=3 knn=exact"), *report, *stored;
        struct ny_store *store;

        report = json_object_get(record, "report");
        stored = json_object_get(report, "neighbors_stored");
        assert_true(json_integer_value(stored) <= 10);
        assert_true(ny_field_count(report, "components", 0) > 1);
        assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
        assert_int_equal(ny_blob_get(store, "r", "components", components, sizeof(components)),
                         NY_OK);
        ny_store_close(store);
        for (int i = 0; i < ROWS; i++)
            if (components[i] != components[0]) snprintf(row, sizeof(row), "%d", i);
        is(path_to(row), NY_EDATA);
        memset(components, 0, sizeof(components));
        put("components", components, sizeof(components));
        memset(neighbors, 0xff, sizeof(neighbors)); /* none: each row is a piece */
        if (pieces)
            put("neighbors", neighbors,
                (size_t)json_integer_value(stored) * ROWS * sizeof(*neighbors));
        ny_field_set_count(report, "largest", ROWS);
        save(record);
        json_decref(record);
        is(path_to(row), NY_ESTORE);
    }
}

AROUND_ALL(start, api_case_end)
