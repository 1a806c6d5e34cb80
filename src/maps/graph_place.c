/*
 * Places new rows by a map of a graph (maps/graph_place.h), for isomap (maps/isomap_transform.c)
 * and eigenmaps (maps/eigenmaps_transform.c).
 *
 * Rows are compared in f64 with all points (place/seeker.h); points outside the embedded component
 * do not count. A batch gathers up to 32 units of rows before the map sees them, so that isomap,
 * which sweeps over all landmarks for each batch, seldom has to. For each batch the map computes
 * what would be stored of the points; those at distance 0 from a node then get that node's stored
 * row instead. The drift (place/drift.h) is that of distances from the nearest node, beside those
 * of nodes from theirs: only new points that are farther count.
 */
#include "maps/graph_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "model/embedding.h"
#include "place/drift.h"
#include "place/seeker.h"

/* Rows of a batch. */
enum { BATCH_ROWS = 32 * NY_UNIT_ROWS };

/* Points, the first ones, and nodes whose distances make the drift. */
enum { POINTS_MAX = 2048, NODES_MAX = 512 };

struct by_graph {
    struct ny_placer base;
    struct ny_layout own;
    struct ny_graph_fit *fit;
    struct ny_seeker seeker;
    struct ny_newcomers new;           /* of the batch */
    uint64_t unit;                     /* of new rows, that is read next */
    size_t capacity;                   /* the most rows of a batch */
    struct ny_embedding_layout layout; /* of the embedding */
    ny_place_fn *place;
    void *arg;               /* of place() */
    uint32_t *rows;          /* nodes: row numbers that are embedded, ascending */
    double *Y;               /* capacity × width, as stored */
    double near[POINTS_MAX]; /* from the nearest node, of new points that are none */
    size_t near_count;
};

static bool is_f64(const struct by_graph *run)
{
    return run->base.precision == NY_PRECISION_F64;
}

static bool is_node(const void *arg, size_t i, uint64_t row)
{
    (void)i;
    return ((const struct ny_edges *)arg)->node[row] != NY_NO_ROW;
}

/* Opens the search for nodes, of whose rows it tells what they are. */
static int open_seeker(struct by_graph *run)
{
    const struct ny_graph_fit *fit = run->fit;
    const struct ny_job *job = &fit->base.job;
    uint64_t stored = job->state.graph.neighbors, neighbors = stored == NY_NONE ? 1 : stored;

    run->seeker = (struct ny_seeker){.X = job->X,
                                     .keep = fit->other ? fit->other->graph.keep : job->keep,
                                     .name = job->keep.name,
                                     .points = job->points,
                                     .takes = is_node,
                                     .arg = &fit->edges};
    run->new.t = neighbors < fit->edges.n ? (size_t)neighbors : fit->edges.n;
    if (run->new.t) return ny_seeker_open(&run->seeker, job->record, run->new.t, &run->base.spec);
    return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
}

/* Reads what the record says of the map, and opens the graph for new points. */
static int open_map(struct by_graph *run, size_t width)
{
    const struct ny_job *job = &run->fit->base.job;
    int err = ny_coordinates_parse(&run->base.coordinates, job->ctx, job->record);

    if (err == NY_OK && ny_coordinates_width(&run->base.coordinates) != width)
        err = ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    if (err) return err;
    run->base.computed = NY_PRECISION_F64;
    run->base.precision =
        ny_is(job->state.facts.precision, "f64") ? NY_PRECISION_F64 : NY_PRECISION_F32;
    run->layout =
        ny_embedding_layout(run->fit->edges.n, width, ny_precision_bytes(run->base.precision));
    return open_seeker(run);
}

static void close_map(struct by_graph *run)
{
    struct ny_context *ctx = run->fit->base.job.ctx;

    if (run->seeker.X) ny_seeker_close(&run->seeker);
    ny_coordinates_release(&run->base.coordinates, ctx);
    ny_layout_free(&run->own);
}

