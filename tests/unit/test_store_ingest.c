/* store/store.h, ingesting: appending, staging, resuming, discarding. */
#include "store_checks.h"

#include <sys/wait.h>

#include "base/thread.h"
#include "store/store_private.h"

/* ---- appending ----------------------------------------------------------------------------- */

TEST(append_fills_the_short_block)
{
    static const uint64_t counts[] = {100, 50, 900, 3000, 1, 45, 4096, 1024};
    struct case_import import = import_of(NY_U8, 784, 0);
    uint64_t n = 0;

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        import.first = n;
        import.count = counts[i];
        import.spec.append = true;
        import.spec.fingerprint = i;
        CHECK(case_import(store, &import));
        n += counts[i];
        assert_int_equal(points_now().n, n);
        check_rows(3, 0, n, 0);
    }
}

/* The digest is that of the rows, however they came; the tail has its own. */
TEST(digests)
{
    struct case_import import = import_of(NY_U8, 784, 2500);
    struct ny_points_state whole, parts, more;

    CHECK(case_import(store, &import));
    CHECK(ny_points_state(store, &whole));
    import.spec.append = true;
    import.first = 2500;
    import.count = 100;
    CHECK(case_import(store, &import));
    CHECK(ny_points_state(store, &more));
    assert_true(more.digest == whole.digest); /* full blocks: the same two */
    assert_true(more.tail_digest != whole.tail_digest && more.tail_digest != 0);
    import.first = 2600;
    import.count = 3072 - 2600;
    CHECK(case_import(store, &import));
    CHECK(ny_points_state(store, &parts));
    assert_true(parts.digest != whole.digest && parts.tail_digest == 0);
    assert_true(parts.txn > more.txn);
}

TEST(imports_that_do_not_fit)
{
    struct case_import import = import_of(NY_U8, 4, 10), other = import_of(NY_U8, 4, 10);

    CHECK(case_import(store, &import));
    REFUSED(case_import(store, &other), NY_EUSAGE);
    other.spec.append = true;
    other.spec.d = 5;
    REFUSED(case_import(store, &other), NY_EDATA);
    other.spec.d = 4;
    other.spec.labels = true;
    REFUSED(case_import(store, &other), NY_EDATA);
    other.spec.labels = false;
    other.spec.d = 0;
    REFUSED(case_import(store, &other), NY_EDATA);
    other.spec.d = UINT64_MAX;
    REFUSED(case_import(store, &other), NY_EDATA);
    check_rows(3, 0, 10, 0);
}

/* ---- staging ------------------------------------------------------------------------------- */

static struct ny_rows_stats stats_now(void)
{
    struct ny_rows_stats stats;

    CHECK(ROWS_OF(store, stats, &stats));
    return stats;
}

static void same_stats(struct ny_rows_stats *a, struct ny_rows_stats *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->mean, b->mean, a->d * sizeof(double));
    assert_memory_equal(a->variance, b->variance, a->d * sizeof(double));
    ny_rows_stats_release(a, ctx);
    ny_rows_stats_release(b, ctx);
}

/* 1300 rows, then an append of 40000, in one go or left at 30000 and taken up in other batches. */
static void import_in_parts(bool broken)
{
    struct case_import import = import_of(NY_U8, 784, 1300);

    import.spec.labels = import.spec.source = true;
    CHECK(case_import(store, &import));
    import.spec.append = true;
    import.spec.fingerprint = 12;
    import.first = 1300;
    if (broken) {
        import.count = 30000;
        import.no_commit = 1;
        CHECK(case_import(store, &import));
        reopen();
        assert_in_range(staged_rows(&import.spec), 1, 30000);
        import.no_commit = 0;
        import.batch = 333;
    }
    import.count = 40000;
    CHECK(case_import(store, &import));
}

