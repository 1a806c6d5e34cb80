/* store/store.h, points: what was imported is what is read; labels, source rows, statistics. */
#include "store_checks.h"

OWNS(ny_rows_stats, ny_rows_stats_release(at, ctx))

/* ---- round trips --------------------------------------------------------------------------- */

static void round_trip(enum ny_dtype dtype, uint64_t d, uint64_t n)
{
    struct case_import import = import_of(dtype, d, n);
    struct ny_rows_info info;
    size_t row_bytes = d * ny_dtype_size(dtype), count;
    uint64_t blocks;
    char *rows, *want;

    CHECK(case_import(store, &import));
    CHECK(ny_points_info(store, &info));
    assert_int_equal(info.n, n);
    assert_int_equal(info.d, d);
    assert_int_equal(info.dtype, dtype);
    assert_int_equal(ny_points_raw_bytes(&info), n * row_bytes);
    assert_int_equal(info.block_rows & (info.block_rows - 1), 0);
    assert_true(info.block_rows * row_bytes <= 1 << 20 || info.block_rows == 1);
    blocks = (n + info.block_rows - 1) / info.block_rows;
    assert_int_equal(points_seen().points.blocks, blocks);
    rows = lend(info.block_rows * row_bytes);
    want = lend(info.block_rows * row_bytes);
    for (uint64_t b = 0; b < blocks; b++) {
        uint64_t left = n - b * info.block_rows;

        CHECK(ny_points_read_block(store, b, rows, &count));
        assert_int_equal(count, left < info.block_rows ? left : info.block_rows);
        case_rows(want, 3, dtype, d, b * info.block_rows, count);
        assert_memory_equal(rows, want, count * row_bytes);
    }
    check_rows(3, n / 3, n - n / 3, n / 3);
    check_rows(3, 0, n, 0);
    check_rows(3, n - 1, 1, n - 1);
}

/* One store a shape: blocks of many rows, few, one; a last block full, short, of one row. */
TEST(every_type_and_block_edge)
{
    static const struct {
        uint64_t d, n;
    } shapes[] = {{784, 1024}, {784, 2049}, {3, 45000}, {300000, 3}, {1, 1}, {65536, 17}};

    for (int dtype = NY_U8; dtype <= NY_GENOTYPE; dtype++)
        for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
            round_trip((enum ny_dtype)dtype, shapes[i].d, shapes[i].n);
            new_store();
        }
}

TEST(rows_survive_closing)
{
    struct case_import import = import_of(NY_I16, 20, 60000);

    CHECK(case_import(store, &import));
    reopen();
    check_rows(3, 0, 60000, 0);
    assert_true(ny_store_bytes(store) > 0);
    assert_false(ny_store_read_only(store));
    assert_string_equal(ny_store_path(store), path);
}

TEST(an_empty_store_has_no_points)
{
    struct ny_rows_info info = points_now();
    struct ny_rows_stats stats;
    size_t count;

    assert_int_equal(info.n, 0);
    CHECK(ROWS_OF(store, stats, &stats));
    assert_int_equal(stats.n, 0);
    ny_rows_stats_release(&stats, ctx);
    REFUSED(ny_points_read_block(store, 0, &info, &count), NY_EINTERNAL);
}

/* A plan asks how many rows there will be, and goes without what it would read. */
TEST(a_shape_has_no_rows_to_read)
{
    const struct ny_points_shape dense = {.rows = 5000, .columns = 20, .dtype = NY_U8},
                                 sparse = {5000, 900, 100000, NY_F32};
    const uint64_t row = 4999;
    char out[8192];

    for (int k = 0; k < 2; k++) {
        OWNED(ny_store) *shape = NULL;
        struct ny_rows_info info;
        struct ny_source *source;
        struct ny_rows *X;

        CHECK(ny_store_of_shape(&shape, ctx, "a shape", k ? &sparse : &dense));
        X = ny_store_rows(shape);
        CHECK(X->ops->info(X, &info));
        assert_true(info.n == 5000 && ny_rows_here(&info) == 5000);
        assert_int_equal(info.d, k ? 900 : 20);
        assert_int_equal(info.row_slots, k ? 80 : 0);
        assert_int_equal(ny_points_raw_bytes(&info), k ? 800000 : 100000);
        assert_int_equal(ny_rows_source(X, 5000, info.row_slots, 1, &source), NY_END);
        assert_int_equal(X->ops->read(X, info.row_slots, row, 1, out), NY_END);
        assert_int_equal(X->ops->gather(X, info.row_slots, &row, 1, out), NY_END);
        assert_string_equal(ny_context_message(ctx), "");
    }
}

