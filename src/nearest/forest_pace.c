/* Shares a walk over the forest's buckets or rows out to threads, and makes its checkpoints. */
#include "base/clock.h"
#include "nearest/forest_private.h"

void ny_forest_count(struct ny_forest *forest, double pairs)
{
    ny_mutex_lock(&forest->lock[0]);
    forest->pairs += pairs;
    ny_mutex_unlock(&forest->lock[0]);
}

bool ny_queue_take(struct ny_queue *queue, uint64_t count, uint64_t *first)
{
    bool some;

    ny_mutex_lock(&queue->lock);
    *first = queue->next;
    some = queue->next < queue->end;
    queue->next += count;
    ny_mutex_unlock(&queue->lock);
    return some;
}

/* Images may be large: writing them is to take a tenth of the time at most. */
int ny_forest_pace(struct ny_forest *forest, const struct ny_forest_progress *progress,
                   uint64_t first, uint64_t done, int err)
{
    bool interrupted = ny_is_interrupt(err);
    double start_s = ny_now(), interval_s = forest->knn->checkpoint_s;
    int late;

    if (interval_s > 0 && interval_s < 10 * forest->checkpoint_cost_s)
        interval_s = 10 * forest->checkpoint_cost_s;
    if (!progress->checkpoint || (err && !interrupted)) return err;
    if (!interrupted && start_s - forest->checkpoint_s < interval_s) return NY_OK;
    late = progress->checkpoint(progress->arg, interrupted ? first : done);
    forest->checkpoint_s = ny_now();
    forest->checkpoint_cost_s = forest->checkpoint_s - start_s;
    return late ? late : err;
}

int ny_forest_keep(struct ny_forest *forest, const struct ny_forest_progress *progress,
                   uint64_t done, int err)
{
    if (!ny_is_interrupt(err) || !(forest->pairs > 0)) return err;
    return ny_forest_pace(forest, progress, done, done, err);
}
