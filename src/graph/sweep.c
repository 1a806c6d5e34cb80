/*
 * Runs paths from many sources as a pass (graph/sweep.h). The source of the pass has no rows: each
 * of its units stands for a batch of sources, so that resuming, progress and interrupts are those
 * of any pass. Each worker has a workspace of its own, whose distances the fold reads before the
 * worker takes another batch.
 */
#include "graph/sweep.h"

#include "stream/pass.h"

struct ny_sweeping {
    struct ny_sweep *sweep;
    struct ny_source source; /* what the pass reads: a unit is a batch */
    struct ny_paths **paths; /* one a worker */
    const float **distances; /* of its batch */
};

struct ny_sweeping *ny_sweep_lay(struct ny_layout *l, const struct ny_edges *graph, size_t lanes,
                                 unsigned workers)
{
    struct ny_sweeping spare, *run = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);

    run->paths = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->paths));
    run->distances = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->distances));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_paths *paths = ny_paths_lay(l, graph, lanes);

        if (run->paths) run->paths[w] = paths;
    }
    return ny_laid(l, run);
}

static size_t batch_of(const struct ny_sweep *sweep, uint64_t batch, size_t *first)
{
    size_t left;

    *first = sweep->first + (size_t)batch * sweep->lanes;
    left = sweep->count - *first;
    return left < sweep->lanes ? left : sweep->lanes;
}

/* ---- the pass ------------------------------------------------------------------------------- */

static int take(struct ny_source *source, struct ny_tile *tile)
{
    tile->rows = NY_UNIT_ROWS;
    return tile->unit * NY_UNIT_ROWS < source->n ? NY_OK : NY_END;
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct ny_sweeping *run = arg;
    size_t first, count = batch_of(run->sweep, tile->unit, &first);

    return ny_paths_from(run->paths[tile->worker], run->sweep->sources + first, count,
                         &run->distances[tile->worker]);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct ny_sweeping *run = arg;
    const struct ny_sweep *sweep = run->sweep;
    struct ny_swept batch = {.lanes = sweep->lanes, .distances = run->distances[tile->worker]};

    batch.count = batch_of(sweep, tile->unit, &batch.first);
    return sweep->fold(sweep->arg, &batch);
}

static int checkpoint(void *arg, uint64_t batches_done)
{
    const struct ny_sweep *sweep = ((struct ny_sweeping *)arg)->sweep;
    size_t done = sweep->first + (size_t)batches_done * sweep->lanes;

    if (done > sweep->count) done = sweep->count;
    return sweep->checkpoint ? sweep->checkpoint(sweep->arg, done) : NY_OK;
}

static int run_pass(struct ny_sweeping *run)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    const struct ny_sweep *sweep = run->sweep;

    return ny_pass_run(
        &(struct ny_pass){.source = &run->source, .stage = sweep->stage, .workers = sweep->workers},
        &work, run);
}

int ny_sweep_run(struct ny_sweep *sweep)
{
    static const struct ny_source_ops ops = {.take = take};
    struct ny_layout l = {.ctx = sweep->graph->ctx};
    uint64_t batches = (sweep->count - sweep->first + sweep->lanes - 1) / sweep->lanes;
    struct ny_sweeping *run;
    int err;

    if (!batches) return NY_OK;
    if (sweep->workers > batches) sweep->workers = (unsigned)batches;
    run = ny_sweep_lay(&l, sweep->graph, sweep->lanes, sweep->workers);
    if (!run) return ny_layout_end(&l);
    run->sweep = sweep;
    run->source = (struct ny_source){.ops = &ops, .ctx = l.ctx, .n = batches * NY_UNIT_ROWS};
    err = run_pass(run);
    ny_layout_free(&l);
    return err;
}
