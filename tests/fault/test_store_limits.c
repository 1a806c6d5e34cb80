/* A full disk, and a budget that ends at every allocation in turn: a clean error, nothing leaks,
 * what was committed stays, and the work goes on once there is room. */
#include <signal.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "store/store.h"
#include "support/store_folder.h"
#include "support/test.h"

enum { D = 784, BASE = 3000, MORE = 40000 };

static void start(void)
{
    make_folder();
    ny_context_set_memory(ctx, 100 << 20);
}

static void check_rows(struct ny_store *store, uint64_t n)
{
    uint8_t *got = malloc((size_t)n * D), *want = malloc((size_t)n * D);
    struct ny_rows_info info;

    CHECK(ny_points_info(store, &info));
    assert_int_equal(info.n, n);
    CHECK(ROWS_OF(store, read, 0, 0, n, got));
    case_rows(want, 5, NY_U8, D, 0, n);
    assert_memory_equal(got, want, (size_t)n * D);
    free(want);
    free(got);
}

/* Stops files from growing beyond this, which to a writer looks like a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* True when the import ended, which needs more than the limit. */
static bool import_with_limit(const struct case_import *import, rlim_t bytes)
{
    OWNED(ny_store) *store = NULL;
    char data[1000] = "";
    int err;

    CHECK(ny_store_open(&store, ctx, path));
    limit_files(bytes);
    err = case_import(store, import);
    if (err) {
        assert_int_equal(err, NY_EIO);
        assert_non_null(strstr(ny_context_message(ctx), "make space"));
        ny_error_clear(ctx);
        assert_int_equal(case_import(store, import), NY_EIO); /* until it is opened again */
        assert_non_null(strstr(ny_context_message(ctx), "open it again"));
        ny_error_clear(ctx);
        check_rows(store, BASE);
    }
    limit_files(RLIM_INFINITY);
    CHECK(ny_blob_put(store, "fit", "x", data, sizeof(data)));
    return err == NY_OK;
}

TEST(a_full_disk)
{
    struct case_import base = labelled_bytes(D, 0, BASE), more = labelled_bytes(D, BASE, MORE);
    struct ny_store *store;
    struct ny_ingest *ingest;
    uint64_t consumed, before = 0;
    unsigned failures = 0;

    signal(SIGXFSZ, SIG_IGN);
    CHECK(ny_store_create(&store, ctx, path));
    CHECK(case_import(store, &base));
    ny_store_close(store);
    for (rlim_t limit = 1 << 20; !import_with_limit(&more, limit); limit += 3 << 20) {
        failures++;
        CHECK(ny_store_open(&store, ctx, path));
        check_rows(store, BASE);
        CHECK(ny_ingest_begin(&ingest, store, &more.spec, &consumed));
        ny_ingest_free(ingest);
        assert_true(consumed >= before); /* what was staged stays */
        before = consumed;
        ny_store_close(store);
    }
    assert_true(failures > 2 && before > 0);
    CHECK(ny_store_open(&store, ctx, path));
    check_rows(store, BASE + MORE);
    ny_store_close(store);
}

TEST(a_full_disk_under_a_batch)
{
    char *data = calloc(1, NY_CHUNK_BYTES);
    struct ny_chunk chunk = {.data = data, .capacity = NY_CHUNK_BYTES};
    struct ny_store *store;

    signal(SIGXFSZ, SIG_IGN);
    CHECK(ny_store_create(&store, ctx, path));
    CHECK(ny_blob_put(store, "fit", "old", data, 100));
    limit_files(500000);
    REFUSED(ny_blob_put(store, "fit", "new", data, NY_CHUNK_BYTES), NY_EIO);
    limit_files(RLIM_INFINITY);
    CHECK(ny_blob_get(store, "fit", "old", data, 100));
    assert_int_equal(ny_chunk_get(store, "fit", "new", 0, &chunk), NY_END);
    ny_store_close(store);
    CHECK(ny_store_open(&store, ctx, path));
    CHECK(ny_blob_put(store, "fit", "new", data, NY_CHUNK_BYTES));
    CHECK(ny_blob_get(store, "fit", "new", data, NY_CHUNK_BYTES));
    ny_store_close(store);
    free(data);
}

/* ---- budgets ------------------------------------------------------------------------------- */

static int everything(void)
{
    struct case_import import = labelled_bytes(D, 0, 1500);
    struct ny_rows_stats stats = {.n = 0};
    static uint8_t rows[1500 * D];
    uint64_t some[3] = {1400, 3, 700};
    double labels[10];
    struct ny_store *store;
    int err = ny_store_create(&store, ctx, path);

    if (err) return err;
    err = case_import(store, &import);
    if (!err) err = ROWS_OF(store, read, 0, 0, 1500, rows);
    if (!err) err = ROWS_OF(store, gather, 0, some, 3, rows);
    if (!err) err = ny_points_labels(store, 5, 10, labels);
    if (!err) err = ROWS_OF(store, stats, &stats);
    if (!err) err = ny_blob_put(store, "fit", "x", rows, sizeof(rows));
    if (!err) err = ny_blob_get(store, "fit", "x", rows, sizeof(rows));
    ny_rows_stats_release(&stats, ctx);
    ny_store_close(store);
    return err;
}

TEST(every_budget)
{
    unsigned refusals = 0;
    int err = NY_EBUDGET;

    for (uint64_t budget = 4096; err; budget += budget / 16) {
        ny_context_set_memory(ctx, budget);
        err = everything();
        if (err) {
            assert_int_equal(err, NY_EBUDGET);
            assert_non_null(strstr(ny_context_message(ctx), "memory"));
            refusals++;
        }
        assert_int_equal(ny_memory_used(ctx), 0);
        ny_error_clear(ctx);
        case_remove(path);
        assert_true(budget < 64 << 20);
    }
    assert_true(refusals > 20);
}

AROUND_EACH(start, remove_folder)
