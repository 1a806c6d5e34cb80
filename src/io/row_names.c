/*
 * Names of rows in step with them (io/row_names.h). No more than SHARE names are in memory at a
 * time, since a file may have a thousand million rows: lines are read as they are needed, and names
 * that come before the rows go to a spool, from which they come back SHARE at a time.
 */
#include "io/row_names.h"

#include <string.h>

#include "base/memory.h"
#include "base/spool.h"
#include "io/number.h"
#include "io/refuse.h"
#include "io/row_sort.h"

enum { SHARE = 1 << 16, STREAMS_MAX = 4096, PIECE_BYTES = 16 << 10, PIECE_BYTES_MIN = 512 };
enum {
    PIECES_SHARE = 16
}; /* a part of the budget that is left, at most, for the pieces of all streams */

struct ny_row_names {
    struct ny_reader *reader;
    struct ny_bytes *lines; /* NULL: the names are in the spool */
    unsigned field;         /* field of a line that is wanted */
    struct ny_spool *spool;
    uint64_t share;         /* names in a stream of the spool */
    uint64_t next;          /* number of the name that comes next */
    struct ny_names loaded; /* a stream's names: the one numbered `next` begins at `at` */
    const char *at;
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

/* Returns field `field` of a line, or the first where there are fewer. */
static const char *field_of(const char *line, const char *end, unsigned field, size_t *length)
{
    const char *at = line;

    for (unsigned i = 0; at && i < field; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));

        at = tab ? tab + 1 : NULL;
    }
    if (!at) at = line;
    for (*length = 0; at + *length < end && at[*length] != '\t';)
        ++*length;
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

/* Moves all names from the stream to the spool. */
static int fill(struct ny_row_names *names)
{
    struct ny_reader *reader = names->reader;
    struct ny_names one = {0};
    int err = NY_OK;

    for (uint64_t row = 0; !err && row < reader->table.rows; row++) {
        ny_names_clear(&one);
        err = ny_stream_name(reader, row, &one);
        if (!err)
            err = ny_spool_put(names->spool, (size_t)(row / names->share), one.text, one.bytes);
        if (!err && row % SHARE == 0) err = ny_check_interrupt(reader->ctx);
    }
    ny_names_release(&one, reader->ctx);
    return err;
}

int ny_row_names_of_stream(struct ny_row_names **out, struct ny_reader *reader)
{
    struct ny_row_names *names = ny_calloc(reader->ctx, NY_MEM_IO, 1, sizeof(*names));
    uint64_t rows = reader->table.rows;
    struct ny_spool_spec spec = {.folder = ny_scratch_folder(reader),
                                 .what = "the names of rows",
                                 .piece_bytes = PIECE_BYTES};
    int err;

    *out = names;
    if (!names) return NY_EBUDGET;
    *names = (struct ny_row_names){.reader = reader, .share = SHARE};
    while (rows / names->share >= STREAMS_MAX)
        names->share *= 2;
    spec.streams = (size_t)(rows / names->share) + 1; /* the claim may be near 2⁶⁴ */
    while (spec.piece_bytes > PIECE_BYTES_MIN &&
           spec.streams * spec.piece_bytes > ny_memory_left(reader->ctx) / PIECES_SHARE)
        spec.piece_bytes /= 2;
    err = ny_spool_new(&names->spool, reader->ctx, &spec);
    return err ? err : fill(names);
}

void ny_row_names_close(struct ny_row_names *names)
{
    struct ny_context *ctx;

    if (!names) return;
    ctx = names->reader->ctx;
    ny_names_release(&names->loaded, ctx);
    ny_spool_free(names->spool);
    ny_bytes_close(names->lines);
    ny_free(ctx, names);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Loads the stream that the next name is in. */
static int load(struct ny_row_names *names)
{
    struct ny_context *ctx = names->reader->ctx;
    size_t stream = (size_t)(names->next / names->share);
    size_t bytes = ny_spool_bytes(names->spool, stream);
    int err;

    ny_names_clear(&names->loaded);
    err = ny_names_reserve(&names->loaded, ctx, bytes);
    if (!err) err = ny_spool_load(names->spool, stream, names->loaded.text);
    if (err) return err;
    names->at = ny_names_skip(names->loaded.text, (size_t)(names->next % names->share));
    names->loaded.bytes = bytes;
    return NY_OK;
}

/* Adds names from the spool. */
static int from_spool(struct ny_row_names *names, size_t count, struct ny_names *to)
{
    int err = NY_OK;

    while (!err && count > 0) {
        uint64_t left = names->share - names->next % names->share;
        size_t piece = count < left ? count : (size_t)left;

        if (!names->loaded.bytes || left == names->share) err = load(names);
        if (!err) err = ny_names_append(to, names->reader->ctx, names->at, piece);
        if (!err) names->at = ny_names_skip(names->at, piece);
        names->next += piece;
        count -= piece;
    }
    return err;
}

int ny_row_names_next(struct ny_row_names *names, uint64_t skip, size_t count, struct ny_names *to)
{
    struct ny_names passed = {0};
    int err = NY_OK;

    if (!names->lines) {
        if (skip) {
            names->next += skip;
            names->loaded.bytes = 0; /* to be loaded where the next name is */
        }
        return from_spool(names, count, to);
    }
    for (uint64_t i = 0; !err && i < skip + count; i++) {
        ny_names_clear(&passed);
        err = ny_line_name(names->lines, names->field, i < skip ? &passed : to);
        names->next += err == NY_OK;
    }
    ny_names_release(&passed, names->reader->ctx);
    return err == NY_END
               ? ny_refuse_count(names->reader->ctx, names->lines->path, names->reader->path)
               : err;
}
