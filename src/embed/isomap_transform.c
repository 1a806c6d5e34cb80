/*
 * New points in isomap: paths reach them through their nearest nodes, δ(x, j) = min_k d(x, x_k) +
 * Δ(x_k, j), and y = Σ_j k(x, j) P_j + q as for the nodes. A point at distance 0 from a node gets
 * that node's coordinates. One sweep over the landmarks serves a batch of new points.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "embed/embedding.h"
#include "embed/isomap_private.h"
#include "embed/newcomers.h"
#include "io/writer.h"

struct placing {
    struct ny_isomap map; /* first: the sweep's argument */
    struct ny_newcomers new;
    struct ny_embedding_layout layout; /* of the embedding */
    uint32_t *rows; /* nodes: row numbers that are embedded, ascending */
    bool f64;
    double *Y;      /* capacity × p */
    void *narrow;
};

static int add_columns(void *arg, size_t first, size_t count, const float *distances)
{
    struct placing *placing = arg;
    const struct ny_isomap *map = &placing->map;
    const struct ny_newcomers *new = &placing->new;

    for (size_t i = 0; i < new->count; i++)
        for (size_t l = 0; l < count; l++) {
            const double *P = map->P.at + map->source[first + l].landmark * map->p;
            double nearest = INFINITY;

            for (size_t k = 0; k < new->t; k++)
                nearest = fmin(nearest, new->distance[i * new->t + k] +
                                            (double)distances[(size_t)new->node[i * new->t + k] *
                                                                  NY_LANES + l]);
            for (size_t k = 0; k < map->p; k++)
                placing->Y[i * map->p + k] -= nearest * nearest / 2 * P[k];
        }
    return NY_OK;
}

static int by_row(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The coordinates of a node, as they are stored. */
static int copy_node(struct placing *placing, uint32_t node, void *out)
{
    const struct ny_job *job = &placing->map.fit->job;
    const struct ny_edges *edges = &placing->map.fit->edges;
    const uint32_t *at =
        bsearch(&edges->row[node], placing->rows, edges->n, sizeof(uint32_t), by_row);

    if (!at)
        return ny_fail(job->ctx, NY_ESTORE,
                       "the rows of '%s' are not those of its graph; fit it again with --restart",
                       job->name);
    return ny_embedding_rows(job->store, job->name, &placing->layout,
                             (uint64_t)(at - placing->rows), 1, out);
}

static int write_batch(struct placing *placing, struct ny_writer *writer)
{
    const struct ny_newcomers *new = &placing->new;
    size_t p = placing->map.p;
    char *out = placing->f64 ? (char *)placing->Y : placing->narrow;
    int err = NY_OK;

    for (size_t i = 0; i < new->count * p && !placing->f64; i++)
        ((float *)placing->narrow)[i] = (float)placing->Y[i];
    for (size_t i = 0; i < new->count && err == NY_OK; i++)
        if (!(new->distance[i * new->t] > 0))
            err = copy_node(placing, new->node[i * new->t], out + i * placing->layout.row_bytes);
    return err ? err : ny_writer_rows(writer, out, new->count);
}

static int run_batches(struct placing *placing, struct ny_writer *writer)
{
    struct ny_isomap *map = &placing->map;
    int err;

    while ((err = ny_newcomers_next(&placing->new)) == NY_OK) {
        for (size_t i = 0; i < placing->new.count; i++)
            memcpy(placing->Y + i * map->p, map->map, map->p * sizeof(double));
        err = ny_isomap_sweep(map, 0, add_columns, NULL);
        if (err == NY_OK) err = write_batch(placing, writer);
        if (err) break;
    }
    return err == NY_END ? NY_OK : err;
}

static int open_placing(struct placing *placing, struct ny_graph_fit *fit,
                        const struct ny_new_rows *rows)
{
    struct ny_job *job = &fit->job;
    struct ny_embedding_layout layout = ny_graph_layout("rows", fit->edges.n, 1);
    const char *precision = ny_field_text(ny_job_report(job), "precision");
    int err = ny_isomap_open(&placing->map, fit);

    placing->f64 = precision && strcmp(precision, "f64") == 0;
    if (err == NY_OK) err = ny_isomap_load_map(&placing->map);
    if (err == NY_OK) err = ny_newcomers_open(&placing->new, fit, rows->input, rows->options);
    if (err) return err;
    placing->layout = ny_embedding_layout(fit->edges.n, placing->map.p,
                                          placing->f64 ? sizeof(double) : sizeof(float));
    placing->rows = ny_calloc(job->ctx, NY_MEM_DICTIONARY, fit->edges.n, sizeof(uint32_t));
    placing->Y = ny_calloc(job->ctx, NY_MEM_TILES, placing->new.capacity,
                           placing->map.p * sizeof(double));
    placing->narrow = ny_calloc(job->ctx, NY_MEM_TILES, placing->new.capacity,
                                placing->map.p * sizeof(float));
    if (!placing->rows || !placing->Y || !placing->narrow) return NY_EBUDGET;
    return ny_embedding_rows(job->store, job->name, &layout, 0, fit->edges.n, placing->rows);
}

/* The sweep has the threads that its memory leaves. */
static void decide_workers(struct ny_job *job, uint64_t nodes)
{
    for (job->workers = ny_context_threads(job->ctx); job->workers > 1; job->workers--)
        if (ny_sweep_bytes(nodes, job->workers) <= ny_memory_left(job->ctx)) break;
}

int ny_isomap_transform(struct ny_graph_fit *fit, const struct ny_new_rows *rows)
{
    struct ny_context *ctx = fit->job.ctx;
    struct placing placing = {.map = {.fit = fit}, .new = {.spec = {.ctx = ctx}}};
    struct ny_writer *writer = NULL;
    int err = open_placing(&placing, fit, rows);

    if (err) goto done;
    decide_workers(&fit->job, fit->edges.n);
    err = ny_writer_open(&writer, ctx, rows->output, placing.f64 ? NY_OUT_F64 : NY_OUT_F32,
                         ny_newcomers_rows(&placing.new), placing.map.p);
    if (err == NY_OK) err = ny_writer_fits(writer);
    if (err == NY_OK) err = run_batches(&placing, writer);
    if (err) goto done;
    err = ny_writer_commit(writer);
    writer = NULL;
done:
    ny_writer_abort(writer);
    ny_newcomers_close(&placing.new);
    ny_isomap_close(&placing.map);
    ny_free(ctx, placing.rows);
    ny_free(ctx, placing.Y);
    ny_free(ctx, placing.narrow);
    return err;
}