TEST(an_unfinished_import_goes_on)
{
    struct ny_rows_stats whole, broken;
    uint64_t *source = lend(41300 * sizeof(*source));
    double *labels = lend(41300 * sizeof(*labels));

    ny_context_set_memory(ctx, 100 << 20); /* commits every few MiB */
    import_in_parts(false);
    whole = stats_now();
    new_store();
    import_in_parts(true);
    broken = stats_now();
    same_stats(&whole, &broken);
    check_rows(3, 0, 41300, 0);
    CHECK(ny_points_source(store, 0, 41300, source));
    CHECK(ny_points_labels(store, 0, 41300, labels));
    for (uint64_t i = 0; i < 41300; i++)
        assert_true(source[i] == case_source(3, i) && labels[i] == case_label(3, i));
}

TEST(another_import_discards_what_was_staged)
{
    struct case_import import = import_of(NY_U8, 784, 30000), other = import_of(NY_U8, 784, 2000);

    ny_context_set_memory(ctx, 100 << 20);
    import.no_commit = 1;
    CHECK(case_import(store, &import));
    other.seed = 8;
    other.spec.fingerprint = 99;
    assert_int_equal(staged_rows(&other.spec), 0);
    CHECK(case_import(store, &other));
    check_rows(8, 0, 2000, 0);
}

/* Damages one kind of the unfinished block, which is the last that is staged. */
static void spoil_open(enum ny_kind kind, uint64_t blocks)
{
    struct ny_frame frame = {.store = store->id, .number = blocks, .kind = kind};
    struct ny_write write;
    struct ny_key key;
    size_t bytes = 0;

    CHECK(ny_write_begin(&write, store, store->points, 1 << 20));
    while (!bytes && frame.number-- > 0) {
        key = ny_points_key(kind | NY_STAGED, frame.number);
        CHECK(ny_write_size(&write, &key, &bytes));
    }
    assert_true(bytes > 0);
    CHECK(ny_write_record(&write, &key, &frame, ""));
    CHECK(ny_write_commit(&write, NY_OK));
}

/* Leaves `import` unfinished, damages one kind of the block that it was filling, and repeats it. */
static void go_on_after_damage(struct case_import import, enum ny_kind kind)
{
    import.no_commit = 1;
    CHECK(case_import(store, &import));
    spoil_open(kind, 40);
    import.no_commit = 0;
    import.batch = 333;
    CHECK(case_import(store, &import));
}

TEST(damage_to_what_is_staged_starts_the_import_anew)
{
    static const enum ny_kind kinds[] = {NY_KIND_POINTS, NY_KIND_LABELS, NY_KIND_SOURCE};
    static const uint64_t bases[] = {0, 1300, 2048};
    struct case_import import = import_of(NY_U8, 784, 1300);

    ny_context_set_memory(ctx, 100 << 20);
    import.spec.labels = import.spec.source = import.spec.append = true;
    for (size_t i = 0; i < 9; i++) {
        new_store();
        import.first = 0;
        import.batch = 777;
        import.count = bases[i % 3];
        if (import.count) CHECK(case_import(store, &import));
        import.first = import.count;
        import.count = 30000;
        go_on_after_damage(import, kinds[i / 3]);
        assert_int_equal(points_now().n, import.first + 30000);
        check_rows(3, 0, import.first + 30000, 0);
        CHECK(ny_store_verify(store, no_damage, NULL));
    }
}

TEST(discarding_leaves_the_store_as_it_was)
{
    struct case_import import = import_of(NY_U8, 784, 1500);
    struct points_seen before, after;
    struct ny_ingest *ingest;
    uint64_t consumed;

    ny_context_set_memory(ctx, 100 << 20);
    CHECK(case_import(store, &import));
    before = points_seen();
    import.spec.append = true;
    import.count = 30000;
    import.no_commit = 1;
    CHECK(case_import(store, &import));
    after = points_seen(); /* nothing is seen before the commit */
    assert_memory_equal(&before, &after, sizeof(before));
    CHECK(ny_ingest_begin(&ingest, store, &import.spec, &consumed));
    assert_true(consumed > 0);
    CHECK(ny_ingest_discard(ingest));
    ny_ingest_free(ingest);
    after = points_seen();
    assert_memory_equal(&before, &after, sizeof(before));
    check_rows(3, 0, 1500, 0);
    assert_int_equal(staged_rows(&import.spec), 0);
}

