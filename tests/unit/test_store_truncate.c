/* Truncation in a store: digests, statistics and notes are those of before the rows came. */
#include "store_checks.h"

#include "store/store_private.h"

enum { D = 100, MANY = 40 };

static int object(void *user, bool now)
{
    if (now) return ny_fail(ctx, NY_EUSAGE, "not now");
    return agree(user, now);
}

static void append(enum ny_dtype dtype, uint64_t first, uint64_t count)
{
    struct case_import import = import_of(dtype, D, count);

    import.first = first;
    import.spec.append = true;
    import.spec.labels = true;
    import.spec.fingerprint += first;
    import.spec.from = "night.npy";
    CHECK(case_import(store, &import));
}

/* At the end of each import the store is kept in mind; then it is taken back to each, the last one
 * first, and all of it has the bits that it had. */
static void go_back(enum ny_dtype dtype, const uint64_t *count, size_t imports)
{
    struct points_seen info[MANY], now;
    struct ny_rows_stats stats[MANY], again;
    uint64_t n = 0;
    int called;

    for (size_t i = 0; i < imports; n += count[i++]) {
        append(dtype, n, count[i]);
        info[i] = points_seen();
        CHECK(ROWS_OF(store, stats, &stats[i]));
    }
    for (size_t i = imports; i-- > 0; n -= i ? count[i] : 0) {
        called = 0;
        CHECK(ny_store_truncate(store, info[i].state.n, agree, &called));
        assert_int_equal(called, i + 1 < imports ? 11 : 0);
        now = points_seen();
        assert_memory_equal(&now, &info[i], sizeof(now));
        CHECK(ROWS_OF(store, stats, &again));
        assert_memory_equal(again.mean, stats[i].mean, 4 * D * sizeof(double));
        assert_true(again.mean_norm == stats[i].mean_norm && again.n == stats[i].n);
        ny_rows_stats_release(&again, ctx);
        ny_rows_stats_release(&stats[i], ctx);
        check_rows(3, 0, info[i].state.n, 0);
    }
}

TEST(each_night_is_taken_back)
{
    static const uint64_t nights[] = {5000, 1, 3192, 700, 8192, 33, 1};

    for (enum ny_dtype dtype = NY_U8; dtype <= NY_F64; dtype++) {
        new_store();
        go_back(dtype, nights, sizeof(nights) / sizeof(nights[0]));
    }
}

TEST(notes_say_where_imports_began)
{
    struct ny_imports imports;
    int called;

    append(NY_F32, 0, 3000);
    append(NY_F32, 3000, 400);
    append(NY_F32, 3400, 500);
    CHECK(ny_store_truncate(store, 3500, agree, &called));
    CHECK(ny_points_imports(store, &imports));
    assert_int_equal(imports.count, 3);
    assert_int_equal(imports.note[1].first, 3000);
    assert_int_equal(imports.note[2].first, 3400);
    assert_int_equal(imports.note[2].end, 3500);
    assert_string_equal(imports.note[2].from, "night.npy");
    assert_true(imports.note[0].time > 0);
    ny_imports_release(&imports, ctx);
    CHECK(ny_store_truncate(store, 3000, agree, &called));
    CHECK(ny_points_imports(store, &imports));
    assert_int_equal(imports.count, 1);
    ny_imports_release(&imports, ctx);
}

TEST(refusals_change_nothing)
{
    struct points_seen before, now;
    struct ny_ingest *ingest;
    struct case_import import = import_of(NY_F32, D, 10);
    uint64_t consumed;
    int called = 0;

    append(NY_F32, 0, 3000);
    before = points_seen();
    assert_int_equal(ny_store_truncate(store, 0, agree, &called), NY_EUSAGE);
    assert_int_equal(ny_store_truncate(store, 3001, agree, &called), NY_EUSAGE);
    assert_int_equal(called, 0);
    assert_int_equal(ny_store_truncate(store, 1000, object, &called), NY_EUSAGE);
    assert_int_equal(called, 1);
    import.spec.append = true;
    CHECK(ny_ingest_begin(&ingest, store, &import.spec, &consumed));
    assert_int_equal(ny_store_truncate(store, 1000, agree, &called), NY_EBUSY);
    ny_ingest_free(ingest);
    ny_error_clear(ctx);
    now = points_seen();
    assert_memory_equal(&now, &before, sizeof(now));
}

