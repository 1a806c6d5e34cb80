/*
 * Writes the parts that are tables (results/beside.h), as they are or with a header, and with
 * names, labels and clusters before their numbers.
 *
 * Rows are copied in pieces of at most 4 MiB, or a sixteenth of the budget, so that the size of a
 * table does not matter; those with words by 1,024 rows at most. Where damaged rows do not end the
 * export, a damaged piece is read again in the smallest units that are damaged together; those that
 * cannot be read are NaN (2⁶⁴ − 1 in columns of numbers), counted, and told in a warning. An export
 * of which no row can be read fails.
 *
 * A header names each column: "id",
 * "label", "cluster", then the part, without the s of its plural and with a number where it has
 * several columns, as in embedding_1; points have the names of their columns. The lines of axes are
 * those of the columns of the points, and so are the chosen ones, features: their names are
 * "column" in the header.
 */
#include "results/beside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compare.h"
#include "base/decimal.h"
#include "base/layout.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/output.h"
#include "results/behind.h"
#include "results/names.h"
#include "results/shards.h"

enum { PIECE_ROWS = 1024, PIECE_BYTES = 4 << 20 }; /* with words; of any rows */

/* One export. */
struct beside {
    struct ny_result *result;
    const struct ny_result_part *part, *labels, *clusters; /* these NULL: not wanted */
    enum ny_element element;
    size_t cols; /* 0: one item a row */
    struct ny_names_part ids;
    struct ny_names columns;           /* of points, for the header */
    uint64_t first, end;               /* the rows that are wanted */
    bool with_ids, of_columns, header; /* names are those of columns */
    char delimiter;
    char **classes; /* words of labels; class_count 0: they are numbers */
    size_t class_count, row_bytes, piece_rows;
    struct ny_writer *writer;
    uint64_t *missing; /* counts damaged rows; NULL: one ends the export */
    uint64_t spread;   /* rows of the file that the rows go to their places in; 0: none */
    uint64_t next;     /* the row of that file to write next */
    void *blank;       /* a row of NaN */
};

/* Room for some rows. */
struct piece {
    struct ny_names names;
    double *labels;
    uint64_t *clusters, *source;
    char *values;
};

/* Fills rows with NaN, or where elements are whole numbers with 2⁶⁴ − 1, which is -1 of I64. */
static void mark_missing(const struct beside *beside, void *out, size_t rows)
{
    size_t items = rows * (beside->cols ? beside->cols : 1);

    for (size_t i = 0; i < items; i++)
        switch (beside->element) {
        case NY_OUT_F32:
            ((float *)out)[i] = NAN;
            break;
        case NY_OUT_F64:
            ((double *)out)[i] = NAN;
            break;
        default:
            ((uint64_t *)out)[i] = UINT64_MAX;
        }
}

int ny_beside_parse(struct ny_beside *beside, struct ny_context *ctx, const char *list,
                    const char *output)
{
    bool samples = ny_output_text(output).samples;

    *beside = (struct ny_beside){.end = UINT64_MAX, .ids = samples, .header = samples};
    if (!list) return NY_OK;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");

        if (length == 3 && strncmp(at, "ids", 3) == 0)
            beside->ids = true;
        else if (length == 6 && strncmp(at, "labels", 6) == 0)
            beside->labels = true;
        else if (length == 8 && strncmp(at, "clusters", 8) == 0)
            beside->clusters = true;
        else if (length == 6 && strncmp(at, "header", 6) == 0)
            beside->header = true;
        else
            return ny_fail_value(ctx, "with", "header, ids, labels, clusters or several", list);
        at += length;
        if (!*at) break;
    }
    if (ny_output_text(output).delimiter) return NY_OK;
    return ny_fail_only(ctx, "with", "an output that ends in .csv, .csv.gz or .tsv");
}

