/* Tests the promises of every file format of the table: its names, a clean error or a clean table
 * from any bytes, and, for formats with a small file below, the same rows however it comes. */
#include "reader_support.h"

#include "support/npz_case.h"

#include "base/random.h"
#include "io/format.h"

enum { ROWS = 3, COLUMNS = 4 };

static const double wanted[ROWS * COLUMNS] = {1, 2, 3, 4, 50, 6, 7, 8, 9, 10, 11, 120};

#define BYTES(s) s, sizeof(s) - 1

/* Files of the same rows, one in each format. */
static unsigned char npz[NPZ_CASE_BYTES]; /* written before the tests */
static struct sample {
    const char *format, *bytes;
    size_t length;
} samples[] = {
    {"npy", BYTES("\x93NUMPY\1\0\x46\0{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }"
                  "          \n\1\2\3\4\62\6\7\x8\x9\xa\xb\x78")},
    {"idx", BYTES("\0\0\x8\2\0\0\0\3\0\0\0\4\1\2\3\4\62\6\7\x8\x9\xa\xb\x78")},
    {"fvecs", BYTES("\4\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40"
                    "\4\0\0\0\0\0\x48\x42\0\0\xc0\x40\0\0\xe0\x40\0\0\0\x41"
                    "\4\0\0\0\0\0\x10\x41\0\0\x20\x41\0\0\x30\x41\0\0\xf0\x42")},
    {"bvecs", BYTES("\4\0\0\0\1\2\3\4\4\0\0\0\62\6\7\x8\4\0\0\0\x9\xa\xb\x78")},
    {"npz", (const char *)npz, 0},
    {"mtx", BYTES("%%MatrixMarket matrix coordinate integer general\n3 4 12\n1 1 1\n1 2 2\n1 3 3\n"
                  "1 4 4\n2 1 50\n2 2 6\n2 3 7\n2 4 8\n3 1 9\n3 2 10\n3 3 11\n3 4 120\n")},
    {"mtx", BYTES("%%MatrixMarket matrix array integer general\n3 4\n1\n50\n9\n2\n6\n10\n3\n7\n11\n"
                  "4\n8\n120\n")},
    {"libsvm", BYTES("0 1:1 2:2 3:3 4:4\n1 1:50 2:6 3:7 4:8\n0 1:9 2:10 3:11 4:120\n")},
    {"tsv", BYTES("1\t2\t3\t4\n50\t6\t7\t8\n9\t10\t11\t120\n")},
    {"csv", BYTES("1.0;2;3;4\n50;6;7.00;8\n9;10;\"11.0\";120\n")},
    {"csv", BYTES("1,2,3,4\n50,6,7,8\n9,10,11,120\n")},
};

static const struct sample *sample_of(const char *format)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (strcmp(samples[i].format, format) == 0) return &samples[i];
    return NULL;
}

static const struct ny_format_entry *entry_at(size_t index)
{
    size_t count;
    const struct ny_format_entry *entries = ny_format_table(&count);

    return index < count ? &entries[index] : NULL;
}

/* A file name with the suffix that begins at `suffixes`; false at the end of them. */
static bool next_name(const char **suffixes, const char *rest, char name[64])
{
    size_t length = strcspn(*suffixes += strspn(*suffixes, " "), " ");

    snprintf(name, 64, "points%.*s%s", (int)length, *suffixes, rest);
    *suffixes += length;
    return length > 0;
}

/* ---- the entry ------------------------------------------------------------------------------ */

TEST(entries_are_whole)
{
    const struct ny_format_entry *entry;
    size_t count;
    const struct ny_format_info *infos = ny_formats(&count);

    for (size_t i = 0; (entry = entry_at(i)); i++) {
        assert_true(i < count);
        assert_string_equal(infos[i].name, entry->info.name);
        assert_true(strlen(entry->info.summary) > 10);
        assert_true(strlen(entry->suffixes) > 1);
        for (size_t before = 0; before < i; before++)
            assert_string_not_equal(entry->info.name, entry_at(before)->info.name);
    }
}

/* The name tells the format if the content does not. */
TEST(names_tell_the_format)
{
    const struct ny_format_entry *entry;

    for (size_t i = 0; (entry = entry_at(i)); i++)
        for (int zipped = 0; zipped < 2; zipped++) {
            const char *suffixes = entry->suffixes;
            char name[64];

            while (next_name(&suffixes, zipped ? ".gz" : "", name)) {
                const struct ny_format_entry *guessed;
                struct ny_bytes *bytes;

                CHECK(ny_bytes_open(&bytes, ctx, support_file(name, "\xfe\xfe\xfe", 3)));
                assert_int_equal(ny_format_guess(bytes, &guessed), NY_OK);
                ny_bytes_close(bytes);
                if (guessed != entry) fail_msg("%s is no %s", name, entry->info.name);
            }
        }
}

/* ---- any bytes ------------------------------------------------------------------------------ */

/* An error with the file in its words, or rows of finite values. */
static void check_any(const char *path, const char *format)
{
    const struct ny_reader_options options = {.format = format};
    struct support_table table;
    int status = support_read(path, &options, 2, &table);

    if (status == NY_END)
        for (size_t i = 0; i < table.rows * table.d; i++)
            assert_true(isfinite(table.values[i]));
    else if (status != NY_EDATA || !strstr(ny_context_message(ctx), path))
        fail_msg("%s: status %d, '%s'", format, status, ny_context_message(ctx));
}

