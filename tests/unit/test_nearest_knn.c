/* nearest/knn.h and graph/components.h against double loops over all pairs of points. */
#include "unit/cloud_case.h"

#include "columns/kernels.h"
#include "columns/pairs.h"
#include "graph/components.h"
#include "nearest/knn.h"

enum { WORKERS = 2 };

struct found {
    double distance;
    size_t row;
};

static int by_distance(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* The lists of all rows, in ranges of so many panels, of points that are read or held. */
static void run_knn(const struct cloud *cloud, size_t t, uint64_t panels, unsigned workers,
                    const struct ny_held *held, struct ny_measured *out)
{
    struct ny_knn knn = {.spec = &cloud->spec,
                         .X = ny_store_rows(cloud->store),
                         .held = held,
                         .n = cloud->n,
                         .neighbors = t,
                         .workers = workers};
    struct ny_measured part = *out;

    out->again = 0;
    for (uint64_t first = 0; first < cloud->n; first += panels * NY_UNIT_ROWS) {
        size_t rows = cloud->n - first < panels * NY_UNIT_ROWS ? (size_t)(cloud->n - first)
                                                               : panels * NY_UNIT_ROWS;
        struct ny_neighbors lists;

        assert_int_equal(ny_neighbors_new(&lists, ctx, first, rows, ny_knn_width(&knn)), NY_OK);
        CHECK(ny_knn_pass(&knn, &lists, 0, NULL, NULL));
        for (size_t i = 0; i < rows; i += NY_MEASURE_ROWS) {
            size_t count = rows - i < NY_MEASURE_ROWS ? rows - i : NY_MEASURE_ROWS;

            part.row = out->row + (first + i) * t;
            part.distance = out->distance + (first + i) * t;
            part.again = 0;
            CHECK(ny_knn_measure(&knn, &lists, first + i, count, &part));
            out->again += part.again;
        }
        ny_neighbors_release(&lists);
    }
}

static struct ny_measured lists_new(size_t n, size_t t)
{
    return (struct ny_measured){lend(n * t * sizeof(uint32_t)), lend(n * t * sizeof(double)), 0};
}

static void check_same(const struct ny_measured *a, const struct ny_measured *b, size_t count)
{
    assert_memory_equal(a->row, b->row, count * sizeof(uint32_t));
    assert_memory_equal(a->distance, b->distance, count * sizeof(double));
}

static void check_knn(enum kind kind, enum ny_dtype dtype, size_t n, size_t d, size_t t,
                      const struct ny_kernel *metric)
{
    OWNED(cloud) cloud = cloud_of(kind, dtype, n, d, metric);
    struct ny_measured got = lists_new(n, t), read = lists_new(n, t);
    struct found *all = lend(n * sizeof(*all));
    struct ny_held held;

    CHECK(ny_held_new(&held, ny_store_rows(cloud.store), &cloud.spec, n, n, WORKERS));
    run_knn(&cloud, t, 99, WORKERS, NULL, &read);
    run_knn(&cloud, t, 99, WORKERS, &held, &got);
    check_same(&read, &got, n * t);
    ny_held_release(&held);
    for (size_t i = 0; i < n; i += i % NY_UNIT_ROWS < 3 ? 1 : 61) {
        size_t count = 0;

        for (size_t j = 0; j < n; j++)
            if (j != i) all[count++] = (struct found){plain_distance(&cloud, i, j), j};
        qsort(all, count, sizeof(*all), by_distance);
        for (size_t k = 0; k < t; k++) {
            double distance = got.distance[i * t + k], want = all[k].distance;

            if (!(fabs(distance - want) <= 1e-9 * (1e-3 + want)))
                fail_msg("row %zu, neighbour %zu: distance %.17g, not %.17g", i, k, distance, want);
            /* Whole numbers are compared exactly; else two that differ by rounding may change
             * places. */
            if (dtype == NY_U8 || dtype == NY_I16 ||
                (k + 1 < count && all[k + 1].distance - want > 1e-9 &&
                 (k == 0 || want - all[k - 1].distance > 1e-9)))
                assert_int_equal(got.row[i * t + k], all[k].row);
        }
    }
}

TEST(neighbours_are_those_of_all_pairs)
{
    const struct ny_kernel *euclid = &ny_kernel_euclidean;

    check_knn(SCATTERED, NY_U8, 4500, 40, 5, euclid); /* bytes */
    check_knn(SCATTERED, NY_U8, 2048, 300, 6, euclid);
    check_knn(SCATTERED, NY_I16, 3000, 20, 4, euclid);
    check_knn(SCATTERED, NY_F32, 4500, 3, 5, euclid); /* direct */
    check_knn(SCATTERED, NY_F32, 3000, 50, 10, euclid);
    check_knn(SCATTERED, NY_F64, 3000, 17, 1, euclid);
    check_knn(SCATTERED, NY_F32, 3000, 30, 5, &ny_kernel_angular);
    check_knn(SCATTERED, NY_F32, 20, 4, 19, euclid);
    check_knn(SCATTERED, NY_F32, 2, 4, 1, euclid);
}

TEST(equal_distances_go_by_row_number)
{
    check_knn(GRID, NY_U8, 3000, 3, 7, &ny_kernel_euclidean);
    check_knn(GRID, NY_U8, 2500, 12, 7, &ny_kernel_euclidean);
    check_knn(REPEATED, NY_U8, 2500, 40, 9, &ny_kernel_euclidean);
    check_knn(REPEATED, NY_F32, 2500, 40, 9, &ny_kernel_euclidean);
}

TEST(far_from_the_origin_digits_are_kept)
{
    check_knn(OFFSET, NY_F32, 2500, 3, 5, &ny_kernel_euclidean);
    check_knn(OFFSET, NY_F32, 2500, 40, 5, &ny_kernel_euclidean);
    check_knn(OFFSET, NY_F32, 2500, 40, 5, &ny_kernel_angular);
    check_knn(APART, NY_F32, 2500, 40, 5, &ny_kernel_euclidean);
}

TEST(ranges_and_workers_change_nothing)
{
    enum { N = 7000, T = 5 };
    struct ny_measured a = lists_new(N, T), b = lists_new(N, T);
    OWNED(cloud) cloud = cloud_of(GRID, NY_U8, N, 10, &ny_kernel_euclidean);

    run_knn(&cloud, T, 99, 1, NULL, &a);
    for (uint64_t panels = 1; panels < 4; panels++) {
        run_knn(&cloud, T, panels, 3, NULL, &b);
        check_same(&a, &b, N * T);
    }
}

/* Values that are beyond f32 enter no list: one that has room left has not seen all rows. */
TEST(lists_with_room_prove_nothing)
{
    enum { N = 500, T = 2 };
    struct ny_measured want = lists_new(N, T), got = lists_new(N, T);
    struct ny_neighbors lists;
    OWNED(cloud) cloud = cloud_of(SCATTERED, NY_F32, N, 5, &ny_kernel_euclidean);
    struct ny_knn knn;

    run_knn(&cloud, T, 99, 1, NULL, &want);
    knn = (struct ny_knn){
        .spec = &cloud.spec, .X = ny_store_rows(cloud.store), .n = N, .neighbors = T, .workers = 1};
    assert_int_equal(ny_neighbors_new(&lists, ctx, 0, N, ny_knn_width(&knn)), NY_OK);
    for (size_t i = 0; i < N; i++)
        for (uint64_t k = 1; k <= T; k++)
            ny_neighbors_insert(&lists, i, 1e30f, (i + 100 * k) % N);
    assert_int_equal(ny_knn_measure(&knn, &lists, 0, N, &got), NY_OK);
    check_same(&want, &got, (size_t)N * T);
    ny_neighbors_release(&lists);
}

/* ---- graphs --------------------------------------------------------------------------------- */

enum { NODES = 300, STORED = 4 };

static uint32_t rows[NODES * STORED], degree[NODES];
static float distances[NODES * STORED];
static bool edge[NODES][NODES];
static int of[NODES]; /* the smallest node of each one's component */

/* Lists that name no node twice; distances are those of pairs, but that of one in ten is the limit,
 * and beyond it for one of the two, as rounding may have it. */
static struct ny_lists random_lists(unsigned round)
{
    for (size_t i = 0; i < NODES; i++)
        for (size_t k = 0; k < STORED; k++) {
            uint64_t j = ny_hash64(round, NY_STREAM_DATA, i * STORED + k) % (NODES / STORED - 1);
            uint32_t place = (uint32_t)((i + 1 + j * STORED + k) % NODES);
            uint64_t low = i < place ? i : place, high = i < place ? place : i;

            rows[i * STORED + k] = round == 7 && k ? NY_NO_ROW : place;
            distances[i * STORED + k] =
                (float)ny_hash01(round + 100, NY_STREAM_DATA, low * NODES + high);
            if (distances[i * STORED + k] > 0.9f)
                distances[i * STORED + k] = (i < place) == (low % 2) ? 0.7f : nextafterf(0.7f, 1);
        }
    return (struct ny_lists){.n = NODES,
                             .stored = STORED,
                             .t = 1 + round % STORED,
                             .row = rows,
                             .distance = round % 3 ? distances : NULL,
                             .limit = 0.7,
                             .mutual = round % 2};
}

/* The matrix of all pairs; how many there are. */
static uint64_t fill_matrix(const struct ny_lists *lists)
{
    uint64_t edges = 0;

    memset(edge, 0, sizeof(edge));
    for (size_t i = 0; i < NODES; i++)
        for (size_t k = 0; k < lists->t; k++) {
            uint32_t j = rows[i * STORED + k];
            bool back = false;

            if (j == NY_NO_ROW || (lists->distance && distances[i * STORED + k] > 0.7f)) continue;
            for (size_t l = 0; l < lists->t; l++)
                back = back || rows[j * STORED + l] == i;
            if (!lists->mutual || back) edge[i][j] = edge[j][i] = true;
        }
    for (size_t i = 0; i < NODES; i++)
        for (size_t j = 0; j < i; j++)
            edges += edge[i][j];
    return edges;
}

static void spread(void)
{
    bool moved = true;

    for (size_t i = 0; i < NODES; i++)
        of[i] = (int)i;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < NODES; i++)
            for (size_t j = 0; j < NODES; j++)
                if (edge[i][j] && of[j] < of[i]) {
                    of[i] = of[j];
                    moved = true;
                }
    }
}

