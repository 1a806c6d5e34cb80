/* Notes about a text file: which parts were read as header, labels and columns, and likely slips
 * that are no errors. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/csv.h"
#include "io/number.h"

/* ---- a column of labels among the points --------------------------------------------------- */

/* Names that people give to the classes of rows. */
static bool names_classes(const char *name)
{
    static const char *const names[] = {"label",   "labels",    "class",    "classes", "target",
                                        "y",       "cluster",   "category", "group",   "species",
                                        "outcome", "cell_type", "celltype", "digit",   "diagnosis"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(name, names[i]) == 0) return true;
    return false;
}

/* Tells whether a column is called "x": a "y" beside it is a coordinate and names no classes. */
static bool has_x(const struct ny_header_names *header)
{
    for (size_t i = 0; i < header->count; i++)
        if (strcasecmp(header->names[i], "x") == 0) return true;
    return false;
}

/* Names that columns of the numbers of rows have: none where pandas or R has written its index. */
static bool numbers_rows(const char *name)
{
    static const char *const names[] = {"", "unnamed: 0", "index", "id"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(name, names[i]) == 0) return true;
    return false;
}

/* Watches the first column, unless the columns are those that a store has. */
static void watch_numbers(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;

    if (!csv->header.names || !reader->options.notes || reader->options.like ||
        reader->table.d < 2 || csv->use[0] != NY_CSV_VALUE)
        return;
    csv->numbers.is = numbers_rows(csv->header.names[0]);
    csv->numbers.place = csv->place ? csv->place[0] : 0;
}

void ny_csv_suspect_begin(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;
    size_t place = 0;

    watch_numbers(reader);
    if (!csv->header.names || reader->table.labels || reader->options.labels_file ||
        !reader->options.notes || reader->table.d < 2)
        return;
    for (size_t i = 0; i < csv->columns; i++) {
        const char *name = csv->header.names[i];

        if (csv->use[i] != NY_CSV_VALUE) continue;
        if (names_classes(name) && (strcasecmp(name, "y") != 0 || !has_x(&csv->header))) {
            csv->suspect = (struct ny_csv_suspect){
                .is = true, .column = i, .place = csv->place ? csv->place[i] : place};
            return;
        }
        place++;
    }
}

static double value_at(const struct ny_reader *reader, const void *row, size_t place)
{
    enum ny_dtype dtype = reader->table.dtype;
    double value;

    ny_dtype_to_f64(dtype, (const char *)row + place * ny_dtype_size(dtype), &value, 1);
    return value;
}

void ny_csv_suspect_row(struct ny_reader *reader, const void *row)
{
    struct ny_csv *csv = reader->state;
    struct ny_csv_suspect *suspect = &csv->suspect;
    double value;

    if (csv->numbers.is) {
        value = value_at(reader, row, csv->numbers.place);
        csv->numbers.is = value == floor(value);
    }
    if (!suspect->is) return;
    value = value_at(reader, row, suspect->place);
    for (size_t i = 0; i < suspect->count; i++)
        if (suspect->values[i] == value) return;
    suspect->is = value == floor(value) && suspect->count < NY_SUSPECT_MAX;
    if (suspect->is) suspect->values[suspect->count++] = value;
}

/* Asks whether a column named like a label is one. It has held few whole numbers, at least two,
 * and on average each of them in two rows or more. */
static void tell_suspect(const struct ny_reader *reader)
{
    const struct ny_csv *csv = reader->state;
    const struct ny_csv_suspect *suspect = &csv->suspect;
    const char *name;

    if (!suspect->is || suspect->count < 2 || reader->consumed < 2 * suspect->count) return;
    name = csv->header.names[suspect->column];
    ny_log(reader->ctx, NY_LOG_NOTE,
           "%s: column '%s' holds %zu whole numbers; --label-column %s if it names classes",
           reader->path, ny_shown(name, strlen(name)).text, suspect->count,
           ny_shown(name, strlen(name)).text);
}

/* Says how a first column that numbers the rows is kept out of the points. */
static void tell_numbers(const struct ny_reader *reader)
{
    const struct ny_csv *csv = reader->state;
    const char *name;
    struct ny_column_word word;

    if (!csv->numbers.is || reader->consumed < 2) return;
    name = csv->header.names[0];
    word = ny_csv_column_word(csv, 0);
    ny_log(
        reader->ctx, NY_LOG_NOTE,
        "%s: column 1 ('%s') holds whole numbers and counts as a column of points; if it numbers "
        "the rows, --drop-columns %s leaves it out, and --id-column %s takes it as their names",
        reader->path, ny_shown(name, strlen(name)).text, word.text, word.text);
}

void ny_csv_tell_slips(const struct ny_reader *reader)
{
    const struct ny_csv *csv = reader->state;

    if (!reader->options.notes) return;
    if (csv->comments)
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: %llu line%s at its start, which begin%s with '#', %s passed over", reader->path,
               (unsigned long long)csv->comments, csv->comments == 1 ? "" : "s",
               csv->comments == 1 ? "s" : "", csv->comments == 1 ? "is" : "are");
    if (csv->counts)
        ny_log(reader->ctx, NY_LOG_WARNING,
               "%s: the first line counts from column to column, like a header of numbers, but was "
               "read as a row; --header yes if it is a header, --header no if not",
               reader->path);
    tell_suspect(reader);
    tell_numbers(reader);
}

/* ---- what was read as what ----------------------------------------------------------------- */

/* Writes the columns of points as "1-3,7", and ", …" for those behind the sixth range. */
static void list_used(const struct ny_csv *csv, char *text, size_t size)
{
    size_t used = 0, ranges = 0;

    text[0] = '\0';
    for (size_t i = 0, end; i < csv->columns && used < size; i = end) {
        end = i + 1;
        if (csv->use[i] != NY_CSV_VALUE) continue;
        while (end < csv->columns && csv->use[end] == NY_CSV_VALUE)
            end++;
        if (ranges == 6) {
            snprintf(text + used, size - used, ", …");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, end - i > 1 ? "%s%zu-%zu" : "%s%zu",
                                 ranges++ ? "," : "", i + 1, end);
    }
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
    char columns[200], header[48] = "no header", label[80], names[80];

    list_used(csv, columns, sizeof(columns));
    if (csv->header.names)
        snprintf(header, sizeof(header), "header: %zu name%s", csv->columns,
                 csv->columns == 1 ? "" : "s");
    tell_use(csv, NY_CSV_LABEL, label, sizeof(label));
    tell_use(csv, NY_CSV_NAME, names, sizeof(names));
    snprintf(text, size, "%s; column%s %s%s%s%s", header, reader->table.d == 1 ? "" : "s", columns,
             csv->place ? ", in another order" : "", label, names);
}
