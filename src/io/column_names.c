/* Names of columns from a file of their own (io/column_names.h). */
#include "io/column_names.h"

#include <string.h>

#include "io/like.h"
#include "io/refuse.h"
#include "io/row_names.h"

int ny_column_names_read(struct ny_reader *reader, uint64_t columns)
{
    const char *path = reader->options.column_names;
    uint64_t count;
    int err;

    if (!path) return NY_OK;
    ny_names_clear(&reader->columns);
    err = ny_lines_names(reader->ctx, path, 0, &reader->columns, &count);
    if (err) return err;
    if (!count || (columns && count != columns))
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
