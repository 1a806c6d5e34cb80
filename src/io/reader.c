#include "io/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/directory.h"
#include "io/format.h"
#include "io/labels.h"

enum { LABEL_ROWS = 4096, SKIP_BYTES = 64 * 1024 };

#define PLY_ROWS "nystream-ply-rows FILE -o OUT.npy (data-tools/ply-rows)"
#define ULL(x) ((unsigned long long)(x))

/* Recognises, by its first bytes, a file that is often passed by mistake. */
static int not_a_table(struct ny_reader *reader)
{
    static const struct {
        const char *magic;
        size_t bytes;
        const char *what, *cure;
    } others[] = {
        {"\xfd"
         "7zXZ",
         5, "xz-compressed", "unpack it first: xz -dk"},
        {"BZh", 3, "bzip2-compressed", "unpack it first: bzip2 -dk"},
        {"\x28\xb5\x2f\xfd", 4, "zstd-compressed", "unpack it first: zstd -d"},
        {"PK\3\4", 4, "a zip archive", "unpack an .npz (unzip), save a spreadsheet as .csv"},
        {"\x89HDF", 4, "an HDF5 file",
         "write its rows with nystream-hdf5-rows (data-tools/hdf5-rows), or save the array as "
         ".npy"},
        {"\x89PNG", 4, "one image", "write those of a folder as rows: " NY_IMAGE_ROWS},
        {"\xff\xd8\xff", 3, "one image", "write those of a folder as rows: " NY_IMAGE_ROWS},
        {"ply\nformat ", 11, "a PLY file", "write its points: " PLY_ROWS},
        {"ply\r\nformat ", 12, "a PLY file", "write its points: " PLY_ROWS},
        {"%%MatrixMarket", 14, "a Matrix Market file",
         "write its rows as LIBSVM (scikit-learn's dump_svmlight_file), which stay sparse"},
        {"\x80\x04\x95", 3, "a Python pickle", "save the array with numpy.save"},
        {"\x80\x05\x95", 3, "a Python pickle", "save the array with numpy.save"},
        {"ARROW1", 6, "an Arrow file", "save the table as .npy or .csv"},
        {"<!DOCTYPE", 9, "an HTML page", "download the file that it is about"},
        {"<!doctype", 9, "an HTML page", "download the file that it is about"},
        {"<html", 5, "an HTML page", "download the file that it is about"},
        {"version https://git-lfs", 23, "a pointer of Git LFS", "fetch the file: git lfs pull"},
        {"PAR1", 4, "a Parquet file", "save the table as .npy or .csv"},
        {"MATLAB", 6, "a MATLAB file", "save the matrix as .npy or .csv"},
        {"\xff\xfe", 2, "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
        {"\xfe\xff", 2, "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
    };
    struct ny_bytes *bytes = reader->bytes;
    int err = ny_bytes_need(bytes, NY_PROBE_BYTES);
    size_t have = (size_t)(bytes->end - bytes->at);

    if (err) return err;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (have >= others[i].bytes && memcmp(bytes->at, others[i].magic, others[i].bytes) == 0)
            return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE, "%s is %s; %s",
                              reader->path, others[i].what, others[i].cure);
    return NY_OK;
}

static int unknown_format(struct ny_reader *reader)
{
    const struct ny_format_entry *entries;
    size_t count, length = 0;
    char names[160];

    entries = ny_format_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = entries[i].info.name;

        if (length + strlen(name) + 3 > sizeof(names)) break;
        if (length > 0) names[length++] = ',', names[length++] = ' ';
        memcpy(names + length, name, strlen(name) + 1);
        length += strlen(name);
    }
    if (reader->options.format)
        return ny_fail(reader->ctx, NY_EUSAGE, "--format: '%s' is none of %s",
                       reader->options.format, names);
    return ny_fail_at(
        reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
        "%s: neither its content nor its name tell a format; give --format, one of %s",
        reader->path, names);
}

static int choose_format(struct ny_reader *reader)
{
    const char *wanted = reader->options.format;
    const struct ny_format_entry *entries;
    size_t count;
    int err;

    entries = ny_format_table(&count);
    for (size_t i = 0; wanted && i < count; i++)
        if (strcmp(entries[i].info.name, wanted) == 0) reader->entry = &entries[i];
    if (wanted && !reader->entry) return unknown_format(reader);
    if (reader->bytes->at == reader->bytes->end)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s is empty; give a file of points", reader->path);
    if (wanted) return NY_OK;
    err = not_a_table(reader);
    if (!err) err = ny_format_guess(reader->bytes, &reader->entry);
    if (err) return err;
    return reader->entry ? NY_OK : unknown_format(reader);
}

