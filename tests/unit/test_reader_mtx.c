/* io/mtx.c: MatrixMarket files in any order of entries, and files that are none. */
#include "reader_support.h"

#include "base/random.h"

enum { ROWS = 4, COLUMNS = 5, ENTRIES = 8 };

static const double wanted[ROWS * COLUMNS] = {1, 0, 2, 0, 0, 0, 0, 0, 0, 0,
                                              3, 4, 0, 5, 6, 0, 0, 7, 0, 8};

#define HEADER(field) "%%MatrixMarket matrix coordinate " field " general\n"
#define BY_ROWS "4 5 8\n1 1 1\n1 3 2\n3 1 3\n3 2 4\n3 4 5\n3 5 6\n4 3 7\n4 5 8\n"

static void check_wanted(const char *path, const struct ny_reader_options *options)
{
    for (size_t batch = 1; batch <= ROWS + 1; batch++) {
        struct support_table table;

        assert_reads(path, options, batch, &table);
        assert_string_equal(table.format, "mtx");
        assert_int_equal(table.rows, ROWS);
        assert_int_equal(table.claimed, ROWS);
        assert_int_equal(table.d, COLUMNS);
        assert_memory_equal(table.values, wanted, sizeof(wanted));
    }
}

/* ---- what is read --------------------------------------------------------------------------- */

TEST(text_may_be_written_in_many_ways)
{
    static const char *const texts[] = {
        HEADER("integer") BY_ROWS,
        HEADER("real") BY_ROWS,
        "%%matrixmarket MATRIX Coordinate Real GENERAL\r\n% made by hand\r\n\r\n 4\t5  8 \r\n"
        "1 1 1\r\n1 3 2.0\r\n\r\n3 1 +3e0\r\n03 2 4.\r\n3 4 5\r\n3 5 .6e1\r\n4 3 7\r\n4 5 "
        "0000000008",
        /* by columns, and in no order */
        HEADER("integer") "4 5 8\n1 1 1\n3 1 3\n3 2 4\n1 3 2\n4 3 7\n3 4 5\n3 5 6\n4 5 8\n",
        HEADER("real") "4 5 8\n4 5 8\n3 1 3\n1 3 2\n3 2 4\n3 5 6\n4 3 7\n1 1 1\n3 4 5\n",
        /* a column of a row more than once, and a zero */
        HEADER("integer") "4 5 10\n1 1 1\n1 3 1\n1 3 1\n2 2 0\n3 1 3\n3 2 4\n3 4 5\n3 5 6\n4 3 7\n"
                          "4 5 8\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const struct ny_reader_options dense = {.format = "mtx"};
        size_t length = strlen(texts[i]);
        struct support_pipe pipe;
        struct support_table table;

        check_wanted(support_file("m.mtx", texts[i], length), NULL);
        check_wanted(support_gzip("m.mtx.gz", texts[i], length), NULL);
        pipe = support_pipe(texts[i], length, 5);
        assert_reads(pipe.path, &dense, 2, &table);
        assert_memory_equal(table.values, wanted, sizeof(wanted));
        support_pipe_close(&pipe);
    }
}

TEST(columns_may_be_the_points)
{
    const struct ny_reader_options options = {.transpose = true};

    check_wanted(support_text("m.mtx",
                              HEADER("integer") "5 4 8\n1 1 1\n3 1 2\n1 3 3\n2 3 4\n4 3 5\n"
                                                "5 3 6\n3 4 7\n5 4 8\n"),
                 &options);
    check_wanted(support_text("m.mtx",
                              HEADER("integer") "5 4 8\n1 1 1\n1 3 3\n2 3 4\n3 1 2\n3 4 7\n"
                                                "4 3 5\n5 3 6\n5 4 8\n"),
                 &options);
}

/* Checks the 3 × 3 rows of a text: packed or not, in a pipe, and turned over. */
static void check_square(const char *text, const double rows[9])
{
    const struct ny_reader_options turned = {.transpose = true}, piped = {.format = "mtx"};
    size_t length = strlen(text);
    struct support_pipe pipe = support_pipe(text, length, 5);
    struct support_table table[4];

    assert_reads(support_file("s.mtx", text, length), NULL, 2, &table[0]);
    assert_reads(support_gzip("s.mtx.gz", text, length), NULL, 1, &table[1]);
    assert_reads(pipe.path, &piped, 3, &table[2]);
    assert_reads(support_file("s.mtx", text, length), &turned, 2, &table[3]);
    support_pipe_close(&pipe);
    for (size_t i = 0; i < 4; i++) {
        for (size_t at = 0; at < 9; at++) {
            size_t from = i == 3 ? at % 3 * 3 + at / 3 : at;

            assert_true(table[i].values[at] == rows[from]);
        }
    }
}

TEST(symmetric_matrices_have_both_halves)
{
    check_square("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 2\n3 2 5\n"
                 "3 3 3\n",
                 (const double[]){1, 2, 0, 2, 0, 5, 0, 5, 3});
}

