/* Work on a matrix that a team shares, in parts that are cut by shapes alone: the number of threads
 * decides who does a part, and changes no bit. */
#ifndef NY_LINALG_PARTS_H
#define NY_LINALG_PARTS_H

#include "base/thread.h"

/* Returns how many parts of `part` items each, the last one smaller, so many items have. */
static inline size_t ny_parts_of(size_t items, size_t part)
{
    return (items + part - 1) / part;
}

/* Tells whether part `i` is this worker's. Parts of a triangle grow: they are dealt out forth and
 * back, so that shares are equal. */
static inline bool ny_part_is_mine(const struct ny_worker *worker, size_t i)
{
    size_t workers = worker->team->workers, at = i % (2 * workers);

    return (at < workers ? at : 2 * workers - 1 - at) == worker->index;
}

/* Runs work on a matrix of order m as ny_parallel_team(), each worker with one BLAS thread; alone
 * where threads take longer to start. NY_EINTERRUPTED, NY_ETERMINATED before it begins. */
int ny_parts_run(struct ny_context *ctx, size_t m, ny_team_fn *work, void *arg);

#endif
