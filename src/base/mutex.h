/* Mutexes, conditions, and work that is done once: beside base/thread.c the only place that names
 * pthreads. */
#ifndef NY_BASE_MUTEX_H
#define NY_BASE_MUTEX_H

#include <pthread.h>

struct ny_mutex {
    pthread_mutex_t native;
};

struct ny_cond {
    pthread_cond_t native;
};

struct ny_once {
    pthread_once_t native;
};

#define NY_ONCE_INIT                                                                               \
    {                                                                                              \
        PTHREAD_ONCE_INIT                                                                          \
    }

/* Locks of things that all contexts of a process share. A fork waits until nobody holds one, so
 * that none is held for ever in the new process, which has only the thread that forked. */
enum ny_shared {
    NY_SHARED_STORES, /* the environments that are open */
    NY_SHARED_BLAS,   /* who uses OpenBLAS */
    NY_SHARED_LOCKS
};

/* Waits until nobody holds the lock, and takes it. No thread holds two of them. */
void ny_shared_lock(enum ny_shared what);
/* Gives the lock back. */
void ny_shared_unlock(enum ny_shared what);

/* Runs `work` at the first call; the others wait until it is done. */
void ny_once(struct ny_once *once, void (*work)(void));

/* Makes a mutex that nobody holds. */
void ny_mutex_init(struct ny_mutex *mutex);
/* Ends the use of a mutex that nobody holds. */
void ny_mutex_release(struct ny_mutex *mutex);
/* Waits until nobody holds the mutex, and takes it. */
void ny_mutex_lock(struct ny_mutex *mutex);
/* Gives the mutex back. */
void ny_mutex_unlock(struct ny_mutex *mutex);
/* Makes a condition that nobody waits for. */
void ny_cond_init(struct ny_cond *cond);
/* Ends the use of a condition that nobody waits for. */
void ny_cond_release(struct ny_cond *cond);
/* Gives the mutex back, waits for a broadcast, and takes it again; may return without one. */
void ny_cond_wait(struct ny_cond *cond, struct ny_mutex *mutex);
/* Waits in the same way, but not longer than so many seconds. */
void ny_cond_wait_for(struct ny_cond *cond, struct ny_mutex *mutex, double seconds);
/* Wakes all threads that wait. */
void ny_cond_broadcast(struct ny_cond *cond);

#endif
