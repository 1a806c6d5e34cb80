/* Calls that fail below the verbs that move rows and pictures in and out (fault/api_faults.h). */
#include "fault/api_faults.h"
#include "support/npz_case.h"

/* A matrix by columns, whose entries do not fit in memory while they are sorted, and one of scipy.
 */
enum { WIDE = 60, SORTED_ROWS = 2000 };
static char by_columns[160], scipy[160];

static struct bytes placed, page; /* the table transformed, a page of HTML */
static size_t letters;

static int import_fresh(struct ny_context *ctx)
{
    return import_as(ctx, fresh);
}

/* Writes the tables that are beside a matrix: names of rows and of columns. */
static void write_names(void)
{
    static const char *const files[] = {"barcodes.tsv", "genes.tsv"};

    for (int k = 0; k < 2; k++) {
        char path[160];
        FILE *file;

        snprintf(path, sizeof(path), "%s/%s", directory, files[k]);
        file = fopen(path, "w");
        assert_non_null(file);
        for (int i = 0; i < (k ? WIDE : SORTED_ROWS); i++)
            fprintf(file, "id-%d\tname-%d\n", i, i);
        fclose(file);
    }
}

static void write_matrices(void)
{
    static unsigned char bytes[NPZ_CASE_BYTES];
    static int32_t indptr[SORTED_ROWS + 1], indices[2 * SORTED_ROWS];
    static uint8_t data[2 * SORTED_ROWS];
    const int64_t shape[2] = {SORTED_ROWS, WIDE};
    struct npz_case_array arrays[5];
    FILE *file;
    size_t length;

    write_names();
    snprintf(by_columns, sizeof(by_columns), "%s/matrix.mtx", directory);
    file = fopen(by_columns, "w");
    assert_non_null(file);
    fprintf(file, "%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n", SORTED_ROWS,
            WIDE, SORTED_ROWS * WIDE);
    for (int j = 0; j < WIDE; j++)
        for (int i = 0; i < SORTED_ROWS; i++)
            fprintf(file, "%d %d %d\n", i + 1, j + 1, (i * j) % 50);
    fclose(file);

    for (int i = 0; i < SORTED_ROWS; i++) {
        indptr[i + 1] = 2 * i + 2;
        indices[2 * i] = i % 29;
        indices[2 * i + 1] = 29 + i % 31;
        data[2 * i] = data[2 * i + 1] = (uint8_t)(1 + i % 200);
    }
    npz_case_matrix(arrays, "csr", shape, indptr, SORTED_ROWS, indices, data, 2 * SORTED_ROWS);
    length = npz_case_zip(bytes, arrays, 5, (struct npz_case_how){.deflate = true});
    snprintf(scipy, sizeof(scipy), "%s/scipy.npz", directory);
    file = fopen(scipy, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static int import_matrix(struct ny_context *ctx)
{
    const char *files[] = {at_work->input};
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("memory", "40M"));

    if (err == NY_OK) err = ny_import(ctx, fresh, files, 1, options, NULL);
    return err;
}

/* Compacts a copy from which the result is gone. */
static int compact_fresh(struct ny_context *ctx)
{
    int err = NY_OK;

    if (access(fresh, F_OK) != 0) case_copy(store, fresh);
    err = ny_remove(ctx, fresh, "old");
    if (err == NY_OK || err == NY_EUSAGE) err = ny_compact(ctx, fresh, NULL);
    return err;
}

/* Takes rows out of a copy, and the result with them. */
static int truncate_fresh(struct ny_context *ctx)
{
    if (access(fresh, F_OK) != 0) case_copy(store, fresh);
    return ny_truncate(ctx, fresh, ROWS / 2, 1, NULL);
}

static void check_named(void)
{
    OWNED(ny_context) *ctx = new_context();
    OWNED(ny_view) *view = NULL;
    const char *names;
    uint64_t bytes;

    assert_int_equal(ny_view_open(&view, ctx, fresh, NULL), NY_OK);
    assert_int_equal(ny_view_names(view, "ids", SORTED_ROWS - 1, 1, &names, &bytes), NY_OK);
    assert_string_equal(names, "id-1999");
    assert_int_equal(ny_view_names(view, "columns", WIDE - 1, 1, &names, &bytes), NY_OK);
    assert_string_equal(names, "name-59");
}

static int page_old(struct ny_context *ctx)
{
    const char *name = "old";
    char html[200];
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, ctx);

    snprintf(html, sizeof(html), "%s.html", output);
    if (err == NY_OK) err = ny_write_report(ctx, store, &name, 1, html, options);
    return err == NY_OK && rename(html, output) ? NY_EIO : err;
}

static int count_letters(void *user, const char *text, size_t bytes)
{
    *(size_t *)user += text ? bytes : 0;
    return NY_OK;
}

static int letters_old(struct ny_context *ctx)
{
    const struct ny_screen screen = {60, 20, 1, 1, count_letters, &letters};
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, ctx);

    letters = 0;
    if (err == NY_OK) err = ny_plot_text(ctx, store, "old", options, &screen);
    return err;
}

