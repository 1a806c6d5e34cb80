/* Compaction: its copy is looked at before it takes the store's place, is on the disk by then, and
 * goes on counting epochs. */
#include "store_checks.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "store/page.h"
#include "store/store_private.h"

enum { CHUNKS = 300, CHUNK_BYTES = 3000, PAGE = 4096 };

static bool spoils;           /* the next commit of a copy loses a leaf */
static bool folder_synced;    /* of the copy, since the last exchange */
static bool store_synced;     /* its own folder, since then */
static int exchanges, unsafe; /* of them, copies that a loss of power could have taken */

static bool is_of(int fd, const char *end)
{
    char link[64], name[512] = "";
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, name, sizeof(name) - 1);
    return length > (ssize_t)strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* Turns a byte of each leaf, behind LMDB's back. */
static void spoil_leaves(int fd)
{
    struct ny_page head;
    char byte;

    for (off_t at = 2 * PAGE; pread(fd, &head, sizeof(head), at) == sizeof(head); at += PAGE)
        if (head.flags == NY_PAGE_LEAF && head.number == (uint64_t)at / PAGE &&
            pread(fd, &byte, 1, at + PAGE - 1) == 1) {
            byte = (char)(byte ^ 1);
            assert_int_equal(pwrite(fd, &byte, 1, at + PAGE - 1), 1);
        }
}

/* LMDB's, too. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    if (spoils && is_of(fd, "results.small/data.mdb")) {
        spoils = false;
        spoil_leaves(fd);
    }
    return (int)syscall(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    folder_synced |= is_of(fd, ".small");
    store_synced |= is_of(fd, "a.nys");
    return (int)syscall(SYS_fsync, fd);
}

__attribute__((visibility("default"))) int renameat2(int from, const char *one, int to,
                                                     const char *other, unsigned flags)
{
    exchanges++;
    unsafe += !folder_synced;
    folder_synced = store_synced = false;
    return (int)syscall(SYS_renameat2, from, one, to, other, flags);
}

/* Fills the store, and removes half of the values. */
static void fill(void)
{
    char data[CHUNK_BYTES] = "kept";
    struct ny_batch *batch;

    CHECK(ny_batch_begin(&batch, store));
    for (uint64_t i = 0; i < CHUNKS; i++)
        CHECK(ny_batch_put(batch, i % 2 ? "kept" : "removed", "part", i, data, sizeof(data)));
    CHECK(ny_batch_commit(batch));
    CHECK(ny_result_remove(store, "removed"));
}

static void check_kept(void)
{
    for (uint64_t i = 1; i < CHUNKS; i += 2) {
        char data[CHUNK_BYTES];
        struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};

        CHECK(ny_chunk_get(store, "kept", "part", i, &chunk));
        assert_string_equal(data, "kept");
    }
}

TEST(a_copy_is_on_the_disk_before_it_takes_the_place)
{
    fill();
    folder_synced = store_synced = false;
    exchanges = unsafe = 0;
    CHECK(ny_store_compact(store, NULL));
    assert_true(exchanges >= 1);
    assert_int_equal(unsafe, 0);
    assert_true(store_synced);
    reopen();
    check_kept();
}

TEST(a_bad_copy_does_not_take_the_place)
{
    char *small = lend_text("%s/results.small", path);

    fill();
    spoils = true;
    exchanges = 0;
    REFUSED(ny_store_compact(store, NULL), NY_ESTORE);
    assert_false(spoils);
    assert_int_equal(exchanges, 0);
    assert_int_equal(access(small, F_OK), -1);
    reopen();
    check_kept();
    CHECK(ny_store_compact(store, NULL));
    reopen();
    check_kept();
}

/* The folders are as a kill leaves them. */
TEST(what_a_kill_has_left_goes_with_the_next_commit)
{
    static const char *const parts[] = {"results", "points"};
    char small[2][256];

    for (int i = 0; i < 2; i++) {
        char file[300];

        snprintf(small[i], sizeof(small[i]), "%s/%s.small", path, parts[i]);
        snprintf(file, sizeof(file), "%s/data.mdb", small[i]);
        assert_int_equal(mkdir(small[i], 0777), 0);
        close(open(file, O_CREAT | O_WRONLY, 0666));
    }
    fill();
    for (int i = 0; i < 2; i++)
        assert_int_equal(access(small[i], F_OK), -1);
    check_kept();
}

/* Neither part looks like an older copy to the other, however often they are compacted. */
TEST(epochs_go_on_over_compactions)
{
    struct case_import staged = import_of(NY_U8, 784, 6000), few = import_of(NY_U8, 784, 100);

    ny_context_set_memory(ctx, 32 << 20);
    staged.spec.append = few.spec.append = true;
    staged.no_commit = 1;
    staged.spec.fingerprint++;
    for (int i = 0; i < 3; i++) {
        struct ny_epoch before[2], after[2];
        char text[NY_OLDER_BYTES];

        CHECK(case_import(store, &staged));
        CHECK(case_import(store, &few)); /* gives up what was staged */
        fill();
        CHECK(ny_epoch_read(store, store->points, &before[0]));
        CHECK(ny_epoch_read(store, store->results, &before[1]));
        exchanges = 0;
        CHECK(ny_store_compact(store, NULL));
        assert_int_equal(exchanges, 2);
        reopen();
        CHECK(ny_epoch_read(store, store->points, &after[0]));
        CHECK(ny_epoch_read(store, store->results, &after[1]));
        for (int part = 0; part < 2; part++) {
            assert_int_equal(after[part].memory.base, before[part].now);
            assert_true(after[part].now > before[part].now);
            assert_int_equal(after[part].memory.other, before[part].memory.other);
        }
        assert_null(ny_store_older(store, text));
    }
}

AROUND_EACH(start, stop)