/* Writes a word that is not the last one of its line. */
static int put_word(const struct beside *beside, const char *word)
{
    return ny_writer_field(beside->writer, word, beside->delimiter, beside->delimiter);
}

/* Writes the line with the name of each column. */
static int put_header(const struct beside *beside)
{
    size_t cols = beside->cols;
    const char *name = beside->columns.text;
    const char *part = beside->part->name;
    bool axes = strcmp(part, "axes") == 0;
    int length = (int)strlen(part), err = NY_OK;
    char word[48];

    if (beside->with_ids)
        err = beside->of_columns ? put_word(beside, "column")
                                 : ny_writer_name(beside->writer, NULL, beside->delimiter);
    if (!err && beside->labels) err = put_word(beside, "label");
    if (!err && beside->clusters) err = put_word(beside, "cluster");
    if (axes)
        part = "axis"; /* as long */
    else if (part[length - 1] == 's')
        length--;
    snprintf(word, sizeof(word), "%.*s", length, part);
    for (size_t k = 0; !err && k < (cols ? cols : 1); k++) {
        char behind = k + 1 < cols ? beside->delimiter : '\n';

        err = cols && !name
                  ? ny_writer_component(beside->writer, word, k + 1, beside->delimiter, behind)
                  : ny_writer_field(beside->writer, name ? name : word, beside->delimiter, behind);
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
    if (!isnan(label)) ny_decimal_print(number, sizeof(number), "%.17g", label);
    return put_word(beside, number);
}

/* Writes a cluster: its number, or nothing of a row that has none. */
static int put_cluster(const struct beside *beside, uint64_t cluster)
{
    char number[24] = "";

    if (cluster != UINT64_MAX)
        snprintf(number, sizeof(number), "%llu", (unsigned long long)cluster);
    return put_word(beside, number);
}

/* Writes rows that were read. */
static int put_rows(const struct beside *beside, size_t count, const struct piece *piece)
{
    const char *name = piece->names.text;
    int err = NY_OK;

    if (!beside->with_ids && !beside->labels && !beside->clusters)
        return ny_writer_rows(beside->writer, piece->values, count);
    for (size_t i = 0; !err && i < count; i++) {
        if (beside->with_ids) {
            err = beside->of_columns ? put_word(beside, name)
                                     : ny_writer_name(beside->writer, name, beside->delimiter);
            name += strlen(name) + 1;
        }
        if (!err && beside->labels) err = put_label(beside, piece->labels[i]);
        if (!err && beside->clusters) err = put_cluster(beside, piece->clusters[i]);
        if (!err) err = ny_writer_rows(beside->writer, piece->values + i * beside->row_bytes, 1);
    }
    return err;
}

/* Tells whether the names and labels of a part's lines are not those of the rows 0, 1, … but of the
 * numbers in it: chosen columns are all over, as are the rows of a graph's largest component. */
static bool is_numbered(const struct beside *beside)
{
    const char *part = beside->part->name;

    return strcmp(part, "features") == 0 ||
           (beside->result->only_graph && strcmp(part, "rows") == 0);
}

/* Adds the names of lines first … first + count − 1, whose values are read. */
static int read_names(const struct beside *beside, uint64_t first, size_t count,
                      struct piece *piece)
{
    const uint64_t *number = (const uint64_t *)piece->values;
    int err = NY_OK;

    if (!is_numbered(beside)) return ny_names_part_read(&beside->ids, first, count, &piece->names);
    for (size_t i = 0, run; !err && i < count; i += run) {
        run = ny_run_of_rows(number + i, count - i);
        err = ny_names_part_read(&beside->ids, number[i], run, &piece->names);
    }
    return err;
}

/* Reads their labels. */
static int read_labels(const struct beside *beside, uint64_t first, size_t count,
                       struct piece *piece)
{
    const uint64_t *number = (const uint64_t *)piece->values;
    int err = NY_OK;

    if (!is_numbered(beside))
        return ny_part_fill(beside->result, beside->labels, first, count, piece->labels);
    for (size_t i = 0, run; !err && i < count; i += run) {
        run = ny_run_of_rows(number + i, count - i);
        err = ny_part_fill(beside->result, beside->labels, number[i], run, piece->labels + i);
    }
    return err;
}

/* Reads the numbers of rows; those that cannot be read are marked where they are counted, as few as
 * are damaged together. */
static int read_values(const struct beside *beside, uint64_t first, size_t count, char *out)
{
    struct ny_result *result = beside->result;
    const struct ny_result_part *part = beside->part;
    int err = ny_part_fill(result, part, first, count, out);
    uint64_t last = first + count;

    if (err != NY_ESTORE || !beside->missing || !part->grain) return err;
    ny_error_clear(result->ctx);
    for (uint64_t end; first < last; first = end) {
        end = ny_part_grain_end(result, part, first);
        if (end > last) end = last;
        err = ny_part_fill(result, part, first, (size_t)(end - first), out);
        if (err && err != NY_ESTORE) return err;
        if (err) {
            ny_error_clear(result->ctx);
            mark_missing(beside, out, (size_t)(end - first));
            *beside->missing += end - first;
        }
        out += (end - first) * beside->row_bytes;
    }
    return NY_OK;
}

/* Reads rows first … first + count − 1. */
static int read_rows(const struct beside *beside, uint64_t first, size_t count, struct piece *piece)
{
    struct ny_result *result = beside->result;
    int err = read_values(beside, first, count, piece->values);

    ny_names_clear(&piece->names);
    if (!err && beside->labels) err = read_labels(beside, first, count, piece);
    if (!err && beside->clusters)
        err = ny_part_fill(result, beside->clusters, first, count, piece->clusters);
    if (!err && beside->with_ids) err = read_names(beside, first, count, piece);
    if (!err && beside->spread)
        err = ny_result_rows_source(&result->rows, first, count, piece->source);
    return err;
}

/* Writes rows of NaN up to row `end` of the file that was imported. */
static int put_blanks(struct beside *beside, uint64_t end)
{
    int err = NY_OK;

    for (; !err && beside->next < end; beside->next++)
        err = ny_writer_rows(beside->writer, beside->blank, 1);
    return err;
}

/* Writes each row at its place in that file, and blanks between them. */
static int put_spread(struct beside *beside, size_t count, const struct piece *piece)
{
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++) {
        err = put_blanks(beside, piece->source[i]);
        if (!err) err = ny_writer_rows(beside->writer, piece->values + i * beside->row_bytes, 1);
        beside->next++;
    }
    return err;
}