TEST(no_bytes_do_harm)
{
    const struct ny_format_entry *entry;
    unsigned char bytes[300];

    for (size_t i = 0; (entry = entry_at(i)); i++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            size_t length = 1 + ny_hash64(seed, NY_STREAM_DATA, 0) % sizeof(bytes);
            uint64_t range = seed % 3 == 0 ? 256 : seed % 3 == 1 ? 6 : 64;

            for (size_t k = 0; k < length; k++)
                bytes[k] = (unsigned char)(ny_hash64(seed, NY_STREAM_DATA, k + 1) % range);
            check_any(support_file("points", bytes, length), entry->info.name);
        }
}

/* ---- files of the formats ------------------------------------------------------------------- */

static void check_rows(const struct support_table *table, const char *format)
{
    assert_string_equal(table->format, format);
    assert_int_equal(table->rows, ROWS);
    assert_int_equal(table->d, COLUMNS);
    assert_memory_equal(table->values, wanted, sizeof(wanted));
    for (uint64_t i = 0; i < ROWS; i++)
        assert_int_equal(table->source[i], i);
}

static void check_reading(const char *path, const char *format, size_t batch_rows)
{
    const struct ny_reader_options options = {.format = format, .dims = COLUMNS}; /* for pipes */
    struct support_table table;

    assert_reads(path, &options, batch_rows, &table);
    check_rows(&table, format);
}

TEST(files_have_their_rows)
{
    const struct ny_format_entry *entry;

    for (size_t i = 0; (entry = entry_at(i)); i++) {
        const char *name = entry->info.name, *suffixes = entry->suffixes;
        const struct sample *sample = sample_of(name);
        struct support_table table;
        struct support_pipe pipe;
        char file[64];

        if (!sample) continue;
        next_name(&suffixes, "", file);
        assert_reads(support_file(file, sample->bytes, sample->length), NULL, 2, &table);
        check_rows(&table, name); /* by content and name */
        for (size_t rows = 1; rows <= 4; rows++)
            check_reading(support_file("points", sample->bytes, sample->length), name, rows);
        if (strcmp(name, "npz") == 0) continue; /* neither a pipe nor gzip can be sought in */
        check_reading(support_gzip("points", sample->bytes, sample->length), name, 2);
        pipe = support_pipe(sample->bytes, sample->length, 3);
        check_reading(pipe.path, name, 2);
        support_pipe_close(&pipe);
    }
}

/* A cut file is refused; text, which may end anywhere, is read up to whole rows. */
TEST(cut_files_are_refused)
{
    const struct ny_format_entry *entry;

    for (size_t i = 0; (entry = entry_at(i)); i++) {
        const struct sample *sample = sample_of(entry->info.name);
        const struct ny_reader_options options = {.format = entry->info.name};

        for (size_t length = 0; !length || (sample && length < sample->length); length++) {
            bool text = sample && sample->bytes[sample->length - 1] == '\n';
            const char *path = support_file("points", sample ? sample->bytes : "", length);
            struct support_table table;
            int status = support_read(path, &options, 2, &table);

            if (status != NY_EDATA && (!length || status != NY_END))
                fail_msg("%s, %zu bytes: %s", entry->info.name, length, ny_context_message(ctx));
            if (status == NY_END && table.rows >= ROWS && !text)
                fail_msg("%s: %zu bytes are enough", entry->info.name, length);
        }
    }
}

/* Options that an entry does not take are refused, not ignored. */
TEST(options_are_those_of_the_entry)
{
    const struct ny_format_entry *entry;

    for (size_t i = 0; (entry = entry_at(i)); i++) {
        const struct sample *sample = sample_of(entry->info.name);
        const struct ny_format *format = entry->format;
        const struct {
            bool taken;
            struct ny_reader_options options;
        } cases[] = {
            {format->takes_columns, {.columns = "1-2"}},
            {format->takes_columns, {.drop_columns = "1"}},
            {format->takes_label_column, {.label_column = "1"}},
            {format->takes_id_column, {.id_column = "1"}},
            {format->has_header, {.header = NY_HEADER_YES}},
            {format->takes_transpose, {.transpose = true}},
        };

        for (size_t k = 0; sample && k < sizeof(cases) / sizeof(cases[0]); k++) {
            struct ny_reader_options options = cases[k].options;
            const char *path = support_file("points", sample->bytes, sample->length);
            struct support_table table;

            options.format = entry->info.name;
            assert_int_equal(support_read(path, &options, 2, &table),
                             cases[k].taken ? NY_END : NY_EUSAGE);
        }
    }
}

static void write_samples(void)
{
    static const int64_t shape[2] = {ROWS, COLUMNS};
    static const int32_t indptr[] = {0, 4, 8, 12}, indices[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    static const uint8_t data[] = {1, 2, 3, 4, 50, 6, 7, 8, 9, 10, 11, 120};
    struct npz_case_array arrays[5];

    npz_case_matrix(arrays, "csr", shape, indptr, ROWS, indices, data, ROWS * COLUMNS);
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (strcmp(samples[i].format, "npz") == 0)
            samples[i].length = npz_case_zip(npz, arrays, 5, (struct npz_case_how){0});
    support_setup();
}

AROUND_ALL(write_samples, remove_folder)
