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

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/number.h"

enum { GUESS_BYTES = 128 * 1024, FIRST_FIELDS = 64 };

/* One field of a record that is looked at, not read. */
struct span {
    const char *text;
    uint32_t length;
    bool quoted, number, word; /* neither number nor word: missing */
};

/* The fields of one record. Their texts point into the window, and are void once it moves. */
struct glimpse {
    struct span *spans;
    size_t count, room;
    const char *after; /* the record */
    uint64_t newlines; /* in it */
};

/* Adds a field to the record and decides whether it is a number, a word or missing. The array
 * doubles; a line whose fields do not fit in the budget is refused with its length and the
 * --memory that it takes. */
static int append(struct ny_reader *reader, struct glimpse *glimpse, const struct ny_field *field)
{
    struct span *span;
    double value;

    if (glimpse->count == glimpse->room) {
        size_t room = glimpse->room ? 2 * glimpse->room : FIRST_FIELDS;

        if ((room + glimpse->room) * sizeof(*span) >
            ny_memory_limit(reader->ctx) - ny_memory_used(reader->ctx))
            return ny_bytes_refuse_line(reader->bytes);
        span = ny_resize(reader->ctx, NY_MEM_IO, glimpse->spans, room * sizeof(*span));
        if (!span) return NY_EBUDGET;
        glimpse->spans = span;
        glimpse->room = room;
    }
    span = &glimpse->spans[glimpse->count++];
    *span = (struct span){.text = field->text, .length = (uint32_t)field->length};
    span->quoted = field->quoted;
    span->number =
        field->length > 0 && (ny_number(field->text, &value) == field->text + field->length ||
                              ny_number_comma(field->text, field->length));
    span->word = !span->number && !ny_number_none(field->text, field->length) &&
                 !ny_number_missing(field->text, field->length, &value);
    glimpse->newlines += field->newlines;
    return NY_OK;
}

/* Splits the record at `at`; *kind tells a cut one and a bad one (count = the bad field). */
static int glimpse_record(struct ny_reader *reader, const char *at, struct glimpse *glimpse,
                          enum ny_field_kind *kind, struct ny_field *field)
{
    struct ny_csv *csv = reader->state;
    const struct ny_bytes *bytes = reader->bytes;

    glimpse->count = 0;
    glimpse->newlines = 0;
    do {
        int err;

        *kind = ny_field_scan(&csv->dialect, &at, bytes->end, bytes->ended, field);
        if (*kind != NY_FIELD) return NY_OK;
        err = append(reader, glimpse, field);
        if (err) return err;
    } while (ny_field_follows(&csv->dialect, &at));
    *kind = ny_line_end(&at, bytes->end, bytes->ended);
    glimpse->after = at;
    return NY_OK;
}

/* Looks at the first two records. Whenever one of them is cut, the window grows and both are begun
 * again, since their texts point into it. The second has count 0 when there is none. */