TEST(arrays_are_columns_of_values)
{
    static const double all[9] = {1, 4, -7, 2, 5, 8, 3, 6, 9};
    const struct ny_reader_options transposed = {.transpose = true};
    struct support_table table;

    check_square("%%MatrixMarket matrix array integer general\n% by columns\n3 3\n"
                 "1\n2\n3\n4\n5\n6\n-7\n8\n9\n",
                 all);
    check_square("%%MATRIXMARKET Matrix Array Real General\r\n3 3\r\n1.0\r\n2\r\n\r\n 3e0\r\n4\r\n"
                 "5\r\n6\r\n-7\r\n8\r\n9",
                 all);
    assert_reads(support_text("t.mtx", "%%MatrixMarket matrix array integer general\n2 3\n"
                                       "1\n2\n3\n4\n0\n256\n"),
                 &transposed, 2, &table);
    assert_int_equal(table.rows, 3);
    assert_int_equal(table.claimed, 3);
    assert_int_equal(table.d, 2);
    assert_int_equal(table.dtype, NY_I16);
    assert_memory_equal(table.values, ((double[]){1, 2, 3, 4, 0, 256}), 6 * sizeof(double));
}

/* Counts are kept in the smallest type that holds them. */
TEST(integers_choose_their_type)
{
    static const struct {
        const char *text;
        enum ny_dtype dtype;
    } cases[] = {{HEADER("integer") "2 2 2\n1 1 255\n2 2 1\n", NY_U8},
                 {HEADER("integer") "2 2 2\n1 1 256\n2 2 1\n", NY_I16},
                 {HEADER("integer") "2 2 2\n1 1 255\n2 2 -1\n", NY_I16},
                 {HEADER("integer") "2 2 2\n2 2 32768\n1 1 1\n", NY_F32},
                 {HEADER("integer") "2 2 2\n1 1 16777217\n2 2 1\n", NY_F64},
                 {HEADER("pattern") "2 2 2\n1 1\n2 2\n", NY_U8},
                 {HEADER("real") "2 2 2\n1 1 1\n2 2 1\n", NY_F32}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct support_table table;

        assert_reads(support_text("t.mtx", cases[i].text), NULL, 2, &table);
        assert_int_equal(table.dtype, cases[i].dtype);
        assert_true(table.values[3] != 0);
    }
}

/* A long file, whose lines the window cuts everywhere, in three orders. */
TEST(long_files_are_the_same_in_any_order)
{
    enum { N = 300, D = 50, EACH = 200000 };
    static double dense[N * D];
    const char *path = support_path("long.mtx");

    for (int order = 0; order < 3; order++) {
        FILE *file = fopen(path, "w");
        struct support_table table;

        assert_non_null(file);
        memset(dense, 0, sizeof(dense));
        fprintf(file, "%s%d %d %d\n", HEADER("real"), N, D, EACH);
        for (uint64_t k = 0; k < EACH; k++) {
            uint64_t hash = ny_hash64((uint64_t)order, NY_STREAM_DATA, k);
            uint64_t i = order == 0 ? k * N / EACH : order == 1 ? hash / D % N : hash / 7 % N;
            uint64_t j = order == 1 ? k * D / EACH : hash % D;
            double value = (double)(hash % 97) - 48;

            fprintf(file, "%d %d %.*f\n", (int)i + 1, (int)j + 1, k % 3 ? 0 : 2, value);
            dense[i * D + j] += value;
        }
        fclose(file);
        assert_reads(path, NULL, 7, &table);
        assert_int_equal(table.rows, N);
        assert_memory_equal(table.values, dense, sizeof(dense));
    }
}

