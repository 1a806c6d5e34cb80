/*
 * A table as its format reads it: opened, read and closed. A reader of points (io/reader.c) and
 * one of labels in a file of their own (io/labels.c) both stand on this.
 *
 * ny_table_open() chooses the format and has it read the header; afterwards reader->table tells
 * the columns, the type and, where the header says so, the number of rows. A column of labels in
 * the file comes with its rows; a file of labels is joined in io/reader.c. Whatever fails,
 * ny_table_open() has taken the bytes over and closes them.
 */
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "io/format.h"
#include "io/memory.h"
#include "io/refuse.h"
#include "io/row_sort.h"
#include "io/row_names.h"

#define ULL(x) ((unsigned long long)(x))

/* Fails because --format names no format, or because nothing fits the file. */
static int unknown_format(struct ny_reader *reader)
{
    if (reader->options.format)
        return ny_fail_value(reader->ctx, "format", ny_format_list(), reader->options.format);
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s: neither its content nor its name shows a format; give --format, one of "
                      "%s",
                      reader->path, ny_format_list());
}

int ny_table_format(struct ny_bytes *bytes, const struct ny_reader_options *options,
                    const struct ny_format_entry **entry)
{
    const char *wanted = options->format;
    const struct ny_format_entry *entries;
    size_t count;

    *entry = NULL;
    if (!wanted) return ny_format_guess(bytes, entry);
    entries = ny_format_table(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].info.name, wanted) == 0) *entry = &entries[i];
    return NY_OK;
}

/* Finds the format: the one that --format names, whatever is in the file, or else a guess by
 * content and name. */
static int choose_format(struct ny_reader *reader)
{
    bool empty = reader->bytes->at == reader->bytes->end;
    int err = ny_table_format(reader->bytes, &reader->options, &reader->entry);

    if (err) return err;
    if (!reader->entry && (reader->options.format || !empty)) return unknown_format(reader);
    if (!empty) return NY_OK;
    return ny_refuse_empty(reader->ctx, reader->path);
}

/* Refuses options that the format of this file cannot follow, rather than to read columns that
 * nobody asked for. */
static int check_options(struct ny_reader *reader)
{
    const struct ny_reader_options *given = &reader->options;
    const struct ny_format *format = reader->entry->format;
    const struct {
        const char *option;
        bool refused;
    } rules[] = {
        {"columns", given->columns && !format->takes_columns},
        {"drop-columns", given->drop_columns && !format->takes_columns},
        {"label-column", given->label_column && !format->takes_label_column},
        {"id-column", given->id_column && !format->takes_id_column},
        {"new-columns", given->new_columns_drop && !format->takes_new_columns},
        {"column-names", given->column_names && !format->takes_column_names},
        {"header", given->header == NY_HEADER_YES && !format->has_header},
        {"decimal", given->decimal == NY_DECIMAL_COMMA && !format->has_header},
        {"transpose", given->transpose && !format->takes_transpose},
        {"matrix", given->matrix && !format->takes_matrix},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (rules[i].refused)
            return ny_fail_idle(reader->ctx, rules[i].option, reader->entry->info.name);
    if (given->columns && given->drop_columns)
        return ny_fail_both(reader->ctx, "columns", "drop-columns");
    return NY_OK;
}

/* Makes a reader without a format; NULL where there is no memory for it. */
static struct ny_reader *new_reader(struct ny_context *ctx, const char *path,
                                    const struct ny_reader_options *options)
{
    struct ny_reader *reader = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*reader));

    if (!reader) return NULL;
    reader->ctx = reader->own.ctx = reader->unsorted.ctx = ctx;
    reader->path = path;
    if (options) reader->options = *options;
    reader->nan = reader->options.nan_drop ? NY_NAN_DROP : NY_NAN_ERROR;
    reader->classes = reader->options.classes;
    return reader;
}

/* Has the format read its header, and compares the columns with those that are wanted. */
static int begin(struct ny_reader *reader)
{
    int err = check_options(reader);

    if (err) return err;
    reader->table.rows = NY_ROWS_UNKNOWN;
    reader->table.format = reader->entry->info.name;
    err = reader->entry->format->open(reader);
    if (err || !reader->options.dims || reader->options.dims == reader->table.d) return err;
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s has %llu columns of points, but %s %llu", reader->path,
                      ULL(reader->table.d),
                      reader->options.dims_of ? reader->options.dims_of : "--dims says",
                      ULL(reader->options.dims));
}

/* Hands the reader out, or closes it after an error. */
static int hand_out(struct ny_reader **out, struct ny_reader *reader, int err)
{
    if (err)
        ny_table_close(reader);
    else
        *out = reader;
    return err;
}

int ny_table_open(struct ny_reader **out, struct ny_bytes *bytes,
                  const struct ny_reader_options *options)
{
    struct ny_reader *reader = new_reader(bytes->ctx, bytes->path, options);
    int err;

    *out = NULL;
    if (!reader) {
        ny_bytes_close(bytes);
        return NY_EBUDGET;
    }
    reader->bytes = bytes;
    err = reader->classes ? NY_OK : ny_classes_new(&reader->classes, reader->ctx);
    if (!err) err = choose_format(reader);
    if (!err) err = begin(reader);
    return hand_out(out, reader, err);
}

int ny_table_open_as(struct ny_reader **out, struct ny_context *ctx, const struct ny_table *rows,
                     const struct ny_format_entry *entry, const struct ny_reader_options *options)
{
    struct ny_reader *reader = new_reader(ctx, ny_memory_name(rows), options);
    int err;

    *out = NULL;
    if (!reader) return NY_EBUDGET;
    reader->entry = entry;
    reader->memory = rows;
    err = reader->classes ? NY_OK : ny_classes_new(&reader->classes, ctx);
    if (!err) err = begin(reader);
    return hand_out(out, reader, err);
}

void ny_table_close(struct ny_reader *reader)
{
    if (!reader) return;
    if (reader->state && reader->entry->format->close) reader->entry->format->close(reader);
    ny_row_sort_free(reader->sort);
    ny_row_names_close(reader->row_names);
    ny_names_release(&reader->columns, reader->ctx);
    ny_layout_free(&reader->unsorted);
    ny_layout_free(&reader->own);
    if (!reader->options.classes) ny_classes_free(reader->classes);
    ny_bytes_close(reader->bytes);
    ny_free(reader->ctx, reader);
}

int ny_table_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *rows)
{
    int err;

    do {
        uint64_t left = rows->until ? rows->until - reader->consumed : max_rows;

        if (left < max_rows) max_rows = (size_t)left;
        rows->count = 0;
        err = ny_check_interrupt(reader->ctx);
        if (!err) err = reader->entry->format->next(reader, max_rows, rows);
    } while (!err && rows->count == 0 && max_rows > 0);
    return err;
}

int ny_table_end(struct ny_reader *reader)
{
    return reader->consumed == reader->dropped ? ny_refuse_empty(reader->ctx, reader->path)
                                               : NY_END;
}
