/* store/store.h: opening and creating, what is refused, sharing between handles and processes. */

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/codec.h"
#include "store/store_private.h"
#include "support/files.h"
#include "unit/store_opened.h"

/* ---- what is made and taken back ------------------------------------------------------------ */

static bool is_there(void)
{
    struct stat info;

    return stat(path, &info) == 0;
}

TEST(a_store_is_taken_back_while_it_is_empty)
{
    struct case_import staged = small;
    struct ny_store *store, *other;

    staged.no_commit = 1;
    staged.count *= 2;
    CHECK(ny_store_create(&store, ctx, path));
    CHECK(ny_store_open(&other, ctx, path));
    ny_store_withdraw(other); /* has not made it */
    assert_true(is_there());
    ny_store_withdraw(store);
    assert_false(is_there());
    REFUSED(case_import(other, &small), NY_EIO);
    mkdir(path, 0777);
    REFUSED(case_import(other, &small), NY_EIO);
    case_remove(path);
    ny_store_close(other);
    ny_store_close(store);
    CHECK(ny_store_create(&store, ctx, path));
    ny_context_set_memory(ctx, 32 << 20);
    CHECK(case_import(store, &staged));
    ny_store_withdraw(store);
    assert_true(is_there());
    CHECK(case_import(store, &small));
    ny_store_withdraw(store);
    ny_store_close(store);
    assert_true(is_there());
}

/* ---- what is no store ---------------------------------------------------------------------- */

/* A creation that was killed is finished by the next, wherever it stopped. */
TEST(an_unfinished_creation_is_finished)
{
    struct ny_store *store;

    mkdir(path, 0777);
    mkdir(in_store("locks"), 0777);
    mkdir(in_store("points.new"), 0777);
    write_text(in_store("points.new/data.mdb"), "half");
    CHECK(ny_store_create(&store, ctx, path));
    CHECK(case_import(store, &small));
    ny_store_close(store);
    unlink(in_store("results/data.mdb"));
    unlink(in_store("results/lock.mdb"));
    rmdir(in_store("results"));
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
    CHECK(ny_store_create(&store, ctx, path));
    CHECK(ny_blob_put(store, "fit", "x", "x", 1));
    ny_store_close(store);
}

/* A link that somebody has planted in the store does not make us write elsewhere. */
TEST(links_are_refused)
{
    OWNED(ny_store) *store = NULL;
    struct stat info;
    char *away = lend_text("%s/away", directory);

    make_store(path);
    unlink(in_store("points/lock.mdb"));
    assert_int_equal(symlink(away, in_store("points/lock.mdb")), 0);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
    unlink(in_store("points/lock.mdb"));
    rename(in_store("points"), away);
    assert_int_equal(symlink(away, in_store("points")), 0);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
    unlink(in_store("points"));
    rename(away, in_store("points"));
    CHECK(ny_store_open(&store, ctx, path));
    unlink(in_store("locks/points.lock"));
    assert_int_equal(symlink(away, in_store("locks/points.lock")), 0);
    REFUSED(case_import(store, &small), NY_EIO);
    assert_int_not_equal(stat(away, &info), 0);
}

/* Every pulse of the file says this version, with a right checksum. */
static void set_version(const char *file, uint32_t version)
{
    enum { BYTES = 1 << 22 };
    char *bytes = lend_zeros(BYTES);
    int fd = open(file, O_RDWR);
    ssize_t got = read(fd, bytes, BYTES);
    unsigned changed = 0;

    assert_true(got > 0);
    for (ssize_t i = sizeof(struct ny_header); i <= got - (ssize_t)sizeof(struct ny_pulse); i++) {
        char *at = bytes + i;
        struct ny_pulse pulse;
        struct ny_header header;
        struct ny_frame frame = {.kind = NY_KIND_PULSE, .raw_bytes = sizeof(pulse)};

        if (memcmp(at, NY_FORMAT_MAGIC, 8) != 0) continue;
        memcpy(&pulse, at, sizeof(pulse));
        pulse.version = version;
        memcpy(&frame.store, pulse.id, sizeof(frame.store));
        header = ny_frame_seal(&frame, &pulse, sizeof(pulse));
        memcpy(at, &pulse, sizeof(pulse));
        memcpy(at - sizeof(header), &header, sizeof(header));
        changed++;
    }
    assert_true(changed > 0);
    assert_int_equal(pwrite(fd, bytes, (size_t)got, 0), got);
    close(fd);
}

