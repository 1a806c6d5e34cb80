/*
 * Sparse matrices of scipy (scipy.sparse.save_npz): a zip archive of the arrays format, shape,
 * data, indices and indptr.
 *
 * indptr is read twice: at first alone, which finds where it falls and the fullest row, then with
 * indices and data as three streams side by side, so that memory holds the entries of one row, or
 * 32,768 of several. A matrix by columns (CSC), or one by rows that is transposed, is sorted by
 * rows when it is opened (io/row_sort.h); both together stream as they are. Members are compared
 * with their checksums at their ends, which come before NY_END.
 *
 * Nothing that the file says is believed: io/zip.c checks sizes against the file, io/npz_array.c
 * shapes against sizes, and every column number is checked when its row is read.
 */
#include <string.h>

#include "base/memory.h"
#include "io/column_names.h"
#include "io/npz_array.h"
#include "io/npz_lines.h"
#include "io/refuse.h"
#include "io/row_sort.h"

enum { POINTERS = 1024, ROOM_ENTRIES = 32768, FORMAT_BYTES = 16 };

enum { FORMAT, SHAPE, INDPTR, INDICES, DATA, MEMBERS };

static const char *const names[MEMBERS] = {"format.npy", "shape.npy", "indptr.npy", "indices.npy",
                                           "data.npy"};

/* The state of the reader. A line is a row of the file where it is CSR, a column where it is CSC.
 */
struct npz {
    struct ny_sparse_rows rows;
    struct ny_zip_member member[MEMBERS];
    struct ny_npz_array pointers, indices, data;
    uint64_t lines, across,
        entries;               /* lines, numbers that indices may have, entries of all lines */
    uint64_t most;             /* entries of the fullest line */
    uint64_t line, position;   /* that is read next; its first entry */
    int64_t pointer[POINTERS]; /* that were read, */
    size_t pointer_at, pointer_held; /* and which of them is next */
    uint64_t pointers_read;          /* all so far */
    struct ny_layout batch;
    char *index, *value, *raw; /* entries held … held_end − 1; raw: one piece of the file */
    uint64_t held, held_end;
    size_t room;
};

static int damaged(struct ny_reader *reader, uint64_t line)
{
    return ny_refuse_damaged(reader->ctx, reader->path, line);
}

/* Fails because the archive is not of the arrays of a matrix that is read here. */
static int not_sparse(struct ny_reader *reader)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s is not a sparse matrix by rows or columns; save it with "
                      "scipy.sparse.save_npz(FILE, matrix.tocsr())",
                      reader->path);
}

/* ---- what the file is ----------------------------------------------------------------------- */

/* Recognises a zip archive. */
static enum ny_guess probe(const char *head, size_t length)
{
    return length >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)
               ? NY_GUESS_SURE
               : NY_GUESS_NO;
}

/* Refuses input whose end cannot be read first. */
static int check_input(struct ny_reader *reader)
{
    if (!reader->bytes->unpacker && reader->bytes->regular) return NY_OK;
    return ny_refuse_pipe(reader->ctx, reader->bytes->unpacker ? NY_EDATA : NY_EUSAGE,
                          reader->path);
}

/* Finds the members of a sparse matrix. */
static int find_members(struct ny_reader *reader)
{
    struct npz *npz = reader->state;
    int err;

    for (size_t i = 0; i < MEMBERS; i++)
        npz->member[i].name = names[i];
    err = ny_zip_find(reader->bytes, npz->member, MEMBERS);
    for (size_t i = 0; !err && i < MEMBERS; i++)
        if (!npz->member[i].found) err = not_sparse(reader);
    return err;
}

/* Reads the name of the matrix's form, "csr" or "csc"; others are refused. */
static int judge_format(struct ny_reader *reader, bool *csc)
{
    const size_t length = strlen("csr");
    struct npz *npz = reader->state;
    struct ny_npz_array array;
    char format[FORMAT_BYTES];
    size_t got = 0;
    int err = ny_npz_array_open(&array, reader->bytes, &npz->member[FORMAT]);

    if (!err) err = ny_bytes_read(array.bytes, format, sizeof(format), &got);
    if (!err) {
        *csc = got == length && memcmp(format, "csc", length) == 0;
        if (got != length || (!*csc && memcmp(format, "csr", length) != 0))
            err = not_sparse(reader);
    }
    if (!err) err = ny_npz_array_finish(&array);
    ny_npz_array_close(&array);
    return err;
}

