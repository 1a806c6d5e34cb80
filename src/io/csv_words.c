/*
 * Sentences about the columns of delimited text: what was read as what, and the message about a
 * field that is no number. Text comes in columns, such as a name or a date: the option in the
 * message leaves out all columns that hold some in this record, so that a user does not meet them
 * one run after another.
 *
 * io/csv.c calls ny_csv_fail_word() with the record still at bytes->at, because the record is
 * scanned a second time for its other words.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/number.h"

enum { LIST_BYTES = 600, RANGE_BYTES = 48 };

/* A list of columns, "1-3,7", which ends in ", …" where it is not complete. */
struct list {
    char text[LIST_BYTES];
    size_t ranges;
    bool full;
};

static bool is_listed(const struct ny_csv *csv, const bool *marks, bool marked, size_t column)
{
    return csv->use[column] == NY_CSV_VALUE && (marks && marks[column]) == marked;
}

/* Lists the columns of points that are marked, or those that are not (NULL: none is marked). */
static struct list list_columns(const struct ny_csv *csv, const bool *marks, bool marked,
                                size_t most)
{
    struct list list = {.ranges = 0};
    size_t used = 0;

    for (size_t i = 0, end; i < csv->columns && !list.full; i = end) {
        end = i + 1;
        if (!is_listed(csv, marks, marked, i)) continue;
        while (end < csv->columns && is_listed(csv, marks, marked, end))
            end++;
        list.full = list.ranges == most || used + RANGE_BYTES > LIST_BYTES;
        if (list.full)
            snprintf(list.text + used, LIST_BYTES - used, ", …");
        else
            used += (size_t)snprintf(list.text + used, LIST_BYTES - used,
                                     end - i > 1 ? "%s%zu-%zu" : "%s%zu", list.ranges++ ? "," : "",
                                     i + 1, end);
    }
    return list;
}

/* Tells whether a field is text. Missing values in any spelling and numbers with a comma are not:
 * leaving out their columns would be wrong advice. */
static bool is_word(const struct ny_field *field)
{
    double value;

    return field->length > 0 && ny_number(field->text, &value) != field->text + field->length &&
           !ny_number_missing(field->text, field->length, &value) &&
           !ny_number_none(field->text, field->length) &&
           !ny_number_comma(field->text, field->length);
}

/* Marks the columns whose fields are words in the record at bytes->at, up to the window's end. */
static enum ny_field_kind mark_words(const struct ny_reader *reader, bool *words)
{
    const struct ny_csv *csv = reader->state;
    const struct ny_bytes *bytes = reader->bytes;
    const char *at = bytes->at;
    size_t column = 0;

    do {
        struct ny_field field;
        enum ny_field_kind kind =
            ny_field_scan(&csv->dialect, &at, bytes->end, bytes->ended, &field);

        if (kind != NY_FIELD) return kind;
        words[column] = csv->use[column] == NY_CSV_VALUE && is_word(&field);
    } while (++column < csv->columns && ny_field_follows(&csv->dialect, &at));
    return NY_FIELD;
}

/* Writes "--drop-columns 4-6": those that are marked, behind those that are left out already. Where
 * --columns was given, writes "--columns 1-3,7", those that are not. Writes nothing where no column
 * of points is left, or where the list is too long to be typed. */
static void write_option(const struct ny_reader *reader, const bool *marks, char *text, size_t size)
{
    const struct ny_reader_options *options = &reader->options;
    bool keeps = options->columns, behind = !keeps && options->drop_columns;
    const struct list kept = list_columns(reader->state, marks, false, LIST_BYTES);
    const struct list told = list_columns(reader->state, marks, !keeps, LIST_BYTES);
    int length = snprintf(text, size, "%s%s%s%s", keeps ? "--columns " : "--drop-columns ",
                          behind ? options->drop_columns : "", behind ? "," : "", told.text);

    if (!kept.ranges || told.full || (size_t)length >= size) text[0] = '\0';
}

void ny_csv_fail_word(struct ny_reader *reader, uint64_t line, size_t column,
                      const struct ny_field *field)
{
    struct ny_csv *csv = reader->state;
    const char *name = csv->header.names ? csv->header.names[column] : NULL;
    bool *words = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*words));
    struct ny_shown shown = ny_shown(name ? name : "", name ? strlen(name) : 0);
    struct ny_shown value = ny_shown(field->text, field->length); /* the window may move */
    char without[LIST_BYTES + 24];

    if (!words) return;
    while (mark_words(reader, words) == NY_FIELD_CUT && !ny_bytes_more(reader->bytes))
        continue;
    words[column] = true;
    write_option(reader, words, without, sizeof(without));
    ny_fail_at(reader->ctx, NY_EDATA, reader->path, line,
               "%s, line %llu, column %zu%s%s%s: '%s' is not a number%s%s%s", reader->path,
               (unsigned long long)line, column + 1, name ? " ('" : "", shown.text,
               name ? "')" : "", value.text, without[0] ? "; " : "", without,
               without[0] ? " leaves out text, --label-column or --id-column takes a column of it"
                          : "");
    ny_free(reader->ctx, words);
}

void ny_csv_blame(const struct ny_reader *reader, char *text, size_t size)
{
    const struct ny_csv *csv = reader->state;
    bool *empty = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*empty));
    char without[LIST_BYTES + 24];
    bool any = false;

    text[0] = '\0';
    if (!empty) return;
    for (size_t i = 0; i < csv->columns; i++) {
        empty[i] = csv->use[i] == NY_CSV_VALUE && csv->empty[i] == reader->consumed;
        any |= empty[i];
    }
    write_option(reader, empty, without, sizeof(without));
    if (any && without[0])
        snprintf(text, size, "; %s leaves out what holds no number in any row", without);
    ny_free(reader->ctx, empty);
}

/* Writes "; labels: column 37 ('class')" for the column of a use; nothing where there is none. */
static void tell_use(const struct ny_csv *csv, enum ny_csv_use use, char *text, size_t size)
{
    const char *what = use == NY_CSV_LABEL ? "labels" : "names of rows";

    text[0] = '\0';
    for (size_t i = 0; i < csv->columns; i++) {
        const char *name = csv->header.names ? csv->header.names[i] : NULL;

        if (csv->use[i] != use) continue;
        snprintf(text, size, name ? "; %s: column %zu ('%s')" : "; %s: column %zu", what, i + 1,
                 name ? ny_shown(name, strlen(name)).text : "");
    }
}

void ny_csv_describe(const struct ny_reader *reader, char *text, size_t size)
{
    const struct ny_csv *csv = reader->state;
    const struct list columns = list_columns(csv, NULL, false, 6);
    char comments[80] = "", header[80] = "no header", label[80], names[80];

    if (csv->comments)
        snprintf(comments, sizeof(comments), "comments: %s; ",
                 ny_counted(csv->comments, "line", "lines").text);
    if (csv->header.names)
        snprintf(header, sizeof(header), "header: %s",
                 ny_counted(csv->columns, "name", "names").text);
    tell_use(csv, NY_CSV_LABEL, label, sizeof(label));
    tell_use(csv, NY_CSV_NAME, names, sizeof(names));
    snprintf(text, size, "%s%s; column%s %s%s%s%s", comments, header,
             reader->table.d == 1 ? "" : "s", columns.text, csv->place ? ", in another order" : "",
             label, names);
}
