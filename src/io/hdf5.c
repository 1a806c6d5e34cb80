/*
 * HDF5 files of AnnData (.h5ad) and 10x Genomics (.h5), sparse and dense, read by a child process:
 * nystream-hdf5 has libhdf5, may crash on a damaged file, and has a memory limit.
 *
 * The child gets the open file as its standard input and writes the rows to a pipe, in the form of
 * io/hdf5_stream.h. That pipe takes the place of the reader's bytes, so that dense rows are read as
 * those of npy files are (io/binary.c). A sparse matrix by columns is sorted by row when it is
 * opened (io/row_sort.h). Labels, of a column of obs, come first and are kept, 8 bytes a row; names
 * of rows come behind them and wait in a temporary file (io/row_names.h).
 *
 * Nothing that the stream says is believed: its head is checked here, counts are checked against
 * it, and columns and values when rows are read. Where the stream breaks, the child is waited for,
 * and what it said, or how it died, becomes the error. A child that waits for ever is killed
 * (io/bytes.c), and one that computes for ever ends by a limit of CPU time (io/child.c).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/binary.h"
#include "io/child.h"
#include "io/hdf5_stream.h"
#include "io/like.h"
#include "io/refuse.h"
#include "io/row_names.h"
#include "io/row_sort.h"
#include "io/sparse_rows.h"

enum { SHARE_MIN = 32 << 20, NAME_BYTES_MAX = 1024 };
/* CPU time in which the child finds something new, even where it walks through the whole file. */
enum { SECONDS_MIN = 30, BYTES_A_SECOND = 8 << 20 };

static const char signature[] = "\x89HDF\r\n\x1a\n";

/* The state of the reader. A line is a row of the matrix, or a column where it is by columns. */
struct hdf5 {
    struct ny_sparse_rows rows;
    struct ny_bytes *file; /* reader->bytes is the stream */
    struct ny_child *child;
    size_t share; /* reserved for it */
    struct ny_hdf5_head head;
    double *label;                         /* one a row; NULL: none */
    void *binary;                          /* dense: the state of io/binary.c */
    uint64_t lines, across, line, entries; /* line: the next; entries: told so far */
    uint32_t *count;                       /* values of each line of the batch */
    size_t counted, counted_all;           /* the next of them, and how many there are */
    char *index, *value;                   /* values and their columns in the batch */
    size_t room, position;                 /* for so many; the first entry of the next line */
};

static enum ny_guess probe(const char *head, size_t length)
{
    size_t bytes = sizeof(signature) - 1;

    return length >= bytes && memcmp(head, signature, bytes) == 0 ? NY_GUESS_SURE : NY_GUESS_NO;
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Fails because the stream is not what io/hdf5_stream.h says. */
static int fail_stream(struct ny_reader *reader)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s cannot be read, as nystream-hdf5 is not that of this nystream; install "
                      "both again",
                      reader->path);
}

/* Waits for the child, whose stream has ended; the error is its own where it tells one. */
static int fail_end(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    int err = ny_child_finish(hdf5->child);

    return err ? err : fail_stream(reader);
}

/* Reads bytes of the stream, which must be there. */
static int read_all(struct ny_reader *reader, void *to, size_t bytes)
{
    size_t got;
    int err = ny_bytes_read(reader->bytes, to, bytes, &got);

    if (err) return err;
    return got < bytes ? fail_end(reader) : NY_OK;
}

/* Judges the end of the stream, behind the last row. */
static int finish(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    int err = ny_bytes_need(reader->bytes, 1);

    if (err) return err;
    if (reader->bytes->at != reader->bytes->end) return fail_stream(reader);
    return ny_child_finish(hdf5->child);
}

/* ---- the child ------------------------------------------------------------------------------- */

/* Refuses input that libhdf5 cannot seek in. */
static int check_input(struct ny_reader *reader)
{
    const struct ny_bytes *bytes = reader->bytes;

    if (bytes->unpacker || !bytes->regular)
        return ny_refuse_pipe(reader->ctx, bytes->unpacker ? NY_EDATA : NY_EUSAGE, reader->path);
    if (probe(bytes->at, (size_t)(bytes->end - bytes->at)) != NY_GUESS_NO) return NY_OK;
    return ny_refuse_format(reader->ctx, reader->path, "HDF5");
}

