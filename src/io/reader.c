/*
 * The reader of points: a table in any format (io/table.c), joined with labels from a file of
 * their own where one is given.
 *
 * Imports, transform, precomputed columns and files of landmarks read through it. Labels are
 * joined by row numbers in the file, since rows with NaN may have been left out in between; one
 * label too few or too many is NY_EDATA. NY_END is the only sign that a file is
 * sound as a whole. Notes about what was read as what are logged at the end. ny_reader_skip()
 * passes over the rows that an earlier, killed import has committed: by seeking where the format
 * can, else by reading them again.
 */
#include "io/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/binary.h"
#include "io/format.h"
#include "io/labels.h"
#include "io/refuse.h"
#include "io/row_names.h"

enum { SKIP_BYTES = 64 * 1024 };

#define ULL(x) ((unsigned long long)(x))

/* Opens the file of labels and compares its number of rows with the table's, where both say one. */
static int open_labels(struct ny_reader *reader)
{
    const char *path = reader->options.labels_file;
    const struct ny_file_table *table = &reader->table;
    uint64_t rows;
    int err;

    if (strcmp(path, "-") == 0 && reader->bytes->fd == 0)
        return ny_fail(reader->ctx, NY_EUSAGE, "--labels cannot be standard input, as points are");
    err = ny_labels_open(&reader->labels, reader->ctx, path, reader->classes, &rows);
    if (err) return err;
    reader->table.labels = true;
    if (rows != NY_ROWS_UNKNOWN && table->rows != NY_ROWS_UNKNOWN && rows != table->rows)
        return ny_refuse_count(reader->ctx, path, reader->path);
    return NY_OK;
}

int ny_reader_open(struct ny_reader **out, struct ny_context *ctx, const char *path,
                   const struct ny_reader_options *options)
{
    struct ny_reader *reader;
    struct ny_bytes *bytes;
    int err = ny_bytes_open(&bytes, ctx, path);

    *out = NULL;
    if (!err) err = ny_table_open(&reader, bytes, options);
    if (err) return err;
    if ((reader->options.labels_file || reader->row_names) && !reader->source) {
        reader->source = ny_lay(&reader->own, NY_MEM_IO, NY_SOURCE_ROWS, sizeof(*reader->source));
        err = reader->own.err;
    }
    if (!err && reader->options.labels_file) err = open_labels(reader);
    if (err)
        ny_reader_close(reader);
    else
        *out = reader;
    return err;
}

int ny_reader_count_rows(struct ny_context *ctx, const char *path,
                         const struct ny_reader_options *options, uint64_t *rows)
{
    const struct ny_format_entry *entry = NULL;
    struct ny_reader *reader;
    struct ny_bytes *bytes;
    int err = ny_bytes_open(&bytes, ctx, path);

    *rows = NY_ROWS_UNKNOWN;
    if (err) return err;
    if (ny_bytes_left(bytes) != NY_BYTES_UNKNOWN) err = ny_table_format(bytes, options, &entry);
    if (err || !entry || entry->format->skip != ny_binary_skip) {
        ny_bytes_close(bytes);
        return err;
    }
    err = ny_table_open(&reader, bytes, options);
    if (err) return err;
    *rows = reader->table.rows;
    ny_table_close(reader);
    return NY_OK;
}

void ny_reader_close(struct ny_reader *reader)
{
    if (!reader) return;
    ny_labels_close(reader->labels);
    ny_table_close(reader);
}

const struct ny_file_table *ny_reader_table(const struct ny_reader *reader)
{
    return &reader->table;
}

void ny_reader_class_names(const struct ny_reader *reader, const char *const **names, size_t *count)
{
    ny_classes_names(reader->classes, names, count);
}

uint64_t ny_reader_left_out(const struct ny_reader *reader)
{
    return reader->left_out;
}

const struct ny_names *ny_reader_column_names(const struct ny_reader *reader)
{
    return &reader->columns;
}

/* Tells of the rows and values that are not as in the file. */
static void tell_left_out(const struct ny_reader *reader)
{
    if (reader->dropped && reader->options.notes)
        ny_log(reader->ctx, NY_LOG_NOTE, "%s: %llu rows have NaN or infinity, and are %s",
               reader->path, ULL(reader->dropped),
               reader->options.nan_kept ? "kept as NaN" : "left out");
    if (reader->left_out)
        ny_log(reader->ctx, NY_LOG_NOTE, "%s: %llu values in new columns are left out",
               reader->path, ULL(reader->left_out));
}

/* Warns of a last line without an end: a file that was cut inside a number looks like that, and
 * all that is left of the number can be one. */
static void warn_of_cut_line(const struct ny_reader *reader)
{
    char last = reader->bytes ? reader->bytes->last : '\0';

    if (reader->entry->format->has_lines && reader->options.notes && last && last != '\n' &&
        last != '\r')
        ny_log(reader->ctx, NY_LOG_WARNING,
               "the last line of %s does not end with a newline: it may be cut short",
               reader->path);
}

