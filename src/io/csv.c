/*
 * The rows of delimited text: csv and tsv differ only in how the delimiter is found.
 * io/csv_header.c opens the file and chooses the columns; this file parses one record after
 * another into the rows of a batch.
 *
 * A record that the window cuts is parsed again from its start once there is more of it, so that
 * the loop over fields never looks for the end of the window. Nothing of a record is committed
 * before all of it was there: position, line number and label travel in a struct record.
 */
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/number.h"
#include "io/refuse.h"

/* Returns MAYBE for every text: csv is the last format of the table, so that the others may claim
 * a text first. A NUL or another control byte among the first 4,096 says that it is none. */
static enum ny_guess probe(const char *head, size_t length)
{
    for (size_t i = 0; i < length && i < NY_PROBE_BYTES; i++)
        if ((unsigned char)head[i] < 0x20 && !strchr("\t\r\n", head[i] ? head[i] : 1))
            return NY_GUESS_NO;
    return length > 0 ? NY_GUESS_MAYBE : NY_GUESS_NO;
}

/* A field that is kept as it stands in the window until the record is complete. */
struct kept {
    struct ny_field field; /* text NULL: the record has none */
    uint64_t line;
};

/* A record on its way: what is committed only when all of it was there. */
struct record {
    const char *at;
    uint64_t line; /* of `at` */
    bool missing;  /* a value is NaN or Inf: the row is to be dropped */
    struct kept label, name;
};

/* The outcome of a step of the parser. After CUT, next_record() gets more bytes and begins the
 * record again; after FAILED, the context holds the error. */
enum outcome { ROW, CUT, LAST, FAILED }; /* LAST: no record is left */

/* Fails because of one field. Always returns FAILED. */
static enum outcome wrong_field(struct ny_reader *reader, const struct record *record,
                                size_t column, const struct ny_field *field, const char *what)
{
    ny_csv_refuse_field(reader, record->line, column, field, what);
    return FAILED;
}

/* Reads one field from record->at and moves past it. A field that is malformed, such as one with
 * an open quote, becomes a message with line and column. */
static enum outcome scan(struct ny_reader *reader, struct record *record, size_t column,
                         struct ny_field *field)
{
    struct ny_csv *csv = reader->state;
    const struct ny_bytes *bytes = reader->bytes;

    switch (ny_field_scan(&csv->dialect, &record->at, bytes->end, bytes->ended, field)) {
    case NY_FIELD:
        return ROW;
    case NY_FIELD_CUT:
        return CUT;
    case NY_FIELD_BAD:
        break;
    }
    return wrong_field(reader, record, column, field, field->wrong);
}

/* Passes over a field of a column that has no use. Line ends in it, which quotes allow, still count
 * among the lines. */
static enum outcome ignored(struct ny_reader *reader, struct record *record, size_t column)
{
    struct ny_field field;
    enum outcome outcome = scan(reader, record, column, &field);

    if (outcome == ROW) record->line += field.newlines;
    return outcome;
}

/* Fails because a record has too few or too many fields. */
static enum outcome ragged(struct ny_reader *reader, const struct record *record)
{
    ny_refuse_line(reader->ctx, reader->path, record->line,
                   "it has another number of fields than the first line");
    return FAILED;
}

/* Handles an empty field, NaN or infinity. The rest of the record is parsed all the same where
 * such rows are dropped, because its end has to be found. */
static enum outcome missing_value(struct ny_reader *reader, struct record *record, size_t column,
                                  const struct ny_field *field)
{
    char what[128];

    record->missing = true;
    if (reader->nan != NY_NAN_ERROR) return ROW;
    snprintf(what, sizeof(what), "is not a finite number%s", ny_reader_nan_cure(reader));
    return wrong_field(reader, record, column, field, what);
}

/* Parses the number that a field begins with. Between commas only a field in quotes may have a
 * decimal one. */
static const char *number_in(const struct ny_csv *csv, const struct ny_field *field, double *value)
{
    return csv->comma && field->quoted ? ny_number_with_comma(field->text, value)
                                       : csv->number(field->text, value);
}

