/* The pass that measures δ of all rows on the present dictionary, and sets their bounds. */
#include "select/rpcholesky.h"

#include "base/peers.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "select/rules_private.h"

/* Keeps the lowest row of the unit whose δ no positive semi-definite kernel has; the fold then
 * reports it, in row order. */
static void note_bad(struct ny_pivot_worker *worker, uint64_t row, double delta, double k)
{
    if (worker->bad && worker->bad_row < row) return;
    worker->bad = true;
    worker->bad_row = row;
    worker->bad_delta = delta;
    worker->bad_k = k;
}

/* Sets the bounds while nothing is selected yet: δ = k(x,x). */
static void set_diagonal(struct ny_pivot_worker *worker, uint64_t first_row)
{
    const struct ny_front *front = &worker->front;

    for (size_t i = 0; i < front->count; i++) {
        if (!(front->k[i] >= 0) || !isfinite(front->k[i]))
            note_bad(worker, first_row + front->index[i], front->k[i], front->k[i]);
        worker->bounds[front->index[i]] = ny_delta_bound(front->k[i]);
    }
}

/* δ only falls with more columns: rows leave as soon as their bound is low enough. Rows with δ
 * below NY_EXACT_BELOW·k(x,x) go on in f64: f32 cannot say how small it is. */
static void leave32(const struct ny_rpcholesky *rp, struct ny_pivot_worker *worker)
{
    struct ny_front *front = &worker->front;
    size_t kept = 0;

    for (size_t i = 0; i < front->count; i++) {
        double delta = front->delta[i], scale = front->scale[i], band = NY_BAND * scale;

        if (delta >= -band && delta + band <= rp->now.enough)
            worker->bounds[front->index[i]] = ny_delta_bound(delta + band);
        else if (delta >= NY_EXACT_BELOW * scale && delta <= scale + band)
            ny_front_move(front, kept++, i);
        else
            worker->again[front->index[i]] = true;
    }
    front->count = kept;
}

/* Measures the rows of the front in f32. What stays to the end gets δ plus the band as its bound.
 * */
static int measure32(struct ny_rpcholesky *rp, struct ny_pivot_worker *worker,
                     const struct ny_prefix *prefix)
{
    struct ny_front *front = &worker->front;
    int err = ny_front_reserve(front, prefix->rank);

    while (!err && front->count && front->done < prefix->rank) {
        ny_front_step(front, rp->dictionary, prefix, ny_front_next(front->done, prefix->rank));
        leave32(rp, worker);
    }
    for (size_t i = 0; !err && i < front->count; i++)
        worker->bounds[front->index[i]] =
            ny_delta_bound(front->delta[i] + NY_BAND * front->scale[i]);
    return err;
}

/* Sets the bounds of a block in f64 after each step; rows leave once their bound is low enough. */
static void leave64(const struct ny_rpcholesky *rp, struct ny_pivot_worker *worker,
                    struct ny_front *block, uint64_t first_row, size_t done)
{
    double zero = ny_pivot_zero(rp);
    size_t kept = 0;

    for (size_t i = 0; i < block->count; i++) {
        double delta = worker->exact.delta[i];
        double bound = delta > zero ? delta + ny_front_slack(block, i, done) : 0;

        if (!(delta >= -NY_NOT_PSD * fabs(block->k[i])) || !isfinite(delta))
            note_bad(worker, first_row + block->index[i], delta, block->k[i]);
        worker->bounds[block->index[i]] = ny_delta_bound(bound);
        if (bound <= rp->now.enough) continue;
        ny_exact_move(&worker->exact, kept, i, done);
        ny_front_move(block, kept++, i);
    }
    block->count = kept;
}

int ny_pivot_step(const struct ny_rpcholesky *rp, struct ny_exact *exact,
                  const struct ny_front *block, size_t from, size_t *to)
{
    size_t rank = rp->dictionary->rank;
    struct ny_prefix prefix = {.tail = rp->dictionary->panels[from / NY_DICTIONARY_PANEL]->columns};

    *to = prefix.rank = rank - from < NY_PIVOT_STEP ? rank : from + NY_PIVOT_STEP;
    return ny_exact_step(exact, block, rp->dictionary, &prefix, from);
}

/* Measures one block in f64, in short steps, so that rows leave soon. */
static int measure_block(struct ny_rpcholesky *rp, struct ny_pivot_worker *worker,
                         struct ny_front *block, uint64_t first_row)
{
    size_t rank = rp->dictionary->rank;
    int err = ny_exact_begin(&worker->exact, block, rp->dictionary, rank);

    for (size_t from = 0, to; !err && block->count && from < rank; from = to) {
        err = ny_pivot_step(rp, &worker->exact, block, from, &to);
        if (!err) leave64(rp, worker, block, first_row, to);
    }
    return err;
}

/* Measures the rows of the front in f64, block by block. */
static int measure64(struct ny_rpcholesky *rp, struct ny_pivot_worker *worker, uint64_t first_row)
{
    struct ny_front *front = &worker->front;
    int err = NY_OK;

    for (size_t first = 0; !err && first < front->count; first += NY_FRONT_BLOCK) {
        size_t left = front->count - first;
        struct ny_front block =
            ny_front_view(front, first, left < NY_FRONT_BLOCK ? left : NY_FRONT_BLOCK);

        err = measure_block(rp, worker, &block, first_row);
    }
    return err;
}

/* Returns the number, among all rows, of the first one of the tile. */
static uint64_t row_of(const struct ny_rpcholesky *rp, const struct ny_tile *tile)
{
    return rp->here.first + tile->first_row;
}

