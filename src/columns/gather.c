/* Rows of a store as landmarks. */
#include "columns/columns.h"
#include "stream/rows.h"

void ny_columns_spec_points(struct ny_columns_spec *spec, const struct ny_rows_info *points)
{
    spec->slots = (size_t)points->row_slots;
    if (!spec->slots) return;
    spec->row_nnz = (double)points->nnz / (double)(points->n ? points->n : 1);
    spec->values = (size_t)points->nnz;
    spec->unit_values = (size_t)points->unit_values;
    spec->lengths = points->lengths;
}

/* Sparse rows are read into memory that the columns then take over. */
static int gather_sparse(struct ny_columns *columns, struct ny_rows *X, const uint64_t *rows,
                         size_t count)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    const struct ny_gather_wish wish = {spec->slots, count, rows, NY_MEM_DICTIONARY};
    struct ny_sparse_list list = {0};
    int err = ny_rows_gather_list(X, &wish, &list);

    if (!err) err = ny_columns_take(columns, &list);
    ny_sparse_list_release(&list, spec->ctx);
    return err;
}

int ny_columns_gather(struct ny_columns *columns, struct ny_rows *X, const uint64_t *rows,
                      size_t count)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    void *raw;
    int err;

    if (spec->slots) return gather_sparse(columns, X, rows, count);
    raw = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, count, ny_raw_bytes(spec));
    err = raw ? X->ops->gather(X, 0, rows, count, raw) : NY_EBUDGET;
    if (!err) err = ny_columns_append(columns, ny_raw_rows(raw), count);
    ny_free(spec->ctx, raw);
    return err;
}

int ny_columns_of_tile(struct ny_columns **columns, const struct ny_columns_spec *spec,
                       const struct ny_tile *tile, void *raw)
{
    size_t row_bytes = ny_raw_bytes(spec);
    int err = NY_OK;

    ny_columns_free(*columns);
    *columns = NULL;
    for (size_t first = 0; first < tile->rows && !err; first += NY_STRIP_ROWS)
        err = ny_tile_strip(tile, first, ny_smaller(tile->rows - first, NY_STRIP_ROWS),
                            (char *)raw + first * row_bytes);
    if (!err) err = ny_columns_new(columns, spec);
    return err ? err : ny_columns_append(*columns, ny_raw_rows(raw), tile->rows);
}
