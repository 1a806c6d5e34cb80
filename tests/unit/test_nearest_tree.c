/* nearest/tree.h against the lists of all pairs of nearest/knn.h: the same bytes, on rows of every
 * kind and number of columns. */
#include "unit/cloud_case.h"

#include "base/clock.h"
#include "columns/kernels.h"
#include "columns/pairs.h"
#include "columns/vector.h"
#include "nearest/tree.h"

/* t row numbers and distances a row. */
struct lists {
    uint32_t *row;
    float *distance;
};

static struct lists lists_new(size_t n, size_t t)
{
    return (struct lists){lend(n * t * sizeof(uint32_t)), lend(n * t * sizeof(float))};
}

static struct ny_knn knn_of(const struct cloud *cloud, size_t t, unsigned workers)
{
    return (struct ny_knn){.spec = &cloud->spec,
                           .X = ny_store_rows(cloud->store),
                           .n = cloud->n,
                           .neighbors = t,
                           .workers = workers};
}

static void by_pairs(const struct cloud *cloud, size_t t, const struct lists *out)
{
    struct ny_knn knn = knn_of(cloud, t, 1);
    double *distance = lend(cloud->n * t * sizeof(*distance));
    struct ny_neighbors lists;

    assert_int_equal(ny_neighbors_new(&lists, ctx, 0, cloud->n, ny_knn_width(&knn)), NY_OK);
    CHECK(ny_knn_pass(&knn, &lists, 0, NULL, NULL));
    for (size_t i = 0; i < cloud->n; i += NY_MEASURE_ROWS) {
        size_t count = cloud->n - i < NY_MEASURE_ROWS ? cloud->n - i : NY_MEASURE_ROWS;
        struct ny_measured part = {out->row + i * t, distance + i * t, 0};

        CHECK(ny_knn_measure(&knn, &lists, i, count, &part));
    }
    for (size_t i = 0; i < cloud->n * t; i++)
        out->distance[i] = (float)distance[i];
    ny_neighbors_release(&lists);
}

struct taken {
    const struct lists *out;
    size_t t;
    uint64_t first;
};

static int take(void *arg, const struct ny_tree_found *found)
{
    const struct taken *to = arg;
    size_t t = to->t;

    for (size_t i = 0; i < found->count; i++) {
        assert_true(found->of[i] >= to->first);
        memcpy(to->out->row + found->of[i] * t, found->row + i * t, t * sizeof(uint32_t));
        memcpy(to->out->distance + found->of[i] * t, found->distance + i * t, t * sizeof(float));
    }
    return NY_OK;
}

/* The lists of all rows, of those from `last` on once more. */
static void by_tree(const struct cloud *cloud, size_t t, size_t last, unsigned workers,
                    const struct lists *out)
{
    struct ny_knn knn = knn_of(cloud, t, workers);
    struct ny_box_tree tree;

    CHECK(ny_tree_new(&tree, &knn));
    for (uint64_t first = 0; first <= last; first += last ? last : 1) {
        struct taken to = {out, t, first};

        memset(out->row + first * t, 0xee, (cloud->n - first) * t * sizeof(uint32_t));
        CHECK(ny_tree_search(&tree, first, take, &to));
    }
    ny_tree_release(&tree);
}

static void check_same(const struct cloud *cloud, enum kind kind, size_t t, const struct lists *got,
                       const struct lists *want)
{
    for (size_t i = 0; i < cloud->n * t; i++) {
        if (got->row[i] != want->row[i] ||
            memcmp(&got->distance[i], &want->distance[i], sizeof(float)) != 0)
            fail_msg("kind %d, type %d, %zu × %zu: neighbour %zu of row %zu is %u at %.9g, not %u "
                     "at %.9g",
                     (int)kind, (int)cloud->dtype, cloud->n, cloud->d, i % t, i / t, got->row[i],
                     (double)got->distance[i], want->row[i], (double)want->distance[i]);
    }
}

static void check_cloud(enum kind kind, enum ny_dtype dtype, size_t n, size_t d, size_t t)
{
    OWNED(cloud) cloud = cloud_of(kind, dtype, n, d, &ny_kernel_euclidean);
    struct lists want = lists_new(n, t), got = lists_new(n, t);

    by_pairs(&cloud, t, &want);
    by_tree(&cloud, t, 0, 1, &got);
    check_same(&cloud, kind, t, &got, &want);
    by_tree(&cloud, t, n / 3, 2, &got);
    check_same(&cloud, kind, t, &got, &want);
}

