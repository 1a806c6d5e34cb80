/* npy, idx, fvecs and bvecs: every element type and byte order, shapes, skipping, gzip, pipes. */
#include "reader_support.h"

static bool host_is_little(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first == 1;
}

/* The bytes of an element, least significant first, reversed for big-endian files. */
static size_t put_element(unsigned char *to, uint64_t bits, size_t size, bool big)
{
    for (size_t i = 0; i < size; i++)
        to[big ? size - 1 - i : i] = (unsigned char)(bits >> 8 * i);
    return size;
}

static uint64_t bits_of_f4(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint64_t bits_of_f8(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Element types: code in npy and idx (0: none there), the dtype that is expected, and four values
 * with their bits. */
struct kind {
    const char *npy;
    unsigned char idx;
    size_t size;
    enum ny_dtype dtype;
    double values[4];
    uint64_t bits[4];
};

static const struct kind *kinds(size_t *count)
{
    static struct kind all[] = {
        {"u1", 0x08, 1, NY_U8, {0, 1, 200, 255}, {0, 1, 200, 255}},
        {"b1", 0, 1, NY_U8, {0, 1, 1, 0}, {0, 1, 1, 0}},
        {"i1", 0x09, 1, NY_I16, {0, 127, -1, -128}, {0, 0x7f, 0xff, 0x80}},
        {"u2", 0, 2, NY_F32, {0, 1, 0x1234, 65535}, {0, 1, 0x1234, 65535}},
        {"i2", 0x0b, 2, NY_I16, {1, 0x1234, -2, -32768}, {1, 0x1234, 0xfffe, 0x8000}},
        {"u4", 0, 4, NY_F64, {0, 1, 0x12345678, 4294967295.0}, {0, 1, 0x12345678, 0xffffffff}},
        {"i4", 0x0c, 4, NY_F64, {0, -1, 0x12345678, -0x1p31}, {0, ~0U, 0x12345678, 1U << 31}},
        {"u8", 0, 8, NY_F64, {0, 1, 0x1p53, 0x1p63}, {0, 1, 1ULL << 53, 1ULL << 63}},
        {"i8", 0, 8, NY_F64, {0, -1, 0x1p53, -0x1p63}, {0, ~0ULL, 1ULL << 53, 1ULL << 63}},
        {"f2", 0, 2, NY_F32, {0, -2, 0x1p-24, 65504}, {0, 0xc000, 0x0001, 0x7bff}},
        {"f4", 0x0d, 4, NY_F32, {0, -1.5, 0x1p-149, 3.0e38f}, {0}},
        {"f8", 0x0e, 8, NY_F64, {0, -1.5, 5e-324, 1e308}, {0}},
    };

    *count = sizeof(all) / sizeof(*all);
    for (int i = 0; i < 4; i++) {
        all[*count - 2].bits[i] = bits_of_f4((float)all[*count - 2].values[i]);
        all[*count - 1].bits[i] = bits_of_f8(all[*count - 1].values[i]);
    }
    return all;
}

/* 6 rows of 2 × 2 elements: the four values, in turns, one further each row. */
static double expected(const struct kind *kind, size_t row, size_t column)
{
    return kind->values[(row + column) % 4];
}

static size_t put_rows(unsigned char *to, const struct kind *kind, bool big)
{
    size_t used = 0;

    for (size_t r = 0; r < 6; r++)
        for (size_t c = 0; c < 4; c++)
            used += put_element(to + used, kind->bits[(r + c) % 4], kind->size, big);
    return used;
}

static void check_table(const struct support_table *table, const struct kind *kind,
                        const char *format)
{
    assert_string_equal(table->format, format);
    assert_int_equal(table->dtype, kind->dtype);
    assert_int_equal(table->d, 4);
    assert_int_equal(table->claimed, 6);
    assert_int_equal(table->rows, 6);
    assert_int_equal(table->consumed, 6);
    assert_int_equal(table->dropped, 0);
    for (size_t r = 0; r < 6; r++) {
        assert_int_equal(table->source[r], r);
        for (size_t c = 0; c < 4; c++)
            assert_true(table->values[4 * r + c] == expected(kind, r, c));
    }
}

/* Reads the bytes from a file, a gzip file and a pipe, in several batch sizes. */
static void check_bytes(const char *name, const unsigned char *bytes, size_t length,
                        const struct kind *kind)
{
    const char *format = strchr(name, '.') + 1;
    struct support_table table;
    struct support_pipe pipe;
    char *packed = lend_text("%s.gz", name);

    for (size_t batch = 1; batch <= 7; batch += 3) {
        assert_reads(support_file(name, bytes, length), NULL, batch, &table);
        check_table(&table, kind, format);
    }
    assert_reads(support_gzip(packed, bytes, length), NULL, 4, &table);
    check_table(&table, kind, format);
    pipe = support_pipe(bytes, length, 5);
    assert_reads(pipe.path, NULL, 4, &table);
    check_table(&table, kind, format);
    support_pipe_close(&pipe);
}

TEST(test_npy_types)
{
    unsigned char data[512], file[1024];
    char header[128];
    size_t count;
    const struct kind *kind = kinds(&count);

    for (size_t k = 0; k < count; k++, kind++)
        for (int big = 0; big < 2; big++) {
            size_t bytes = put_rows(data, kind, big);

            snprintf(header, sizeof(header),
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': (6, 2, 2), }",
                     kind->size == 1 ? '|'
                     : big           ? '>'
                                     : '<',
                     kind->npy);
            check_bytes("x.npy", file, support_npy(file, header, data, bytes), kind);
        }
}

TEST(test_idx_types)
{
    unsigned char file[1024] = {0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 2};
    size_t count;
    const struct kind *kind = kinds(&count);

    for (size_t k = 0; k < count; k++, kind++) {
        if (!kind->idx) continue;
        file[2] = kind->idx;
        check_bytes("x.idx", file, 16 + put_rows(file + 16, kind, true), kind);
    }
}

TEST(test_npy_versions_and_spellings)
{
    static const char *const headers[] = {
        NPY_HEADER("<i2", "(3, 2)"),
        "{'shape':(3,2),'fortran_order':False,'descr':'<i2'}",
        "{\"descr\": \"<i2\", \"fortran_order\": False, \"shape\": (3L, 2L)}",
        "  { 'fortran_order' : False , 'descr' : '=i2' , 'shape' : ( 3 , 2 , ) , }  ",
    };
    const unsigned char data[] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0};
    struct support_table table;

    if (!host_is_little()) skip();
    for (size_t h = 0; h < sizeof(headers) / sizeof(*headers); h++)
        for (unsigned char version = 1; version <= 3; version++) {
            unsigned char file[256] = "\x93NUMPY";
            size_t text = strlen(headers[h]), used = 8;

            file[6] = version;
            file[7] = 0;
            used += put_element(file + used, text, version == 1 ? 2 : 4, false);
            memcpy(file + used, headers[h], text);
            memcpy(file + used + text, data, sizeof(data));
            assert_reads(support_file("x.npy", file, used + text + sizeof(data)), NULL, 2, &table);
            assert_int_equal(table.d, 2);
            assert_int_equal(table.rows, 3);
            for (int i = 0; i < 6; i++)
                assert_true(table.values[i] == i + 1);
        }
}

/* A dtype that holds the values is honoured; the values are the same. */
TEST(test_requested_dtype)
{
    static const enum ny_dtype dtypes[] = {NY_U8, NY_I16, NY_F32, NY_F64};
    const double values[6] = {0, 1, 2, 3, 250, 255};
    unsigned char data[64], file[256];
    char header[128];
    size_t count;
    const struct kind *kind = kinds(&count);

    for (size_t k = 0; k < count; k++, kind++)
        for (int t = 0; t < 4; t++) {
            const struct ny_reader_options options = {.dtype = dtypes[t]};
            struct support_table table;
            size_t bytes = 0, length;

            if (strcmp(kind->npy, "f2") == 0 || kind->size == 1) continue;
            for (int i = 0; i < 6; i++) {
                uint64_t bits = (uint64_t)values[i];

                if (strcmp(kind->npy, "f4") == 0) bits = bits_of_f4((float)values[i]);
                if (strcmp(kind->npy, "f8") == 0) bits = bits_of_f8(values[i]);
                bytes += put_element(data + bytes, bits, kind->size, true);
            }
            snprintf(header, sizeof(header),
                     "{'descr': '>%s', 'fortran_order': False, 'shape': (2, 3), }", kind->npy);
            length = support_npy(file, header, data, bytes);
            assert_reads(support_file("x.npy", file, length), &options, 2, &table);
            assert_int_equal(table.dtype, dtypes[t]);
            for (int i = 0; i < 6; i++)
                assert_true(table.values[i] == values[i]);
        }
}

/* Wide rows cross the pieces in which elements are converted. */
TEST(test_wide_rows)
{
    const size_t d = 10001, rows = 3;
    const struct ny_reader_options options = {.dtype = NY_F64, .columns = "1,4096-4098,10001"};
    unsigned char *data = lend(2 * d * rows), *file = lend(2 * d * rows + 256);
    struct support_table table;
    size_t length;

    for (size_t i = 0; i < d * rows; i++)
        put_element(data + 2 * i, (i * 7) & 0x7fff, 2, true);
    length = support_npy(file, NPY_HEADER(">i2", "(3, 10001)"), data, 2 * d * rows);
    assert_reads(support_file("x.npy", file, length), NULL, 2, &table);
    for (size_t i = 0; i < d * rows; i++)
        assert_true(table.values[i] == (double)((i * 7) & 0x7fff));
    assert_reads(support_file("x.npy", file, length), &options, 2, &table);
    assert_int_equal(table.d, 5);
    for (size_t r = 0; r < rows; r++) {
        const size_t columns[] = {0, 4095, 4096, 4097, 10000};

        for (size_t c = 0; c < 5; c++)
            assert_true(table.values[5 * r + c] == (double)(((r * d + columns[c]) * 7) & 0x7fff));
    }
}

/* Rows with NaN or Inf leave; the others keep their numbers. */
TEST(test_nan_drop)
{
    const struct ny_reader_options direct = {.nan_drop = true};
    const struct ny_reader_options whole = {.nan_drop = true, .dtype = NY_I16};
    const struct ny_reader_options *const options[] = {&direct, &whole};
    unsigned char data[160], file[512];
    struct support_table table;
    size_t length, bytes = 0;

    for (int r = 0; r < 10; r++)
        for (int c = 0; c < 2; c++) {
            float value = r == 3 && c == 0 ? NAN : r == 9 && c == 1 ? -INFINITY : (float)(r + c);

            if (r == 4) value = INFINITY;
            bytes += put_element(data + bytes, bits_of_f4(value), 4, false);
        }
    length = support_npy(file, NPY_HEADER("<f4", "(10, 2)"), data, bytes);
    for (int o = 0; o < 2; o++)
        for (size_t batch = 1; batch < 12; batch++) {
            const uint64_t kept[] = {0, 1, 2, 5, 6, 7, 8};

            assert_reads(support_file("x.npy", file, length), options[o], batch, &table);
            assert_int_equal(table.rows, 7);
            assert_int_equal(table.consumed, 10);
            assert_int_equal(table.dropped, 3);
            for (int i = 0; i < 7; i++) {
                assert_int_equal(table.source[i], kept[i]);
                assert_true(table.values[2 * i + 1] == (double)kept[i] + 1);
            }
        }
}

TEST(test_vectors)
{
    unsigned char file[256];
    const struct ny_reader_options bvecs = {.format = "bvecs"}, fvecs = {.format = "fvecs"};
    struct support_table table;
    struct support_pipe pipe;
    size_t length = 0;

    for (int r = 0; r < 5; r++) {
        length += put_element(file + length, 3, 4, false);
        for (int c = 0; c < 3; c++)
            length += put_element(file + length, bits_of_f4((float)r - 0.5f * (float)c), 4, false);
    }
    assert_reads(support_file("x.fvecs", file, length), NULL, 2, &table);
    assert_int_equal(table.claimed, 5);
    assert_int_equal(table.dtype, NY_F32);
    for (int i = 0; i < 15; i++)
        assert_true(table.values[i] == i / 3 - 0.5 * (i % 3));
    pipe = support_pipe(file, length, 7);
    assert_reads(pipe.path, &fvecs, 2, &table);
    assert_true(table.claimed == NY_ROWS_UNKNOWN);
    assert_int_equal(table.rows, 5);
    assert_true(table.values[14] == 3);
    support_pipe_close(&pipe);
    assert_reads(support_file("x.dat", "\2\0\0\0\1\xff\2\0\0\0\3\4", 12), &bvecs, 4, &table);
    assert_int_equal(table.dtype, NY_U8);
    assert_int_equal(table.rows, 2);
    assert_true(table.values[1] == 255 && table.values[2] == 3);
}

TEST(test_skip)
{
    const struct ny_reader_options drop = {.nan_drop = true}, narrow = {.dtype = NY_I16};
    unsigned char data[160], file[512];
    size_t length, bytes = 0;

    for (int i = 0; i < 20; i++)
        bytes += put_element(data + bytes, bits_of_f4(i == 7 ? NAN : (float)i), 4, true);
    length = support_npy(file, NPY_HEADER(">f4", "(10, 2)"), data, bytes);
    check_skip(support_file("x.npy", file, length), &drop);
    check_skip(support_gzip("x.npy.gz", file, length), &drop);
    file[length - bytes + 7 * 4] = 0; /* no NaN any more */
    file[length - bytes + 7 * 4 + 1] = 0;
    check_skip(support_file("x.npy", file, length), &narrow);
    check_skip(support_file("x.bvecs", "\1\0\0\0a\1\0\0\0b\1\0\0\0c", 15), NULL);
}

/* Reads more than one window and one direct read, and compares the bytes with their formula. */
TEST(test_large)
{
    const size_t rows = 3000, d = 300;
    unsigned char *data = lend(rows * d), *file = lend(rows * d + 256);
    const char *paths[2];
    struct support_table table;
    size_t length;

    for (size_t i = 0; i < rows * d; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    length = support_npy(file, NPY_HEADER("|u1", "(3000, 300)"), data, rows * d);
    paths[0] = support_file("x.npy", file, length);
    paths[1] = support_gzip("x.npy.gz", file, length);
    for (int p = 0; p < 2; p++)
        for (size_t batch = 1; batch < 5000; batch += 1499) {
            assert_reads(paths[p], NULL, batch, &table);
            assert_int_equal(table.rows, rows);
            for (size_t i = 0; i < rows * d; i++)
                if (table.values[i] != data[i]) fail_msg("value %zu", i);
        }
    for (int p = 0; p < 2; p++) { /* skipped in two steps, each beyond a window */
        struct ny_reader *reader;

        assert_int_equal(ny_reader_open(&reader, ctx, paths[p], NULL), NY_OK);
        assert_int_equal(ny_reader_skip(reader, 1100, 0), NY_OK);
        assert_int_equal(ny_reader_skip(reader, 1400, 0), NY_OK);
        assert_int_equal(support_rest(reader, 77, &table), NY_END);
        assert_int_equal(table.rows, 500);
        assert_int_equal(table.source[0], 2500);
        for (size_t i = 0; i < 500 * d; i++)
            assert_true(table.values[i] == data[2500 * d + i]);
        ny_reader_close(reader);
    }
}

TEST(test_labels_files)
{
    unsigned char points[256], labels[256], big[16];
    struct support_table table;
    size_t points_length = support_npy(points, NPY_HEADER("|u1", "(4, 1)"), "\1\2\3\4", 4);
    const char *path = support_file("x.npy", points, points_length);
    struct ny_reader_options options = {0};

    put_element(big, 5, 8, true);
    put_element(big + 8, (uint64_t)-7, 8, true);
    for (int how = 0; how < 4; how++) {
        static const unsigned char idx[] = {0, 0, 9, 1, 0, 0, 0, 4, 5, 0xf9, 5, 0xf9};
        unsigned char four[32];
        size_t length;

        memcpy(four, big, 16);
        memcpy(four + 16, big, 16);
        length = support_npy(
            labels, how == 0 ? NPY_HEADER(">i8", "(4,)") : NPY_HEADER(">i8", "(4, 1)"), four, 32);
        if (how < 2) options.labels_file = support_file("labels.npy", labels, length);
        if (how == 2) options.labels_file = support_gzip("labels.gz", idx, sizeof(idx));
        if (how == 3) options.labels_file = support_text("labels.txt", "5\n-7\r\n 5 \n\"-7\"\n\n");
        for (size_t batch = 1; batch < 6; batch++) {
            assert_reads(path, &options, batch, &table);
            assert_int_equal(table.rows, 4);
            for (int i = 0; i < 4; i++)
                assert_true(table.labels[i] == (i % 2 ? -7 : 5));
        }
    }
    options.labels_file = support_file("labels.idx", "\0\0\x08\1\0\0\0\3abc", 11);
    assert_refused(path, &options, NY_EDATA);
    options.labels_file = support_file("labels.idx", "\0\0\x08\2\0\0\0\4\0\0\0\2abcdefgh", 20);
    assert_refused(path, &options, NY_EDATA);
}

/* Labels follow their rows when others are dropped or skipped. */
TEST(test_labels_with_drop_and_skip)
{
    const char *names[] = {"a", "b", "c", "d"};
    const char *const *classes;
    unsigned char data[16], file[256];
    struct ny_reader_options options = {.nan_drop = true};
    struct support_table table;
    struct ny_reader *reader;
    const char *path;
    size_t count;

    for (int i = 0; i < 4; i++)
        put_element(data + 4 * i, bits_of_f4(i == 1 ? NAN : (float)i), 4, false);
    path = support_file("x.npy", file, support_npy(file, NPY_HEADER("<f4", "(4, 1)"), data, 16));
    options.labels_file = support_text("labels.txt", "a\nb\nc\nd\n");
    for (uint64_t rows = 0; rows < 4; rows++) {
        assert_int_equal(ny_reader_open(&reader, ctx, path, &options), NY_OK);
        assert_true(ny_reader_table(reader)->labels);
        assert_int_equal(ny_reader_skip(reader, rows, rows > 1), NY_OK);
        assert_int_equal(support_rest(reader, 2, &table), NY_END);
        assert_int_equal(table.rows, rows < 2 ? 3 - rows : 4 - rows);
        for (uint64_t r = 0; r < table.rows; r++)
            assert_true(table.labels[r] == (double)table.source[r]);
        ny_reader_class_names(reader, &classes, &count);
        assert_int_equal(count, 4);
        for (int i = 0; i < 4; i++)
            assert_string_equal(classes[i], names[i]);
        ny_reader_close(reader);
    }
}

AROUND_ALL(support_setup, remove_folder)
