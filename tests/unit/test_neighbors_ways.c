/* Which way --knn auto takes, by the shape of the points alone (neighbors/ways.c). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "columns/kernels.h"
#include "neighbors/job_private.h"

static enum ny_knn_way way_of(const struct ny_rows_info *points, double recall, size_t leaf)
{
    const struct ny_graph_settings settings = {.metric = &ny_kernel_euclidean,
                                               .way = NY_KNN_AUTO,
                                               .recall = recall,
                                               .neighbors = 10,
                                               .stored = 10,
                                               .leaf = leaf};

    return ny_graph_other_way(&settings, points);
}

static void all_neighbours_are_not_left_to_a_sample(void **state)
{
    const struct ny_rows_info points = {.dtype = NY_F32, .n = 20000000, .d = 100};

    (void)state;
    assert_int_equal(way_of(&points, 1, 100), NY_KNN_EXACT);
}

/* Codes of more rows than fit in 2 GiB are left to a forest, whose leaves hold as many as a list.
 */
static void a_share_of_them_comes_from_codes_or_a_forest(void **state)
{
    struct ny_rows_info points = {.dtype = NY_F32, .n = 1000000, .d = 784};

    (void)state;
    assert_int_equal(way_of(&points, 0.95, 100), NY_KNN_SIEVE);
    points.n = 20000000;
    assert_int_equal(way_of(&points, 0.95, 100), NY_KNN_FOREST);
    assert_int_equal(way_of(&points, 0.95, 21), NY_KNN_SIEVE);
    points.d = 16;
    assert_int_equal(way_of(&points, 0.95, 100), NY_KNN_SIEVE);
    points.n = 3000;
    assert_int_equal(way_of(&points, 0.95, 100), NY_KNN_EXACT);
}

static void sparse_rows_have_no_codes(void **state)
{
    struct ny_rows_info points = {
        .dtype = NY_F32, .n = 1000000, .d = 30000, .row_slots = 500, .nnz = 100000000};

    (void)state;
    assert_int_equal(way_of(&points, 0.95, 100), NY_KNN_FOREST);
    points.n = 50000;
    assert_int_equal(way_of(&points, 0.95, 100), NY_KNN_EXACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_neighbours_are_not_left_to_a_sample),
        cmocka_unit_test(a_share_of_them_comes_from_codes_or_a_forest),
        cmocka_unit_test(sparse_rows_have_no_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
