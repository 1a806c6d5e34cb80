/* Stores of sparse rows: what goes in comes out, also in pieces, after a kill and an append. */
#include "unit/store_checks.h"

#include "base/random.h"
#include "store/store_private.h"

enum { D = 5000, ROWS = 30000 };

/* Row i: some 40 values on average, in every 97th row none, in every 1000th many. */
static size_t row_values(uint64_t i, uint32_t *index, float *value)
{
    size_t wanted = i % 97 == 0 ? 0 : i % 1000 == 1 ? 900 : 1 + (size_t)(i % 80), count = 0;
    uint32_t at = (uint32_t)(i % 7);

    for (size_t k = 0; k < wanted && at < D; k++) {
        index[count] = at;
        value[count++] = (float)(ny_hash01(1, 2, i * 1000 + k) + 0.01);
        at += 1 + (uint32_t)(ny_hash01(1, 3, i * 1000 + k) * (wanted > 100 ? 5 : 60));
    }
    return count;
}

static struct ny_csr rows_of(uint64_t first, size_t count)
{
    struct ny_csr csr = {.dtype = NY_F32};

    for (size_t i = 0; i < count; i++) {
        size_t nnz = ny_csr_nnz(&csr);

        CHECK(ny_csr_reserve(&csr, ctx, NY_MEM_OTHER, i + 1, nnz + 1000));
        nnz += row_values(first + i, csr.index + nnz, (float *)csr.value + nnz);
        csr.start[++csr.rows] = (uint32_t)nnz;
    }
    return csr;
}

static const struct ny_ingest_spec spec = {
    .d = D, .dtype = NY_F32, .layout = NY_CSR, .row_nnz = 40, .fingerprint = 5};

/* Rows first … first+count−1 in batches; the commit is left out when `killed`. */
static void put(const struct ny_ingest_spec *how, uint64_t first, uint64_t count, bool killed)
{
    struct ny_ingest *ingest;
    uint64_t consumed;

    CHECK(ny_ingest_begin(&ingest, store, how, &consumed));
    while (consumed < count) {
        size_t piece = count - consumed < 611 ? (size_t)(count - consumed) : 611;
        struct ny_csr csr = rows_of(first + consumed, piece);
        struct ny_ingest_rows rows = {.sparse = &csr, .count = piece, .consumed = consumed + piece};

        CHECK(ny_ingest_rows(ingest, &rows));
        consumed += piece;
        ny_csr_release(&csr, ctx);
    }
    if (!killed) CHECK(ny_ingest_commit(ingest));
    ny_ingest_free(ingest);
}

/* It is row i. */
static void check_row(struct ny_sparse row, uint64_t i)
{
    uint32_t index[1000];
    float value[1000];

    assert_int_equal(row.count, row_values(i, index, value));
    assert_memory_equal(row.index, index, row.count * sizeof(*index));
    assert_memory_equal(row.value, value, row.count * sizeof(*value));
}

static void check(uint64_t first, size_t count)
{
    struct ny_rows_info info = points_now();
    size_t bytes = ny_rows_row_bytes(&info);
    char *rows = lend(count * bytes);

    assert_int_equal(info.layout, NY_CSR);
    CHECK(ROWS_OF(store, read, (size_t)info.row_slots, first, count, rows));
    for (size_t i = 0; i < count; i++)
        check_row(ny_sparse_of(rows + i * bytes, (size_t)info.row_slots), first + i);
}

static int longer_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* No m rows have more values than is said, and not many less where `tight`. */
static void check_lengths(uint64_t n, bool tight)
{
    uint64_t *length = lend(n * sizeof(*length)), sum = 0, said;
    struct ny_rows_info info;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t index[1000];
        float value[1000];

        length[i] = row_values(i, index, value);
    }
    qsort(length, n, sizeof(*length), longer_first);
    CHECK(ny_points_info(store, &info));
    assert_int_equal(info.n, n);
    for (uint64_t m = 1; m <= n; m++) {
        sum += length[m - 1];
        said = ny_lengths_most(&info.lengths, m);
        assert_true(said >= sum);
        if (said > m * info.row_slots) said = m * info.row_slots;
        assert_true(!tight || said <= sum + sum / 8);
    }
}