static int glimpse_two(struct ny_reader *reader, struct glimpse two[2])
{
    struct ny_csv *csv = reader->state;
    struct ny_bytes *bytes = reader->bytes;
    enum ny_field_kind kind;
    struct ny_field field;
    int err;

    for (;;) {
        struct ny_bytes rest;

        err = glimpse_record(reader, bytes->at, &two[0], &kind, &field);
        if (err) return err;
        if (kind == NY_FIELD_BAD)
            return ny_fail_at(reader->ctx, NY_EDATA, reader->path, bytes->line,
                              "%s, line %llu, column %zu: '%s' %s", reader->path,
                              (unsigned long long)bytes->line, two[0].count + 1,
                              ny_shown(field.text, field.length).text, field.wrong);
        two[1].count = 0;
        if (kind == NY_FIELD) {
            rest = *bytes;
            rest.at = two[0].after;
            kind = ny_empty_lines(&csv->dialect, &rest);
            if (kind == NY_FIELD) err = glimpse_record(reader, rest.at, &two[1], &kind, &field);
            if (err) return err;
        }
        if (kind != NY_FIELD_CUT) return NY_OK;
        err = ny_bytes_more(bytes);
        if (err) return err;
    }
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
static bool looks_like_header(const struct ny_reader *reader, const struct glimpse two[2])
{
    const struct ny_reader_options *options = &reader->options;
    uint64_t label, id;

    if (is_named(options->label_column, &label) || is_named(options->id_column, &id)) return true;
    if (options->columns && ny_columns_named(options->columns)) return true;
    if (options->drop_columns && ny_columns_named(options->drop_columns)) return true;
    if (id >= 1 && id <= two[0].count && id <= two[1].count && two[0].spans[id - 1].length == 0 &&
        two[1].spans[id - 1].length > 0)
        return true;
    for (size_t i = 0; i < two[0].count; i++) {
        if (!two[0].spans[i].word) continue;
        if (two[1].count == 0 && i + 1 != label && i + 1 != id) return true;
        if (i < two[1].count && two[1].spans[i].number) return true;
    }
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the names by their texts; NULL: there is no memory. */
static const char **sort_names(struct ny_context *ctx, const struct ny_names *names)
{
    const char **sorted = ny_calloc(ctx, NY_MEM_IO, names->count, sizeof(*sorted));
    const char *name = names->text;

    if (!sorted) return NULL;
    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1)
        sorted[i] = name;
    qsort(sorted, names->count, sizeof(*sorted), by_text);
    return sorted;
}

/* Adds the fields of a line, as names are. */
static int add_fields(struct ny_reader *reader, const struct glimpse *line, struct ny_names *to)
{
    struct ny_csv *csv = reader->state;
    int err = NY_OK;

    for (size_t i = 0; !err && i < line->count; i++) {
        const struct span *span = &line->spans[i];
        const struct ny_field field = {
            .text = span->text, .length = span->length, .quoted = span->quoted};
        size_t length = ny_field_copy(&field, csv->unquoted);

        err = ny_names_add(to, reader->ctx, csv->unquoted, length);
    }
    return err;
}

/* Tells whether the fields of the first line are the names of options.like in any order, each once:
 * a header of numbers, such as years, is one, though it looks like a row. */
static int names_like(struct ny_reader *reader, const struct glimpse *first, bool *header)
{
    const struct ny_columns_like *like = reader->options.like;
    struct ny_names has = {0}, comes = {0};
    const char **a = NULL, **b = NULL;
    int err = NY_OK;

    if (!like || first->count != like->count) return NY_OK;
    err = like->load(like->arg, &has);
    if (!err) err = add_fields(reader, first, &comes);
    if (err || has.count != comes.count) goto done;
    a = sort_names(reader->ctx, &has);
    b = sort_names(reader->ctx, &comes);
    if (!a || !b) err = NY_EBUDGET;
    *header = !err;
    for (size_t i = 0; *header && i < has.count; i++)
        *header = strcmp(a[i], b[i]) == 0 && (i == 0 || strcmp(a[i], a[i - 1]) != 0);
done:
    ny_names_release(&has, reader->ctx);
    ny_names_release(&comes, reader->ctx);
    ny_free(reader->ctx, a);
    ny_free(reader->ctx, b);
    return err;
}

/* Makes a word of the header a name: a line end in it becomes a blank, and a word that is too long
 * is cut, with a warning, between two letters. */
static void make_name(struct ny_reader *reader, char *word, size_t column)
{
    char *to = word;
    size_t length;

    for (const char *at = word; *at; at++) {
        if (*at == '\r' && at[1] == '\n') at++;
        *to++ = *at == '\n' || *at == '\r' ? ' ' : *at;
    }
    *to = '\0';
    length = (size_t)(to - word);
    if (length <= NY_NAME_BYTES_MAX) return;
    ny_log(reader->ctx, NY_LOG_WARNING,
           "%s: the name of column %zu has %zu bytes, and is cut to the first %d", reader->path,
           column + 1, length, NY_NAME_BYTES_MAX);
    for (length = NY_NAME_BYTES_MAX; (word[length] & 0xc0) == 0x80 && length > 1;)
        length--;
    word[length] = '\0';
}

/* Copies the names of the columns out of the window, without their quotes, and passes over the
 * header. All names share one allocation. */
static int keep_names(struct ny_reader *reader, const struct glimpse *first)
{
    struct ny_csv *csv = reader->state;
    size_t bytes = 0, used = 0;

    for (size_t i = 0; i < first->count; i++)
        bytes += first->spans[i].length + 1;
    csv->header.names = ny_alloc(reader->ctx, NY_MEM_IO, first->count * sizeof(char *));
    if (!csv->header.names) return NY_EBUDGET;
    csv->name_text = ny_alloc(reader->ctx, NY_MEM_IO, bytes);
    if (!csv->name_text) return NY_EBUDGET;
    for (size_t i = 0; i < first->count; i++) {
        const struct span *span = &first->spans[i];
        const struct ny_field field = {
            .text = span->text, .length = span->length, .quoted = span->quoted};

        char *name = csv->name_text + used;

        csv->header.names[i] = name;
        used += ny_field_copy(&field, name) + 1;
        make_name(reader, name, i);
    }
    reader->bytes->at = first->after;
    reader->bytes->line += first->newlines + 1;
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
    if (kind != NY_FIELD_BAD) return NY_OK;
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s holds no rows, only empty lines%s; give a file of points", reader->path,
                      csv->comments ? " and lines that begin with '#'" : "");
}

