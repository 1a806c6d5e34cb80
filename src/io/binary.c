/*
 * Rows of fixed size in a binary file: npy, idx, fvecs and bvecs, after their headers are read.
 *
 * A file that has its columns one after another is turned into rows first (io/turned.c).
 *
 * Rows are read straight into the caller's buffer where the elements of the file are those of the
 * table and all columns are kept, in pieces of 512 KiB that the check for NaN still finds in the
 * cache. Otherwise a row goes through a scratch of 4,096 elements: its columns are selected, its
 * bytes swapped, its values widened to f64, and narrowed to the table's dtype, where a value that
 * does not fit is an error with row and column. The size of a regular file is compared with what
 * the header promises before a row is read, so that a header that lies is found at once.
 */
#include "io/binary.h"

#include <string.h>

#include "base/memory.h"
#include "io/column_names.h"
#include "io/columns.h"
#include "io/refuse.h"
#include "io/turned.h"

enum { PIECE_BYTES = 512 * 1024, SCRATCH = 4096 };

struct binary {
    struct ny_binary_layout layout;
    bool swap, direct;        /* direct: the file's elements are the table's */
    uint64_t stride;          /* bytes of a row in the file */
    size_t row_bytes;         /* of a row in the batch */
    bool *keep;               /* of the layout's columns; NULL: all */
    char *row;                /* kept values of a row, before they go to reader->place; or NULL */
    struct ny_turned *turned; /* NULL: the file has row after row */
    uint64_t raw[SCRATCH];    /* elements of the file, native */
    double values[SCRATCH];   /* the same, wide */
};

/* Reads the next bytes of the rows, which must be there. */
static int read_bytes(struct ny_reader *reader, void *to, size_t wanted)
{
    struct binary *binary = reader->state;
    size_t got;
    int err = binary->turned ? ny_turned_read(binary->turned, to, wanted, &got)
                             : ny_bytes_read(reader->bytes, to, wanted, &got);

    if (err || got == wanted) return err;
    return ny_refuse_damaged(reader->ctx, reader->path, reader->consumed + got / binary->stride);
}

/* Compares the size of a regular file with what the header promises. A file without a number of
 * rows gets it from its size here; a pipe or gzip has no size, and is believed until it ends. */
static int check_size(struct ny_reader *reader, struct ny_binary_layout *layout, uint64_t stride)
{
    uint64_t left = ny_bytes_left(reader->bytes), promised;

    if (left == NY_BYTES_UNKNOWN) return NY_OK;
    if (layout->rows == NY_ROWS_UNKNOWN) {
        if (left < stride) return ny_refuse_damaged(reader->ctx, reader->path, 0);
        /* A rest is a cut row or one of another d: reading on finds which, and where. */
        if (left % stride == 0) layout->rows = left / stride;
        return NY_OK;
    }
    if (__builtin_mul_overflow(layout->rows, stride, &promised) || left != promised)
        return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    return NY_OK;
}

/* Refuses what is no table, or claims rows that no machine holds. */
static int check_shape(struct ny_reader *reader, const struct ny_binary_layout *layout)
{
    if (layout->rows == 0 || layout->d == 0) return ny_refuse_empty(reader->ctx, reader->path);
    if (layout->d <= NY_FILE_COLUMNS_MAX) return NY_OK;
    return ny_refuse_wide(reader->ctx, reader->path, layout->d);
}

/* Applies the lists of columns, and counts those that are kept. They have no names, by which
 * another order could be told from that of the file later. */
static int apply_lists(struct ny_reader *reader, struct binary *binary, size_t *order)
{
    const struct ny_column_lists lists = {reader->options.columns, reader->options.drop_columns};
    struct ny_header_names header = {NULL, (size_t)binary->layout.d};
    struct ny_kept_columns kept = {.keep = binary->keep, .order = order};
    int err = ny_columns_choose(reader->ctx, &header, &lists, &kept);

    if (err) return err;
    reader->table.d = kept.count;
    if (kept.turned) return ny_columns_refuse_turned(reader->ctx);
    return kept.count ? NY_OK : ny_refuse_empty(reader->ctx, reader->path);
}

