/* Stores whose rows are prepared as they are read: whatever way they came in, by whatever call they
 * are read, they are what ny_prepare_row() makes of the values that the store keeps. */
#include "unit/store_checks.h"

#include "base/prepare.h"

enum { D = 300, ROWS = 12000 };

static const struct ny_prepared by_total = {NY_ROWS_TOTAL, NY_VALUES_LOG1P, 10000};

/* Row i of counts: two of three are 0; every 50th row has none, every 77th no zero. */
static void row_of(uint64_t i, double *out)
{
    for (size_t k = 0; k < D; k++) {
        uint64_t mixed = (i * 2654435761u + k * 40503u) >> 3;

        out[k] = i % 50 == 7 ? 0 : i % 77 == 3 || mixed % 3 == 0 ? (double)(mixed % 90 + 1) : 0;
    }
}

/* Appends rows first … first+count−1; without a commit where the import is killed. */
static void put(struct ny_ingest_spec how, uint64_t first, uint64_t count, bool killed)
{
    size_t bytes = D * ny_dtype_size(how.dtype);
    char *values = lend(500 * bytes);
    struct ny_ingest *ingest;
    uint64_t consumed;
    double row[D];

    CHECK(ny_ingest_begin(&ingest, store, &how, &consumed));
    while (consumed < count) {
        size_t piece = count - consumed < 500 ? (size_t)(count - consumed) : 500;
        struct ny_ingest_rows rows = {
            .values = values, .count = piece, .consumed = consumed + piece};

        for (size_t i = 0; i < piece; i++) {
            row_of(first + consumed + i, row);
            for (size_t k = 0; k < D; k++)
                case_put(values, how.dtype, i * D + k, row[k]);
        }
        CHECK(ny_ingest_rows(ingest, &rows));
        consumed += piece;
    }
    if (!killed) CHECK(ny_ingest_commit(ingest));
    ny_ingest_free(ingest);
}

/* The values of a row of either layout, dense and in f64. */
static void spread(const struct ny_rows_info *info, const char *row, double *out)
{
    struct ny_sparse sparse;

    if (!info->row_slots) {
        ny_dtype_to_f64(info->dtype, row, out, D);
        return;
    }
    sparse = ny_sparse_of(row, (size_t)info->row_slots);
    memset(out, 0, D * sizeof(*out));
    for (size_t k = 0; k < sparse.count; k++)
        out[sparse.index[k]] = ny_dtype_at(info->dtype, sparse.value, k);
}

/* Sets out to row i as it is read. (A sum goes over values of a type that holds counts exactly, so
 * that zeros and the type do not matter.) */
static void wanted(const struct ny_prepared *how, enum ny_dtype to, uint64_t i, double *out)
{
    char prepared[D * sizeof(double)];
    double row[D];

    row_of(i, row);
    if (ny_prepares(how)) {
        assert_int_equal(ny_prepare_row(how, NY_F64, row, D, to, prepared), D);
        ny_dtype_to_f64(to, prepared, out, D);
    } else {
        memcpy(out, row, sizeof(row));
    }
}

/* Rows as they were read: `list` says which ones they are; NULL: the first. */
static void check_read(const struct ny_prepared *how, const struct ny_rows_info *info,
                       const char *rows, const uint64_t *list, uint64_t count)
{
    double got[D], want[D];

    for (uint64_t i = 0; i < count; i++) {
        spread(info, rows + i * ny_rows_row_bytes(info), got);
        wanted(how, info->dtype, list ? list[i] : i, want);
        assert_memory_equal(got, want, sizeof(got));
    }
}

static void check(const struct ny_prepared *how, enum ny_dtype dtype, uint64_t n)
{
    static const uint64_t list[] = {11000, 3, 7, 11000, 80, 4095};
    struct ny_rows_info info = points_now();
    char *rows = lend((size_t)n * ny_rows_row_bytes(&info));

    assert_int_equal(info.n, n);
    assert_int_equal(info.dtype, dtype);
    CHECK(ROWS_OF(store, read, (size_t)info.row_slots, 0, (size_t)n, rows));
    check_read(how, &info, rows, NULL, n);
    CHECK(ROWS_OF(store, gather, (size_t)info.row_slots, list, 6, rows));
    check_read(how, &info, rows, list, 6);
}

/* The statistics are of rows as they are read. */
static void check_statistics(const struct ny_prepared *how, enum ny_dtype dtype, uint64_t n)
{
    double sum[D] = {0}, squares[D] = {0}, most[D] = {0}, norms = 0, row[D];
    struct ny_rows_stats stats;

    for (uint64_t i = 0; i < n; i++) {
        double square = 0;

        wanted(how, dtype, i, row);
        for (size_t k = 0; k < D; k++) {
            sum[k] += row[k];
            squares[k] += row[k] * row[k];
            square += row[k] * row[k];
            most[k] = row[k] > most[k] ? row[k] : most[k];
        }
        norms += sqrt(square);
    }
    CHECK(ROWS_OF(store, stats, &stats));
    for (size_t k = 0; k < D; k++) {
        double mean = sum[k] / (double)n, variance = squares[k] / (double)n - mean * mean;

        assert_true(fabs(stats.mean[k] - mean) <= 1e-11 * (1 + mean));
        assert_true(fabs(stats.variance[k] - variance) <= 1e-9 * (1 + variance));
        assert_true(stats.maximum[k] == most[k] && stats.minimum[k] == 0);
    }
    assert_true(fabs(stats.mean_norm - norms / (double)n) <= 1e-11 * norms);
    ny_rows_stats_release(&stats, ctx);
}