/* Sets the delimiter by the line that begins `offset` bytes behind bytes->at, which it brings into
 * the window if it is short. */
static int guess_delimiter(struct ny_reader *reader, size_t offset)
{
    struct ny_csv *csv = reader->state;
    struct ny_bytes *bytes = reader->bytes;

    while (!bytes->ended && bytes->end - bytes->at - (ptrdiff_t)offset < GUESS_BYTES &&
           !memchr(bytes->at + offset, '\n', (size_t)(bytes->end - bytes->at) - offset)) {
        int err = ny_bytes_more(bytes);

        if (err) return err;
    }
    ny_dialect_set(&csv->dialect, ny_dialect_guess(bytes->at + offset, bytes->end,
                                                   reader->options.decimal == NY_DECIMAL_COMMA));
    return NY_OK;
}

/* Tells whether the line at bytes->at is a comment. A first column of labels or names may hold
 * words such as "#ff0000". */
static bool is_comment(const struct ny_reader *reader)
{
    const char *at = reader->bytes->at;
    uint64_t label, id;

    if (*at != '#') return false;
    is_named(reader->options.label_column, &label);
    is_named(reader->options.id_column, &id);
    return (label != 1 && id != 1) || strchr("# \t\r\n", at[1]);
}

/* Tells whether the names in a comment are those of the columns: as many as the line below it has
 * fields, and a word above one of its numbers. --header yes takes numbers for names, too. */
static bool names_columns(const struct ny_reader *reader, const struct glimpse two[2])
{
    bool names = false;

    if (two[0].count != two[1].count || reader->options.header == NY_HEADER_NO ||
        two[1].spans[0].text[0] == '#')
        return false;
    for (size_t i = 0; i < two[0].count; i++)
        names |= two[1].spans[i].number &&
                 (two[0].spans[i].word || reader->options.header == NY_HEADER_YES);
    return names;
}

/* Looks at the comment at bytes->at, and leaves bytes->at at the names behind its '#' where it is
 * the header, as numpy.savetxt writes one, or else behind its line. */
