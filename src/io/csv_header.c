/*
 * Learns from the first lines of delimited text: the delimiter, and whether the first line is a
 * header. The uses of the columns are chosen then (io/csv_columns.c).
 *
 * ny_csv_open() is called once, before a row is read, and leaves bytes->at at the first row of
 * data. It looks at two records, both in the window at once: a header can only be told from data
 * by what stands below it. What it finds is in struct ny_csv (io/csv.h), from which io/csv.c reads
 * the rows.
 */
#include "io/csv.h"

#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "io/number.h"
#include "io/refuse.h"

enum { GUESS_BYTES = 128 * 1024 };

/* Whatever is made of rows takes more than this for each column: a line of more columns than the
 * budget has room for is refused at once, with a budget for all of it. */
enum { COLUMN_BYTES = 72 };

/* The first two records: they are whole in the window, and are void once it moves. */
struct glimpse {
    const char *first, *after, *second; /* after the first; second NULL: there is none */
    size_t columns;
    uint64_t newlines; /* in the first record */
};

/* Finds the two records. Returns whether they are whole, or the first one's `field` is bad. */
static enum ny_field_kind look(const struct ny_reader *reader, struct glimpse *glimpse,
                               struct ny_field *field)
{
    const struct ny_csv *csv = reader->state;
    struct ny_bytes rest = *reader->bytes;
    enum ny_field_kind kind;
    struct ny_field other;

    *glimpse = (struct glimpse){.first = rest.at};
    do {
        kind = ny_field_scan(&csv->dialect, &rest.at, rest.end, rest.ended, field);
        if (kind != NY_FIELD) return kind;
        glimpse->columns++;
        glimpse->newlines += field->newlines;
    } while (ny_field_follows(&csv->dialect, &rest.at));
    kind = ny_line_end(&rest.at, rest.end, rest.ended);
    glimpse->after = rest.at;
    if (kind == NY_FIELD) kind = ny_empty_lines(&csv->dialect, &rest);
    if (kind == NY_FIELD_CUT) return kind;
    glimpse->second = kind == NY_FIELD ? rest.at : NULL;
    while (kind == NY_FIELD) {
        kind = ny_field_scan(&csv->dialect, &rest.at, rest.end, rest.ended, &other);
        if (kind != NY_FIELD || !ny_field_follows(&csv->dialect, &rest.at)) break;
    }
    return kind == NY_FIELD_CUT ? kind : NY_FIELD;
}

int ny_csv_refuse_field(const struct ny_reader *reader, uint64_t line, size_t column,
                        const struct ny_field *field, const char *what)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, line,
                      "%s, line %llu, column %zu: '%s' %s", reader->path, (unsigned long long)line,
                      column + 1, ny_shown(field->text, field->length).text, what);
}

/* Looks at the first two records. Whenever one of them is cut, the window grows and both are begun
 * again. */
static int glimpse_two(struct ny_reader *reader, struct glimpse *glimpse)
{
    struct ny_bytes *bytes = reader->bytes;
    enum ny_field_kind kind;
    struct ny_field field;

    while ((kind = look(reader, glimpse, &field)) == NY_FIELD_CUT) {
        int err = ny_bytes_more(bytes);

        if (err) return err;
    }
    if (kind == NY_FIELD) return NY_OK;
    return ny_csv_refuse_field(reader, bytes->line, glimpse->columns, &field, field.wrong);
}

/* Reads the next field of a record that is whole; false behind its last, or where it is bad. */
static bool next_field(const struct ny_reader *reader, const char **at, struct ny_field *field)
{
    const struct ny_csv *csv = reader->state;
    const struct ny_bytes *bytes = reader->bytes;
    bool there = *at && ny_field_scan(&csv->dialect, at, bytes->end, true, field) == NY_FIELD;

    if (!there) *field = (struct ny_field){.text = ""};
    if (!there || !ny_field_follows(&csv->dialect, at)) *at = NULL;
    return there;
}

static bool is_number(const struct ny_field *field)
{
    double value;

    return field->length > 0 && (ny_number(field->text, &value) == field->text + field->length ||
                                 ny_number_comma(field->text, field->length));
}

static bool is_word(const struct ny_field *field)
{
    double value;

    return !is_number(field) && !ny_number_none(field->text, field->length) &&
           !ny_number_missing(field->text, field->length, &value);
}

