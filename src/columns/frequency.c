/*
 * Weights of columns by how many rows have a value in them (--scale idf, idf-smooth): a column that
 * nearly all rows have tells them apart less. Of n rows, df with a value that is not 0:
 *
 *    idf          ln(n / df), 0 where df is 0 or n
 *    idf-smooth   ln((1 + n) / (1 + df)) + 1, as scikit-learn has it
 *
 * One pass counts. The store does not keep df, since a minimum and maximum can not tell it.
 */
#include <math.h>

#include "base/memory.h"
#include "columns/columns.h"
#include "store/store.h"
#include "stream/source.h"

/* Adds the values of one row that are not 0. */
static void count_row(const struct ny_source *source, const void *row, double *df)
{
    struct ny_sparse sparse = {.count = source->d, .value = row};

    if (source->slots) sparse = ny_sparse_of(row, source->slots);
    for (size_t k = 0; k < sparse.count; k++)
        df[source->slots ? sparse.index[k] : k] += ny_dtype_at(source->dtype, sparse.value, k) != 0;
}

static int count_rows(struct ny_source *source, double *df)
{
    struct ny_tile tile = {.source = source};
    void *row =
        ny_alloc(source->ctx, NY_MEM_STORE, ny_row_bytes(source->dtype, source->d, source->slots));
    int err = row ? NY_OK : NY_EBUDGET;

    while (!err && (err = source->ops->take(source, &tile)) == NY_OK) {
        err = ny_check_interrupt(source->ctx);
        for (size_t i = 0; !err && i < tile.rows; i++) {
            err = ny_tile_strip(&tile, i, 1, row);
            if (!err) count_row(source, row, df);
        }
        tile.unit++;
        tile.first_row += NY_UNIT_ROWS;
    }
    ny_free(source->ctx, row);
    return err == NY_END ? NY_OK : err;
}

/* Warns of columns that idf weighs 0 as all rows have them, and refuses to weigh all of them so. */
static int check_weights(const struct ny_geometry *geometry, struct ny_store *store, size_t full,
                         size_t first)
{
    struct ny_context *ctx = ny_store_context(store);
    bool any = false;

    for (size_t k = 0; k < geometry->d; k++)
        any |= geometry->factor[k] > 0;
    if (!any)
        return ny_fail(ctx, NY_EDATA,
                       "each column of %s has a value in all rows or in none, so that --scale idf "
                       "weighs them all 0; give --scale idf-smooth",
                       ny_store_path(store));
    if (full)
        ny_log(ctx, NY_LOG_WARNING,
               "%zu column%s, the first of them number %zu (from 1), %s a value in every row: "
               "--scale idf weighs them 0; idf-smooth keeps them",
               full, full == 1 ? "" : "s", first + 1, full == 1 ? "has" : "have");
    return NY_OK;
}

size_t ny_frequency_bytes(const struct ny_points_info *points)
{
    return ny_source_of_points_bytes(points, 1) + ny_points_row_bytes(points);
}

int ny_frequency_weigh(struct ny_geometry *geometry, struct ny_store *store,
                       const struct ny_points_info *points, bool smooth)
{
    struct ny_source *source = NULL;
    double n = (double)points->n, *df = geometry->factor;
    size_t full = 0, first = 0;
    int err = ny_source_of_points(&source, store, points->n, (size_t)points->row_slots, 1);

    for (size_t k = 0; k < geometry->d; k++)
        df[k] = 0;
    if (!err) err = count_rows(source, df);
    ny_source_free(source);
    if (err) return err;
    for (size_t k = 0; k < geometry->d; k++) {
        bool everywhere = df[k] >= n;

        if (everywhere && !full++) first = k;
        if (smooth)
            geometry->factor[k] = log((1 + n) / (1 + df[k])) + 1;
        else
            geometry->factor[k] = df[k] > 0 && !everywhere ? log(n / df[k]) : 0;
    }
    return smooth ? NY_OK : check_weights(geometry, store, full, first);
}