/* Lays out a batch, and the numbers of the rows that are embedded. */
static void lay(struct ny_layout *l, struct by_graph *run)
{
    size_t width = ny_coordinates_width(&run->base.coordinates), t = run->new.t;
    size_t rows = run->base.rows < BATCH_ROWS ? (size_t)run->base.rows : BATCH_ROWS;

    run->capacity = rows;
    run->new.node = ny_lay(l, NY_MEM_TILES, rows, t * sizeof(uint32_t));
    run->new.distance = ny_lay(l, NY_MEM_TILES, rows, t * sizeof(double));
    run->rows = ny_lay(l, NY_MEM_DICTIONARY, run->fit->edges.n, sizeof(uint32_t));
    run->Y = ny_lay(l, NY_MEM_TILES, rows, width * sizeof(double));
    if (!is_f64(run)) run->base.narrow = ny_lay(l, NY_MEM_TILES, rows, width * sizeof(float));
}

static void count_batch(struct ny_layout *l, const void *placer, unsigned workers, size_t limit)
{
    struct by_graph run = *(const struct by_graph *)placer;

    (void)limit;
    lay(l, &run);
    ny_seeker_count(l, run.seeker, workers);
}

static int begin(struct ny_placer *placer)
{
    struct by_graph *run = (struct by_graph *)placer;
    const struct ny_job *job = &run->fit->base.job;
    uint64_t n = run->fit->edges.n;
    struct ny_embedding_layout numbers = ny_graph_layout("rows", n, 1);
    int err;

    run->own.ctx = job->ctx;
    lay(&run->own, run);
    err = run->own.err ? run->own.err : ny_seeker_begin(&run->seeker, placer->workers);
    return err ? err : ny_embedding_rows(&job->keep, &numbers, 0, n, run->rows);
}

/* Reads the stored row of a node. */
static int copy_node(const struct by_graph *run, uint32_t node, double *y)
{
    const struct ny_job *job = &run->fit->base.job;
    const struct ny_edges *edges = &run->fit->edges;
    const uint32_t *at =
        bsearch(&edges->row[node], run->rows, edges->n, sizeof(uint32_t), ny_compare_nodes);
    void *stored = is_f64(run) ? (void *)y : run->base.narrow;
    int err;

    if (!at) return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    err = ny_embedding_rows(&job->keep, &run->layout, (uint64_t)(at - run->rows), 1, stored);
    for (size_t k = 0; k < ny_coordinates_width(&run->base.coordinates) && !is_f64(run); k++)
        y[k] = (double)run->base.narrow[k];
    return err;
}

/* Points that are nodes have what is stored of these. */
static int copy_nodes(const struct by_graph *run)
{
    const struct ny_newcomers *new = &run->new;
    size_t width = ny_coordinates_width(&run->base.coordinates);
    int err = NY_OK;

    for (size_t i = 0; i < new->count &&err == NY_OK; i++)
        if (!(new->distance[i * new->t] > 0))
            err = copy_node(run, new->node[i * new->t], run->Y + i * width);
    return err;
}

/* Notes how far the points of the batch are from the nearest node. */
static void note_near(struct by_graph *run)
{
    const struct ny_newcomers *new = &run->new;

    for (size_t i = 0; i < new->count && run->near_count < POINTS_MAX; i++)
        if (new->distance[i * new->t] > 0) run->near[run->near_count++] = new->distance[i * new->t];
}

/* Takes the distances of some nodes from the nearest of the others. */
static size_t near_nodes(const struct ny_edges *edges, double *near)
{
    size_t most = edges->n < NODES_MAX ? edges->n : NODES_MAX, count = 0;

    for (size_t i = 0; i < most; i++) {
        size_t node = i * edges->n / most;
        float least = INFINITY;

        for (uint64_t k = edges->head[node]; k < edges->head[node + 1]; k++)
            if (edges->length[k] > 0 && edges->length[k] < least) least = edges->length[k];
        if (isfinite(least)) near[count++] = (double)least;
    }
    return count;
}

