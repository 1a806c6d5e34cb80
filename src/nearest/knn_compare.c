/* A few rows against all points, in f64. */
#include <math.h>

#include "columns/tiles.h"
#include "nearest/knn_private.h"
#include "stream/rows.h"

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
    const struct ny_knn_query *query;
    struct ny_tiles tiles;
    size_t neighbors;
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
    const struct ny_knn_query *query = compare->query;
    struct ny_matrix V = ny_tiles_c64(&compare->tiles, tile->worker);
    size_t t = compare->neighbors;

    for (size_t j = 0; j < tile->rows; j++)
        for (size_t i = 0; i < query->count; i++) {
            struct ny_near item = {V.at[j * V.stride + i], (uint32_t)(tile->first_row + j)};

            if (nearer(item, compare->near[i * t + t - 1]) &&
                (!query->takes || query->takes(query->arg, i, item.row)))
                ny_near_keep(compare->near + i * t, t, item);
        }
    return NY_OK;
}

void ny_knn_compare_count(struct ny_layout *l, const struct ny_knn *knn)
{
    struct ny_tiles tiles;

    ny_tiles_lay(l, &tiles, knn->spec, NY_COMPARE_ROWS, NY_PRECISION_F64, knn->workers);
    ny_lay(l, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, knn->neighbors * sizeof(struct ny_near));
    ny_columns_count(l, knn->spec, NY_COMPARE_ROWS);
}

/* Compares the query with `points`, which is read once. */
static int compare_with(const struct ny_knn *knn, const struct ny_knn_query *query,
                        struct ny_source *points, struct ny_near *near)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    static const double shift[NY_COMPARE_ROWS];
    struct compare compare = {.query = query, .neighbors = knn->neighbors, .near = near};
    double flops = 2 * (double)query->count * ny_entry_products(knn->spec);
    struct ny_layout l = {.ctx = knn->spec->ctx};
    struct ny_columns *columns = NULL;
    int err = ny_columns_new(&columns, knn->spec);

    if (err == NY_OK) err = ny_columns_append(columns, ny_raw_rows(query->raw), query->count);
    if (err) goto done;
    ny_columns_set_near(columns, query->near);
    ny_near_clear(near, query->count * knn->neighbors);
    ny_tiles_lay(&l, &compare.tiles, knn->spec, query->count, NY_PRECISION_F64, knn->workers);
    err = l.err;
    if (err) goto done;
    ny_tiles_use(&compare.tiles, columns, shift);
    err = ny_pass_run(&(struct ny_pass){.source = points,
                                        .stage = "neighbors, in f64",
                                        .workers = knn->workers,
                                        .flops_per_row = flops},
                      &work, &compare);
done:
    ny_layout_free(&l);
    ny_columns_free(columns);
    return err;
}

int ny_knn_compare(const struct ny_knn *knn, const struct ny_knn_query *query, struct ny_near *near)
{
    struct ny_source *points = NULL;
    int err = ny_knn_source(knn, &points);

    if (err == NY_OK) err = compare_with(knn, query, points, near);
    ny_source_free(points);
    return err;
}

int ny_knn_nearest(const struct ny_knn *knn, const struct ny_knn_query *query,
                   struct ny_source *points, struct ny_measured *out)
{
    struct ny_context *ctx = knn->spec->ctx;
    size_t items = query->count * knn->neighbors;
    struct ny_near *near = ny_calloc(ctx, NY_MEM_DICTIONARY, items, sizeof(*near));
    int err = near ? compare_with(knn, query, points, near) : NY_EBUDGET;

    for (size_t i = 0; i < items && err == NY_OK; i++) {
        out->row[i] = near[i].row;
        out->distance[i] = ny_near_distance(knn->spec, near[i].value);
    }
    ny_free(ctx, near);
    return err;
}
