/* Names of columns from a file of their own (io/column_names.h). */
#include "io/column_names.h"

#include <string.h>

#include "io/like.h"
#include "io/refuse.h"
#include "io/row_names.h"

/* Reads the first field of all lines. Empty lines at the end are no names. */
static int read_lines(struct ny_reader *reader, const char *path)
{
    struct ny_names *names = &reader->columns;
    size_t count = 0, bytes = 0;
    struct ny_bytes *lines;
    int err = ny_bytes_open(&lines, reader->ctx, path);

    if (err) return err;
    ny_names_clear(names);
    while (!err) {
        size_t before = names->bytes;

        err = ny_line_name(lines, 0, names);
        if (!err && names->bytes > before + 1) {
            count = names->count;
            bytes = names->bytes;
        }
        if (!err && names->count % 4096 == 0) err = ny_check_interrupt(reader->ctx);
    }
    names->count = count;
    names->bytes = bytes;
    ny_bytes_close(lines);
    return err == NY_END ? NY_OK : err;
}

int ny_column_names_read(struct ny_reader *reader, uint64_t columns)
{
    const char *path = reader->options.column_names;
    const struct ny_names *names = &reader->columns;
    int err;

    if (!path) return NY_OK;
    err = read_lines(reader, path);
    if (err) return err;
    if (!names->count || (columns && names->count != columns))
        return ny_refuse_count(reader->ctx, path, reader->path);
    return ny_like_place(reader);
}

void ny_column_names_keep(struct ny_reader *reader, const bool *keep)
{
    struct ny_names *names = &reader->columns;
    const char *from = names->text;
    char *to = names->text;
    size_t kept = 0;

    for (size_t i = 0; i < names->count; i++) {
        size_t bytes = strlen(from) + 1;

        if (keep[i]) {
            memmove(to, from, bytes);
            to += bytes;
            kept++;
        }
        from += bytes;
    }
    names->bytes = kept ? (size_t)(to - names->text) : 0;
    names->count = kept;
}

void ny_column_names_cut(struct ny_reader *reader)
{
    struct ny_names *names = &reader->columns;

    if (names->count <= reader->table.d) return;
    names->count = (size_t)reader->table.d;
    names->bytes = (size_t)(ny_names_skip(names->text, names->count) - names->text);
}
