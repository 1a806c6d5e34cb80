/* File systems that can less than a disk: they have no locks, or do not count their blocks. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>

#include "support/options.h"
#include "support/results.h"
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

static void append_rows(int status)
{
    struct ny_table rows = dense(NY_F32, 0);
    int err = ny_append(in.ctx, in.store, &rows, NULL, NULL);

    if (status)
        fails(status, err);
    else
        ok(err);
}

/* A disk of 0 blocks says nothing of its room. The first write tells whether there is any. */
TEST(a_disk_that_does_not_count_its_blocks_is_written)
{
    char *path = lend_text("%s/map.npy", in.folder);

    uncounted = true;
    append_rows(NY_OK);
    must_fit(in.ctx, in.store, "map", NULL, "landmarks=30");
    ok(ny_export(in.ctx, in.store, "map", "embedding", path));
    ok(ny_compact(in.ctx, in.store, NULL));
    uncounted = false;
}

TEST(a_disk_without_locks_is_told_as_that)
{

    without_locks = true;
    append_rows(NY_EIO);
    without_locks = false;
    append_rows(NY_OK);
    ny_context_free(in.ctx); /* which closes the store */
    ok(ny_context_new(&in.ctx));
    without_locks = true;
    fails(NY_EIO, ny_remove(in.ctx, in.store, "map"));
    without_locks = false;
}

AROUND_EACH(setup, api_case_end)