/* Keeps the columns that have places among those of the points, in which they are put. */
static int keep_placed(struct ny_reader *reader, struct binary *binary)
{
    size_t d = (size_t)binary->layout.d;

    reader->table.d = reader->options.like->count;
    binary->keep = ny_lay(&reader->own, NY_MEM_IO, d, sizeof(*binary->keep));
    binary->row = ny_lay(&reader->own, NY_MEM_IO, d, sizeof(binary->values[0]));
    if (reader->own.err) return reader->own.err;
    for (size_t i = 0; i < d; i++)
        binary->keep[i] = reader->place[i] != NY_NO_PLACE;
    return NY_OK;
}

/* Marks the columns that are kept; where no option says so, binary->keep stays NULL. */
static int choose_columns(struct ny_reader *reader, struct binary *binary)
{
    size_t d = (size_t)binary->layout.d, *order;
    int err = ny_column_names_read(reader, d);

    if (err) return err;
    if (reader->place) return keep_placed(reader, binary);
    reader->table.d = binary->layout.d;
    if (!reader->options.columns && !reader->options.drop_columns) return NY_OK;
    binary->keep = ny_lay(&reader->own, NY_MEM_IO, d, sizeof(*binary->keep));
    order = ny_alloc(reader->ctx, NY_MEM_IO, d * sizeof(*order));
    err = binary->keep && order ? apply_lists(reader, binary, order) : NY_EBUDGET;
    if (!err && reader->columns.count) ny_column_names_keep(reader, binary->keep);
    ny_free(reader->ctx, order);
    return err;
}

int ny_binary_open(struct ny_reader *reader, const struct ny_binary_layout *layout)
{
    struct ny_file_table *table = &reader->table;
    size_t size = ny_element_size(layout->type);
    struct binary *binary;
    int err = check_shape(reader, layout);

    if (err) return err;
    binary = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*binary));
    if (!binary) return NY_EBUDGET;
    reader->state = binary;
    binary->layout = *layout;
    binary->swap = layout->big_endian != ny_host_is_big_endian();
    binary->stride = layout->d * size + (layout->prefixed ? sizeof(int32_t) : 0);
    err = check_size(reader, &binary->layout, binary->stride);
    if (!err) err = choose_columns(reader, binary);
    if (!err && layout->by_columns)
        err = ny_turned_lay(&binary->turned, &reader->own, reader->bytes,
                            &(struct ny_turned_shape){layout->rows, layout->d, size, binary->keep});
    if (err) return err;
    table->rows = binary->layout.rows;
    table->dtype = reader->options.dtype ? reader->options.dtype : ny_element_natural(layout->type);
    binary->row_bytes = (size_t)table->d * ny_dtype_size(table->dtype);
    binary->direct = !binary->keep && ny_element_is(layout->type, table->dtype);
    return NY_OK;
}

bool ny_binary_place(const struct ny_reader *reader, uint64_t *place)
{
    const struct binary *binary = reader->state;
    const struct ny_binary_layout *layout = &binary->layout;

    if (!binary->direct || binary->turned || layout->prefixed || layout->rows == NY_ROWS_UNKNOWN ||
        (binary->swap && ny_element_size(layout->type) > 1) ||
        ny_bytes_left(reader->bytes) == NY_BYTES_UNKNOWN)
        return false;
    *place = ny_bytes_place(reader->bytes);
    return true;
}

/* Counts the row behind the last one of the batch, where its values stand already. */
static void take_row(struct ny_reader *reader, struct ny_row_batch *batch)
{
    if (batch->source) batch->source[batch->count] = reader->consumed;
    batch->count++;
}

/* Takes `rows` rows whose values stand in the batch behind its last one. A row with NaN or Inf is
 * an error, or is left out and those behind it move up; one scan of all rows settles the usual
 * case of none. */
