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

/* Tells whether a name can be typed after an option as it stands: no shell changes it, and neither
 * a list of columns nor a number is read in it. */
static bool is_plain(const char *name)
{
    uint64_t number;

    return name[0] && strlen(name) <= NY_COLUMN_WORD / 2 &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] ==
               '\0' &&
           !ny_number_whole(name, strlen(name), &number);
}

struct ny_column_word ny_csv_column_word(const struct ny_csv *csv, size_t column)
{
    struct ny_column_word word;
    bool named = csv->header.names && is_plain(csv->header.names[column]);

    for (size_t i = 0; named && i < column; i++)
        named = strcmp(csv->header.names[i], csv->header.names[column]) != 0;
    if (named)
        snprintf(word.text, sizeof(word.text), "%s", csv->header.names[column]);
    else
        snprintf(word.text, sizeof(word.text), "%zu", column + 1);
    return word;
}

/* Returns the only column in `words`, or the number of columns where there are several. */
static size_t only_column(const struct ny_csv *csv, const bool *words)
{
    size_t only = csv->columns;

    for (size_t i = 0; i < csv->columns; i++) {
        if (!words[i]) continue;
        if (only < csv->columns) return csv->columns;
        only = i;
    }
    return only;
}

/* Writes "--drop-columns 4-6": those in `words`, behind those that are left out already, and a
 * single one by its name. Where --columns was given, writes "--columns 1-3,7": the columns of
 * points without those in `words`. Writes nothing where no column of points is left, or where the
 * list is too long to be typed. */
static void write_option(const struct ny_reader *reader, const bool *words, char *text, size_t size)
{
    const struct ny_reader_options *options = &reader->options;
    const struct ny_csv *csv = reader->state;
    struct list kept = {.used = 0}, dropped = {.used = 0};
    size_t only = only_column(csv, words);

    list_columns(&kept, csv, words, false, ",");
    text[0] = '\0';
    if (!kept.ranges) return;
    if (options->columns) {
        if (!kept.full) snprintf(text, size, "--columns %s", kept.text);
        return;
    }
    if (options->drop_columns) add(&dropped, options->drop_columns);
    if (options->drop_columns) add(&dropped, ",");
    if (only < csv->columns)
        add(&dropped, ny_csv_column_word(csv, only).text);
    else
        list_columns(&dropped, csv, words, true, ",");
    if (!dropped.full) snprintf(text, size, "--drop-columns %s", dropped.text);
}

/* Reports several columns at once. */
static void fail_columns(struct ny_reader *reader, const bool *words, uint64_t line,
                         const char *without)
{
    const struct ny_csv *csv = reader->state;
    bool label = !reader->options.label_column, id = !reader->options.id_column;
    struct list told = {.used = 0};

    list_columns(&told, csv, words, true, ", ");
    ny_fail_at(reader->ctx, NY_EDATA, reader->path, line,
               "%s, line %llu: the columns %s%s hold text and not numbers; %s%s%s%s%s%s",
               reader->path, (unsigned long long)line, told.text, told.full ? ", …" : "",
               without[0] ? "leave them out with " : "no column of numbers is left", without,
               without[0] && (label || id) ? ", and give " : "",
               without[0] && label ? "--label-column N if one of them is the label" : "",
               without[0] && label && id ? ", " : "",
               without[0] && id ? "--id-column N if one names the rows" : "");
}

/* Writes which uses of a column of text are open: "; give --id-column patient if this column names
 * the rows". Writes nothing where both options were given for other columns. */
static void write_uses(const struct ny_reader *reader, size_t column, char *text, size_t size)
{
    const struct ny_column_word word = ny_csv_column_word(reader->state, column);
    bool label = !reader->options.label_column, id = !reader->options.id_column;
    char as_id[NY_COLUMN_WORD + 64] = "";

    text[0] = '\0';
    if (id)
        snprintf(as_id, sizeof(as_id), "--id-column %s if %s names the rows", word.text,
                 label ? "it" : "this column");
    if (label)
        snprintf(text, size, "; give --label-column %s if this column is the label%s%s", word.text,
                 id ? ", " : "", as_id);
    else if (id)
        snprintf(text, size, "; give %s", as_id);
}

void ny_csv_fail_word(struct ny_reader *reader, uint64_t line, size_t column,
                      const struct ny_field *field)
{
    struct ny_csv *csv = reader->state;
    const char *name = csv->header.names ? csv->header.names[column] : NULL;
    bool *words = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*words));
    struct ny_shown shown = ny_shown(name ? name : "", name ? strlen(name) : 0);
    struct ny_shown value = ny_shown(field->text, field->length); /* the window may move */
    char without[LIST_BYTES + 24], uses[2 * NY_COLUMN_WORD + 160];
    size_t count;

    if (!words) return;
    write_uses(reader, column, uses, sizeof(uses));
    count = find_words(reader, words);
    words[column] = true;
    write_option(reader, words, without, sizeof(without));
    if (count > 1) {
        fail_columns(reader, words, line, without);
    } else {
        ny_fail_at(reader->ctx, NY_EDATA, reader->path, line,
                   "%s, line %llu, column %zu%s%s%s: '%s' is not a number%s%s%s%s", reader->path,
                   (unsigned long long)line, column + 1, name ? " ('" : "", shown.text,
                   name ? "')" : "", value.text, uses,
                   !without[0] ? ""
                   : uses[0]   ? ", or "
                               : "; ",
                   without[0] ? "leave the column out: " : "", without);
    }
    ny_free(reader->ctx, words);
}

void ny_csv_blame(const struct ny_reader *reader, char *text, size_t size)
{
    const struct ny_csv *csv = reader->state;
    bool *empty = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*empty));
    struct list told = {.used = 0};
    char without[LIST_BYTES + 24];
    size_t count = 0;

    text[0] = '\0';
    if (!empty) return;
    for (size_t i = 0; i < csv->columns; i++) {
        empty[i] = csv->use[i] == NY_CSV_VALUE && csv->empty[i] == reader->consumed;
        count += empty[i];
    }
    list_columns(&told, csv, empty, true, ", ");
    write_option(reader, empty, without, sizeof(without));
    if (count)
        snprintf(text, size, "; column%s %s%s %s no number in any row%s%s", count == 1 ? "" : "s",
                 told.text, told.full ? ", …" : "", count == 1 ? "holds" : "hold",
                 !without[0]  ? ""
                 : count == 1 ? ": leave it out with "
                              : ": leave them out with ",
                 without);
    ny_free(reader->ctx, empty);
}