TEST(lists_are_those_of_all_pairs)
{
    static const enum ny_dtype types[] = {NY_U8, NY_I16, NY_F32, NY_F64};

    for (int kind = SCATTERED; kind < KINDS; kind++)
        for (size_t d = 1; d <= 5; d++)
            check_cloud((enum kind)kind, types[((size_t)kind + d) % 4], 500 + 10 * d, d, 6);
    for (int kind = SCATTERED; kind < KINDS; kind++)
        for (size_t f = 2; f < 4; f++)
            check_cloud((enum kind)kind, types[f], 1200, 3, 10);
}

TEST(rows_of_more_columns_are_summed_in_order)
{
    static const struct {
        enum kind kind;
        enum ny_dtype dtype;
        size_t d;
    } clouds[] = {{SCATTERED, NY_F32, 8},  {OUTLIER, NY_F64, 15}, {FLAT, NY_F32, 16},
                  {SCATTERED, NY_F64, 17}, {OFFSET, NY_F32, 33},  {GRID, NY_U8, 40}};

    for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++)
        check_cloud(clouds[i].kind, clouds[i].dtype, 700, clouds[i].d, 5);
}

/* All pairs of many columns are products where differences do not have to tell rows apart. */
TEST(equal_distances_are_summed_alike)
{
    for (size_t d = 17; d < 60; d += 14) {
        check_cloud(HALF_SAME, NY_F32, 900, d, 5);
        check_cloud(GRID, NY_F64, 2000, d, 3);
    }
}

TEST(lists_are_short_or_hold_all)
{
    check_cloud(SCATTERED, NY_F32, 2, 3, 1);
    check_cloud(SCATTERED, NY_F32, 9, 2, 8);
    check_cloud(REPEATED, NY_F32, 33, 3, 32);
    check_cloud(SAME, NY_F64, 300, 3, 299);
    check_cloud(SCATTERED, NY_F32, 1000, 3, 1);
    check_cloud(LATTICE, NY_F32, 1000, 3, 200);
}

TEST(families_of_vector_code_agree_with_themselves)
{
    for (int family = NY_CPU_PLAIN; family < NY_CPU_COUNT; family++) {
        if (!ny_vector_force((enum ny_cpu)family)) continue;
        for (size_t d = 1; d <= 20; d += d < 4 ? 1 : 5)
            check_cloud(SCATTERED, NY_F64, 600, d, 7);
        check_cloud(MAP, NY_F32, 600, 3, 7);
    }
    ny_vector_force(NY_CPU_COUNT);
}

TEST(ranges_and_workers_change_nothing)
{
    enum { N = 9000, T = 5 };
    OWNED(cloud) cloud = cloud_of(SCATTERED, NY_F32, N, 3, &ny_kernel_euclidean);
    struct lists want = lists_new(N, T), got = lists_new(N, T);

    by_tree(&cloud, T, N, 1, &want);
    for (unsigned workers = 1; workers <= 3; workers++)
        for (size_t rows = N; rows > 700; rows /= 3) {
            by_tree(&cloud, T, rows, workers, &got);
            check_same(&cloud, SCATTERED, T, &got, &want);
        }
}

/* Counts boxes, rows and places of lists that are looked at for all rows. */
static double work_for(enum kind kind, size_t n)
{
    OWNED(cloud) cloud = cloud_of(kind, NY_F32, n, 3, &ny_kernel_euclidean);
    struct ny_knn knn;
    struct ny_box_tree tree;
    struct ny_tree_work work;

    knn = knn_of(&cloud, 5, 1);
    CHECK(ny_tree_new(&tree, &knn));
    CHECK(ny_tree_pilot(&tree, tree.leaves, &work));
    ny_tree_release(&tree);
    return (double)(work.boxes + work.rows + work.moves);
}

TEST(copies_of_a_point_cost_no_more_than_others)
{
    enum { N = 60000 };
    static const enum kind kinds[] = {HALF_SAME, SAME, GRID};
    double distinct = work_for(SCATTERED, N);

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        double work = work_for(kinds[i], N);

        if (work > 2 * distinct)
            fail_msg("kind %d: %g of the work of distinct rows", kinds[i], work / distinct);
    }
}

TEST(a_tree_beyond_the_budget_is_refused)
{
    OWNED(cloud) cloud = cloud_of(SCATTERED, NY_F32, 50000, 3, &ny_kernel_euclidean);
    struct ny_knn knn;
    struct ny_layout counted = {0};
    struct ny_box_tree tree;
    size_t limit = ny_memory_limit(ctx), used;

    knn = knn_of(&cloud, 5, 2);
    used = ny_memory_used(ctx);
    ny_tree_count(&counted, &knn);
    ny_context_set_memory(ctx, used + ny_layout_most(&counted) / 2);
    assert_int_equal(ny_tree_new(&tree, &knn), NY_EBUDGET);
    ny_tree_release(&tree);
    assert_int_equal(ny_memory_used(ctx), used);
    ny_context_set_memory(ctx, limit);
}

AROUND_ALL(start, stop)
