/* ny_store_repair(): what is lost keeps its number, all else can be used, and nothing is half done.
 */
#include "store_checks.h"

#include <sys/file.h>

#include "store/store_private.h"
#include "stream/source.h"

/* f32, raw: blocks of 1,024 rows; the last is short. */
enum { D = 256, BLOCK = 1024, TAIL = 300, N = 4 * BLOCK + TAIL, MORE = 2000, PAGE = 4096 };

static float value_of(uint64_t row, uint64_t column)
{
    uint64_t hash = (row * D + column + 1) * 0x9E3779B97F4A7C15ULL;

    hash ^= hash >> 29;
    hash *= 0xBF58476D1CE4E5B9ULL;
    return (float)(hash >> 40) / 16777216.0f + 1;
}

static void import_rows(uint64_t first, uint64_t count)
{
    float *values = lend((size_t)count * D * sizeof(*values));
    double *labels = lend((size_t)count * sizeof(*labels));
    uint64_t *source = lend((size_t)count * sizeof(*source));
    struct ny_ingest_spec spec = {.d = D,
                                  .dtype = NY_F32,
                                  .fingerprint = first + 1,
                                  .append = true,
                                  .labels = true,
                                  .source = true};
    struct ny_ingest_rows rows = {.values = values,
                                  .labels = labels,
                                  .source = source,
                                  .count = (size_t)count,
                                  .consumed = count};

    for (uint64_t i = 0; i < count; i++) {
        labels[i] = (double)(first + i);
        source[i] = 7 * (first + i);
        for (uint64_t j = 0; j < D; j++)
            values[i * D + j] = value_of(first + i, j);
    }
    CHECK(case_ingest(store, &spec, &rows));
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Overwrites `bytes` bytes at `place` of the block's frame; −16: the head of its pages, too. */
static void spoil(unsigned kind, uint64_t number, uint32_t rows, off_t place, size_t bytes)
{
    int fd = data_file(path, "points");
    char zeros[PAGE] = {0};

    assert_int_equal(pwrite(fd, zeros, bytes, find_block(fd, kind, number, rows) + place), bytes);
    close(fd);
}

static void put_result(const char *name, char letter)
{
    char data[20000];

    memset(data, letter, sizeof(data));
    CHECK(ny_blob_put(store, name, "model", data, sizeof(data)));
}

static void spoil_result(char letter)
{
    int fd = data_file(path, "results");
    char data[8], want[8];
    bool found = false;

    memset(want, letter, sizeof(want));
    for (off_t at = 48; pread(fd, data, 8, at) == 8 && !found; at += PAGE) {
        found = memcmp(data, want, 8) == 0;
        if (found) assert_int_equal(pwrite(fd, "\0\0", 2, at - 38), 2); /* and the page's head */
        if (found) assert_int_equal(pwrite(fd, "?", 1, at), 1);
    }
    assert_true(found);
    close(fd);
}

/* ---- what is told, and what is there -------------------------------------------------------- */

static char told[1000];

static int tell(void *user, const struct ny_repaired *done)
{
    static const char *const kinds[] = {"other", "points", "labels", "source", "digest", "result"};
    size_t used = strlen(told);

    (void)user;
    snprintf(told + used, sizeof(told) - used, "%s %llu+%llu%s; ", kinds[done->kind],
             (unsigned long long)done->first_row, (unsigned long long)done->rows,
             done->name ? done->name : "");
    return NY_OK;
}

static void repair(const char *want)
{
    told[0] = '\0';
    CHECK(ny_store_repair(store, tell, NULL));
    assert_string_equal(told, want);
}

static bool is_in(const uint64_t (*lost)[2], uint64_t row)
{
    for (; (*lost)[1]; lost++)
        if (row >= (*lost)[0] && row < (*lost)[1]) return true;
    return false;
}

/* Rows first … end−1 as a pass sees them, and as gathered: all but those of `lost` (ended by 0, 0).
 */
static void check_left(uint64_t n, const uint64_t (*lost)[2])
{
    struct ny_rows_info info;
    struct ny_source *source;
    struct ny_tile tile = {.worker = 0};
    struct ny_rows *X = ny_store_rows(store);
    float *rows = lend(NY_UNIT_ROWS * D * sizeof(*rows)), one[D];
    uint64_t row = 0, left = 0;

    CHECK(ny_store_verify(store, no_damage, NULL));
    CHECK(ny_store_skip_lost(store));
    CHECK(ny_points_info(store, &info));
    CHECK(ny_rows_source(X, info.n, 0, 1, &source));
    tile.source = source;
    for (uint64_t i = 0; i < info.n; i++, row++) {
        while (is_in(lost, row))
            row++;
        if (i % NY_UNIT_ROWS == 0) {
            tile.unit = i / NY_UNIT_ROWS;
            tile.first_row = i;
            CHECK(source->ops->take(source, &tile));
            CHECK(ny_tile_strip(&tile, 0, tile.rows, rows));
        }
        for (uint64_t j = 0; j < D; j++)
            assert_true(rows[i % NY_UNIT_ROWS * D + j] == value_of(row, j));
        assert_int_equal(ny_rows_number(X, i), row);
        if (i % 97) continue;
        CHECK(ROWS_OF(store, gather, 0, &i, 1, one));
        assert_memory_equal(one, rows + i % NY_UNIT_ROWS * D, sizeof(one));
    }
    while (is_in(lost, row))
        row++;
    assert_int_equal(row, n);
    for (row = 0; row < n; row++)
        left += !is_in(lost, row);
    assert_int_equal(info.n, left);
    assert_int_equal(info.lost, n - left);
    ny_source_free(source);
}

/* ---- tests --------------------------------------------------------------------------------- */

TEST(lost_rows_keep_their_numbers)
{
    const uint64_t lost[][2] = {{BLOCK, 3 * BLOCK}, {0, 0}};
    float *rows = lend(BLOCK * D * sizeof(*rows));
    size_t count;

    import_rows(0, N);
    spoil(NY_KIND_POINTS, 2, BLOCK, 5000, 1);
    spoil(NY_KIND_POINTS, 1, BLOCK, -16, PAGE); /* the whole page */
    REFUSED(ny_points_read_block(store, 1, rows, &count), NY_ESTORE);
    ny_error_clear(ctx);
    repair("points 1024+1024; points 2048+1024; ");
    REFUSED(ny_points_read_block(store, 1, rows, &count), NY_ESTORE);
    REFUSED(ny_points_read_block(store, 1, rows, &count), NY_ESTORE);
    ny_error_clear(ctx);
    CHECK(ny_points_read_block(store, 3, rows, &count));
    assert_true(rows[0] == value_of(3 * BLOCK, 0));
    check_left(N, lost);
    repair("");
    reopen();
    check_left(N, lost);
    reopen();
    import_rows(N, MORE);
    check_left(N + MORE, lost);
}

TEST(a_lost_tail_does_not_end_the_store)
{
    const uint64_t lost[][2] = {{0, BLOCK}, {4 * BLOCK, N}, {0, 0}};

    import_rows(0, N);
    spoil(NY_KIND_POINTS, 4, TAIL, 100, 8);
    repair("points 4096+300; ");
    spoil(NY_KIND_POINTS, 0, BLOCK, -16, 64);
    repair("points 0+1024; ");
    import_rows(N, 10);
    reopen();
    import_rows(N + 10, MORE);
    check_left(N + 10 + MORE, lost);
}

TEST(labels_are_missing)
{
    double labels[N];
    uint64_t source[N];
    const uint64_t lost[][2] = {{0, 0}};

    import_rows(0, N);
    spoil(NY_KIND_LABELS, 3, BLOCK, 40, 8);
    spoil(NY_KIND_SOURCE, 0, BLOCK, 0, 8);
    repair("source 0+1024; labels 3072+1024; ");
    CHECK(ny_points_labels(store, 0, N, labels));
    CHECK(ny_points_source(store, 0, N, source));
    for (uint64_t i = 0; i < N; i++) {
        assert_true(i / BLOCK == 3 ? isnan(labels[i]) : labels[i] == (double)i);
        assert_int_equal(source[i], i < BLOCK ? UINT64_MAX : 7 * i);
    }
    check_left(N, lost);
}

static int count_name(void *user, const char *name)
{
    (void)name;
    ++*(int *)user;
    return NY_OK;
}

TEST(broken_results_go)
{
    char data[20000];
    int names = 0;

    import_rows(0, 50);
    put_result("good", 'g');
    put_result("torn", 't');
    spoil_result('t');
    repair("result 0+0torn; ");
    CHECK(ny_store_verify(store, no_damage, NULL));
    CHECK(ny_results_list(store, count_name, &names));
    assert_int_equal(names, 1);
    CHECK(ny_blob_get(store, "good", "model", data, sizeof(data)));
    assert_int_equal(data[19999], 'g');
    put_result("torn", 'u');
    CHECK(ny_store_verify(store, no_damage, NULL));
}

static uint64_t hash_of(const char *part)
{
    int fd = data_file(path, part);
    uint64_t hash = 1;
    char page[PAGE];

    while (read(fd, page, PAGE) == PAGE)
        for (size_t i = 0; i < PAGE; i++)
            hash = hash * 31 + (unsigned char)page[i];
    close(fd);
    return hash;
}

/* A repair changes nothing while a job runs, nor if it would not help. */
TEST(refusals_change_nothing)
{
    struct ny_name_lock *job;
    uint64_t points, results;
    char stats[64];
    int fd;

    import_rows(0, N);
    put_result("torn", 't');
    spoil_result('t');
    spoil(NY_KIND_POINTS, 2, BLOCK, 5000, 1);
    points = hash_of("points");
    results = hash_of("results");
    CHECK(ny_name_lock(&job, store, "torn"));
    REFUSED(ny_store_repair(store, tell, NULL), NY_EBUSY);
    ny_error_clear(ctx);
    ny_name_unlock(job);
    fd = data_file(path, "points"); /* the record of the statistics */
    assert_int_equal(pread(fd, stats, 8, find_block(fd, NY_KIND_STATS, 0, 0) + 600), 8);
    spoil(NY_KIND_STATS, 0, 0, 600, 8);
    REFUSED(ny_store_repair(store, tell, NULL), NY_ESTORE);
    ny_error_clear(ctx);
    assert_int_equal(pwrite(fd, stats, 8, find_block(fd, NY_KIND_STATS, 0, 0) + 600), 8);
    close(fd);
    assert_int_equal(hash_of("points"), points);
    assert_int_equal(hash_of("results"), results);
    repair("points 2048+1024; result 0+0torn; ");
}

/* An import that was cut short begins again: it had counted on what is lost. */
TEST(a_staged_import_begins_again)
{
    const uint64_t lost[][2] = {{0, BLOCK}, {0, 0}};
    struct case_import half = {.seed = 1,
                               .first = 0,
                               .count = 40000,
                               .batch = 1000,
                               .spec = {.d = D,
                                        .dtype = NY_F32,
                                        .append = true,
                                        .labels = true,
                                        .source = true,
                                        .fingerprint = 99},
                               .no_commit = 1};

    ny_context_set_memory(ctx, 64 << 20);
    import_rows(0, N);
    CHECK(case_import(store, &half));
    assert_true(staged_rows(&half.spec) > 0);
    spoil(NY_KIND_POINTS, 0, BLOCK, 200, 4);
    repair("points 0+1024; ");
    assert_int_equal(staged_rows(&half.spec), 0);
    import_rows(N, MORE);
    check_left(N + MORE, lost);
}

/* The list of lost rows is one of rows that are there: it goes with them. */
TEST(lost_rows_that_are_cut_off_are_forgotten)
{
    const uint64_t none[][2] = {{0, 0}};
    struct ny_key key = ny_points_key(NY_KIND_LOST, 0);
    struct ny_snapshot *view;
    struct ny_lost lost;
    size_t bytes;

    ny_context_set_memory(ctx, 64 << 20);
    import_rows(0, N);
    spoil(NY_KIND_POINTS, 3, BLOCK, 200, 4);
    repair("points 3072+1024; ");
    REFUSED(ny_store_truncate(store, N - 5, agree, NULL), NY_ESTORE);
    CHECK(ny_store_truncate(store, 3 * BLOCK - 5, agree, NULL));
    CHECK(ny_points_lost(store, &lost));
    assert_int_equal(lost.count, 0);
    ny_lost_release(&lost, ctx);
    CHECK(ny_snapshot_begin(&view, store, store->points));
    assert_int_equal(ny_snapshot_size(view, &key, &bytes), NY_END);
    CHECK(ny_snapshot_end(view, NY_OK));
    import_rows(3 * BLOCK - 5, MORE);
    check_left(3 * BLOCK - 5 + MORE, none);
}

AROUND_EACH(start, stop)
