/*
 * Labels in a file of their own, one for each row of points (io/labels.h). io/reader.c reads them
 * beside the points and joins them by row number.
 *
 * An npy or an idx is read as a table of one column of f64 (io/table.c), where a file of no known
 * format is sent as well, to be refused with its message. Any other file is text with one label a
 * line: a number, a word, or a word in quotes. A label that is missing is NaN, and is written
 * "nan" in text, because an empty line may only stand at the end of the file.
 */
#include "io/labels.h"

#include <string.h>

#include "base/memory.h"
#include "io/format.h"
#include "io/refuse.h"

struct ny_labels {
    struct ny_context *ctx;
    struct ny_bytes *bytes;   /* text */
    struct ny_reader *reader; /* idx, npy */
    struct ny_classes *classes;
};

enum { SPARE = 512 };

/* Opens npy or idx as a table that must have one column. NaN is kept, and not refused as it is
 * among points. */
static int open_binary(struct ny_labels *labels, const char *path)
{
    /* missing labels are NaN: allowed here */
    const struct ny_reader_options options = {.dtype = NY_F64};
    struct ny_bytes *bytes = labels->bytes;
    const struct ny_file_table *table;
    int err;

    labels->bytes = NULL;
    err = ny_table_open(&labels->reader, bytes, &options);
    if (err) return err;
    labels->reader->nan = NY_NAN_KEEP;
    table = &labels->reader->table;
    return table->d == 1 ? NY_OK : ny_refuse_list(labels->ctx, path);
}

int ny_labels_open(struct ny_labels **out, struct ny_context *ctx, const char *path,
                   struct ny_classes *classes, uint64_t *rows)
{
    struct ny_labels *labels = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*labels));
    const struct ny_format_entry *entry;
    int err;

    *out = labels;
    *rows = NY_ROWS_UNKNOWN;
    if (!labels) return NY_EBUDGET;
    labels->ctx = ctx;
    labels->classes = classes;
    err = ny_bytes_open(&labels->bytes, ctx, path);
    if (err) return err;
    err = ny_format_guess(labels->bytes, &entry);
    if (err) return err;
    if (!entry || strcmp(entry->info.name, "npy") == 0 || strcmp(entry->info.name, "idx") == 0) {
        err = open_binary(labels, path);
        if (!err) *rows = labels->reader->table.rows;
    }
    return err;
}

void ny_labels_close(struct ny_labels *labels)
{
    if (!labels) return;
    ny_table_close(labels->reader);
    ny_bytes_close(labels->bytes);
    ny_free(labels->ctx, labels);
}

/* The next line's label; NY_END after the last. Empty lines may only stand at the end. */
static int text_label(struct ny_labels *labels, double *value)
{
    struct ny_bytes *bytes = labels->bytes;
    const char *first, *last, *newline;
    uint64_t empty = 0; /* the first empty line */
    int err;

    for (;; bytes->at = newline + 1, bytes->line++) {
        err = ny_bytes_trimmed_line(bytes, &first, &last, &newline);
        if (err) return err;
        if (first < last) break;
        if (!newline) return NY_END;
        if (!empty) empty = bytes->line;
    }
    if (empty)
        return ny_refuse_line(bytes->ctx, bytes->path, empty,
                              "no label is there; write nan where one is missing");
    if (last - first >= 2 && *first == '"' && last[-1] == '"') first++, last--;
    err = ny_classes_label(labels->classes, bytes->path, bytes->line, first, (size_t)(last - first),
                           value);
    bytes->at = newline ? newline + 1 : bytes->end;
    bytes->line++;
    return err;
}

int ny_labels_next(struct ny_labels *labels, double *values, size_t count, size_t *got)
{
    double spare[SPARE];
    int err = NY_OK;

    *got = 0;
    while (*got < count) {
        size_t most = values ? count - *got : count - *got < SPARE ? count - *got : SPARE;
        double *to = values ? values + *got : spare;

        if (labels->reader) {
            struct ny_row_batch batch = {.values = to};

            err = ny_table_next(labels->reader, most, &batch);
            if (err == NY_OK) *got += batch.count;
            if (err == NY_END) err = ny_table_end(labels->reader);
        } else {
            err = text_label(labels, to);
            *got += err == NY_OK;
        }
        if (err) break;
    }
    return err == NY_END ? NY_OK : err;
}
