/* Rows in memory through the public interface: tables of each type, stride and layout into a store,
 * and parts of it back through views. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nystream.h"
#include "support/api_case.h"

enum { ROWS = 3000, COLUMNS = 7, WIDE = 60 };

static struct api_case in;
static char log_text[4096];

static void keep_log(void *user, int level, const char *message)
{
    (void)user, (void)level;
    strncat(log_text, message, sizeof(log_text) - strlen(log_text) - 1);
}

static int setup(void **state)
{
    (void)state;
    log_text[0] = 0;
    if (api_case_begin(&in, "points.nys")) return -1;
    ny_context_set_log(in.ctx, keep_log, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    api_case_end(&in);
    return 0;
}

static void ok(int status)
{
    if (status) fail_msg("%d: %s", status, ny_context_message(in.ctx));
}

/* fails(STATUS, WORDS, call): the message has these words. */
static void fails(int status, const char *words, int got)
{
    const char *message = ny_context_message(in.ctx);

    if (got != status || !strstr(message, words))
        fail_msg("%d, not %d with '%s': %s", got, status, words, message);
}

static double value_of(int row, int column)
{
    return (row * 31 + column * 17) % 251;
}

/* Writes a value as the type that a table has. */
static void put(int dtype, void *array, size_t i, double value)
{
    if (dtype == NY_U8) ((uint8_t *)array)[i] = (uint8_t)value;
    if (dtype == NY_I16) ((int16_t *)array)[i] = (int16_t)value;
    if (dtype == NY_F32) ((float *)array)[i] = (float)value;
    if (dtype == NY_F64) ((double *)array)[i] = value;
}

static double get(int dtype, const void *array, size_t i)
{
    return dtype == NY_U8    ? ((const uint8_t *)array)[i]
           : dtype == NY_I16 ? ((const int16_t *)array)[i]
           : dtype == NY_F32 ? (double)((const float *)array)[i]
                             : ((const double *)array)[i];
}

static const size_t sizes[] = {0, 1, 2, 4, 8};

/* A dense table whose rows lie `gap` values apart; free() its values. */
static struct ny_table dense(int dtype, int gap)
{
    size_t stride = (size_t)(COLUMNS + gap);
    void *values = calloc(ROWS * stride, sizes[dtype]);

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS + gap; j++)
            put(dtype, values, (size_t)i * stride + (size_t)j, j < COLUMNS ? value_of(i, j) : 99);
    return (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                             .dtype = dtype,
                             .rows = ROWS,
                             .columns = COLUMNS,
                             .values = values,
                             .row_bytes = gap ? stride * sizes[dtype] : 0};
}

static uint64_t rows_of_store(void)
{
    struct ny_view *view;
    uint64_t rows = 0;

    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_shape(view, "points", &rows, NULL, NULL));
    ny_view_free(view);
    return rows;
}

static void each_type_and_stride_comes_back(void **state)
{
    (void)state;
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
        for (int gap = 0; gap < 2; gap++) {
            struct ny_table table = dense(dtype, 3 * gap);
            void *back = calloc(ROWS * COLUMNS, sizes[dtype]);
            struct ny_view *view;
            uint64_t rows, columns;
            int type;

            case_remove(in.store);
            ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
            ok(ny_view_open(&view, in.ctx, in.store, NULL));
            ok(ny_view_shape(view, "points", &rows, &columns, &type));
            assert_int_equal(rows, ROWS);
            assert_int_equal(columns, COLUMNS);
            assert_int_equal(type, dtype);
            ok(ny_view_read(view, "points", 0, ROWS, back));
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLUMNS; j++)
                    assert_true(get(dtype, back, (size_t)i * COLUMNS + (size_t)j) ==
                                value_of(i, j));
            ny_view_free(view);
            free(back);
            free((void *)(uintptr_t)table.values);
        }
}

