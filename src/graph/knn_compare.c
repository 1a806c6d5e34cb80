/* A few rows against all points, in f64. */
#include <math.h>

#include "columns/tiles.h"
#include "graph/knn_private.h"
#include "store/store.h"

static bool nearer(struct ny_near a, struct ny_near b)
{
    return a.value < b.value || (a.value == b.value && a.row < b.row);
}

void ny_near_clear(struct ny_near *list, size_t size)
{
    for (size_t k = 0; k < size; k++)
        list[k] = (struct ny_near){INFINITY, NY_NO_ROW};
}

void ny_near_keep(struct ny_near *list, size_t size, struct ny_near item)
{
    size_t at = size - 1;

    if (!nearer(item, list[at])) return;
    for (; at > 0 && nearer(item, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = item;
}

double ny_near_distance(const struct ny_columns_spec *spec, double value)
{
    if (value < 0) value = 0;
    return spec->kernel->base == NY_BASE_SQUARE ? sqrt(value / spec->params.gamma) : value;
}

struct compare {
    struct ny_tiles tiles;
    const uint32_t *rows;
    size_t count, neighbors;
    struct ny_near *near; /* count × neighbors */
};

static int unit(void *arg, const struct ny_tile *tile)
{
    struct compare *compare = arg;

    return ny_tiles_compute(&compare->tiles, tile);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct compare *compare = arg;
    struct ny_matrix V = ny_tiles_c64(&compare->tiles, tile->worker);
    size_t t = compare->neighbors;

    for (size_t j = 0; j < tile->rows; j++)
        for (size_t i = 0; i < compare->count; i++) {
            struct ny_near item = {V.at[j * V.stride + i], (uint32_t)(tile->first_row + j)};

            if (item.row != compare->rows[i]) ny_near_keep(compare->near + i * t, t, item);
        }
    return NY_OK;
}

size_t ny_knn_compare_bytes(const struct ny_knn *knn)
{
    return NY_COMPARE_ROWS * knn->neighbors * sizeof(struct ny_near) +
           ny_columns_bytes(knn->spec, NY_COMPARE_ROWS) +
           knn->workers * ny_tiles_bytes(knn->spec, NY_COMPARE_ROWS, NY_PRECISION_F64);
}

int ny_knn_compare(const struct ny_knn *knn, const void *raw, const uint32_t *rows, size_t count,
                   struct ny_near *near)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    static const double shift[NY_COMPARE_ROWS];
    struct compare compare = {
        .rows = rows, .count = count, .neighbors = knn->neighbors, .near = near};
    struct ny_columns *columns = NULL;
    struct ny_source *points = NULL;
    int err = ny_columns_new(&columns, knn->spec);

    if (err == NY_OK) err = ny_columns_append(columns, raw, count);
    if (err) goto done;
    ny_near_clear(near, count * knn->neighbors);
    err = ny_tiles_new(&compare.tiles, columns, shift, NY_PRECISION_F64, knn->workers);
    if (err) goto done;
    err = ny_source_of_points(&points, knn->store, knn->n, knn->spec->slots, knn->workers);
    if (err) goto done;
    err = ny_pass_run(&(struct ny_pass){.ctx = knn->spec->ctx,
                                        .source = points,
                                        .stage = "neighbors, in f64",
                                        .workers = knn->workers,
                                        .flops_per_row =
                                            2 * (double)count * ny_entry_products(knn->spec)},
                      &work, &compare);
done:
    ny_source_free(points);
    ny_tiles_release(&compare.tiles);
    ny_columns_free(columns);
    return err;
}
