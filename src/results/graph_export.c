/*
 * Writes graphs as files of edges (results/graph_export.h), for results/export.c.
 *
 * The edges are in memory, 16 bytes each, in ascending order, whether they are stored as lists of
 * neighbours or as edges; so the same graph makes the same file, by whatever way it has come into
 * the store. Text goes out line by line. A matrix of scipy has each edge twice, in rows whose
 * columns ascend: all edges are put into the rows of their greater nodes first, and then into the
 * rows of their lesser ones, which needs no sorting.
 */
#include "results/graph_export.h"

#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/npz_write.h"
#include "results/current.h"

enum { PIECE_LINES = 4096, LINE_BYTES = 64 };

/* ---- text ----------------------------------------------------------------------------------- */

/* The form of the lines of a file. */
struct form {
    bool mtx; /* MatrixMarket: nodes from 1, the greater one first */
    char delimiter;
};

/* Writes the first lines of a MatrixMarket file. */
static int put_head(const struct ny_stored_graph *graph, const struct ny_edge_list *list,
                    struct ny_writer *writer)
{
    char head[160];
    int length = snprintf(head, sizeof(head),
                          "%%%%MatrixMarket matrix coordinate real symmetric\n%llu %llu %zu\n",
                          (unsigned long long)graph->n, (unsigned long long)graph->n, list->count);

    return ny_writer_rows(writer, head, (size_t)length);
}

/* Writes a line for each edge. Nine digits bring the same f32 back. */
static int put_lines(const struct ny_edge_list *list, struct form form, struct ny_writer *writer)
{
    char *piece = ny_alloc(list->ctx, NY_MEM_IO, (size_t)PIECE_LINES * LINE_BYTES);
    int err = piece ? NY_OK : NY_EBUDGET;

    for (size_t at = 0; at < list->count && err == NY_OK;) {
        size_t end = list->count - at < PIECE_LINES ? list->count : at + PIECE_LINES, used = 0;

        for (; at < end; at++) {
            const struct ny_bridge *edge = &list->edge[at];
            uint64_t first = form.mtx ? (uint64_t)edge->to + 1 : edge->from;
            uint64_t second = form.mtx ? (uint64_t)edge->from + 1 : edge->to;

            used += (size_t)snprintf(piece + used, LINE_BYTES, "%llu%c%llu%c%.9g\n",
                                     (unsigned long long)first, form.delimiter,
                                     (unsigned long long)second, form.delimiter, edge->length);
        }
        err = ny_check_interrupt(list->ctx);
        if (err == NY_OK) err = ny_writer_rows(writer, piece, used);
    }
    ny_free(list->ctx, piece);
    return err;
}

/* Writes the text with a point in numbers, whatever the locale. */
static int put_text(const struct ny_stored_graph *graph, const struct ny_edge_list *list,
                    struct form form, struct ny_writer *writer)
{
    locale_t before = ny_decimal_begin();
    int err = form.mtx ? put_head(graph, list, writer) : NY_OK;

    if (err == NY_OK) err = put_lines(list, form, writer);
    ny_decimal_end(before);
    return err;
}

/* ---- a matrix of scipy ---------------------------------------------------------------------- */

/* A symmetric matrix by rows. */
struct matrix {
    uint64_t *start; /* n + 1 */
    uint32_t *column;
    float *value;
};

/* Puts an entry behind those that the row has so far. */
static void put_entry(struct matrix *matrix, uint32_t row, uint32_t column, double value)
{
    uint64_t at = matrix->start[row]++;

    matrix->column[at] = column;
    matrix->value[at] = (float)value;
}

