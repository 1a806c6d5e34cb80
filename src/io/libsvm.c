/*
 * LIBSVM's sparse text, "label index:value …", into dense or sparse rows. Indices begin at 1, or
 * at 0 if index 0 occurs. Only the first file is judged so: a file of rows that join others may
 * lack the first column by chance, and has its indices as these had them (options.indices).
 *
 * The first index, the number of dimensions and the share of values that are not 0 are known only
 * from the lines themselves. So a regular file is read twice: open_libsvm() looks at all of it
 * (`looking`), and the rows follow from the start. A pipe is read once, and its beginning decides;
 * an index 0 that comes later in it is an error. "qid:3" and text behind '#' are passed over.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/column_names.h"
#include "io/number.h"
#include "io/refuse.h"
#include "io/sparse_rows.h"
#include "io/text.h"

enum { LOOK_BYTES = 64 * 1024 };

#define ULL(x) ((unsigned long long)(x))
#define INDEX_MAX ((uint64_t)INT32_MAX)

/* State of the reader: what the look has found, and whether it is still under way. Rows come from
 * pairs as those of sparse matrices do (io/sparse_rows.h). */
struct libsvm {
    uint64_t base;                      /* the smallest index there may be: 0 or 1 */
    uint64_t largest;                   /* index met */
    bool zero, any;                     /* index 0 met; any met */
    bool looking;                       /* only those are wanted yet */
    uint64_t looked, pairs, pairs_most; /* in all the lines that were looked at; in the longest */
    uint64_t columns;                   /* of the file */
    struct ny_sparse_rows rows;
    struct ny_row_pairs row;
};

/* One line on its way. The label points into the window, which has not moved while the line is
 * parsed. */
struct line {
    const char *at;
    bool missing;      /* a value is NaN or Inf: the row is to be dropped */
    size_t pairs;      /* so far */
    const char *label; /* NULL: the line is empty, or a comment */
    size_t label_length;
};

/* Tells whether a byte ends a token. A NUL does: it stands at the end of the window, and elsewhere
 * it is refused as a token of its own. */
static bool ends_token(char c)
{
    return ny_is_blank(c) || c == '\n' || c == '#' || c == '\0';
}

static size_t token_length(const char *at)
{
    size_t length = 0;

    while (!ends_token(at[length]))
        length++;
    return length;
}

/* Fails because of the token at `at`. */
static int wrong(struct ny_reader *reader, const char *at, const char *what)
{
    return ny_refuse_word(reader->ctx, reader->path, reader->bytes->line, at, token_length(at),
                          what);
}

/* A token does not belong in a line. */
static int malformed(struct ny_reader *reader, const char *at)
{
    return wrong(reader, at, "does not belong here; write label index:value");
}

/* Moves to the next token of the line; false: there is none. */
static bool to_token(const struct ny_bytes *bytes, struct line *line)
{
    line->at = ny_skip_blanks(line->at);
    return line->at < bytes->end && *line->at != '\n' && *line->at != '#';
}

/* Takes the first token of a line as its label. A colon in it means that the label was left out,
 * as in "1:0.5 2:3". */
static int label(struct ny_reader *reader, struct line *line)
{
    size_t length = token_length(line->at);

    if (length == 0 || memchr(line->at, ':', length)) return malformed(reader, line->at);
    line->label = line->at;
    line->label_length = length;
    line->at += length;
    return NY_OK;
}

/* Parses "index:value". The value is NaN for nan and inf in any spelling, which the caller drops
 * or refuses. An index that passes 2^31 − 1 stops at once, before it can overflow. */
static int pair(struct ny_reader *reader, const char *at, uint64_t *index, double *value,
                const char **after)
{
    const char *p = at;
    size_t length;

    *index = 0;
    while ((unsigned char)(*p - '0') < 10 && *index <= INDEX_MAX)
        *index = 10 * *index + (uint64_t)(*p++ - '0');
    if (*index > INDEX_MAX || p == at || *p != ':') return malformed(reader, at);
    *after = ny_number(++p, value);
    if (*after > p && ends_token(**after)) return NY_OK;
    length = token_length(p);
    if (length == 0 || !ny_number_missing(p, length, value)) return malformed(reader, at);
    *after = p + length;
    *value = (double)NAN;
    return NY_OK;
}

/* Fails because of an index that does not ascend, is below the base or beyond the dimensions. */
static int index_error(struct ny_reader *reader, const char *at)
{
    const struct libsvm *libsvm = reader->state;
    char what[120];

    snprintf(what, sizeof(what), "has no index from %llu to %llu that is above the one before",
             ULL(libsvm->base),
             libsvm->looking ? ULL(INDEX_MAX) : ULL(libsvm->base + libsvm->columns - 1));
    return wrong(reader, at, what);
}

/* Keeps the pair at `at`, whose value is rounded to the type of the table. One that is NaN, in a
 * column of the points, makes the row one to be dropped. */
