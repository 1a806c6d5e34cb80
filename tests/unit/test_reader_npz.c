/* io/npz.c: sparse matrices of scipy, by rows and by columns, and files that are none. */
#include "reader_support.h"

#include "support/npz_case.h"

enum { ROWS = 4, COLUMNS = 5, ENTRIES = 8 };

static const int64_t shape[2] = {ROWS, COLUMNS};
static const double wanted[ROWS * COLUMNS] = {1, 0, 2, 0, 0, 0, 0, 0, 0, 0,
                                              3, 4, 0, 5, 6, 0, 0, 7, 0, 8};

/* The matrix by rows. */
static const int32_t indptr[ROWS + 1] = {0, 2, 2, 6, 8};
static const int32_t indices[ENTRIES] = {0, 2, 0, 1, 3, 4, 2, 4};
static const uint8_t data[ENTRIES] = {1, 2, 3, 4, 5, 6, 7, 8};

static unsigned char archive[NPZ_CASE_BYTES];

static const char *write_npz(const struct npz_case_array *arrays, size_t count,
                             struct npz_case_how how)
{
    return support_file("m.npz", archive, npz_case_zip(archive, arrays, count, how));
}

static void by_rows(struct npz_case_array arrays[5])
{
    npz_case_matrix(arrays, "csr", shape, indptr, ROWS, indices, data, ENTRIES);
}

static void check_wanted(const char *path, const struct ny_reader_options *options)
{
    for (size_t batch = 1; batch <= ROWS + 1; batch++) {
        struct support_table table;

        assert_reads(path, options, batch, &table);
        assert_string_equal(table.format, "npz");
        assert_int_equal(table.rows, ROWS);
        assert_int_equal(table.d, COLUMNS);
        assert_memory_equal(table.values, wanted, sizeof(wanted));
    }
}

static void refuses(const char *path, int status)
{
    assert_refused(path, NULL, status);
    assert_string_equal(ny_context_error(ctx)->file, path);
}

/* ---- what is read --------------------------------------------------------------------------- */

TEST(rows_come_stored_deflated_and_with_64_bits)
{
    struct npz_case_array arrays[5];

    by_rows(arrays);
    for (int way = 0; way < 4; way++)
        check_wanted(
            write_npz(arrays, 5, (struct npz_case_how){.deflate = way & 1, .zip64 = way & 2}),
            NULL);
}

/* Each type as npy has it, in both byte orders. */
TEST(types_are_those_of_npy)
{
    static const int64_t wide[ENTRIES] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float single[ENTRIES] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint16_t big[ENTRIES] = {0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800};
    static const int64_t wide_indices[ENTRIES] = {0, 2, 0, 1, 3, 4, 2, 4};
    static const int64_t wide_indptr[ROWS + 1] = {0, 2, 2, 6, 8};
    static const struct {
        const char *descr;
        const void *data;
        size_t bytes;
        enum ny_dtype dtype;
    } cases[] = {{"|u1", data, 1, NY_U8},    {"|b1", data, 1, NY_U8}, {"<i8", wide, 8, NY_F64},
                 {"<f4", single, 4, NY_F32}, {">i2", big, 2, NY_I16}, {">u2", big, 2, NY_F32}};
    struct npz_case_array arrays[5];

    by_rows(arrays);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct support_table table;

        arrays[4].descr = cases[i].descr;
        arrays[4].data = cases[i].data;
        arrays[4].bytes = cases[i].bytes * ENTRIES;
        assert_reads(write_npz(arrays, 5, (struct npz_case_how){0}), NULL, 2, &table);
        assert_int_equal(table.dtype, cases[i].dtype);
        assert_memory_equal(table.values, wanted, sizeof(wanted));
    }
    arrays[0] =
        (struct npz_case_array){"indices.npy", "<i8", "(8,)", wide_indices, sizeof(wide_indices)};
    arrays[1] =
        (struct npz_case_array){"indptr.npy", "<i8", "(5,)", wide_indptr, sizeof(wide_indptr)};
    check_wanted(write_npz(arrays, 5, (struct npz_case_how){0}), NULL);
}

TEST(columns_are_sorted_by_row)
{
    static const int64_t turned[2] = {COLUMNS, ROWS};
    static const int32_t starts[COLUMNS + 1] = {0, 2, 3, 5, 6, 8};
    static const int32_t rows[ENTRIES] = {0, 2, 2, 0, 3, 2, 2, 3};
    static const uint8_t values[ENTRIES] = {1, 3, 4, 2, 7, 5, 6, 8};
    const struct ny_reader_options transpose = {.transpose = true};
    struct npz_case_array arrays[5];

    npz_case_matrix(arrays, "csc", shape, starts, COLUMNS, rows, values, ENTRIES);
    check_wanted(write_npz(arrays, 5, (struct npz_case_how){0}), NULL);
    npz_case_matrix(arrays, "csr", turned, starts, COLUMNS, rows, values, ENTRIES);
    check_wanted(write_npz(arrays, 5, (struct npz_case_how){.deflate = true}), &transpose);
    npz_case_matrix(arrays, "csc", turned, indptr, ROWS, indices, data, ENTRIES);
    check_wanted(write_npz(arrays, 5, (struct npz_case_how){0}), &transpose);
}