/* Parses a value that is not just digits up to the delimiter: blanks, quotes, NaN, words. */
static enum outcome careful_value(struct ny_reader *reader, struct record *record, size_t column,
                                  void *to)
{
    const struct ny_csv *csv = reader->state;
    struct ny_field field;
    enum outcome outcome = scan(reader, record, column, &field);
    enum ny_dtype dtype = reader->table.dtype;
    double value;

    if (outcome != ROW) return outcome;
    record->line += field.newlines;
    if (ny_number_missing(field.text, field.length, &value) ||
        ny_number_none(field.text, field.length))
        return missing_value(reader, record, column, &field);
    if (number_in(csv, &field, &value) != field.text + field.length)
        return wrong_field(reader, record, column, &field,
                           "is not a number; --drop-columns leaves out a column of text");
    if (!ny_text_store(dtype, to, csv->place[column], value))
        return wrong_field(reader, record, column, &field, ny_text_unfit(dtype));
    return ROW;
}

/* Keeps the field of the label, or of the name. Its class is looked up only once the record is
 * complete and kept: a row that is dropped must not add a class. */
static enum outcome keep(struct ny_reader *reader, struct record *record, size_t column,
                         struct kept *kept)
{
    enum outcome outcome = scan(reader, record, column, &kept->field);

    kept->line = record->line;
    if (outcome == ROW) record->line += kept->field.newlines;
    return outcome;
}

/* Moves to the next field where blanks separate fields. */
static enum outcome pass_blanks(struct record *record, const struct ny_bytes *bytes)
{
    while (*record->at == ' ' || *record->at == '\t')
        record->at++;
    return record->at == bytes->end && !bytes->ended ? CUT : ROW;
}

/* Parses one record from record->at into the row `to`. A plain number goes from ny_number()
 * straight into the row; a field with blanks, quotes or words takes the slower way of
 * careful_value(). */
static enum outcome parse(struct ny_reader *reader, struct record *record, void *to)
{
    struct ny_csv *csv = reader->state;
    const struct ny_bytes *bytes = reader->bytes;
    enum ny_dtype dtype = reader->table.dtype;
    size_t column = 0;
    enum outcome outcome;

    do {
        const char *after;
        double value;

        if (column == csv->columns) return ragged(reader, record);
        switch (csv->use[column]) {
        case NY_CSV_VALUE:
            after = csv->number(record->at, &value);
            if (after > record->at && csv->dialect.stop[(unsigned char)*after] &&
                ny_text_store(dtype, to, csv->place[column], value)) {
                record->at = after;
                outcome = csv->dialect.delimiter == ' ' ? pass_blanks(record, bytes) : ROW;
            } else {
                outcome = careful_value(reader, record, column, to);
            }
            break;
        case NY_CSV_LABEL:
            outcome = keep(reader, record, column, &record->label);
            break;
        case NY_CSV_NAME:
            outcome = keep(reader, record, column, &record->name);
            break;
        default:
            outcome = ignored(reader, record, column);
            break;
        }
        if (outcome != ROW) return outcome;
        column++;
    } while (ny_field_follows(&csv->dialect, &record->at));
    if (column != csv->columns) return ragged(reader, record);
    if (ny_line_end(&record->at, bytes->end, bytes->ended) == NY_FIELD_CUT) return CUT;
    record->line++;
    return ROW;
}

/* Parses the next record that is not an empty line, with as many tries as the window needs to hold
 * it. bytes->at stays before the record: the caller moves it. */
static enum outcome next_record(struct ny_reader *reader, struct record *record, void *to)
{
    struct ny_csv *csv = reader->state;
    struct ny_bytes *bytes = reader->bytes;

