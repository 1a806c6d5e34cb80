/* graph/near_rows.h: an order of all rows, in which near ones are near, within the bytes that are
 * charged. */
#include "unit/cloud_case.h"

#include "columns/kernels.h"
#include "graph/near_rows.h"
#include "graph/order.h"

static struct ny_layout own; /* has the order */

/* The mean distance of rows that follow one another, in an order or, NULL, as they are. */
static double step(const struct cloud *cloud, const uint32_t *order)
{
    double sum = 0;

    for (size_t i = 1; i < cloud->n; i++)
        sum += plain_distance(cloud, order ? order[i - 1] : i - 1, order ? order[i] : i);
    return sum / (double)(cloud->n - 1);
}

/* Orders rows of a kind, and checks that each is there once. */
static uint32_t *order_of(const struct cloud *cloud)
{
    const size_t before = ny_memory_used(ctx),
                 pieces = (1 << 20) + 4096; /* in a large graph little */
    struct ny_layout counted = {0};
    bool *seen = lend_zeros(cloud->n * sizeof(*seen));
    struct ny_stored_points points;
    uint32_t *order;

    assert_int_equal(ny_points_stored(cloud->store, &points), NY_OK);
    own.ctx = ctx;
    ny_memory_peak_reset(ctx);
    assert_int_equal(ny_near_rows(ny_store_rows(cloud->store), cloud->n, &own, &order), NY_OK);
    ny_lay(&counted, NY_MEM_DICTIONARY, cloud->n, sizeof(*order));
    ny_order_lay(&counted, cloud->n);
    assert_true(ny_memory_peak(ctx) <=
                before + ny_layout_most(&counted) + pieces + 2 * ny_points_block_bytes(&points));
    for (size_t i = 0; i < cloud->n; i++) {
        assert_true(order[i] < cloud->n);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
    return order;
}

TEST(near_rows_are_near)
{
    for (size_t d = 1; d <= 3; d++) {
        OWNED(cloud) cloud = cloud_of(SCATTERED, NY_F32, 20000, d, &ny_kernel_euclidean);
        uint32_t *order;

        order = order_of(&cloud);
        assert_true(step(&cloud, order) < step(&cloud, NULL) / 5);
        ny_layout_free(&own);
    }
}

TEST(equal_rows_go_by_their_numbers)
{
    OWNED(cloud) cloud = cloud_of(SAME, NY_F64, 5000, 3, &ny_kernel_euclidean);
    uint32_t *order;

    order = order_of(&cloud);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(order[i], i);
    ny_layout_free(&own);
}

TEST(rows_of_any_type_are_ordered)
{
    static const enum ny_dtype dtypes[] = {NY_U8, NY_I16, NY_F32, NY_F64};

    for (size_t k = 0; k < 4; k++) {
        OWNED(cloud) cloud = cloud_of(SCATTERED, dtypes[k], 9000, 16, &ny_kernel_euclidean);

        order_of(&cloud);
        ny_layout_free(&own);
    }
}

AROUND_ALL(start, stop)
