#include "graph/sweep.h"

#include "base/clock.h"
#include "base/memory.h"
#include "stream/pass.h"

struct run {
    struct ny_sweep *sweep;
    struct ny_source source; /* what the pass reads: a unit is a batch */
    struct ny_paths **paths; /* one a worker */
    const float **distances; /* of its batch */
};

uint64_t ny_sweep_batches(size_t sources)
{
    return (sources + NY_LANES - 1) / NY_LANES;
}

size_t ny_sweep_bytes(uint64_t nodes, unsigned workers)
{
    size_t patches = ny_paths_bytes(nodes, NY_PATHS_PATCHES);
    size_t buckets = ny_paths_bytes(nodes, NY_PATHS_BUCKETS);

    return workers * ((patches > buckets ? patches : buckets) +
                      sizeof(struct ny_paths *) + sizeof(float *));
}

static size_t batch_of(const struct ny_sweep *sweep, uint64_t batch, size_t *first)
{
    size_t left;

    *first = (size_t)batch * NY_LANES;
    left = sweep->count - *first;
    return left < NY_LANES ? left : NY_LANES;
}

/* ---- the faster way ------------------------------------------------------------------------- */

static int time_way(const struct ny_sweep *sweep, enum ny_paths_way way, size_t count, double *each)
{
    struct ny_paths *paths;
    const float *distances;
    double start_s;
    int err = ny_paths_new(&paths, sweep->graph, way);

    if (err) return err;
    start_s = ny_now();
    err = ny_paths_from(paths, sweep->sources, count, &distances);
    *each = (ny_now() - start_s) / (double)count;
    ny_paths_free(paths);
    return err;
}

/* Patches are given the first batch, buckets two sources of it. */
static int choose_way(struct ny_sweep *sweep)
{
    size_t count = sweep->count < NY_LANES ? sweep->count : NY_LANES;
    double patches_s, buckets_s;
    int err = time_way(sweep, NY_PATHS_PATCHES, count, &patches_s);

    if (!err) err = time_way(sweep, NY_PATHS_BUCKETS, count < 2 ? count : 2, &buckets_s);
    if (err) return err;
    sweep->way = buckets_s < patches_s ? NY_PATHS_BUCKETS : NY_PATHS_PATCHES;
    return NY_OK;
}

/* ---- the pass ------------------------------------------------------------------------------- */

static int take(struct ny_source *source, struct ny_tile *tile)
{
    tile->rows = NY_UNIT_ROWS;
    return tile->unit * NY_UNIT_ROWS < source->n ? NY_OK : NY_END;
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    size_t first, count = batch_of(run->sweep, tile->unit, &first);

    return ny_paths_from(run->paths[tile->worker], run->sweep->sources + first, count,
                         &run->distances[tile->worker]);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    size_t first, count = batch_of(run->sweep, tile->unit, &first);

    return run->sweep->fold(run->sweep->arg, first, count, run->distances[tile->worker]);
}

static int checkpoint(void *arg, uint64_t batches_done)
{
    const struct ny_sweep *sweep = ((struct run *)arg)->sweep;

    return sweep->checkpoint ? sweep->checkpoint(sweep->arg, batches_done) : NY_OK;
}

static int run_pass(struct run *run)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    const struct ny_sweep *sweep = run->sweep;

    return ny_pass_run(&(struct ny_pass){.ctx = sweep->graph->ctx,
                                         .source = &run->source,
                                         .stage = sweep->stage,
                                         .workers = sweep->workers,
                                         .first_unit = sweep->first_batch,
                                         .checkpoint_s = sweep->checkpoint_s},
                       &work, run);
}

int ny_sweep_run(struct ny_sweep *sweep)
{
    static const struct ny_source_ops ops = {.take = take};
    struct ny_context *ctx = sweep->graph->ctx;
    uint64_t batches = ny_sweep_batches(sweep->count);
    struct run run = {.sweep = sweep,
                      .source = {.ops = &ops, .ctx = ctx, .n = batches * NY_UNIT_ROWS}};
    int err = NY_OK;

    if (sweep->first_batch >= batches) return NY_OK;
    if (sweep->workers > batches) sweep->workers = (unsigned)batches;
    err = choose_way(sweep);
    if (err) return err;
    run.paths = ny_calloc(ctx, NY_MEM_TILES, sweep->workers, sizeof(*run.paths));
    run.distances = ny_calloc(ctx, NY_MEM_TILES, sweep->workers, sizeof(*run.distances));
    if (!run.paths || !run.distances) err = NY_EBUDGET;
    for (unsigned w = 0; w < sweep->workers && err == NY_OK; w++)
        err = ny_paths_new(&run.paths[w], sweep->graph, sweep->way);
    if (err == NY_OK) err = run_pass(&run);
    for (unsigned w = 0; w < sweep->workers && run.paths; w++)
        ny_paths_free(run.paths[w]);
    ny_free(ctx, run.distances);
    ny_free(ctx, run.paths);
    return err;
}