    for (;;) {
        enum ny_field_kind kind = ny_empty_lines(&csv->dialect, bytes);
        enum outcome outcome = CUT;

        if (kind == NY_FIELD_BAD) return LAST;
        *record = (struct record){.at = bytes->at, .line = bytes->line};
        if (kind == NY_FIELD) outcome = parse(reader, record, to);
        if (outcome != CUT) return outcome;
        if (ny_bytes_more(bytes)) return FAILED;
    }
}

/* Returns the text of a field without doubled quotes. The window has not moved since it was read;
 * the text is there until the next one is asked for. */
static const char *text_of(struct ny_csv *csv, const struct kept *kept, size_t *length)
{
    *length = kept->field.length;
    if (!kept->field.quoted || !memchr(kept->field.text, '"', *length)) return kept->field.text;
    *length = ny_field_copy(&kept->field, csv->unquoted);
    return csv->unquoted;
}

/* Takes the label of a record that is kept. One that is a number may have a decimal comma. */
static int take_label(struct ny_reader *reader, const struct kept *label, double *value)
{
    struct ny_csv *csv = reader->state;
    size_t length;
    const char *text = text_of(csv, label, &length), *comma;

    comma = csv->comma ? memchr(text, ',', length) : NULL;
    if (comma && number_in(csv, &label->field, value) == text + length) {
        memmove(csv->unquoted, text, length);
        csv->unquoted[comma - text] = '.';
        csv->unquoted[length] = '\0';
        text = csv->unquoted;
    }
    return ny_classes_label(reader->classes, reader->path, label->line, text, length, value);
}

/* Takes the name of a record that is kept. An empty one says that there is none. */
static int take_name(struct ny_reader *reader, const struct kept *name, struct ny_names *to)
{
    size_t length;
    const char *text = text_of(reader->state, name, &length);
    const char *wrong = ny_name_wrong(text, length);

    if (!wrong) return ny_names_add(to, reader->ctx, text, length);
    return ny_refuse_name(reader->ctx, reader->path, name->line, wrong);
}

/* Adds a complete record, whose values stand behind the last row of the batch. */
static int take_row(struct ny_reader *reader, const struct record *record,
                    struct ny_row_batch *batch)
{
    double value;
    int err = NY_OK;

    if (record->label.field.text) {
        err = take_label(reader, &record->label, &value);
        if (!err && batch->labels) batch->labels[batch->count] = value;
    }
    if (!err && record->name.field.text && batch->names)
        err = take_name(reader, &record->name, batch->names);
    if (err) return err;
    if (batch->source) batch->source[batch->count] = reader->consumed;
    batch->count++;
    return NY_OK;
}

/* Reads up to max_rows records into the batch. Rows with NaN are counted as dropped and leave no
 * gap, so that `count` may be less than the records read. */
static int next_csv(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    size_t row_bytes = (size_t)reader->table.d * ny_dtype_size(reader->table.dtype);

    for (size_t r = 0; r < max_rows; r++) {
        void *to = (char *)batch->values + batch->count * row_bytes;
        struct record now;

        switch (next_record(reader, &now, to)) {
        case ROW:
            break;
        case LAST:
            return r > 0 ? NY_OK : NY_END;
        default:
            return ny_context_error(reader->ctx)->status;
        }
        reader->bytes->at = now.at;
        reader->bytes->line = now.line;
        if (now.missing && reader->nan == NY_NAN_DROP) {
            ny_reader_drop(reader);
        } else {
            int err = take_row(reader, &now, batch);

            if (err) return err;
        }
        reader->consumed++;
    }
    return NY_OK;
}

static int open_csv(struct ny_reader *reader)
{
    return ny_csv_open(reader, '\0');
}

static int open_tsv(struct ny_reader *reader)
{
    return ny_csv_open(reader, '\t');
}

#define TEXT_FORMAT                                                                                \
    .next = next_csv, .takes_columns = true, .takes_label_column = true, .takes_id_column = true,  \
    .has_header = true, .has_lines = true

const struct ny_format ny_format_csv = {.probe = probe, .open = open_csv, TEXT_FORMAT};
const struct ny_format ny_format_tsv = {.open = open_tsv, TEXT_FORMAT};
