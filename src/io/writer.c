/*
 * Writes outputs: npy and text tables, and bytes as they come (models, pictures, pages).
 *
 * Exports, transform, the report and the cache of measured rates write through it. A regular file
 * is a draft until the commit (io/draft.h); a pipe or a device is written in place. Rows go
 * through a buffer of 256 KiB, which larger pieces pass by. An npy has a header of 128 bytes
 * whatever its number of rows, so that a number that is known only at the end can be put in then;
 * a pipe cannot go back, and is refused. Numbers in text have a decimal point in every locale, and
 * as many digits as bring the same value back (%.9g, %.17g).
 */
#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/layout.h"
#include "base/names.h"
#include "io/draft.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "io/pack.h"

enum {
    DIRECT_MIN = 64 * 1024, /* more goes past the buffer */
    NUMBER_BYTES = 32       /* of a number in text, with its delimiter */
};

/* State of one output. `failed` is set by the first error: the commit then refuses to give half a
 * file its name. */
struct ny_writer {
    struct ny_context *ctx;
    struct ny_layout own;
    char *path;
    struct ny_draft *temporary; /* NULL: written in place (a pipe, a device) */
    int fd;
    enum ny_element element;
    struct ny_table_text text; /* delimiter NUL: an npy, or bytes as they come */
    struct ny_packer *packer;  /* NULL: nothing is packed */
    bool npy, failed, finished;
    uint64_t rows, cols, written; /* cols 0: a 1-D npy */
    size_t used;
    char *buffer;
};

size_t ny_output_bytes(enum ny_element element)
{
    static const size_t sizes[] = {[NY_OUT_F32] = sizeof(float),
                                   [NY_OUT_F64] = sizeof(double),
                                   [NY_OUT_U64] = sizeof(uint64_t),
                                   [NY_OUT_I64] = sizeof(int64_t),
                                   [NY_OUT_BYTES] = 1,
                                   [NY_OUT_TEXT] = 1};

    return sizes[element];
}

/* Writes to the file in as many calls as it takes; an interrupt is seen between two. */
static int write_all(void *user, const char *data, size_t bytes)
{
    struct ny_writer *writer = user;

    while (bytes > 0) {
        ssize_t count = write(writer->fd, data, bytes);
        int err = count < 0 && errno != EINTR ? ny_fail_errno(writer->ctx, "write", writer->path)
                                              : ny_check_interrupt(writer->ctx);

        if (err) return err;
        if (count < 0) continue;
        data += count;
        bytes -= (size_t)count;
    }
    return NY_OK;
}

/* Passes bytes on to the file, by way of gzip where the name ends in .csv.gz. */
static int write_out(struct ny_writer *writer, const char *data, size_t bytes)
{
    return writer->packer ? ny_pack(writer->packer, data, bytes) : write_all(writer, data, bytes);
}

/* Writes what is in the buffer, which is empty afterwards even if the write fails. */
static int flush(struct ny_writer *writer)
{
    size_t used = writer->used;

    writer->used = 0;
    return write_out(writer, writer->buffer, used);
}

/* Adds bytes to the buffer, or writes them past it where they are many. */
static int put(struct ny_writer *writer, const char *data, size_t bytes)
{
    int err = NY_OK;

    if (bytes > NY_WRITER_BYTES - writer->used) err = flush(writer);
    if (!err && bytes >= DIRECT_MIN && writer->used == 0) return write_out(writer, data, bytes);
    if (err) return err;
    memcpy(writer->buffer + writer->used, data, bytes);
    writer->used += bytes;
    return NY_OK;
}

static int put_npy_header(struct ny_writer *writer)
{
    static const char *const codes[] = {
        [NY_OUT_F32] = "f4", [NY_OUT_F64] = "f8", [NY_OUT_U64] = "u8", [NY_OUT_I64] = "i8"};
    char header[NY_NPY_HEADER_BYTES], shape[64];
    int used = snprintf(shape, sizeof(shape), "(%llu,", (unsigned long long)writer->rows);

    if (writer->cols > 0)
        used += snprintf(shape + used, sizeof(shape) - (size_t)used, " %llu",
                         (unsigned long long)writer->cols);
    snprintf(shape + used, sizeof(shape) - (size_t)used, ")");
    ny_npy_header_text(header, codes[writer->element], shape);
    return put(writer, header, sizeof(header));
}

/* Opens what is no regular file to write to it; else a draft, which gets its name at the commit: a
 * run that is killed leaves an old file as it was. */
static int open_output(struct ny_writer *writer)
{
    struct stat info;

    if (ny_output_is_stdout(writer->path)) {
        writer->fd = STDOUT_FILENO;
        return NY_OK;
    }
    if (stat(writer->path, &info) != 0 || S_ISREG(info.st_mode))
        return ny_draft_open(&writer->temporary, writer->ctx, writer->path, &writer->fd);
    writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC);
    if (writer->fd >= 0 && fstat(writer->fd, &info) == 0 && !S_ISREG(info.st_mode)) return NY_OK;
    return ny_fail_errno(writer->ctx, "open", writer->path);
}