/* Takes room for a piece. */
static int take_room(struct beside *beside, struct ny_layout *l, struct piece *piece)
{
    size_t most = beside->piece_rows;

    piece->values = ny_lay(l, NY_MEM_IO, most, beside->row_bytes);
    if (beside->labels) piece->labels = ny_lay(l, NY_MEM_IO, most, sizeof(*piece->labels));
    if (beside->clusters) piece->clusters = ny_lay(l, NY_MEM_IO, most, sizeof(*piece->clusters));
    if (beside->spread) piece->source = ny_lay(l, NY_MEM_IO, most, sizeof(*piece->source));
    beside->blank = ny_lay(l, NY_MEM_IO, 1, beside->row_bytes);
    if (!l->err) mark_missing(beside, beside->blank, 1);
    return l->err;
}

/* Reads and writes the rows that are wanted. The room on the disk is asked for once the first piece
 * was read, as a damaged record may tell of any number of rows. */
static int put_all(struct beside *beside)
{
    struct ny_context *ctx = beside->result->ctx;
    struct ny_layout l = {.ctx = ctx};
    size_t most = beside->piece_rows;
    struct piece piece = {.labels = NULL};
    int err = take_room(beside, &l, &piece);

    for (uint64_t first = beside->first; !err && first < beside->end; first += most) {
        size_t count = beside->end - first < most ? (size_t)(beside->end - first) : most;

        err = ny_check_interrupt(ctx);
        if (!err) err = read_rows(beside, first, count, &piece);
        if (!err && first == beside->first) err = ny_writer_fits(beside->writer);
        if (!err)
            err = beside->spread ? put_spread(beside, count, &piece)
                                 : put_rows(beside, count, &piece);
    }
    if (!err) err = put_blanks(beside, beside->spread);
    ny_names_release(&piece.names, ctx);
    ny_layout_free(&l);
    return err;
}

