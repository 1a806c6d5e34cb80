/* Rows in memory through the public interface: tables of each type, stride and layout into a store,
 * and parts of it back through views. */
#include <sys/stat.h>

#include "base/memory.h"
#include "support/options.h"
#include "support/results.h"
#include "unit/table_case.h"

static uint64_t rows_of_store(void)
{
    OWNED(ny_view) *view = NULL;
    uint64_t rows = 0;

    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_shape(view, "points", &rows, NULL, NULL));
    return rows;
}

TEST(each_type_and_stride_comes_back)
{
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
        for (int gap = 0; gap < 2; gap++) {
            struct ny_table table = dense(dtype, 3 * gap);
            void *back = lend_zeros(ROWS * COLUMNS * sizes[dtype]);
            OWNED(ny_view) *view = NULL;
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
        }
}

TEST(rows_are_appended_and_converted_where_that_is_exact)
{
    struct ny_table table = dense(NY_F32, 0), wide = dense(NY_F64, 2);
    OWNED(ny_report) *report = NULL;
    float back[COLUMNS];
    struct ny_view *view;
    uint64_t last = 2 * ROWS - 1;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_append(in.ctx, in.store, &wide, NULL, &report));
    assert_true(number_of(report, "rows") == ROWS);
    assert_true(number_of(report, "n") == 2 * ROWS);
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_gather(view, "points", &last, 1, back));
    assert_true((double)back[2] == value_of(ROWS - 1, 2));
    ny_view_free(view);

    put(NY_F64, (void *)(uintptr_t)wide.values, 5 * (COLUMNS + 2) + 1, -3e39);
    fails(NY_EDATA, ny_append(in.ctx, in.store, &wide, NULL, NULL));
    put(NY_F64, (void *)(uintptr_t)wide.values, 5 * (COLUMNS + 2) + 1, (double)NAN);
    wide.name = "X";
    fails(NY_EDATA, ny_append(in.ctx, in.store, &wide, NULL, NULL));
    assert_int_equal(rows_of_store(), 2 * ROWS);
}

TEST(options_of_an_import_act)
{
    struct ny_table table = dense(NY_F64, 0);
    OWNED(ny_options) *options = NULL;
    double labels[ROWS], back[3];
    struct ny_view *view;
    uint64_t source[3];

    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 4 ? i % 4 : (double)NAN;
    put(NY_F64, (void *)(uintptr_t)table.values, COLUMNS, (double)INFINITY);
    table.labels = labels;
    options = options_with(in.ctx, "nan=drop dtype=f32");
    ok(ny_append(in.ctx, in.store, &table, options, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_read(view, "labels", 0, 3, back));
    assert_true(isnan(back[0]) && back[1] == 2 && back[2] == 3);
    ok(ny_view_read(view, "source", 0, 3, source));
    assert_true(source[0] == 0 && source[1] == 2 && source[2] == 3);
    fails(NY_EUSAGE, ny_view_read(view, "labels", ROWS - 2, 2, back));
    fails(NY_EUSAGE, ny_view_shape(view, "no", NULL, NULL, NULL));
    ny_view_free(view);
    ok(ny_options_set(options, "columns", "1,2"));
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, options, NULL));
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
    struct csr *csr = lend_zeros(sizeof(*csr));
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
    double *back = lend_zeros(ROWS * WIDE * sizeof(double)), wanted[WIDE];

    ok(ny_view_read(view, "points", 0, ROWS, back));
    for (int i = 0; i < ROWS; i++) {
        expand(csr, i, wanted);
        assert_memory_equal(wanted, back + (size_t)i * WIDE, sizeof(wanted));
    }
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
    fails(NY_EUSAGE, ny_view_read_sparse(view, 1000, 100, &room));
}