int ny_writer_fits(struct ny_writer *writer)
{
    struct statvfs disk;
    uint64_t cols = writer->cols ? writer->cols : 1, bytes, free_bytes;

    if (!writer->temporary || writer->text.delimiter || writer->rows == NY_ROWS_COUNTED ||
        fstatvfs(writer->fd, &disk) || !disk.f_blocks)
        return NY_OK;
    free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (__builtin_mul_overflow(writer->rows, cols * ny_output_bytes(writer->element), &bytes))
        bytes = UINT64_MAX;
    if (bytes <= free_bytes) return NY_OK;
    return ny_fail_full(writer->ctx, writer->path, bytes, free_bytes);
}

bool ny_writer_needs_rows(const char *path)
{
    return !ny_output_text(path).delimiter && ny_output_is_stream(path);
}

int ny_writer_check(struct ny_context *ctx, const char *path)
{
    struct ny_writer *writer;
    int err;

    if (ny_output_is_stream(path)) return NY_OK; /* to open and close it would end a pipe */
    err = ny_writer_open(&writer, ctx, path, NY_OUT_F32, 0, 1);
    ny_writer_abort(writer);
    return err;
}

int ny_writer_apart(struct ny_context *ctx, const char *path, const char *input)
{
    struct stat written, read;

    if (ny_output_is_stream(path) || stat(path, &written) || stat(input, &read)) return NY_OK;
    if (written.st_dev != read.st_dev || written.st_ino != read.st_ino) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "%s is the input; write to another file", path);
}

int ny_writer_open(struct ny_writer **out, struct ny_context *ctx, const char *path,
                   enum ny_element element, uint64_t rows, uint64_t cols)
{
    struct ny_writer *writer = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*writer));
    size_t length = strlen(path);
    int err;

    *out = NULL;
    if (!writer) return NY_EBUDGET;
    *writer =
        (struct ny_writer){.ctx = ctx, .fd = -1, .element = element, .rows = rows, .cols = cols};
    writer->own.ctx = ctx;
    writer->npy = element < NY_OUT_BYTES;
    if (writer->npy || element == NY_OUT_TEXT) writer->text = ny_output_text(path);
    if (element == NY_OUT_TEXT) writer->text.delimiter = '\0'; /* the lines are ready */
    writer->npy &= !writer->text.delimiter;
    writer->path = ny_lay(&writer->own, NY_MEM_IO, length + 1, 1);
    writer->buffer = ny_lay(&writer->own, NY_MEM_IO, NY_WRITER_BYTES, 1);
    err = writer->own.err;
    if (!err) memcpy(writer->path, path, length + 1);
    if (!err) err = open_output(writer);
    if (!err && writer->npy && rows == NY_ROWS_COUNTED && !writer->temporary)
        err = ny_fail(ctx, NY_EUSAGE, "%s: an .npy cannot be a pipe here; write to a file", path);
    if (!err && writer->text.packed)
        err = ny_pack_begin(&writer->packer,
                            &(struct ny_pack_output){ctx, writer->path, write_all, writer});
    if (!err && writer->npy) err = put_npy_header(writer);
    if (err)
        ny_writer_abort(writer);
    else
        *out = writer;
    return err;
}

/* Writes one number with as many digits as bring the same value back, and returns their count.
 * There is no room check: put_text() has made sure of NUMBER_BYTES. */
static size_t format_number(const struct ny_writer *writer, char *to, const void *values,
                            size_t index)
{
    int length;

    switch (writer->element) {
    case NY_OUT_F32:
        length = snprintf(to, NUMBER_BYTES, "%.9g", (double)((const float *)values)[index]);
        break;
    case NY_OUT_F64:
        length = snprintf(to, NUMBER_BYTES, "%.17g", ((const double *)values)[index]);
        break;
    case NY_OUT_I64:
        length = snprintf(to, NUMBER_BYTES, "%lld", (long long)((const int64_t *)values)[index]);
        break;
    default:
        length = snprintf(to, NUMBER_BYTES, "%llu",
                          (unsigned long long)((const uint64_t *)values)[index]);
    }
    return (size_t)length;
}

/* Writes rows as text, number by number into the buffer, which is flushed whenever the next number
 * might not fit. */
static int put_text(struct ny_writer *writer, const void *values, size_t count)
{
    size_t cols = writer->cols ? (size_t)writer->cols : 1, column = 0;

    for (size_t i = 0; i < count * cols; i++) {
        if (writer->used > NY_WRITER_BYTES - NUMBER_BYTES) {
            int err = flush(writer);
            if (err) return err;
        }
        writer->used += format_number(writer, writer->buffer + writer->used, values, i);
        column = column + 1 == cols ? 0 : column + 1;
        writer->buffer[writer->used++] = column ? writer->text.delimiter : '\n';
    }
    return NY_OK;
}

