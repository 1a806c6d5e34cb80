/* The nearest points of rows that are no points, in each way that finds them, against all distances
 * one by one. */
#include <string.h>

#include "unit/cloud_case.h"

#include "columns/kernels.h"
#include "columns/vector.h"
#include "graph/knn_private.h"
#include "graph/one_row.h"
#include "graph/tree.h"

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
    return (struct ny_measured){malloc(items * sizeof(uint32_t)), malloc(items * sizeof(double)),
                                0};
}

static void lists_free(struct ny_measured *lists)
{
    free(lists->row);
    free(lists->distance);
}

/* Makes new rows: copies of points, and points that are moved. */
static void make_rows(struct newcomers *new)
{
    size_t row_bytes = ny_raw_bytes(&new->cloud.spec), d = new->cloud.d;

    for (size_t i = 0; i < new->count; i++) {
        uint64_t from = ny_hash64(5, NY_STREAM_SAMPLE, i) % new->cloud.n;
        char *row = new->raw + i *row_bytes;

        assert_int_equal(ny_points_read(new->cloud.store, 0, from, 1, row), NY_OK);
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
    char *points = malloc(n * row_bytes);
    double *values = malloc(n * sizeof(*values));
    struct ny_near *near = malloc(t * sizeof(*near));
    struct ny_one_row one = {0};

    assert_int_equal(ny_points_read(new->cloud.store, 0, 0, n, points), NY_OK);
    assert_int_equal(ny_one_row_init(&one, spec), NY_OK);
    for (size_t i = 0; i < new->count; i++) {
        assert_int_equal(ny_one_row_set(&one, new->raw + i *row_bytes), NY_OK);
        assert_int_equal(ny_one_row_values(&one, points, n, values), NY_OK);
        ny_near_clear(near, t);
        for (size_t j = 0; j < n; j++)
            ny_near_keep(near, t, (struct ny_near){values[j], (uint32_t)j});
        for (size_t k = 0; k < t; k++) {
            new->want.row[i * t + k] = near[k].row;
            new->want.distance[i * t + k] = ny_near_distance(spec, near[k].value);
        }
    }
    ny_one_row_release(&one, ctx);
    free(near);
    free(values);
    free(points);
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
    cloud_new(&new->cloud, shape->kind, shape->dtype, shape->n, shape->d, metric);
    new->knn = (struct ny_knn){
        .spec = &new->cloud.spec, .store = new->cloud.store, .n = n, .neighbors = t, .workers = 2};
    new->raw = malloc(count * ny_raw_bytes(&new->cloud.spec));
    make_rows(new);
    find_truth(new);
}

static void newcomers_free(struct newcomers *new)
{
    lists_free(&new->want);
    lists_free(&new->got);
    free(new->raw);
    cloud_free(&new->cloud);
}

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
    struct newcomers new;
    struct ny_box_tree tree;

    newcomers_new(&new, &shape, 203, &ny_kernel_euclidean);
    if (ny_tree_new(&tree, &new.knn)) fail_msg("%s", ny_context_message(ctx));
    for (unsigned workers = 1; workers <= 2; workers++) {
        new.knn.workers = workers;
        if (ny_tree_nearest(&tree, &new.cloud.spec, new.raw, new.count, &new.got))
            fail_msg("%s", ny_context_message(ctx));
        check_same(&new, kind);
    }
    ny_tree_release(&tree);
    newcomers_free(&new);
}

static void a_tree_finds_what_is_nearest(void **state)
{
    static const enum ny_dtype types[] = {NY_U8, NY_I16, NY_F32, NY_F64};

    (void)state;
    for (int kind = SCATTERED; kind < KINDS; kind++)
        for (size_t d = 1; d <= 4; d++)
            check_tree((enum kind)kind, types[((size_t)kind + d) % 4], 500 + 10 * d, d, 6);
    check_tree(SCATTERED, NY_F32, 700, 16, 5);
    check_tree(OFFSET, NY_F32, 700, 33, 5);
    check_tree(GRID, NY_F64, 2000, 17, 3);
}

static void a_tree_gives_all_points_where_they_are_wanted(void **state)
{
    (void)state;
    check_tree(SCATTERED, NY_F32, 2, 3, 2);
    check_tree(REPEATED, NY_F32, 33, 3, 33);
    check_tree(SAME, NY_F64, 100, 2, 100);
}

static void families_of_vector_code_find_the_same(void **state)
{
    (void)state;
    for (int family = NY_CPU_PLAIN; family < NY_CPU_COUNT; family++) {
        if (!ny_vector_force((enum ny_cpu)family)) continue;
        for (size_t d = 1; d <= NY_EXACT_DIRECT; d += d < 4 ? 1 : 3)
            check_tree(SCATTERED, NY_F64, 600, d, 7);
    }
    ny_vector_force(NY_CPU_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_finds_what_is_nearest),
        cmocka_unit_test(a_tree_gives_all_points_where_they_are_wanted),
        cmocka_unit_test(families_of_vector_code_find_the_same),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
