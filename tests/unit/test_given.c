/* Every function of the public header, with NULL for each of its pointers: a usage error that names
 * it, or a default. tests/lint/run looks that none is forgotten here. */
#include <unistd.h>

#include "support/api_case.h"
#include "support/files.h"
#include "support/options.h"

enum { ROWS = 60, COLUMNS = 3 };

static struct ny_context *ctx;
static struct ny_options *options;
static struct ny_model *model;
static const char *store;
static const char *const one[] = {"points.csv", NULL};
static const char *const hole[] = {"points.csv", NULL, "points.csv"};
static float rows[ROWS * COLUMNS], embedding[ROWS * 2];
static uint64_t count;

static void begin(void)
{
    api_case_begin("points.nys");
    assert_int_equal(chdir(in.folder), 0);
    ctx = in.ctx;
    store = in.store;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = (float)((i * 7919) % 101) / 101;
    write_csv32("points.csv", rows, ROWS, COLUMNS);
    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
}

static void end(void)
{
    ny_model_free(model);
    ny_options_free(options);
    api_case_end();
}

/* NULL for what a function needs: the message begins with the name of the function. */
#define REFUSES(argument, call)                                                                    \
    do {                                                                                           \
        assert_int_equal(call, NY_EUSAGE);                                                         \
        if (!strstr(ny_context_message(ctx), "NULL as its " argument ",") ||                       \
            strncmp(ny_context_message(ctx), #call, strcspn(#call, "(")) != 0)                     \
            fail_msg("%s says: %s", #call, ny_context_message(ctx));                               \
    } while (0)
/* A call without a context has no place for a message. */
#define REFUSES_SILENTLY(call) assert_int_equal(call, NY_EUSAGE)
#define ACCEPTS(call)                                                                              \
    do {                                                                                           \
        if ((call) != NY_OK) fail_msg("%s fails: %s", #call, ny_context_message(ctx));             \
    } while (0)

static int silent(void *user, const char *text, size_t bytes)
{
    (void)user, (void)text, (void)bytes;
    return 0;
}

TEST(options_and_reports_may_be_left_out)
{
    const struct ny_screen screen = {.columns = 60, .lines = 20, .write = silent};
    struct ny_options *path;
    const struct ny_table table = dense_table(NY_F32, ROWS / 2, COLUMNS, rows);
    struct ny_appender *appender;
    struct ny_view *view;
    const void *image;
    size_t bytes;

    ACCEPTS(ny_append(ctx, store, &table, NULL, NULL));
    ACCEPTS(ny_appender_open(&appender, ctx, store, NULL));
    ACCEPTS(ny_appender_put(appender, &table));
    ACCEPTS(ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    ACCEPTS(ny_view_open(&view, ctx, store, NULL));
    ACCEPTS(ny_view_shape(view, "points", NULL, NULL, NULL));
    assert_non_null(ny_view_report(view));
    ny_view_free(view);
    ACCEPTS(ny_store_report(ctx, store, NULL));
    ACCEPTS(ny_plan(ctx, store, NULL, NULL));
    ACCEPTS(ny_gamma_grid(ctx, store, NULL, NULL));
    ACCEPTS(ny_fit(ctx, store, "a", NULL, NULL));
    ACCEPTS(ny_select(ctx, store, "d", NULL, NULL));
    ACCEPTS(ny_graph(ctx, store, "g", NULL, NULL));
    ACCEPTS(ny_resume(ctx, store, "a", NULL));
    ACCEPTS(ny_context_set_command(ctx, NULL, 0, 0));
    assert_null(ny_context_command(ctx));
    ACCEPTS(ny_result_report(ctx, store, "a", NULL));
    ACCEPTS(ny_evaluate(ctx, store, "a", NULL, NULL));
    ACCEPTS(ny_verify(ctx, store, NULL));
    ACCEPTS(ny_repair(ctx, store, NULL));
    ACCEPTS(ny_compact(ctx, store, NULL));
    ACCEPTS(ny_transform(ctx, store, "a", "points.csv", "out.npy", NULL));
    ACCEPTS(ny_options_new(&path, ctx));
    ACCEPTS(ny_options_set(path, "labels", "none")); /* an option of imports */
    ACCEPTS(ny_transform(ctx, store, "a", "points.csv", "out.npy", path));
    ny_options_free(path);
    ACCEPTS(ny_export(ctx, store, "a", "model", "out.nym"));
    ACCEPTS(ny_transform_model(ctx, "out.nym", "points.csv", "out.npy", NULL));
    ACCEPTS(ny_place(
        ctx, &(struct ny_placing){.path = "out.nym", .input = "points.csv", .output = "out.npy"},
        NULL));
    ACCEPTS(ny_export_undamaged(ctx, store, "a", "embedding", "out.npy", NULL));
    ACCEPTS(ny_plot(ctx, store, "a", "out.png", NULL));
    ACCEPTS(ny_plot_text(ctx, store, "a", NULL, &screen));
    ACCEPTS(ny_write_report(ctx, store, NULL, 0, "out.html", NULL));
    ACCEPTS(ny_embed_file(ctx, "points.csv", "out.npy", NULL, NULL));
    ACCEPTS(ny_embed(ctx, &table, NULL, NULL, NULL, NULL));
    ACCEPTS(ny_embedding_shape(ctx, store, "a", NULL, NULL));
    ACCEPTS(ny_embedding_shape(ctx, store, "a", &count, NULL));
    assert_int_equal(count, ROWS);
    ACCEPTS(ny_model_open(&model, ctx, store, "a"));
    ACCEPTS(ny_model_transform(model, rows, ROWS, embedding));
    ACCEPTS(ny_model_image(model, &image, &bytes));
    assert_int_equal(ny_path(ctx, store, "g", NULL, NULL), NY_EUSAGE); /* from where to where? */
    assert_non_null(strstr(ny_context_message(ctx), "--from"));
    ACCEPTS(ny_options_new(&path, ctx));
    ACCEPTS(ny_options_set(path, "from", "0"));
    ACCEPTS(ny_options_set(path, "to", "0"));
    ACCEPTS(ny_path(ctx, store, "g", path, NULL));
    ny_options_free(path);
    ACCEPTS(ny_remove(ctx, store, "d"));
    assert_int_equal(ny_import(ctx, store, one, 1, NULL, NULL), NY_EUSAGE); /* without append */
}

/* A selection by the options of a graph's map has no kernel. */
TEST(options_of_graphs_do_not_select)
{
    OWNED(ny_options) *of_graph = NULL;

    ACCEPTS(ny_options_new(&of_graph, ctx));
    ACCEPTS(ny_options_set(of_graph, "map", "isomap"));
    for (int i = 0; i < 2; i++) {
        if (i) ACCEPTS(ny_options_set(of_graph, "gamma", "0.5"));
        if (i) ACCEPTS(ny_options_set(of_graph, "select", "greedy"));
        assert_int_equal(ny_select(ctx, store, "near", of_graph, NULL), NY_EUSAGE);
    }
}

/* Options that name a stored graph, or given columns, do not make a graph. */
TEST(options_of_fits_do_not_make_a_graph)
{
    static const char *const fits[][2] = {{"graph", "g"}, {"kernel", "precomputed"}};
    struct ny_options *of_fit;

    for (int i = 0; i < 2; i++) {
        ACCEPTS(ny_options_new(&of_fit, ctx));
        ACCEPTS(ny_options_set(of_fit, fits[i][0], fits[i][1]));
        assert_int_equal(ny_graph(ctx, store, "near", of_fit, NULL), NY_EUSAGE);
        ny_options_free(of_fit);
    }
}

TEST(files_and_names_are_needed)
{
    struct ny_report *report = (void *)&report;
    const struct ny_table table = {.struct_bytes = sizeof(table)};
    struct ny_appender *appender;

    REFUSES("path", ny_import(ctx, NULL, one, 1, options, &report));
    assert_null(report);
    REFUSES("files", ny_import(ctx, store, NULL, 1, options, NULL));
    assert_int_equal(ny_import(ctx, store, one, 0, options, NULL), NY_EUSAGE);
    REFUSES("files[i]", ny_import(ctx, store, hole, 3, options, NULL));
    REFUSES("path", ny_append(ctx, NULL, &table, options, &report));
    REFUSES("table", ny_append(ctx, store, NULL, options, &report));
    REFUSES("out", ny_appender_open(NULL, ctx, store, options));
    REFUSES("path", ny_appender_open(&appender, ctx, NULL, options));
    ACCEPTS(ny_appender_open(&appender, ctx, store, options));
    REFUSES("table", ny_appender_put(appender, NULL));
    ny_appender_free(appender);
    REFUSES("path", ny_store_report(ctx, NULL, &report));
    REFUSES("path", ny_result_report(ctx, NULL, "a", &report));
    REFUSES("name", ny_result_report(ctx, store, NULL, &report));
    REFUSES("path", ny_verify(ctx, NULL, &report));
    REFUSES("path", ny_repair(ctx, NULL, &report));
    REFUSES("path", ny_compact(ctx, NULL, &report));
    REFUSES("path", ny_truncate(ctx, NULL, 8, 0, &report));
    REFUSES("path", ny_remove(ctx, NULL, "a"));
    REFUSES("name", ny_remove(ctx, store, NULL));
    assert_int_equal(ny_plan(ctx, NULL, options, &report), NY_EUSAGE);
    assert_non_null(strstr(ny_context_message(ctx), "--shape"));
    assert_int_equal(ny_gamma_grid(ctx, NULL, options, &report), NY_EUSAGE);
    assert_non_null(strstr(ny_context_message(ctx), "--shape"));
    REFUSES("path", ny_fit(ctx, NULL, "a", options, &report));
    REFUSES("name", ny_fit(ctx, store, NULL, options, &report));
    REFUSES("path", ny_resume(ctx, NULL, "a", &report));
    REFUSES("name", ny_resume(ctx, store, NULL, &report));
    assert_int_equal(ny_resume(ctx, store, "no such", &report), NY_EUSAGE);
    REFUSES("words", ny_context_set_command(ctx, NULL, 1, 0));
    REFUSES("words", ny_context_set_command(ctx, hole, 3, 0));
    assert_int_equal(ny_context_set_command(ctx, one, 1, 1), NY_EUSAGE);
    REFUSES("path", ny_select(ctx, NULL, "a", options, &report));
    REFUSES("name", ny_select(ctx, store, NULL, options, &report));
    REFUSES("path", ny_graph(ctx, NULL, "a", options, &report));
    REFUSES("name", ny_graph(ctx, store, NULL, options, &report));
    REFUSES("path", ny_path(ctx, NULL, "g", options, &report));
    REFUSES("graph", ny_path(ctx, store, NULL, options, &report));
    REFUSES("path", ny_evaluate(ctx, NULL, "a", options, &report));
    REFUSES("name", ny_evaluate(ctx, store, NULL, options, &report));
    assert_null(report);
}

TEST(inputs_and_outputs_are_needed)
{
    const struct ny_screen screen = {.columns = 60, .lines = 20};
    const struct ny_export_range range = {0, 1, "ids"};

    REFUSES("path", ny_transform(ctx, NULL, "a", "points.csv", "out.npy", options));
    REFUSES("name", ny_transform(ctx, store, NULL, "points.csv", "out.npy", options));
    REFUSES("input", ny_transform(ctx, store, "a", NULL, "out.npy", options));
    REFUSES("output", ny_transform(ctx, store, "a", "points.csv", NULL, options));
    REFUSES("placing", ny_place(ctx, NULL, NULL));
    REFUSES("placing->path",
            ny_place(ctx, &(struct ny_placing){.name = "a", .input = "b", .output = "c"}, NULL));
    REFUSES("placing->input",
            ny_place(ctx, &(struct ny_placing){.path = "s", .name = "a", .output = "c"}, NULL));
    REFUSES("placing->output",
            ny_place(ctx, &(struct ny_placing){.path = "s", .name = "a", .input = "b"}, NULL));
    REFUSES("model", ny_transform_model(ctx, NULL, "points.csv", "out.npy", options));
    REFUSES("input", ny_transform_model(ctx, "out.nym", NULL, "out.npy", options));
    REFUSES("output", ny_transform_model(ctx, "out.nym", "points.csv", NULL, options));
    REFUSES("path", ny_export(ctx, NULL, "a", "embedding", "out.npy"));
    REFUSES("name", ny_export(ctx, store, NULL, "embedding", "out.npy"));
    REFUSES("part", ny_export(ctx, store, "a", NULL, "out.npy"));
    REFUSES("output", ny_export(ctx, store, "a", "embedding", NULL));
    REFUSES("part", ny_export_undamaged(ctx, store, "a", NULL, "out.npy", &count));
    REFUSES("path", ny_export_with(ctx, NULL, "a", "embedding", "out.csv", "ids"));
    REFUSES("with", ny_export_with(ctx, store, "a", "embedding", "out.csv", NULL));
    REFUSES("path", ny_export_rows(ctx, NULL, "a", "embedding", "out.csv", &range));
    REFUSES("output", ny_export_rows(ctx, store, "a", "embedding", NULL, &range));
    REFUSES("rows", ny_export_rows(ctx, store, "a", "embedding", "out.csv", NULL));
    REFUSES("path", ny_plot(ctx, NULL, "a", "out.png", options));
    REFUSES("name", ny_plot(ctx, store, NULL, "out.png", options));
    REFUSES("output", ny_plot(ctx, store, "a", NULL, options));
    REFUSES("path", ny_plot_text(ctx, NULL, "a", options, &screen));
    REFUSES("name", ny_plot_text(ctx, store, NULL, options, &screen));
    REFUSES("screen", ny_plot_text(ctx, store, "a", options, NULL));
    assert_int_equal(ny_plot_text(ctx, store, "a", options, &screen), NY_EUSAGE);
    REFUSES("path", ny_write_report(ctx, NULL, NULL, 0, "out.html", options));
    REFUSES("names", ny_write_report(ctx, store, NULL, 1, "out.html", options));
    REFUSES("names[i]", ny_write_report(ctx, store, hole, 2, "out.html", options));
    REFUSES("output", ny_write_report(ctx, store, NULL, 0, NULL, options));
    REFUSES("file", ny_embed_file(ctx, NULL, "out.npy", options, NULL));
    REFUSES("output", ny_embed_file(ctx, "points.csv", NULL, options, NULL));
}

/* Sizes of which the bytes, as 64 bits, would come out small. */
TEST(sizes_that_overflow_are_refused)
{
    static const uint64_t sizes[][2] = {{UINT64_MAX / 8, 4},
                                        {4, UINT64_MAX / 8},
                                        {UINT64_MAX, 1},
                                        {(uint64_t)1 << 62, 1},
                                        {(uint64_t)1 << 32, (uint64_t)1 << 32}};
    OWNED(ny_model) *opened = NULL;
    float place[2];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(ny_append_rows(ctx, store, rows, sizes[i][0], sizes[i][1], NULL),
                         NY_EUSAGE);
    }
    ACCEPTS(ny_model_open(&opened, ctx, store, "a"));
    assert_int_equal(ny_model_transform(opened, rows, (uint64_t)1 << 62, place), NY_EUSAGE);
}

TEST(rows_to_place_are_needed)
{
    struct ny_neighbors_room near = {.neighbors = 1};
    struct ny_places_room places = {NY_F32, embedding, 2}, nowhere = {.dtype = NY_F32};

    REFUSES("path", ny_clusters_of(ctx, NULL, "a", &(struct ny_table){0}, &(uint64_t){0}));
    REFUSES("name", ny_clusters_of(ctx, store, NULL, &(struct ny_table){0}, &(uint64_t){0}));
    REFUSES("table", ny_clusters_of(ctx, store, "a", NULL, &(uint64_t){0}));
    REFUSES("clusters", ny_clusters_of(ctx, store, "a", &(struct ny_table){0}, NULL));
    REFUSES("path", ny_neighbors_of(ctx, NULL, "a", &(struct ny_table){0}, &near));
    REFUSES("name", ny_neighbors_of(ctx, store, NULL, &(struct ny_table){0}, &near));
    REFUSES("table", ny_neighbors_of(ctx, store, "a", NULL, &near));
    REFUSES("room", ny_neighbors_of(ctx, store, "a", &(struct ny_table){0}, NULL));
    REFUSES("room->numbers", ny_neighbors_of(ctx, store, "a", &(struct ny_table){0}, &near));
    REFUSES("path", ny_place_rows(ctx, NULL, "a", &(struct ny_table){0}, &places));
    REFUSES("name", ny_place_rows(ctx, store, NULL, &(struct ny_table){0}, &places));
    REFUSES("table", ny_place_rows(ctx, store, "a", NULL, &places));
    REFUSES("room", ny_place_rows(ctx, store, "a", &(struct ny_table){0}, NULL));
    REFUSES("room->values", ny_place_rows(ctx, store, "a", &(struct ny_table){0}, &nowhere));
}

TEST(memory_of_the_caller_is_needed)
{
    struct ny_scratch_folder folder;
    struct ny_model *opened = model;
    struct ny_sums *sums, *none;
    struct ny_view *view;
    const char *names;
    const void *image;
    size_t bytes;

    REFUSES("out", ny_view_open(NULL, ctx, store, NULL));
    REFUSES("path", ny_view_open(&view, ctx, NULL, NULL));
    assert_null(view);
    ACCEPTS(ny_view_open(&view, ctx, store, NULL));
    REFUSES("part", ny_view_shape(view, NULL, NULL, NULL, NULL));
    REFUSES("part", ny_view_read(view, NULL, 0, 1, rows));
    REFUSES("out", ny_view_read(view, "points", 0, 1, NULL));
    REFUSES("rows", ny_view_gather(view, "points", NULL, 1, rows));
    REFUSES("bytes", ny_view_names(view, "ids", 0, 1, &names, NULL));
    REFUSES("given", ny_view_read_sparse(view, 0, 1, NULL));
    ny_view_free(view);
    REFUSES("out", ny_model_load(NULL, ctx, rows, 4));
    REFUSES("image", ny_model_load(&opened, ctx, NULL, 4));
    REFUSES("file", ny_model_load_file(&opened, ctx, NULL));
    REFUSES("image", ny_model_image(model, NULL, &bytes));
    REFUSES("bytes", ny_model_image(model, &image, NULL));
    REFUSES("names", ny_model_column_names(model, NULL, &bytes));
    REFUSES("file", ny_model_save_file(model, NULL));
    REFUSES("report", ny_model_report(model, NULL));
    REFUSES("parent", ny_scratch_make(ctx, NULL, &folder));
    REFUSES("folder", ny_scratch_make(ctx, "/tmp", NULL));
    REFUSES("table", ny_model_place(model, NULL, NY_F32, embedding, 0));
    REFUSES("out", ny_model_place(model, &(struct ny_table){0}, NY_F32, NULL, 0));
    REFUSES("table", ny_borrow(ctx, store, NULL, NULL, NULL));
    REFUSES("path", ny_borrow(ctx, NULL, &(struct ny_table){0}, NULL, NULL));
    REFUSES("path", ny_fit_into(ctx, NULL, "a", NULL, NULL, NULL));
    REFUSES("name", ny_fit_into(ctx, store, NULL, NULL, &(struct ny_dense_room){NY_F32, rows}, NULL));
    REFUSES("path", ny_append_rows(ctx, NULL, rows, ROWS, COLUMNS, NULL));
    REFUSES("values", ny_append_rows(ctx, store, NULL, ROWS, COLUMNS, NULL));
    REFUSES("out", ny_model_open(NULL, ctx, store, "a"));
    REFUSES("path", ny_model_open(&opened, ctx, NULL, "a"));
    assert_null(opened);
    REFUSES("name", ny_model_open(&opened, ctx, store, NULL));
    REFUSES("values", ny_model_transform(model, NULL, ROWS, embedding));
    REFUSES("embedding", ny_model_transform(model, rows, ROWS, NULL));
    REFUSES("path", ny_embedding_shape(ctx, NULL, "a", &count, &count));
    REFUSES("name", ny_embedding_shape(ctx, store, NULL, &count, &count));
    REFUSES("path", ny_embedding_read(ctx, NULL, "a", 0, 1, embedding));
    REFUSES("name", ny_embedding_read(ctx, store, NULL, 0, 1, embedding));
    REFUSES("values", ny_embedding_read(ctx, store, "a", 0, 1, NULL));
    REFUSES("out", ny_options_new(NULL, ctx));
    REFUSES("name", ny_options_set(options, NULL, "1"));
    REFUSES("name", ny_options_set_table(options, NULL, &(struct ny_table){0}));
    REFUSES("table", ny_options_set_table(options, "landmarks-points", NULL));
    REFUSES("table", ny_embed(ctx, NULL, NULL, NULL, NULL, NULL));
    ACCEPTS(ny_sums_new(&sums, ctx, NULL));
    REFUSES("out", ny_sums_new(NULL, ctx, NULL));
    REFUSES("table", ny_sums_add(sums, NULL));
    REFUSES("path", ny_sums_add_result(sums, NULL, "a"));
    REFUSES("other", ny_sums_merge(sums, NULL));
    REFUSES("image", ny_sums_image(sums, NULL, &bytes));
    REFUSES("names", ny_sums_column_names(sums, NULL, &bytes));
    REFUSES("out", ny_sums_load(NULL, ctx, store, 4));
    REFUSES("image", ny_sums_load(&none, ctx, NULL, 4));
    REFUSES("report", ny_sums_report(sums, NULL));
    REFUSES("model", ny_sums_solve(sums, NULL, NULL));
    REFUSES("paths", ny_merge(ctx, NULL, 1, "a", "out.nym", NULL));
    ny_sums_free(sums);
}

TEST(stores_of_a_context_are_needed)
{
    size_t bytes;
    REFUSES("path", ny_temporary(ctx, NULL, "/tmp"));
    REFUSES("folder", ny_temporary(ctx, store, NULL));
    REFUSES("path", ny_results_image(ctx, NULL, NULL, &bytes));
    REFUSES("bytes", ny_results_image(ctx, store, NULL, NULL));
    REFUSES("path", ny_results_load(ctx, NULL, rows, 8));
    REFUSES("image", ny_results_load(ctx, store, NULL, 8));
    REFUSES_SILENTLY(ny_temporary(NULL, store, "/tmp"));
    REFUSES_SILENTLY(ny_results_image(NULL, store, NULL, &(size_t){0}));
    REFUSES_SILENTLY(ny_results_load(NULL, store, rows, 8));
}

TEST(without_a_context_nothing_is_done)
{
    struct ny_scratch_folder folder;
    struct ny_model *opened;
    struct ny_sums *sums;

    REFUSES_SILENTLY(ny_context_new(NULL));
    ny_options_free(options);
    REFUSES_SILENTLY(ny_options_new(&options, NULL));
    assert_null(options);
    ACCEPTS(ny_options_new(&options, ctx));
    REFUSES_SILENTLY(ny_options_set(NULL, "landmarks", "5"));
    REFUSES_SILENTLY(ny_options_set_table(NULL, "landmarks-points", &(struct ny_table){0}));
    ny_context_set_scratch(NULL, 1);
    REFUSES_SILENTLY(ny_borrow(NULL, store, &(struct ny_table){0}, NULL, NULL));
    REFUSES_SILENTLY(ny_fit_into(NULL, store, "a", NULL, NULL, NULL));
    REFUSES_SILENTLY(ny_embed(NULL, &(struct ny_table){0}, NULL, NULL, NULL, NULL));
    REFUSES_SILENTLY(ny_sums_new(&sums, NULL, NULL));
    REFUSES_SILENTLY(ny_sums_add(NULL, &(struct ny_table){0}));
    REFUSES_SILENTLY(ny_sums_report(NULL, NULL));
    REFUSES_SILENTLY(ny_merge(NULL, one, 1, "a", "out.nym", NULL));
    ny_sums_free(NULL);
    REFUSES_SILENTLY(ny_import(NULL, store, one, 1, NULL, NULL));
    REFUSES_SILENTLY(ny_fit(NULL, store, "a", NULL, NULL));
    REFUSES_SILENTLY(ny_resume(NULL, store, "a", NULL));
    REFUSES_SILENTLY(ny_context_set_command(NULL, one, 1, 0));
    assert_null(ny_context_command(NULL));
    assert_null(ny_context_written(NULL));
    REFUSES_SILENTLY(ny_plan(NULL, store, NULL, NULL));
    REFUSES_SILENTLY(ny_evaluate(NULL, store, "a", NULL, NULL));
    REFUSES_SILENTLY(ny_export(NULL, store, "a", "embedding", "out.npy"));
    REFUSES_SILENTLY(ny_embed_file(NULL, "points.csv", "out.npy", NULL, NULL));
    REFUSES_SILENTLY(ny_plot(NULL, store, "a", "out.png", NULL));
    REFUSES_SILENTLY(ny_write_report(NULL, store, NULL, 0, "out.html", NULL));
    REFUSES_SILENTLY(ny_calibrate(NULL, NULL));
    REFUSES_SILENTLY(ny_model_open(&opened, NULL, store, "a"));
    REFUSES_SILENTLY(ny_model_transform(NULL, rows, ROWS, embedding));
    REFUSES_SILENTLY(ny_model_load(&opened, NULL, rows, 4));
    REFUSES_SILENTLY(ny_model_load_file(&opened, NULL, "out.nym"));
    REFUSES_SILENTLY(ny_model_image(NULL, NULL, NULL));
    REFUSES_SILENTLY(ny_model_column_names(NULL, NULL, NULL));
    REFUSES_SILENTLY(ny_model_save_file(NULL, "out.nym"));
    REFUSES_SILENTLY(ny_model_report(NULL, NULL));
    REFUSES_SILENTLY(ny_scratch_make(NULL, "/tmp", &folder));
    ny_scratch_remove(NULL);
    REFUSES_SILENTLY(ny_model_place(NULL, NULL, NY_F32, embedding, 0));
    REFUSES_SILENTLY(ny_neighbors_of(NULL, store, "a", NULL, NULL));
    REFUSES_SILENTLY(ny_place_rows(NULL, store, "a", NULL, NULL));
    REFUSES_SILENTLY(ny_append(NULL, store, NULL, NULL, NULL));
    REFUSES_SILENTLY(ny_appender_open(NULL, NULL, store, NULL));
    REFUSES_SILENTLY(ny_appender_put(NULL, NULL));
    REFUSES_SILENTLY(ny_appender_commit(NULL, NULL));
    REFUSES_SILENTLY(ny_view_open(NULL, NULL, store, NULL));
    REFUSES_SILENTLY(ny_view_shape(NULL, "points", NULL, NULL, NULL));
    REFUSES_SILENTLY(ny_view_read(NULL, "points", 0, 1, rows));
    REFUSES_SILENTLY(ny_view_gather(NULL, "points", &count, 1, rows));
    REFUSES_SILENTLY(ny_view_names(NULL, "ids", 0, 1, NULL, NULL));
    REFUSES_SILENTLY(ny_view_read_sparse(NULL, 0, 1, NULL));
    ny_context_set_memory(NULL, 1);
    ny_context_set_threads(NULL, 1);
    ny_context_set_log(NULL, NULL, NULL);
    ny_context_set_progress(NULL, NULL, NULL);
    ny_context_set_plan(NULL, NULL, NULL);
    ny_context_interrupt(NULL, 2);
    assert_int_equal(ny_context_memory(NULL), 0);
    assert_int_equal(ny_context_threads(NULL), 0);
    assert_int_equal(ny_context_error(NULL)->status, NY_EBUDGET);
}

TEST(handles_that_are_not_there_hold_nothing)
{
    double value;

    ny_context_free(NULL);
    ny_give_back(NULL);
    ny_options_free(NULL);
    ny_report_free(NULL);
    ny_model_free(NULL);
    ny_appender_free(NULL);
    ny_view_free(NULL);
    assert_null(ny_view_report(NULL));
    assert_null(ny_options_get(NULL, "map"));
    assert_null(ny_options_get(options, NULL));
    assert_null(ny_report_json(NULL));
    assert_int_equal(ny_report_number(NULL, "n", &value), 0);
    assert_null(ny_report_text(NULL, "name"));
    assert_int_equal(ny_model_dimensions(NULL), 0);
    assert_int_equal(ny_model_components(NULL), 0);
    assert_null(ny_suggest(NULL, one, 1));
    assert_null(ny_suggest("a", NULL, 0));
    assert_string_equal(ny_status_kind(-1), "unknown");
    assert_non_null(ny_status_meaning(-1));
    assert_non_null(ny_version());
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    assert_null(ny_blas_coretype());
    assert_non_null(ny_option_at(0));
    assert_null(ny_option_at(-1));
    assert_non_null(ny_export_parts());
    ny_guard_sigbus();
}

AROUND_ALL(begin, end)
