/* One pass that selects and lets another follow: batch by batch, so that rows are read once. */
#include "base/clock.h"
#include "select/greedy.h"

enum { BATCH_UNITS = NY_ONLINE_ROWS / NY_UNIT_ROWS };

static int checkpoint(const struct ny_decided *decided)
{
    return ny_greedy_checkpoint(decided->selection, ny_units_of(decided->rows));
}

static int decide_batch(struct ny_greedy *greedy, uint64_t first_unit, uint64_t rows)
{
    const struct ny_selection_request *request = greedy->request;
    const struct ny_greedy_limits limits = ny_greedy_limits_of(request);
    struct ny_source *source;
    int err = ny_rows_source(request->X, rows, request->spec->slots, greedy->workers, &source);

    if (err) return err;
    err = ny_greedy_run(greedy, &limits, source, first_unit, request->checkpoint.save != NULL);
    ny_source_free(source);
    return err;
}

/* Batches are shorter than the time between two checkpoints: a pass alone would make none. */
static int checkpoint_if_due(const struct ny_greedy *greedy, const struct ny_decided *decided)
{
    const struct ny_selection_request *request = greedy->request;

    if (!request->checkpoint.save ||
        ny_now() - greedy->checkpoint_s < request->checkpoint.interval_s)
        return NY_OK;
    return checkpoint(decided);
}

int ny_greedy_run_followed(struct ny_greedy *greedy, uint64_t first_unit)
{
    const struct ny_follower *follower = greedy->request->greedy.follower;
    /* A resumed one may have decided a batch that is not followed yet. */
    uint64_t end = (first_unit + BATCH_UNITS - 1) / BATCH_UNITS * BATCH_UNITS;
    int err = NY_OK;

    greedy->checkpoint_s = ny_now();
    do {
        struct ny_decided decided = {greedy->dictionary, end * NY_UNIT_ROWS, checkpoint, greedy};

        if (decided.rows > greedy->n) decided.rows = greedy->n;
        if (first_unit * NY_UNIT_ROWS < decided.rows)
            err = decide_batch(greedy, first_unit, decided.rows);
        if (!err) err = follower->follow(follower->arg, &decided);
        if (!err) err = checkpoint_if_due(greedy, &decided);
        first_unit = end;
        end += BATCH_UNITS;
    } while (!err && first_unit * NY_UNIT_ROWS <= greedy->n);
    return err;
}