static int read_comment(struct ny_reader *reader, char delimiter, struct glimpse two[2],
                        bool *header)
{
    struct ny_csv *csv = reader->state;
    struct ny_bytes *bytes = reader->bytes;
    enum ny_field_kind kind;
    struct ny_field field;
    const char *newline;
    size_t length, mark;
    int err = ny_bytes_line(bytes, &newline);

    if (err) return err;
    length = (size_t)((newline ? newline + 1 : bytes->end) - bytes->at);
    mark = strspn(bytes->at, "#");
    mark += strspn(bytes->at + mark, " \t");
    if (!delimiter) err = guess_delimiter(reader, length);
    if (!err) err = glimpse_record(reader, bytes->at + mark, &two[0], &kind, &field);
    if (err) return err;
    if (kind == NY_FIELD && two[0].after == bytes->at + length && mark < length) {
        bytes->at += mark;
        err = glimpse_two(reader, two);
        *header = !err && two[1].count > 0 && names_columns(reader, two);
        if (err || *header) return err;
        length -= mark;
    }
    bytes->at += length;
    bytes->line++;
    csv->comments++;
    return NY_OK;
}

/* Passes over the comments that the file begins with, up to one that is the header. */
static int read_comments(struct ny_reader *reader, char delimiter, struct glimpse two[2])
{
    struct ny_csv *csv = reader->state;
    int err = NY_OK;

    while (!err && !csv->commented && is_comment(reader)) {
        err = read_comment(reader, delimiter, two, &csv->commented);
        if (!err && !csv->commented) err = pass_empty(reader);
    }
    return err;
}

/* Moves past empty lines and comments; a short first line is then in the window. */
static int first_line(struct ny_reader *reader, char delimiter, struct glimpse two[2])
{
    struct ny_csv *csv = reader->state;
    int err;

    ny_dialect_set(&csv->dialect, delimiter ? delimiter : ',');
    err = pass_empty(reader);
    if (!err) err = read_comments(reader, delimiter, two);
    if (err || delimiter || csv->commented) return err;
    return guess_delimiter(reader, 0);
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

/* Decides what the sign before the fraction of a number is. */
static int choose_decimal(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;
    int err = NY_OK;

    csv->comma = reader->options.decimal == NY_DECIMAL_COMMA;
    if (reader->options.decimal == NY_DECIMAL_AUTO && csv->dialect.delimiter == ';')
        err = find_commas(reader, &csv->comma);
    csv->number = csv->comma && csv->dialect.delimiter != ',' ? ny_number_with_comma : ny_number;
    return err;
}

int ny_csv_open(struct ny_reader *reader, char delimiter)
{
    const struct ny_reader_options *options = &reader->options;
    struct ny_csv *csv = ny_calloc(reader->ctx, NY_MEM_IO, 1, sizeof(*csv));
    struct glimpse two[2] = {0};
    bool header;
    int err;

    if (!csv) return NY_EBUDGET;
    reader->state = csv;
    reader->table.dtype = options->dtype ? options->dtype : NY_F32;
    err = first_line(reader, delimiter, two);
    if (err) goto done;
    err = glimpse_two(reader, two);
    if (err) goto done;
    csv->columns = csv->header.count = two[0].count;
    header = options->header == NY_HEADER_YES || csv->commented ||
             (options->header == NY_HEADER_AUTO && looks_like_header(reader, two));
    if (!header && options->header == NY_HEADER_AUTO) err = names_like(reader, &two[0], &header);
    if (!err && header) err = keep_names(reader, &two[0]);
    if (!err) err = ny_csv_choose_columns(reader);
    if (!err && options->nan_drop) {
        csv->empty = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*csv->empty));
        if (!csv->empty) err = NY_EBUDGET;
    }
    if (!err) err = choose_decimal(reader); /* may move the window, and so ends what was glimpsed */
done:
    ny_free(reader->ctx, two[0].spans);
    ny_free(reader->ctx, two[1].spans);
    return err;
}

void ny_csv_close(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;

    ny_free(reader->ctx, csv->use);
    ny_free(reader->ctx, csv->place);
    ny_free(reader->ctx, csv->empty);
    ny_free(reader->ctx, csv->header.names);
    ny_free(reader->ctx, csv->name_text);
    ny_free(reader->ctx, csv);
}