static void rows_are_appended_and_converted_where_that_is_exact(void **state)
{
    struct ny_table table = dense(NY_F32, 0), wide = dense(NY_F64, 2);
    struct ny_report *report;
    double rows, n;
    float back[COLUMNS];
    struct ny_view *view;
    uint64_t last = 2 * ROWS - 1;

    (void)state;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_append(in.ctx, in.store, &wide, NULL, &report));
    assert_true(ny_report_number(report, "rows", &rows) && rows == ROWS);
    assert_true(ny_report_number(report, "n", &n) && n == 2 * ROWS);
    ny_report_free(report);
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_gather(view, "points", &last, 1, back));
    assert_true((double)back[2] == value_of(ROWS - 1, 2));
    ny_view_free(view);

    put(NY_F64, (void *)(uintptr_t)wide.values, 5 * (COLUMNS + 2) + 1, 1e6 + 3.5e-3);
    fails(NY_EDATA, "is not a value of f32", ny_append(in.ctx, in.store, &wide, NULL, NULL));
    put(NY_F64, (void *)(uintptr_t)wide.values, 5 * (COLUMNS + 2) + 1, (double)NAN);
    wide.name = "X";
    fails(NY_EDATA, "X: row 5 (from 0), column 2 (from 1) is NaN",
          ny_append(in.ctx, in.store, &wide, NULL, NULL));
    assert_int_equal(rows_of_store(), 2 * ROWS);
    free((void *)(uintptr_t)table.values);
    free((void *)(uintptr_t)wide.values);
}

static void options_of_an_import_act(void **state)
{
    struct ny_table table = dense(NY_F64, 0);
    struct ny_options *options;
    double labels[ROWS], back[3];
    struct ny_view *view;
    uint64_t source[3];

    (void)state;
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 4 ? i % 4 : (double)NAN;
    put(NY_F64, (void *)(uintptr_t)table.values, COLUMNS, (double)INFINITY);
    table.labels = labels;
    ok(ny_options_new(&options, in.ctx));
    ok(ny_options_set(options, "nan", "drop"));
    ok(ny_options_set(options, "dtype", "f32"));
    ok(ny_append(in.ctx, in.store, &table, options, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_read(view, "labels", 0, 3, back));
    assert_true(isnan(back[0]) && back[1] == 2 && back[2] == 3);
    ok(ny_view_read(view, "source", 0, 3, source));
    assert_true(source[0] == 0 && source[1] == 2 && source[2] == 3);
    fails(NY_EUSAGE, "not all in it", ny_view_read(view, "labels", ROWS - 2, 2, back));
    fails(NY_EUSAGE, "it has points, labels, source", ny_view_shape(view, "no", NULL, NULL, NULL));
    ny_view_free(view);
    ok(ny_options_set(options, "columns", "1,2"));
    fails(NY_EUSAGE, "--columns says how to read a file",
          ny_append(in.ctx, in.store, &table, options, NULL));
    ny_options_free(options);
    free((void *)(uintptr_t)table.values);
}

/* ---- sparse ------------------------------------------------------------------------------- */

struct csr {
    int64_t start[ROWS + 1], column[ROWS * 4];
    int32_t start32[ROWS + 1], column32[ROWS * 4];
    double value[ROWS * 4];
    struct ny_table table;
};

/* Row i has i % 4 entries, in falling order, and in rows that 8 divides less 1 one column twice. */
static struct csr *sparse(unsigned index_bytes)
{
    struct csr *csr = calloc(1, sizeof(*csr));
    int64_t at = 0;

    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < i % 4; k++, at++) {
            csr->column[at] = (i % 8 == 7 && k == 2) ? 50 - 9 : 50 - 9 * k;
            csr->value[at] = 1 + i % 5 + k;
        }
        csr->start[i + 1] = at;
    }
    for (int i = 0; i <= ROWS; i++)
        csr->start32[i] = (int32_t)csr->start[i];
    for (int64_t k = 0; k < at; k++)
        csr->column32[k] = (int32_t)csr->column[k];
    csr->table =
        (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                          .dtype = NY_F64,
                          .index_bytes = index_bytes,
                          .rows = ROWS,
                          .columns = WIDE,
                          .values = csr->value,
                          .row_start = index_bytes == 4 ? (void *)csr->start32 : (void *)csr->start,
                          .column = index_bytes == 4 ? (void *)csr->column32 : (void *)csr->column,
                          .entries = (uint64_t)at};
    return csr;
}

/* The row as plain numbers, by the definition of CSR. */
static void expand(const struct csr *csr, int row, double *values)
{
    memset(values, 0, WIDE * sizeof(double));
    for (int64_t k = csr->start[row]; k < csr->start[row + 1]; k++)
        values[csr->column[k]] += csr->value[k];
}