/* An import that is killed and gone on with, and an append that fills its last block. */
static void all_ways(struct ny_ingest_spec how, enum ny_dtype dtype)
{
    struct ny_rows_info info;

    how.d = D;
    how.fingerprint = 5;
    how.row_nnz = D / 3;
    put(how, 0, 5000, true);
    put(how, 0, 5000, false);
    how.append = true;
    put(how, 5000, ROWS - 5000, false);
    check(&how.preparation, dtype, ROWS);
    check_statistics(&how.preparation, dtype, ROWS);
    info = points_now();
    assert_int_equal(info.stored_dtype, how.dtype);
    assert_true(ny_prepared_same(&info.preparation, &how.preparation));
    ny_rows_raw(ny_store_rows(store), true);
    check(&(struct ny_prepared){0}, how.dtype, ROWS);
    ny_rows_raw(ny_store_rows(store), false);
    check(&how.preparation, dtype, ROWS);
}

TEST(dense_rows_are_prepared)
{
    all_ways((struct ny_ingest_spec){.dtype = NY_U8, .preparation = by_total}, NY_F32);
    new_store();
    all_ways(
        (struct ny_ingest_spec){.dtype = NY_F64, .preparation = {NY_ROWS_UNIT, NY_VALUES_RAW, 0}},
        NY_F64);
}

TEST(sparse_rows_are_prepared)
{
    all_ways((struct ny_ingest_spec){.dtype = NY_I16, .layout = NY_CSR, .preparation = by_total},
             NY_F32);
    new_store();
    all_ways((struct ny_ingest_spec){.dtype = NY_U8,
                                     .layout = NY_CSR,
                                     .preparation = {NY_ROWS_NONE, NY_VALUES_BINARY, 0}},
             NY_F32);
}

/* One row of values through all ways of preparing, against the formulas. */
TEST(formulas)
{
    static const double row[] = {0, 1, 4, 3.5, 300, 2}, sum = 310.5;
    static const char *const rows[] = {"none", "total:1e3", "unit"};
    static const char *const values[] = {"raw", "log1p", "sqrt", "binary"};
    double norm = 0, got[6];

    for (size_t k = 0; k < 6; k++)
        norm += row[k] * row[k];
    norm = sqrt(norm);
    for (size_t r = 0; r < 3; r++)
        for (size_t v = 0; v < 4; v++) {
            double factor = r == 0 ? 1 : r == 1 ? 1000 / sum : 1 / norm;
            struct ny_prepared how;

            assert_true(ny_prepared_parse(&how, rows[r], values[v]));
            assert_true(ny_prepared_plausible(&how));
            assert_int_equal(ny_prepare_row(&how, NY_F64, row, 6, NY_F64, got), 6);
            for (size_t k = 0; k < 6; k++) {
                double x = row[k] * factor;
                double want = v == 0 ? x : v == 1 ? log1p(x) : v == 2 ? sqrt(x) : x != 0;

                assert_true(fabs(got[k] - want) <= 1e-15 * fabs(want));
            }
        }
}

TEST(what_cannot_be_prepared)
{
    static const double low[] = {3, 0.5, -1}, negative[] = {1, -4}, less[] = {1, -3};
    static const double large[] = {1, 1e300};
    static const char *const bad[] = {"total",    "total:",   "total:0", "total:-1", "total:inf",
                                      "total:1x", "total: 1", "",        "units"};
    const struct ny_prepared log1p_of = {NY_ROWS_NONE, NY_VALUES_LOG1P, 0};
    const struct ny_prepared sqrt_of = {NY_ROWS_NONE, NY_VALUES_SQRT, 0};
    struct ny_prepared how;
    double got[3];
    float narrow[3];

    assert_int_equal(ny_prepare_row(&log1p_of, NY_F64, low, 3, NY_F64, got), 2);
    assert_int_equal(ny_prepare_row(&sqrt_of, NY_F64, negative, 2, NY_F64, got), 1);
    assert_int_equal(ny_prepare_row(&(struct ny_prepared){NY_ROWS_UNIT, NY_VALUES_RAW, 0}, NY_F64,
                                    large, 2, NY_F64, got),
                     0);
    assert_int_equal(ny_prepare_row(&by_total, NY_F64, less, 2, NY_F64, got), 2);
    assert_true(got[0] == 0 && got[1] == 0); /* its sum is below 0 */
    assert_int_equal(ny_prepare_row(&(struct ny_prepared){NY_ROWS_TOTAL, NY_VALUES_RAW, 1e39},
                                    NY_F64, large, 1, NY_F32, narrow),
                     0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(ny_prepared_parse(&how, bad[i], "raw"));
    assert_false(ny_prepared_parse(&how, "none", "log"));
}

AROUND_EACH(start, stop)
