/* store/store.h: more readers than LMDB has places for. */
#include "unit/store_checks.h"

#include <signal.h>
#include <sys/wait.h>

#include "store/store_private.h"

enum { HANDLES = 1200 };

/* Opens the store in a new process, reads and writes it there, and returns what that exits with. */
static int use_elsewhere(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct ny_rows_info info;
        struct ny_context *its;
        struct ny_store *other;

        if (ny_context_new(&its) || ny_store_open(&other, its, path)) _exit(1);
        _exit(ny_points_info(other, &info) || ny_blob_put(other, "fit", "x", "x", 1));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(handles_that_do_not_read_leave_places)
{
    struct ny_store **all = lend_zeros(HANDLES * sizeof(struct ny_store *));
    struct ny_rows_info info;

    for (int i = 0; i < HANDLES; i++) {
        CHECK(ny_store_open(&all[i], ctx, path));
        CHECK(ny_points_info(all[i], &info));
    }
    assert_int_equal(use_elsewhere(), 0);
    for (int i = 0; i < HANDLES; i++) {
        CHECK(ny_points_info(all[i], &info));
        ny_store_close(all[i]);
    }
}

/* A new process takes all places that there are, and is killed. */
static void take_all_and_die(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct ny_context *its;
        struct ny_store *mine;
        MDB_txn *txn;

        if (ny_context_new(&its) || ny_store_open(&mine, its, path)) _exit(1);
        while (mdb_txn_begin(mine->points->lmdb, NULL, MDB_RDONLY, &txn) == 0)
            continue;
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(places_of_killed_readers_are_free)
{
    struct ny_rows_info info;
    OWNED(ny_store) *again = NULL;

    take_all_and_die();
    assert_int_equal(use_elsewhere(), 0);
    take_all_and_die();
    CHECK(ny_store_open(&again, ctx, path)); /* in a process that has it open */
    CHECK(ny_points_info(again, &info));
}

AROUND_EACH(start, stop)