/* Loads those rows, from `first` on, that are to be measured. */
static int load(struct ny_rpcholesky *rp, struct ny_pivot_worker *worker,
                const struct ny_tile *tile, size_t first)
{
    struct ny_front *front = &worker->front;
    int err = ny_front_load(front, rp->dictionary, worker->workspace, tile, first);
    size_t kept = 0;

    if (err) return err;
    err = ny_front_begin(front, rp->dictionary);
    for (size_t i = 0; i < front->count; i++)
        if (worker->again[first + i]) ny_front_move(front, kept++, i);
    front->count = kept;
    return err;
}

/* Measures the rows from `first` on that the front has room for, in f32 where that tells something:
 * its substitution needs pivots that are not small. */
static int measure_part(struct ny_rpcholesky *rp, struct ny_pivot_worker *worker,
                        const struct ny_tile *tile, size_t first)
{
    struct ny_prefix prefix = ny_dictionary_now(rp->dictionary);
    bool exact = rp->now.certified || rp->now.least_share < NY_EXACT_BELOW;
    int err = load(rp, worker, tile, first);

    if (err) return err;
    if (!prefix.rank) {
        set_diagonal(worker, row_of(rp, tile));
        return NY_OK;
    }
    if (exact) return measure64(rp, worker, row_of(rp, tile));
    memset(worker->again + first, 0, worker->front.rows_max * sizeof(*worker->again));
    err = measure32(rp, worker, &prefix);
    if (!err) err = load(rp, worker, tile, first);
    return err ? err : measure64(rp, worker, row_of(rp, tile));
}

/* Measures the rows of a unit whose bounds are not low enough yet: the pass's `unit`. */
static int measure_unit(void *arg, const struct ny_tile *tile)
{
    struct ny_rpcholesky *rp = arg;
    struct ny_pivot_worker *worker = &rp->worker[tile->worker];
    size_t rank = rp->dictionary->rank;
    int err = NY_OK;

    worker->bad = false;
    worker->front.flops = worker->exact.flops = 0;
    memcpy(worker->bounds, rp->bounds + row_of(rp, tile), tile->rows * sizeof(*worker->bounds));
    for (size_t i = 0; i < tile->rows; i++)
        worker->again[i] = !rank || (double)worker->bounds[i] > rp->now.enough;
    for (size_t first = 0; !err && first < tile->rows; first += worker->front.rows_max)
        err = measure_part(rp, worker, tile, first);
    return err;
}

/* All its bounds are low enough. */
static bool skip_unit(void *arg, uint64_t unit)
{
    const struct ny_rpcholesky *rp = arg;
    uint64_t first = rp->here.first + unit * NY_UNIT_ROWS, end = first + NY_UNIT_ROWS;

    for (uint64_t row = first; row < end && row < rp->here.end; row++)
        if ((double)rp->bounds[row] > rp->now.enough) return false;
    return true;
}

/* Takes the bounds of a unit over, in unit order: the pass's `fold`. */
static int take_over(void *arg, const struct ny_tile *tile)
{
    struct ny_rpcholesky *rp = arg;
    struct ny_pivot_worker *worker = &rp->worker[tile->worker];

    if (tile->skipped) return NY_OK;
    rp->now.rows_read += tile->rows;
    rp->now.flops += worker->front.flops + worker->exact.flops;
    memcpy(rp->bounds + row_of(rp, tile), worker->bounds, tile->rows * sizeof(*worker->bounds));
    if (!worker->bad) return NY_OK;
    return ny_selection_not_psd(rp->request, worker->bad_row, worker->bad_delta, worker->bad_k);
}

/* Makes of what this peer has read and computed in the pass what all of them have. */
static int count_for_all(struct ny_rpcholesky *rp, struct ny_peers *peers)
{
    double since[] = {(double)(rp->now.rows_read - rp->start.rows_read),
                      rp->now.flops - rp->start.flops};
    int err = ny_peers_fold(peers, since, 2);

    rp->now.rows_read = rp->start.rows_read + (uint64_t)since[0];
    rp->now.flops = rp->start.flops + since[1];
    return err;
}

static int run_pass(struct ny_rpcholesky *rp, struct ny_source *source, uint64_t first_unit)
{
    const struct ny_pass pass = {.source = source,
                                 .stage = "select",
                                 .workers = rp->workers,
                                 .first_unit = first_unit,
                                 .skip = rp->now.measured ? skip_unit : NULL};
    const struct ny_pass_work work = {
        .unit = measure_unit,
        .fold = take_over,
        .checkpoint = rp->request->checkpoint.save ? ny_pivot_checkpoint : NULL};
    struct ny_peers *peers = ny_context_peers(rp->ctx);
    int err;

    if (!rp->resumed) rp->start = (struct ny_pivot_start){rp->now.rows_read, rp->now.flops};
    rp->resumed = false;
    err = ny_pass_run(&pass, &work, rp);
    if (err) return err;
    rp->now.passes++;
    if (!peers) return NY_OK;
    err = ny_rows_complete(rp->request->X, rp->n, rp->bounds, sizeof(*rp->bounds));
    return err ? err : count_for_all(rp, peers);
}

int ny_pivot_measure(struct ny_rpcholesky *rp, struct ny_source *source, uint64_t first_unit)
{
    int err = NY_OK;

    if (rp->now.measured || !rp->request->spec->kernel->constant_diagonal)
        err = run_pass(rp, source, first_unit);
    else
        for (uint64_t i = 0; i < rp->n; i++)
            rp->bounds[i] = 1;
    if (err) return err;
    rp->now.measuring = false;
    rp->now.fresh = true;
    rp->now.measured++;
    rp->now.measured_at = ny_dictionary_size(rp->dictionary);
    for (uint64_t i = 0; rp->now.measured == 1 && i < rp->n; i++)
        if ((double)rp->bounds[i] > rp->now.largest) rp->now.largest = (double)rp->bounds[i];
    return NY_OK;
}
