/*
 * The engine of ny_pass_run(). Stages that read the points as a stream call it, from the sums of a
 * fit to the neighbours of a graph.
 *
 * One lock guards the counters next and folded. A worker takes unit `next` from the source under
 * the lock, computes it without, waits until folded == its unit, folds it outside of the lock
 * (nobody else may fold then) and passes the turn on. `ahead_max` bounds next − folded, where folds
 * need what earlier units left. Units that need no reading are taken together with the next one
 * that does: if other workers took them, they would only wait for their turn.
 *
 * A worker that waits, or for whom no unit is left, helps those that compute one (stream/share.h).
 *
 * An error, an interrupt or NY_END of a fold sets `stop`; workers then take no further unit and
 * fold nothing more. What is folded stays folded, and a checkpoint is made before an interrupt is
 * obeyed.
 */
#include "stream/pass.h"

#include "base/clock.h"
#include "base/progress.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "stream/share.h"

/* The state of a running pass, shared by its workers. */
struct run {
    const struct ny_pass *pass;
    const struct ny_pass_work *work;
    void *arg;
    struct ny_sharing sharing; /* its lock guards what follows, and is held while a source is asked
                                * for a unit; `changed` tells of folded and stop as well */
    uint64_t next;             /* the unit to be taken next */
    uint64_t folded;           /* units < folded are folded */
    double checkpoint_s;       /* when the last checkpoint was made */
    bool stop;                 /* an error, an interrupt, or the end of the source */
    struct ny_meter meter;
};

/* Ends the pass for all workers, those included that wait for their turn. */
static void stop(struct run *run)
{
    ny_mutex_lock(&run->sharing.lock);
    run->stop = true;
    ny_cond_broadcast(&run->sharing.changed);
    ny_mutex_unlock(&run->sharing.lock);
}

/* Keeps `ahead_max` units at most between the last one folded and the next one taken: so the budget
 * decides what is in flight, not what is computed. */
static bool may_start(const struct run *run)
{
    const struct ny_pass *pass = run->pass;

    return !pass->ahead_max || run->next < run->folded + pass->ahead_max;
}

/* Takes the unit run->next. */
static int take_one(struct run *run, struct ny_tile *tile)
{
    const struct ny_pass *pass = run->pass;
    int err;

    tile->unit = run->next;
    tile->first_row = run->next * NY_UNIT_ROWS;
    tile->skipped = pass->skip && pass->skip(run->arg, tile->unit);
    err = pass->source->ops->take(pass->source, tile);
    if (err == NY_OK) run->next++;
    return err;
}

/* Takes the next unit for this worker, and the skipped units before it, from *first on: if other
 * workers took these, they would only wait for their turn. Returns NY_END when there is none, or
 * none any more. */
static int take(struct run *run, struct ny_tile *tile, uint64_t *first)
{
    int err = NY_OK;

    ny_mutex_lock(&run->sharing.lock);
    while (!run->stop && !may_start(run))
        ny_sharing_help(&run->sharing, tile->worker);
    *first = run->next;
    if (run->stop) err = NY_END;
    if (!err) err = take_one(run, tile);
    while (!err && tile->skipped && may_start(run)) {
        struct ny_tile next = *tile;

        err = take_one(run, &next);
        if (!err) *tile = next;
    }
    if (err == NY_END && run->next > *first) err = NY_OK;
    ny_mutex_unlock(&run->sharing.lock);
    return err;
}

/* Waits until it is this tile's turn; NY_END when the pass stops before. */
static int wait_for_turn(struct run *run, const struct ny_tile *tile)
{
    bool stopped;

    ny_mutex_lock(&run->sharing.lock);
    while (run->folded != tile->unit && !run->stop)
        ny_sharing_help(&run->sharing, tile->worker);
    stopped = run->stop;
    ny_mutex_unlock(&run->sharing.lock);
    return stopped ? NY_END : NY_OK;
}

