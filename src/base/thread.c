/*
 * Starts threads for ny_parallel(), ny_parallel_ranges() and teams. The caller's thread is always
 * worker 0; the others block all signals, so that an interrupt reaches the thread that can act on
 * it.
 *
 * Work does not depend on how many threads the system grants. Jobs whose thread could not be
 * started are run by the caller after the others, one by one; a team, whose workers wait for each
 * other, is formed by those that were started and is told their number before its first step.
 *
 * Members of a team stay awake between steps, since starting threads takes as long as half of the
 * products of a multigrid cycle (graph/multigrid.h). A worker that waits spins 4,096 times and then
 * gives its CPU to other threads.
 */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "base/memory.h"

/* One worker: what it runs, and the status that it left. */
struct job {
    ny_work_fn *work;
    void *arg;
    unsigned worker;
    int status;
    pthread_t thread;
};

static void *run_job(void *arg)
{
    struct job *job = arg;

    job->status = job->work(job->arg, job->worker);
    return NULL;
}

/* Starts jobs 1 … workers−1 with signals blocked, so that they reach the calling thread; SIGBUS is
 * for the thread that reads a map (base/guard.h), and would end the process if that blocked it.
 * Returns how many were started; the others are run by the caller. */
static unsigned start_jobs(struct job *jobs, unsigned workers)
{
    sigset_t all, before;
    unsigned started = 1;

    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < workers &&
           pthread_create(&jobs[started].thread, NULL, run_job, &jobs[started]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* begin(arg, started), if it is given, is called once jobs have been started; those that could not
 * be are run after the others, or left out where there is a begin(). */
static int run_jobs(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg,
                    void (*begin)(void *arg, unsigned started))
{
    struct job *jobs = ny_calloc(ctx, NY_MEM_OTHER, workers, sizeof(*jobs));
    unsigned started;
    int err = NY_OK;

    if (!jobs) return NY_EBUDGET;
    for (unsigned w = 0; w < workers; w++)
        jobs[w] = (struct job){.work = work, .arg = arg, .worker = w};
    started = start_jobs(jobs, workers);
    if (begin) begin(arg, started);
    run_job(&jobs[0]);
    for (unsigned w = 1; w < started; w++)
        pthread_join(jobs[w].thread, NULL);
    if (!begin)
        for (unsigned w = started; w < workers; w++)
            run_job(&jobs[w]);
    for (unsigned w = workers; w-- > 0;)
        if (jobs[w].status) err = jobs[w].status;
    ny_free(ctx, jobs);
    return err;
}

int ny_parallel(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg)
{
    return workers <= 1 ? work(arg, 0) : run_jobs(ctx, workers, work, arg, NULL);
}

/* Items of worker w are from share_begin(items, workers, w) to that of w + 1. */
static size_t share_begin(size_t items, unsigned workers, unsigned worker)
{
    return items / workers * worker + items % workers * worker / workers;
}

struct ranges {
    ny_range_fn *work;
    void *arg;
    size_t items;
    unsigned workers;
};

/* Runs the contiguous share of one worker; a worker without items does nothing. */
static int run_share(void *arg, unsigned worker)
{
    const struct ranges *r = arg;
    size_t first = share_begin(r->items, r->workers, worker);
    size_t next = share_begin(r->items, r->workers, worker + 1);

    return next > first ? r->work(r->arg, first, next - first) : NY_OK;
}

int ny_parallel_ranges(struct ny_context *ctx, size_t items, ny_range_fn *work, void *arg)
{
    struct ranges r = {work, arg, items, ny_context_crew(ctx)};

    return ny_parallel(ctx, r.workers, run_share, &r);
}

/* ---- teams ---------------------------------------------------------------------------------- */

struct team_job {
    ny_team_fn *work;
    void *arg;
    struct ny_team team;
};

/* Waits until the round is over. Workers have equal shares, so that the wait is shorter than it
 * takes to wake a thread that sleeps. If it is not, other threads get the CPU. */
static void await(struct ny_team *team, unsigned round)
{
    enum { SPINS = 4096 };

    for (unsigned i = 0; atomic_load_explicit(&team->round, memory_order_acquire) == round; i++)
        if (i >= SPINS) sched_yield();
}

/* Lets the members go that wait in run_member(), once their number is known. */
static void begin_team(void *arg, unsigned started)
{
    struct team_job *job = arg;

    job->team.workers = started;
    atomic_store_explicit(&job->team.round, 1, memory_order_release);
}

/* Waits for begin_team(), then works: a member must not read the number of workers before it is
 * set. */
static int run_member(void *arg, unsigned index)
{
    struct team_job *job = arg;
    const struct ny_worker worker = {&job->team, index};

    await(&job->team, 0);
    return job->work(job->arg, &worker);
}

int ny_parallel_team(struct ny_context *ctx, ny_team_fn *work, void *arg)
{
    struct team_job job = {.work = work, .arg = arg, .team = {.ctx = ctx}};

    return run_jobs(ctx, ny_context_crew(ctx), run_member, &job, begin_team);
}

/* Workers that wait for one another: a team that has to be whole. */
struct together {
    ny_work_fn *work;
    void *arg;
    unsigned workers;
};

static int run_together(void *arg, const struct ny_worker *worker)
{
    const struct together *together = arg;
    const struct ny_team *team = worker->team;

    if (team->workers < together->workers)
        return ny_fail(team->ctx, NY_EBUDGET,
                       "the system grants %u threads of the %u that have to run together; raise "
                       "its limit (ulimit -u), or use fewer shards",
                       team->workers, together->workers);
    return together->work(together->arg, worker->index);
}

int ny_parallel_all(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg)
{
    struct together together = {work, arg, workers};
    struct team_job job = {.work = run_together, .arg = &together, .team = {.ctx = ctx}};

    return run_jobs(ctx, workers, run_member, &job, begin_team);
}

int ny_alone(struct ny_context *ctx, ny_team_fn *work, void *arg)
{
    struct ny_team team = {.ctx = ctx, .workers = 1};
    const struct ny_worker worker = {&team, 0};

    return work(arg, &worker);
}

void ny_team_meet(const struct ny_worker *worker)
{
    struct ny_team *team = worker->team;
    unsigned round = atomic_load_explicit(&team->round, memory_order_relaxed);

    if (atomic_fetch_add(&team->arrived, 1) + 1 < team->workers) {
        await(team, round);
        return;
    }
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&team->round, round + 1, memory_order_release);
}

void ny_team_step(const struct ny_worker *worker, size_t items, ny_step_fn *work, void *arg)
{
    unsigned workers = items < NY_TEAM_ITEMS ? 1 : worker->team->workers;
    size_t first = share_begin(items, workers, worker->index);

    if (worker->index < workers)
        work(arg, first, share_begin(items, workers, worker->index + 1) - first);
    ny_team_meet(worker);
}

int ny_team_check(const struct ny_worker *worker)
{
    struct ny_team *team = worker->team;

    if (worker->index == 0) team->status = ny_check_interrupt(team->ctx);
    ny_team_meet(worker);
    return team->status;
}