static int keep(struct ny_reader *reader, struct line *line, const char *at, uint64_t column,
                double value)
{
    struct libsvm *libsvm = reader->state;
    enum ny_dtype dtype = reader->table.dtype;
    bool used = reader->place ? reader->place[column] != NY_NO_PLACE : column < reader->table.d;
    double stored;
    char what[80];
    int err;

    if (used && isnan(value) && reader->nan == NY_NAN_ERROR) {
        snprintf(what, sizeof(what), "is not a finite number%s", ny_reader_nan_cure(reader));
        return wrong(reader, at, what);
    }
    line->missing |= used && isnan(value);
    if (isnan(value)) return NY_OK;
    if (used && !ny_text_store(dtype, &stored, 0, value))
        return wrong(reader, at, ny_text_unfit(dtype));
    err = ny_row_pairs_room(reader->ctx, &libsvm->row, line->pairs);
    if (err) return err;
    libsvm->row.column[line->pairs] = (uint32_t)column;
    libsvm->row.value[line->pairs++] = used ? ny_dtype_at(dtype, &stored, 0) : value;
    return NY_OK;
}

/* Takes one pair. While the reader is still looking, only the largest index and the number of pairs
 * are kept, and values are not checked. */
static int take(struct ny_reader *reader, struct line *line, uint64_t *previous)
{
    struct libsvm *libsvm = reader->state;
    const char *at = line->at;
    uint64_t index;
    double value;
    int err;

    if (*at == 'q' && strncmp(at, "qid:", 4) == 0) {
        line->at += token_length(at);
        return NY_OK;
    }
    err = pair(reader, at, &index, &value, &line->at);
    if (err) return err;
    if ((*previous != UINT64_MAX && index <= *previous) || index < libsvm->base ||
        (!libsvm->looking && index - libsvm->base >= libsvm->columns))
        return index_error(reader, at);
    *previous = index;
    if (!libsvm->looking) return keep(reader, line, at, index - libsvm->base, value);
    if (index > libsvm->largest) libsvm->largest = index;
    libsvm->zero |= index == 0;
    libsvm->any = true;
    line->pairs++;
    return NY_OK;
}

/* Parses the line at bytes->at, which is whole, and leaves line->at behind its end. */
static int parse(struct ny_reader *reader, struct line *line)
{
    const struct ny_bytes *bytes = reader->bytes;
    uint64_t previous = UINT64_MAX;
    const char *newline;
    int err = NY_OK;

    *line = (struct line){.at = bytes->at};
    if (to_token(bytes, line)) err = label(reader, line);
    while (!err && to_token(bytes, line))
        err = take(reader, line, &previous);
    newline = memchr(line->at, '\n', (size_t)(bytes->end - line->at));
    line->at = newline ? newline + 1 : bytes->end;
    return err;
}

/* Moves the window behind a line that was taken. */
static void pass_line(struct ny_bytes *bytes, const struct line *line)
{
    bytes->at = line->at;
    bytes->line++;
}

/* Finds the indices that occur in the whole file, or in the lines that a pipe has sent so far. It
 * leaves bytes->at at the first line again. *rows stays unknown if a pipe has more to come. */
static int look(struct ny_reader *reader, uint64_t *rows)
{
    struct libsvm *libsvm = reader->state;
    struct ny_bytes *bytes = reader->bytes;
    struct line line;
    bool more = true;
    int err = ny_bytes_whole_line(bytes, &more);
    const char *first = bytes->at;

    libsvm->looking = true;
    while (!err && more) {
        err = parse(reader, &line);
        libsvm->looked += line.label != NULL;
        libsvm->pairs += line.pairs;
        if (line.pairs > libsvm->pairs_most) libsvm->pairs_most = line.pairs;
        if (err) return err;
        pass_line(bytes, &line);
        if (bytes->regular || bytes->ended)
            err = ny_bytes_whole_line(bytes, &more);
        else
            more = bytes->at < bytes->whole;
    }
    libsvm->looking = false;
    if (!reader->options.indices) libsvm->base = libsvm->zero ? 0 : 1;
    *rows = bytes->ended ? libsvm->looked : NY_ROWS_UNKNOWN;
    if (err || bytes->regular) return err ? err : ny_bytes_rewind(bytes);
    bytes->at = first;
    bytes->line = 1;
    return NY_OK;
}

/* Chooses sparse or dense rows by the share of values that are not 0 in the rows seen. Those that
 * a pipe has not sent yet may be fuller, so that the room of one of its sparse rows is all d. */
static void choose_layout(struct ny_reader *reader)
{
    const struct libsvm *libsvm = reader->state;
    uint64_t rows = reader->table.rows;

    reader->table.rows = libsvm->looked ? libsvm->looked : 1;
    ny_sparse_rows_layout(reader, libsvm->pairs,
                          reader->bytes->regular ? libsvm->pairs_most : reader->table.d);
    reader->table.rows = rows;
}

/* Opens the reader: looks at the lines, then says d, the type and the layout. A pipe needs --dims,
 * since the largest index may come in its last line. */
