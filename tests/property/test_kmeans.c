/* evaluate/kmeans.h against Lloyd's iterations by plain loops from the same initial centres, for
 * rows in memory or not, and any number of threads. */
#include "support/context.h"

#include "base/random.h"
#include "evaluate/kmeans.h"

static void near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within)) fail_msg("%.17g is not %.17g", value, wanted);
}

struct cloud_case {
    uint64_t n;
    size_t p, groups;
    double offset, scale; /* of all rows */
    bool repeated;        /* only `groups` rows differ */
};

/* Groups around hashed centres. */
static int read_case(void *arg, uint64_t first, size_t count, float *out)
{
    const struct cloud_case *of = arg;

    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < of->p; c++) {
            uint64_t row = first + i, group = row % of->groups;
            double centre = ny_hash01(1, NY_STREAM_DATA, group * 1000 + c);
            double noise = ny_hash01(2, NY_STREAM_DATA, row * 1000 + c) - 0.5;

            if (of->repeated) noise = 0;
            out[i * of->p + c] = (float)(of->offset + of->scale * (centre + 0.3 * noise));
        }
    return NY_OK;
}

/* Returns the rows in double, as the measures see them. */
static double *rows_of(struct ny_cloud *cloud)
{
    size_t values = (size_t)cloud->n * cloud->p;
    uint64_t *list = lend_zeros(cloud->n * sizeof(*list));
    float *narrow = lend(values * sizeof(*narrow));
    double *y = lend(values * sizeof(*y));

    for (uint64_t i = 0; i < cloud->n; i++)
        list[i] = i;
    assert_int_equal(ny_cloud_gather(cloud, list, (size_t)cloud->n, narrow), NY_OK);
    for (size_t i = 0; i < values; i++)
        y[i] = (double)narrow[i];
    return y;
}

/* One iteration: centres become means; returns Σ‖y − mean‖², *moved = Σ‖c − c before‖². */
static double lloyd(const struct ny_cloud *cloud, const double *y, size_t k, double *centres,
                    double *moved)
{
    size_t p = cloud->p, n = (size_t)cloud->n;
    double *sums = lend_zeros(k * (p + 1) * sizeof(*sums)), inertia = 0;
    size_t *of = lend(n * sizeof(*of));

    for (size_t i = 0; i < n; i++) {
        double least = INFINITY;

        for (size_t j = 0; j < k; j++) {
            double distance = 0;

            for (size_t c = 0; c < p; c++)
                distance += pow(y[i * p + c] - centres[j * p + c], 2);
            if (distance < least) {
                least = distance;
                of[i] = j;
            }
        }
        for (size_t c = 0; c < p; c++)
            sums[of[i] * (p + 1) + c] += y[i * p + c];
        sums[of[i] * (p + 1) + p]++;
    }
    *moved = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t c = 0; c < p && sums[j * (p + 1) + p] > 0; c++) {
            double mean = sums[j * (p + 1) + c] / sums[j * (p + 1) + p];

            *moved += pow(mean - centres[j * p + c], 2);
            centres[j * p + c] = mean;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < p; c++)
            inertia += pow(y[i * p + c] - centres[of[i] * p + c], 2);
    return inertia;
}

