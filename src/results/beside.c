/*
 * Tables with a header, and with names and labels before their numbers (results/beside.h).
 *
 * Names, labels and numbers are read by 1,024 rows and written row by row, so that memory does not
 * depend on how many there are. A header names each column: "id", "label", then the part, without
 * the s of its plural and with a number where it has several columns, as in embedding_1; points
 * have the names of their columns.
 */
#include "results/beside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/output.h"
#include "results/names.h"
#include "results/shards.h"

enum { PIECE_ROWS = 1024 };

/* One export. */
struct beside {
    struct ny_result *result;
    const struct ny_result_part *part, *labels; /* labels NULL: not wanted */
    struct ny_names_part ids;
    struct ny_names columns; /* of points, for the header */
    bool with_ids, header;
    char delimiter;
    char **classes; /* words of labels; class_count 0: they are numbers */
    size_t class_count, row_bytes;
    struct ny_writer *writer;
};

int ny_beside_parse(struct ny_beside *beside, struct ny_context *ctx, const char *list,
                    const char *output)
{
    *beside = (struct ny_beside){0};
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");

        if (length == 3 && strncmp(at, "ids", 3) == 0)
            beside->ids = true;
        else if (length == 6 && strncmp(at, "labels", 6) == 0)
            beside->labels = true;
        else if (length == 6 && strncmp(at, "header", 6) == 0)
            beside->header = true;
        else
            return ny_fail(ctx, NY_EUSAGE,
                           "--with is header, ids, labels or several of them, such as "
                           "header,ids, not '%s'",
                           list);
        at += length;
        if (!*at) break;
    }
    if (ny_output_text(output).delimiter) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--with writes words beside numbers, which %s cannot hold; give an output that "
                   "ends in .csv, .csv.gz or .tsv",
                   output);
}

/* Writes a word and what ends it, the delimiter or a line's end; with quotes where the word needs
 * them. */
static int put_field(const struct beside *beside, const char *word, char behind)
{
    const char special[] = {'"', '\r', '\n', beside->delimiter, '\0'};
    const char end[] = {'"', behind, '\0'};
    bool quoted = strpbrk(word, special) != NULL;
    int err = quoted ? ny_writer_text(beside->writer, "\"", 1) : NY_OK;

    for (const char *at = word; !err && *at;) {
        size_t plain = quoted ? strcspn(at, "\"") : strlen(at);

        err = ny_writer_text(beside->writer, at, plain);
        at += plain;
        if (err || !*at) break;
        err = ny_writer_text(beside->writer, "\"\"", 2);
        at++;
    }
    return err ? err : ny_writer_text(beside->writer, end + !quoted, quoted ? 2 : 1);
}

static int put_word(const struct beside *beside, const char *word)
{
    return put_field(beside, word, beside->delimiter);
}

/* Writes the line with the name of each column. */
static int put_header(const struct beside *beside, size_t cols)
{
    const char *part = beside->part->name, *name = beside->columns.text;
    int length = (int)strlen(part), err = NY_OK;
    char word[48];

    if (beside->with_ids) err = put_word(beside, "id");
    if (!err && beside->labels) err = put_word(beside, "label");
    if (part[length - 1] == 's') length--;
    snprintf(word, sizeof(word), "%.*s", length, part);
    for (size_t k = 0; !err && k < (cols ? cols : 1); k++) {
        if (cols) snprintf(word, sizeof(word), "%.*s_%zu", length, part, k + 1);
        err = put_field(beside, name ? name : word, k + 1 < cols ? beside->delimiter : '\n');
        if (name) name += strlen(name) + 1;
    }
    return err;
}

/* Writes a label: its word, its number, or nothing where it is missing. */
static int put_label(const struct beside *beside, double label)
{
    char number[40] = "";

    if (!isnan(label) && label >= 0 && label < (double)beside->class_count)
        return put_word(beside, beside->classes[(size_t)label]);
    if (!isnan(label)) snprintf(number, sizeof(number), "%.17g", label);
    return put_word(beside, number);
}

/* Writes rows that were read. */
static int put_rows(const struct beside *beside, size_t count, const struct ny_names *names,
                    const double *labels, const char *values)
{
    const char *name = names->text;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++) {
        if (beside->with_ids) {
            err = put_word(beside, name);
            name += strlen(name) + 1;
        }
        if (!err && beside->labels) err = put_label(beside, labels[i]);
        if (!err) err = ny_writer_rows(beside->writer, values + i * beside->row_bytes, 1);
    }
    return err;
}

