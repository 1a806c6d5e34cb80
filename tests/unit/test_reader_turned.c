/* npy files in Fortran order: as the same table in the order of rows, in blocks of any size. */
#include "reader_support.h"

enum { ROWS = 1013, D = 37, KEPT = 4 };

static uint64_t value_of(uint64_t row, uint64_t column)
{
    return (row * 31 + column * 7) % 251;
}

/* Writes the values as whole numbers, or as f4 or f8. */
static const char *write_table(char kind, size_t size)
{
    const size_t room = (size_t)ROWS * D * 8;
    unsigned char *data = lend_zeros(room), *file = lend(room + 256), *at = data;
    char header[128];
    const char *path;

    for (uint64_t j = 0; j < D; j++)
        for (uint64_t i = 0; i < ROWS; i++, at += size) {
            uint64_t value = value_of(i, j);
            float f4 = (float)value;
            double f8 = (double)value;

            if (kind == 'f' && size == 4)
                memcpy(at, &f4, size);
            else if (kind == 'f')
                memcpy(at, &f8, size);
            else
                for (size_t b = 0; b < size; b++) /* big-endian */
                    at[size - 1 - b] = (unsigned char)(value >> 8 * b);
        }
    snprintf(header, sizeof(header),
             "{'descr': '%c%c%zu', 'fortran_order': True, 'shape': (%d, %d)}",
             kind == 'f' ? '=' : '>', kind, size, ROWS, D);
    path = support_file("x.npy", file, support_npy(file, header, data, (size_t)(at - data)));
    return path;
}

/* Compares rows from `first` on with the columns that are kept. */
static void check_rows(const struct support_table *table, uint64_t first, const uint64_t *columns,
                       uint64_t d)
{
    assert_int_equal(table->d, d);
    assert_int_equal(table->rows, ROWS - first);
    for (uint64_t r = 0; r < table->rows; r++)
        for (uint64_t c = 0; c < d; c++)
            assert_true(table->values[r * d + c] ==
                        (double)value_of(first + r, columns ? columns[c] : c));
}

static void read_all(const char *path)
{
    static const uint64_t kept[KEPT] = {0, 16, 17, 36};
    const struct ny_reader_options lists[] = {
        {.columns = NULL}, {.columns = "1,17-18,37"}, {.drop_columns = "2-16,19-36"}};
    const uint64_t passed[] = {0, 1, 500, ROWS - 1};

    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 4; i++) {
            struct support_table table;
            OWNED(ny_reader) *reader = NULL;

            assert_int_equal(ny_reader_open(&reader, ctx, path, &lists[k]), NY_OK);
            assert_int_equal(ny_reader_table(reader)->rows, ROWS);
            assert_int_equal(ny_reader_skip(reader, passed[i], 0), NY_OK);
            assert_int_equal(support_rest(reader, 100, &table), NY_END);
            check_rows(&table, passed[i], k ? kept : NULL, k ? KEPT : D);
        }
}

TEST(rows_are_those_of_the_array)
{
    static const struct {
        char kind;
        size_t size;
    } types[] = {{'u', 1}, {'i', 2}, {'i', 4}, {'f', 4}, {'u', 8}, {'f', 8}};
    const uint64_t budget = ny_context_memory(ctx);
    const uint64_t budgets[] = {budget, 1200 << 10, 700 << 10}; /* one block, some, many */

    for (size_t b = 0; b < 3; b++)
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
            ny_context_set_memory(ctx, budgets[b]);
            read_all(write_table(types[t].kind, types[t].size));
            ny_context_set_memory(ctx, budget);
        }
}

/* A file that gets shorter while it is read. */
TEST(a_cut_file_is_an_error)
{
    const char *path = write_table('f', 4);
    struct support_table table;
    OWNED(ny_reader) *reader = NULL;

    assert_int_equal(ny_reader_open(&reader, ctx, path, NULL), NY_OK);
    assert_int_equal(truncate(path, 4 * ROWS * (D - 1)), 0);
    assert_int_equal(support_rest(reader, 100, &table), NY_EDATA);
}

AROUND_ALL(support_setup, remove_folder)