TEST(a_newer_format_is_named)
{
    struct ny_store *store;

    CHECK(ny_store_create(&store, ctx, path));
    ny_store_close(store);
    set_version(in_store("points/data.mdb"), NY_FORMAT_VERSION + 1);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
}

/* Writes to a store of this version and checks whether it has norms and memories. */
static void check_version(uint32_t version, bool has)
{
    struct ny_epoch points, results;
    struct ny_rows_stats stats;
    struct ny_store *store;

    CHECK(ny_store_create(&store, ctx, path));
    ny_store_close(store);
    set_version(in_store("points/data.mdb"), version);
    set_version(in_store("results/data.mdb"), version);
    CHECK(ny_store_open(&store, ctx, path));
    CHECK(case_import(store, &small));
    CHECK(ny_blob_put(store, "fit", "x", "x", 1));
    CHECK(ROWS_OF(store, stats, &stats));
    assert_int_equal(isfinite(stats.mean_norm) != 0, has);
    CHECK(ny_epoch_read(store, store->points, &points));
    CHECK(ny_epoch_read(store, store->results, &results));
    assert_int_equal(points.memory.own > 0, has);
    assert_int_equal(results.memory.own > 0, has);
    ny_rows_stats_release(&stats, ctx);
    ny_store_close(store);
    case_remove(path);
}

TEST(what_1_0_does_not_know_stays_out_of_its_stores)
{
    check_version(NY_FORMAT_VERSION, true);
    check_version(NY_FORMAT_OF_1_0, false);
}

/* ---- sharing ------------------------------------------------------------------------------- */

TEST(handles_share_an_environment)
{
    struct ny_store *a, *b, *c;
    struct ny_rows_info info;
    char *other = lend_text("%s/link.nys", directory);

    CHECK(ny_store_create(&a, ctx, path));
    CHECK(ny_store_open(&b, ctx, path));
    CHECK(case_import(a, &small));
    CHECK(ny_points_info(b, &info));
    assert_int_equal(info.n, 3000);
    assert_int_equal(symlink(path, other), 0);
    CHECK(ny_store_open(&c, ctx, other)); /* the same files under another name */
    ny_store_close(a);
    CHECK(ny_points_info(c, &info));
    assert_int_equal(info.n, 3000);
    ny_store_close(b);
    CHECK(ny_blob_put(c, "fit", "x", "x", 1));
    ny_store_close(c);
    ny_store_close(NULL);
}

/* Runs `role` in a new process, which says through a pipe that it is ready and waits for ours. */
struct companion {
    pid_t pid;
    int from, to;
};

static struct companion send_out(int (*role)(struct ny_store *store, struct ny_context *its))
{
    struct companion c;
    int up[2], down[2];
    char byte = 0;

    assert_true(pipe(up) == 0 && pipe(down) == 0);
    c.pid = fork();
    if (c.pid == 0) {
        struct ny_context *its;
        struct ny_store *store;
        int status = 9;

        close(down[1]);
        if (ny_context_new(&its) == NY_OK && ny_store_open(&store, its, path) == NY_OK)
            status = role(store, its);
        byte = (char)status;
        if (write(up[1], &byte, 1) == 1) status = read(down[0], &byte, 1) < 0;
        _exit(status);
    }
    close(down[0]);
    close(up[1]);
    c.from = up[0];
    c.to = down[1];
    assert_int_equal(read(c.from, &byte, 1), 1);
    assert_int_equal(byte, 0);
    return c;
}

static void send_home(struct companion *c)
{
    int status;

    close(c->to);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    close(c->from);
}

static int hold_name(struct ny_store *store, struct ny_context *its)
{
    struct ny_name_lock *lock;

    (void)its;
    return ny_name_lock(&lock, store, "fit");
}

static int put_and_go(struct ny_store *store, struct ny_context *its)
{
    (void)its;
    return ny_blob_put(store, "theirs", "x", "abc", 3);
}

TEST(a_name_is_held_by_one)
{
    struct ny_name_lock *lock, *second;
    OWNED(ny_store) *store = NULL;
    struct companion other;

    make_store(path);
    other = send_out(hold_name);
    CHECK(ny_store_open(&store, ctx, path));
    REFUSED(ny_name_lock(&lock, store, "fit"), NY_EBUSY);
    CHECK(ny_name_lock(&lock, store, "fit2"));
    ny_name_unlock(lock);
    send_home(&other); /* the kernel lets go for it */
    CHECK(ny_name_lock(&lock, store, "fit"));
    REFUSED(ny_name_lock(&second, store, "fit"), NY_EBUSY);
    ny_name_unlock(lock);
    CHECK(ny_name_lock(&lock, store, "fit"));
    ny_name_unlock(lock);
    ny_name_unlock(NULL);
}

