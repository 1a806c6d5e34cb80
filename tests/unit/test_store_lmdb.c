/* LMDB and its files where a store is opened: a lock file that another process closes or fails to
 * open, and pages of a machine of the other byte order. */

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store_private.h"
#include "unit/store_opened.h"

/* The head of LMDB's lock file. */
struct head {
    uint32_t magic, format;
    pthread_mutex_t readers;
    size_t last_commit;
};

/* Does what LMDB does to a lock file that it has locked alone. Says between that it has. */
static void leave_lock_file(const char *file, int ready, void (*leave)(struct head *head))
{
    const size_t bytes = 4096;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd = open(file, O_RDWR);
    struct head *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (head == MAP_FAILED || fcntl(fd, F_SETLK, &lock) || write(ready, "x", 1) != 1) _exit(1);
    usleep(200000);
    leave(head);
    _exit(0);
}

static void open_while_another(void (*leave)(struct head *head))
{
    static const char *const locks[] = {"points/lock.mdb", "results/lock.mdb"};
    struct ny_store *store;
    char byte;

    make_store(path);
    for (size_t i = 0; i < 2; i++) {
        int ready[2], status;
        pid_t child;

        assert_int_equal(pipe(ready), 0);
        child = fork();
        if (child == 0) leave_lock_file(in_store(locks[i]), ready[1], leave);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        CHECK(ny_store_open(&store, ctx, path));
        CHECK(ny_blob_put(store, "ours", "x", "x", 1));
        ny_store_close(store);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        close(ready[0]);
        close(ready[1]);
    }
}

/* From 0.9.26 on, the last process that closes the file destroys its mutexes. */
static void destroy_mutexes(struct head *head)
{
    if (pthread_mutex_destroy(&head->readers)) _exit(1);
}

TEST(who_opens_while_the_last_one_closes_waits_for_that)
{
    open_while_another(destroy_mutexes);
}

/* The first process that opens the file says so until it has mapped the data. */
static void forget_commits(struct head *head)
{
    head->last_commit = 0;
}

TEST(who_opens_while_another_one_fails_to_sees_all_commits)
{
    open_while_another(forget_commits);
}

TEST(a_store_of_the_other_byte_order_is_named)
{
    const off_t magic_at[] = {16, 4096 + 16};
    const uint8_t swapped[] = {0xbe, 0xef, 0xc0, 0xde};
    struct ny_store *store;
    int fd;

    make_store(path);
    fd = open(in_store("points/data.mdb"), O_RDWR);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pwrite(fd, swapped, sizeof(swapped), magic_at[i]), sizeof(swapped));
    close(fd);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
}

AROUND_EACH(make_folder, remove_folder)