/* With this seed no row is so nearly as far from two centres that f32 and f64 tell different ones. */
static void against_loops(const struct cloud_case *of, size_t k, bool hold)
{
    struct ny_cloud_reader reader = {read_case, (void *)of, of->n, of->p};
    struct ny_cloud cloud;
    struct ny_kmeans how = {.ctx = ctx, .cloud = &cloud, .k = k, .inits = 3, .workers = 2,
                            .iterations = 300, .tolerance = 1e-4, .seed = 7};
    struct ny_centres found = {0};
    size_t count = how.inits * k * of->p;
    float *first = lend(count * sizeof(*first));
    double *y, *centres = lend(count * sizeof(*centres));

    assert_int_equal(ny_cloud_open(&cloud, ctx, &reader, 2, hold), NY_OK);
    y = rows_of(&cloud);
    assert_int_equal(ny_kmeans_seed(&how, first), NY_OK);
    assert_int_equal(ny_kmeans_run(&how, &found), NY_OK);
    for (size_t i = 0; i < count; i++)
        centres[i] = (double)first[i];
    for (size_t r = 0; r < how.inits; r++) {
        double moved = 0, inertia = 0;
        uint32_t *cluster = lend(of->n * sizeof(*cluster));

        for (unsigned step = 0; step < found.steps[r]; step++) {
            if (step > 0) assert_true(moved > how.tolerance * cloud.squares / (double)(of->n * of->p));
            inertia = lloyd(&cloud, y, k, centres + r * k * of->p, &moved);
        }
        assert_true(moved <= 1.01 * how.tolerance * cloud.squares / (double)(of->n * of->p));
        near(found.inertia[r], inertia, 1e-5 * cloud.squares);
        for (size_t i = 0; i < k * of->p; i++)
            near(found.at[r * k * of->p + i], centres[r * k * of->p + i], 1e-4);
        /* each row is in the cluster whose centre is nearest, to what f32 can tell */
        CHECK(ny_kmeans_assign(&how, found.at + r * k * of->p, cluster, NULL));
        for (uint64_t i = 0; i < of->n; i++)
            for (size_t j = 0; j < k; j++) {
                double own = 0, other = 0;

                for (size_t c = 0; c < of->p; c++) {
                    const float *at = found.at + r * k * of->p;

                    own += pow(y[i * of->p + c] - (double)at[cluster[i] * of->p + c], 2);
                    other += pow(y[i * of->p + c] - (double)at[j * of->p + c], 2);
                }
                assert_true(own <= other + 1e-5);
            }
    }
    ny_centres_release(&found);
    ny_cloud_close(&cloud);
}

TEST(as_lloyd)
{
    const struct cloud_case small = {700, 3, 4, 0, 1, false}, wide = {5000, 37, 11, 0, 1, false};
    const struct cloud_case offset = {3000, 2, 5, 300, 1, false};
    const struct cloud_case huge = {3000, 5, 6, 0, 1e30, false}, tiny = {3000, 5, 6, 0, 1e-30, false};

    against_loops(&small, 4, true);
    against_loops(&small, 7, false);
    against_loops(&wide, 10, true);
    against_loops(&wide, 300, false); /* more centres than one product takes */
    against_loops(&offset, 5, true);
    against_loops(&huge, 6, true);
    against_loops(&tiny, 6, false);
}

/* Assignments and inertia of each initialisation, as bytes. */
static void run(const struct cloud_case *of, unsigned threads, bool hold, uint32_t *cluster,
                double *inertia)
{
    struct ny_cloud_reader reader = {read_case, (void *)of, of->n, of->p};
    struct ny_cloud cloud;
    struct ny_kmeans how = {.ctx = ctx, .cloud = &cloud, .k = 8, .inits = 4, .workers = threads,
                            .iterations = 300, .tolerance = 1e-4};
    struct ny_centres found = {0};

    ny_context_set_threads(ctx, threads);
    assert_int_equal(ny_cloud_open(&cloud, ctx, &reader, threads, hold), NY_OK);
    assert_int_equal(ny_kmeans_run(&how, &found), NY_OK);
    memcpy(inertia, found.inertia, how.inits * sizeof(*inertia));
    assert_int_equal(ny_kmeans_assign(&how, found.at, cluster, NULL), NY_OK);
    ny_centres_release(&found);
    ny_cloud_close(&cloud);
    ny_context_set_threads(ctx, 0);
}

TEST(same_bytes_any_way)
{
    const struct cloud_case of = {150001, 6, 9, 10, 1, false}; /* several pieces, units and threads */
    uint32_t *cluster = lend(of.n * sizeof(*cluster)), *other = lend(of.n * sizeof(*other));
    double inertia[4], other_inertia[4];

    run(&of, 1, true, cluster, inertia);
    for (unsigned threads = 1; threads <= 4; threads++)
        for (int hold = 0; hold < 2; hold++) {
            run(&of, threads, hold, other, other_inertia);
            assert_memory_equal(inertia, other_inertia, sizeof(inertia));
            assert_memory_equal(cluster, other, of.n * sizeof(*cluster));
        }
}

