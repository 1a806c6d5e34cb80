#include "base/mutex.h"

#include <time.h>

static pthread_mutex_t shared[NY_SHARED_LOCKS] = {
    [NY_SHARED_STORES] = PTHREAD_MUTEX_INITIALIZER,
    [NY_SHARED_BLAS] = PTHREAD_MUTEX_INITIALIZER,
};
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void take_all(void)
{
    for (size_t i = 0; i < NY_SHARED_LOCKS; i++)
        pthread_mutex_lock(&shared[i]);
}

static void give_all(void)
{
    for (size_t i = 0; i < NY_SHARED_LOCKS; i++)
        pthread_mutex_unlock(&shared[i]);
}

/* Forks are as they were where there is no memory for this. */
static void watch_forks(void)
{
    (void)pthread_atfork(take_all, give_all, give_all);
}

void ny_shared_lock(enum ny_shared what)
{
    pthread_once(&watching, watch_forks);
    pthread_mutex_lock(&shared[what]);
}

void ny_shared_unlock(enum ny_shared what)
{
    pthread_mutex_unlock(&shared[what]);
}

void ny_once(struct ny_once *once, void (*work)(void))
{
    pthread_once(&once->native, work);
}

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
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* ny_cond_wait_for() goes by it */
    pthread_cond_init(&cond->native, &attributes);
    pthread_condattr_destroy(&attributes);
}

void ny_cond_release(struct ny_cond *cond)
{
    pthread_cond_destroy(&cond->native);
}

void ny_cond_wait(struct ny_cond *cond, struct ny_mutex *mutex)
{
    pthread_cond_wait(&cond->native, &mutex->native);
}

void ny_cond_wait_for(struct ny_cond *cond, struct ny_mutex *mutex, double seconds)
{
    const long second_ns = 1000000000;
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)seconds;
    end.tv_nsec += (long)((seconds - (double)(time_t)seconds) * (double)second_ns);
    if (end.tv_nsec >= second_ns) {
        end.tv_sec++;
        end.tv_nsec -= second_ns;
    }
    pthread_cond_timedwait(&cond->native, &mutex->native, &end);
}

void ny_cond_broadcast(struct ny_cond *cond)
{
    pthread_cond_broadcast(&cond->native);
}
