/*
 * Column sampling in isomap (Talwalkar, Kumar & Rowley 2008, eqs. 8 and 9, from CᵀC): C = −½Δ²,
 * nodes × m, is kept in the store as Δ, so that G = C′ᵀC′ can be summed by rows and Y = C′P be
 * added up without finding the paths again. Part "paths": of each
 * batch of sources its units of nodes one after the other, NY_UNIT_ROWS × NY_LANES f32 each.
 */
#include "fit/sums.h"
#include "maps/isomap_private.h"

#include <string.h>

#include "base/memory.h"
#include "stream/pass.h"

enum { NODE_BYTES = NY_LANES * sizeof(float), UNIT_BYTES = NY_UNIT_ROWS * NODE_BYTES };

/* Returns the nodes of a unit; the last one may have fewer. */
static size_t nodes_of(const struct ny_isomap *map, uint64_t unit)
{
    uint64_t left = map->fit->edges.n - unit * NY_UNIT_ROWS;

    return left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
}

/* Returns the number of batches of NY_LANES sources. */
static uint64_t batches_of(size_t sources)
{
    return (sources + NY_LANES - 1) / NY_LANES;
}

bool ny_isomap_keeps_columns(const struct ny_fit_settings *settings)
{
    return settings->method->needs_gram;
}

int ny_isomap_check_room(const struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->base.job;
    uint64_t needed = ny_sweep_bytes(map->fit->edges.n, map->m);
    uint64_t room = job->keep.ops->room(&job->keep);

    if (needed <= room) return NY_OK;
    return ny_fail(job->ctx, NY_EBUDGET,
                   "--approx column keeps %llu bytes (%.1f MiB) of path lengths in %s, whose disk "
                   "has room for %.1f MiB; make space, take fewer landmarks, or --approx nystrom",
                   (unsigned long long)needed, (double)needed / 1048576.0, job->keep.place,
                   (double)room / 1048576.0);
}

int ny_isomap_keep(const struct ny_isomap *map, uint64_t batch, const float *distances)
{
    const struct ny_job *job = &map->fit->base.job;
    uint64_t units = ny_units_of(map->fit->edges.n), unit = 0;
    int err = NY_OK;

    while (unit < units && err == NY_OK) {
        size_t most = ny_batch_bytes_max(ny_memory_limit(job->ctx)) / UNIT_BYTES, put = 0;
        struct ny_batch *commit;

        err = job->keep.ops->begin(&job->keep, &commit);
        if (err) break;
        do {
            err = job->keep.ops->put(&job->keep, commit, "paths", batch * units + unit,
                                     distances + unit * NY_UNIT_ROWS * NY_LANES,
                                     nodes_of(map, unit) * NODE_BYTES);
            unit++;
        } while (err == NY_OK && ++put < most && unit < units);
        if (err)
            job->keep.ops->cancel(commit);
        else
            err = job->keep.ops->commit(commit);
    }
    return err;
}

/* Loads the distances of a batch to the nodes of a unit. NY_ESTORE if the chunk is missing or
 * short. */
static int load_unit(const struct ny_isomap *map, uint64_t batch, uint64_t unit, float *out)
{
    const struct ny_job *job = &map->fit->base.job;
    struct ny_chunk chunk = {.data = out, .capacity = nodes_of(map, unit) * NODE_BYTES};
    uint64_t index = batch * ny_units_of(map->fit->edges.n) + unit;
    int err = job->keep.ops->chunk(&job->keep, "paths", index, &chunk);

    if (err != NY_END && (err || chunk.bytes == chunk.capacity)) return err;
    return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
}

/* Loads the distances of a batch to all nodes. */
static int load_batch(const struct ny_isomap *map, uint64_t batch, float *out)
{
    uint64_t units = ny_units_of(map->fit->edges.n);
    int err = NY_OK;

    for (uint64_t unit = 0; unit < units && err == NY_OK; unit++)
        err = load_unit(map, batch, unit, out + unit * NY_UNIT_ROWS * NY_LANES);
    return err;
}

int ny_isomap_replay(struct ny_isomap *map, int (*fold)(void *, const struct ny_swept *))
{
    struct ny_graph_fit *fit = map->fit;
    struct ny_context *ctx = fit->base.job.ctx;
    float *loaded = fit->kept ? NULL : ny_calloc(ctx, NY_MEM_TILES, fit->edges.n, NODE_BYTES);
    int err = fit->kept || loaded ? NY_OK : NY_EBUDGET;

    for (size_t first = 0; first < map->m && err == NY_OK; first += NY_LANES) {
        size_t count = map->m - first < NY_LANES ? map->m - first : NY_LANES;
        const float *distances = loaded ? loaded : fit->kept + first * fit->edges.n;

        if (loaded) err = load_batch(map, first / NY_LANES, loaded);
        if (err == NY_OK) err = ny_check_interrupt(ctx);
        if (err == NY_OK) err = fold(map, &(struct ny_swept){first, count, NY_LANES, distances});
    }
    ny_free(ctx, loaded);
    ny_graph_fit_drop_kept(fit);
    return err;
}