static int check_options(struct ny_reader *reader)
{
    const struct ny_reader_options *options = &reader->options;
    const char *name = reader->entry->info.name;

    if (options->columns && !reader->entry->format->takes_columns)
        return ny_fail(reader->ctx, NY_EUSAGE, "--columns does not go with the format %s of %s",
                       name, reader->path);
    if (options->label_column && !reader->entry->format->takes_label_column)
        return ny_fail(reader->ctx, NY_EUSAGE,
                       "--label-column does not go with the format %s of %s; give --labels FILE",
                       name, reader->path);
    if (options->header == NY_HEADER_YES && !reader->entry->format->has_header)
        return ny_fail(reader->ctx, NY_EUSAGE,
                       "--header yes does not go with the format %s of %s, which names no columns",
                       name, reader->path);
    if (options->label_column && options->labels_file)
        return ny_fail(reader->ctx, NY_EUSAGE,
                       "--labels and --label-column are both given; a row has one label");
    return NY_OK;
}

static int wrong_count(struct ny_reader *reader, uint64_t labels, uint64_t rows)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->options.labels_file, NY_NO_LINE,
                      "%s holds %llu labels, %s %llu rows; give one label a row, without a header",
                      reader->options.labels_file, ULL(labels), reader->path, ULL(rows));
}

static int open_labels(struct ny_reader *reader)
{
    const char *path = reader->options.labels_file;
    const struct ny_table *table = &reader->table;
    uint64_t rows;
    int err;

    if (strcmp(path, "-") == 0 && reader->bytes->fd == 0)
        return ny_fail(reader->ctx, NY_EUSAGE, "points and labels cannot both be standard input");
    reader->source = ny_alloc(reader->ctx, NY_MEM_IO, LABEL_ROWS * sizeof(*reader->source));
    if (!reader->source) return NY_EBUDGET;
    err = ny_labels_open(&reader->labels, reader->ctx, path, reader->classes, &rows);
    if (err) return err;
    reader->table.labels = true;
    if (rows != NY_ROWS_UNKNOWN && table->rows != NY_ROWS_UNKNOWN && rows != table->rows)
        return wrong_count(reader, rows, table->rows);
    return NY_OK;
}

int ny_reader_start(struct ny_reader **out, struct ny_bytes *bytes,
                    const struct ny_reader_options *options)
{
    struct ny_reader *reader = ny_calloc(bytes->ctx, NY_MEM_IO, 1, sizeof(*reader));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!reader) {
        ny_bytes_close(bytes);
        return err;
    }
    reader->ctx = bytes->ctx;
    reader->bytes = bytes;
    reader->path = bytes->path;
    if (options) reader->options = *options;
    reader->nan = reader->options.nan_drop ? NY_NAN_DROP : NY_NAN_ERROR;
    reader->classes = reader->options.classes;
    err = reader->classes ? NY_OK : ny_classes_new(&reader->classes, reader->ctx);
    if (!err) err = choose_format(reader);
    if (!err) err = check_options(reader);
    if (err) goto done;
    reader->table.rows = NY_ROWS_UNKNOWN;
    reader->table.format = reader->entry->info.name;
    err = reader->entry->format->open(reader);
    if (err) goto done;
    if (reader->options.dims && reader->options.dims != reader->table.d) {
        err = ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                         "%s has %llu columns of points where %s %llu; give a file with these, "
                         "or the --columns to read",
                         reader->path, ULL(reader->table.d),
                         reader->options.dims_of ? reader->options.dims_of : "--dims says",
                         ULL(reader->options.dims));
        goto done;
    }
    if (reader->options.labels_file) err = open_labels(reader);
done:
    if (err)
        ny_reader_close(reader);
    else
        *out = reader;
    return err;
}

int ny_reader_open(struct ny_reader **out, struct ny_context *ctx, const char *path,
                   const struct ny_reader_options *options)
{
    struct ny_bytes *bytes;
    int err = ny_bytes_open(&bytes, ctx, path);

    *out = NULL;
    return err ? err : ny_reader_start(out, bytes, options);
}

void ny_reader_close(struct ny_reader *reader)
{
    if (!reader) return;
    if (reader->state) reader->entry->format->close(reader);
    ny_labels_close(reader->labels);
    if (!reader->options.classes) ny_classes_free(reader->classes);
    ny_bytes_close(reader->bytes);
    ny_free(reader->ctx, reader->source);
    ny_free(reader->ctx, reader);
}

const struct ny_table *ny_reader_table(const struct ny_reader *reader)
{
    return &reader->table;
}

void ny_reader_class_names(const struct ny_reader *reader, const char *const **names, size_t *count)
{
    ny_classes_names(reader->classes, names, count);
}

const char *ny_reader_nan_cure(const struct ny_reader *reader)
{
    return reader->options.nan_option ? "; --nan drop leaves such rows out"
           : reader->options.dims_of  ? "; take such rows out of the file"
                                      : "";
}

void ny_reader_drop(struct ny_reader *reader, uint64_t line)
{
    if (reader->dropped < NY_DROPPED_TOLD)
        reader->first_dropped[reader->dropped] = (struct ny_dropped){reader->consumed, line};
    reader->dropped++;
}

uint64_t ny_reader_dropped_count(const struct ny_reader *reader)
{
    return reader->dropped;
}

const struct ny_dropped *ny_reader_dropped(const struct ny_reader *reader, size_t *count)
{
    *count = reader->dropped < NY_DROPPED_TOLD ? (size_t)reader->dropped : NY_DROPPED_TOLD;
    return reader->first_dropped;
}