static int take_rows(struct ny_reader *reader, size_t rows, struct ny_row_batch *batch)
{
    struct binary *binary = reader->state;
    enum ny_dtype dtype = reader->table.dtype;
    size_t d = (size_t)reader->table.d;
    char *from = (char *)batch->values + batch->count * binary->row_bytes;
    bool clean =
        reader->nan == NY_NAN_KEEP || ny_first_nonfinite(dtype, from, rows * d) == rows * d;

    for (size_t r = 0; r < rows; r++, from += binary->row_bytes, reader->consumed++) {
        size_t bad = clean ? d : ny_first_nonfinite(dtype, from, d);
        char *to = (char *)batch->values + batch->count * binary->row_bytes;
        int err;

        if (bad == d) {
            if (to != from) memmove(to, from, binary->row_bytes);
            take_row(reader, batch);
            continue;
        }
        err = ny_reader_fail_row(reader, reader->consumed, bad);
        if (err) return err;
    }
    return NY_OK;
}

/* Reads whole rows straight into the caller's buffer, in pieces that the check finds in cache. */
static int next_direct(struct ny_reader *reader, size_t rows, struct ny_row_batch *batch)
{
    struct binary *binary = reader->state;
    size_t piece = PIECE_BYTES / binary->row_bytes;

    if (piece == 0 || reader->table.dtype == NY_U8) piece = rows;
    while (rows > 0) {
        size_t count = rows < piece ? rows : piece;
        char *to = (char *)batch->values + batch->count * binary->row_bytes;
        int err = read_bytes(reader, to, count * binary->row_bytes);

        if (err) return err;
        if (binary->swap)
            ny_swap(to, ny_dtype_size(reader->table.dtype), count * (size_t)reader->table.d);
        err = take_rows(reader, count, batch);
        if (err) return err;
        rows -= count;
    }
    return NY_OK;
}

/* The file's column of the n-th kept one from column `first` on; its place, where it has one. */
static uint64_t file_column(const struct ny_reader *reader, uint64_t first, size_t n)
{
    const struct binary *binary = reader->state;
    uint64_t column = first;

    if (!binary->keep) return first + n;
    while (!binary->keep[column] || n-- > 0)
        column++;
    return reader->place ? reader->place[column] : column;
}

/* Leaves only kept columns among `count` raw elements from column `first` on. */
static size_t select_raw(struct binary *binary, uint64_t first, size_t count)
{
    size_t size = ny_element_size(binary->layout.type), n = 0;
    char *raw = (char *)binary->raw;

    if (!binary->keep) return count;
    for (size_t i = 0; i < count; i++)
        if (binary->keep[first + i]) memmove(raw + n++ * size, raw + i * size, size);
    return n;
}

/* A piece of a row, `count` raw elements from column `first` on, into `to`; *kept = values written.
 * *bad: the row is to be dropped; set here, and nothing is written then. */
static int convert_piece(struct ny_reader *reader, uint64_t first, size_t count, char *to,
                         size_t *kept, bool *bad)
{
    struct binary *binary = reader->state;
    enum ny_element_type type = binary->layout.type;
    bool rounding = ny_element_is_float(type);
    double *values = binary->values;
    size_t n, wrong;
    int err = NY_OK;

    n = *kept = select_raw(binary, first, count);
    if (binary->swap) ny_swap(binary->raw, ny_element_size(type), n);
    wrong = ny_widen(type, binary->raw, values, n);
    if (wrong < n) return ny_reader_fail_value(reader, file_column(reader, first, wrong), NY_F64);
    if (rounding && reader->nan != NY_NAN_KEEP && !*bad) {
        wrong = ny_first_nonfinite(NY_F64, values, n);
        *bad = wrong < n;
        if (*bad)
            err = ny_reader_fail_row(reader, reader->consumed, file_column(reader, first, wrong));
    }
    if (*bad) return err;
    wrong = ny_dtype_from_f64(reader->table.dtype, rounding, values, to, n);
    if (wrong < n)
        return ny_reader_fail_value(reader, file_column(reader, first, wrong), reader->table.dtype);
    return NY_OK;
}