/* Tells whether an option names a column by its name, so that a header must be there. A number goes
 * to *number, which is 0 where the option is not given. */
static bool is_named(const char *wanted, uint64_t *number)
{
    *number = 0;
    return wanted && !ny_number_whole(wanted, strlen(wanted), number);
}

/* Guesses whether the first line is a header: it is when it has a word where the second has a
 * number, for example "age,height" above "31,1.80", or nothing above the names of rows, as pandas
 * writes it. If there is no second line, a word that is neither label nor name makes it one.
 * Options that name columns need a header, so that one is taken to be there. */
static bool looks_like_header(const struct ny_reader *reader, const struct glimpse *glimpse)
{
    const struct ny_reader_options *options = &reader->options;
    const char *first = glimpse->first, *second = glimpse->second;
    struct ny_field above, below;
    uint64_t label, id;

    if (is_named(options->label_column, &label) || is_named(options->id_column, &id)) return true;
    if (options->columns && ny_columns_named(options->columns)) return true;
    if (options->drop_columns && ny_columns_named(options->drop_columns)) return true;
    for (size_t column = 1; next_field(reader, &first, &above); column++) {
        bool there = next_field(reader, &second, &below);

        if (there && column == id && !above.length && below.length) return true;
        if (!is_word(&above)) continue;
        if (!glimpse->second && column != label && column != id) return true;
        if (there && is_number(&below)) return true;
    }
    return false;
}

/* Tells whether the fields of the first line are the names of options.like in any order: a header
 * of numbers, such as years, is one, though it has no word. */
static int names_like(struct ny_reader *reader, const struct glimpse *glimpse, bool *header)
{
    const struct ny_columns_like *like = reader->options.like;
    struct ny_csv *csv = reader->state;
    const char *at = glimpse->first, *name;
    struct ny_names has = {0};
    struct ny_field field;
    uint64_t sum = 0;
    int err;

    if (!like || glimpse->columns != like->count) return NY_OK;
    err = like->load(like->arg, &has);
    name = has.text;
    for (size_t i = 0; i < has.count; i++, name += strlen(name) + 1)
        sum += ny_checksum(name, strlen(name));
    while (next_field(reader, &at, &field))
        sum -= ny_checksum(csv->unquoted, ny_field_copy(&field, csv->unquoted));
    *header = !err && has.count == glimpse->columns && !sum;
    ny_names_release(&has, reader->ctx);
    return err;
}

/* Turns each line end in a word of the header into a blank. */
static void make_name(char *word)
{
    char *to = word;

    for (const char *at = word; *at; at++) {
        if (*at == '\r' && at[1] == '\n') at++;
        *to++ = *at == '\n' || *at == '\r' ? ' ' : *at;
    }
    *to = '\0';
}

/* Copies the names of the columns out of the window, without their quotes, and passes over the
 * header. All names share one allocation. */
static int keep_names(struct ny_reader *reader, const struct glimpse *glimpse)
{
    struct ny_csv *csv = reader->state;
    const char *at = glimpse->first;
    size_t bytes = (size_t)(glimpse->after - at) + glimpse->columns, used = 0;
    struct ny_field field;
    char *text;

    csv->header.names = ny_lay(&reader->own, NY_MEM_IO, glimpse->columns, sizeof(char *));
    text = ny_lay(&reader->own, NY_MEM_IO, bytes, 1);
    if (reader->own.err) return reader->own.err;
    for (size_t i = 0; next_field(reader, &at, &field); i++) {
        char *name = text + used;

        csv->header.names[i] = name;
        used += ny_field_copy(&field, name) + 1;
        make_name(name);
    }
    reader->bytes->at = glimpse->after;
    reader->bytes->line += glimpse->newlines + 1;
    return NY_OK;
}

/* Passes over empty lines. */
static int pass_empty(struct ny_reader *reader)
{
    const struct ny_csv *csv = reader->state;
    enum ny_field_kind kind;

    while ((kind = ny_empty_lines(&csv->dialect, reader->bytes)) == NY_FIELD_CUT) {
        int err = ny_bytes_more(reader->bytes);

        if (err) return err;
    }
    return kind == NY_FIELD_BAD ? ny_refuse_empty(reader->ctx, reader->path) : NY_OK;
}