static int open_libsvm(struct ny_reader *reader)
{
    const struct ny_reader_options *options = &reader->options;
    struct libsvm *libsvm = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*libsvm));
    struct ny_file_table *table = &reader->table;
    int err;

    if (!libsvm) return NY_EBUDGET;
    reader->state = libsvm;
    libsvm->base = options->indices == NY_INDICES_FROM_1;
    if (!options->dims && !reader->bytes->regular)
        return ny_fail(reader->ctx, NY_EUSAGE, "%s is a pipe of libsvm data; give --dims",
                       reader->path);
    err = ny_bytes_need(reader->bytes, LOOK_BYTES);
    if (!err) err = look(reader, &table->rows);
    if (err) return err;
    if (!options->dims && !libsvm->any) return ny_refuse_empty(reader->ctx, reader->path);
    reader->is_sparse = true;
    err = ny_column_names_read(reader, options->like ? 0 : options->dims);
    if (err) return err;
    table->d = options->dims ? options->dims : libsvm->largest + 1 - libsvm->base;
    if (reader->columns.count) table->d = reader->columns.count;
    if (options->new_columns_drop && options->dims && !reader->place) {
        table->d = options->dims;
        ny_column_names_cut(reader);
        reader->file_columns = INDEX_MAX + 1;
    }
    libsvm->columns = reader->file_columns ? reader->file_columns : table->d;
    table->dtype = options->dtype ? options->dtype : NY_F32;
    libsvm->rows.index_bytes = sizeof(*libsvm->row.column);
    libsvm->rows.type = NY_F64;
    libsvm->rows.rounding = true;
    table->labels = !options->no_labels;
    if (libsvm->any || options->indices)
        table->indices = libsvm->base ? NY_INDICES_FROM_1 : NY_INDICES_FROM_0;
    choose_layout(reader);
    return NY_OK;
}

/* Decides the label of a row that is kept. The word "none" is a missing label, as NaN is. */
static int take_label(struct ny_reader *reader, const struct line *line, double *value)
{
    *value = (double)NAN;
    if (line->label_length == 4 && memcmp(line->label, "none", 4) == 0) return NY_OK;
    return ny_classes_label(reader->classes, reader->path, reader->bytes->line, line->label,
                            line->label_length, value);
}

/* Adds the line that was read to the batch. */
static int add(struct ny_reader *reader, const struct line *line, struct ny_row_batch *batch)
{
    struct libsvm *libsvm = reader->state;
    const struct ny_row_entries row = {libsvm->row.column, libsvm->row.value, line->pairs};
    double value = (double)NAN;
    bool dropped;
    int err = NY_OK;

    if (reader->table.labels && !reader->options.labels_file)
        err = take_label(reader, line, &value);
    if (!err) err = ny_sparse_rows_read(reader, &libsvm->rows, &row, batch, &dropped);
    if (err) return err;
    if (batch->labels) batch->labels[batch->count] = value;
    if (batch->source) batch->source[batch->count] = reader->consumed;
    batch->count++;
    return NY_OK;
}

static int next_libsvm(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    for (size_t r = 0; r < max_rows;) {
        struct line line;
        bool more;
        int err = ny_bytes_whole_line(reader->bytes, &more);

        if (!err && !more) return r > 0 ? NY_OK : NY_END;
        if (!err) err = parse(reader, &line);
        if (!err && line.label) {
            if (line.missing)
                ny_reader_drop(reader);
            else
                err = add(reader, &line, batch);
            reader->consumed++;
            r++;
        }
        if (err) return err;
        pass_line(reader->bytes, &line);
    }
    return NY_OK;
}

static void close_libsvm(struct ny_reader *reader)
{
    struct libsvm *libsvm = reader->state;

    ny_row_pairs_free(reader->ctx, &libsvm->row);
}

/* Judges by the first line that has more than a label: a number, and a pair or "qid:". */
static enum ny_guess probe(const char *head, size_t length)
{
    const char *end = head + length; /* a NUL is there */

    while (head < end) {
        const char *p = ny_skip_blanks(head), *newline = memchr(p, '\n', (size_t)(end - p));
        double number;

        if (!ends_token(*p)) {
            const char *after = ny_number(p, &number);

            if (after == p || !ends_token(*after)) return NY_GUESS_NO;
            p = ny_skip_blanks(after);
            if (strncmp(p, "qid:", 4) == 0) return NY_GUESS_MAYBE;
        }
        if (!ends_token(*p)) {
            size_t digits = strspn(p, "0123456789");
            const char *after = ny_number(p + digits + (p[digits] == ':'), &number);

            return digits && p[digits] == ':' && after > p + digits + 1 && ends_token(*after)
                       ? NY_GUESS_MAYBE
                       : NY_GUESS_NO;
        }
        if (!newline) break;
        head = newline + 1;
    }
    return NY_GUESS_NO;
}

const struct ny_format ny_format_libsvm = {
    .probe = probe,
    .open = open_libsvm,
    .next = next_libsvm,
    .close = close_libsvm,
    .has_lines = true,
    .takes_column_names = true,
    .takes_new_columns = true,
};
