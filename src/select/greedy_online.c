/* One pass that selects and lets another follow: batch by batch, so that rows are read once. */
#include "select/greedy.h"

/* 16,384 rows: selection and its follower wait for one another once a batch, and both find its
 * rows in the page cache. A batch is rows, not time: results depend on it. */
enum { BATCH_UNITS = 8 };

static int checkpoint(const struct ny_decided *decided)
{
    return ny_greedy_checkpoint(decided->selection,
                                (decided->rows + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS);
}

static int decide_batch(struct ny_greedy *greedy, uint64_t first_unit, uint64_t rows)
{
    const struct ny_selection_request *request = greedy->request;
    struct ny_source *source;
    int err = ny_source_of_points(&source, request->store, rows, request->spec->slots,
                                  greedy->workers);

    if (err) return err;
    err = ny_greedy_run(greedy, source, first_unit, request->checkpoint != NULL);
    ny_source_free(source);
    return err;
}

int ny_greedy_run_followed(struct ny_greedy *greedy, uint64_t first_unit)
{
    const struct ny_follower *follower = greedy->request->follower;
    uint64_t units = (greedy->n + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS;
    /* A resumed one may have decided a batch that is not followed yet. */
    uint64_t end = (first_unit + BATCH_UNITS - 1) / BATCH_UNITS * BATCH_UNITS;
    int err = NY_OK;

    for (; !err; end += BATCH_UNITS) {
        uint64_t rows = end * NY_UNIT_ROWS < greedy->n ? end * NY_UNIT_ROWS : greedy->n;
        struct ny_decided decided = {greedy->dictionary, rows, checkpoint, greedy};

        if (first_unit < end) err = decide_batch(greedy, first_unit, rows);
        if (!err) err = follower->follow(follower->arg, &decided);
        first_unit = end;
        if (end >= units) break;
    }
    return err;
}