/* Rows may be in any order and name a column twice; zeros may be stored. */
TEST(rows_are_put_in_order)
{
    static const int32_t starts[ROWS + 1] = {0, 3, 4, 8, 10};
    static const int32_t columns[10] = {2, 0, 2, 4, 4, 3, 1, 0, 2, 4};
    static const uint8_t values[10] = {1, 1, 1, 0, 6, 5, 4, 3, 7, 8};
    struct npz_case_array arrays[5];

    npz_case_matrix(arrays, "csr", shape, starts, ROWS, columns, values, 10);
    check_wanted(write_npz(arrays, 5, (struct npz_case_how){0}), NULL);
}

TEST(sparse_rows_have_no_zeros)
{
    const struct ny_reader_options options = {.reading = NY_READ_SPARSE};
    struct ny_csr sparse = {.dtype = NY_U8};
    struct ny_row_batch batch = {.sparse = &sparse};
    struct npz_case_array arrays[5];
    OWNED(ny_reader) *reader = NULL;

    by_rows(arrays);
    CHECK(ny_reader_open(&reader, ctx, write_npz(arrays, 5, (struct npz_case_how){0}), &options));
    assert_int_equal(ny_reader_table(reader)->slots, 4);
    assert_int_equal(ny_reader_table(reader)->nnz, 2);
    assert_int_equal(ny_reader_next(reader, ROWS, &batch), NY_OK);
    assert_int_equal(batch.count, ROWS);
    assert_int_equal(ny_csr_nnz(&sparse), ENTRIES);
    assert_memory_equal(sparse.value, data, sizeof(data));
    assert_int_equal(ny_reader_next(reader, ROWS, &batch), NY_END);
    ny_csr_release(&sparse, ctx);
}

/* ---- what is refused ------------------------------------------------------------------------ */

TEST(wrong_arrays_are_named)
{
    static const int32_t falling[ROWS + 1] = {0, 2, 1, 6, 8}, late[ROWS + 1] = {1, 2, 2, 6, 8};
    static const int32_t beyond[ENTRIES] = {0, 2, 0, 1, 5, 4, 2, 4};
    static const int32_t negative[ENTRIES] = {0, 2, 0, 1, -3, 4, 2, 4};
    static const int32_t more[ROWS + 1] = {0, 2, 2, 6, 9};
    static const int64_t none[2] = {0, 5}, other[2] = {9, 5}, wide[2] = {ROWS, INT64_MAX};
    static const struct {
        size_t array;
        const void *data;
    } cases[] = {{1, falling}, {1, late},  {1, more}, {0, beyond}, {0, negative},
                 {2, "bsr"},   {2, "coo"}, {3, none}, {3, other},  {3, wide}};
    struct npz_case_array arrays[5];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        by_rows(arrays);
        arrays[cases[i].array].data = cases[i].data;
        refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
    }
    npz_case_matrix(arrays, "csc", shape, indptr, ROWS, indices, data, ENTRIES);
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
}

TEST(wrong_members_are_named)
{
    static const int32_t longer[ROWS + 2] = {0, 2, 2, 6, 8, 8};
    static const char *const names[] = {"indices.npy", "indptr.npy", "format.npy", "shape.npy",
                                        "data.npy"};
    struct npz_case_array arrays[5];

    by_rows(arrays);
    for (size_t i = 0; i < 5; i++)
        for (int deflate = 0; deflate < 2; deflate++) {
            refuses(write_npz(arrays, 5,
                              (struct npz_case_how){.deflate = deflate, .wrong_crc = names[i]}),
                    NY_EDATA);
            refuses(write_npz(arrays, 5,
                              (struct npz_case_how){
                                  .deflate = deflate, .zip64 = true, .wrong_size = names[i]}),
                    NY_EDATA);
        }
    refuses(write_npz(arrays, 5, (struct npz_case_how){.method = 12}), NY_EDATA);
    refuses(write_npz(arrays, 5, (struct npz_case_how){.flags = 1}), NY_EDATA);
    refuses(write_npz(arrays, 4, (struct npz_case_how){0}), NY_EDATA);
    refuses(write_npz(arrays, 2, (struct npz_case_how){0}), NY_EDATA);
    arrays[4].descr = "<c8";
    arrays[4].bytes = 0;
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
    by_rows(arrays);
    arrays[4].shape = "(9,)";
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
    by_rows(arrays);
    arrays[1].data = longer; /* which may well go on */
    arrays[1].bytes = sizeof(longer);
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
    arrays[4] = (struct npz_case_array){"readme.txt", "|u1", "(1,)", "x", 1};
    refuses(write_npz(&arrays[4], 1, (struct npz_case_how){0}), NY_EDATA);
}

