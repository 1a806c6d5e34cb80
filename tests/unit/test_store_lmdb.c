/* LMDB and its files where a store is opened: a lock file that another process closes, and
 * pages of a machine of the other byte order. */
#include "store/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store_private.h"
#include "unit/store_opened.h"

/* Closes a lock file as LMDB does from 0.9.26 on, when it is the last to do so: it locks the file
 * alone and destroys the mutexes. Says between that it has locked it. */
static void close_as_the_last(const char *file, int ready)
{
    const size_t mutex_at = 8, bytes = 4096;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd = open(file, O_RDWR);
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED || fcntl(fd, F_SETLK, &lock) || write(ready, "x", 1) != 1) _exit(1);
    usleep(200000);
    _exit(pthread_mutex_destroy((pthread_mutex_t *)(map + mutex_at)));
}

static void who_opens_while_the_last_one_closes_waits_for_that(void **state)
{
    static const char *const locks[] = {"points/lock.mdb", "results/lock.mdb"};
    struct ny_store *store;
    char byte;

    (void)state;
    make_store(path);
    for (size_t i = 0; i < 2; i++) {
        int ready[2], status;
        pid_t child;

        assert_int_equal(pipe(ready), 0);
        child = fork();
        if (child == 0) close_as_the_last(in_store(locks[i]), ready[1]);
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

static void a_store_of_the_other_byte_order_is_named(void **state)
{
    const off_t magic_at[] = {16, 4096 + 16};
    const uint8_t swapped[] = {0xbe, 0xef, 0xc0, 0xde};
    struct ny_store *store;
    int fd;

    (void)state;
    make_store(path);
    fd = open(in_store("points/data.mdb"), O_RDWR);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pwrite(fd, swapped, sizeof(swapped), magic_at[i]), sizeof(swapped));
    close(fd);
    refused(ny_store_open(&store, ctx, path), NY_ESTORE, "the other byte order");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(who_opens_while_the_last_one_closes_waits_for_that),
        TEST(a_store_of_the_other_byte_order_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