TEST(sparse_rows_in_any_order_come_back_in_both_layouts)
{
    static const char *const layouts[] = {"sparse", "dense"};

    for (unsigned bytes = 4; bytes <= 8; bytes += 4)
        for (int l = 0; l < 2; l++) {
            struct csr *csr = sparse(bytes);
            OWNED(ny_options) *options = NULL;
            OWNED(ny_view) *view = NULL;

            case_remove(in.store);
            options = options_with(in.ctx, "layout=%s", layouts[l]);
            ok(ny_append(in.ctx, in.store, &csr->table, options, NULL));
            ok(ny_view_open(&view, in.ctx, in.store, NULL));
            compare_dense(csr, view);
            if (l == 0) compare_sparse(csr, view);
        }
}

enum { LONG = 2000, LONG_ROWS = 30, LONG_COLUMNS = 100000 };

/* Long rows in no order, whose columns come up to three times; sums of values depend on the order
 * of adding, and some are 0. Row i is made again by the same i. */
static void long_row(int i, int64_t *column, double *value)
{
    static const double parts[] = {1e16, 1, -1e16, 3, -3, 0};
    uint64_t state = (uint64_t)i + 1;

    for (int k = 0; k < LONG; k++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        column[k] = (int64_t)((state >> 33) % (LONG / 2)) * (LONG_COLUMNS / (LONG / 2)) + 99;
        value[k] = parts[(state >> 20) % 6];
    }
}

static void compare_long_row(int i, const uint32_t *column, const double *value, uint64_t count)
{
    static double wanted[LONG_COLUMNS];
    static int64_t columns[LONG];
    static double values[LONG];

    memset(wanted, 0, sizeof(wanted));
    long_row(i, columns, values);
    for (int k = 0; k < LONG; k++)
        wanted[columns[k]] += values[k];
    for (uint64_t k = 0; k < count; k++) {
        assert_true(k == 0 || column[k - 1] < column[k]);
        assert_true(value[k] != 0 && value[k] == wanted[column[k]]);
        wanted[column[k]] = 0;
    }
    for (int j = 0; j < LONG_COLUMNS; j++)
        assert_true(wanted[j] == 0);
}

TEST(values_of_a_column_are_added_in_the_order_of_a_long_row)
{
    static int64_t start[LONG_ROWS + 1], column[LONG_ROWS * LONG];
    static double value[LONG_ROWS * LONG], back[LONG_ROWS * LONG];
    static uint64_t back_start[LONG_ROWS + 1];
    static uint32_t back_column[LONG_ROWS * LONG];
    const struct ny_table table = {.struct_bytes = sizeof(table),
                                   .dtype = NY_F64,
                                   .index_bytes = 8,
                                   .rows = LONG_ROWS,
                                   .columns = LONG_COLUMNS,
                                   .values = value,
                                   .row_start = start,
                                   .column = column,
                                   .entries = LONG_ROWS * LONG};
    struct ny_csr_room room = {back_start, back_column, back, LONG_ROWS * LONG};
    OWNED(ny_view) *view = NULL;

    for (int i = 0; i < LONG_ROWS; i++) {
        long_row(i, column + (size_t)i * LONG, value + (size_t)i * LONG);
        start[i + 1] = (int64_t)(i + 1) * LONG;
    }
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_read_sparse(view, 0, LONG_ROWS, &room));
    for (int i = 0; i < LONG_ROWS; i++)
        compare_long_row(i, back_column + back_start[i], back + back_start[i],
                         back_start[i + 1] - back_start[i]);
}

TEST(descriptions_that_lie_are_refused)
{
    struct csr *csr = sparse(8);
    struct ny_table table = csr->table;

    csr->column[10] = WIDE;
    fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->column[10] = -1;
    fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->start[100]--;
    csr->start[99] += 3;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->start[99] = (int64_t)csr->table.entries + 1;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    csr->start[0] = -1;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.index_bytes = 2;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));

    table = dense(NY_F32, 0);
    table.row_bytes = 4;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.row_bytes = UINT64_MAX / 2;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.row_bytes = 0;
    table.dtype = NY_U64;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.dtype = NY_F32;
    table.rows = 0;
    fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.values = NULL;
    table.rows = 5;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.struct_bytes = 8;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    assert_int_not_equal(access(in.store, F_OK), 0); /* nothing is left behind */
}

/* ---- an appender -------------------------------------------------------------------------- */

