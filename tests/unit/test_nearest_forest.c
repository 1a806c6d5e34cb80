/* nearest/forest.h against double loops over all pairs of points. */
#include <string.h>

#include "unit/cloud_case.h"

#include "columns/kernels.h"
#include "nearest/forest_private.h"

enum { LEAF = 64, T = 5, SEED = 3 };

static const struct ny_forest_progress from_start = {0, NULL, NULL};

struct grown {
    struct ny_knn knn;
    struct ny_forest forest;
};

static void grow(struct grown *grown, const struct cloud *cloud, size_t t, size_t leaf, size_t held,
                 unsigned workers)
{
    grown->knn = (struct ny_knn){.spec = &cloud->spec,
                                 .X = ny_store_rows(cloud->store),
                                 .n = cloud->n,
                                 .neighbors = t,
                                 .workers = workers,
                                 .checkpoint_s = 3600};
    if (!held) held = ny_forest_held_least(&grown->knn, leaf);
    assert_int_equal(ny_forest_new(&grown->forest, &grown->knn, leaf, SEED, held), NY_OK);
}

static void trees_and_rounds(struct ny_forest *forest, unsigned trees, unsigned rounds)
{
    for (unsigned k = 0; k < trees; k++)
        assert_int_equal(ny_forest_tree(forest, k, from_start), NY_OK);
    for (unsigned k = 0; k < rounds; k++) {
        ny_forest_link(forest);
        assert_int_equal(ny_forest_round(forest, from_start), NY_OK);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Small leaves make a sample that takes as much as the buckets of all rows. */
static void check_route_bytes(size_t n, size_t leaf)
{
    const size_t headers = 16 << 10;
    struct cloud cloud;
    struct grown grown;
    size_t before;

    cloud_new(&cloud, SCATTERED, NY_F32, n, 2, &ny_kernel_euclidean);
    grow(&grown, &cloud, 3, leaf, n, 1);
    before = ny_memory_used(ctx);
    ny_memory_peak_reset(ctx);
    assert_int_equal(ny_forest_route(&grown.forest, 0), NY_OK);
    assert_true(ny_memory_peak(ctx) - before <= ny_forest_route_bytes(&grown.knn, leaf) + headers);
    ny_forest_release(&grown.forest);
    cloud_free(&cloud);
}

static void routing_takes_no_more_than_is_forecast(void **state)
{
    (void)state;
    check_route_bytes(200000, 16);
    check_route_bytes(60000, 4096);
}

/* ---- trees ---------------------------------------------------------------------------------- */

static void check_buckets(const struct ny_forest *forest, size_t n, size_t leaf)
{
    bool *there = calloc(n, sizeof(bool));

    assert_int_equal(forest->bucket[0], 0);
    assert_int_equal(forest->bucket[forest->buckets], n);
    assert_true(forest->buckets <= ny_forest_buckets_max(n, leaf));
    for (size_t b = 0; b < forest->buckets; b++) {
        size_t count = (size_t)(forest->bucket[b + 1] - forest->bucket[b]);

        assert_true(count <= ny_bucket_rows_max(leaf));
        assert_true(count >= (n < leaf ? n : leaf));
    }
    for (size_t i = 0; i < n; i++) {
        assert_false(there[forest->row[i]]);
        there[forest->row[i]] = true;
    }
    free(there);
}

/* Half a leaf has more rows than there are neighbours to find: a row that was in none has none. A
 * leaf that had too many would have written past its values. */
static void check_leaves(enum kind kind, size_t n, size_t d)
{
    struct cloud cloud;
    struct grown grown;
    double leaves;

    cloud_new(&cloud, kind, NY_F32, n, d, &ny_kernel_euclidean);
    grow(&grown, &cloud, LEAF / 2 - 1, LEAF, n, 2);
    for (uint64_t tree = 0; tree < 3; tree++) {
        double before = grown.forest.pairs;

        assert_int_equal(ny_forest_route(&grown.forest, tree), NY_OK);
        check_buckets(&grown.forest, n, LEAF);
        assert_int_equal(ny_forest_tree(&grown.forest, tree, from_start), NY_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_not_equal(
                grown.forest.lists.row[i * grown.forest.lists.width + LEAF / 2 - 2], NY_NO_ROW);
        /* at least the rows of all leaves: each row of a leaf of LEAF rows has so many pairs */
        leaves = (grown.forest.pairs - before) / ((LEAF - 1) / 2.0);
        assert_true(leaves > 0.4 * (double)n && leaves < 2 * (double)n);
    }
    ny_forest_release(&grown.forest);
    cloud_free(&cloud);
}

static void every_row_is_in_a_leaf(void **state)
{
    (void)state;
    check_leaves(SCATTERED, 65, 3);
    check_leaves(SCATTERED, 3000, 20);
    check_leaves(SCATTERED, 9000, 3);
    check_leaves(GRID, 9000, 2);
    check_leaves(REPEATED, 5000, 12);
    check_leaves(SAME, 7000, 4);
}

static double plain_variance(struct ny_plane plane, const float *V, size_t points)
{
    double mean = 0, variance = 0;

    for (size_t i = 0; i < points; i++)
        mean += (double)ny_plane_side(plane, V + i * NY_PIVOTS) / (double)points;
    for (size_t i = 0; i < points; i++)
        variance += pow((double)ny_plane_side(plane, V + i * NY_PIVOTS) - mean, 2);
    return variance;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void check_list(const struct cloud *cloud, const struct ny_forest *forest, size_t i)
{
    const uint32_t *row = forest->lists.row + i * forest->lists.width;
    const float *distance = forest->lists.value + i * forest->lists.width;

    for (size_t k = 0; k < forest->knn->neighbors; k++) {
        double want = plain_distance(cloud, i, row[k]);

        assert_true(row[k] < cloud->n && row[k] != i);
        if (!(fabs((double)distance[k] - want) <= 1e-6 * (1e-3 + want)))
            fail_msg("row %zu, neighbour %zu: %.9g, not %.9g", i, k, (double)distance[k], want);
        if (k == 0) continue;
        assert_true(distance[k] >= distance[k - 1]);
        for (size_t l = 0; l < k; l++)
            assert_int_not_equal(row[l], row[k]);
    }
}

/* Returns the distance of the t-th neighbour of a row. */
static double plain_last(const struct cloud *cloud, size_t i, size_t t)
{
    double last[T + 1];

    for (size_t k = 0; k < t; k++)
        last[k] = INFINITY;
    for (size_t j = 0; j < cloud->n; j++) {
        double distance = j == i ? INFINITY : plain_distance(cloud, i, j);
        size_t at = t;

        for (; at > 0 && distance < last[at - 1]; at--)
            last[at] = last[at - 1];
        last[at] = distance;
    }
    return last[t - 1];
}

/* The share of true neighbours in the lists of all rows, by distance. */
static double plain_recall(const struct cloud *cloud, const struct ny_forest *forest)
{
    size_t t = forest->knn->neighbors, width = forest->lists.width, count = 0;

    for (size_t i = 0; i < cloud->n; i++) {
        double last = plain_last(cloud, i, t);
        size_t found = 0;

        for (size_t k = 0; k < width; k++) {
            uint32_t row = forest->lists.row[i * width + k];

            found += row != NY_NO_ROW && plain_distance(cloud, i, row) <= last * (1 + 1e-9);
        }
        count += found < t ? found : t;
    }
    return (double)count / (double)(cloud->n * t);
}

/* One in twenty intervals of 95 % misses, so the interval is widened to 99.7 %. */
static void check_interval(const struct ny_recall *recall, double plain)
{
    const double wider = 3 / 1.96;

    if (plain < recall->share - wider * (recall->share - recall->low) ||
        plain > recall->share + wider * (recall->high - recall->share))
        fail_msg("recall %g (%g to %g), and it is %g", recall->share, recall->low, recall->high,
                 plain);
}

static void check_recall(enum kind kind, enum ny_dtype dtype, size_t n, size_t d,
                         const struct ny_kernel *metric, double least)
{
    struct ny_recall_sample sample;
    struct ny_recall recall, refined;
    struct cloud cloud;
    struct grown grown;
    double plain;

    cloud_new(&cloud, kind, dtype, n, d, metric);
    grow(&grown, &cloud, T, LEAF, n, 2);
    assert_int_equal(ny_recall_sample_new(&sample, &grown.knn, SEED), NY_OK);
    trees_and_rounds(&grown.forest, 4, 0);
    assert_int_equal(ny_forest_recall(&grown.forest, &sample, &recall), NY_OK);
    check_interval(&recall, plain_recall(&cloud, &grown.forest));
    trees_and_rounds(&grown.forest, 0, 3);
    assert_int_equal(ny_forest_measure(&grown.forest, from_start), NY_OK);
    assert_int_equal(ny_forest_recall(&grown.forest, &sample, &refined), NY_OK);
    plain = plain_recall(&cloud, &grown.forest);
    check_interval(&refined, plain);
    assert_true(refined.share >= recall.share);
    if (plain < least) fail_msg("recall %g of %zu × %zu, kind %d", plain, n, d, (int)kind);
    for (size_t i = 0; i < n; i++)
        check_list(&cloud, &grown.forest, i);
    ny_recall_sample_release(&sample);
    ny_forest_release(&grown.forest);
    cloud_free(&cloud);
}

static void recall_is_what_is_told(void **state)
{
    const struct ny_kernel *euclid = &ny_kernel_euclidean;

    (void)state;
    check_recall(SCATTERED, NY_F32, 3000, 3, euclid, 0.999);
    check_recall(SCATTERED, NY_U8, 3000, 10, euclid, 0.95);
    check_recall(SCATTERED, NY_F32, 2500, 20, euclid, 0.8); /* scattered in 20 columns, few */
    check_recall(SCATTERED, NY_I16, 2500, 6, euclid, 0.99); /* are near to anything */
    check_recall(SCATTERED, NY_F64, 2500, 8, &ny_kernel_angular, 0.98);
    check_recall(OFFSET, NY_F32, 2500, 3, euclid, 0.999);
    check_recall(GRID, NY_U8, 3000, 4, euclid, 0.999);
    check_recall(REPEATED, NY_F32, 2500, 10, euclid, 0.95);
    check_recall(SAME, NY_U8, 3000, 5, euclid, 1);
    check_recall(SCATTERED, NY_F32, 40, 5, euclid, 1);
    check_recall(SCATTERED, NY_F32, T + 1, 5, euclid, 1);
}

/* A leaf of more rows than are compared at a time, and of all there are. */
static void a_leaf_of_all_rows_finds_all_neighbours(void **state)
{
    enum { N = 300 };
    struct cloud cloud;
    struct grown grown;

    (void)state;
    cloud_new(&cloud, SCATTERED, NY_F32, N, 20, &ny_kernel_euclidean);
    grow(&grown, &cloud, T, N, N, 2);
    trees_and_rounds(&grown.forest, 1, 0);
    assert_true(plain_recall(&cloud, &grown.forest) == 1);
    ny_forest_release(&grown.forest);
    cloud_free(&cloud);
}

/* A node chooses among sixteen of a few hundred planes and takes one with a spread that few of all
 * have. */
static void planes_are_chosen_by_their_spread(void **state)
{
    enum { NODES = 20, POINTS = 50, ALL = NY_PIVOTS * (NY_PIVOTS - 1) };
    float V[POINTS * NY_PIVOTS];
    uint32_t at[POINTS];
    struct ny_forest forest = {.seed = SEED};

    (void)state;
    for (size_t i = 0; i < POINTS; i++)
        at[i] = (uint32_t)i;
    for (uint64_t node = 0; node < NODES; node++) {
        size_t wider = 0;
        double chosen;

        for (size_t i = 0; i < POINTS * NY_PIVOTS; i++)
            V[i] = (float)((double)(i % NY_PIVOTS) * (5 + ny_hash01(node, NY_STREAM_DATA, i)));
        chosen = plain_variance(ny_plane_choose(&forest, node, V, at, POINTS), V, POINTS);
        for (unsigned a = 0; a < NY_PIVOTS; a++)
            for (unsigned b = 0; b < NY_PIVOTS; b++)
                if (a != b) wider += plain_variance((struct ny_plane){a, b}, V, POINTS) > chosen;
        assert_true(wider < ALL / 2);
    }
}

/* A round among the neighbours of neighbours finds some of what a tree has missed; what a row has
 * met before costs nothing in the next one. */
static void rounds_find_what_a_tree_has_missed(void **state)
{
    enum { N = 4000 };
    struct cloud cloud;
    struct grown grown;
    double recall[3], pairs[3];

    (void)state;
    cloud_new(&cloud, SCATTERED, NY_F32, N, 6, &ny_kernel_euclidean);
    grow(&grown, &cloud, T, LEAF, N, 2);
    for (unsigned k = 0; k < 3; k++) {
        trees_and_rounds(&grown.forest, k == 0, k > 0);
        recall[k] = plain_recall(&cloud, &grown.forest);
        pairs[k] = grown.forest.pairs / N;
    }
    assert_true(recall[1] > recall[0] + 0.1);
    assert_true(recall[2] > recall[1]);
    assert_true(pairs[2] - pairs[1] < 0.7 * (pairs[1] - pairs[0]));
    ny_forest_release(&grown.forest);
    cloud_free(&cloud);
}

/* Rows get no candidates here, as if the trees had left each of them alone. */
static void rows_without_candidates_meet_all(void **state)
{
    enum { N = 600 };
    struct cloud cloud;
    struct grown grown;

    (void)state;
    cloud_new(&cloud, SCATTERED, NY_F32, N, 5, &ny_kernel_euclidean);
    grow(&grown, &cloud, T, LEAF, N, 2);
    ny_neighbors_add(&grown.forest.lists, 7, 1, 8); /* too few is as none */
    assert_int_equal(ny_forest_measure(&grown.forest, from_start), NY_OK);
    assert_true(plain_recall(&cloud, &grown.forest) >= 1);
    for (size_t i = 0; i < N; i++)
        check_list(&cloud, &grown.forest, i);
    ny_forest_release(&grown.forest);
    cloud_free(&cloud);
}

/* Neither threads, nor the number of rows in memory, nor walks done twice in part change the
 * bytes. */
static void bytes_are_the_same_by_any_way(void **state)
{
    enum { N = 6000 };
    const struct ny_forest_progress from_later = {3, NULL, NULL};
    const size_t held[] = {N, 0, 3000, N};
    const unsigned workers[] = {1, 2, 3, 2};
    struct cloud cloud;
    char *image = NULL;

    (void)state;
    cloud_new(&cloud, GRID, NY_F32, N, 12, &ny_kernel_euclidean);
    for (size_t k = 0; k < 4; k++) {
        struct grown grown;
        size_t bytes;

        grow(&grown, &cloud, T, 32, held[k], workers[k]);
        assert_int_equal(ny_held_all(&grown.forest.held), held[k] == N);
        if (k == 3) assert_int_equal(ny_forest_tree(&grown.forest, 1, from_later), NY_OK);
        trees_and_rounds(&grown.forest, 3, 1);
        if (k == 3) assert_int_equal(ny_forest_round(&grown.forest, from_later), NY_OK);
        assert_int_equal(ny_forest_measure(&grown.forest, from_start), NY_OK);
        if (k == 3) assert_int_equal(ny_forest_measure(&grown.forest, from_later), NY_OK);
        bytes = ny_forest_image_bytes(&grown.forest);
        if (!image) {
            image = malloc(bytes);
            memcpy(image, ny_forest_image(&grown.forest), bytes);
        }
        assert_memory_equal(image, ny_forest_image(&grown.forest), bytes);
        ny_forest_release(&grown.forest);
    }
    free(image);
    cloud_free(&cloud);
}

/* ---- what lists and held rows promise ------------------------------------------------------- */

static void lists_do_not_depend_on_the_order(void **state)
{
    enum { ROWS = 40, WIDTH = 6, OFFERS = 200 };
    struct ny_neighbors lists[2];

    (void)state;
    for (uint64_t round = 0; round < 50; round++) {
        float least[ROWS];

        for (size_t i = 0; i < ROWS; i++)
            least[i] = INFINITY;
        for (int k = 0; k < 2; k++)
            assert_int_equal(ny_neighbors_new(&lists[k], ctx, 0, 1, WIDTH), NY_OK);
        for (uint64_t i = 0; i < OFFERS; i++) {
            uint64_t hash = ny_hash64(round, NY_STREAM_DATA, i);
            uint64_t back = ny_hash64(round, NY_STREAM_DATA, OFFERS - 1 - i);
            uint32_t row = (uint32_t)(hash % ROWS), back_row = (uint32_t)(back % ROWS);
            float value = (float)(hash >> 32 & 15), back_value = (float)(back >> 32 & 15);

            ny_neighbors_add(&lists[0], 0, value, row);
            ny_neighbors_add(&lists[1], 0, back_value, back_row);
            if (value < least[row]) least[row] = value;
        }
        assert_memory_equal(lists[0].bound, lists[1].bound, ny_neighbors_image_bytes(&lists[0]));
        for (size_t k = 0; k < WIDTH; k++) {
            size_t best = 0; /* the k-th of all */

            for (size_t i = 0; i < ROWS; i++)
                if (least[i] < least[best]) best = i;
            assert_int_equal(lists[0].row[k], best);
            assert_true(lists[0].value[k] == least[best]);
            least[best] = INFINITY;
        }
        ny_neighbors_release(&lists[0]);
        ny_neighbors_release(&lists[1]);
    }
}

static void held_rows_are_those_wanted(void **state)
{
    enum { N = 40000, ROOM = 1000 };
    struct cloud cloud;
    struct ny_held held;

    (void)state;
    cloud_new(&cloud, SCATTERED, NY_F64, N, 3, &ny_kernel_euclidean);
    for (uint64_t round = 0; round < 3; round++) {
        size_t room = round == 2 ? N : ROOM, wanted = 0;

        assert_int_equal(ny_held_new(&held, ny_store_rows(cloud.store), &cloud.spec, N, room, 2),
                         NY_OK);
        ny_held_clear(&held);
        for (uint64_t i = 0; i < ROOM; i++)
            assert_true(ny_held_want(&held, ny_hash64(round, NY_STREAM_DATA, i) % N));
        while (wanted < N && ny_held_want(&held, wanted))
            wanted++;
        assert_int_equal(wanted == N, round == 2);
        assert_int_equal(ny_held_load(&held), NY_OK);
        for (uint64_t i = 0; i < ROOM; i++) {
            uint64_t row = ny_hash64(round, NY_STREAM_DATA, i) % N;

            assert_memory_equal(ny_held_row(&held, row), cloud.x + row * 3, 3 * sizeof(double));
        }
        ny_held_release(&held);
    }
    cloud_free(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routing_takes_no_more_than_is_forecast),
        cmocka_unit_test(every_row_is_in_a_leaf),
        cmocka_unit_test(recall_is_what_is_told),
        cmocka_unit_test(a_leaf_of_all_rows_finds_all_neighbours),
        cmocka_unit_test(planes_are_chosen_by_their_spread),
        cmocka_unit_test(rounds_find_what_a_tree_has_missed),
        cmocka_unit_test(rows_without_candidates_meet_all),
        cmocka_unit_test(bytes_are_the_same_by_any_way),
        cmocka_unit_test(lists_do_not_depend_on_the_order),
        cmocka_unit_test(held_rows_are_those_wanted),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
