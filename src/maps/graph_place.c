/*
 * Places the rows of a file by a map of a graph (maps/graph_place.h), for isomap
 * (maps/isomap_transform.c) and eigenmaps (maps/eigenmaps_transform.c). For each batch of new
 * points the map computes what would be stored of them; points at distance 0 from a node then get
 * that node's stored row instead, and coordinates are made and checked as for any result.
 */
#include "maps/graph_place.h"

#include <stdlib.h>
#include <string.h>

#include "results/coordinates.h"
#include "results/embedding.h"
#include "io/writer.h"

struct placing {
    struct ny_graph_fit *fit;
    struct ny_newcomers new;
    struct ny_coordinates coordinates;
    struct ny_embedding_layout layout; /* of the embedding */
    uint32_t *rows; /* nodes: row numbers that are embedded, ascending */
    bool f64;
    double *Y;      /* capacity × width, as stored; then capacity × p */
    float *narrow;  /* capacity × width */
};

static int open_placing(struct placing *placing, const struct ny_new_rows *rows, size_t width)
{
    const struct ny_graph_fit *fit = placing->fit;
    const struct ny_job *job = &fit->base.job;
    struct ny_embedding_layout numbers = ny_graph_layout("rows", fit->edges.n, 1);
    int err = ny_coordinates_parse(&placing->coordinates, job->ctx, job->record);

    if (err == NY_OK && ny_coordinates_width(&placing->coordinates) != width)
        err = ny_fail(job->ctx, NY_ESTORE,
                      "the coordinates of '%s' are not those of its map; fit it again with "
                      "--restart",
                      job->name);
    placing->f64 = ny_field_is(ny_job_report(job), "precision", "f64");
    placing->layout = ny_embedding_layout(fit->edges.n, width,
                                          placing->f64 ? sizeof(double) : sizeof(float));
    if (err == NY_OK)
        err = ny_newcomers_open(&placing->new, placing->fit, rows->input, rows->options);
    if (err) return err;
    placing->rows = ny_calloc(job->ctx, NY_MEM_DICTIONARY, fit->edges.n, sizeof(uint32_t));
    placing->Y =
        ny_calloc(job->ctx, NY_MEM_TILES, placing->new.capacity, width * sizeof(double));
    placing->narrow =
        ny_calloc(job->ctx, NY_MEM_TILES, placing->new.capacity, width * sizeof(float));
    if (!placing->rows || !placing->Y || !placing->narrow) return NY_EBUDGET;
    return ny_embedding_rows(job->store, job->name, &numbers, 0, fit->edges.n, placing->rows);
}

static void close_placing(struct placing *placing)
{
    struct ny_context *ctx = placing->fit->base.job.ctx;

    ny_newcomers_close(&placing->new);
    ny_coordinates_release(&placing->coordinates, ctx);
    ny_free(ctx, placing->rows);
    ny_free(ctx, placing->Y);
    ny_free(ctx, placing->narrow);
}

static int by_row(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Reads the stored row of a node. */
static int copy_node(const struct placing *placing, uint32_t node, double *y)
{
    const struct ny_job *job = &placing->fit->base.job;
    const struct ny_edges *edges = &placing->fit->edges;
    const uint32_t *at =
        bsearch(&edges->row[node], placing->rows, edges->n, sizeof(uint32_t), by_row);
    void *stored = placing->f64 ? (void *)y : placing->narrow;
    int err;

    if (!at)
        return ny_fail(job->ctx, NY_ESTORE,
                       "the rows of '%s' are not those of its graph; fit it again with --restart",
                       job->name);
    err = ny_embedding_rows(job->store, job->name, &placing->layout,
                            (uint64_t)(at - placing->rows), 1, stored);
    for (size_t k = 0; k < ny_coordinates_width(&placing->coordinates) && !placing->f64; k++)
        y[k] = (double)placing->narrow[k];
    return err;
}

/* Replaces points that are nodes by what is stored of these, makes coordinates, and writes them. */
static int write_batch(const struct placing *placing, uint64_t first, struct ny_writer *writer)
{
    const struct ny_coordinates *how = &placing->coordinates;
    const struct ny_newcomers *new = &placing->new;
    size_t width = ny_coordinates_width(how), values = new->count * ny_coordinates_count(how);
    const void *out;
    int err = NY_OK;

    for (size_t i = 0; i < new->count && err == NY_OK; i++)
        if (!(new->distance[i * new->t] > 0))
            err = copy_node(placing, new->node[i * new->t], placing->Y + i * width);
    if (err) return err;
    ny_coordinates_apply(how, true, placing->Y, new->count, placing->Y);
    for (size_t i = 0; i < values && !placing->f64; i++)
        placing->narrow[i] = (float)placing->Y[i];
    out = placing->f64 ? (const void *)placing->Y : placing->narrow;
    err =
        ny_coordinates_check(how, placing->fit->base.job.ctx, placing->f64, out, first, new->count);
    return err ? err : ny_writer_rows(writer, out, new->count);
}

int ny_graph_place(struct ny_graph_fit *fit, const struct ny_new_rows *rows, size_t width,
                   ny_place_fn *place, void *arg)
{
    struct ny_context *ctx = fit->base.job.ctx;
    struct placing placing = {.fit = fit, .new = {.spec = {.ctx = ctx}}};
    struct ny_writer *writer = NULL;
    uint64_t first = 0;
    int err = open_placing(&placing, rows, width);

    if (err) goto done;
    err = ny_writer_open(&writer, ctx, rows->output, placing.f64 ? NY_OUT_F64 : NY_OUT_F32,
                         ny_newcomers_rows(&placing.new),
                         ny_coordinates_count(&placing.coordinates));
    if (err == NY_OK) err = ny_writer_fits(writer);
    while (err == NY_OK && (err = ny_newcomers_next(&placing.new)) == NY_OK) {
        err = place(arg, &placing.new, placing.Y);
        if (err == NY_OK) err = write_batch(&placing, first, writer);
        first += placing.new.count;
    }
    if (err != NY_END) goto done;
    err = ny_writer_commit(writer);
    writer = NULL;
done:
    ny_writer_abort(writer);
    close_placing(&placing);
    return err;
}