/* Sets the delimiter by the first line, which it brings into the window if it is short. */
static int guess_delimiter(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;
    struct ny_bytes *bytes = reader->bytes;

    while (!bytes->ended && bytes->end - bytes->at < GUESS_BYTES &&
           !memchr(bytes->at, '\n', (size_t)(bytes->end - bytes->at))) {
        int err = ny_bytes_more(bytes);

        if (err) return err;
    }
    ny_dialect_set(&csv->dialect, ny_dialect_guess(bytes->at, bytes->end, csv->comma));
    return NY_OK;
}

/* Tells whether the line at bytes->at is a comment. A first column of labels or names may hold
 * words such as "#ff0000". */
static bool is_comment(const struct ny_reader *reader)
{
    uint64_t label, id;

    is_named(reader->options.label_column, &label);
    is_named(reader->options.id_column, &id);
    return *reader->bytes->at == '#' && label != 1 && id != 1;
}

/* Moves past empty lines and comments to the first line, and sets the delimiter. */
static int first_line(struct ny_reader *reader, char delimiter)
{
    struct ny_csv *csv = reader->state;
    struct ny_bytes *bytes = reader->bytes;
    int err;

    ny_dialect_set(&csv->dialect, delimiter ? delimiter : ',');
    err = pass_empty(reader);
    while (!err && is_comment(reader)) {
        const char *newline;

        err = ny_bytes_line(bytes, &newline);
        bytes->at = newline ? newline + 1 : bytes->end;
        bytes->line++;
        if (!err) err = pass_empty(reader);
    }
    return err || delimiter ? err : guess_delimiter(reader);
}

/* Tells whether the rows at the beginning of the file have decimal commas: some of their numbers
 * have a comma, and none has a point. Columns that are no points do not count. */
static int find_commas(struct ny_reader *reader, bool *found)
{
    const struct ny_csv *csv = reader->state;
    const struct ny_bytes *bytes = reader->bytes;
    int err = ny_bytes_need(reader->bytes, GUESS_BYTES);
    const char *at = bytes->at, *end = bytes->end;
    size_t column = 0;
    struct ny_field field;
    double value;

    if (end - at > GUESS_BYTES) end = at + GUESS_BYTES;
    while (!err && at < end && ny_field_scan(&csv->dialect, &at, end, true, &field) == NY_FIELD) {
        bool is_point = column < csv->columns && csv->use[column] == NY_CSV_VALUE;
        const char *after = is_point ? field.text + field.length : NULL;

        if (after && memchr(field.text, '.', field.length) &&
            ny_number(field.text, &value) == after) {
            *found = false;
            return NY_OK;
        }
        *found |= after && memchr(field.text, ',', field.length) &&
                  ny_number_with_comma(field.text, &value) == after;
        column++;
        if (ny_field_follows(&csv->dialect, &at)) continue;
        ny_line_end(&at, end, true);
        column = 0;
    }
    return err;
}

int ny_csv_open(struct ny_reader *reader, char delimiter)
{
    const struct ny_reader_options *options = &reader->options;
    struct ny_csv *csv = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*csv));
    struct glimpse glimpse;
    bool header;
    int err;

    if (!csv) return NY_EBUDGET;
    reader->state = csv;
    reader->table.dtype = options->dtype ? options->dtype : NY_F32;
    csv->comma = options->decimal == NY_DECIMAL_COMMA;
    err = first_line(reader, delimiter);
    if (!err) err = glimpse_two(reader, &glimpse);
    if (!err && glimpse.columns > ny_memory_left(reader->ctx) / COLUMN_BYTES)
        err = ny_bytes_refuse_line(reader->bytes);
    if (err) return err;
    csv->columns = csv->header.count = glimpse.columns;
    header = options->header == NY_HEADER_YES ||
             (options->header == NY_HEADER_AUTO && looks_like_header(reader, &glimpse));
    if (!header && options->header == NY_HEADER_AUTO) err = names_like(reader, &glimpse, &header);
    if (!err && header) err = keep_names(reader, &glimpse);
    if (!err) err = ny_csv_choose_columns(reader);
    if (!err && options->decimal == NY_DECIMAL_AUTO && csv->dialect.delimiter == ';')
        err = find_commas(reader, &csv->comma);
    csv->number = csv->comma && csv->dialect.delimiter != ',' ? ny_number_with_comma : ny_number;
    return err;
}
