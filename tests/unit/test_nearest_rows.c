/* The nearest points of rows that are no points, in each way that finds them, against all distances
 * one by one. */
#include <signal.h>

#include "unit/cloud_case.h"

#include "columns/kernels.h"
#include "columns/vector.h"
#include "nearest/knn_private.h"
#include "nearest/one_row.h"
#include "nearest/sieve.h"
#include "nearest/tree.h"

/* Points, new rows of their type, and the true neighbours of these. */
struct newcomers {
    struct cloud cloud;
    struct ny_knn knn;
    size_t count;
    char *raw;
    struct ny_measured want, got;
};

static struct ny_measured lists_new(size_t items)
{
    return (struct ny_measured){lend(items * sizeof(uint32_t)), lend(items * sizeof(double)), 0};
}

/* Makes new rows: copies of points, and points that are moved. */
static void make_rows(struct newcomers *new)
{
    size_t row_bytes = ny_raw_bytes(&new->cloud.spec), d = new->cloud.d;

    for (size_t i = 0; i < new->count; i++) {
        uint64_t from = ny_hash64(5, NY_STREAM_SAMPLE, i) % new->cloud.n;
        char *row = new->raw + i *row_bytes;

        assert_int_equal(ROWS_OF(new->cloud.store, read, 0, from, 1, row), NY_OK);
        for (size_t k = 0; k < d && i % 3; k++) {
            double move = ny_hash01(6, NY_STREAM_SAMPLE, i * d + k) - 0.5;

            if (new->cloud.dtype == NY_U8) ((uint8_t *)row)[k] ^= (uint8_t)(i % 4);
            if (new->cloud.dtype == NY_I16) ((int16_t *)(void *)row)[k] ^= (int16_t)(i % 8);
            if (new->cloud.dtype == NY_F32) ((float *)(void *)row)[k] += (float)move / 4;
            if (new->cloud.dtype == NY_F64) ((double *)(void *)row)[k] += move / 4;
        }
    }
}

/* Measures all distances one by one. */
static void find_truth(struct newcomers *new)
{
    const struct ny_columns_spec *spec = &new->cloud.spec;
    size_t row_bytes = ny_raw_bytes(spec), n = new->cloud.n, t = new->knn.neighbors;
    char *points = lend(n * row_bytes);
    const void **at = lend(n * sizeof(*at));
    double *values = lend(n * sizeof(*values));
    struct ny_near *near = lend(t * sizeof(*near));
    struct ny_one_row one = {0};

    assert_int_equal(ROWS_OF(new->cloud.store, read, 0, 0, n, points), NY_OK);
    for (size_t j = 0; j < n; j++)
        at[j] = points + j * row_bytes;
    assert_int_equal(ny_one_row_init(&one, spec), NY_OK);
    for (size_t i = 0; i < new->count; i++) {
        assert_int_equal(ny_one_row_set(&one, new->raw + i *row_bytes), NY_OK);
        assert_int_equal(ny_one_row_values(&one, at, n, values), NY_OK);
        ny_near_clear(near, t);
        for (size_t j = 0; j < n; j++)
            ny_near_keep(near, t, (struct ny_near){values[j], (uint32_t)j});
        for (size_t k = 0; k < t; k++) {
            new->want.row[i * t + k] = near[k].row;
            new->want.distance[i * t + k] = ny_near_distance(spec, near[k].value);
        }
    }
    ny_one_row_release(&one);
}

/* The points, and how many neighbours a new row gets. */
struct shape {
    enum kind kind;
    enum ny_dtype dtype;
    size_t n, d, t;
};

static void newcomers_new(struct newcomers *new, const struct shape *shape, size_t count,
                          const struct ny_kernel *metric)
{
    size_t t = shape->t;

    *new = (struct newcomers){
        .count = count, .want = lists_new(count * t), .got = lists_new(count * t)};
    new->cloud = cloud_of(shape->kind, shape->dtype, shape->n, shape->d, metric);
    new->knn = (struct ny_knn){.spec = &new->cloud.spec,
                               .X = ny_store_rows(new->cloud.store),
                               .n = shape->n,
                               .neighbors = t,
                               .workers = 2};
    new->raw = lend(count * ny_raw_bytes(&new->cloud.spec));
    make_rows(new);
    find_truth(new);
}