TEST(beyond_the_end_is_refused)
{
    struct case_import import = import_of(NY_U8, 4, 10);
    uint8_t rows[8];
    uint64_t row = 10;
    double label;

    CHECK(case_import(store, &import));
    REFUSED(ROWS_OF(store, read, 0, 9, 2, rows), NY_EINTERNAL);
    REFUSED(ROWS_OF(store, gather, 0, &row, 1, rows), NY_EINTERNAL);
    REFUSED(ny_points_labels(store, UINT64_MAX, 2, &label), NY_EINTERNAL);
}

TEST(gather_keeps_the_order_asked_for)
{
    struct case_import import = import_of(NY_F32, 100, 30000);
    enum { COUNT = 500 };
    uint64_t rows[COUNT];
    float *got = lend(COUNT * 100 * sizeof(float)), want[100];

    CHECK(case_import(store, &import));
    for (uint64_t i = 0; i < COUNT; i++)
        rows[i] = (i * 7919 + 13) % 30000;
    rows[COUNT - 1] = rows[0]; /* twice the same */
    CHECK(ROWS_OF(store, gather, 0, rows, COUNT, got));
    for (size_t i = 0; i < COUNT; i++) {
        case_rows(want, 3, NY_F32, 100, rows[i], 1);
        assert_memory_equal(got + i * 100, want, sizeof(want));
    }
    CHECK(ROWS_OF(store, gather, 0, rows, 0, got));
}

/* Hints change nothing that can be read, in any order, beyond the end too. */
TEST(hints_are_harmless)
{
    struct case_import import = import_of(NY_U8, 784, 5000);

    CHECK(case_import(store, &import));
    ny_points_will_need(store, 0, 100);
    check_rows(3, 0, 5000, 0);
    ny_points_done_with(store, 0, 100);
    ny_points_done_with(store, 7, UINT64_MAX / 2);
    check_rows(3, 0, 5000, 0);
}

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all, resident = 0;

    if (file && fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * 4096;
}

/* Reading a store does not make the process as large as the store: mapped pages count. */
TEST(reading_leaves_no_pages_behind)
{
    enum { N = 16384, BYTES = 64 << 20 };
    struct ny_ingest_spec spec = {.d = 1024, .dtype = NY_F32, .fingerprint = 1};
    uint32_t *noise;
    struct ny_ingest_rows rows = {.count = N, .consumed = N};
    uint64_t every[N / 64];
    size_t before;

    if (getenv("NYSTREAM_SANITIZER")) {
        print_message("a sanitizer has its own memory\n");
        skip();
    }
    noise = lend(BYTES);
    rows.values = noise;
    for (uint32_t i = 0, x = 1; i < BYTES / 4; i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = (x & 0x7fffff) | 0x3f800000; /* of [1, 2) */
    }
    CHECK(case_ingest(store, &spec, &rows));
    CHECK(ny_blob_put(store, "fit", "x", noise, BYTES));
    before = resident_bytes();
    CHECK(ROWS_OF(store, read, 0, 0, N, noise));
    CHECK(ny_blob_get(store, "fit", "x", noise, BYTES));
    for (uint64_t i = 0; i < N / 64; i++)
        every[i] = i * 64;
    CHECK(ROWS_OF(store, gather, 0, every, N / 64, noise));
    CHECK(ny_store_verify(store, no_damage, NULL));
    assert_true(resident_bytes() < before + (8 << 20));
}

/* ---- labels, source, classes --------------------------------------------------------------- */

