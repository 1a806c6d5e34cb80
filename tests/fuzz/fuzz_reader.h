/*
 * Shared by the fuzzers of readers: the input as a file and as a pipe, read to its end. Beyond "no
 * crash": both ways end alike, every value that is delivered is finite, rows have as many names as
 * there are rows, where they have any, counts add up, and all memory is given back.
 */
#ifndef NY_TESTS_FUZZ_READER_H
#define NY_TESTS_FUZZ_READER_H

#include <fcntl.h>
#include <sys/mman.h>

#include "fuzz/fuzz.h"
#include "io/reader.h"

enum { FUZZ_BATCH = 3, FUZZ_VALUES = 1 << 16 };
#ifndef FUZZ_READER_MEMORY
#define FUZZ_READER_MEMORY (2 << 20)
#endif
#ifndef FUZZ_ASKS_FOR_DISK /* 1: a claim that nothing refutes may be more than the disk has room   \
                              for */
#define FUZZ_ASKS_FOR_DISK 0
#endif

/* "/dev/fd/N" of a file, or of a pipe, that holds the bytes; N is to be closed. */
static int fuzz_input(const uint8_t *data, size_t size, bool as_pipe, char path[32])
{
    int ends[2];

    if (as_pipe) {
        FUZZ_CHECK(pipe(ends) == 0);
    } else {
        ends[0] = ends[1] = memfd_create("input", 0);
        FUZZ_CHECK(ends[0] >= 0);
    }
    FUZZ_CHECK(write(ends[1], data, size) == (ssize_t)size);
    if (as_pipe) close(ends[1]);
    snprintf(path, 32, "/dev/fd/%d", ends[0]);
    return ends[0];
}

static int fuzz_rest(struct ny_reader *reader, struct ny_names *names)
{
    static double values[FUZZ_VALUES], wide[FUZZ_VALUES], labels[FUZZ_BATCH];
    static uint64_t source[FUZZ_BATCH];
    const struct ny_file_table *table = ny_reader_table(reader);
    struct ny_row_batch batch = {
        .values = values, .labels = labels, .source = source, .names = names};
    const struct ny_names *columns = ny_reader_column_names(reader);
    uint64_t delivered = 0;
    int status = NY_OK;

    FUZZ_CHECK(table->d > 0 && table->dtype != NY_DTYPE_NONE);
    FUZZ_CHECK(columns->count == 0 || columns->count == table->d);
    if (table->d > FUZZ_VALUES / FUZZ_BATCH) return NY_OK;
    while (status == NY_OK) {
        size_t count;

        status = ny_reader_next(reader, FUZZ_BATCH, &batch);
        count = batch.count * (size_t)table->d;
        FUZZ_CHECK(status == NY_OK ? batch.count >= 1 && batch.count <= FUZZ_BATCH
                                   : batch.count == 0);
        for (size_t i = 0; i < batch.count; i++)
            FUZZ_CHECK(source[i] < batch.consumed && source[i] >= delivered + i);
        delivered += batch.count;
        FUZZ_CHECK(status != NY_OK || names->count == (table->names ? delivered : 0));
        ny_dtype_to_f64(table->dtype, values, wide, count);
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(isfinite(wide[i]) || table->dtype == NY_GENOTYPE);
        if (status != NY_END) continue;
        FUZZ_CHECK(batch.consumed == delivered + batch.dropped);
        FUZZ_CHECK(table->rows == NY_ROWS_UNKNOWN || table->rows == batch.consumed);
    }
    return status;
}

static int fuzz_path(const char *path, const struct ny_reader_options *options)
{
    struct ny_context *ctx = fuzz_context(FUZZ_READER_MEMORY);
    struct ny_names names = {0};
    struct ny_reader *reader;
    int status = ny_reader_open(&reader, ctx, path, options);

    if (status == NY_OK) {
        status = fuzz_rest(reader, &names);
        ny_reader_close(reader);
    }
    ny_names_release(&names, ctx);
    FUZZ_CHECK(status == NY_OK || status == NY_END || status == NY_EDATA || status == NY_EUSAGE ||
               status == NY_EBUDGET || (FUZZ_ASKS_FOR_DISK && status == NY_EIO));
    FUZZ_CHECK(status == NY_OK || status == NY_END || ny_context_error(ctx)->status == status);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return status;
}

/* Each of `count` sets of options, on a file and on a pipe. */
static inline void fuzz_reader(const uint8_t *data, size_t size,
                               const struct ny_reader_options *options, size_t count)
{
    const size_t pipe_room = 32 * 1024;

    for (size_t i = 0; i < count; i++) {
        char path[32];
        int fd = fuzz_input(data, size, false, path);
        int from_file = fuzz_path(path, &options[i]), from_pipe;

        close(fd);
        if (size > pipe_room) continue;
        fd = fuzz_input(data, size, true, path);
        from_pipe = fuzz_path(path, &options[i]);
        /* A pipe may end otherwise where only a file's size refutes a claim, and for libsvm. */
        FUZZ_CHECK((from_pipe == NY_END) == (from_file == NY_END) || from_pipe == NY_EUSAGE ||
                   from_pipe == NY_EBUDGET || from_pipe == NY_OK);
        close(fd);
    }
}

/* FUZZ_READER(options, …): the fuzzer of a reader that is opened with each of these options. */
#define FUZZ_READER(...)                                                                           \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                   \
    {                                                                                              \
        static const struct ny_reader_options options[] = {__VA_ARGS__};                           \
                                                                                                   \
        fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));                      \
        return 0;                                                                                  \
    }

#endif