OWNS(newcomers, cloud_free(&at->cloud))

static void check_same(const struct newcomers *new, enum kind kind)
{
    size_t t = new->knn.neighbors;

    for (size_t i = 0; i < new->count *t; i++)
        if (new->got.row[i] != new->want.row[i] ||
            memcmp(&new->got.distance[i], &new->want.distance[i], sizeof(double)) != 0)
            fail_msg("kind %d, type %d, %zu × %zu: neighbour %zu of new row %zu is %u at %.17g, "
                     "not %u at %.17g",
                     (int)kind, (int)new->cloud.dtype, new->cloud.n, new->cloud.d, i % t, i / t,
                     new->got.row[i], new->got.distance[i], new->want.row[i],
                     new->want.distance[i]);
}

/* ---- the tree ------------------------------------------------------------------------------- */

static void check_tree(enum kind kind, enum ny_dtype dtype, size_t n, size_t d, size_t t)
{
    const struct shape shape = {kind, dtype, n, d, t};
    OWNED(newcomers) new;
    struct ny_box_tree tree;

    newcomers_new(&new, &shape, 203, &ny_kernel_euclidean);
    CHECK(ny_tree_new(&tree, &new.knn));
    for (unsigned workers = 1; workers <= 2; workers++) {
        new.knn.workers = workers;
        CHECK(ny_tree_nearest(&tree, &new.cloud.spec, new.raw, new.count, &new.got));
        check_same(&new, kind);
    }
    ny_tree_release(&tree);
}

TEST(a_tree_finds_what_is_nearest)
{
    static const enum ny_dtype types[] = {NY_U8, NY_I16, NY_F32, NY_F64};

    for (int kind = SCATTERED; kind < KINDS; kind++)
        for (size_t d = 1; d <= 4; d++)
            check_tree((enum kind)kind, types[((size_t)kind + d) % 4], 500 + 10 * d, d, 6);
    check_tree(SCATTERED, NY_F32, 700, 16, 5);
    check_tree(OFFSET, NY_F32, 700, 33, 5);
    check_tree(GRID, NY_F64, 2000, 17, 3);
}

TEST(a_tree_gives_all_points_where_they_are_wanted)
{
    check_tree(SCATTERED, NY_F32, 2, 3, 2);
    check_tree(REPEATED, NY_F32, 33, 3, 33);
    check_tree(SAME, NY_F64, 100, 2, 100);
}

TEST(families_of_vector_code_find_the_same)
{
    for (int family = NY_CPU_PLAIN; family < NY_CPU_COUNT; family++) {
        if (!ny_vector_force((enum ny_cpu)family)) continue;
        for (size_t d = 1; d <= NY_EXACT_DIRECT; d += d < 4 ? 1 : 3)
            check_tree(SCATTERED, NY_F64, 600, d, 7);
    }
    ny_vector_force(NY_CPU_COUNT);
}

/* ---- the sieve ------------------------------------------------------------------------------ */

/* Searches all new rows in one lot, with room for `held` points. */
static struct ny_sieve_learned by_sieve(struct newcomers *new, double recall, size_t held)
{
    const struct ny_sieve_lot lot = {.raw = new->raw, .count = new->count, .recall = recall};
    struct ny_sieve_learned learned = {0};
    struct ny_layout counted = {0};
    struct ny_sieve sieve;
    size_t used = ny_memory_used(ctx), bytes;

    ny_memory_peak_reset(ctx);
    ny_sieve_count(&counted, &new->knn, &new->cloud.spec, held, new->count, false);
    bytes = ny_layout_most(&counted);
    CHECK(ny_sieve_new(&sieve, &new->knn, &new->cloud.spec, held, recall < 1) ||
          ny_sieve_search(&sieve, &lot, &new->got, &learned));
    ny_sieve_release(&sieve);
    if (ny_memory_peak(ctx) > used + bytes)
        fail_msg("%zu × %zu: %zu bytes, of which %zu were told", new->cloud.n, new->cloud.d,
                 ny_memory_peak(ctx) - used, bytes);
    return learned;
}

