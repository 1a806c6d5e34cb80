/* File systems that can less than a disk: they have no locks, or do not count their blocks. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>

#include "unit/table_case.h"

static bool uncounted, without_locks;

#pragma GCC visibility push(default) /* LMDB finds these too */
static int count_nothing(struct statvfs *disk)
{
    *disk = (struct statvfs){.f_bsize = 512, .f_frsize = 512}; /* as of FUSE by default */
    return 0;
}

int statvfs(const char *path, struct statvfs *disk)
{
    int (*next)(const char *, struct statvfs *);

    *(void **)&next = dlsym(RTLD_NEXT, "statvfs");
    return uncounted ? count_nothing(disk) : next(path, disk);
}

int fstatvfs(int fd, struct statvfs *disk)
{
    int (*next)(int, struct statvfs *);

    *(void **)&next = dlsym(RTLD_NEXT, "fstatvfs");
    return uncounted ? count_nothing(disk) : next(fd, disk);
}

int flock(int fd, int operation)
{
    int (*next)(int, int);

    *(void **)&next = dlsym(RTLD_NEXT, "flock");
    if (!without_locks) return next(fd, operation);
    errno = ENOSYS;
    return -1;
}

int fcntl(int fd, int command, ...)
{
    int (*next)(int, int, ...);
    va_list list;
    void *given;

    va_start(list, command);
    given = va_arg(list, void *);
    va_end(list);
    *(void **)&next = dlsym(RTLD_NEXT, "fcntl");
    if (!without_locks || command != F_SETLK) return next(fd, command, given);
    errno = ENOLCK;
    return -1;
}
#pragma GCC visibility pop

static void append_rows(int status, const char *words)
{
    struct ny_table rows = dense(NY_F32, 0);
    int err = ny_append(in.ctx, in.store, &rows, NULL, NULL);

    if (status)
        fails(status, words, err);
    else
        ok(err);
    free((void *)(uintptr_t)rows.values);
}

/* A disk of 0 blocks says nothing of its room. The first write tells whether there is any. */
static void a_disk_that_does_not_count_its_blocks_is_written(void **state)
{
    struct ny_options *options;
    char path[300];

    (void)state;
    uncounted = true;
    ok(ny_options_new(&options, in.ctx));
    ok(ny_options_set(options, "landmarks", "30"));
    append_rows(NY_OK, NULL);
    ok(ny_fit(in.ctx, in.store, "map", options, NULL));
    snprintf(path, sizeof(path), "%s/map.npy", in.folder);
    ok(ny_export(in.ctx, in.store, "map", "embedding", path));
    ok(ny_compact(in.ctx, in.store, NULL));
    uncounted = false;
    ny_options_free(options);
}

static void a_disk_without_locks_is_told_as_that(void **state)
{
    static const char words[] = "its file system has no locks: keep the store on a local disk";

    (void)state;
    without_locks = true;
    append_rows(NY_EIO, words);
    without_locks = false;
    append_rows(NY_OK, NULL);
    ny_context_free(in.ctx); /* which closes the store */
    ok(ny_context_new(&in.ctx));
    without_locks = true;
    fails(NY_EIO, words, ny_remove(in.ctx, in.store, "map"));
    without_locks = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_disk_that_does_not_count_its_blocks_is_written, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_disk_without_locks_is_told_as_that, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