static void check_letters(void)
{
    assert_in_range(letters, 1000, 9000);
}

static int report_all(struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    int err = ny_store_report(ctx, store, &report);

    ny_report_free(report);
    if (err) return err;
    err = ny_result_report(ctx, store, "old", &report);
    if (err == NY_OK && !ny_report_json(report))
        err = ny_fail(ctx, NY_EBUDGET, "no text of the report"); /* which is how it says so */
    ny_report_free(report);
    return err;
}

static int verify_all(struct ny_context *ctx)
{
    OWNED(ny_report) *report = NULL;
    int err = ny_verify(ctx, store, &report);

    return err;
}

/* ---- rows in memory ----------------------------------------------------------------------- */

/* Makes a store of MORE rows of CSR, whose entries stand in falling order, as two tables. */
static int append_tables(struct ny_context *ctx)
{
    static int32_t start[MORE / 2 + 1], column[MORE];
    static float value[MORE];
    struct ny_table rows = {.struct_bytes = sizeof(rows),
                            .dtype = NY_F32,
                            .index_bytes = 4,
                            .rows = MORE / 2,
                            .columns = D,
                            .values = value,
                            .row_start = start,
                            .column = column,
                            .entries = MORE};
    OWNED(ny_appender) *appender = NULL;
    int err;

    for (int i = 0; i < MORE; i++) {
        start[(i + 1) / 2] = i + 1;
        column[i] = i % 2 ? 0 : D - 1;
        value[i] = (float)(1 + i % 7);
    }
    err = ny_appender_open(&appender, ctx, fresh, NULL);
    if (err == NY_OK) err = ny_appender_put(appender, &rows);
    if (err == NY_OK) err = ny_appender_put(appender, &rows);
    if (err == NY_OK) err = ny_appender_commit(appender, NULL);
    return err;
}

/* Reads rows of "old" and of the points, and places these by the model of its image. */
static int view_and_place(struct ny_context *ctx)
{
    enum { COUNT = 50, MOST = COUNT * 8 };
    double values[COUNT * D];
    float embedding[MOST];
    struct ny_table rows = {.struct_bytes = sizeof(rows),
                            .dtype = NY_F64,
                            .rows = COUNT,
                            .columns = D,
                            .values = values};
    OWNED(ny_model) *stored = NULL, *model = NULL;
    struct ny_view *view = NULL;
    const void *image;
    size_t bytes;
    int err = ny_view_open(&view, ctx, store, "old");

    if (err == NY_OK) err = ny_view_read(view, "embedding", 5, COUNT, embedding);
    if (err == NY_OK && !ny_view_report(view)) err = ny_context_error(ctx)->status;
    ny_view_free(view);
    view = NULL;
    for (int i = 0; i < COUNT * D; i++)
        values[i] = i % 13;
    if (err == NY_OK) err = ny_model_open(&stored, ctx, store, "old");
    if (err == NY_OK) err = ny_model_image(stored, &image, &bytes);
    if (err == NY_OK) err = ny_model_load(&model, ctx, image, bytes);
    if (err == NY_OK) err = ny_model_place(model, &rows, NY_F32, embedding, 0);
    return err;
}

static int prepare(struct ny_context *ctx)
{
    static const struct work placing = {.input = table};
    int err = fit_with(ctx, store, "old", ALL_STAGES);

    write_matrices();
    at_work = &placing;
    if (err == NY_OK) err = transform_rows(ctx);
    if (err == NY_OK) keep_output(&placed);
    if (err == NY_OK) err = evaluate_old(ctx); /* what it finds is in the page */
    if (err == NY_OK) err = page_old(ctx);
    if (err == NY_OK) keep_output(&page);
    return err;
}

static const struct work list[] = {
    {"import", import_fresh, undo_fresh, 1, .rows = ROWS},
    {"import by columns", import_matrix, undo_fresh, 1, .rows = SORTED_ROWS, .check = check_named,
     .input = by_columns},
    {"import of npz", import_matrix, undo_fresh, 1, .rows = SORTED_ROWS, .input = scipy},
    {"append", append_fresh, undo_fresh, 1, .rows = ROWS + MORE},
    {"append tables", append_tables, undo_fresh, 1, .rows = MORE},
    {"view and place", view_and_place, nothing, .stride = 1},
    {"compact", compact_fresh, undo_fresh, 2, .rows = ROWS},
    {"truncate", truncate_fresh, undo_fresh, 1, .rows = ROWS / 2},
    {"transform", transform_rows, undo_output, 1, .first = &placed, .input = table},
    {"export", export_old, undo_output, 1, .first = &whole},
    {"page", page_old, undo_output, 16, .first = &page},
    {"picture in letters", letters_old, nothing, 16, .check = check_letters},
    {"report", report_all, nothing, .stride = 1},
    {"verify", verify_all, nothing, .stride = 1},
};

static const struct suite suite = {list, sizeof(list) / sizeof(list[0]), ROWS, prepare};