/* Starts the child, whose output takes the place of the file. */
static int start(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    const struct ny_reader_options *options = &reader->options;
    bool known = !options->label_column && !options->labels_file && options->like &&
                 options->like->label_column;
    size_t share = ny_memory_left(reader->ctx) / NY_HDF5_SHARE, count = 5;
    char memory[32];
    const char *arguments[] = {"/dev/stdin", "--name", reader->path, "--memory", memory, NULL,
                               NULL,         NULL,     NULL,         NULL,       NULL};
    const struct ny_child_spec spec = {.program = "nystream-hdf5",
                                       .variable = "NYSTREAM_HDF5",
                                       .arguments = arguments,
                                       .path = reader->path,
                                       .input = reader->bytes->fd,
                                       .seconds = SECONDS_MIN +
                                                  (unsigned)(reader->bytes->size / BYTES_A_SECOND)};
    struct ny_bytes *stream;
    int output, err;

    if (share < SHARE_MIN) share = SHARE_MIN;
    err = ny_reserve(reader->ctx, NY_MEM_IO, share);
    if (err) return err;
    hdf5->share = share;
    snprintf(memory, sizeof(memory), "%zu", share);
    if (options->matrix) {
        arguments[count++] = "--matrix";
        arguments[count++] = options->matrix;
    }
    if (known) reader->options.label_column = options->like->label_column;
    if (options->label_column) {
        arguments[count++] = known ? "--known-label" : "--label-column";
        arguments[count++] = options->label_column;
    }
    if (options->names) arguments[count++] = "--names";
    err = ny_child_start(&hdf5->child, reader->ctx, &spec, &output);
    if (err) return err;
    err = ny_bytes_open_stream(&stream, reader->ctx, output, reader->path);
    if (err) return err;
    hdf5->file = reader->bytes;
    reader->bytes = stream;
    return NY_OK;
}

