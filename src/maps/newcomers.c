/*
 * Finds the nearest nodes of new points (maps/newcomers.h). maps/graph_place.c asks for
 * batches of them, whose nodes it hands to the map's own formula.
 *
 * Rows are compared in f64 with all points of the store (place/seeker.h); points outside the
 * embedded component do not count. A batch gathers up to 32 units of rows before the map sees them,
 * so that isomap, which sweeps over all landmarks for each batch, seldom has to.
 */
#include "maps/newcomers.h"

#include <string.h>

/* Rows of a batch, so that whoever goes over the graph for each batch seldom has to. */
enum { BATCH_ROWS = 32 * NY_UNIT_ROWS };

static bool is_node(const void *arg, size_t i, uint64_t row)
{
    (void)i;
    return ((const struct ny_edges *)arg)->node[row] != NY_NO_ROW;
}

int ny_newcomers_open(struct ny_newcomers *new, struct ny_graph_fit *fit,
                      struct ny_columns_spec *spec)
{
    const struct ny_job *job = &fit->base.job;
    uint64_t neighbors = ny_field_count(ny_graph_facts(job->record), "neighbors", 1);

    *new = (struct ny_newcomers){.fit = fit,
                                 .seeker = {.X = job->X,
                                            .keep = fit->other ? fit->other->graph.keep : job->keep,
                                            .name = job->keep.name,
                                            .points = job->points,
                                            .takes = is_node,
                                            .arg = &fit->edges}};
    new->t = neighbors < fit->edges.n ? (size_t)neighbors : fit->edges.n;
    if (new->t) return ny_seeker_open(&new->seeker, job->record, new->t, spec);
    return ny_fail(job->ctx, NY_ESTORE, "the graph of '%s' has no neighbors", job->keep.name);
}

size_t ny_newcomers_capacity(uint64_t rows)
{
    return rows < BATCH_ROWS ? (size_t)rows : BATCH_ROWS;
}

size_t ny_newcomers_bytes(const struct ny_newcomers *new, uint64_t rows, unsigned workers)
{
    return ny_seeker_bytes(&new->seeker, workers) +
           ny_newcomers_capacity(rows) * new->t *(sizeof(uint32_t) + sizeof(double));
}

int ny_newcomers_begin(struct ny_newcomers *new, uint64_t rows, unsigned workers)
{
    struct ny_context *ctx = new->fit->base.job.ctx;
    size_t t = new->t;

    new->capacity = ny_newcomers_capacity(rows);
    new->node = ny_calloc(ctx, NY_MEM_TILES, new->capacity, t * sizeof(uint32_t));
    new->distance = ny_calloc(ctx, NY_MEM_TILES, new->capacity, t * sizeof(double));
    return new->node &&new->distance ? ny_seeker_begin(&new->seeker, workers) : NY_EBUDGET;
}

void ny_newcomers_close(struct ny_newcomers *new)
{
    struct ny_context *ctx = new->fit->base.job.ctx;

    if (new->seeker.X) ny_seeker_close(&new->seeker);
    ny_free(ctx, new->node);
    ny_free(ctx, new->distance);
}

/* Rows first … first + count − 1 of a tile. */
static int compare(struct ny_newcomers *new, const struct ny_tile *tile, size_t first, size_t count)
{
    const struct ny_measured *found = &new->seeker.found;
    int err = ny_seeker_find(&new->seeker, tile, first, count);

    for (size_t i = 0; i < count * new->t && err == NY_OK; i++) {
        new->node[new->count *new->t + i] = new->fit->edges.node[found->row[i]];
        new->distance[new->count *new->t + i] = found->distance[i];
    }
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