int ny_writer_rows(struct ny_writer *writer, const void *values, size_t count)
{
    size_t bytes;
    int err;

    if (count > writer->rows - writer->written) return NY_BUG(writer->ctx);
    if (writer->text.delimiter) { /* numbers have a point in every locale */
        locale_t before = ny_decimal_begin();

        err = put_text(writer, values, count);
        ny_decimal_end(before);
    } else {
        err = ny_product(writer->ctx, &bytes, count, writer->cols ? (size_t)writer->cols : 1,
                         ny_output_bytes(writer->element));
        if (!err) err = put(writer, values, bytes);
    }
    writer->written += count;
    writer->failed |= err != NY_OK;
    return err;
}

int ny_writer_text(struct ny_writer *writer, const char *text, size_t bytes)
{
    int err = put(writer, text, bytes);

    writer->failed |= err != NY_OK;
    return err;
}

/* If the rows were counted while they were written, the header is written once more with their
 * number; it has the same length as the first one. */
int ny_writer_finish(struct ny_writer *writer)
{
    int err;

    if (!writer || writer->finished) return NY_OK;
    writer->finished = true;
    err = flush(writer);
    if (!err && writer->packer) err = ny_pack_finish(writer->packer);
    if (writer->rows != NY_ROWS_COUNTED || !writer->npy || err) return err;
    writer->rows = writer->written;
    if (lseek(writer->fd, 0, SEEK_SET) != 0)
        return ny_fail_errno(writer->ctx, "write", writer->path);
    err = put_npy_header(writer);
    return err ? err : flush(writer);
}

/* Records what was written for the message at the end of the job. */
static void note_written(const struct ny_writer *writer)
{
    static const char *const types[] = {[NY_OUT_F32] = "float32",
                                        [NY_OUT_F64] = "float64",
                                        [NY_OUT_U64] = "uint64",
                                        [NY_OUT_I64] = "int64"};
    bool table = writer->element < NY_OUT_BYTES;

    ny_context_wrote(writer->ctx,
                     (struct ny_written){.rows = table ? writer->written : 0,
                                         .columns = table ? writer->cols : 0,
                                         .type = table ? types[writer->element] : NULL});
}

int ny_writer_field(struct ny_writer *writer, const char *word, char delimiter, char behind)
{
    const char special[] = {'"', '\r', '\n', delimiter, '\0'};
    const char end[] = {'"', behind, '\0'};
    bool quoted = strpbrk(word, special) != NULL;
    int err = quoted ? ny_writer_text(writer, "\"", 1) : NY_OK;

    for (const char *at = word; !err && *at;) {
        size_t plain = quoted ? strcspn(at, "\"") : strlen(at);

        err = ny_writer_text(writer, at, plain);
        at += plain;
        if (err || !*at) break;
        err = ny_writer_text(writer, "\"\"", 2);
        at++;
    }
    return err ? err : ny_writer_text(writer, end + !quoted, quoted ? 2 : 1);
}

int ny_writer_name(struct ny_writer *writer, const char *name, char delimiter)
{
    const char *blank = name ? strchr(name, ' ') : NULL;
    char family[NY_NAME_BYTES_MAX + 1];
    int err;

    if (!writer->text.samples)
        return ny_writer_field(writer, name ? name : "id", delimiter, delimiter);
    snprintf(family, sizeof(family), "%.*s", blank ? (int)(blank - name) : NY_NAME_BYTES_MAX,
             name ? name : "#FID");
    err = ny_writer_field(writer, family, delimiter, delimiter);
    if (err) return err;
    return ny_writer_field(writer, blank ? blank + 1 : name ? name : "IID", delimiter, delimiter);
}

int ny_writer_component(struct ny_writer *writer, const char *part, size_t number, char delimiter,
                        char behind)
{
    char word[64];

    if (writer->text.samples)
        snprintf(word, sizeof(word), "PC%zu", number);
    else
        snprintf(word, sizeof(word), "%s_%zu", part, number);
    return ny_writer_field(writer, word, delimiter, behind);
}

int ny_writer_commit(struct ny_writer *writer, int err)
{
    if (!writer) return err;
    if (!err && writer->failed)
        err = ny_fail(writer->ctx, NY_EIO, "%s was not written as a whole", writer->path);
    if (!err && writer->rows != NY_ROWS_COUNTED && writer->written != writer->rows)
        err = NY_BUG(writer->ctx);
    if (!err) err = ny_writer_finish(writer);
    if (!err && writer->temporary) {
        err = ny_draft_commit(writer->temporary);
        writer->temporary = NULL;
        writer->fd = -1;
        if (!err) note_written(writer);
    }
    ny_writer_abort(writer);
    return err;
}

void ny_writer_abort(struct ny_writer *writer)
{
    if (!writer) return;
    if (writer->fd > STDOUT_FILENO && !writer->temporary) close(writer->fd);
    ny_draft_abort(writer->temporary);
    ny_pack_end(writer->packer);
    ny_layout_free(&writer->own);
    ny_free(writer->ctx, writer);
}