/* Reads the length that stands before each row of fvecs and bvecs, which must be the same in all
 * rows. NY_END where the file ends instead. */
static int read_prefix(struct ny_reader *reader)
{
    struct binary *binary = reader->state;
    uint32_t d;
    size_t got;
    int err = ny_bytes_read(reader->bytes, &d, sizeof(d), &got);

    if (err) return err;
    if (got == 0 && binary->layout.rows == NY_ROWS_UNKNOWN) return NY_END;
    if (got < sizeof(d)) return ny_refuse_damaged(reader->ctx, reader->path, reader->consumed);
    if (binary->swap) ny_swap(&d, sizeof(d), 1);
    if (d == binary->layout.d) return NY_OK;
    return ny_refuse_damaged(reader->ctx, reader->path, reader->consumed);
}

/* Puts the kept values of a row into their places. */
static void put_in_places(const struct ny_reader *reader, char *to)
{
    const struct binary *binary = reader->state;
    size_t size = ny_dtype_size(reader->table.dtype);
    const char *from = binary->row;

    for (uint64_t j = 0; j < binary->layout.d; j++) {
        if (!binary->keep[j]) continue;
        memcpy(to + reader->place[j] * size, from, size);
        from += size;
    }
}

/* Reads one row, piece by piece where it has to be converted. */
static int next_row(struct ny_reader *reader, struct ny_row_batch *batch)
{
    struct binary *binary = reader->state;
    size_t size = ny_element_size(binary->layout.type), kept;
    char *row = (char *)batch->values + batch->count * binary->row_bytes;
    char *to = binary->row ? binary->row : row;
    uint64_t d = binary->layout.d;
    bool bad = false;
    int err = binary->layout.prefixed ? read_prefix(reader) : NY_OK;

    if (err) return err;
    if (binary->direct) return next_direct(reader, 1, batch);
    for (uint64_t first = 0; first < d; first += SCRATCH) {
        size_t count = d - first < SCRATCH ? (size_t)(d - first) : SCRATCH;

        err = read_bytes(reader, binary->raw, count * size);
        if (!err) err = convert_piece(reader, first, count, to, &kept, &bad);
        if (err) return err;
        to += kept * ny_dtype_size(reader->table.dtype);
    }
    if (!bad && binary->row) put_in_places(reader, row);
    if (!bad) take_row(reader, batch);
    reader->consumed++;
    return NY_OK;
}

/* Called after the last row: the file must end here. */
static int at_end(struct ny_reader *reader)
{
    struct binary *binary = reader->state;
    int err;

    if (binary->turned) return NY_END; /* check_size() has seen it */
    err = ny_bytes_need(reader->bytes, 1);
    if (err) return err;
    if (reader->bytes->at == reader->bytes->end) return NY_END;
    return ny_refuse_damaged(reader->ctx, reader->path, reader->consumed);
}

int ny_binary_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct binary *binary = reader->state;
    uint64_t rows = max_rows;
    int err = NY_OK;

    if (binary->layout.rows != NY_ROWS_UNKNOWN) {
        if (reader->consumed == binary->layout.rows) return at_end(reader);
        if (rows > binary->layout.rows - reader->consumed)
            rows = binary->layout.rows - reader->consumed;
    }
    if (binary->direct && !binary->layout.prefixed) return next_direct(reader, (size_t)rows, batch);
    for (uint64_t r = 0; r < rows && !err; r++) {
        err = next_row(reader, batch);
        if (err == NY_END && r > 0) return NY_OK;
    }
    return err;
}

int ny_binary_skip(struct ny_reader *reader, uint64_t rows)
{
    struct binary *binary = reader->state;
    uint64_t wanted, passed;
    int err = NY_OK;

    if (__builtin_mul_overflow(rows, binary->stride, &wanted)) wanted = UINT64_MAX;
    if (binary->turned)
        ny_turned_pass(binary->turned, wanted, &passed);
    else
        err = ny_bytes_pass(reader->bytes, wanted, &passed);
    reader->consumed += passed / binary->stride;
    return err;
}
