/* Truncation in a store: digests, statistics and notes are those of before the rows came. */
#include "store_checks.h"

#include "store/store_private.h"

enum { D = 100, MANY = 40 };

static int agree(void *user, bool now)
{
    *(int *)user += now ? 10 : 1;
    return NY_OK;
}

static int object(void *user, bool now)
{
    if (now) return ny_fail(ctx, NY_EUSAGE, "not now");
    return agree(user, now);
}

/* Returns what readers see: all of the points' record but the number of its transaction. */
static struct ny_points_info seen(void)
{
    struct ny_points_info info;

    CHECK(ny_points_info(store, &info));
    info.txn = 0;
    return info;
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
    struct ny_points_info info[MANY], now;
    struct ny_points_stats stats[MANY], again;
    uint64_t n = 0;
    int called;

    for (size_t i = 0; i < imports; n += count[i++]) {
        append(dtype, n, count[i]);
        info[i] = seen();
        CHECK(ny_points_stats(store, &stats[i]));
    }
    for (size_t i = imports; i-- > 0; n -= i ? count[i] : 0) {
        called = 0;
        CHECK(ny_store_truncate(store, info[i].n, agree, &called));
        assert_int_equal(called, i + 1 < imports ? 11 : 0);
        now = seen();
        assert_memory_equal(&now, &info[i], sizeof(now));
        CHECK(ny_points_stats(store, &again));
        assert_memory_equal(again.mean, stats[i].mean, 4 * D * sizeof(double));
        assert_true(again.mean_norm == stats[i].mean_norm && again.n == stats[i].n);
        ny_points_stats_release(&again, ctx);
        ny_points_stats_release(&stats[i], ctx);
        check_rows(3, 0, info[i].n, 0);
    }
}

static void each_night_is_taken_back(void **state)
{
    static const uint64_t nights[] = {5000, 1, 3192, 700, 8192, 33, 1};

    (void)state;
    for (enum ny_dtype dtype = NY_U8; dtype <= NY_F64; dtype++) {
        new_store();
        go_back(dtype, nights, sizeof(nights) / sizeof(nights[0]));
    }
}

static void notes_say_where_imports_began(void **state)
{
    struct ny_imports imports;
    int called;

    (void)state;
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

static void refusals_change_nothing(void **state)
{
    struct ny_points_info before, now;
    struct ny_ingest *ingest;
    struct case_import import = import_of(NY_F32, D, 10);
    uint64_t consumed;
    int called = 0;

    (void)state;
    append(NY_F32, 0, 3000);
    before = seen();
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
    now = seen();
    assert_memory_equal(&now, &before, sizeof(now));
}

/* Rows that an import staged before are behind other rows than those that are there now. */
static void what_was_staged_is_forgotten(void **state)
{
    struct case_import import = import_of(NY_F32, D, 9000);
    struct ny_points_info before, now;
    int called;

    (void)state;
    append(NY_F32, 0, 3000);
    before = seen();
    append(NY_F32, 3000, 2000);
    import.first = 5000;
    import.spec.append = true;
    import.spec.labels = true;
    import.no_commit = 1;
    CHECK(case_import(store, &import));
    CHECK(ny_store_truncate(store, 3000, agree, &called));
    now = seen();
    assert_memory_equal(&now, &before, sizeof(now));
    append(NY_F32, 3000, 2000);
    import.no_commit = 0;
    CHECK(case_import(store, &import));
    check_rows(3, 0, 14000, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_night_is_taken_back),
        TEST(notes_say_where_imports_began),
        TEST(refusals_change_nothing),
        TEST(what_was_staged_is_forgotten),
    };

    return cmocka_run_group_tests_name("truncation of a store", tests, NULL, NULL);
}