static void check_sieve(const struct shape *shape)
{
    OWNED(newcomers) new;

    newcomers_new(&new, shape, 203, &ny_kernel_euclidean);
    for (unsigned workers = 1; workers <= 3; workers++) {
        new.knn.workers = workers;
        (void)by_sieve(&new, 1, workers < 3 ? shape->n : ny_sieve_held_least(&new.knn));
        check_same(&new, shape->kind);
        memset(new.got.row, 0, new.count * shape->t * sizeof(*new.got.row));
    }
}

TEST(a_sieve_finds_what_is_nearest)
{
    static const enum ny_dtype types[] = {NY_U8, NY_I16, NY_F32, NY_F64};

    for (int kind = SCATTERED; kind < KINDS; kind++)
        for (size_t d = 3; d <= 100; d = 2 * d + 5)
            check_sieve(&(struct shape){(enum kind)kind, types[((size_t)kind + d) % 4],
                                        1300 + 10 * d, d, 6});
    check_sieve(&(struct shape){SCATTERED, NY_F32, 2, 30, 2});
    check_sieve(&(struct shape){REPEATED, NY_F32, 33, 30, 33});
    check_sieve(&(struct shape){SAME, NY_F64, 2500, 20, 3});
    check_sieve(&(struct shape){SCATTERED, NY_F32, 3000, 200, 10});
}

/* Codes are compared in registers, or in blocks where a CPU has no products of bytes. */
TEST(a_sieve_needs_no_certain_cpu)
{
    for (int family = NY_CPU_PLAIN; family < NY_CPU_COUNT; family++) {
        if (!ny_vector_force((enum ny_cpu)family)) continue;
        check_sieve(&(struct shape){SCATTERED, NY_F64, 1700, 16, 7});
        check_sieve(&(struct shape){REPEATED, NY_F64, 1100, 5, 7});
    }
    ny_vector_force(NY_CPU_COUNT);
}

/* Values of f32 at whose scale products and sums of f32 would overflow, or vanish. */
TEST(a_sieve_bears_any_scale)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const struct shape shape = {APART, NY_F64, 1500, 12, 5};
        OWNED(newcomers) new;

        newcomers_new(&new, &shape, 100, &ny_kernel_euclidean);
        new.cloud.spec.params.gamma = ldexp(1, sign * 300);
        find_truth(&new);
        (void)by_sieve(&new, 1, shape.n);
        check_same(&new, shape.kind);
    }
}

/* Distances by a cosine may differ in the last bits from those of products. */
TEST(a_sieve_finds_the_nearest_by_cosine)
{
    for (size_t d = 7; d < 100; d += 40) {
        const struct shape shape = {SCATTERED, NY_F32, 2000, d, 6};
        OWNED(newcomers) new;

        newcomers_new(&new, &shape, 300, &ny_kernel_angular);
        (void)by_sieve(&new, 1, shape.n);
        for (size_t i = 0; i < new.count *shape.t; i++) {
            assert_int_equal(new.got.row[i], new.want.row[i]);
            assert_true(fabs(new.got.distance[i] - new.want.distance[i]) < 1e-14);
        }
    }
}

/* Returns the share of the true neighbours that were found, or of any as near. */
static double share_found(const struct newcomers *new)
{
    size_t t = new->knn.neighbors, found = 0;

    for (size_t i = 0; i < new->count; i++)
        for (size_t k = 0; k < t; k++)
            found += new->got.distance[i * t + k] <= new->want.distance[i * t + t - 1];
    return (double)found / (double)(new->count *t);
}

