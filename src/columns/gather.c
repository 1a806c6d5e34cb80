/* Rows of a store as landmarks. */
#include "columns/columns.h"
#include "store/store.h"

/* Sparse rows are read into memory that the columns then take over. */
static int gather_sparse(struct ny_columns *columns, struct ny_store *store, const uint64_t *rows,
                         size_t count)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    const struct ny_gather_wish wish = {spec->slots, count, rows, NY_MEM_DICTIONARY};
    struct ny_sparse_list list = {0};
    int err = ny_points_gather_list(store, &wish, &list);

    if (!err) err = ny_columns_take(columns, &list);
    ny_sparse_list_release(&list, spec->ctx);
    return err;
}

int ny_columns_gather(struct ny_columns *columns, struct ny_store *store, const uint64_t *rows,
                      size_t count)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    void *raw;
    int err;

    if (spec->slots) return gather_sparse(columns, store, rows, count);
    raw = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, count, ny_raw_bytes(spec));
    err = raw ? ny_points_gather(store, 0, rows, count, raw) : NY_EBUDGET;
    if (!err) err = ny_columns_append(columns, ny_raw_rows(raw), count);
    ny_free(spec->ctx, raw);
    return err;
}

size_t ny_columns_gather_bytes(const struct ny_columns_spec *spec, size_t count)
{
    return spec->slots ? 0 : count * ny_raw_bytes(spec);
}