/* Reads and writes all rows. */
static int put_all(const struct beside *beside)
{
    struct ny_context *ctx = beside->result->ctx;
    uint64_t rows = beside->part->count(beside->result);
    double *labels = ny_calloc(ctx, NY_MEM_IO, PIECE_ROWS, sizeof(*labels));
    char *values = ny_calloc(ctx, NY_MEM_IO, PIECE_ROWS, beside->row_bytes);
    struct ny_names names = {0};
    int err = labels && values ? NY_OK : NY_EBUDGET;

    for (uint64_t first = 0; !err && first < rows; first += PIECE_ROWS) {
        size_t count = rows - first < PIECE_ROWS ? (size_t)(rows - first) : PIECE_ROWS;

        ny_names_clear(&names);
        err = ny_check_interrupt(ctx);
        if (!err) err = ny_part_fill(beside->result, beside->part, first, count, values);
        if (!err && beside->labels)
            err = ny_part_fill(beside->result, beside->labels, first, count, labels);
        if (!err && beside->with_ids) err = ny_names_part_read(&beside->ids, first, count, &names);
        if (!err) err = put_rows(beside, count, &names, labels, values);
    }
    ny_names_release(&names, ctx);
    ny_free(ctx, labels);
    ny_free(ctx, values);
    return err;
}

/* Reads the names of the columns of points, if they have any. */
static int read_columns(struct beside *beside)
{
    struct ny_store *store = beside->result->store;
    struct ny_names_part names;
    struct ny_points_info info;
    int err = ny_points_info(store, &info);

    if (err || !info.column_names) return err;
    err = ny_names_part_find(&names, store, NULL, "columns");
    return err ? err : ny_names_part_read(&names, 0, (size_t)names.count, &beside->columns);
}

/* Finds what is to stand before the numbers, and above them. */
static int find(struct beside *beside, const struct ny_beside *wanted, const char *name)
{
    struct ny_result *result = beside->result;
    int err = NY_OK;

    beside->with_ids = wanted->ids;
    beside->header = wanted->header;
    if (beside->header && ny_one_of(beside->part->name, "points|raw-points|landmark-points"))
        err = read_columns(beside);
    if (err) return err;
    if (wanted->ids)
        err = ny_names_part_find(&beside->ids, result->store, name ? result : NULL, "ids");
    if (err || !wanted->labels) return err;
    beside->labels = ny_part_find("labels");
    if (!beside->labels->count(result))
        return ny_fail(result->ctx, NY_EUSAGE, "the points of %s have no labels",
                       ny_store_path(result->store));
    return ny_points_class_names(result->store, &beside->classes, &beside->class_count);
}

/* Writes the table of a result that is open. */
static int write_table(struct beside *beside, const char *output)
{
    static const size_t sizes[] = {[NY_OUT_F32] = sizeof(float),
                                   [NY_OUT_F64] = sizeof(double),
                                   [NY_OUT_U64] = sizeof(uint64_t)};
    struct ny_result *result = beside->result;
    const struct ny_result_part *part = beside->part;
    enum ny_element element = ny_result_element(result, part);
    size_t cols = part->columns ? part->columns(result) : 0;
    int err = ny_result_prepare(result, part, PIECE_ROWS);

    if (err) return err;
    beside->row_bytes = (cols ? cols : 1) * sizes[element];
    beside->delimiter = ny_output_text(output).delimiter;
    err = ny_writer_open(&beside->writer, result->ctx, output, element, part->count(result), cols);
    if (err) return err;
    if (beside->header) err = put_header(beside, cols);
    if (!err) err = put_all(beside);
    if (!err) return ny_writer_commit(beside->writer);
    ny_writer_abort(beside->writer);
    return err;
}

int ny_part_export_beside(struct ny_store *store, const char *name, const char *part,
                          const char *output, const struct ny_beside *wanted)
{
    struct ny_result result;
    struct beside beside = {.result = &result, .part = ny_part_find(part)};
    bool of_points = !name && ny_one_of(part, "points|raw-points");
    bool words = wanted->ids || wanted->labels;
    int err = name ? ny_result_open_any(&result, store, name) : ny_result_of_points(&result, store);

    if (!err && !(beside.part && (beside.part->by_row || of_points || !words)))
        err = ny_fail(result.ctx, NY_EUSAGE,
                      "--with %s acts with %s, such as embedding and clusters, and not with "
                      "--part %s",
                      words ? "ids or labels" : "header",
                      words ? "parts that have a line for each row" : "tables of numbers", part);
    if (!err) err = find(&beside, wanted, name);
    if (!err) err = write_table(&beside, output);
    ny_names_release(&beside.columns, ny_store_context(store));
    ny_free(ny_store_context(store), beside.classes);
    ny_result_close_any(&result);
    return err;
}