TEST(tables_of_an_appender_become_visible_together)
{
    struct ny_table table = dense(NY_F32, 0), empty = table;
    struct ny_appender *appender;
    struct ny_report *report;

    empty.rows = 0;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    ok(ny_appender_put(appender, &table));
    ok(ny_appender_put(appender, &empty));
    ok(ny_appender_put(appender, &table));
    assert_int_equal(rows_of_store(), ROWS);
    ok(ny_appender_commit(appender, &report));
    assert_true(number_of(report, "rows") == 2 * ROWS);
    ny_report_free(report);
    ny_appender_free(appender);
    assert_int_equal(rows_of_store(), 3 * ROWS);

    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    ok(ny_appender_put(appender, &table));
    table.columns--;
    fails(NY_EDATA, ny_appender_put(appender, &table));
    fails(NY_EUSAGE, ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    assert_int_equal(rows_of_store(), 3 * ROWS);

    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    fails(NY_EDATA, ny_appender_commit(appender, NULL));
    ny_appender_free(appender);

    case_remove(in.store);
    ok(ny_appender_open(&appender, in.ctx, in.store, NULL));
    ok(ny_appender_put(appender, &table));
    table.columns--;
    fails(NY_EDATA, ny_appender_put(appender, &table));
    ny_appender_free(appender);
}

/* ---- in the place of files ---------------------------------------------------------------- */

/* Fits by landmarks of a table, which is overwritten before the fit, and reads the embedding. */
static void fit_by(const char *option, const struct ny_table *table, size_t bytes, float *rows)
{
    struct ny_options *options;
    size_t before = ny_memory_used(in.ctx);

    ok(ny_options_new(&options, in.ctx));
    ok(ny_options_set_table(options, option, table));
    assert_true(ny_memory_used(in.ctx) - before >= bytes);
    assert_memory_equal(ny_options_get(options, option), "table ", 6);
    memset((void *)(uintptr_t)table->values, 0, bytes);
    ok(ny_fit(in.ctx, in.store, "f", options, NULL));
    ny_options_free(options);
    assert_true(ny_memory_used(in.ctx) == before);
    ok(ny_embedding_read(in.ctx, in.store, "f", 0, ROWS, rows));
    ok(ny_remove(in.ctx, in.store, "f"));
}

TEST(options_take_tables_in_the_place_of_files)
{
    enum { M = 20 };
    static float by[3][ROWS * 2];
    struct ny_table rows = dense(NY_F32, 0), points = dense(NY_F64, 2);
    double numbers[M];
    const struct ny_table list = {
        .struct_bytes = sizeof(list), .dtype = NY_F64, .rows = M, .columns = 1, .values = numbers};

    ok(ny_append(in.ctx, in.store, &rows, NULL, NULL));
    for (int i = 0; i < M; i++)
        numbers[i] = i;
    points.rows = M; /* the first rows */
    fit_by("landmarks-file", &list, sizeof(numbers), by[0]);
    fit_by("landmarks-points", &points, M * COLUMNS * sizeof(double), by[1]);
    assert_memory_equal(by[0], by[1], sizeof(by[0]));
}

TEST(tables_that_options_do_not_take)
{
    double values[4] = {1, 2.5, 3, 4};
    struct ny_table table = {.struct_bytes = sizeof(table),
                             .name = "D",
                             .dtype = NY_F64,
                             .rows = 2,
                             .columns = 2,
                             .values = values};
    struct ny_table rows = dense(NY_F32, 0);
    OWNED(ny_options) *options = NULL;

    ok(ny_append(in.ctx, in.store, &rows, NULL, NULL));
    ok(ny_options_new(&options, in.ctx));
    fails(NY_EUSAGE, ny_options_set_table(options, "columns-file", &table));
    fails(NY_EUSAGE, ny_options_set_table(options, "no", &table));
    ok(ny_options_set_table(options, "landmarks-file", &table));
    fails(NY_EDATA, ny_fit(in.ctx, in.store, "f", options, NULL));
    table.rows = 4;
    table.columns = 1;
    ok(ny_options_set_table(options, "landmarks-file", &table)); /* in the place of the last */
    fails(NY_EDATA, ny_fit(in.ctx, in.store, "f", options, NULL));
    table.rows = 0;
    fails(NY_EDATA, ny_options_set_table(options, "landmarks-file", &table));
    table.rows = UINT64_MAX / 8;
    fails(NY_EUSAGE, ny_options_set_table(options, "landmarks-file", &table));
    table.struct_bytes = 3;
    fails(NY_EUSAGE, ny_options_set_table(options, "landmarks-file", &table));
}

/* ---- one call ----------------------------------------------------------------------------- */

/* The folder of scratch stores is empty again. */
static void nothing_is_left(const char *folder)
{
    char command[300];

    snprintf(command, sizeof(command), "test -z \"$(ls -A '%s')\"", folder);
    assert_int_equal(system(command), 0);
}

static struct ny_options *scratch_options(const char *folder)
{
    struct ny_options *options;

    options = options_with(in.ctx, "tmpdir=%s landmarks=30", folder);
    return options;
}

/* The call gives what append, fit and read give, in either type, and a model that places the rows
 * there. */
TEST(rows_are_embedded_in_one_call)
{
    static float wanted[ROWS * 2], found[ROWS * 2], placed[ROWS * 2];
    static double wide[ROWS * 2];
    struct ny_table rows = dense(NY_F32, 1);
    OWNED(ny_options) *options = NULL;
    OWNED(ny_report) *report = NULL;
    OWNED(ny_model) *model = NULL;
    char folder[160];

    snprintf(folder, sizeof(folder), "%s/scratch", in.folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    options = scratch_options(folder);
    ok(ny_append(in.ctx, in.store, &rows, NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "f", options, NULL));
    ok(ny_embedding_read(in.ctx, in.store, "f", 0, ROWS, wanted));
    ok(ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found}, &model, &report));
    nothing_is_left(folder);
    assert_memory_equal(found, wanted, sizeof(wanted));
    assert_true(number_of(report, "n") == ROWS);
    ok(ny_model_place(model, &rows, NY_F32, placed, 0));
    assert_memory_equal(placed, wanted, sizeof(wanted));
    ok(ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F64, wide}, NULL, NULL));
    for (size_t i = 0; i < ROWS * 2; i++)
        assert_true(wide[i] == (double)wanted[i]);
}