/* Reads the names of the columns of points, if they have any. */
static int read_columns(struct beside *beside)
{
    struct ny_store *store = beside->result->store;
    struct ny_names_part names;
    struct ny_stored_points points;
    int err = ny_points_stored(store, &points);

    if (err || !points.column_names) return err;
    err = ny_names_part_find(&names, store, NULL, "columns");
    return err ? err : ny_names_part_read(&names, 0, (size_t)names.count, &beside->columns);
}

/* Tells whether the lines of a part are columns of the points. */
static bool is_of_columns(const char *part)
{
    return ny_one_of(part, "axes|mean|features");
}

/* Tells whether the words that are wanted can stand before the lines of the part, and whether these
 * are of rows where some of them are wanted. */
static bool takes(const struct ny_result_part *part, const char *name,
                  const struct ny_beside *wanted)
{
    bool of_points = !name && ny_one_of(part->name, "points|raw-points");
    bool of_nodes = ny_one_of(part->name, "neighbors|distances|components");

    if (wanted->ranged && !part->by_row && !of_points && !of_nodes) return false;
    if (wanted->clusters) return part->by_row && name;
    if (wanted->labels) return part->by_row || of_points;
    return !wanted->ids || part->by_row || of_points || is_of_columns(part->name);
}

/* Refuses clusters before the same clusters. (Labels before the part labels are words before their
 * numbers.) */
static int check_once(const struct ny_result *result, const struct ny_result_part *part,
                      const struct ny_beside *wanted)
{
    if (!wanted->clusters || strcmp(part->name, "clusters") != 0) return NY_OK;
    return ny_fail_idle(result->ctx, "with", "clusters beside --part clusters");
}

/* Finds which rows are wanted of those that there are, once the part is known to be there. */
static int find_rows(struct beside *beside, const struct ny_beside *wanted)
{
    const struct ny_result *result = beside->result;
    uint64_t count = beside->part->count(result);

    beside->first = wanted->first;
    beside->end = wanted->end == UINT64_MAX ? count : wanted->end;
    if (!wanted->ranged || (beside->first < beside->end && beside->end <= count)) return NY_OK;
    return ny_fail(result->ctx, NY_EUSAGE, "there are no --rows %llu:%llu of %s, which has %llu",
                   (unsigned long long)beside->first, (unsigned long long)beside->end,
                   beside->part->name, (unsigned long long)count);
}

/* Finds what is to stand before the numbers, and above them. */
static int find(struct beside *beside, const struct ny_beside *wanted, const char *name)
{
    struct ny_result *result = beside->result;
    int err = NY_OK;

    beside->with_ids = wanted->ids;
    beside->of_columns = is_of_columns(beside->part->name);
    beside->header = wanted->header;
    if (beside->header && ny_one_of(beside->part->name, "points|raw-points|landmark-points"))
        err = read_columns(beside);
    if (err) return err;
    if (wanted->ids)
        err = beside->of_columns
                  ? ny_names_part_find(&beside->ids, result->store, NULL, "columns")
                  : ny_names_part_find(&beside->ids, result->store, name ? result : NULL, "ids");
    if (!err && wanted->clusters) {
        beside->clusters = ny_part_find("clusters");
        err = ny_result_prepare(result, beside->clusters,
                                PIECE_ROWS); /* which finds that there are */
    }
    if (err || !wanted->labels) return err;
    beside->labels = ny_part_find("labels");
    if (!beside->labels->count(result)) return ny_result_lacks(result->store, NULL, "labels");
    return ny_points_class_names(result->store, &beside->classes, &beside->class_count);
}