TEST(what_another_process_writes_is_seen)
{
    OWNED(ny_store) *store = NULL;
    struct companion other;
    char data[3];

    make_store(path);
    other = send_out(put_and_go);
    CHECK(ny_store_open(&store, ctx, path));
    CHECK(ny_blob_get(store, "theirs", "x", data, 3));
    assert_memory_equal(data, "abc", 3);
    CHECK(ny_blob_put(store, "ours", "x", "x", 1));
    send_home(&other);
}

/* ---- other circumstances ------------------------------------------------------------------- */

/* Runs `work` as a user who may not write; returns its exit status. */
static int as_nobody(int (*work)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(100);
        _exit(work());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int warnings;
static void count_warning(void *user, int level, const char *message)
{
    (void)user;
    if (level == NY_LOG_WARNING && strstr(message, "without locks")) warnings++;
}

static int read_only_work(void)
{
    struct ny_context *its;
    struct ny_store *store;
    struct ny_rows_info info;
    struct ny_batch *batch;
    struct ny_name_lock *lock;
    static uint8_t rows[3000 * 784], want[3000 * 784];

    if (ny_context_new(&its)) return 1;
    ny_context_set_log(its, count_warning, NULL);
    if (ny_store_open(&store, its, path)) return 2;
    if (!ny_store_read_only(store) || warnings != 1) return 3;
    if (ny_points_info(store, &info) || info.n != 3000) return 4;
    case_rows(want, 1, NY_U8, 784, 0, 3000);
    if (ROWS_OF(store, read, 0, 0, 3000, rows) || memcmp(rows, want, sizeof(rows)) != 0) return 5;
    if (case_import(store, &small) != NY_EIO) return 6;
    if (ny_batch_begin(&batch, store) != NY_EIO) return 7;
    if (ny_name_lock(&lock, store, "x") != NY_EIO) return 8;
    ny_store_close(store);
    return 0;
}

TEST(a_read_only_store_is_read)
{
    make_store(path);
    chmod(directory, 0755);
    chmod(in_store("points"), 0555);
    chmod(in_store("results"), 0555);
    chmod(in_store("points/data.mdb"), 0444);
    chmod(in_store("results/data.mdb"), 0444);
    assert_int_equal(as_nobody(read_only_work), 0);
    chmod(in_store("points"), 0755);
    chmod(in_store("results"), 0755);
}

static int little_address_space(void)
{
    struct rlimit limit = {(rlim_t)6 << 30, (rlim_t)6 << 30};
    struct ny_context *its;
    struct ny_store *store;

    if (setrlimit(RLIMIT_AS, &limit) || ny_context_new(&its)) return 1;
    if (ny_store_open(&store, its, path)) return 2;
    if (ny_blob_put(store, "fit", "x", "abc", 3)) return 3;
    ny_store_close(store);
    limit.rlim_cur = limit.rlim_max = (rlim_t)900 << 20;
    if (setrlimit(RLIMIT_AS, &limit)) return 4;
    return ny_store_open(&store, its, path) == NY_EBUDGET ? 0 : 5;
}

TEST(a_smaller_map_will_do)
{
    pid_t child;
    int status;

    if (getenv("NYSTREAM_SANITIZER")) {
        print_message("a sanitizer takes more address space than this test leaves\n");
        skip();
    }
    make_store(path);
    child = fork();
    if (child == 0) _exit(little_address_space());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The file is cut short below the map of an open store: SIGBUS on reading. */
TEST(a_failing_disk_is_damage)
{
    static uint8_t rows[1024 * 784];
    OWNED(ny_store) *store = NULL;
    size_t count;

    make_store(path);
    CHECK(ny_store_open(&store, ctx, path));
    ny_guard_sigbus();
    ny_guard_sigbus();
    assert_int_equal(truncate(in_store("points/data.mdb"), 8 * 4096), 0);
    REFUSED(ny_points_read_block(store, 1, rows, &count), NY_ESTORE);
    assert_int_equal(count, 0);
}

TEST(files_follow_the_umask)
{
    static const char *const files[] = {"points/data.mdb", "results/data.mdb", "points/lock.mdb"};
    mode_t before = umask(027);

    make_store(path);
    umask(before);
    for (size_t i = 0; i < 3; i++) {
        struct stat info;

        assert_int_equal(stat(in_store(files[i]), &info), 0);
        assert_int_equal(info.st_mode & 0777, 0640);
    }
}

AROUND_EACH(make_folder, remove_folder)