/* Tells whether an array holds int32 or int64. */
static bool is_integers(const struct ny_npz_array *array)
{
    return array->numeric && (array->type == NY_E_I4 || array->type == NY_E_I8);
}

/* Reads rows and columns of the matrix. */
static int read_shape(struct ny_reader *reader, int64_t shape[2])
{
    struct npz *npz = reader->state;
    struct ny_npz_array array;
    int err = ny_npz_array_open(&array, reader->bytes, &npz->member[SHAPE]);

    if (!err && (!is_integers(&array) || array.count != 2)) err = not_sparse(reader);
    if (!err) err = ny_npz_array_integers(&array, shape, 2);
    if (!err) err = ny_npz_array_finish(&array);
    ny_npz_array_close(&array);
    if (err) return err;
    return shape[0] < 1 || shape[1] < 1 ? ny_refuse_empty(reader->ctx, reader->path) : NY_OK;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Gives the next number of indptr. */
static int next_pointer(struct npz *npz, int64_t *pointer)
{
    if (npz->pointer_at == npz->pointer_held) {
        uint64_t left = npz->lines + 1 - npz->pointers_read;
        size_t some = left < POINTERS ? (size_t)left : POINTERS;
        int err = ny_npz_array_integers(&npz->pointers, npz->pointer, some);

        if (err) return err;
        npz->pointer_at = 0;
        npz->pointer_held = some;
        npz->pointers_read += some;
    }
    *pointer = npz->pointer[npz->pointer_at++];
    return NY_OK;
}

/* Opens indptr and begins at its first number. */
static int begin_pointers(struct ny_reader *reader)
{
    struct npz *npz = reader->state;
    int64_t first;
    int err = ny_npz_array_open(&npz->pointers, reader->bytes, &npz->member[INDPTR]);

    npz->line = npz->position = 0;
    npz->pointer_at = npz->pointer_held = 0;
    npz->pointers_read = 0;
    if (err) return err;
    if (!is_integers(&npz->pointers) || npz->pointers.header.dimensions != 1)
        return not_sparse(reader);
    if (npz->pointers.count != npz->lines + 1) return damaged(reader, NY_NO_LINE);
    err = next_pointer(npz, &first);
    return err || first == 0 ? err : damaged(reader, 0);
}

/* Reads all of indptr, which must rise to the number of entries. */
static int look_at_pointers(struct ny_reader *reader)
{
    struct npz *npz = reader->state;
    int err = begin_pointers(reader);

    for (; !err && npz->line < npz->lines; npz->line++) {
        int64_t end;

        err = next_pointer(npz, &end);
        if (!err && (end < 0 || (uint64_t)end < npz->position)) err = damaged(reader, npz->line);
        if (err) break;
        if ((uint64_t)end - npz->position > npz->most) npz->most = (uint64_t)end - npz->position;
        npz->position = (uint64_t)end;
    }
    if (!err) err = ny_npz_array_finish(&npz->pointers);
    ny_npz_array_close(&npz->pointers);
    npz->entries = npz->position;
    return err;
}

/* Opens indices and data, which must have as many entries as indptr says; more are passed over. */
static int open_entries(struct ny_reader *reader)
{
    struct npz *npz = reader->state;
    int err = ny_npz_array_open(&npz->indices, reader->bytes, &npz->member[INDICES]);

    if (!err) err = ny_npz_array_open(&npz->data, reader->bytes, &npz->member[DATA]);
    if (err) return err;
    if (!is_integers(&npz->indices)) return not_sparse(reader);
    if (!npz->data.numeric) return ny_refuse_dtype(reader->ctx, reader->path);
    if (npz->indices.header.dimensions != 1 || npz->data.header.dimensions != 1 ||
        npz->indices.count < npz->entries || npz->data.count < npz->entries)
        return damaged(reader, NY_NO_LINE);
    return NY_OK;
}

/* Chooses how values are kept here, in a type of the store, and makes room for them. */
static int allocate(struct ny_reader *reader)
{
    struct npz *npz = reader->state;
    enum ny_element_type type = npz->data.type;
    enum ny_dtype natural = ny_element_natural(type);

    npz->rows.type = ny_element_is(type, natural) ? natural : NY_F64;
    npz->rows.index_bytes = (unsigned)ny_element_size(npz->indices.type);
    npz->rows.rounding = ny_element_is_float(type);
    npz->room = npz->most > ROOM_ENTRIES ? (size_t)npz->most : ROOM_ENTRIES;
    npz->batch.ctx = reader->ctx;
    npz->index = ny_lay(&npz->batch, NY_MEM_IO, npz->room, npz->rows.index_bytes);
    npz->value = ny_lay(&npz->batch, NY_MEM_IO, npz->room, ny_dtype_size(npz->rows.type));
    npz->raw = ny_lay(&npz->batch, NY_MEM_IO, POINTERS, sizeof(double));
    return npz->batch.err;
}

/* Reads values behind those that are held, widened to f64 where the store has no such type. */
static int read_values(struct ny_reader *reader, size_t kept, size_t count)
{
    struct npz *npz = reader->state;
    double *wide = (double *)(void *)npz->value + kept;

    if (ny_element_is(npz->data.type, npz->rows.type))
        return ny_npz_array_read(&npz->data, npz->value + kept * ny_dtype_size(npz->rows.type),
                                 count);
    for (size_t done = 0; done < count; done += POINTERS) {
        size_t some = count - done < POINTERS ? count - done : POINTERS;
        int err = ny_npz_array_read(&npz->data, npz->raw, some);

        if (err) return err;
        if (ny_widen(npz->data.type, npz->raw, wide + done, some) < some)
            return ny_refuse_line(reader->ctx, reader->path, NY_NO_LINE,
                                  "a number is too large for f64; save the matrix as float64");
    }
    return NY_OK;
}

/* Reads on until the entries up to `end` are held. */
static int hold(struct ny_reader *reader, uint64_t end)
{
    struct npz *npz = reader->state;
    unsigned index_bytes = npz->rows.index_bytes;
    size_t value_bytes = ny_dtype_size(npz->rows.type), passed, kept, count;
    uint64_t left;
    int err;

    if (end <= npz->held_end) return NY_OK;
    passed = (size_t)(npz->position - npz->held);
    kept = (size_t)(npz->held_end - npz->position);
    memmove(npz->index, npz->index + passed * index_bytes, kept * index_bytes);
    memmove(npz->value, npz->value + passed * value_bytes, kept * value_bytes);
    npz->held = npz->position;
    left = npz->entries - npz->held_end;
    count = left < npz->room - kept ? (size_t)left : npz->room - kept;
    err = ny_npz_array_read(&npz->indices, npz->index + kept * index_bytes, count);
    if (!err) err = read_values(reader, kept, count);
    npz->held_end += count;
    return err;
}

/* Gives the entries of the next line. */
static int next_line(struct ny_reader *reader, struct ny_row_entries *line)
{
    struct npz *npz = reader->state;
    size_t first;
    int64_t end;
    int err = next_pointer(npz, &end);

    if (err) return err;
    if ((uint64_t)end < npz->position || (uint64_t)end - npz->position > npz->most ||
        (uint64_t)end > npz->entries)
        return damaged(reader, NY_NO_LINE);
    err = hold(reader, (uint64_t)end);
    if (err) return err;
    first = (size_t)(npz->position - npz->held);
    *line = (struct ny_row_entries){npz->index + first * npz->rows.index_bytes,
                                    npz->value + first * ny_dtype_size(npz->rows.type),
                                    (size_t)((uint64_t)end - npz->position)};
    npz->position = (uint64_t)end;
    npz->line++;
    return NY_OK;
}

/* Compares all checksums behind the last line. */
static int finish(struct npz *npz)
{
    int err = npz->pointers.bytes ? ny_npz_array_finish(&npz->pointers) : NY_OK;

    if (!err && npz->indices.bytes) err = ny_npz_array_finish(&npz->indices);
    if (!err && npz->data.bytes) err = ny_npz_array_finish(&npz->data);
    return err;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Reads what the matrix is: its form, shape and indptr. */
static int begin(struct ny_reader *reader, bool *direct)
{
    struct npz *npz = reader->state;
    struct ny_file_table *table = &reader->table;
    int64_t shape[2] = {0};
    bool csc;
    int err = find_members(reader);

    if (!err) err = judge_format(reader, &csc);
    if (!err) err = read_shape(reader, shape);
    if (err) return err;
    table->rows = (uint64_t)shape[reader->options.transpose];
    table->d = (uint64_t)shape[!reader->options.transpose];
    *direct = csc == reader->options.transpose;
    npz->lines = *direct ? table->rows : table->d;
    npz->across = *direct ? table->d : table->rows;
    err = look_at_pointers(reader);
    return err ? err : ny_sparse_rows_check(reader, npz->entries);
}

/* Opens the matrix in front of its first line. *direct: lines are rows of the points. */
static int open_lines(struct ny_reader *reader, bool *direct)
{
    int err;

    reader->state = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(struct npz));
    if (!reader->state) return NY_EBUDGET;
    err = check_input(reader);
    if (!err) err = begin(reader, direct);
    if (!err) err = open_entries(reader);
    if (!err) err = begin_pointers(reader);
    return err ? err : allocate(reader);
}

static int open_npz(struct ny_reader *reader)
{
    struct ny_file_table *table = &reader->table;
    bool direct = true;
    int err = open_lines(reader, &direct);
    struct npz *npz = reader->state;

    if (err) return err;
    table->dtype =
        reader->options.dtype ? reader->options.dtype : ny_element_natural(npz->data.type);
    npz->rows.fetch = next_line;
    reader->is_sparse = true;
    err = ny_column_names_read(reader, table->d);
    if (err) return err;
    ny_sparse_rows_layout(reader, npz->entries, direct ? npz->most : 0);
    if (direct) return NY_OK;
    err =
        ny_row_sort_columns(reader, &npz->rows, npz->lines,
                            &(struct ny_row_sort_spec){npz->across, npz->entries, npz->rows.type});
    ny_layout_free(&npz->batch);
    return err ? err : finish(npz);
}

static int next_npz(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct npz *npz = reader->state;
    int err = ny_sparse_rows_next(reader, &npz->rows, max_rows, batch);

    if (err != NY_END) return err;
    err = finish(npz);
    return err ? err : NY_END;
}

static void close_npz(struct ny_reader *reader)
{
    struct npz *npz = reader->state;

    ny_npz_array_close(&npz->pointers);
    ny_npz_array_close(&npz->indices);
    ny_npz_array_close(&npz->data);
    ny_layout_free(&npz->batch);
}

/* ---- lines as they stand --------------------------------------------------------------------- */

int ny_npz_lines_open(struct ny_reader *reader)
{
    bool direct;

    return open_lines(reader, &direct);
}

int ny_npz_lines_next(struct ny_reader *reader, struct ny_npz_line *line)
{
    struct npz *npz = reader->state;
    int err;

    if (npz->line == npz->lines) {
        err = finish(npz);
        return err ? err : NY_END;
    }
    line->type = npz->rows.type;
    line->index_bytes = npz->rows.index_bytes;
    line->across = npz->across;
    return next_line(reader, &line->entries);
}

void ny_npz_lines_close(struct ny_reader *reader)
{
    if (reader->state) close_npz(reader);
    reader->state = NULL;
}

const struct ny_format ny_format_npz = {
    .probe = probe,
    .open = open_npz,
    .next = next_npz,
    .close = close_npz,
    .takes_transpose = true,
    .takes_column_names = true,
    .takes_new_columns = true,
};