static void compare_dense(const struct csr *csr, struct ny_view *view)
{
    double *back = calloc(ROWS * WIDE, sizeof(double)), wanted[WIDE];

    ok(ny_view_read(view, "points", 0, ROWS, back));
    for (int i = 0; i < ROWS; i++) {
        expand(csr, i, wanted);
        assert_memory_equal(wanted, back + (size_t)i * WIDE, sizeof(wanted));
    }
    free(back);
}

static void compare_sparse(const struct csr *csr, struct ny_view *view)
{
    uint64_t start[101];
    uint32_t column[400];
    double value[400], wanted[WIDE];
    struct ny_csr_room room = {start, column, value, 400};

    ok(ny_view_read_sparse(view, 1000, 100, &room));
    for (int i = 0; i < 100; i++) {
        expand(csr, 1000 + i, wanted);
        for (uint64_t k = start[i]; k < start[i + 1]; k++) {
            assert_true(k == start[i] || column[k - 1] < column[k]);
            assert_true(value[k] == wanted[column[k]]);
            wanted[column[k]] = 0;
        }
        for (int j = 0; j < WIDE; j++)
            assert_true(wanted[j] == 0);
    }
    room.entries = 3;
    fails(NY_EUSAGE, "room for 3 entries", ny_view_read_sparse(view, 1000, 100, &room));
}

static void sparse_rows_in_any_order_come_back_in_both_layouts(void **state)
{
    static const char *const layouts[] = {"sparse", "dense"};

    (void)state;
    for (unsigned bytes = 4; bytes <= 8; bytes += 4)
        for (int l = 0; l < 2; l++) {
            struct csr *csr = sparse(bytes);
            struct ny_options *options;
            struct ny_view *view;

            case_remove(in.store);
            log_text[0] = 0;
            ok(ny_options_new(&options, in.ctx));
            ok(ny_options_set(options, "layout", layouts[l]));
            ok(ny_append(in.ctx, in.store, &csr->table, options, NULL));
            assert_non_null(strstr(log_text, "1500 rows had columns out of order"));
            assert_non_null(strstr(log_text, "375 named a column twice"));
            ok(ny_view_open(&view, in.ctx, in.store, NULL));
            compare_dense(csr, view);
            if (l == 0) compare_sparse(csr, view);
            ny_view_free(view);
            ny_options_free(options);
            free(csr);
        }
}