/* ---- threads ------------------------------------------------------------------------------- */

enum { READERS = 3, ROUNDS = 6 };

/* Worker 0 appends and puts chunks; the others read what there is. */
static int read_or_write(void *arg, unsigned worker)
{
    struct case_import import = import_of(NY_U8, 784, 1000);
    uint8_t *rows = lend(1024 * 784), *want = lend_zeros(1024 * 784);
    struct ny_stored_points points;
    int err = NY_OK;

    (void)arg;
    import.spec.append = true;
    for (uint64_t round = 0; !err && worker == 0 && round < ROUNDS; round++) {
        import.first = 3000 + 1000 * round;
        err = case_import(store, &import);
        if (!err) err = ny_blob_put(store, "fit", "x", want, 1000);
    }
    for (uint64_t round = 0; !err && worker > 0 && round < ROUNDS; round++) {
        err = ny_points_stored(store, &points);
        for (uint64_t b = 0; !err && b < points.blocks; b++) {
            size_t count;

            err = ny_points_read_block(store, b, rows, &count);
            case_rows(want, 3, NY_U8, 784, b * 1024, count);
            if (!err && memcmp(rows, want, count * 784) != 0) err = NY_EDATA;
            ny_points_done_with(store, b, 1);
        }
    }
    return err;
}

TEST(many_threads_at_once)
{
    struct case_import import = import_of(NY_U8, 784, 3000);

    CHECK(case_import(store, &import));
    CHECK(ny_parallel(ctx, 1 + READERS, read_or_write, NULL));
    check_rows(3, 0, 3000 + 1000 * ROUNDS, 0);
}

enum { DYING_ROWS = 3000, DYING_COLUMNS = 20 };

static struct ny_ingest_spec dying_spec(void)
{
    return (struct ny_ingest_spec){
        .d = DYING_COLUMNS, .dtype = NY_U8, .append = true, .fingerprint = 7};
}

static int import_all(struct ny_ingest *ingest)
{
    static uint8_t values[DYING_ROWS * DYING_COLUMNS];
    struct ny_ingest_rows rows = {.values = values, .count = DYING_ROWS, .consumed = DYING_ROWS};
    int err;

    case_rows(values, 3, NY_U8, DYING_COLUMNS, 0, DYING_ROWS);
    err = ny_ingest_rows(ingest, &rows);
    return err ? err : ny_ingest_commit(ingest);
}

/* A process that commits an import and ends before it can say so. */
static void commit_and_die(void)
{
    struct ny_ingest_spec spec = dying_spec();
    struct ny_context *its;
    struct ny_ingest *ingest;
    struct ny_store *own;
    uint64_t consumed;

    if (ny_context_new(&its) || ny_store_open(&own, its, path)) _exit(1);
    if (ny_ingest_begin(&ingest, own, &spec, &consumed)) _exit(2);
    _exit(import_all(ingest) ? 3 : 0);
}

/* Done already, once; from then on the same import adds its rows again. */
TEST(an_import_killed_after_its_commit_is_done)
{
    struct ny_ingest_spec spec = dying_spec();
    struct ny_ingest *ingest;
    uint64_t consumed, n = 0;
    int status;
    pid_t child;

    for (unsigned round = 0; round < 2; round++) {
        child = fork();
        if (child == 0) commit_and_die();
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(points_now().n, n += DYING_ROWS);
        assert_int_equal(ny_ingest_begin(&ingest, store, &spec, &consumed), NY_END);
        assert_null(ingest);
        assert_int_equal(consumed, DYING_ROWS);
        CHECK(ny_ingest_begin(&ingest, store, &spec, &consumed));
        assert_int_equal(consumed, 0);
        CHECK(import_all(ingest));
        ny_ingest_free(ingest);
        assert_int_equal(points_now().n, n += DYING_ROWS);
    }
}

AROUND_EACH(start, stop)