/* Fills in the rows. While they are filled, start[i] is the end of row i so far. */
static int fill_matrix(struct matrix *matrix, const struct ny_edge_list *list, uint64_t n)
{
    uint64_t sum = 0;

    matrix->start = ny_calloc(list->ctx, NY_MEM_DICTIONARY, (size_t)n + 1, sizeof(uint64_t));
    matrix->column = ny_calloc(list->ctx, NY_MEM_DICTIONARY, list->count, 2 * sizeof(uint32_t));
    matrix->value = ny_calloc(list->ctx, NY_MEM_DICTIONARY, list->count, 2 * sizeof(float));
    if (!matrix->start || !matrix->column || !matrix->value) return NY_EBUDGET;
    for (size_t k = 0; k < list->count; k++) {
        matrix->start[list->edge[k].from]++;
        matrix->start[list->edge[k].to]++;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t count = matrix->start[i];

        matrix->start[i] = sum;
        sum += count;
    }
    for (size_t k = 0; k < list->count; k++)
        put_entry(matrix, list->edge[k].to, list->edge[k].from, list->edge[k].length);
    for (size_t k = 0; k < list->count; k++)
        put_entry(matrix, list->edge[k].from, list->edge[k].to, list->edge[k].length);
    memmove(matrix->start + 1, matrix->start, (size_t)n * sizeof(uint64_t));
    matrix->start[0] = 0;
    return NY_OK;
}

/* Makes the numbers 32 bits wide, in their place. */
static void narrow(uint64_t *numbers, size_t count)
{
    char *bytes = (char *)numbers;

    for (size_t i = 0; i < count; i++) {
        int32_t number = (int32_t)numbers[i];

        memcpy(bytes + i * sizeof(number), &number, sizeof(number));
    }
}

static int write_matrix(const struct ny_stored_graph *graph, const struct matrix *matrix,
                        size_t entries, struct ny_writer *writer)
{
    const int64_t shape[2] = {(int64_t)graph->n, (int64_t)graph->n};
    bool wide = entries > INT32_MAX;
    size_t starts = (size_t)graph->n + 1;
    char start_shape[32], entry_shape[32];
    const struct ny_npz_out arrays[] = {
        {"indices", "i4", entry_shape, matrix->column, entries * sizeof(uint32_t)},
        {"indptr", wide ? "i8" : "i4", start_shape, matrix->start,
         starts * (wide ? sizeof(int64_t) : sizeof(int32_t))},
        {"format", "S3", "()", "csr", 3},
        {"shape", "i8", "(2,)", shape, sizeof(shape)},
        {"data", "f4", entry_shape, matrix->value, entries * sizeof(float)}};

    snprintf(start_shape, sizeof(start_shape), "(%zu,)", starts);
    snprintf(entry_shape, sizeof(entry_shape), "(%zu,)", entries);
    if (!wide) narrow(matrix->start, starts);
    return ny_npz_write(graph->keep.ctx, writer, arrays, sizeof(arrays) / sizeof(arrays[0]));
}

static int put_matrix(const struct ny_stored_graph *graph, const struct ny_edge_list *list,
                      struct ny_writer *writer)
{
    struct matrix matrix = {0};
    int err = NY_OK;

    if (graph->n > INT32_MAX)
        return ny_fail(list->ctx, NY_EUSAGE, "the graph is too large for an .npz; write an .mtx");
    err = fill_matrix(&matrix, list, graph->n);
    if (err == NY_OK) err = write_matrix(graph, &matrix, 2 * list->count, writer);
    ny_free(list->ctx, matrix.start);
    ny_free(list->ctx, matrix.column);
    ny_free(list->ctx, matrix.value);
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Writes settled edges in the format of the output's name. */
static int write_list(const struct ny_stored_graph *graph, const struct ny_edge_list *list,
                      const char *output)
{
    struct form form = {.mtx = ny_ends_with(output, ".mtx"),
                        .delimiter = ny_ends_with(output, ".csv")   ? ','
                                     : ny_ends_with(output, ".tsv") ? '\t'
                                                                    : ' '};
    bool npz = ny_ends_with(output, ".npz");
    struct ny_writer *writer;
    int err = ny_writer_open(&writer, list->ctx, output, NY_OUT_BYTES, NY_ROWS_COUNTED, 0);

    if (err) return err;
    err = npz ? put_matrix(graph, list, writer) : put_text(graph, list, form, writer);
    return ny_writer_commit(writer, err);
}

int ny_graph_export(struct ny_result *result, const char *output)
{
    struct ny_edge_list list;
    int err;

    if (!ny_stored_graph_any(&result->graph))
        return ny_result_lacks(result->store, result->name, "graph");
    err = ny_stored_edge_list(&result->graph, &list);
    err = ny_result_current(result, NULL, err);
    if (err == NY_OK) err = write_list(&result->graph, &list, output);
    ny_edge_list_release(&list);
    return err;
}