static void check_statistics(uint64_t n)
{
    double *sum = lend_zeros(D * sizeof(double)), *square = lend_zeros(D * sizeof(double));
    struct ny_rows_stats stats;
    struct ny_rows_info info;
    uint64_t nnz = 0, most = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t index[1000];
        float value[1000];
        size_t count = row_values(i, index, value);

        nnz += count;
        most = count > most ? count : most;
        for (size_t k = 0; k < count; k++) {
            sum[index[k]] += (double)value[k];
            square[index[k]] += (double)value[k] * (double)value[k];
        }
    }
    CHECK(ny_points_info(store, &info));
    assert_int_equal(info.nnz, nnz);
    assert_int_equal(info.row_slots, most);
    CHECK(ROWS_OF(store, stats, &stats));
    for (size_t j = 0; j < D; j++) {
        double mean = sum[j] / (double)n, variance = square[j] / (double)n - mean * mean;

        assert_true(fabs(stats.mean[j] - mean) <= 1e-12);
        assert_true(fabs(stats.variance[j] - variance) <= 1e-12);
        assert_true(stats.minimum[j] == 0);
        assert_true((stats.maximum[j] > 0) == (sum[j] > 0));
    }
    ny_rows_stats_release(&stats, ctx);
    check_lengths(n, true);
}

TEST(rows_come_back)
{
    put(&spec, 0, ROWS, false);
    check(0, 3000);
    check(ROWS - 2500, 2500);
    check_statistics(ROWS);
}

TEST(an_append_fills_the_last_block)
{
    struct ny_ingest_spec more = spec;

    put(&spec, 0, 1234, false);
    more.append = true;
    put(&more, 1234, 9000, false);
    check(0, 10234);
    check_statistics(10234);
}

TEST(an_unfinished_import_goes_on)
{
    ny_context_set_memory(ctx, 24 << 20); /* it is staged often */
    put(&spec, 0, 25000, true);
    assert_int_equal(points_now().n, 0);
    put(&spec, 0, ROWS, false);
    check(0, 3000);
    check(24000, 2000);
    check_statistics(ROWS);
}

/* Rows `from` to `to`, as an import of their own. */
static void put_more(uint64_t from, uint64_t to, bool killed)
{
    struct ny_ingest_spec more = spec;

    more.append = true;
    more.fingerprint = 100 * from + to;
    put(&more, from, to - from, killed);
}

TEST(lengths_follow_what_comes_and_goes)
{
    uint64_t n = 2000;

    put(&spec, 0, n, false);
    for (uint64_t step = 0; step < 40; step++) {
        uint64_t to = 1 + (uint64_t)(ny_hash01(4, 5, step) * 5000);

        if (to > n && step % 3 == 0) put_more(n, to, true);
        if (to > n)
            put_more(n, to, false);
        else
            CHECK(ny_store_truncate(store, to, agree, NULL));
        n = to;
        check_lengths(n, true);
    }
}

static void drop_lengths(void)
{
    const struct ny_key key = ny_points_key(NY_KIND_LENGTHS, 0);
    struct ny_write write;

    CHECK(ny_write_begin(&write, store, store->points, 1 << 20));
    CHECK(ny_write_delete(&write, &key));
    CHECK(ny_write_commit(&write, NY_OK));
}

/* Stores of before have no lengths: all rows together bound any of them, until a truncation counts
 * them anew. */
TEST(lengths_are_bounded_where_they_are_not_known)
{
    struct ny_rows_info info;

    put(&spec, 0, 3000, false);
    drop_lengths();
    CHECK(ny_points_info(store, &info));
    check_lengths(3000, false);
    assert_in_range(ny_lengths_most(&info.lengths, 1), info.nnz, info.nnz + 4);
    put_more(3000, 4000, false);
    check_lengths(4000, false);
    CHECK(ny_store_truncate(store, 3500, agree, NULL));
    check_lengths(3500, true);
}

