/* Scratch stores are written without waiting for the disk: no sync and no write through a
 * descriptor that syncs, by whatever call. Other stores are synced, in the same process, too. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "unit/table_case.h"

static unsigned syncs; /* counts those of files and folders below `watched` */
static const char *watched;
static uint64_t disk_bytes; /* that each disk is said to have; no folder is then made */

static void count_sync(int fd)
{
    char link[64], name[300];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, name, sizeof(name) - 1);
    if (length <= 0 || !watched) return;
    name[length] = 0;
    syncs += strncmp(name, watched, strlen(watched)) == 0;
}

#pragma GCC visibility push(default) /* LMDB finds these too */
int fsync(int fd)
{
    count_sync(fd);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    count_sync(fd);
    return (int)syscall(SYS_fdatasync, fd);
}

int msync(void *at, size_t bytes, int flags)
{
    syncs++;
    return (int)syscall(SYS_msync, at, bytes, flags);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    if (fcntl(fd, F_GETFL) & O_DSYNC) count_sync(fd);
    return syscall(SYS_pwrite64, fd, data, bytes, at);
}

int statvfs(const char *path, struct statvfs *disk)
{
    int (*next)(const char *, struct statvfs *);

    *(void **)&next = dlsym(RTLD_NEXT, "statvfs");
    if (!disk_bytes) return next(path, disk);
    *disk = (struct statvfs){.f_frsize = 1, .f_blocks = disk_bytes, .f_bavail = disk_bytes};
    return 0;
}

char *mkdtemp(char *path)
{
    char *(*next)(char *);

    *(void **)&next = dlsym(RTLD_NEXT, "mkdtemp");
    if (!disk_bytes) return next(path);
    errno = EROFS;
    return NULL;
}
#pragma GCC visibility pop

/* Calls that write to the store, which is made anew; returns their syncs. */
static unsigned write_store(void)
{
    struct ny_table rows = dense(NY_F32, 0);
    struct ny_options *fit, *graph;

    case_remove(in.store);
    ok(ny_options_new(&fit, in.ctx));
    ok(ny_options_set(fit, "landmarks", "30"));
    ok(ny_options_new(&graph, in.ctx));
    ok(ny_options_set(graph, "neighbors", "2"));
    watched = in.folder;
    syncs = 0;
    ok(ny_append(in.ctx, in.store, &rows, NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "map", fit, NULL));
    ok(ny_append(in.ctx, in.store, &rows, NULL, NULL));
    ok(ny_graph(in.ctx, in.store, "graph", graph, NULL));
    ok(ny_remove(in.ctx, in.store, "map"));
    watched = NULL;
    ny_options_free(graph);
    ny_options_free(fit);
    free((void *)(uintptr_t)rows.values);
    return syncs;
}

static void only_scratch_stores_are_not_synced(void **state)
{
    (void)state;
    assert_true(write_store() >= 10);
    ny_context_set_scratch(in.ctx, 1);
    assert_int_equal(write_store(), 0);
    ny_context_set_scratch(in.ctx, 0);
    assert_true(write_store() >= 10);
}

/* ny_embed() makes a scratch store whatever the context has, and leaves the context as it was. */
static void embedding_in_one_call_syncs_nothing(void **state)
{
    static float found[ROWS * 2];
    const struct ny_dense_room room = {NY_F32, found};
    struct ny_table rows = dense(NY_F32, 0);
    struct ny_options *options;
    struct ny_model *model;

    (void)state;
    ok(ny_options_new(&options, in.ctx));
    ok(ny_options_set(options, "tmpdir", in.folder));
    ok(ny_options_set(options, "landmarks", "30"));
    for (int scratch = 0; scratch < 2; scratch++) {
        ny_context_set_scratch(in.ctx, scratch);
        watched = in.folder;
        syncs = 0;
        ok(ny_embed(in.ctx, &rows, options, &room, &model, NULL));
        watched = NULL;
        assert_int_equal(syncs, 0);
        ny_model_free(model);
        assert_int_equal(write_store() == 0, scratch);
    }
    ny_options_free(options);
    free((void *)(uintptr_t)rows.values);
}

/* A message about rows that a scratch store does not keep says what makes them again. */
static void rows_that_went_to_memory_are_fitted_anew(void **state)
{
    const struct ny_dense_room room = {NY_F32, malloc(sizeof(float) * ROWS * 2)};
    struct ny_table rows = dense(NY_F32, 0);
    struct ny_options *options;
    float first;

    (void)state;
    ok(ny_options_new(&options, in.ctx));
    ok(ny_options_set(options, "landmarks", "30"));
    ny_context_set_scratch(in.ctx, 1);
    ok(ny_borrow(in.ctx, in.store, &rows, NULL, NULL));
    ok(ny_fit_into(in.ctx, in.store, "map", options, &room, NULL));
    first = *(float *)room.values;
    fails(NY_EUSAGE, "--restart", ny_fit_into(in.ctx, in.store, "map", options, &room, NULL));
    fails(NY_EUSAGE, "--restart", ny_plot(in.ctx, in.store, "map", "map.png", NULL));
    ok(ny_options_set(options, "restart", "yes"));
    *(float *)room.values = 0;
    ok(ny_fit_into(in.ctx, in.store, "map", options, &room, NULL));
    assert_true(*(float *)room.values == first);
    ny_options_free(options);
    free((void *)(uintptr_t)rows.values);
    free(room.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_scratch_stores_are_not_synced, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_that_went_to_memory_are_fitted_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(embedding_in_one_call_syncs_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
