/*
 * The message about a field that is no number. Text comes in columns, such as a name or a date:
 * all columns that hold some in this record are told at once, with the option that leaves them
 * out, so that a user does not meet them one run after another.
 *
 * io/csv.c calls ny_csv_fail_word() with the record still at bytes->at, because the record is
 * scanned a second time for its other words.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"
#include "io/number.h"

enum { LIST_BYTES = 600 };

/* A list of columns on its way: "1-3,7". Ranges that no longer fit are left out. */
struct list {
    char text[LIST_BYTES];
    size_t used, ranges;
    bool full;
};

/* Appends a text to the list, or marks the list as full. A full list takes nothing more, so that
 * it never ends inside a number. */
static void add(struct list *list, const char *text)
{
    size_t bytes = strlen(text);

    list->full |= list->used + bytes >= LIST_BYTES;
    if (list->full) return;
    memcpy(list->text + list->used, text, bytes + 1);
    list->used += bytes;
}

/* Columns first … last, counted from 1 in the text; `names` adds theirs: "4-6 ('a' … 'c')". */
static void add_range(struct list *list, const struct ny_header_names *names, size_t first,
                      size_t last, const char *separator)
{
    char numbers[48], named[128] = "";

    snprintf(numbers, sizeof(numbers), first == last ? "%s%zu" : "%s%zu-%zu",
             list->ranges++ ? separator : "", first + 1, last + 1);
    if (names && names->names) {
        const char *a = names->names[first], *b = names->names[last];

        snprintf(named, sizeof(named), first == last ? " ('%s')" : " ('%s' … '%s')",
                 ny_shown(a, strlen(a)).text, ny_shown(b, strlen(b)).text);
    }
    add(list, numbers);
    add(list, named);
}

/* Lists the columns of points that hold words (`wanted`), or those that hold none: to be typed,
 * "1-3,7", or where the separator has a blank to be read, with their names. */
static void list_columns(struct list *list, const struct ny_csv *csv, const bool *words,
                         bool wanted, const char *separator)
{
    const struct ny_header_names *names = strchr(separator, ' ') ? &csv->header : NULL;

    for (size_t i = 0, end; i < csv->columns; i = end) {
        end = i + 1;
        if (csv->use[i] != NY_CSV_VALUE || words[i] != wanted) continue;
        while (end < csv->columns && csv->use[end] == NY_CSV_VALUE && words[end] == wanted)
            end++;
        add_range(list, names, i, end - 1, separator);
    }
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

/* Counts the columns that hold words. The window grows until all of the record is in it. */
static size_t find_words(const struct ny_reader *reader, bool *words)
{
    const struct ny_csv *csv = reader->state;
    size_t count = 0;

    while (mark_words(reader, words) == NY_FIELD_CUT && !ny_bytes_more(reader->bytes))
        continue;
    for (size_t i = 0; i < csv->columns; i++)
        count += words[i];
    return count;
}

/* Writes "--drop-columns 4-6": those in `words`, behind those that are left out already; of
 * --columns, where it was given, "--columns 1-3,7": the columns of points without those in `words`.
 * Writes nothing where no column of points is left, or where the list is too long to be typed. */
static void write_option(const struct ny_reader *reader, const bool *words, char *text, size_t size)
{
    const struct ny_reader_options *options = &reader->options;
    struct list kept = {.used = 0}, dropped = {.used = 0};

    list_columns(&kept, reader->state, words, false, ",");
    text[0] = '\0';
    if (!kept.ranges) return;
    if (options->columns) {
        if (!kept.full) snprintf(text, size, "--columns %s", kept.text);
        return;
    }
    if (options->drop_columns) add(&dropped, options->drop_columns);
    if (options->drop_columns) add(&dropped, ",");
    list_columns(&dropped, reader->state, words, true, ",");
    if (!dropped.full) snprintf(text, size, "--drop-columns %s", dropped.text);
}

/* Reports several columns at once. */
static void fail_columns(struct ny_reader *reader, const bool *words, uint64_t line,
                         const char *without)
{
    const struct ny_csv *csv = reader->state;
    struct list told = {.used = 0};

    list_columns(&told, csv, words, true, ", ");
    ny_fail_at(
        reader->ctx, NY_EDATA, reader->path, line,
        "%s, line %llu: the columns %s%s hold text and not numbers; %s%s%s", reader->path,
        (unsigned long long)line, told.text, told.full ? ", …" : "",
        without[0] ? "leave them out with " : "no column of numbers is left", without,
        without[0] && !reader->options.label_column
            ? ", and give --label-column N if one of them is the label, --id-column N if one "
              "names the rows"
            : "");
}

void ny_csv_fail_word(struct ny_reader *reader, uint64_t line, size_t column,
                      const struct ny_field *field)
{
    struct ny_csv *csv = reader->state;
    const char *name = csv->header.names ? csv->header.names[column] : NULL;
    bool *words = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*words));
    struct ny_shown shown = ny_shown(name ? name : "", name ? strlen(name) : 0);
    struct ny_shown value = ny_shown(field->text, field->length); /* the window may move */
    char without[LIST_BYTES + 24], as_label[160] = "";
    size_t count;

    if (!words) return;
    if (!reader->options.label_column)
        snprintf(as_label, sizeof(as_label),
                 "; give --label-column %zu if this column is the label%s", column + 1,
                 reader->options.id_column ? "" : ", --id-column if it names the rows");
    count = find_words(reader, words);
    words[column] = true;
    write_option(reader, words, without, sizeof(without));
    if (count > 1) {
        fail_columns(reader, words, line, without);
    } else {
        ny_fail_at(reader->ctx, NY_EDATA, reader->path, line,
                   "%s, line %llu, column %zu%s%s%s: '%s' is not a number%s%s%s%s", reader->path,
                   (unsigned long long)line, column + 1, name ? " ('" : "", shown.text,
                   name ? "')" : "", value.text, as_label,
                   !without[0]   ? ""
                   : as_label[0] ? ", or "
                                 : "; ",
                   without[0] ? "leave the column out: " : "", without);
    }
    ny_free(reader->ctx, words);
}
