/*
 * Finds the nearest stored rows of new rows (place/seeker.h). Rows are scaled and compared by the
 * geometry that was frozen with the graph, which may belong to another NAME than the result.
 */
#include "place/seeker.h"

#include <math.h>

#include "base/memory.h"
#include "columns/kernels.h"
#include "model/geometry.h"
#include "model/graph.h"

int ny_seeker_open(struct ny_seeker *seeker, struct ny_record record, size_t neighbors,
                   struct ny_columns_spec *spec)
{
    double gamma = 1;
    int err = ny_stored_geometry(&seeker->geometry, &seeker->keep, "geometry",
                                 (size_t)seeker->points.d, &gamma);

    *spec = (struct ny_columns_spec){.ctx = seeker->X->ctx,
                                     .kernel = ny_is(ny_state_of(record).graph.metric, "cosine")
                                                   ? &ny_kernel_angular
                                                   : &ny_kernel_euclidean,
                                     .params = {.gamma = gamma},
                                     .geometry = seeker->geometry,
                                     .dtype = seeker->points.dtype,
                                     .slots = (size_t)seeker->points.row_slots,
                                     .preparation = seeker->points.preparation};
    seeker->knn = (struct ny_knn){
        .spec = spec, .X = seeker->X, .n = seeker->points.n, .neighbors = neighbors};
    return err;
}

void ny_seeker_close(struct ny_seeker *seeker)
{
    ny_geometry_free(seeker->geometry, seeker->X->ctx);
    ny_layout_free(&seeker->own);
}

static void lay(struct ny_layout *l, struct ny_seeker *seeker)
{
    size_t t = seeker->knn.neighbors;

    seeker->raw = ny_lay(l, NY_MEM_TILES, NY_COMPARE_ROWS, ny_raw_bytes(seeker->knn.spec));
    seeker->found.row = ny_lay(l, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(uint32_t));
    seeker->found.distance = ny_lay(l, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(double));
}

void ny_seeker_count(struct ny_layout *l, struct ny_seeker seeker, unsigned workers)
{
    seeker.knn.workers = workers;
    lay(l, &seeker);
    ny_knn_compare_count(l, &seeker.knn);
    ny_rows_source_count(l, NY_MEM_TILES, &seeker.points, workers);
}

int ny_seeker_begin(struct ny_seeker *seeker, unsigned workers)
{
    seeker->knn.workers = workers;
    seeker->own.ctx = seeker->X->ctx;
    lay(&seeker->own, seeker);
    return seeker->own.err;
}

int ny_seeker_check(const struct ny_seeker *seeker, const struct ny_measured *found, uint64_t row,
                    size_t count)
{
    size_t t = seeker->knn.neighbors;

    for (size_t i = 0; i < count * t; i++)
        if (found->row[i] == NY_NO_ROW || isinf(found->distance[i]))
            return ny_fail_infinite(seeker->X->ctx, "distance", row + i / t);
    return NY_OK;
}

/* Compares the query with the first n points, in one pass. */
static int compare(struct ny_seeker *seeker, const struct ny_knn_query *query, uint64_t n)
{
    struct ny_knn knn = seeker->knn;
    struct ny_source *points = NULL;
    int err = ny_rows_source(seeker->X, n, knn.spec->slots, knn.workers, &points);

    knn.n = n;
    if (err == NY_OK) err = ny_source_widen(&points, points, knn.spec->dtype, knn.workers);
    if (err == NY_OK) err = ny_knn_nearest(&knn, query, points, &seeker->found);
    ny_source_free(points);
    return err;
}

int ny_seeker_find(struct ny_seeker *seeker, const struct ny_tile *tile, size_t first, size_t count)
{
    const struct ny_knn_query query = {
        .raw = seeker->raw, .count = count, .takes = seeker->takes, .arg = seeker->arg};
    int err = ny_tile_strip(tile, first, count, seeker->raw);

    if (!err) err = compare(seeker, &query, seeker->knn.n);
    return err ? err : ny_seeker_check(seeker, &seeker->found, tile->first_row + first, count);
}

/* Bounds how far the t-th nearest of each row is, by some of the points. */
static int bound_nearest(struct ny_seeker *seeker, const struct ny_knn_query *query, double *near)
{
    const double more = 1 + 1e-6; /* products are off by less */
    uint64_t n = seeker->knn.n < NY_UNIT_ROWS ? seeker->knn.n : NY_UNIT_ROWS;
    size_t t = seeker->knn.neighbors;
    int err = compare(seeker, query, t > n ? seeker->knn.n : n);

    for (size_t i = 0; i < query->count && !err; i++) {
        double last = seeker->found.distance[i * t + t - 1];

        near[i] = seeker->knn.spec->params.gamma * last * last * more;
    }
    return err;
}

int ny_seeker_compare(struct ny_seeker *seeker, const void *raw, uint64_t row, size_t count)
{
    const struct ny_columns_spec *spec = seeker->knn.spec;
    struct ny_knn_query query = {
        .raw = raw, .count = count, .takes = seeker->takes, .arg = seeker->arg};
    bool by_products =
        !spec->slots && spec->kernel->base == NY_BASE_SQUARE && spec->geometry->d > NY_EXACT_DIRECT;
    double near[NY_COMPARE_ROWS];
    int err = by_products ? bound_nearest(seeker, &query, near) : NY_OK;

    if (by_products) query.near = near;
    if (!err) err = compare(seeker, &query, seeker->knn.n);
    return err ? err : ny_seeker_check(seeker, &seeker->found, row, count);
}