/* ---- G: a pass over the rows of C′ ---------------------------------------------------------- */

struct gram {
    struct ny_isomap *map;
    struct ny_source source; /* what the pass reads: units of nodes */
    float *lanes;            /* workers × batches × NY_UNIT_ROWS × NY_LANES: Δ of a unit */
    double *C;               /* workers × NY_UNIT_ROWS × m */
    struct ny_partial **partial;
};

static void lay(struct ny_layout *l, struct gram *gram, size_t m, unsigned workers)
{
    gram->lanes = ny_lay(l, NY_MEM_TILES, workers * batches_of(m), UNIT_BYTES);
    gram->C = ny_lay(l, NY_MEM_TILES, workers, NY_UNIT_ROWS * m * sizeof(double));
    gram->partial = ny_lay(l, NY_MEM_GRAM, workers, sizeof(*gram->partial));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_partial *partial = ny_partial_lay(l, m, NY_GRAM_F64);

        if (gram->partial) gram->partial[w] = partial;
    }
}

void ny_isomap_gram_count(struct ny_layout *l, size_t m, unsigned workers, size_t limit)
{
    struct ny_layout_mark mark;
    struct gram gram;

    ny_accumulator_count(l, m);
    mark = ny_layout_mark(l);
    lay(l, &gram, m, workers);
    ny_lay(l, NY_MEM_GRAM, 1, NY_CHUNK_BYTES); /* of an image of the sums */
    ny_batch_count(l, NY_MEM_STORE, limit, ny_accumulator_image_bytes(m, true));
    ny_layout_back(l, &mark);
}

/* Hands out units of nodes, of which nothing has to be read here. */
static int take(struct ny_source *source, struct ny_tile *tile)
{
    tile->rows = NY_UNIT_ROWS;
    return tile->first_row < source->n ? NY_OK : NY_END;
}

/* C′ = C − 1aᵀ of a unit, zero behind its last row. */
static int make_tile(const struct gram *gram, const struct ny_tile *tile, struct ny_matrix C)
{
    const struct ny_isomap *map = gram->map;
    const double *a = map->fit->base.a;
    const size_t batch_floats = NY_UNIT_ROWS * NY_LANES;
    size_t m = map->m, nodes = nodes_of(map, tile->unit), batches = (size_t)batches_of(m);
    float *lanes = gram->lanes + tile->worker * batches * batch_floats;

    for (size_t batch = 0; batch < batches; batch++) {
        int err = load_unit(map, batch, tile->unit, lanes + batch * batch_floats);

        if (err) return err;
    }
    for (size_t i = 0; i < nodes; i++)
        for (size_t j = 0; j < m; j++) {
            double d = (double)lanes[j / NY_LANES * batch_floats + i * NY_LANES + j % NY_LANES];

            C.at[i * m + j] = -0.5 * d * d - a[j];
        }
    memset(C.at + nodes * m, 0, (NY_UNIT_ROWS - nodes) * m * sizeof(double));
    return NY_OK;
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct gram *gram = arg;
    size_t m = gram->map->m;
    struct ny_matrix C = ny_matrix(gram->C + tile->worker * NY_UNIT_ROWS * m, NY_UNIT_ROWS, m);
    const struct ny_tile_rows rows = {.count = nodes_of(gram->map, tile->unit)};
    int err = make_tile(gram, tile, C);

    if (err == NY_OK) ny_partial_set64(gram->partial[tile->worker], C, &rows);
    return err;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    const struct gram *gram = arg;

    ny_accumulator_fold(gram->map->fit->base.acc, gram->partial[tile->worker]);
    return NY_OK;
}

static int checkpoint(void *arg, uint64_t units_done)
{
    const struct gram *gram = arg;

    return ny_fit_save_sums(&gram->map->fit->base, "gram", NY_STAGE_SOLVE, units_done);
}

static int run_pass(struct gram *gram, uint64_t first_unit)
{
    static const struct ny_source_ops ops = {.take = take};
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct ny_job *job = &gram->map->fit->base.job;
    double m = (double)gram->map->m;

    gram->source = (struct ny_source){.ops = &ops, .ctx = job->ctx, .n = gram->map->fit->edges.n};
    return ny_pass_run(&(struct ny_pass){.source = &gram->source,
                                         .stage = ny_stage_name(job->stage),
                                         .workers = job->workers,
                                         .first_unit = first_unit,
                                         .flops_per_row = m * m},
                       &work, gram);
}

int ny_isomap_gram(struct ny_isomap *map)
{
    struct ny_layout l = {.ctx = map->fit->base.job.ctx};
    struct gram gram = {.map = map};
    uint64_t first_unit, units = ny_units_of(map->fit->edges.n);
    int err = ny_fit_load_sums(&map->fit->base, "gram", &first_unit);

    if (err || first_unit == units) return err;
    lay(&l, &gram, map->m, map->fit->base.job.workers);
    err = l.err;
    if (err == NY_OK) err = run_pass(&gram, first_unit);
    if (err == NY_OK) err = checkpoint(&gram, units);
    ny_layout_free(&l);
    return err;
}
