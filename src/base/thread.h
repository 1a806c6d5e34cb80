/* Threads that share work: in one go, by ranges, or as a team that takes many short steps. */
#ifndef NY_BASE_THREAD_H
#define NY_BASE_THREAD_H

#include <stdatomic.h>

#include "base/context.h"

/* Runs work(arg, worker) for worker = 0 … workers−1, worker 0 on the calling thread, and returns
 * when all have. The status is that of the lowest-numbered worker that failed. Signals are
 * delivered to the calling thread only. */
typedef int ny_work_fn(void *arg, unsigned worker);
int ny_parallel(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg);

/* Runs work(arg, worker) like ny_parallel(), for workers that wait for one another: all of them run
 * at the same time. NY_EBUDGET where the system does not grant that many threads; then none has
 * begun. */
int ny_parallel_all(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg);

/* Splits `items` in equal contiguous shares over ctx's crew of threads: work(arg, first, count). */
typedef int ny_range_fn(void *arg, size_t first, size_t count);
int ny_parallel_ranges(struct ny_context *ctx, size_t items, ny_range_fn *work, void *arg);

/* Work of many short steps: the workers of a team take each step together and wait for each other
 * after it, without being started anew. All of them go the same way through the steps. */
struct ny_team {
    struct ny_context *ctx;
    unsigned workers;
    atomic_uint arrived, round;
    int status;
};

struct ny_worker {
    struct ny_team *team;
    unsigned index;
};

/* Runs work(arg, worker) for each thread of ctx's crew, or as many as could be started. */
typedef int ny_team_fn(void *arg, const struct ny_worker *worker);
int ny_parallel_team(struct ny_context *ctx, ny_team_fn *work, void *arg);
/* Runs work(arg, worker) for a team of one, on the calling thread. */
int ny_alone(struct ny_context *ctx, ny_team_fn *work, void *arg);
/* Waits until all workers are here. */
void ny_team_meet(const struct ny_worker *worker);
/* A step: items shared out as by ny_parallel_ranges(), or, fewer than NY_TEAM_ITEMS, done by worker
 * 0. */
enum { NY_TEAM_ITEMS = 256 };
typedef void ny_step_fn(void *arg, size_t first, size_t count);
/* Shares out the items of a step as ny_parallel_ranges() does, then waits for all workers; fewer
 * than NY_TEAM_ITEMS are done by worker 0. */
void ny_team_step(const struct ny_worker *worker, size_t items, ny_step_fn *work, void *arg);
/* ny_check_interrupt(), with one answer for all. A step follows it, or the end. */
int ny_team_check(const struct ny_worker *worker);

#endif
