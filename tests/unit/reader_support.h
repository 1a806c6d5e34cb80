/* Files with given bytes, and whole tables read back, for the tests of readers. */
#ifndef NY_TESTS_READER_SUPPORT_H
#define NY_TESTS_READER_SUPPORT_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/context.h"
#include "io/reader.h"
#include "support/folder.h"
#include "support/npy.h"

static inline void support_setup(void)
{
    new_folder();
    ny_context_set_memory(ctx, 64 << 20);
}

/* The path of a file in the test's folder; a few are alive at a time. */
static inline const char *support_path(const char *name)
{
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static inline const char *support_file(const char *name, const void *bytes, size_t length)
{
    const char *path = support_path(name);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *support_text(const char *name, const char *text)
{
    return support_file(name, text, strlen(text));
}

static inline const char *support_gzip(const char *name, const void *bytes, size_t length)
{
    const char *path = support_path(name);
    gzFile file = gzopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)length), length);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

/* A pipe that a child fills: the path of its reading end. Small writes, so that windows cut lines
 * at odd places. */
struct support_pipe {
    char path[32];
    int fd;
    pid_t child;
};

static inline struct support_pipe support_pipe(const void *bytes, size_t length, size_t step)
{
    struct support_pipe result;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    result.child = fork();
    assert_true(result.child >= 0);
    if (result.child == 0) {
        close(ends[0]);
        for (size_t i = 0; i < length; i += step) {
            size_t count = length - i < step ? length - i : step;

            if (write(ends[1], (const char *)bytes + i, count) < 0) break;
        }
        _exit(0);
    }
    close(ends[1]);
    result.fd = ends[0];
    snprintf(result.path, sizeof(result.path), "/dev/fd/%d", ends[0]);
    return result;
}

static inline void support_pipe_close(struct support_pipe *result)
{
    close(result->fd);
    waitpid(result->child, NULL, 0);
}

OWNS(support_pipe, support_pipe_close(at))
OWNS_POINTER(ny_reader, ny_reader_close)

/* A whole table, as double. */
struct support_table {
    uint64_t d, rows, consumed, dropped, claimed;
    enum ny_dtype dtype;
    char format[16];
    double *values, *labels;
    uint64_t *source;
};

/* Makes room for `more` rows behind those that the table has. */
static inline void support_grow(struct support_table *table, size_t *room, size_t more)
{
    const struct support_table old = *table;

    if (table->rows + more <= *room) return;
    *room = 2 * (size_t)table->rows + more;
    table->values = lend(*room * table->d * sizeof(double));
    table->labels = lend(*room * sizeof(double));
    table->source = lend(*room * sizeof(uint64_t));
    if (table->rows == 0) return;
    memcpy(table->values, old.values, table->rows * table->d * sizeof(double));
    memcpy(table->labels, old.labels, table->rows * sizeof(double));
    memcpy(table->source, old.source, table->rows * sizeof(uint64_t));
}

/* Reads what is left in batches of `batch_rows`; the status of the last call. */
static inline int support_rest(struct ny_reader *reader, size_t batch_rows,
                               struct support_table *table)
{
    const struct ny_file_table *info = ny_reader_table(reader);
    size_t d = (size_t)info->d, bytes = batch_rows * d * ny_dtype_size(info->dtype), room = 0;
    struct ny_row_batch batch = {0};
    int status = NY_OK;

    assert_in_range(d, 1, 1 << 20);
    memset(table, 0, sizeof(*table));
    table->d = info->d;
    table->claimed = info->rows;
    table->dtype = info->dtype;
    snprintf(table->format, sizeof(table->format), "%s", info->format);
    batch.values = lend(bytes);
    while (status == NY_OK) {
        support_grow(table, &room, batch_rows);
        batch.labels = table->labels + table->rows;
        batch.source = table->source + table->rows;
        memset(batch.values, 0xa5, bytes);
        status = ny_reader_next(reader, batch_rows, &batch);
        if (status == NY_OK) {
            assert_in_range(batch.count, 1, batch_rows);
            ny_dtype_to_f64(info->dtype, batch.values, table->values + table->rows * d,
                            batch.count * d);
            table->rows += batch.count;
        } else {
            assert_int_equal(batch.count, 0);
        }
        table->consumed = batch.consumed;
        table->dropped = batch.dropped;
    }
    return status;
}

/* The whole file; the status of the call that did not return NY_OK. The context's error is cleared
 * before. */
static inline int support_read(const char *path, const struct ny_reader_options *options,
                               size_t batch_rows, struct support_table *table)
{
    OWNED(ny_reader) *reader = NULL;
    int status;

    memset(table, 0, sizeof(*table));
    ny_error_clear(ctx);
    status = ny_reader_open(&reader, ctx, path, options);
    if (status) {
        assert_null(reader);
        return status;
    }
    return support_rest(reader, batch_rows, table);
}

#define assert_reads(path, options, batch_rows, table)                                             \
    do {                                                                                           \
        int support_status = support_read(path, options, batch_rows, table);                       \
        if (support_status != NY_END)                                                              \
            fail_msg("status %d: %s", support_status, ny_context_message(ctx));                    \
    } while (0)

/* The file is refused with this status. */
static inline void assert_refused(const char *path, const struct ny_reader_options *options,
                                  int status)
{
    struct support_table table;

    assert_int_equal(support_read(path, options, 2, &table), status);
}

/* skip(k), then reading, gives what reading all gives from row k on. */
static inline struct support_table check_skip(const char *path,
                                              const struct ny_reader_options *options)
{
    struct support_table all, rest;

    assert_reads(path, options, 3, &all);
    for (uint64_t rows = 0; rows <= all.consumed + 1; rows++) {
        OWNED(ny_reader) *reader = NULL;
        uint64_t first = 0; /* the first kept row from `rows` on */

        while (first < all.rows && all.source[first] < rows)
            first++;
        ny_error_clear(ctx);
        CHECK(ny_reader_open(&reader, ctx, path, options));
        if (rows > all.consumed) {
            assert_int_equal(ny_reader_skip(reader, rows, 0), NY_EDATA);
            break;
        }
        CHECK(ny_reader_skip(reader, rows, rows - first));
        assert_int_equal(support_rest(reader, 2, &rest), NY_END);
        assert_int_equal(rest.rows, all.rows - first);
        assert_int_equal(rest.consumed, all.consumed);
        assert_int_equal(rest.dropped, all.dropped);
        for (uint64_t r = 0; r < rest.rows; r++) {
            assert_int_equal(rest.source[r], all.source[first + r]);
            assert_memory_equal(&rest.labels[r], &all.labels[first + r], sizeof(double));
            assert_memory_equal(rest.values + r * all.d, all.values + (first + r) * all.d,
                                (size_t)all.d * sizeof(double));
        }
    }
    return all;
}

#endif
