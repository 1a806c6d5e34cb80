/*
 * Finds the nearest nodes of new points (maps/newcomers.h). maps/graph_place.c asks for
 * batches of them, whose nodes it hands to the map's own formula.
 *
 * Rows are compared in f64 with all points of the store, 256 rows in a pass; points outside the
 * embedded component do not count. A batch gathers up to 32 units of rows before the map sees them,
 * so that isomap, which sweeps over all landmarks for each batch, seldom has to. New rows are
 * scaled and compared by the geometry frozen with the graph, which may belong to another NAME than
 * the map.
 */
#include "maps/newcomers.h"

#include <string.h>

#include "columns/kernels.h"
#include "results/geometry.h"

/* Rows of a batch, so that whoever goes over the graph for each batch seldom has to. */
enum { BATCH_ROWS = 32 * NY_UNIT_ROWS };

/* Loads the geometry of the graph: how its rows were scaled and compared. */
static int load_geometry(struct ny_newcomers *new, struct ny_columns_spec *spec)
{
    const struct ny_job *job = &new->fit->base.job;
    const json_t *facts = ny_graph_facts(job->record);
    const char *other = ny_field_text(facts, "name");
    double gamma = 1;
    int err = ny_stored_geometry(&new->geometry, job->store, other ? other : job->name, "geometry",
                                 (size_t)job->points.d, &gamma);

    *spec = (struct ny_columns_spec){.ctx = job->ctx,
                                     .kernel = ny_field_is(facts, "metric", "cosine")
                                                   ? &ny_kernel_angular
                                                   : &ny_kernel_euclidean,
                                     .params = {.gamma = gamma},
                                     .geometry = new->geometry,
                                     .dtype = job->points.dtype,
                                     .slots = (size_t)job->points.row_slots};
    return err;
}

int ny_newcomers_open(struct ny_newcomers *new, struct ny_graph_fit *fit,
                      struct ny_columns_spec *spec)
{
    uint64_t neighbors = ny_field_count(ny_graph_facts(fit->base.job.record), "neighbors", 1);

    *new = (struct ny_newcomers){.fit = fit};
    new->t = neighbors < fit->edges.n ? (size_t)neighbors : fit->edges.n;
    new->knn = (struct ny_knn){.spec = spec,
                               .store = fit->base.job.store,
                               .n = fit->base.job.points.n,
                               .neighbors = new->t};
    if (new->t) return load_geometry(new, spec);
    return ny_fail(fit->base.job.ctx, NY_ESTORE, "the graph of '%s' has no neighbors",
                   fit->base.job.name);
}

size_t ny_newcomers_capacity(uint64_t rows)
{
    return rows < BATCH_ROWS ? (size_t)rows : BATCH_ROWS;
}

size_t ny_newcomers_bytes(const struct ny_newcomers *new, uint64_t rows, unsigned workers)
{
    size_t one = new->t *(sizeof(uint32_t) + sizeof(double));
    struct ny_knn knn = new->knn;

    knn.workers = workers;
    return ny_knn_compare_bytes(&knn) +
           ny_source_of_points_bytes(&new->fit->base.job.points, workers) +
           NY_COMPARE_ROWS * (ny_raw_bytes(knn.spec) + one) + ny_newcomers_capacity(rows) * one;
}

int ny_newcomers_begin(struct ny_newcomers *new, uint64_t rows, unsigned workers)
{
    struct ny_context *ctx = new->fit->base.job.ctx;
    size_t t = new->t;

    new->knn.workers = workers;
    new->capacity = ny_newcomers_capacity(rows);
    new->raw = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, ny_raw_bytes(new->knn.spec));
    new->found.row = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(uint32_t));
    new->found.distance = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(double));
    new->node = ny_calloc(ctx, NY_MEM_TILES, new->capacity, t * sizeof(uint32_t));
    new->distance = ny_calloc(ctx, NY_MEM_TILES, new->capacity, t * sizeof(double));
    return new->raw &&new->found.row &&new->found.distance &&new->node &&new->distance ? NY_OK
                                                                                       : NY_EBUDGET;
}

void ny_newcomers_close(struct ny_newcomers *new)
{
    struct ny_context *ctx = new->fit->base.job.ctx;

    ny_geometry_free(new->geometry, ctx);
    ny_free(ctx, new->raw);
    ny_free(ctx, new->found.row);
    ny_free(ctx, new->found.distance);
    ny_free(ctx, new->node);
    ny_free(ctx, new->distance);
}

static bool is_node(const void *arg, size_t i, uint64_t row)
{
    (void)i;
    return ((const struct ny_edges *)arg)->node[row] != NY_NO_ROW;
}

/* Rows first … first + count − 1 of a tile. */
static int compare(struct ny_newcomers *new, const struct ny_tile *tile, size_t first, size_t count)
{
    const struct ny_job *job = &new->fit->base.job;
    const struct ny_edges *edges = &new->fit->edges;
    const struct ny_knn_query query = {
        .raw = new->raw, .count = count, .takes = is_node, .arg = edges};
    struct ny_source *points = NULL;
    int err = ny_tile_strip(tile, first, count, new->raw);

    if (err == NY_OK)
        err = ny_source_of_points(&points, job->store, job->points.n, new->knn.spec->slots,
                                  new->knn.workers);
    if (err == NY_OK)
        err = ny_source_widen(&points, points, new->knn.spec->dtype, new->knn.workers);
    if (err == NY_OK) err = ny_knn_nearest(&new->knn, &query, points, &new->found);
    for (size_t i = 0; i < count * new->t && err == NY_OK; i++) {
        if (new->found.row[i] == NY_NO_ROW)
            err = ny_fail(job->ctx, NY_ENUMERIC,
                          "distances of new row %llu are not numbers; look for huge values in it, "
                          "or in the scale of '%s'",
                          (unsigned long long)(tile->first_row + first + i / new->t), job->name);
        else
            new->node[new->count * new->t + i] = edges->node[new->found.row[i]];
        new->distance[new->count * new->t + i] = new->found.distance[i];
    }
    ny_source_free(points);
    if (err == NY_OK) new->count += count;
    return err;
}

int ny_newcomers_next(struct ny_newcomers *new, struct ny_source *rows)
{
    struct ny_tile tile = {.source = rows};
    int err = NY_OK;

    new->count = 0;
    while (new->count + NY_UNIT_ROWS <= new->capacity || new->count == 0) {
        tile.unit = new->unit;
        tile.first_row = new->unit * NY_UNIT_ROWS;
        err = rows->ops->take(rows, &tile);
        for (size_t first = 0; first < tile.rows && err == NY_OK; first += NY_COMPARE_ROWS) {
            size_t left = tile.rows - first;

            err = compare(new, &tile, first, left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS);
        }
        if (err) break;
        new->unit++;
    }
    return err == NY_END && new->count ? NY_OK : err;
}
