/* store/store.h: a process that forks while another thread of it opens stores. */
#include "unit/store_checks.h"

#include <stdatomic.h>
#include <sys/wait.h>

#include <pthread.h>

enum { FORKS = 60, PATIENCE_S = 20 };

static atomic_bool enough;

/* Opens and closes the store by a context of its own. */
static int open_once(void)
{
    OWNED(ny_context) *its = NULL;
    struct ny_store *again;
    int err = ny_context_new(&its);

    if (!err) err = ny_store_open(&again, its, path);
    if (!err) ny_store_close(again);
    return err;
}

static void *keep_opening(void *arg)
{
    int *err = arg;

    while (!*err && !atomic_load(&enough))
        *err = open_once();
    return NULL;
}

TEST(a_process_that_was_forked_opens_stores)
{
    pthread_t thread;
    int err = 0, status, bad = 0;

    ny_store_close(store); /* so that the thread opens its files, too */
    store = NULL;
    assert_int_equal(pthread_create(&thread, NULL, keep_opening, &err), 0);
    for (int i = 0; i < FORKS && !bad; i++) {
        pid_t child = fork();

        if (child == 0) {
            alarm(PATIENCE_S);
            _exit(open_once());
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        bad = !WIFEXITED(status) || WEXITSTATUS(status);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    assert_int_equal(err, 0);
    assert_int_equal(bad, 0);
}

AROUND_EACH(start, stop)
