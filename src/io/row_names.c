/*
 * Names of rows in step with them (io/row_names.h): lines that are read as they are needed, since a
 * file may have a thousand million rows. Names that come before the rows become lines of a
 * temporary file.
 */
#include "io/row_names.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "base/scratch.h"
#include "io/number.h"
#include "io/refuse.h"
#include "io/row_sort.h"

enum { WRITE_BYTES = 64 << 10 };
static const unsigned whole_line = UINT_MAX;

struct ny_row_names {
    struct ny_reader *reader;
    struct ny_bytes *lines;
    unsigned field; /* field of a line that is wanted; or whole_line */
};

/* ---- one name ------------------------------------------------------------------------------- */

int ny_stream_name(struct ny_reader *reader, uint64_t number, struct ny_names *to)
{
    char text[NY_NAME_BYTES_MAX];
    const char *wrong;
    uint32_t length;
    size_t got;
    int err = ny_bytes_read(reader->bytes, &length, sizeof(length), &got);

    if (err) return err;
    if (got < sizeof(length)) return NY_END;
    if (length > NY_NAME_BYTES_MAX)
        return ny_refuse_name(reader->ctx, reader->path, number, ny_name_wrong("", length));
    err = ny_bytes_read(reader->bytes, text, length, &got);
    if (err) return err;
    if (got < length) return NY_END;
    wrong = ny_name_wrong(text, length);
    if (wrong) return ny_refuse_name(reader->ctx, reader->path, number, wrong);
    return ny_names_add(to, reader->ctx, text, length);
}

/* Returns field `field` of a line, or the first where there are fewer, or all of the line. */
static const char *field_of(const char *line, const char *end, unsigned field, size_t *length)
{
    const char *at = line, *tab;

    *length = (size_t)(end - line);
    if (field == whole_line) return line;
    for (unsigned i = 0; at && i < field; i++) {
        tab = memchr(at, '\t', (size_t)(end - at));
        at = tab ? tab + 1 : NULL;
    }
    if (!at) at = line;
    tab = memchr(at, '\t', (size_t)(end - at));
    *length = (size_t)((tab ? tab : end) - at);
    return at;
}

int ny_line_name(struct ny_bytes *lines, unsigned field, struct ny_names *to)
{
    const char *newline, *end, *text, *wrong;
    size_t length;
    int err = ny_bytes_line(lines, &newline);

    if (err) return err;
    end = newline ? newline : lines->end;
    if (!newline && lines->at == lines->end) return NY_END;
    if (end > lines->at && end[-1] == '\r') end--;
    text = field_of(lines->at, end, field, &length);
    wrong = ny_name_wrong(text, length);
    if (wrong) return ny_refuse_name(lines->ctx, lines->path, lines->line, wrong);
    err = ny_names_add(to, lines->ctx, text, length);
    lines->at = newline ? newline + 1 : lines->end;
    lines->line++;
    return err;
}

int ny_lines_names(struct ny_context *ctx, const char *path, unsigned field, struct ny_names *to,
                   uint64_t *count)
{
    struct ny_names one = {0}, *names = to ? to : &one;
    size_t bytes = 0;
    struct ny_bytes *lines;
    int err = ny_bytes_open(&lines, ctx, path);

    *count = 0;
    if (err) return err;
    for (uint64_t line = 1; !err; line++) {
        size_t before;

        ny_names_clear(&one);
        before = names->bytes;
        err = ny_line_name(lines, field, names);
        if (!err && names->bytes > before + 1) {
            *count = line;
            bytes = names->bytes;
        }
        if (!err && line % 4096 == 0) err = ny_check_interrupt(ctx);
    }
    if (to) {
        to->count = (size_t)*count;
        to->bytes = bytes;
    }
    ny_names_release(&one, ctx);
    ny_bytes_close(lines);
    return err == NY_END ? NY_OK : err;
}

/* ---- opening -------------------------------------------------------------------------------- */

int ny_row_names_of_lines(struct ny_row_names **out, struct ny_reader *reader,
                          struct ny_bytes *lines, unsigned field)
{
    struct ny_row_names *names = ny_calloc(reader->ctx, NY_MEM_IO, 1, sizeof(*names));

    *out = names;
    if (names)
        *names = (struct ny_row_names){.reader = reader, .lines = lines, .field = field};
    else
        ny_bytes_close(lines);
    return names ? NY_OK : NY_EBUDGET;
}

/* Appends the names to the file, as lines, and forgets them. */
static int write_lines(const struct ny_scratch *file, struct ny_names *names, uint64_t *written)
{
    int err;

    for (size_t i = 0; i < names->bytes; i++)
        if (!names->text[i]) names->text[i] = '\n';
    err = ny_scratch_put(file, names->text, names->bytes, *written);
    *written += names->bytes;
    ny_names_clear(names);
    return err;
}

/* Moves all names from the stream to the file. */
static int move_names(struct ny_reader *reader, const struct ny_scratch *file)
{
    struct ny_names some = {0};
    uint64_t written = 0;
    int err = NY_OK;

    for (uint64_t row = 0; !err && row < reader->table.rows; row++) {
        err = ny_stream_name(reader, row, &some);
        if (err || some.bytes < WRITE_BYTES) continue;
        err = write_lines(file, &some, &written);
        if (!err) err = ny_check_interrupt(reader->ctx);
    }
    if (!err) err = write_lines(file, &some, &written);
    ny_names_release(&some, reader->ctx);
    return err;
}

int ny_row_names_of_stream(struct ny_row_names **out, struct ny_reader *reader)
{
    struct ny_scratch file = {reader->ctx, ny_scratch_folder(reader), "the names of rows", -1};
    struct ny_bytes *lines;
    int err = ny_scratch_open(&file);

    if (!err) err = move_names(reader, &file);
    if (!err) {
        err = ny_bytes_open_lines(&lines, reader->ctx, file.fd, reader->path);
        file.fd = -1;
    }
    ny_scratch_close(&file);
    return err ? err : ny_row_names_of_lines(out, reader, lines, whole_line);
}

void ny_row_names_close(struct ny_row_names *names)
{
    if (!names) return;
    ny_bytes_close(names->lines);
    ny_free(names->reader->ctx, names);
}

/* ---- reading -------------------------------------------------------------------------------- */

int ny_row_names_next(struct ny_row_names *names, uint64_t skip, size_t count, struct ny_names *to)
{
    struct ny_names passed = {0};
    int err = NY_OK;

    for (uint64_t i = 0; !err && i < skip + count; i++) {
        ny_names_clear(&passed);
        err = ny_line_name(names->lines, names->field, i < skip ? &passed : to);
    }
    ny_names_release(&passed, names->reader->ctx);
    return err == NY_END
               ? ny_refuse_count(names->reader->ctx, names->lines->path, names->reader->path)
               : err;
}
