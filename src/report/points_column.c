/*
 * Reads a column of the points, which colours a picture or is an axis of it
 * (report/points_column.h), for the columns of report/frame.c. It is read again for each pass over
 * the rows: dense rows some 4 MiB at a time, sparse ones block by block, of which only the one
 * value is kept.
 */
#include "report/points_column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/number.h"

enum { DENSE_BYTES = 4 << 20 };

#define ULL(x) ((unsigned long long)(x))

void ny_points_column_close(struct ny_points_column *column)
{
    if (!column->ctx) return;
    ny_free(column->ctx, column->room);
    column->ctx = NULL;
}

static int find(struct ny_points_column *column, const char *name, bool named)
{
    if (named) return ny_store_find_columns(column->store, &name, 1, &column->number);
    if (!ny_number_whole(name, strlen(name), &column->number) || column->number >= column->info.d)
        return ny_fail(column->ctx, NY_EUSAGE,
                       "the columns of %s have the numbers 0 to %llu, and no names",
                       ny_store_path(column->store), ULL(column->info.d - 1));
    snprintf(column->title, sizeof(column->title), "column %llu", ULL(column->number));
    return NY_OK;
}

int ny_points_column_open(struct ny_points_column *column, struct ny_store *store, const char *name)
{
    struct ny_stored_points points;
    size_t row_bytes;
    int err = ny_points_stored(store, &points);

    *column = (struct ny_points_column){
        .ctx = ny_store_context(store), .store = store, .info = points.rows};
    ny_clean_text(name, column->title, sizeof(column->title));
    if (!err) err = find(column, name, points.column_names);
    if (err) return err;
    if (column->info.row_slots) return NY_OK;
    row_bytes = ny_rows_row_bytes(&column->info);
    column->piece = row_bytes < DENSE_BYTES ? DENSE_BYTES / row_bytes : 1;
    column->room = ny_calloc(column->ctx, NY_MEM_IO, column->piece, row_bytes);
    return column->room ? NY_OK : NY_EBUDGET;
}

/* Reads dense rows, some at a time, of which one value is taken. */
static int read_dense(struct ny_points_column *column, const uint64_t *rows, size_t count,
                      double *values)
{
    struct ny_rows *X = ny_store_rows(column->store);
    size_t row_bytes = ny_rows_row_bytes(&column->info);
    int err = NY_OK;

    for (size_t at = 0, piece; err == NY_OK && at < count; at += piece) {
        piece = count - at < column->piece ? count - at : column->piece;
        err = X->ops->gather(X, 0, rows + at, piece, column->room);
        for (size_t i = 0; err == NY_OK && i < piece; i++)
            values[at + i] =
                ny_dtype_at(column->info.dtype, (const char *)column->room + i * row_bytes,
                            (size_t)column->number);
    }
    return err;
}

/* Takes the value of the column out of each sparse row. */
struct taking {
    const struct ny_points_column *column;
    double *values;
};

static int take_value(void *arg, size_t position, struct ny_sparse row)
{
    struct taking *taking = arg;
    const uint32_t wanted = (uint32_t)taking->column->number;
    const uint32_t *at =
        row.count ? bsearch(&wanted, row.index, row.count, sizeof(wanted), ny_compare_nodes) : NULL;

    taking->values[position] =
        at ? ny_dtype_at(taking->column->info.dtype, row.value, (size_t)(at - row.index)) : 0;
    return NY_OK;
}

static int read_sparse(struct ny_points_column *column, const uint64_t *rows, size_t count,
                       double *values)
{
    struct ny_rows *X = ny_store_rows(column->store);
    struct taking taking = {column, values};

    return X->ops->visit(X, (size_t)column->info.row_slots, rows, count, take_value, &taking);
}

int ny_points_column_read(struct ny_points_column *column, const uint64_t *rows, size_t count,
                          double *values)
{
    return column->info.row_slots ? read_sparse(column, rows, count, values)
                                  : read_dense(column, rows, count, values);
}
