/*
 * Tells what a memory budget allows: the workers that fit it, the least budget that works, and the
 * sentence that refuses one that does not.
 *
 * Whoever needs memory counts it in a layout by the workers and the budget, because buffers grow
 * with the budget. The count must not fall where either of them rises.
 */
#ifndef NY_BASE_BUDGET_H
#define NY_BASE_BUDGET_H

#include "base/layout.h"

/* Counts what so many workers hold under a budget of `limit` bytes. */
typedef void ny_budget_count_fn(struct ny_layout *l, const void *sizes, unsigned workers,
                                size_t limit);

/* Returns the most that they hold at one time. */
size_t ny_budget_held(ny_budget_count_fn *count, const void *sizes, unsigned workers, size_t limit);
/* Returns the most workers, at most `most`, that hold no more than `limit`; 0: not even one. */
unsigned ny_budget_workers(ny_budget_count_fn *count, const void *sizes, unsigned most,
                           size_t limit);
/* Returns the most workers, at most `most` and at least 1, that hold no more than what is left of
 * the budget. */
unsigned ny_budget_workers_left(const struct ny_context *ctx, ny_budget_count_fn *count,
                                const void *sizes, unsigned most);
/* Returns the least budget with which one worker fits. */
size_t ny_budget_least(ny_budget_count_fn *count, const void *sizes);

/* Returns the least budget of the process that this context is a part of, where the part needs
 * `least` bytes and the others as many: with what the process holds for all of them, rounded up. */
size_t ny_budget_of_parts(const struct ny_context *ctx, size_t least);

/* Fails with NY_EBUDGET: this `what` needs `least` bytes `with` (" with 9 landmarks", or ""); give
 * --memory `instead` (", or fewer landmarks", or ""). */
int ny_budget_refuse(struct ny_context *ctx, const char *what, size_t least, const char *with,
                     const char *instead);
/* Refuses where bytes that are still to come are more than what is left. */
int ny_budget_need(struct ny_context *ctx, const char *what, size_t bytes);

#endif