/* Rows that an import staged before are behind other rows than those that are there now. */
TEST(what_was_staged_is_forgotten)
{
    struct case_import import = import_of(NY_F32, D, 9000);
    struct points_seen before, now;
    int called;

    append(NY_F32, 0, 3000);
    before = points_seen();
    append(NY_F32, 3000, 2000);
    import.first = 5000;
    import.spec.append = true;
    import.spec.labels = true;
    import.no_commit = 1;
    CHECK(case_import(store, &import));
    CHECK(ny_store_truncate(store, 3000, agree, &called));
    now = points_seen();
    assert_memory_equal(&now, &before, sizeof(now));
    append(NY_F32, 3000, 2000);
    import.no_commit = 0;
    CHECK(case_import(store, &import));
    check_rows(3, 0, 14000, 0);
}

/* ---- row numbers of the source --------------------------------------------------------------- */

/* Appends rows, with the numbers that they have in their file or without. */
static void append_from(uint64_t first, uint64_t count, bool source)
{
    struct case_import import = import_of(NY_F32, D, count);

    import.first = first;
    import.spec.append = true;
    import.spec.source = source;
    import.spec.fingerprint += first;
    CHECK(case_import(store, &import));
}

static struct ny_manifest manifest(void)
{
    struct ny_snapshot *view;
    struct ny_manifest m;

    CHECK(ny_snapshot_begin(&view, store, store->points));
    CHECK(ny_manifest_read(view, &m));
    CHECK(ny_snapshot_end(view, NY_OK));
    return m;
}

/* Tells whether the numbers of a block are in the table. */
static bool has_numbers(uint64_t block)
{
    struct ny_key key = ny_points_key(NY_KIND_SOURCE, block);
    struct ny_snapshot *view;
    size_t bytes;
    int err;

    CHECK(ny_snapshot_begin(&view, store, store->points));
    err = ny_snapshot_size(view, &key, &bytes);
    CHECK(ny_snapshot_end(view, NY_OK));
    assert_true(err == NY_OK || err == NY_END);
    return err == NY_OK;
}

/* Checks that the first `plain` rows say where they are, those up to `end` what their file said and
 * those behind them where they are; and that numbers are kept from block `from` on (from < 0: none
 * are). */
static void check_source(uint64_t plain, uint64_t end, long long from)
{
    struct ny_manifest m = manifest();
    uint64_t *source = lend((size_t)m.n * sizeof(*source));

    assert_int_equal((m.flags & NY_FLAG_SOURCE) != 0, from >= 0);
    if (from >= 0) assert_int_equal(m.source_from, from);
    CHECK(ny_points_source(store, 0, (size_t)m.n, source));
    for (uint64_t i = 0; i < m.n; i++)
        assert_int_equal(source[i], i < plain || i >= end ? i : case_source(3, i));
}

/* Numbers are kept from the block on in which the first row has another number than its place: as
 * before the rows came that are cut off, and again for those that come then. */
TEST(row_numbers_are_kept_from_the_same_block_on)
{
    const uint64_t tail = 300;
    uint64_t block, plain;
    int called;

    append_from(0, 10, false);
    block = manifest().block_rows;
    plain = 2 * block + tail;
    append_from(10, plain - 10, false);
    check_source(plain, plain, -1);
    append_from(plain, 2 * block, true);
    check_source(plain, plain + 2 * block, 2);
    CHECK(ny_store_truncate(store, 3 * block + 10, agree, &called));
    check_source(plain, 3 * block + 10, 2);
    CHECK(ny_store_truncate(store, 3 * block, agree, &called));
    check_source(plain, 3 * block, 2);
    append_from(3 * block, block + 1, true);
    check_source(plain, 4 * block + 1, 2);
    CHECK(ny_store_truncate(store, 3 * block, agree, &called));
    append_from(3 * block, 200, false); /* these are where they were in their file */
    CHECK(ny_store_truncate(store, 3 * block + 100, agree, &called));
    check_source(plain, 3 * block, 2);
    CHECK(ny_store_truncate(store, plain + 1, agree, &called));
    check_source(plain, plain + 1, 2);
    assert_true(has_numbers(2));
    CHECK(ny_store_truncate(store, plain, agree, &called));
    check_source(plain, plain, -1);
    assert_false(has_numbers(2));
    append_from(plain, block, true);
    check_source(plain, plain + block, 2);
    CHECK(ny_store_truncate(store, 2 * block, agree, &called)); /* no row of that block stays */
    check_source(plain, plain, -1);
    append_from(2 * block, 5, true);
    check_source(2 * block, 2 * block + 5, 2);
    CHECK(ny_store_truncate(store, block + 7, agree, &called));
    check_source(plain, plain, -1);
    append_from(block + 7, 5, true);
    check_source(block + 7, block + 12, 1);
    CHECK(ny_store_verify(store, no_damage, NULL));
}

AROUND_EACH(start, stop)