static void check_components(const struct ny_components *components)
{
    uint64_t sizes[NODES] = {0}, count = 0, largest = 0;

    for (size_t i = 0; i < NODES; i++)
        count += sizes[of[i]]++ == 0;
    for (size_t i = 0; i < NODES; i++)
        if (sizes[i] > largest) largest = sizes[i];
    assert_int_equal(components->count, count);
    assert_int_equal(components->largest, largest);
    for (size_t i = 0; i < NODES; i++)
        for (size_t j = 0; j < NODES; j++) {
            uint64_t size_i = sizes[of[i]], size_j = sizes[of[j]];

            assert_int_equal(components->of[i] == components->of[j], of[i] == of[j]);
            if (size_i > size_j || (size_i == size_j && of[i] < of[j]))
                assert_true(components->of[i] < components->of[j]);
        }
}

TEST(components_are_those_of_the_matrix)
{
    for (unsigned round = 0; round < 40; round++) {
        struct ny_lists lists = random_lists(round);
        struct ny_components components;

        assert_int_equal(ny_lists_degrees(&lists, degree), fill_matrix(&lists));
        for (size_t i = 0; i < NODES; i++) {
            uint32_t want = 0;

            for (size_t j = 0; j < NODES; j++)
                want += edge[i][j];
            assert_int_equal(degree[i], want);
        }
        spread();
        assert_int_equal(ny_components_find(&components, ctx, &lists), NY_OK);
        check_components(&components);
        ny_components_release(&components);
    }
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

TEST(quantiles_are_interpolated)
{
    float values[50], sorted[50];

    for (size_t count = 1; count <= 50; count++)
        for (unsigned draw = 0; draw < 20; draw++) {
            double q = draw ? ny_hash01(draw, NY_STREAM_DATA, count) : 1, place, below;

            for (size_t i = 0; i < count; i++)
                values[i] = (float)(ny_hash64(draw, NY_STREAM_DATA, i) % 20);
            memcpy(sorted, values, sizeof(sorted));
            qsort(sorted, count, sizeof(float), ascending);
            place = q * (double)(count - 1);
            below = floor(place);
            double low = sorted[(size_t)below];
            double high = sorted[(size_t)below + 1 < count ? (size_t)below + 1 : (size_t)below];
            assert_true(fabs(ny_quantile(values, count, q) -
                             (low + (place - below) * (high - low))) < 1e-12);
        }
}

AROUND_ALL(start, stop)
