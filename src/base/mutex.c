#include "base/mutex.h"

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