/* Interrupts are obeyed here, between two folds, after a checkpoint. */
static int checkpoint(struct run *run, uint64_t units_done)
{
    int interrupted = ny_check_interrupt(run->pass->source->ctx);
    double now_s = ny_now();
    int err = NY_OK;

    if (run->work->checkpoint &&
        (interrupted ||
         now_s - run->checkpoint_s >= ny_context_checkpoint_s(run->pass->source->ctx))) {
        err = run->work->checkpoint(run->arg, units_done);
        run->checkpoint_s = ny_now();
    }
    return err ? err : interrupted;
}

/* Folds one tile in its turn, tells the progress, and makes a checkpoint before the turn is passed
 * on: nobody folds while the state is saved. */
static int fold(struct run *run, const struct ny_tile *tile)
{
    const struct ny_pass *pass = run->pass;
    double rows_read = tile->skipped ? 0 : (double)tile->rows;
    int err;

    err = wait_for_turn(run, tile);
    if (err) return err;
    if (run->work->fold) err = run->work->fold(run->arg, tile);
    if (err == NY_END) stop(run);
    if (err) return err;
    ny_meter_add(&run->meter, tile->rows, rows_read * pass->source->stored_bytes_per_row,
                 rows_read * pass->flops_per_row);
    err = checkpoint(run, tile->unit + 1);
    if (err) return err;
    ny_mutex_lock(&run->sharing.lock);
    run->folded = tile->unit + 1;
    ny_cond_broadcast(&run->sharing.changed);
    ny_mutex_unlock(&run->sharing.lock);
    return NY_OK;
}

/* Folds the skipped units from `first` on, then the tile. */
static int fold_all(struct run *run, uint64_t first, const struct ny_tile *tile)
{
    struct ny_tile skipped = *tile;
    int err = NY_OK;

    skipped.skipped = true;
    skipped.rows = NY_UNIT_ROWS;
    for (uint64_t unit = first; unit < tile->unit && !err; unit++) {
        skipped.unit = unit;
        skipped.first_row = unit * NY_UNIT_ROWS;
        err = fold(run, &skipped);
    }
    return err ? err : fold(run, tile);
}

/* Helps the others until all units that were taken are folded. */
static void help_others(struct run *run, unsigned worker)
{
    ny_mutex_lock(&run->sharing.lock);
    while (run->folded != run->next && !run->stop)
        ny_sharing_help(&run->sharing, worker);
    ny_mutex_unlock(&run->sharing.lock);
}

/* Runs one worker until the source ends or the pass stops; NY_END is no error. */
static int work(void *arg, unsigned worker)
{
    struct run *run = arg;
    bool alone = run->pass->workers == 1;
    struct ny_tile tile = {
        .source = run->pass->source, .worker = worker, .sharing = alone ? NULL : &run->sharing};
    uint64_t first;
    int err;

    while ((err = take(run, &tile, &first)) == NY_OK) {
        if (!tile.skipped) err = run->work->unit(run->arg, &tile);
        if (err) break;
        err = fold_all(run, first, &tile);
        if (err) break;
    }
    if (err == NY_END)
        help_others(run, worker);
    else
        stop(run);
    return err == NY_END ? NY_OK : err;
}

int ny_pass_run(const struct ny_pass *pass, const struct ny_pass_work *pass_work, void *arg)
{
    struct run run = {.pass = pass,
                      .work = pass_work,
                      .arg = arg,
                      .next = pass->first_unit,
                      .folded = pass->first_unit,
                      .checkpoint_s = ny_now()};
    uint64_t first_row = pass->first_unit * NY_UNIT_ROWS, n = pass->source->n;
    int err;

    if (n && first_row > n) first_row = n; /* all was folded before: the last unit is short */
    ny_sharing_init(&run.sharing);
    ny_meter_start(&run.meter, pass->source->ctx, pass->stage, first_row,
                   pass->rows_total ? pass->rows_total : n);
    err = ny_parallel(pass->source->ctx, pass->workers, work, &run);
    ny_meter_finish(&run.meter);
    ny_sharing_release(&run.sharing);
    return err;
}
