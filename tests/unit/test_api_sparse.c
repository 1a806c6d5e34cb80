/* Sparse rows in memory whose columns rise, as most have them: they are copied as they are, and one
 * thing that is wrong with a row is found all the same. */
#include "unit/table_case.h"

enum { N = 40, IN_ROW = 3, ENTRIES = N * IN_ROW, FAULTY = 5, AT = FAULTY * IN_ROW };

/* Rows of three entries, with columns and row_start of 4 and of 8 bytes. */
static int32_t start32[N + 1], column32[ENTRIES];
static int64_t start64[N + 1], column64[ENTRIES];
static double value[ENTRIES];

static struct ny_table rising(unsigned index_bytes)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < IN_ROW; k++) {
            column32[i * IN_ROW + k] = i % 7 + 8 * k; /* up to 22 */
            value[i * IN_ROW + k] = 1 + i + k;
        }
    for (int i = 0; i <= N; i++)
        start64[i] = start32[i] = i * IN_ROW;
    for (int k = 0; k < ENTRIES; k++)
        column64[k] = column32[k];
    return (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                             .dtype = NY_F64,
                             .index_bytes = index_bytes,
                             .rows = N,
                             .columns = WIDE,
                             .values = value,
                             .row_start = index_bytes == 4 ? (void *)start32 : (void *)start64,
                             .column = index_bytes == 4 ? (void *)column32 : (void *)column64,
                             .entries = ENTRIES};
}

/* Changes an entry of the row that is at fault. */
static void set(int entry, int column, double to)
{
    column64[AT + entry] = column32[AT + entry] = column;
    value[AT + entry] = to;
}

/* Appends the table, of which `rows` rows come back, and reads the row at fault; returns how many
 * entries it has. */
static uint64_t append_and_read(const struct ny_table *table, const struct ny_options *options,
                                uint64_t rows, uint32_t *column, double *values)
{
    struct ny_csr_room room = {(uint64_t[2]){0}, column, values, IN_ROW};
    uint64_t there;
    OWNED(ny_view) *view = NULL;

    case_remove(in.store);
    log_text[0] = 0;
    ok(ny_append(in.ctx, in.store, table, options, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_shape(view, "points", &there, NULL, NULL));
    assert_int_equal(there, rows);
    ok(ny_view_read_sparse(view, FAULTY, 1, &room));
    return room.row_start[1];
}

TEST(rows_that_rise_are_copied)
{
    uint64_t start[N + 1];
    uint32_t column[ENTRIES];
    double back[ENTRIES];
    struct ny_csr_room room = {start, column, back, ENTRIES};

    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        struct ny_table table = rising(bytes);
        OWNED(ny_view) *view = NULL;

        case_remove(in.store);
        ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
        assert_string_equal(log_text, "");
        ok(ny_view_open(&view, in.ctx, in.store, NULL));
        ok(ny_view_read_sparse(view, 0, N, &room));
        for (int i = 0; i <= N; i++)
            assert_int_equal(start[i], start32[i]);
        for (int k = 0; k < ENTRIES; k++)
            assert_int_equal(column[k], column32[k]);
        assert_memory_equal(back, value, sizeof(value));
    }
}

/* Rows stay sparse where fewer than one value in eight is not 0. */
TEST(few_entries_stay_sparse)
{
    struct ny_table table = rising(4);

    for (int columns = 8 * IN_ROW; columns <= 8 * IN_ROW + 1; columns++) {
        OWNED(ny_report) *report = NULL;

        case_remove(in.store);
        table.columns = (uint64_t)columns;
        ok(ny_append(in.ctx, in.store, &table, NULL, &report));
        assert_string_equal(ny_report_text(report, "format"),
                            columns > 8 * IN_ROW ? "sparse" : "dense");
    }
}

TEST(a_column_twice_is_added_and_zeros_are_left_out)
{
    uint32_t column[IN_ROW];
    double back[IN_ROW];

    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        struct ny_table table = rising(bytes);

        set(2, column32[AT + 1], 4); /* that of the entry before */
        assert_int_equal(append_and_read(&table, NULL, N, column, back), 2);
        assert_true(column[1] == (uint32_t)column32[AT + 1] && back[1] == value[AT + 1] + 4);

        set(2, column32[AT + 1], -value[AT + 1]);
        assert_int_equal(append_and_read(&table, NULL, N, column, back), 1);
        assert_true(column[0] == (uint32_t)column32[AT] && back[0] == value[AT]);

        set(2, 50, 0);
        assert_int_equal(append_and_read(&table, NULL, N, column, back), 2);
        assert_string_equal(log_text, "");
    }
}

TEST(entries_that_cannot_be_are_told_with_their_place)
{
    uint32_t column[IN_ROW];
    double back[IN_ROW];
    OWNED(ny_options) *options = NULL;

    ok(ny_options_new(&options, in.ctx));
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        struct ny_table table = rising(bytes);

        case_remove(in.store);
        set(2, WIDE, 1);
        fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
        set(2, 50, (double)NAN);
        fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
        ok(ny_options_set(options, "nan", "drop"));
        assert_int_equal(append_and_read(&table, options, N - 1, column, back), IN_ROW);
        assert_true(back[0] == value[AT + IN_ROW]); /* the row behind it is in its place */
        ok(ny_options_set(options, "nan", "error"));

        case_remove(in.store);
        set(2, 50, 2.5);
        ok(ny_options_set(options, "dtype", "u8"));
        fails(NY_EDATA, ny_append(in.ctx, in.store, &table, options, NULL));
        ok(ny_options_set(options, "dtype", "auto"));
    }
}

TEST(values_for_f32_are_rounded_and_not_kept_where_they_are_0)
{
    int32_t start[] = {0, 1, 3}, column[] = {4, 1, 2};
    double values[] = {1, 0.1, 1e-60};
    struct ny_table table = rising(4);
    OWNED(ny_view) *view = NULL;
    uint64_t starts[N + 3];
    uint32_t columns[ENTRIES + 3];
    float back[ENTRIES + 3];
    const struct ny_csr_room room = {starts, columns, back, ENTRIES + 3};

    for (int k = 0; k < ENTRIES; k++)
        ((float *)(void *)value)[k] = (float)(1 + k);
    table.dtype = NY_F32;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    table.dtype = NY_F64;
    table.rows = 2;
    table.values = values;
    table.row_start = start;
    table.column = column;
    table.entries = 3;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_read_sparse(view, N, 2, &room));
    assert_int_equal(starts[2], 2);
    assert_true(columns[0] == 4 && back[0] == 1 && columns[1] == 1 && back[1] == 0.1F);
    values[2] = 1e39;
    fails(NY_EDATA, ny_append(in.ctx, in.store, &table, NULL, NULL));
}

AROUND_EACH(setup, api_case_end)
