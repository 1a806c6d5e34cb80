/*
 * Writers killed with SIGKILL at random moments. What readers saw before they see after; the import
 * that goes on ends as an unbroken one; a batch is there as a whole or not at all, and is there
 * once its commit returned.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "store/store.h"
#include "support/store_folder.h"
#include "support/test.h"

OWNS(ny_rows_stats, ny_rows_stats_release(at, ctx))

enum { D = 784, BASE = 1300, MORE = 20000, KILLS = 60, DELAY_US = 40000 };

static uint64_t draws;

/* Imports in a process of its own, with a budget so small that it commits every few MiB. */
static int import_alone(const struct case_import *import)
{
    struct ny_context *its;
    struct ny_store *store;
    int err = ny_context_new(&its);

    if (err) return err;
    ny_context_set_memory(its, 48 << 20);
    err = ny_store_create(&store, its, path);
    if (!err) err = case_import(store, import);
    if (err) fprintf(stderr, "import: %s\n", ny_context_message(its));
    ny_store_close(store);
    ny_context_free(its);
    return err;
}

static void wait_a_moment(uint64_t most_us)
{
    usleep((useconds_t)(ny_hash64(1, NY_STREAM_DATA, draws++) % most_us));
}

/* True: the child was killed before it ended. */
static bool kill_soon(pid_t child, uint64_t most_us)
{
    int status;

    assert_true(child > 0);
    wait_a_moment(most_us);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(status, 0);
    return false;
}

static int report(void *user, const struct ny_damage *damage)
{
    (void)user;
    fail_msg("damage: %s", damage->what);
    return NY_OK;
}

/* The store holds rows 0 … n−1 of the data set, and nothing is damaged. */
static void check_content(struct ny_store *store, uint64_t n)
{
    size_t bytes = (size_t)n * D;
    uint8_t *got = malloc(bytes + 1), *want = malloc(bytes + 1);
    double *labels = malloc(n * sizeof(*labels) + 1);
    uint64_t *source = malloc(n * sizeof(*source) + 1);

    CHECK(ROWS_OF(store, read, 0, 0, n, got));
    case_rows(want, 5, NY_U8, D, 0, n);
    assert_memory_equal(got, want, bytes);
    CHECK(ny_points_labels(store, 0, n, labels));
    CHECK(ny_points_source(store, 0, n, source));
    for (uint64_t i = 0; i < n; i++)
        assert_true(labels[i] == case_label(5, i) && source[i] == case_source(5, i));
    free(source);
    free(labels);
    free(want);
    free(got);
}

static void same_statistics(struct ny_store *a, struct ny_store *b)
{
    OWNED(ny_rows_stats) x, y;

    CHECK(ROWS_OF(a, stats, &x));
    CHECK(ROWS_OF(b, stats, &y));
    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.mean, y.mean, D * sizeof(double));
    assert_memory_equal(x.variance, y.variance, D * sizeof(double));
    assert_memory_equal(x.minimum, y.minimum, D * sizeof(double));
    assert_memory_equal(x.maximum, y.maximum, D * sizeof(double));
    assert_true(x.mean_square_norm == y.mean_square_norm);
    assert_true(x.mean_norm == y.mean_norm);
}

static uint64_t resumed_from(struct ny_store *store, const struct case_import *import)
{
    struct ny_ingest *ingest;
    uint64_t consumed;

    CHECK(ny_ingest_begin(&ingest, store, &import->spec, &consumed));
    ny_ingest_free(ingest);
    return consumed;
}

/* One import, killed and taken up until it ends; returns how often it was killed. */
static unsigned import_under_fire(const struct case_import *import, unsigned *resumed)
{
    unsigned kills = 0;

    for (;;) {
        struct ny_rows_info before, after;
        struct ny_store *store;
        pid_t child;
        bool killed;

        CHECK(ny_store_open(&store, ctx, path));
        CHECK(ny_points_info(store, &before));
        ny_store_close(store);
        child = fork();
        if (child == 0) _exit(import_alone(import));
        killed = kill_soon(child, DELAY_US * (1 + kills / 4)); /* a slow machine gets its time */
        CHECK(ny_store_open(&store, ctx, path));
        CHECK(ny_points_info(store, &after));
        if (after.n == import->first) {
            assert_true(killed);
            assert_memory_equal(&before, &after, sizeof(before));
            check_content(store, BASE);
            *resumed += resumed_from(store, import) > 0;
        }
        if (kills % 8 == 0) CHECK(ny_store_verify(store, report, NULL));
        ny_store_close(store);
        kills += killed;
        if (after.n != import->first) {
            assert_int_equal(after.n, import->first + import->count);
            return kills;
        }
    }
}