/* Tells the drift; where the edges have no lengths, or are in a file, it is not known. */
static int judge(struct ny_placer *placer)
{
    struct by_graph *run = (struct by_graph *)placer;
    const struct ny_edges *edges = &run->fit->edges;
    struct ny_drift drift = ny_drift_unknown;
    double nodes[NODES_MAX];

    if (edges->affinities || !edges->head) return NY_OK;
    drift.rows = run->near_count;
    drift.of_fit = near_nodes(edges, nodes);
    qsort(nodes, drift.of_fit, sizeof(double), ny_compare_doubles);
    qsort(run->near, drift.rows, sizeof(double), ny_compare_doubles);
    drift.distance = ny_drift_distance(nodes, drift.of_fit, run->near, drift.rows, true);
    ny_drift_tell(placer->spec.ctx, "the new rows", &drift, "");
    return NY_OK;
}

/* Finds the nodes of rows first … first + count − 1 of a tile. */
static int compare(struct by_graph *run, const struct ny_tile *tile, size_t first, size_t count)
{
    const struct ny_measured *found = &run->seeker.found;
    struct ny_newcomers *new = &run->new;
    int err = ny_seeker_find(&run->seeker, tile, first, count);

    for (size_t i = 0; i < count * new->t &&err == NY_OK; i++) {
        new->node[new->count *new->t + i] = run->fit->edges.node[found->row[i]];
        new->distance[new->count *new->t + i] = found->distance[i];
    }
    if (err == NY_OK) new->count += count;
    return err;
}

/* Reads the next batch of rows and finds their nodes; NY_END after the last. */
static int next_batch(struct by_graph *run, struct ny_source *rows)
{
    struct ny_newcomers *new = &run->new;
    struct ny_tile tile = {.source = rows};
    int err = NY_OK;

    new->count = 0;
    while (new->count + NY_UNIT_ROWS <= run->capacity || new->count == 0) {
        tile.unit = run->unit;
        tile.first_row = run->unit * NY_UNIT_ROWS;
        err = rows->ops->take(rows, &tile);
        for (size_t first = 0; first < tile.rows && err == NY_OK; first += NY_COMPARE_ROWS) {
            size_t left = tile.rows - first;

            err = compare(run, &tile, first, left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS);
        }
        if (err) break;
        run->unit++;
    }
    return err == NY_END && new->count ? NY_OK : err;
}

static int place(struct ny_placer *placer, struct ny_source *rows)
{
    struct by_graph *run = (struct by_graph *)placer;
    int err;

    while ((err = next_batch(run, rows)) == NY_OK) {
        note_near(run);
        err = run->place(run->arg, &run->new, run->Y);
        if (err == NY_OK) err = copy_nodes(run);
        if (err == NY_OK) err = ny_placer_put(placer, run->Y, run->new.count);
        if (err) return err;
    }
    return err == NY_END ? NY_OK : err;
}

int ny_graph_place(struct ny_graph_fit *fit, struct ny_new_rows *rows, size_t width,
                   ny_place_fn *place_batch, void *arg)
{
    static const struct ny_placer_ops ops = {
        .count = count_batch, .begin = begin, .place = place, .end = judge};
    const struct ny_job *job = &fit->base.job;
    const struct ny_fitted fitted = {job->X, job->keep, job->record};
    struct by_graph run = {.base = {.ops = &ops,
                                    .spec = {.ctx = job->ctx},
                                    .whose = "the store has",
                                    .fitted = &fitted},
                           .fit = fit,
                           .place = place_batch,
                           .arg = arg};
    int err = open_map(&run, width);

    if (err == NY_OK) err = ny_place_all(&run.base, rows);
    close_map(&run);
    return err;
}