TEST(a_sieve_finds_the_share_that_is_asked_for)
{
    const struct shape shape = {SCATTERED, NY_F32, 4000, 70, 8};
    OWNED(newcomers) new;

    newcomers_new(&new, &shape, 1500, &ny_kernel_euclidean);
    for (double recall = 0.8; recall < 1; recall += 0.08) {
        struct ny_sieve_learned learned = by_sieve(&new, recall, shape.n);
        double share = share_found(&new);
        struct ny_measured all = new.got;

        if (share < recall || share > recall + 0.1)
            fail_msg("%g of the neighbours were found, not %g", share, recall);
        assert_true(learned.reach.measured > 0 && learned.rows == NY_SIEVE_ROWS);
        assert_true(fabs(learned.found / learned.rows / (double)shape.t - share) < 0.06);
        new.got = lists_new(new.count *shape.t);
        new.knn.workers = 1;
        (void)by_sieve(&new, recall, ny_sieve_held_least(&new.knn));
        assert_memory_equal(all.row, new.got.row, new.count *shape.t * sizeof(*all.row));
        assert_memory_equal(all.distance, new.got.distance,
                            new.count *shape.t * sizeof(*all.distance));
        new.knn.workers = 2;
    }
    (void)by_sieve(&new, 1, shape.n);
    check_same(&new, shape.kind);
}

/* The cells are looked into by rows of a strip that do not follow one another: in blocks of single
 * rows where a CPU has no products of bytes. */
TEST(a_share_needs_no_certain_cpu)
{
    const struct shape shape = {SCATTERED, NY_F32, 3000, 40, 6};
    OWNED(newcomers) new;

    newcomers_new(&new, &shape, 600, &ny_kernel_euclidean);
    for (int family = NY_CPU_PLAIN; family < NY_CPU_COUNT; family++) {
        double share;

        if (!ny_vector_force((enum ny_cpu)family)) continue;
        (void)by_sieve(&new, 0.9, shape.n);
        share = share_found(&new);
        if (share < 0.88 || share > 0.99)
            fail_msg("family %d finds %g of the neighbours, not 0.9", family, share);
    }
    ny_vector_force(NY_CPU_COUNT);
}

/* Neighbours that are all 0 far are within any bound. */
TEST(equal_rows_have_a_reach)
{
    const struct shape shape = {REPEATED, NY_F32, 3000, 20, 5};
    OWNED(newcomers) new;

    newcomers_new(&new, &shape, 600, &ny_kernel_euclidean);
    assert_int_equal(ROWS_OF(new.cloud.store, read, 0, 0, new.count, new.raw), NY_OK);
    find_truth(&new);
    assert_true(by_sieve(&new, 0.9, shape.n).reach.measured > 0);
    assert_true(share_found(&new) >= 0.9);
}

/* Rows that the codes do not tell apart have no reach: all of them are searched exactly. */
TEST(a_share_that_codes_do_not_find_is_all)
{
    const struct shape shape = {OUTLIER, NY_F64, 9000, 300, 2};
    OWNED(newcomers) new;
    struct ny_sieve_learned learned;

    newcomers_new(&new, &shape, 400, &ny_kernel_euclidean);
    learned = by_sieve(&new, 0.99, shape.n);
    assert_int_equal(learned.reach.measured, 0);
    check_same(&new, shape.kind);
}

TEST(a_sieve_is_interrupted)
{
    const struct shape shape = {SCATTERED, NY_F32, 3000, 40, 5};
    struct ny_sieve_learned learned = {0};
    struct ny_sieve_lot rows = {.raw = NULL, .count = 300, .recall = 0.5};
    struct ny_sieve sieve;
    OWNED(newcomers) new;

    newcomers_new(&new, &shape, 300, &ny_kernel_euclidean);
    rows.raw = new.raw;
    assert_int_equal(ny_sieve_new(&sieve, &new.knn, &new.cloud.spec, shape.n, true), NY_OK);
    ny_context_interrupt(ctx, SIGINT);
    assert_int_equal(ny_sieve_search(&sieve, &rows, &new.got, &learned), NY_EINTERRUPTED);
    ny_sieve_release(&sieve);
}

AROUND_ALL(start, stop)