TEST(killed_imports)
{
    struct case_import base = labelled_bytes(D, 0, BASE);
    struct ny_store *broken, *whole;
    unsigned kills = 0, resumed = 0;
    char other[160];
    uint64_t n = BASE;

    base.spec.source = true;
    CHECK(ny_store_create(&broken, ctx, path));
    CHECK(case_import(broken, &base));
    ny_store_close(broken);
    snprintf(other, sizeof(other), "%s/b.nys", directory);
    CHECK(ny_store_create(&whole, ctx, other));
    CHECK(case_import(whole, &base));
    while (kills < KILLS) {
        struct case_import more = labelled_bytes(D, n, MORE);

        more.spec.source = true;
        kills += import_under_fire(&more, &resumed);
        CHECK(case_import(whole, &more));
        n += MORE;
        CHECK(ny_store_open(&broken, ctx, path));
        same_statistics(broken, whole);
        ny_store_close(broken);
    }
    CHECK(ny_store_open(&broken, ctx, path));
    check_content(broken, n);
    CHECK(ny_store_verify(broken, report, NULL));
    ny_store_close(broken);
    ny_store_close(whole);
    print_message("%u kills, %u of them resumed, %llu rows\n", kills, resumed,
                  (unsigned long long)n);
    assert_true(resumed > 0);
}

/* ---- creation ------------------------------------------------------------------------------ */

TEST(killed_creations)
{
    for (int i = 0; i < 40; i++) {
        struct ny_store *store;
        pid_t child = fork();

        if (child == 0) _exit(ny_store_create(&store, ctx, path));
        wait_a_moment(4000);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        CHECK(ny_store_create(&store, ctx, path));
        CHECK(ny_store_verify(store, report, NULL));
        CHECK(ny_blob_put(store, "fit", "x", "abc", 3));
        ny_store_close(store);
        case_remove(path);
    }
}

/* ---- results ------------------------------------------------------------------------------- */

enum { PARTS = 5, PART_BYTES = 30000 };

/* Batch after batch, each with its number in every chunk; told through the pipe when committed. */
static int put_for_ever(int out)
{
    struct ny_context *its;
    struct ny_store *store;
    char *data = malloc(PART_BYTES);

    if (ny_context_new(&its) || ny_store_open(&store, its, path)) return 1;
    for (uint64_t number = 1;; number++) {
        struct ny_batch *batch;
        size_t bytes = PART_BYTES / (1 + number % 3);

        memset(data, (int)number, bytes);
        if (ny_batch_begin(&batch, store)) return 2;
        for (uint64_t part = 0; part < PARTS; part++) {
            memcpy(data, &number, sizeof(number));
            if (ny_batch_put(batch, "fit", "part", part, data, bytes)) return 3;
        }
        if (ny_batch_commit(batch)) return 4;
        if (write(out, &number, sizeof(number)) != sizeof(number)) return 5;
    }
}

static uint64_t last_told(int in)
{
    uint64_t number = 0, told;

    while (read(in, &told, sizeof(told)) == sizeof(told))
        number = told;
    return number;
}

static void check_batch(uint64_t told)
{
    char *data = malloc(PART_BYTES);
    struct ny_store *store;
    struct ny_chunk chunk = {.data = data, .capacity = PART_BYTES};
    uint64_t first = 0, number;

    CHECK(ny_store_open(&store, ctx, path));
    for (uint64_t part = 0; part < PARTS; part++) {
        int err = ny_chunk_get(store, "fit", "part", part, &chunk);

        if (err == NY_END && told == 0 && part == 0) break;
        CHECK(err);
        memcpy(&number, data, sizeof(number));
        if (part == 0) first = number;
        assert_int_equal(number, first);
        assert_int_equal(chunk.bytes, PART_BYTES / (1 + number % 3));
        assert_int_equal((unsigned char)data[chunk.bytes - 1], number & 0xff);
    }
    assert_true(first == told || first == told + 1);
    CHECK(ny_store_verify(store, report, NULL));
    if (first) CHECK(ny_result_remove(store, "fit"));
    ny_store_close(store);
    free(data);
}

TEST(killed_batches)
{
    struct ny_store *store;
    uint64_t batches = 0, most_us = DELAY_US;

    CHECK(ny_store_create(&store, ctx, path));
    ny_store_close(store);
    for (int i = 0; i < 50; i++) {
        int ends[2];
        uint64_t told;
        pid_t child;

        assert_int_equal(pipe(ends), 0);
        child = fork();
        if (child == 0) _exit(put_for_ever(ends[1]));
        close(ends[1]);
        assert_true(kill_soon(child, most_us));
        told = last_told(ends[0]);
        if (!told) most_us += DELAY_US; /* a slow machine gets its time */
        close(ends[0]);
        batches += told;
        check_batch(told);
    }
    assert_true(batches > 50);
}

AROUND_EACH(make_folder, remove_folder)