/* Reads the head, and checks all that it says. */
static int read_head(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    struct ny_hdf5_head *head = &hdf5->head;
    bool dense;
    int err;

    do
        err = read_all(reader, head->magic, sizeof(head->magic));
    while (!err && memcmp(head->magic, NY_HDF5_LOOKING, sizeof(head->magic)) == 0);
    if (!err)
        err = read_all(reader, (char *)head + sizeof(head->magic),
                       sizeof(*head) - sizeof(head->magic));
    if (err) return err;
    dense = head->form == NY_HDF5_DENSE;
    if (memcmp(head->magic, NY_HDF5_MAGIC, sizeof(head->magic)) != 0 ||
        head->form > NY_HDF5_COLUMNS || head->labels > NY_HDF5_NAMES || head->of_10x > 1 ||
        head->row_names > 1 || head->column_names > 1 ||
        ((head->row_names || head->column_names) && !reader->options.names) ||
        (head->dtype != NY_U8 && head->dtype != NY_I16 && head->dtype != NY_F32 &&
         head->dtype != NY_F64) ||
        (!dense && head->index_bytes != 4 && head->index_bytes != 8) ||
        head->most > head->entries || (head->labels && !reader->options.label_column))
        return fail_stream(reader);
    return head->rows && head->columns ? NY_OK : ny_refuse_empty(reader->ctx, reader->path);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Reads the names of categories, which become classes in their order. A name such as "1" is one. */
static int read_names(struct ny_reader *reader, double *labels)
{
    struct hdf5 *hdf5 = reader->state;
    char name[NAME_BYTES_MAX + 1], *known = name;
    int err = NY_OK;

    for (uint32_t i = 0; !err && i < hdf5->head.names; i++) {
        uint32_t length;

        err = read_all(reader, &length, sizeof(length));
        if (!err && (length == 0 || length > NAME_BYTES_MAX)) err = fail_stream(reader);
        if (!err) err = read_all(reader, name, length);
        if (err) break;
        name[length] = '\0';
        if (memchr(name, '\0', length)) return fail_stream(reader);
        err = ny_classes_know(reader->classes, &known, 1);
        if (!err)
            err = ny_classes_label(reader->classes, reader->path, i, name, length, &labels[i]);
    }
    return err;
}

/* Reads the label of each row, by a table of those of categories. */
static int read_codes(struct ny_reader *reader, const double *labels)
{
    struct hdf5 *hdf5 = reader->state;
    int err = NY_OK;

    for (uint64_t row = 0; !err && row < hdf5->head.rows; row++) {
        int32_t code;

        err = read_all(reader, &code, sizeof(code));
        if (!err && code >= 0 && (uint32_t)code >= hdf5->head.names)
            err = ny_refuse_damaged(reader->ctx, reader->path, row);
        if (!err) hdf5->label[row] = code < 0 ? (double)NAN : labels[code];
    }
    return err;
}

static int read_labels(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    double *labels;
    int err;

    if (!hdf5->head.labels) return NY_OK;
    hdf5->label = ny_lay(&reader->own, NY_MEM_IO, (size_t)hdf5->head.rows, sizeof(*hdf5->label));
    reader->source = ny_lay(&reader->own, NY_MEM_IO, NY_SOURCE_ROWS, sizeof(*reader->source));
    if (reader->own.err) return reader->own.err;
    reader->table.labels = true;
    reader->table.label_column = reader->options.label_column;
    if (hdf5->head.labels == NY_HDF5_NUMBERS)
        return read_all(reader, hdf5->label, (size_t)hdf5->head.rows * sizeof(*hdf5->label));
    labels = ny_calloc(reader->ctx, NY_MEM_IO, (size_t)hdf5->head.names + 1, sizeof(*labels));
    if (!labels) return NY_EBUDGET;
    err = read_names(reader, labels);
    if (!err) err = read_codes(reader, labels);
    ny_free(reader->ctx, labels);
    return err;
}

/* ---- names of columns and of rows ------------------------------------------------------------ */

static int read_row_and_column_names(struct ny_reader *reader)
{
    const struct ny_hdf5_head *head = &((struct hdf5 *)reader->state)->head;
    int err;

    if (!head->row_names && !head->column_names) return NY_OK;
    reader->table.rows = head->rows;
    reader->table.d = head->columns;
    reader->is_sparse = head->form != NY_HDF5_DENSE;
    err = ny_sparse_rows_check(reader, head->form == NY_HDF5_DENSE ? UINT64_MAX : head->entries);
    for (uint64_t j = 0; !err && head->column_names && j < head->columns; j++)
        err = ny_stream_name(reader, j, &reader->columns);
    if (!err) err = ny_like_place(reader);
    if (!err && head->row_names) {
        reader->table.names = true;
        err = ny_row_names_of_stream(&reader->row_names, reader);
    }
    return err == NY_END ? fail_end(reader) : err;
}

/* Sets the labels of the rows of a batch that its last call has added. */
static void set_labels(const struct hdf5 *hdf5, struct ny_row_batch *batch)
{
    for (size_t i = 0; batch->labels && i < batch->count; i++)
        batch->labels[i] = hdf5->label ? hdf5->label[batch->source[i]] : (double)NAN;
}

/* ---- sparse ---------------------------------------------------------------------------------- */

/* Reads the next batch of lines. */
static int read_batch(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    size_t value_bytes = ny_dtype_size(hdf5->rows.type), index_bytes = hdf5->rows.index_bytes;
    struct ny_hdf5_batch batch;
    uint64_t sum = 0;
    int err = read_all(reader, &batch, sizeof(batch));

    if (err) return err;
    if (!batch.lines || batch.lines > NY_HDF5_BATCH_LINES ||
        batch.lines > hdf5->lines - hdf5->line || batch.entries > hdf5->room ||
        batch.entries > hdf5->head.entries - hdf5->entries)
        return fail_stream(reader);
    err = read_all(reader, hdf5->count, (size_t)batch.lines * sizeof(*hdf5->count));
    if (err) return err;
    for (size_t i = 0; i < batch.lines; i++)
        sum += hdf5->count[i];
    if (sum != batch.entries) return fail_stream(reader);
    for (size_t at = 0, some; !err && at < batch.entries; at += some) {
        some =
            (size_t)batch.entries - at < NY_HDF5_PIECE ? (size_t)batch.entries - at : NY_HDF5_PIECE;
        err = read_all(reader, hdf5->index + at * index_bytes, some * index_bytes);
        if (!err) err = read_all(reader, hdf5->value + at * value_bytes, some * value_bytes);
    }
    hdf5->entries += batch.entries;
    hdf5->counted = hdf5->position = 0;
    hdf5->counted_all = (size_t)batch.lines;
    return err;
}

/* Gives the entries of the next line. */
static int next_line(struct ny_reader *reader, struct ny_row_entries *line)
{
    struct hdf5 *hdf5 = reader->state;

    if (hdf5->counted == hdf5->counted_all) {
        int err = read_batch(reader);

        if (err) return err;
    }
    *line = (struct ny_row_entries){hdf5->index + hdf5->position * hdf5->rows.index_bytes,
                                    hdf5->value + hdf5->position * ny_dtype_size(hdf5->rows.type),
                                    hdf5->count[hdf5->counted++]};
    hdf5->position += line->count;
    hdf5->line++;
    return NY_OK;
}

static int open_sparse(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;
    struct ny_hdf5_head *head = &hdf5->head;
    struct ny_file_table *table = &reader->table;
    bool by_columns = head->form == NY_HDF5_COLUMNS;
    int err;

    table->rows = head->rows;
    table->d = head->columns;
    err = ny_sparse_rows_check(reader, head->entries);
    if (err) return err;
    hdf5->lines = by_columns ? head->columns : head->rows;
    hdf5->across = by_columns ? head->rows : head->columns;
    hdf5->rows.type = (enum ny_dtype)head->dtype;
    hdf5->rows.index_bytes = head->index_bytes;
    hdf5->rows.fetch = next_line;
    table->dtype = reader->options.dtype ? reader->options.dtype : hdf5->rows.type;
    hdf5->rows.rounding = hdf5->rows.type == NY_F32 || hdf5->rows.type == NY_F64;
    hdf5->room = head->most > NY_HDF5_PIECE ? (size_t)head->most : NY_HDF5_PIECE;
    hdf5->index = ny_lay(&reader->own, NY_MEM_IO, hdf5->room, head->index_bytes);
    hdf5->value = ny_lay(&reader->own, NY_MEM_IO, hdf5->room, ny_dtype_size(hdf5->rows.type));
    hdf5->count = ny_lay(&reader->own, NY_MEM_IO, NY_HDF5_BATCH_LINES, sizeof(*hdf5->count));
    if (reader->own.err) return reader->own.err;
    ny_sparse_rows_layout(reader, head->entries, by_columns ? 0 : head->most);
    if (!by_columns) return NY_OK;
    err = ny_row_sort_columns(
        reader, &hdf5->rows, hdf5->lines,
        &(struct ny_row_sort_spec){hdf5->across, head->entries, hdf5->rows.type});
    return err ? err : finish(reader);
}

/* ---- dense ----------------------------------------------------------------------------------- */

/* Runs a function of io/binary.c, which keeps its own state in the reader. */
static int open_dense(struct ny_reader *reader)
{
    static const enum ny_element_type types[] = {
        [NY_U8] = NY_E_U1, [NY_I16] = NY_E_I2, [NY_F32] = NY_E_F4, [NY_F64] = NY_E_F8};
    struct hdf5 *hdf5 = reader->state;
    const struct ny_binary_layout layout = {.type = types[hdf5->head.dtype],
                                            .big_endian = ny_host_is_big_endian(),
                                            .rows = hdf5->head.rows,
                                            .d = hdf5->head.columns};
    int err = ny_binary_open(reader, &layout);

    if (reader->state != hdf5) hdf5->binary = reader->state;
    reader->state = hdf5;
    return err;
}

static int next_dense(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct hdf5 *hdf5 = reader->state;
    int err;

    if (reader->consumed == hdf5->head.rows) return NY_END;
    reader->state = hdf5->binary;
    err = ny_binary_next(reader, max_rows, batch);
    reader->state = hdf5;
    if (err == NY_EDATA && reader->bytes->ended && ny_child_failed(hdf5->child)) {
        /* Rows are too few: the child tells why. */
        ny_error_clear(reader->ctx);
        return fail_end(reader);
    }
    return err;
}

/* ---- the format ------------------------------------------------------------------------------ */

static int open_hdf5(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*hdf5));
    int err;

    if (!hdf5) return NY_EBUDGET;
    reader->state = hdf5;
    err = check_input(reader);
    if (!err) err = start(reader);
    if (!err) err = read_head(reader);
    if (!err) err = read_labels(reader);
    if (!err) err = read_row_and_column_names(reader);
    if (err) return err;
    reader->table.format = hdf5->head.of_10x ? "h5" : "h5ad";
    return hdf5->head.form == NY_HDF5_DENSE ? open_dense(reader) : open_sparse(reader);
}

static int next_hdf5(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct hdf5 *hdf5 = reader->state;
    int err;

    err = hdf5->head.form == NY_HDF5_DENSE
              ? next_dense(reader, max_rows, batch)
              : ny_sparse_rows_next(reader, &hdf5->rows, max_rows, batch);
    if (!err) set_labels(hdf5, batch);
    if (err != NY_END) return err;
    err = reader->sort ? NY_OK : finish(reader);
    return err ? err : NY_END;
}

static void close_hdf5(struct ny_reader *reader)
{
    struct hdf5 *hdf5 = reader->state;

    ny_child_free(hdf5->child);
    ny_bytes_close(hdf5->file);
    ny_unreserve(reader->ctx, NY_MEM_IO, hdf5->share);
}

const struct ny_format ny_format_hdf5 = {
    .probe = probe,
    .open = open_hdf5,
    .next = next_hdf5,
    .close = close_hdf5,
    .takes_new_columns = true,
    .takes_label_column = true,
    .takes_matrix = true,
};