/* Labels for the rows of a batch, by their row numbers in the file. */
static int join_labels(struct ny_reader *reader, struct ny_row_batch *rows)
{
    const uint64_t *source = rows->source;

    for (size_t i = 0, run; i < rows->count; i += run) {
        size_t skip = (size_t)(source[i] - reader->labels_read), got = 0, skipped;
        int err = ny_labels_next(reader->labels, NULL, skip, &skipped);

        run = ny_run_of_rows(source + i, rows->count - i);
        if (!err && skipped == skip)
            err = ny_labels_next(reader->labels, rows->labels ? rows->labels + i : NULL, run, &got);
        if (err) return err;
        reader->labels_read += skipped + got;
        if (got < run)
            return ny_refuse_count(reader->ctx, reader->options.labels_file, reader->path);
    }
    return NY_OK;
}

/* Names for the rows of a batch, likewise. */
static int join_names(struct ny_reader *reader, struct ny_row_batch *rows)
{
    const uint64_t *source = rows->source;
    int err = NY_OK;

    for (size_t i = 0, run; !err && i < rows->count; i += run) {
        run = ny_run_of_rows(source + i, rows->count - i);
        err =
            ny_row_names_next(reader->row_names, source[i] - reader->names_read, run, rows->names);
        reader->names_read = source[i] + run;
    }
    return err;
}

/* Called after the last row: all labels must be used, and the file must have held something. */
static int finish(struct ny_reader *reader)
{
    int err;

    while (reader->labels) {
        size_t got, most = NY_SOURCE_ROWS;

        err = ny_labels_next(reader->labels, NULL, most, &got);
        if (err) return err;
        reader->labels_read += got;
        if (got < most) break;
    }
    if (reader->labels && reader->labels_read != reader->consumed)
        return ny_refuse_count(reader->ctx, reader->options.labels_file, reader->path);
    err = ny_table_end(reader);
    if (err != NY_END) return err;
    tell_left_out(reader);
    warn_of_cut_line(reader);
    reader->ended = true;
    return NY_END;
}

int ny_reader_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct ny_row_batch rows = *batch;
    bool named = reader->row_names && rows.names;
    int err;

    if (reader->source && !rows.source) {
        rows.source = reader->source;
        if (max_rows > NY_SOURCE_ROWS) max_rows = NY_SOURCE_ROWS;
    }
    batch->count = 0;
    err = reader->ended ? NY_END : ny_table_next(reader, max_rows, &rows);
    if (!err && reader->labels) err = join_labels(reader, &rows);
    if (!err && named) err = join_names(reader, &rows);
    if (err == NY_END && !reader->ended) err = finish(reader);
    batch->consumed = reader->consumed;
    batch->dropped = reader->dropped;
    if (!err) batch->count = rows.count;
    return err;
}

/* Reads rows and forgets them: their words and their damage count as when they were delivered. */
static int skip_by_reading(struct ny_reader *reader, uint64_t target)
{
    struct ny_csr sparse = {.dtype = reader->table.dtype};
    struct ny_row_batch rows = {.sparse = &sparse};
    size_t row_bytes, most;
    int err = ny_product(reader->ctx, &row_bytes, (size_t)reader->table.d,
                         ny_dtype_size(reader->table.dtype), 1);

    if (err) return err;
    most = row_bytes < SKIP_BYTES ? SKIP_BYTES / row_bytes : 1;
    if (reader->table.layout == NY_CSR) row_bytes = 0; /* rows go to `sparse` */
    rows.values = ny_alloc(reader->ctx, NY_MEM_IO, most * row_bytes);
    if (!rows.values) return NY_EBUDGET;
    while (!err && reader->consumed < target) {
        uint64_t left = target - reader->consumed;

        rows.count = sparse.rows = 0;
        err = ny_check_interrupt(reader->ctx);
        if (!err)
            err = reader->entry->format->next(reader, left < most ? (size_t)left : most, &rows);
    }
    ny_free(reader->ctx, rows.values);
    ny_csr_release(&sparse, reader->ctx);
    return err == NY_END ? NY_OK : err;
}

int ny_reader_judge(struct ny_reader *reader)
{
    return skip_by_reading(reader, UINT64_MAX);
}

int ny_reader_skip(struct ny_reader *reader, uint64_t rows, uint64_t dropped)
{
    uint64_t target = reader->consumed + rows;
    int err;

    if (reader->entry->format->skip) {
        err = reader->entry->format->skip(reader, rows);
        reader->dropped += dropped;
    } else {
        err = skip_by_reading(reader, target);
    }
    if (err || reader->consumed == target) return err;
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s has fewer rows than the interrupted import had read", reader->path);
}