struct counted {
    struct cloud_case of;
    uint64_t rows; /* that were asked for */
};

static int count_rows(void *arg, uint64_t first, size_t count, float *out)
{
    struct counted *counted = arg;

    counted->rows += count;
    return read_case(&counted->of, first, count, out);
}

/* Clusters of all rows by two centres. */
static void assign(struct ny_cloud *cloud, uint32_t *cluster)
{
    const float centres[] = {0.2f, 0.1f, -0.1f, -0.2f};
    const struct ny_kmeans how = {.ctx = ctx, .cloud = cloud, .k = 2, .inits = 1, .workers = 2};

    assert_int_equal(ny_kmeans_assign(&how, centres, cluster, NULL), NY_OK);
}

/* Rows that are gathered one list after another are read once, and a pass may follow. */
TEST(gathered_rows_are_read_once)
{
    enum { N = 600001, P = 2, ROWS = 10000 };
    struct counted counted = {{N, P, 5, 0, 1, false}, 0};
    struct ny_cloud_reader reader = {count_rows, &counted, N, P};
    uint32_t *cluster = lend(N * sizeof(*cluster)), *other = lend(N * sizeof(*other));
    struct ny_cloud cloud, held;
    static uint64_t list[ROWS];
    static float y[ROWS * P];

    assert_int_equal(ny_cloud_open(&held, ctx, &reader, 2, true), NY_OK);
    assert_int_equal(ny_cloud_open(&cloud, ctx, &reader, 2, false), NY_OK);
    counted.rows = 0;
    for (uint64_t first = 0; first < N; first += ROWS) {
        size_t count = N - first < ROWS ? (size_t)(N - first) : ROWS;

        for (size_t i = 0; i < count; i++)
            list[i] = first + i;
        assert_int_equal(ny_cloud_gather(&cloud, list, count, y), NY_OK);
        assert_memory_equal(y, held.held + first * P, count * P * sizeof(*y));
    }
    assert_int_equal(counted.rows, N);
    list[0] = 12345; /* in the middle of a unit */
    assert_int_equal(ny_cloud_gather(&cloud, list, 1, y), NY_OK);
    assign(&cloud, cluster);
    assign(&held, other);
    assert_memory_equal(cluster, other, N * sizeof(*cluster));
    ny_cloud_close(&cloud);
    ny_cloud_close(&held);
}

/* With fewer different rows than clusters, each row is one, and the other clusters are empty. */
TEST(repeated_rows)
{
    const struct cloud_case of = {1000, 4, 3, 0, 1, true};
    uint32_t cluster[1000];
    double inertia[4];

    run(&of, 2, true, cluster, inertia);
    for (size_t i = 0; i < 1000; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(cluster[i] == cluster[j], i % 3 == j % 3);
    for (size_t r = 0; r < 4; r++)
        assert_true(inertia[r] < 1e-5);
}

static int broken(void *arg, uint64_t first, size_t count, float *out)
{
    int err = read_case(arg, first, count, out);

    if (first <= 4321 && 4321 < first + count) out[(4321 - first) * 2 + 1] = NAN;
    return err;
}

TEST(not_finite)
{
    const struct cloud_case of = {5000, 2, 3, 0, 1, false};
    struct ny_cloud_reader reader = {broken, (void *)&of, of.n, of.p};
    struct ny_cloud cloud;

    assert_int_equal(ny_cloud_open(&cloud, ctx, &reader, 2, true), NY_ENUMERIC);
    assert_non_null(strstr(ny_context_message(ctx), "row 4321"));
    ny_cloud_close(&cloud);
    ny_error_clear(ctx);
}

AROUND_ALL(start, stop)