TEST(what_cannot_be_embedded_leaves_nothing)
{
    float found[ROWS * 2];
    size_t placed = 0;
    struct ny_table rows = dense(NY_F64, 0);
    OWNED(ny_options) *options = NULL;
    struct ny_report *report = (void *)&rows;
    struct ny_model *model = (void *)&rows;
    char folder[160];

    snprintf(folder, sizeof(folder), "%s/scratch", in.folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    options = scratch_options(folder);
    rows.name = "X";
    fails(NY_EUSAGE,
          ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_U8, found}, NULL, NULL));
    put(NY_F64, (void *)(uintptr_t)rows.values, 5 * COLUMNS + 1, (double)NAN);
    fails(NY_EDATA, ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found}, &model,
                             &report));
    assert_null(model);
    assert_null(report);
    nothing_is_left(folder);
    put(NY_F64, (void *)(uintptr_t)rows.values, 5 * COLUMNS + 1, 1);
    ok(ny_options_set(options, "map", "isomap"));
    fails(NY_EDATA,
          ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found}, NULL, &report));
    ok(ny_options_set(options, "largest", "yes"));
    ok(ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found}, NULL, NULL));
    for (size_t i = 0; i < ROWS; i++)
        placed += !isnan(found[2 * i]) && !isnan(found[2 * i + 1]);
    assert_int_equal(placed, 13); /* the others have no place */
    found[0] = 7;
    fails(NY_EUSAGE, ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found},
                              &model, &report));
    assert_null(report);
    assert_true(found[0] == 7); /* it was refused before any work */
    nothing_is_left(folder);
    ok(ny_options_set(options, "nan", "keep"));
    fails(NY_EUSAGE,
          ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found}, NULL, NULL));
}

AROUND_EACH(setup, teardown)