/* An integer that f64 does not hold. */
TEST(large_integers_are_named)
{
    static const int64_t wide[ENTRIES] = {1, 2, 3, 4, (1LL << 53) + 1, 6, 7, 8};
    static const int64_t turned[2] = {COLUMNS, ROWS};
    struct npz_case_array arrays[5];

    by_rows(arrays);
    arrays[4] = (struct npz_case_array){"data.npy", "<i8", "(8,)", wide, sizeof(wide)};
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
    arrays[2].data = "csc"; /* the same lines, as columns of a matrix turned round */
    arrays[3].data = turned;
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
}

/* More entries than are held at a time: rows that lie on both sides of the end of what is held keep
 * their values, and a number that f64 does not hold is found behind it. */
TEST(rows_cross_what_is_held)
{
    enum { LINES = 9, EACH = 4000, ALL = LINES * EACH, LATE = 33000 };
    static int64_t wide[ALL];
    static int32_t columns[ALL], starts[LINES + 1];
    const int64_t shape_of[2] = {LINES, EACH};
    struct npz_case_array arrays[5];
    struct support_table table;

    for (int k = 0; k < ALL; k++) {
        wide[k] = (int64_t)k * 1000003 + 1;
        columns[k] = k % EACH;
        starts[k / EACH + 1] = k + 1;
    }
    npz_case_matrix(arrays, "csr", shape_of, starts, LINES, columns, NULL, ALL);
    arrays[4] = (struct npz_case_array){"data.npy", "<i8", "(36000,)", wide, sizeof(wide)};
    assert_reads(write_npz(arrays, 5, (struct npz_case_how){0}), NULL, 2, &table);
    for (int k = 0; k < ALL; k++)
        assert_true(table.values[k] == (double)wide[k]);
    wide[LATE] = (1LL << 53) + 1;
    refuses(write_npz(arrays, 5, (struct npz_case_how){0}), NY_EDATA);
}

TEST(cut_archives_are_refused)
{
    struct npz_case_array arrays[5];

    by_rows(arrays);
    for (int way = 0; way < 4; way++) {
        size_t length = npz_case_zip(archive, arrays, 5,
                                     (struct npz_case_how){.deflate = way & 1, .zip64 = way & 2});

        for (size_t cut = 4; cut < length; cut += 1 + cut % 7)
            refuses(support_file("cut.npz", archive, cut), NY_EDATA);
    }
}

/* A file that is written to while it is read: numbers of indptr that were right when it was opened.
 * The row that ends at one is not handed out. */
TEST(changed_files_are_refused)
{
    enum { LINES = 30000, LATE = 25000, FULL = 7, MOST = 3 }; /* beyond what is read ahead */
    static const struct {
        int line, change;
    } cases[] = {{LATE, -2}, {LATE, -LATE - 5}, {LATE, MOST}, {LINES, 1}, {0, 0}};
    static int32_t starts[LINES + 1], columns[LINES + MOST];
    static uint8_t values[LINES + MOST];
    const int64_t turned[2] = {LINES, COLUMNS};
    const struct ny_reader_options options = {0};
    struct npz_case_array arrays[5];
    size_t length, at = 0;

    for (int i = 0; i < LINES; i++)
        starts[i + 1] = starts[i] + (i == FULL ? MOST : 1);
    for (int i = 0; i < LINES + MOST; i++)
        columns[i] = i % COLUMNS;
    memset(values, 7, sizeof(values));
    npz_case_matrix(arrays, "csr", turned, starts, LINES, columns, values, LINES + MOST - 1);
    length = npz_case_zip(archive, arrays, 5, (struct npz_case_how){0});
    while (memcmp(archive + at, starts, sizeof(starts)) != 0)
        at++;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = support_file("m.npz", archive, length);
        int32_t changed = starts[cases[i].line] + cases[i].change;
        struct support_table table;
        struct ny_reader *reader;
        int file = open(path, O_WRONLY), status;

        ny_error_clear(ctx);
        assert_int_equal(ny_reader_open(&reader, ctx, path, &options), NY_OK);
        assert_int_equal(pwrite(file, &changed, 4, (off_t)(at + 4 * (size_t)cases[i].line)), 4);
        status = support_rest(reader, 100, &table);
        assert_int_equal(status, cases[i].change ? NY_EDATA : NY_END);
        if (cases[i].change) assert_true(table.rows < (uint64_t)cases[i].line);
        assert_int_equal(close(file), 0);
        ny_reader_close(reader);
    }
}

TEST(pipes_and_gzip_are_refused)
{
    struct npz_case_array arrays[5];
    struct support_pipe pipe;
    size_t length;

    by_rows(arrays);
    length = npz_case_zip(archive, arrays, 5, (struct npz_case_how){0});
    pipe = support_pipe(archive, length, 100);
    assert_refused(pipe.path, NULL, NY_EUSAGE);
    support_pipe_close(&pipe);
    refuses(support_gzip("m.npz.gz", archive, length), NY_EDATA);
}

/* Dense formats have no columns that could be points. */
TEST(transpose_is_for_sparse_matrices)
{
    const struct ny_reader_options options = {.transpose = true};

    assert_refused(support_text("a.csv", "1,2\n"), &options, NY_EUSAGE);
}

AROUND_ALL(support_setup, remove_folder)
