/* Writers: what numpy and a reader find in the file, and what is left when something goes wrong. */
#include "reader_support.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "io/npz_write.h"
#include "io/writer.h"
#include "io/zip.h"

static size_t slurp(const char *path, char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t length;

    assert_non_null(file);
    length = fread(to, 1, room - 1, file);
    to[length] = '\0';
    fclose(file);
    return length;
}

static size_t files_in_folder(void)
{
    DIR *folder = opendir(directory);
    size_t count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

static int syncs_of_files, syncs_of_folders;

/* Counts what is made to survive a loss of power. */
__attribute__((visibility("default"))) int fsync(int fd)
{
    struct stat info;

    assert_int_equal(fstat(fd, &info), 0);
    if (S_ISREG(info.st_mode)) syncs_of_files++;
    if (S_ISDIR(info.st_mode)) syncs_of_folders++;
    return 0;
}

static void write_all(const char *path, enum ny_element element, const uint64_t shape[2],
                      const void *values)
{
    struct ny_writer *writer;

    assert_int_equal(ny_writer_open(&writer, ctx, path, element, shape[0], shape[1]), NY_OK);
    assert_int_equal(ny_writer_rows(writer, values, (size_t)shape[0]), NY_OK);
    assert_int_equal(ny_writer_commit(writer, NY_OK), NY_OK);
}

/* Byte for byte what numpy.save writes for the same array. */
TEST(test_npy_bytes)
{
    const uint64_t values[] = {1, UINT64_MAX};
    const char *path = support_path("x.npy");
    char bytes[512], expected[512];
    size_t length;

    memset(expected, ' ', 128);
    memcpy(expected, "\x93NUMPY\1\0v\0", 10);
    memcpy(expected + 10, "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", 57);
    expected[127] = '\n';
    memcpy(expected + 128, "\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    write_all(path, NY_OUT_U64, (uint64_t[]){2, 0}, values);
    length = slurp(path, bytes, sizeof(bytes));
    /* numpy pads to 64 bytes: 10 + 57 + 1 = 68 → 128 */
    assert_int_equal(length, 144);
    assert_memory_equal(bytes, expected, 144);
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

TEST(test_csv_round_trip)
{
    const double values[] = {0.1, -1e300, 1.0 / 3, 5e-324, 0, 12345678.9};
    const float singles[] = {0.1f, -3.5f};
    const uint64_t whole[] = {UINT64_MAX, 7};
    const char *path = support_path("x.csv");
    const struct ny_reader_options options = {.dtype = NY_F64};
    struct support_table table;
    char bytes[512];

    write_all(path, NY_OUT_F64, (uint64_t[]){3, 2}, values);
    assert_reads(path, &options, 2, &table);
    assert_int_equal(table.rows, 3);
    for (int i = 0; i < 6; i++)
        assert_true(table.values[i] == values[i]);
    write_all(path, NY_OUT_F32, (uint64_t[]){1, 2}, singles);
    slurp(path, bytes, sizeof(bytes));
    assert_string_equal(bytes, "0.100000001,-3.5\n");
    write_all(path, NY_OUT_U64, (uint64_t[]){2, 0}, whole);
    slurp(path, bytes, sizeof(bytes));
    assert_string_equal(bytes, "18446744073709551615\n7\n");
    unlink(path);
}

TEST(test_tsv_has_tabs)
{
    const float values[] = {0.5f, -3, 4, 1e9f};
    const char *path = support_path("x.TSV");
    char bytes[64];

    write_all(path, NY_OUT_F32, (uint64_t[]){2, 2}, values);
    slurp(path, bytes, sizeof(bytes));
    assert_string_equal(bytes, "0.5\t-3\n4\t1e+09\n");
    unlink(path);
}

/* Pieces of many sizes: what a reader finds is what went in. Packed ones stay within a budget that
 * the text would not fit. */
static void round_trip(const char *name, size_t rows, size_t cols, size_t most_bytes)
{
    const char *path = support_path(name);
    double *values = lend(rows * cols * sizeof(double));
    const struct ny_reader_options options = {.dtype = NY_F64};
    struct support_table table;
    struct ny_writer *writer;
    struct stat status;

    for (size_t i = 0; i < rows * cols; i++)
        values[i] = (double)i / 7;
    ny_context_set_memory(ctx, (uint64_t)2 << 20);
    assert_int_equal(ny_writer_open(&writer, ctx, path, NY_OUT_F64, rows, cols), NY_OK);
    for (size_t r = 0, count; r < rows; r += count) {
        count = 1 + r % 900;
        if (count > rows - r) count = rows - r;
        assert_int_equal(ny_writer_rows(writer, values + r * cols, count), NY_OK);
    }
    assert_int_equal(ny_writer_commit(writer, NY_OK), NY_OK);
    ny_context_set_memory(ctx, 0);
    assert_int_equal(stat(path, &status), 0);
    assert_true((size_t)status.st_size <= most_bytes);
    assert_reads(path, &options, 999, &table);
    assert_true(table.rows == rows && table.d == cols);
    for (size_t i = 0; i < rows * cols; i++)
        assert_true(table.values[i] == values[i]);
    unlink(path);
    assert_int_equal(files_in_folder(), 0);
}

TEST(test_many_rows_come_back)
{
    round_trip("big.npy", 5000, 37, 128 + 5000 * 37 * sizeof(double));
    round_trip("big.csv.gz", 40000, 9, 40000 * 9 * 12);
}

/* Rows that are counted as they come: the header says how many in the end. */
TEST(test_counted_rows)
{
    const float values[] = {1, 2, 3, 4, 5, 6};
    const char *path = support_path("counted.npy");
    struct support_table table;
    struct ny_writer *writer;

    assert_int_equal(ny_writer_open(&writer, ctx, path, NY_OUT_F32, NY_ROWS_COUNTED, 2), NY_OK);
    assert_int_equal(ny_writer_rows(writer, values, 1), NY_OK);
    assert_int_equal(ny_writer_rows(writer, values + 2, 2), NY_OK);
    assert_int_equal(ny_writer_commit(writer, NY_OK), NY_OK);
    assert_reads(path, NULL, 3, &table);
    assert_int_equal(table.claimed, 3);
    for (int i = 0; i < 6; i++)
        assert_true(table.values[i] == i + 1);
    unlink(path);
}

/* Bytes as they are, whatever the name. */
TEST(test_bytes)
{
    const char *path = support_path("model.csv");
    char bytes[16];

    write_all(path, NY_OUT_BYTES, (uint64_t[]){3, 0}, "a\nb");
    assert_int_equal(slurp(path, bytes, sizeof(bytes)), 3);
    assert_string_equal(bytes, "a\nb");
    unlink(path);
}

/* The old file stands until the commit, and stays without one. */
TEST(test_nothing_is_left_behind)
{
    const char *path = support_text("old.npy", "old");
    struct ny_writer *writer;
    char bytes[64];
    const float values[4] = {0};

    assert_int_equal(ny_writer_open(&writer, ctx, path, NY_OUT_F32, 2, 2), NY_OK);
    assert_int_equal(ny_writer_rows(writer, values, 2), NY_OK);
    slurp(path, bytes, sizeof(bytes));
    assert_string_equal(bytes, "old");
    ny_writer_abort(writer);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(ny_writer_open(&writer, ctx, path, NY_OUT_F32, 2, 2), NY_OK);
    assert_int_equal(ny_writer_rows(writer, values, 1), NY_OK);
    assert_int_equal(ny_writer_commit(writer, NY_OK), NY_EINTERNAL); /* a row is missing */
    ny_error_clear(ctx);
    assert_int_equal(ny_writer_open(&writer, ctx, path, NY_OUT_F32, 1, 2), NY_OK);
    assert_int_equal(ny_writer_rows(writer, values, 2), NY_EINTERNAL); /* one too many */
    ny_writer_abort(writer);
    ny_error_clear(ctx);
    slurp(path, bytes, sizeof(bytes));
    assert_string_equal(bytes, "old");
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

/* A file size limit stands in for a full disk: the same path through write(). */
TEST(test_full_disk)
{
    const size_t rows = 1 << 16;
    const char *path = support_path("full.npy");
    double *values = lend_zeros(rows * 8 * sizeof(double));
    struct rlimit before, small;
    struct ny_writer *writer;
    int err;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(ny_writer_open(&writer, ctx, path, NY_OUT_F64, rows, 8), NY_OK);
    err = ny_writer_rows(writer, values, rows);
    assert_int_equal(err, NY_EIO);
    assert_int_equal(ny_writer_commit(writer, NY_OK), NY_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(files_in_folder(), 0);
    ny_error_clear(ctx);
}

/* A new file and one that replaces another: the bytes go to the disk, and the name in its folder.
 */
TEST(test_outputs_survive_a_loss_of_power)
{
    const char *path = support_path("safe.npy");
    const float value = 1;

    for (int i = 0; i < 2; i++) {
        syncs_of_files = syncs_of_folders = 0;
        write_all(path, NY_OUT_F32, (uint64_t[]){1, 1}, &value);
        assert_int_equal(syncs_of_files, 1);
        assert_int_equal(syncs_of_folders, 1);
    }
    unlink(path);
}

/* A link is replaced, never written through; a device is written to, never replaced. */
TEST(test_links_and_devices)
{
    const char *target = support_text("target", "precious");
    const char *path = support_path("link.npy");
    const float value = 1;
    struct stat info;
    char bytes[64];

    assert_int_equal(symlink(target, path), 0);
    write_all(path, NY_OUT_F32, (uint64_t[]){1, 1}, &value);
    slurp(target, bytes, sizeof(bytes));
    assert_string_equal(bytes, "precious");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    unlink(path);
    unlink(target);
    write_all("/dev/null", NY_OUT_F32, (uint64_t[]){1, 1}, &value);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

TEST(test_mode_follows_umask)
{
    const char *path = support_path("mode.npy");
    const float value = 1;
    struct stat info;
    mode_t before = umask(027);

    write_all(path, NY_OUT_F32, (uint64_t[]){1, 1}, &value);
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    unlink(path);
}

/* A member whose checksum is made in pieces, behind a small one; the reader of zip archives finds
 * both whole. */
TEST(test_npz_of_many_bytes)
{
    enum { LARGE = (1 << 26) + 8 * 1000 }; /* a piece, and a part of the next */
    const char *path = support_path("large.npz");
    uint64_t *numbers = lend(LARGE), *again = lend(LARGE);
    const struct ny_npz_out arrays[] = {{"format", "S3", "()", "csr", 3},
                                        {"data", "u8", "(8389608,)", numbers, LARGE}};
    struct ny_zip_member members[] = {{.name = "format.npy"}, {.name = "data.npy"}};
    char header[128], word[3];
    struct ny_writer *writer;
    struct ny_bytes *archive;

    for (uint64_t i = 0; i < LARGE / 8; i++)
        numbers[i] = i * i;
    CHECK(ny_writer_open(&writer, ctx, path, NY_OUT_BYTES, NY_ROWS_COUNTED, 1));
    assert_int_equal(ny_npz_write(ctx, writer, arrays, 2), NY_OK);
    assert_int_equal(ny_writer_commit(writer, NY_OK), NY_OK);
    assert_int_equal(ny_bytes_open(&archive, ctx, path), NY_OK);
    assert_int_equal(ny_zip_find(archive, members, 2), NY_OK);
    for (int i = 0; i < 2; i++) {
        struct ny_bytes *member;
        size_t head, rest, none;

        assert_true(members[i].found);
        CHECK(ny_zip_open(&member, archive, &members[i]));
        CHECK(ny_bytes_read(member, header, sizeof(header), &head));
        CHECK(ny_bytes_read(member, i ? (void *)again : word, arrays[i].bytes, &rest));
        CHECK(ny_bytes_read(member, header, 1, &none)); /* the checksum is compared at the end */
        assert_true(head == sizeof(header) && rest == arrays[i].bytes && none == 0);
        ny_bytes_close(member);
    }
    assert_memory_equal(word, "csr", 3);
    assert_int_equal(memcmp(again, numbers, LARGE), 0);
    ny_bytes_close(archive);
    unlink(path);
}

AROUND_ALL(support_setup, remove_folder)
