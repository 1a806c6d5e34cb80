/* Which way --knn auto takes, by the shape of the points alone (neighbors/ways.c). */
#include "columns/kernels.h"
#include "neighbors/job_private.h"
#include "support/test.h"

static enum ny_knn_way way_of(const struct ny_rows_info *points, double recall)
{
    const struct ny_graph_settings settings = {.metric = &ny_kernel_euclidean,
                                               .way = NY_KNN_AUTO,
                                               .recall = recall,
                                               .neighbors = 10,
                                               .stored = 10};

    return ny_graph_other_way(&settings, points);
}

TEST(all_neighbours_are_not_left_to_a_sample)
{
    const struct ny_rows_info points = {.dtype = NY_F32, .n = 20000000, .d = 100};

    assert_int_equal(way_of(&points, 1), NY_KNN_EXACT);
}

TEST(a_share_of_them_comes_from_codes)
{
    struct ny_rows_info points = {.dtype = NY_F32, .n = 20000000, .d = 784};

    assert_int_equal(way_of(&points, 0.95), NY_KNN_SIEVE);
    points.d = 16;
    assert_int_equal(way_of(&points, 0.95), NY_KNN_SIEVE);
    points.n = 3000;
    assert_int_equal(way_of(&points, 0.95), NY_KNN_EXACT);
}

TEST(sparse_rows_of_many_columns_have_no_codes)
{
    struct ny_rows_info points = {
        .dtype = NY_F32, .n = 1000000, .d = 30000, .row_slots = 500, .nnz = 100000000};

    assert_int_equal(way_of(&points, 0.95), NY_KNN_EXACT);
    points.d = 300;
    assert_int_equal(way_of(&points, 0.95), NY_KNN_SIEVE);
}