/* Returns how many rows are read at a time. */
static size_t rows_of_piece(const struct beside *beside)
{
    bool words = beside->with_ids || beside->labels || beside->clusters;
    size_t share = ny_memory_limit(beside->result->ctx) / 16;
    size_t rows = (share < PIECE_BYTES ? share : PIECE_BYTES) / beside->row_bytes;

    if (words && rows > PIECE_ROWS) rows = PIECE_ROWS;
    return rows ? rows : 1;
}

/* Refuses a file without a row that could be read, and tells which of its rows are NaN because they
 * were damaged. */
static int tell_missing(const struct beside *beside, const char *output)
{
    const struct ny_result *result = beside->result;
    const char *name = result->name ? result->name : "points";

    if (!beside->missing || !*beside->missing) return NY_OK;
    if (*beside->missing == beside->end - beside->first)
        return ny_fail(result->ctx, NY_ESTORE, "%s of '%s' in %s: no row can be read",
                       beside->part->name, name, ny_store_path(result->store));
    ny_log(result->ctx, NY_LOG_WARNING,
           "%llu rows of the %s of '%s' are damaged; in %s they are NaN (numbers: 2^64-1)",
           (unsigned long long)*beside->missing, beside->part->name, name, output);
    return NY_OK;
}

/* Writes the table of a result that is open. */
static int write_table(struct beside *beside, const struct ny_beside *wanted, const char *output)
{
    struct ny_result *result = beside->result;
    const struct ny_result_part *part = beside->part;
    uint64_t rows;
    int err;

    beside->element = ny_result_element(result, part);
    beside->cols = part->columns ? part->columns(result) : 0;
    beside->row_bytes = (beside->cols ? beside->cols : 1) * ny_output_bytes(beside->element);
    beside->missing = wanted->missing;
    beside->spread = wanted->spread;
    beside->piece_rows = rows_of_piece(beside);
    err = ny_result_prepare(result, part, beside->piece_rows);
    if (!err) err = find_rows(beside, wanted);
    if (err) return err;
    beside->delimiter = ny_output_text(output).delimiter;
    rows = beside->spread ? beside->spread : beside->end - beside->first;
    err = ny_writer_open(&beside->writer, result->ctx, output, beside->element, rows, beside->cols);
    if (err) return err;
    if (beside->header) err = put_header(beside);
    if (!err) err = put_all(beside);
    if (!err) err = tell_missing(beside, output);
    return ny_writer_commit(beside->writer, err);
}

int ny_part_export_beside(struct ny_store *store, const char *name, const char *part,
                          const char *output, const struct ny_beside *wanted)
{
    struct ny_result result;
    struct beside beside = {.result = &result, .part = ny_part_find(part)};
    bool words = wanted->ids || wanted->labels || wanted->clusters;
    int err = name ? ny_result_open_any(&result, store, name) : ny_result_of_points(&result, store);

    if (!err && !name && !result.n) err = ny_refuse_nodes(store);
    if (!err && !(beside.part && takes(beside.part, name, wanted)))
        err = ny_fail_idle(result.ctx, !words && wanted->ranged ? "rows" : "with", part);
    if (!err) err = check_once(&result, beside.part, wanted);
    if (!err) err = find(&beside, wanted, name);
    if (!err) err = write_table(&beside, wanted, output);
    if (!err && name && beside.part->by_row) ny_warn_behind(store, name, result.record);
    ny_names_release(&beside.columns, ny_store_context(store));
    ny_free(ny_store_context(store), beside.classes);
    ny_result_close_any(&result);
    return err;
}
