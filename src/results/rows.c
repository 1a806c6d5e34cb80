/*
 * Says which rows of the store a result has, and reads their numbers, labels and places in the
 * imported files.
 *
 * Rows of a result and rows of the store differ in two cases: rows were lost before the fit, or a
 * map of a graph embeds its largest component alone, whose row numbers are in part "rows". In both,
 * runs of rows that lie together in the store are read at once.
 */
#include "results/rows.h"

#include <string.h>

#include "model/embedding.h"
#include "model/graph.h"
#include "results/keep.h"

int ny_result_rows_of(struct ny_result_rows *result_rows, struct ny_store *store, const char *name,
                      const json_t *record)
{
    const json_t *report = json_object_get(record, "report");

    *result_rows =
        (struct ny_result_rows){.store = store,
                                .name = name,
                                .n = ny_field_count(report, "n", 0),
                                .component = json_is_number(json_object_get(report, "embedded"))};
    result_rows->count = result_rows->n;
    if (result_rows->component && ny_field_count(report, "embedded", 0) > result_rows->count)
        return ny_fail_damaged(ny_store_context(store), name, ny_store_path(store));
    if (result_rows->component) result_rows->count = ny_field_count(report, "embedded", 0);
    return ny_record_lost(ny_store_context(store), record, &result_rows->lost);
}

void ny_result_rows_release(struct ny_result_rows *result_rows)
{
    if (result_rows->store)
        ny_lost_release(&result_rows->lost, ny_store_context(result_rows->store));
}

uint64_t ny_result_rows_place(const struct ny_result_rows *result_rows, uint64_t row)
{
    uint64_t run;

    return ny_lost_place(&result_rows->lost, row, &run);
}

/* A run of rows of the store from the first-th row of the result on: where it begins, and how long
 * it is, at most `count`. */
static int run_of(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                  uint64_t *row, size_t *length)
{
    enum { LOOK_ROWS = 1024 };
    struct ny_embedding_layout layout = ny_graph_layout("rows", result_rows->count, 1);
    const struct ny_keep keep = ny_store_keep(result_rows->store, result_rows->name);
    uint32_t rows[LOOK_ROWS];
    size_t look = count < LOOK_ROWS ? count : LOOK_ROWS;
    uint64_t run;
    int err;

    if (!result_rows->component) {
        *row = ny_lost_place(&result_rows->lost, first, &run);
        *length = count < run ? count : (size_t)run;
        return NY_OK;
    }
    err = ny_embedding_rows(&keep, &layout, first, look, rows);
    if (err) return err;
    for (size_t i = 0; i < look; i++)
        if (rows[i] >= result_rows->n)
            return ny_fail_damaged(ny_store_context(result_rows->store), result_rows->name,
                                   ny_store_path(result_rows->store));
    *row = rows[0];
    for (*length = 1; *length < look && rows[*length] == rows[0] + *length;)
        ++*length;
    return NY_OK;
}

/* Reads items of 8 bytes for `count` rows of the store from `row` on. */
typedef int read_fn(struct ny_store *store, uint64_t row, size_t count, void *out);

/* Calls `read` for each run of the result's rows first … first + count − 1. Items have 8 bytes,
 * so that `out` can be advanced by rows. */
static int read_runs(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                     read_fn *read, void *out)
{
    uint64_t *at = out;

    while (count > 0) {
        uint64_t row;
        size_t length;
        int err = run_of(result_rows, first, count, &row, &length);

        if (err == NY_OK) err = read(result_rows->store, row, length, at);
        if (err) return err;
        at += length;
        first += length;
        count -= length;
    }
    return NY_OK;
}

/* Fills in the numbers of the rows themselves, for ny_result_rows_numbers(). */
static int read_numbers(struct ny_store *store, uint64_t row, size_t count, void *out)
{
    (void)store;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)out)[i] = row + i;
    return NY_OK;
}

static int read_labels(struct ny_store *store, uint64_t row, size_t count, void *out)
{
    return ny_points_labels(store, row, count, out);
}

static int read_source(struct ny_store *store, uint64_t row, size_t count, void *out)
{
    return ny_points_source(store, row, count, out);
}

int ny_result_rows_numbers(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                           uint64_t *out)
{
    return read_runs(result_rows, first, count, read_numbers, out);
}

int ny_result_rows_labels(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                          double *out)
{
    return read_runs(result_rows, first, count, read_labels, out);
}

int ny_result_rows_source(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                          uint64_t *out)
{
    return read_runs(result_rows, first, count, read_source, out);
}

int ny_result_rows_same(const struct ny_result_rows *a, const struct ny_result_rows *b, bool *same)
{
    enum { LOOK_ROWS = 512 };
    uint64_t rows[2][LOOK_ROWS];
    int err = NY_OK;

    *same = a->count == b->count;
    for (uint64_t first = 0; *same && first < a->count; first += LOOK_ROWS) {
        size_t count = a->count - first < LOOK_ROWS ? (size_t)(a->count - first) : LOOK_ROWS;

        err = ny_result_rows_numbers(a, first, count, rows[0]);
        if (err == NY_OK) err = ny_result_rows_numbers(b, first, count, rows[1]);
        if (err) return err;
        *same = memcmp(rows[0], rows[1], count * sizeof(rows[0][0])) == 0;
    }
    return err;
}
