/* A call in a process of its own, which ends at one of its syncs as by a kill: what it has written
 * until then is there, and nothing else. */
#ifndef TESTS_SUPPORT_KILLED_H
#define TESTS_SUPPORT_KILLED_H

#include <sys/wait.h>
#include <unistd.h>

#include "nystream.h"
#include "support/test.h"

enum { KILLED = 9 };

static long syncs_left = -1; /* before the process ends; −1: it does not */

/* LMDB's, too: it begins a commit's way to the disk. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    if (syncs_left == 0) _exit(KILLED);
    if (syncs_left > 0) syncs_left--;
    return fsync(fd);
}

/* Calls with a context of the child's own, which ends before sync number `at`. False: the call came
 * to its end. */
static inline bool killed_at_sync(long at, int (*call)(struct ny_context *own))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct ny_context *own;

        syncs_left = at;
        _exit(ny_context_new(&own) || call(own));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == KILLED || WEXITSTATUS(status) == 0));
    return WEXITSTATUS(status) == KILLED;
}

#endif
