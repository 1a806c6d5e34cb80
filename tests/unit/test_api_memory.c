/* Rows in memory through the public interface: what no table and no option takes, and sums of long
 * rows. (Tables of each type, stride and layout: tests/python/test_data.py.) */
#include <sys/stat.h>

#include "base/memory.h"
#include "support/options.h"
#include "support/results.h"
#include "unit/table_case.h"

/* ---- sparse ------------------------------------------------------------------------------- */

struct csr {
    int64_t start[ROWS + 1], column[ROWS * 4];
    double value[ROWS * 4];
    struct ny_table table;
};

/* Row i has i % 4 entries, in falling order. */
static struct csr *sparse(void)
{
    struct csr *csr = lend_zeros(sizeof(*csr));
    int64_t at = 0;

    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < i % 4; k++, at++) {
            csr->column[at] = 50 - 9 * k;
            csr->value[at] = 1 + i % 5 + k;
        }
        csr->start[i + 1] = at;
    }
    csr->table = (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                                   .dtype = NY_F64,
                                   .index_bytes = 8,
                                   .rows = ROWS,
                                   .columns = WIDE,
                                   .values = csr->value,
                                   .row_start = csr->start,
                                   .column = csr->column,
                                   .entries = (uint64_t)at};
    return csr;
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
    room.entries = 3;
    fails(NY_EUSAGE, ny_view_read_sparse(view, 0, LONG_ROWS, &room));
    for (int i = 0; i < LONG_ROWS; i++)
        compare_long_row(i, back_column + back_start[i], back + back_start[i],
                         back_start[i + 1] - back_start[i]);
}

TEST(descriptions_that_lie_are_refused)
{
    static const char *const words[] = {"dog", "7", "NA"};
    struct csr *csr = sparse();
    struct ny_table table = csr->table;
    double labels[ROWS] = {0};

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

    table = dense(NY_F32, 0);
    table.labels = labels;
    table.classes = 3;
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.class_names = words;
    for (labels[5] = 3; labels[5] > 0; labels[5] -= 2.5) {
        fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
    }
    assert_int_not_equal(access(in.store, F_OK), 0); /* nothing is left behind */
}

/* ---- in the place of files ---------------------------------------------------------------- */

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
    char *command = lend_text("test -z \"$(ls -A '%s')\"", folder);

    assert_int_equal(system(command), 0);
}

static struct ny_options *scratch_options(const char *folder)
{
    struct ny_options *options;

    options = options_with(in.ctx, "tmpdir=%s landmarks=30", folder);
    return options;
}

TEST(what_cannot_be_embedded_leaves_nothing)
{
    float found[ROWS * 2];
    size_t placed = 0;
    struct ny_table rows = dense(NY_F64, 0);
    OWNED(ny_options) *options = NULL;
    struct ny_report *report = (void *)&rows;
    struct ny_model *model = (void *)&rows;
    char *folder = lend_text("%s/scratch", in.folder);

    assert_int_equal(mkdir(folder, 0777), 0);
    options = scratch_options(folder);
    rows.name = "X";
    fails(NY_EUSAGE,
          ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_U8, found}, NULL, NULL));
    case_put((void *)(uintptr_t)rows.values, NY_F64, 5 * COLUMNS + 1, (double)NAN);
    fails(NY_EDATA, ny_embed(in.ctx, &rows, options, &(struct ny_dense_room){NY_F32, found}, &model,
                             &report));
    assert_null(model);
    assert_null(report);
    nothing_is_left(folder);
    case_put((void *)(uintptr_t)rows.values, NY_F64, 5 * COLUMNS + 1, 1);
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

AROUND_EACH(setup, api_case_end)