static void descriptions_that_lie_are_refused(void **state)
{
    struct csr *csr = sparse(8);
    struct ny_table table = csr->table;

    (void)state;
    csr->column[10] = WIDE;
    fails(NY_EDATA, "row 7 (from 0) names column 60",
          ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->column[10] = -1;
    fails(NY_EDATA, "names column -1", ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->start[100]--;
    csr->start[99] += 3;
    fails(NY_EUSAGE, "row_start[100] is less", ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->start[99] = (int64_t)csr->table.entries + 1;
    fails(NY_EUSAGE, "row_start[99] is beyond", ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->start[0] = -1;
    fails(NY_EUSAGE, "row_start[0] is beyond", ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.index_bytes = 2;
    fails(NY_EUSAGE, "4 or 8", ny_append(in.ctx, in.store, &table, NULL, NULL));
    free(csr);

    table = dense(NY_F32, 0);
    table.row_bytes = 4;
    fails(NY_EUSAGE, "overlap", ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.row_bytes = UINT64_MAX / 2;
    fails(NY_EUSAGE, "more than an array", ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.row_bytes = 0;
    table.dtype = NY_U64;
    fails(NY_EUSAGE, "none of NY_U8", ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.dtype = NY_F32;
    table.rows = 0;
    fails(NY_EDATA, "no points", ny_append(in.ctx, in.store, &table, NULL, NULL));
    free((void *)(uintptr_t)table.values);
    table.values = NULL;
    table.rows = 5;
    fails(NY_EUSAGE, "values is NULL", ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.struct_bytes = 8;
    fails(NY_EUSAGE, "struct_bytes", ny_append(in.ctx, in.store, &table, NULL, NULL));
    assert_int_not_equal(access(in.store, F_OK), 0); /* nothing is left behind */
}

/* ---- models ------------------------------------------------------------------------------- */

static void a_model_is_its_image(void **state)
{
    struct ny_table table = dense(NY_F32, 0);
    struct ny_model *stored, *copy, *file;
    char path[200];
    const void *image, *again;
    size_t bytes, same;
    float one[4 * 2], other[4 * 2];
    struct ny_report *report;
    double m;

    (void)state;
    snprintf(path, sizeof(path), "%s/out.nym", in.folder);
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "a", NULL, NULL));
    ok(ny_export(in.ctx, in.store, "a", "model", path));
    ok(ny_model_open(&stored, in.ctx, in.store, "a"));
    ok(ny_model_image(stored, &image, &bytes));
    ok(ny_model_load(&copy, in.ctx, image, bytes));
    ok(ny_model_load_file(&file, in.ctx, path));
    ok(ny_model_image(file, &again, &same));
    assert_int_equal(bytes, same);
    assert_memory_equal(image, again, bytes);
    assert_int_equal(ny_model_components(copy), 2);
    ok(ny_model_transform(stored, table.values, 4, one));
    ok(ny_model_transform(copy, table.values, 4, other));
    assert_memory_equal(one, other, sizeof(one));
    ok(ny_model_report(copy, &report));
    assert_string_equal(ny_report_text(report, "kernel"), "rbf");
    assert_true(ny_report_number(report, "d", &m) && m == COLUMNS);
    ny_report_free(report);
    ny_model_free(stored);
    ny_model_free(file);
    fails(NY_ESTORE, "image", ny_model_load(&file, in.ctx, path, 40));
    ny_model_free(copy);
    free((void *)(uintptr_t)table.values);
}

static void fit(const char *name, const char *const options[][2])
{
    struct ny_options *o;

    ok(ny_options_new(&o, in.ctx));
    for (size_t i = 0; options[i][0]; i++)
        ok(ny_options_set(o, options[i][0], options[i][1]));
    ok(ny_fit(in.ctx, in.store, name, o, NULL));
    ny_options_free(o);
}

/* Rows of the fit are placed where they are, from tables of each type into rooms of both. */
static void rows_in_memory_are_placed(void **state)
{
    static const char *const f64[][2] = {{"precision", "f64"}, {"components", "3"}, {NULL, NULL}};
    struct ny_table table = dense(NY_U8, 0), other;
    double *stored = calloc(ROWS * 3, sizeof(double)), wide[5 * 4];
    float narrow[5 * 3];
    struct ny_model *model;
    struct ny_view *view;

    (void)state;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    free((void *)(uintptr_t)table.values);
    fit("a", f64);
    ok(ny_view_open(&view, in.ctx, in.store, "a"));
    ok(ny_view_read(view, "embedding", 0, ROWS, stored));
    ny_view_free(view);
    ok(ny_model_open(&model, in.ctx, in.store, "a"));
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++) {
        other = dense(dtype, 2);
        other.rows = 5;
        ok(ny_model_place(model, &other, NY_F64, wide, 4 * sizeof(double)));
        ok(ny_place_rows(in.ctx, in.store, "a", &other, NY_F32, narrow));
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(wide[i * 4 + k] - stored[i * 3 + k]) < 1e-9);
                assert_true((float)wide[i * 4 + k] == narrow[i * 3 + k]);
            }
        free((void *)(uintptr_t)other.values);
    }
    other = dense(NY_F32, 0);
    other.rows = 0;
    ok(ny_model_place(model, &other, NY_F64, wide, 0));
    other.rows = 5;
    fails(NY_EUSAGE, "no room", ny_model_place(model, &other, NY_F64, wide, 8));
    fails(NY_EUSAGE, "NY_F32 or NY_F64", ny_model_place(model, &other, NY_U8, wide, 0));
    put(NY_F32, (void *)(uintptr_t)other.values, COLUMNS + 1, (double)NAN);
    fails(NY_EDATA, "row 1 (from 0), column 2 (from 1) is NaN",
          ny_model_place(model, &other, NY_F64, wide, 0));
    other.columns--;
    fails(NY_EDATA, "6 columns", ny_model_place(model, &other, NY_F64, wide, 0));
    free((void *)(uintptr_t)other.values);
    ny_model_free(model);
    free(stored);
}

/* Results without a model of their own: of all points, and of a graph. */
static void rows_are_placed_without_a_model(void **state)
{
    static const char *const whole[][2] = {{"approx", "exact"}, {NULL, NULL}},
                             *const graph[][2] = {{"map", "isomap"},
                                                  {"landmarks", "50"},
                                                  {"connect", NULL},
                                                  {NULL, NULL}};
    struct ny_table table = dense(NY_F32, 0);
    double placed[5 * 2], stored[5 * 2];
    float values[5 * 2];

    (void)state;
    table.rows = 600;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    fit("whole", whole);
    fit("graph", graph);
    table.rows = 5;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "graph" : "whole";

        ok(ny_embedding_read(in.ctx, in.store, name, 0, 5, values));
        ok(ny_place_rows(in.ctx, in.store, name, &table, NY_F64, placed));
        for (int k = 0; k < 10; k++) {
            stored[k] = (double)values[k];
            assert_true(fabs(placed[k] - stored[k]) < 1e-4 * (1 + fabs(stored[k])));
        }
    }
    free((void *)(uintptr_t)table.values);
}

/* ---- an appender -------------------------------------------------------------------------- */

static void tables_of_an_appender_become_visible_together(void **state)
{
    struct ny_table table = dense(NY_F32, 0), empty = table;
    struct ny_appender *appender;
    struct ny_report *report;
    double rows;

    (void)state;
    empty.rows = 0;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    ok(ny_appender_put(appender, &table));
    ok(ny_appender_put(appender, &empty));
    ok(ny_appender_put(appender, &table));
    assert_int_equal(rows_of_store(), ROWS);
    ok(ny_appender_commit(appender, &report));
    assert_true(ny_report_number(report, "rows", &rows) && rows == 2 * ROWS);
    ny_report_free(report);
    ny_appender_free(appender);
    assert_int_equal(rows_of_store(), 3 * ROWS);

    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    ok(ny_appender_put(appender, &table));
    table.columns--;
    fails(NY_EDATA, "6 columns", ny_appender_put(appender, &table));
    fails(NY_EUSAGE, "after a failure", ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    assert_int_equal(rows_of_store(), 3 * ROWS);

    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    fails(NY_EDATA, "no rows", ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    free((void *)(uintptr_t)table.values);
}

/* ---- what is around the library ------------------------------------------------------------ */

int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

/* Each call that multiplies leaves OpenBLAS the threads that the program gave it, also when it
 * fails. */
static void threads_of_openblas_are_given_back(void **state)
{
    struct ny_table table = dense(NY_F32, 0);
    float placed[ROWS * 2];
    struct ny_model *model;
    char path[200];

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        (void)(call);                                                                              \
        assert_int_equal(openblas_get_num_threads(), 3);                                           \
    } while (0)
    (void)state;
    snprintf(path, sizeof(path), "%s/out.npy", in.folder);
    openblas_set_num_threads(3);
    KEEPS(ny_append(in.ctx, in.store, &table, NULL, NULL));
    KEEPS(ny_plan(in.ctx, in.store, NULL, NULL));
    KEEPS(ny_gamma_grid(in.ctx, in.store, NULL, NULL));
    KEEPS(ny_fit(in.ctx, in.store, "a", NULL, NULL));
    KEEPS(ny_fit(in.ctx, in.store, "a", NULL, NULL)); /* which is done */
    KEEPS(ny_fit(in.ctx, "no.nys", "a", NULL, NULL));
    KEEPS(ny_resume(in.ctx, in.store, "a", NULL));
    KEEPS(ny_graph(in.ctx, in.store, "g", NULL, NULL));
    KEEPS(ny_evaluate(in.ctx, in.store, "a", NULL, NULL));
    KEEPS(ny_model_open(&model, in.ctx, in.store, "a"));
    KEEPS(ny_model_transform(model, table.values, ROWS, placed));
    KEEPS(ny_export(in.ctx, in.store, "a", "embedding", path));
    KEEPS(ny_transform(in.ctx, in.store, "a", path, path, NULL));
    ny_context_set_memory(in.ctx, 1 << 20);
    KEEPS(ny_fit(in.ctx, in.store, "b", NULL, NULL));
    KEEPS(ny_embed_file(in.ctx, path, path, NULL, NULL));
    KEEPS(ny_calibrate(in.ctx, NULL));
    openblas_set_num_threads(1);
    ny_model_free(model);
    free((void *)(uintptr_t)table.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_type_and_stride_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_appended_and_converted_where_that_is_exact, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(options_of_an_import_act, setup, teardown),
        cmocka_unit_test_setup_teardown(sparse_rows_in_any_order_come_back_in_both_layouts, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(descriptions_that_lie_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_model_is_its_image, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_in_memory_are_placed, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_placed_without_a_model, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_of_openblas_are_given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_of_an_appender_become_visible_together, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