TEST(labels_and_source_rows)
{
    struct case_import import = import_of(NY_U8, 784, 3000);
    double *labels = lend(3000 * sizeof(*labels));
    uint64_t *source = lend(3000 * sizeof(*source));

    import.spec.labels = import.spec.source = true;
    CHECK(case_import(store, &import));
    assert_true(points_seen().points.labels);
    CHECK(ny_points_labels(store, 0, 3000, labels));
    CHECK(ny_points_source(store, 0, 3000, source));
    for (uint64_t i = 0; i < 3000; i++) {
        assert_true(labels[i] == case_label(3, i));
        assert_int_equal(source[i], case_source(3, i));
    }
    CHECK(ny_points_source(store, 1023, 3, source));
    assert_int_equal(source[2], case_source(3, 1025));
}

TEST(missing_labels_stay_missing)
{
    struct ny_ingest_spec spec = {.d = 1, .dtype = NY_U8, .labels = true, .fingerprint = 1};
    struct ny_ingest_rows rows = {
        .values = "ab", .labels = (double[]){NAN, 4}, .count = 2, .consumed = 2};
    double labels[2];

    CHECK(case_ingest(store, &spec, &rows));
    CHECK(ny_points_labels(store, 0, 2, labels));
    assert_true(isnan(labels[0]) && labels[1] == 4);
}

TEST(without_labels_and_source)
{
    struct case_import import = import_of(NY_U8, 4, 100);
    double labels[3] = {1, 1, 1};
    uint64_t source[3];

    CHECK(case_import(store, &import));
    CHECK(ny_points_labels(store, 5, 3, labels));
    CHECK(ny_points_source(store, 5, 3, source));
    for (uint64_t i = 0; i < 3; i++) {
        assert_true(labels[i] == 0);
        assert_int_equal(source[i], 5 + i);
    }
}

TEST(source_rows_begin_in_the_middle)
{
    struct case_import import = import_of(NY_U8, 784, 1500);
    uint64_t source[2600];

    CHECK(case_import(store, &import));
    import.spec.append = import.spec.source = true;
    import.count = 900;
    CHECK(case_import(store, &import));
    import.spec.source = false; /* what comes now counts in the store */
    import.count = 200;
    CHECK(case_import(store, &import));
    CHECK(ny_points_source(store, 0, 2600, source));
    for (uint64_t i = 0; i < 2600; i++)
        assert_int_equal(source[i], i < 1500 || i >= 2400 ? i : case_source(3, i - 1500));
}

static int with_classes(const char *const *names, size_t count, bool append, double label)
{
    struct ny_ingest_spec spec = {
        .d = 1, .dtype = NY_U8, .labels = true, .append = append, .fingerprint = 5};
    struct ny_ingest_rows rows = {.values = "x", .labels = &label, .count = 1, .consumed = 1};
    struct ny_ingest *ingest;
    uint64_t consumed;
    int err = ny_ingest_begin(&ingest, store, &spec, &consumed);

    if (err) return err;
    err = ny_ingest_rows(ingest, &rows);
    if (!err && count) err = ny_ingest_class_names(ingest, names, count);
    if (!err) err = ny_ingest_commit(ingest);
    if (err) ny_ingest_discard(ingest);
    ny_ingest_free(ingest);
    return err;
}

TEST(class_names)
{
    static const char *const animals[] = {"cat", "dog", "äffin"}, *const other[] = {"dog", "cat"};
    char **names;
    size_t count;

    CHECK(with_classes(animals, 2, false, 1));
    CHECK(ny_points_class_names(store, &names, &count));
    assert_int_equal(count, 2);
    assert_string_equal(names[1], "dog");
    ny_free(ctx, names);
    REFUSED(with_classes(other, 2, true, 1), NY_EDATA);
    REFUSED(with_classes(NULL, 0, true, 1), NY_EDATA);
    CHECK(with_classes(animals, 3, true, 2));
    CHECK(ny_points_class_names(store, &names, &count));
    assert_int_equal(count, 3);
    assert_string_equal(names[2], "äffin");
    ny_free(ctx, names);
}

/* ---- statistics ---------------------------------------------------------------------------- */