/* The fullest row of a file in order is known before the first is read. */
TEST(the_fullest_row_is_known)
{
    static const struct {
        const char *entries;
        uint64_t slots;
    } cases[] = {{"1 1 1\n1 9 1\n3 2 1\n3 3 1\n3 4 1\n4 1 1\n", 3}, {"4 1 1\n1 1 1\n", 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct ny_reader_options options = {.reading = NY_READ_SPARSE};
        char text[160];
        OWNED(ny_reader) *reader = NULL;

        snprintf(text, sizeof(text), "%s4 9 %d\n%s", HEADER("integer"), i ? 2 : 6,
                 cases[i].entries);
        CHECK(ny_reader_open(&reader, ctx, support_text("f.mtx", text), &options));
        assert_int_equal(ny_reader_table(reader)->slots, cases[i].slots);
    }
}

/* Text of few words is packed to a thousandth, and may well have as many entries as it says. */
TEST(packed_entries_are_believed)
{
    enum { COUNT = 200000 };
    static const char header[] = HEADER("real") "2 2 200000\n", entry[] = "1 1 0\n";
    static char text[sizeof(header) + COUNT * sizeof(entry)];
    size_t bytes = sizeof(header) - 1;
    struct support_table table;
    struct stat packed;
    const char *path;

    memcpy(text, header, bytes);
    for (int i = 0; i < COUNT; i++, bytes += sizeof(entry) - 1)
        memcpy(text + bytes, i + 1 < COUNT ? entry : "2 2 5\n", sizeof(entry) - 1);
    path = support_gzip("few.mtx.gz", text, bytes);
    assert_int_equal(stat(path, &packed), 0);
    assert_true(packed.st_size < COUNT / 10);
    assert_reads(path, NULL, 2, &table);
    assert_true(table.rows == 2 && table.values[0] == 0 && table.values[3] == 5);
}

/* A file in order is read twice, and may be another one the second time. */
TEST(changed_files_are_refused)
{
    enum { LINES = 200000, BYTES = 14 }; /* more than is read ahead */
    static char text[100 + LINES * BYTES + 1];
    const struct ny_reader_options options = {0};
    struct support_table table;
    OWNED(ny_reader) *reader = NULL;
    size_t bytes;
    const char *path;
    int file;

    bytes = (size_t)snprintf(text, sizeof(text), "%s%d 3 %d\n", HEADER("integer"), LINES, LINES);
    for (int i = 0; i < LINES; i++)
        bytes += (size_t)snprintf(text + bytes, BYTES + 1, "%9d %d 1\n", i + 1, i % 3 + 1);
    path = support_text("long.mtx", text);
    ny_error_clear(ctx);
    assert_int_equal(ny_reader_open(&reader, ctx, path, &options), NY_OK);
    file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "        7", 9, (off_t)(bytes - BYTES)), 9);
    assert_int_equal(support_rest(reader, 1000, &table), NY_EDATA);
    assert_int_equal(close(file), 0);
}

/* ---- what is refused ------------------------------------------------------------------------ */

TEST(wrong_files_are_named)
{
    static const struct {
        const char *text;
        uint64_t line; /* 0: it is the file as a whole */
    } cases[] = {
        {"%%MatrixMarket matrix array real general\n2 2\n", 3},
        {"%%MatrixMarket matrix array real general\n2 2 4\n1\n2\n3\n4\n", 2},
        {"%%MatrixMarket matrix array real general\n2\n1\n2\n3\n4\n", 2},
        {"%%MatrixMarket matrix array real general\n2 1\n1\nx\n", 4},
        {"%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n", 5},
        {"%%MatrixMarket matrix array real general\n999999999 1999999999\n1\n", 0},
        {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", 1},
        {"%%MatrixMarket matrix array pattern general\n2 2\n", 1},
        {"%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 1\n", 1},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", 1},
        {"%%MatrixMarket vector coordinate real general\n", 1},
        {"%%MatrixMarket matrix coordinate complex general\n", 1},
        {"%%MatrixMarket matrix coordinate real hermitian\n", 1},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", 0},
        {HEADER("real"), 0},
        {HEADER("real") "2 2\n", 2},
        {HEADER("real") "0 2 0\n", 0},
        {HEADER("real") "2 4000000000 1\n1 1 1\n", 0},
        {HEADER("real") "9000000000 2 1\n1 1 1\n", 0},
        {HEADER("real") "9 9 99999999999999\n1 1 1\n", 0},
        {HEADER("real") "2 2 1\n3 1 1\n", 3},
        {HEADER("real") "2 2 1\n1 0 1\n", 3},
        {HEADER("real") "2 2 1\n1 3 1\n", 3},
        {HEADER("real") "2 2 1\n18446744073709551617 1 1\n", 3},
        {HEADER("real") "2 2 1\n-1 1 1\n", 3},
        {HEADER("real") "2 2 1\n1 1 x\n", 3},
        {HEADER("real") "2 2 1\n1 1\n", 3},
        {HEADER("real") "2 2 1\n1 1 1 1\n", 3},
        {HEADER("pattern") "2 2 1\n1 1 1\n", 3},
        {HEADER("integer") "2 2 1\n1 1 1.5\n", 3},
        {HEADER("real") "2 2 2\n1 1 1\n", 4},
        {HEADER("real") "2 2 1\n1 1 1\n2 2 2\n", 4},
        {HEADER("real") "2 2 1\n2 1 nan\n", 1},
        {HEADER("real") "2 2 1\n2 1 1e99\n", 1},
        /* values of one column that are added may need a wider type than each of them */
        {HEADER("integer") "2 2 2\n2 2 200\n2 2 100\n", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *path = support_text("bad.mtx", cases[i].text);
        const struct ny_error *error = ny_context_error(ctx);

        assert_refused(path, NULL, NY_EDATA);
        assert_string_equal(error->file, path);
        assert_int_equal(error->has_line ? error->line : 0, cases[i].line);
    }
}

TEST(rows_with_nan_are_left_out)
{
    const struct ny_reader_options options = {.nan_drop = true};
    struct support_table table;

    assert_reads(support_text("n.mtx", HEADER("real") "3 2 3\n1 1 1\n2 1 inf\n3 2 2\n"), &options,
                 2, &table);
    assert_int_equal(table.rows, 2);
    assert_int_equal(table.dropped, 1);
    assert_int_equal(table.source[1], 2);
}

AROUND_ALL(support_setup, remove_folder)
