/* Threads: the only place that names pthreads. */
#ifndef NY_BASE_THREAD_H
#define NY_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/context.h"

struct ny_mutex {
    pthread_mutex_t native;
};

struct ny_cond {
    pthread_cond_t native;
};

struct ny_once {
    pthread_once_t native;
};

#define NY_ONCE_INIT {PTHREAD_ONCE_INIT}

/* Runs `work` at the first call; the others wait until it is done. */
void ny_once(struct ny_once *once, void (*work)(void));

void ny_mutex_init(struct ny_mutex *mutex);
void ny_mutex_release(struct ny_mutex *mutex);
void ny_mutex_lock(struct ny_mutex *mutex);
void ny_mutex_unlock(struct ny_mutex *mutex);
void ny_cond_init(struct ny_cond *cond);
void ny_cond_release(struct ny_cond *cond);
void ny_cond_wait(struct ny_cond *cond, struct ny_mutex *mutex);
void ny_cond_broadcast(struct ny_cond *cond);

/* Runs work(arg, worker) for worker = 0 … workers−1, worker 0 on the calling thread, and returns
 * when all have. The status is that of the lowest-numbered worker that failed. Signals are
 * delivered to the calling thread only. */
typedef int ny_work_fn(void *arg, unsigned worker);
int ny_parallel(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg);

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
/* Waits until all workers are here. */
void ny_team_meet(const struct ny_worker *worker);
/* A step: items shared out as by ny_parallel_ranges(), or, fewer than NY_TEAM_ITEMS, done by worker
 * 0. */
enum { NY_TEAM_ITEMS = 256 };
typedef void ny_step_fn(void *arg, size_t first, size_t count);
void ny_team_step(const struct ny_worker *worker, size_t items, ny_step_fn *work, void *arg);
/* ny_check_interrupt(), with one answer for all. A step follows it, or the end. */
int ny_team_check(const struct ny_worker *worker);

#endif
