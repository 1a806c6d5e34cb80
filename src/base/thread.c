#include "base/thread.h"

#include <signal.h>
#include <stdlib.h>

#include "base/memory.h"

void ny_mutex_init(struct ny_mutex *mutex)
{
    pthread_mutex_init(&mutex->native, NULL);
}

void ny_mutex_release(struct ny_mutex *mutex)
{
    pthread_mutex_destroy(&mutex->native);
}

void ny_mutex_lock(struct ny_mutex *mutex)
{
    pthread_mutex_lock(&mutex->native);
}

void ny_mutex_unlock(struct ny_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->native);
}

void ny_cond_init(struct ny_cond *cond)
{
    pthread_cond_init(&cond->native, NULL);
}

void ny_cond_release(struct ny_cond *cond)
{
    pthread_cond_destroy(&cond->native);
}

void ny_cond_wait(struct ny_cond *cond, struct ny_mutex *mutex)
{
    pthread_cond_wait(&cond->native, &mutex->native);
}

void ny_cond_broadcast(struct ny_cond *cond)
{
    pthread_cond_broadcast(&cond->native);
}

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

/* Starts jobs 1 … workers−1 with all signals blocked, so that they reach the calling thread.
 * Returns how many were started; the others are run by the caller. */
static unsigned start_jobs(struct job *jobs, unsigned workers)
{
    sigset_t all, before;
    unsigned started = 1;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < workers &&
           pthread_create(&jobs[started].thread, NULL, run_job, &jobs[started]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int ny_parallel(struct ny_context *ctx, unsigned workers, ny_work_fn *work, void *arg)
{
    struct job *jobs;
    unsigned started;
    int err = NY_OK;

    if (workers <= 1) return work(arg, 0);
    jobs = ny_calloc(ctx, NY_MEM_OTHER, workers, sizeof(*jobs));
    if (!jobs) return NY_EBUDGET;
    for (unsigned w = 0; w < workers; w++)
        jobs[w] = (struct job){.work = work, .arg = arg, .worker = w};
    started = start_jobs(jobs, workers);
    run_job(&jobs[0]);
    for (unsigned w = 1; w < started; w++)
        pthread_join(jobs[w].thread, NULL);
    for (unsigned w = started; w < workers; w++)
        run_job(&jobs[w]);
    for (unsigned w = workers; w-- > 0;)
        if (jobs[w].status) err = jobs[w].status;
    ny_free(ctx, jobs);
    return err;
}

struct ranges {
    ny_range_fn *work;
    void *arg;
    size_t items, shares;
};

static int run_share(void *arg, unsigned worker)
{
    const struct ranges *r = arg;
    size_t first = r->items / r->shares * worker + (r->items % r->shares * worker) / r->shares;
    size_t next =
        r->items / r->shares * (worker + 1) + (r->items % r->shares * (worker + 1)) / r->shares;

    return next > first ? r->work(r->arg, first, next - first) : NY_OK;
}

int ny_parallel_ranges(struct ny_context *ctx, size_t items, ny_range_fn *work, void *arg)
{
    struct ranges r = {work, arg, items, ny_context_threads(ctx)};

    return ny_parallel(ctx, (unsigned)r.shares, run_share, &r);
}