/* Recomputed in long double by plain loops over what the generator gives. */
static void check_stats(enum ny_dtype dtype, uint64_t d, uint64_t n)
{
    OWNED(ny_rows_stats) stats;
    char *rows = lend(n * d * ny_dtype_size(dtype));
    double *x = lend(n * d * sizeof(*x));
    long double squares = 0, norms = 0;

    case_rows(rows, 3, dtype, d, 0, n);
    ny_dtype_to_f64(dtype, rows, x, n * d);
    for (uint64_t i = 0; i < n * d; i++)
        if (isnan(x[i])) x[i] = 0; /* missing genotypes are counted so */
    CHECK(ROWS_OF(store, stats, &stats));
    assert_int_equal(stats.n, n);
    assert_int_equal(stats.d, d);
    for (uint64_t j = 0; j < d; j++) {
        long double sum = 0, square = 0;
        double least = INFINITY, most = -INFINITY;

        for (uint64_t i = 0; i < n; i++) {
            double v = x[i * d + j];

            sum += v;
            squares += (long double)v * v;
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
        for (uint64_t i = 0; i < n; i++)
            square += (x[i * d + j] - sum / n) * (x[i * d + j] - sum / n);
        assert_true(fabsl(stats.mean[j] - sum / n) <= 1e-13L * (1 + fabsl(sum / n)));
        assert_true(fabsl(stats.variance[j] - square / n) <= 1e-12L * (1 + square / n));
        assert_true(stats.minimum[j] == least && stats.maximum[j] == most);
    }
    for (uint64_t i = 0; i < n; i++) {
        long double norm = 0;

        for (uint64_t j = 0; j < d; j++)
            norm += (long double)x[i * d + j] * x[i * d + j];
        norms += sqrtl(norm);
    }
    assert_true(fabsl(stats.mean_square_norm - squares / n) <= 1e-12L * squares / n);
    assert_true(fabsl(stats.mean_norm - norms / n) <= 1e-12L * norms / n);
}

TEST(statistics_of_every_type)
{
    for (int dtype = NY_U8; dtype <= NY_GENOTYPE; dtype++) {
        struct case_import import = import_of((enum ny_dtype)dtype, 300, 0);

        /* three imports, whose ends fall inside blocks */
        for (int part = 0; part < 3; part++) {
            import.first += import.count;
            import.count = 1111;
            import.spec.append = part > 0;
            CHECK(case_import(store, &import));
        }
        check_stats((enum ny_dtype)dtype, 300, 3333);
        new_store();
    }
}

TEST(statistics_with_a_large_offset)
{
    enum { N = 5000 };
    struct ny_ingest_spec spec = {.d = 1, .dtype = NY_F64, .fingerprint = 1};
    double *values = lend(N * sizeof(*values));
    struct ny_ingest_rows rows = {.values = values, .count = N, .consumed = N};
    OWNED(ny_rows_stats) stats;

    for (int i = 0; i < N; i++)
        values[i] = 1e9 + (i % 2 ? 1 : -1); /* variance 1 beside a mean of 1e9 */
    CHECK(case_ingest(store, &spec, &rows));
    CHECK(ROWS_OF(store, stats, &stats));
    assert_true(fabs(stats.variance[0] - 1) < 1e-9);
    assert_true(stats.mean[0] == 1e9);
}

/* Batches and threads are of no account: not a bit. */
TEST(statistics_do_not_depend_on_batches)
{
    OWNED(ny_rows_stats) a, b;
    struct case_import import = import_of(NY_F32, 50, 40000);

    CHECK(case_import(store, &import));
    CHECK(ROWS_OF(store, stats, &a));
    new_store();
    ny_context_set_threads(ctx, 1);
    import.batch = 5000;
    CHECK(case_import(store, &import));
    CHECK(ROWS_OF(store, stats, &b));
    assert_memory_equal(a.mean, b.mean, 50 * sizeof(double));
    assert_memory_equal(a.variance, b.variance, 50 * sizeof(double));
}

TEST(values_that_are_not_finite)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    struct ny_ingest_spec spec = {.d = 3, .dtype = NY_F64, .fingerprint = 1};
    struct ny_ingest *ingest;
    uint64_t consumed;

    for (int i = 0; i < 3; i++) {
        double values[12] = {0};
        struct ny_ingest_rows rows = {.values = values, .count = 4, .consumed = 4};

        values[7] = bad[i];
        CHECK(ny_ingest_begin(&ingest, store, &spec, &consumed));
        CHECK(ny_ingest_rows(ingest, &rows));
        REFUSED(ny_ingest_commit(ingest), NY_EDATA);
        ny_ingest_free(ingest);
    }
}

AROUND_EACH(start, stop)
