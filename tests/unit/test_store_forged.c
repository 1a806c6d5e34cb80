/* Records with right checksums that say what the store does not: sizes, rows and columns of others;
 * and locks whose files were replaced. What the code compares is compared here, one by one. */
#include "store_checks.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store/store_private.h"

enum { D = 3, N = 50, STATS_BYTES = sizeof(struct ny_stats_record) + 4 * D * sizeof(double) };

static void import_rows(void)
{
    struct case_import import = {
        .seed = 3, .count = N, .batch = N, .spec = {.d = D, .dtype = NY_F32, .labels = true}};

    CHECK(case_import(store, &import));
}

static void forge(enum ny_kind kind, uint32_t rows, const void *raw, size_t bytes)
{
    struct ny_key key = ny_points_key(kind, 0);
    struct ny_frame frame = {
        .store = store->id, .kind = kind, .rows = rows, .raw_bytes = (uint32_t)bytes};
    struct ny_write write;

    CHECK(ny_write_begin(&write, store, store->points, 1 << 20));
    CHECK(ny_write_record(&write, &key, &frame, raw));
    CHECK(ny_write_commit(&write, NY_OK));
}

static int count_damage(void *user, const struct ny_damage *damage)
{
    if (strstr(damage->what, "other points")) ++*(int *)user;
    return NY_OK;
}

TEST(statistics_of_other_points)
{
    static const uint64_t forged[][2] = {{N + 1, D}, {N - 1, D}, {N, D + 1}, {N, D - 1}};
    struct ny_rows_stats stats;

    import_rows();
    CHECK(ROWS_OF(store, stats, &stats));
    ny_rows_stats_release(&stats, ctx);
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        uint64_t raw[STATS_BYTES / sizeof(uint64_t)] = {forged[i][0], forged[i][1]};
        int damages = 0;

        forge(NY_KIND_STATS, 0, raw, sizeof(raw));
        REFUSED(ROWS_OF(store, stats, &stats), NY_ESTORE);
        CHECK(ny_store_verify(store, count_damage, &damages));
        assert_int_equal(damages, 1);
    }
}

/* Has the last transaction of a file that is read without locks be another one than was read. */
static bool moved;

__attribute__((visibility("default"))) int mdb_env_info(MDB_env *env, MDB_envinfo *info)
{
    static __typeof__(&mdb_env_info) real;
    int code;

    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "mdb_env_info");
    code = real(env, info);
    info->me_last_txnid += moved;
    return code;
}

/* Puts a chunk whose header belongs to another one. */
static void forge_chunk(const char *part)
{
    struct ny_key key = ny_chunk_key("r", part, 0);
    struct ny_frame frame = {.store = store->id, .kind = NY_KIND_CHUNK, .raw_bytes = 4};
    struct ny_write write;

    CHECK(ny_write_begin(&write, store, store->results, 1 << 20));
    CHECK(ny_write_record(&write, &key, &frame, "data"));
    CHECK(ny_write_commit(&write, NY_OK));
}

static void read_without_locks(bool without)
{
    store->points->read_only = store->results->read_only = without;
}

/* Reads of a file that changes meanwhile, without locks, find damage that is none. */
TEST(a_torn_read_is_no_damage)
{
    static const int status[] = {NY_ESTORE, NY_EBUSY};
    char data[4], **names;
    struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};
    struct ny_rows_stats stats;
    struct ny_rows_info info;
    struct ny_lost lost;
    size_t count;

    import_rows();
    forge(NY_KIND_STATS, 0, "", 0);
    forge_chunk("x");
    read_without_locks(true);
    for (int k = 0; k < 2; k++) {
        moved = k;
        REFUSED(ROWS_OF(store, stats, &stats), status[k]);
        REFUSED(ny_chunk_get(store, "r", "x", 0, &chunk), status[k]);
        REFUSED(ny_blob_get(store, "r", "x", data, sizeof(data)), status[k]);
    }
    moved = false;
    read_without_locks(false);
    forge(NY_KIND_MANIFEST, 0, "", 0);
    read_without_locks(true);
    for (int k = 0; k < 2; k++) {
        moved = k;
        REFUSED(ny_points_info(store, &info), status[k]);
        REFUSED(ny_points_lost(store, &lost), status[k]);
        REFUSED(ny_points_class_names(store, &names, &count), status[k]);
    }
    moved = false;
    read_without_locks(false);
}

/* The number of rows and the bytes of a block must both be right. */
TEST(blocks_of_another_size)
{
    static const double zeros[N + 1];
    double labels[N];

    import_rows();
    CHECK(ny_points_labels(store, 0, N, labels));
    forge(NY_KIND_LABELS, N, zeros, sizeof(zeros) - 8);
    CHECK(ny_points_labels(store, 0, N, labels));
    forge(NY_KIND_LABELS, N + 1, zeros, sizeof(zeros) - 8);
    REFUSED(ny_points_labels(store, 0, N, labels), NY_ESTORE);
    forge(NY_KIND_LABELS, N, zeros, sizeof(zeros) - 16);
    REFUSED(ny_points_labels(store, 0, N, labels), NY_ESTORE);
}

static bool answers(int fd, int milliseconds)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    return poll(&ready, 1, milliseconds) == 1;
}

static int lock_now(const char *file)
{
    int fd = open(file, O_RDWR | O_CREAT, 0666);

    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    return fd;
}

/* A process that waited for a lock and gets it when its file has been replaced has locked
 * nothing. */
TEST(a_lock_whose_file_was_replaced)
{
    int old, fresh, ends[2], status;
    pid_t child;
    char *file = lend_text("%s/locks/commit.lock", path);

    old = lock_now(file);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct ny_lock lock;

        close(old); /* the child's copy; the parent's goes on holding it */
        _exit(ny_lock_wait(&lock, ctx, path, "commit") || write(ends[1], "x", 1) != 1);
    }
    assert_true(child > 0);
    assert_false(answers(ends[0], 200));
    unlink(file);
    fresh = lock_now(file);
    close(old);
    assert_false(answers(ends[0], 300));
    close(fresh);
    assert_true(answers(ends[0], 5000));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

AROUND_EACH(start, stop)