TEST(rows_are_gathered_from_anywhere)
{
    const uint64_t wanted[] = {29999, 0, 1001, 97, 15000, 1001};
    enum { COUNT = sizeof(wanted) / sizeof(*wanted) };
    struct ny_rows_info info;
    char *rows;

    put(&spec, 0, ROWS, false);
    CHECK(ny_points_info(store, &info));
    rows = lend(COUNT * ny_rows_row_bytes(&info));
    CHECK(ROWS_OF(store, gather, (size_t)info.row_slots, wanted, COUNT, rows));
    for (size_t i = 0; i < COUNT; i++)
        check_row(ny_sparse_of(rows + i * ny_rows_row_bytes(&info), (size_t)info.row_slots),
                  wanted[i]);
    REFUSED(ROWS_OF(store, gather, 0, wanted, 1, rows), NY_EINTERNAL);
}

TEST(gathered_rows_take_what_they_have)
{
    const uint64_t wanted[] = {29999, 0, 1001, 97, 15000, 1001};
    enum { COUNT = sizeof(wanted) / sizeof(*wanted) };
    struct ny_gather_wish wish = {.count = COUNT, .rows = wanted, .purpose = NY_MEM_OTHER};
    struct ny_sparse_list list = {0};
    struct ny_rows_info info;
    size_t values = 0, before;

    put(&spec, 0, ROWS, false);
    CHECK(ny_points_info(store, &info));
    wish.slots = (size_t)info.row_slots;
    before = ny_memory_used(ctx);
    for (size_t turn = 0; turn < 2; turn++) /* added rows follow those that are there */
        CHECK(ny_rows_gather_list(ny_store_rows(store), &wish, &list));
    assert_int_equal(list.count, 2 * COUNT);
    for (size_t i = 0; i < 2 * COUNT; i++) {
        check_row(list.row[i], wanted[i % COUNT]);
        values += list.row[i].count;
    }
    assert_in_range(ny_memory_used(ctx) - before, values * 8,
                    ny_sparse_list_bytes(NY_F32, 2 * COUNT, values, 2));
    ny_sparse_list_release(&list, ctx);
    assert_int_equal(ny_memory_used(ctx), before);
    wish.slots = 1; /* fuller rows than were expected */
    REFUSED(ny_rows_gather_list(ny_store_rows(store), &wish, &list), NY_EINTERNAL);
    ny_sparse_list_release(&list, ctx);
}

/* Rows from a program are dense; what is 0 is not kept. */
TEST(dense_rows_become_sparse)
{
    struct ny_ingest_spec more = spec;
    float *dense = lend_zeros(50 * D * sizeof(float));
    struct ny_ingest_rows rows = {.values = dense, .count = 50, .consumed = 50};

    put(&spec, 0, 100, false);
    for (size_t i = 0; i < 50; i++) {
        uint32_t index[1000];
        float value[1000];
        size_t count = row_values(100 + i, index, value);

        for (size_t k = 0; k < count; k++)
            dense[i * D + index[k]] = value[k];
    }
    more.append = true;
    more.layout = NY_DENSE;
    CHECK(case_ingest(store, &more, &rows));
    check(0, 150);
}

static int count_damage(void *user, const struct ny_damage *damage)
{
    assert_true(damage->rows > 0);
    ++*(int *)user;
    return NY_OK;
}

TEST(all_of_it_is_verified)
{
    int found = 0, fd;
    unsigned char byte;
    off_t at;

    put(&spec, 0, ROWS, false);
    CHECK(ny_store_verify(store, count_damage, &found));
    assert_int_equal(found, 0);
    ny_store_close(store);
    store = NULL;
    fd = data_file(path, "points");
    at = lseek(fd, 0, SEEK_END) / 2 / 4096 * 4096 + 2000; /* within a block of points */
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
    open_store();
    CHECK(ny_store_verify(store, count_damage, &found));
    assert_int_equal(found, 1);
}

AROUND_EACH(start, stop)