/* "t.csv: header: 37 names; columns 1-36" */
static void tell_reading(const struct ny_reader *reader)
{
    char text[400];

    if (!reader->entry->format->describe || !reader->options.notes) return;
    reader->entry->format->describe(reader, text, sizeof(text));
    ny_log(reader->ctx, NY_LOG_NOTE, "%s: %s", reader->path, text);
}

/* "t.csv: 3 rows with NaN or infinity are left out: lines 2, 4, 9" */
static void tell_dropped(const struct ny_reader *reader)
{
    size_t count, used = 0;
    const struct ny_dropped *first = ny_reader_dropped(reader, &count);
    bool lines = first[0].line > 0;
    char list[NY_DROPPED_TOLD * 24] = "";

    if (!reader->dropped || !reader->options.notes) return;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%llu", i ? ", " : "",
                                 ULL(lines ? first[i].line : first[i].row));
    ny_log(reader->ctx, NY_LOG_NOTE, "%s: %llu row%s with NaN or infinity %s: %s%s %s%s%s",
           reader->path, ULL(reader->dropped), reader->dropped == 1 ? "" : "s",
           reader->options.nan_kept ? "kept as NaN"
           : reader->dropped == 1   ? "is left out"
                                    : "are left out",
           lines ? "line" : "row", count == 1 ? "" : "s", list,
           reader->dropped > count ? ", …" : "", lines ? "" : " (from 0)");
}

int ny_reader_fail_row(struct ny_reader *reader, uint64_t row, uint64_t column, double value)
{
    if (reader->nan == NY_NAN_DROP) {
        ny_reader_drop(reader, 0);
        return NY_OK;
    }
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, row,
                      "%s: row %llu (from 0), column %llu (from 1) is %s%s", reader->path, ULL(row),
                      ULL(column + 1),
                      isnan(value) ? "NaN"
                      : value < 0  ? "-Inf"
                                   : "Inf",
                      ny_reader_nan_cure(reader));
}

/* Fails because there are fewer labels than rows. To count the rows, it reads on. */
static int labels_end_early(struct ny_reader *reader, uint64_t labels, struct ny_row_batch *rows,
                            size_t max_rows)
{
    uint64_t total = reader->table.rows;
    int err = NY_OK;

    while (!err && total == NY_ROWS_UNKNOWN) {
        rows->count = 0;
        if (reader->table.layout == NY_CSR) rows->sparse->rows = 0;
        err = reader->entry->format->next(reader, max_rows, rows);
        if (err == NY_END) total = reader->consumed;
    }
    if (err && err != NY_END) return err;
    return wrong_count(reader, labels, total);
}

/* Labels for the rows of a batch, by their row numbers in the file. */
static int join_labels(struct ny_reader *reader, struct ny_row_batch *rows, size_t max_rows)
{
    const uint64_t *source = rows->source;

    for (size_t i = 0, run; i < rows->count; i += run) {
        size_t skip = (size_t)(source[i] - reader->labels_read), got = 0, skipped;
        int err = ny_labels_next(reader->labels, NULL, skip, &skipped);

        for (run = 1; i + run < rows->count && source[i + run] == source[i] + run; run++)
            continue;
        if (!err && skipped == skip)
            err = ny_labels_next(reader->labels, rows->labels ? rows->labels + i : NULL, run, &got);
        if (err) return err;
        reader->labels_read += skipped + got;
        if (got < run) return labels_end_early(reader, reader->labels_read, rows, max_rows);
    }
    return NY_OK;
}

/* Called after the last row: all labels must be used, and the file must have held something. */
static int finish(struct ny_reader *reader)
{
    while (reader->labels) {
        size_t got, most = LABEL_ROWS;
        int err = ny_labels_next(reader->labels, NULL, most, &got);

        if (err) return err;
        reader->labels_read += got;
        if (got < most) break;
    }
    if (reader->labels && reader->labels_read != reader->consumed)
        return wrong_count(reader, reader->labels_read, reader->consumed);
    if (reader->consumed == 0)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s holds no rows; give a file of points", reader->path);
    if (reader->consumed == reader->dropped)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: each of its %llu rows holds NaN or Inf, --nan drop leaves none",
                          reader->path, ULL(reader->consumed));
    tell_reading(reader);
    tell_dropped(reader);
    return NY_END;
}

int ny_reader_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct ny_row_batch rows = *batch;
    int err;

    if (reader->labels && !rows.source) {
        rows.source = reader->source;
        if (max_rows > LABEL_ROWS) max_rows = LABEL_ROWS;
    }
    batch->count = 0;
    do {
        rows.count = 0;
        err = ny_check_interrupt(reader->ctx);
        if (!err) err = reader->entry->format->next(reader, max_rows, &rows);
    } while (!err && rows.count == 0 && max_rows > 0);
    if (!err && reader->labels) err = join_labels(reader, &rows, max_rows);
    if (err == NY_END) err = finish(reader);
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
                      "%s holds %llu rows where the import that is resumed had read %llu; was the "
                      "file replaced?",
                      reader->path, ULL(reader->consumed), ULL(target));
}
