/* Tests graph --connect against Kruskal's minimum spanning tree of all pairs of components. */
#include "support/folder.h"

#include "base/random.h"
#include "graph/components.h"
#include "support/files.h"
#include "support/options.h"

/* Heaps of very different sizes; the largest one is not the first. */
enum { N = 700, DIMS = 4, HEAPS = 23 };

static float points[N][DIMS];
static char store[160];

static double distance(size_t i, size_t j)
{
    double sum = 0;

    for (size_t k = 0; k < DIMS; k++)
        sum += pow((double)points[i][k] - (double)points[j][k], 2);
    return sqrt(sum);
}

static void make_points(void)
{
    new_folder();
    snprintf(store, sizeof(store), "%s/s.nys", directory);
    for (size_t i = 0; i < N; i++) {
        double u = ny_hash01(5, NY_STREAM_DATA, i);
        size_t heap = (size_t)(HEAPS * u * u);
        double step[DIMS];

        ny_gaussian(6, NY_STREAM_DATA, i * DIMS, step, DIMS);
        for (size_t k = 0; k < DIMS; k++)
            points[i][k] =
                (float)(100 * ny_hash01(7, NY_STREAM_DATA, (HEAPS - heap) * DIMS + k) + step[k]);
    }
    assert_int_equal(ny_append_rows(ctx, store, points[0], N, DIMS, NULL), NY_OK);
}

struct pair {
    double length;
    uint32_t from, to;
};

static int by_length(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->length > y->length) - (x->length < y->length);
}

static size_t root(const size_t *of, size_t i)
{
    while (of[i] != i)
        i = of[i];
    return i;
}

/* Takes, of all pairs in order of length, those that join two components, after all the graph's
 * edges. */
static size_t kruskal(size_t components, double limit, struct pair *tree)
{
    static struct pair pairs[N * (N - 1) / 2];
    size_t of[N], count = 0, joins = 0, trees = N;

    for (size_t i = 0; i < N; i++)
        of[i] = i;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = i + 1; j < N; j++)
            pairs[count++] = (struct pair){distance(i, j), i, j};
    qsort(pairs, count, sizeof(*pairs), by_length);
    for (size_t k = 0; k < count; k++) {
        size_t a = root(of, pairs[k].from), b = root(of, pairs[k].to);

        if (a == b) continue;
        of[b] = a;
        if (pairs[k].length <= limit)
            trees--;
        else
            tree[joins++] = pairs[k];
    }
    assert_int_equal(trees, components);
    return joins;
}

static uint64_t number_of(struct ny_report *report, const char *key)
{
    const char *at = strstr(ny_report_json(report), key);

    assert_non_null(at);
    return strtoull(at + strlen(key), NULL, 10);
}

/* Lists long enough to hold whoever is within the limit: the graph is that of the limit alone. */
TEST(bridges_are_a_minimum_spanning_tree)
{
    static const char *const limits[] = {"3", "1.5", "0.6"};
    static const char *const threads[] = {"1", "3", "2"};

    for (size_t l = 0; l < 3; l++) {
        struct pair tree[N];
        struct ny_bridge bridges[N];
        OWNED(ny_options) *options =
            options_with(ctx, "neighbors=200 max-distance=%s restart=yes", limits[l]);
        OWNED(ny_report) *plain = NULL, *joined = NULL;
        OWNED(ny_store) *handle = NULL;
        size_t count;

        ny_context_set_threads(ctx, (unsigned)atoi(threads[l]));
        assert_int_equal(ny_graph(ctx, store, "plain", options, &plain), NY_OK);
        ny_options_set(options, "connect", "yes");
        assert_int_equal(ny_graph(ctx, store, "joined", options, &joined), NY_OK);
        count = kruskal((size_t)number_of(plain, "\"components\": "), atof(limits[l]), tree);
        assert_int_equal(number_of(joined, "\"bridges\": "), count);
        assert_int_equal(number_of(joined, "\"components\": "), 1);
        assert_int_equal(number_of(joined, "\"largest\": "), N);
        assert_int_equal(number_of(joined, "\"edges\": "), number_of(plain, "\"edges\": ") + count);
        assert_int_equal(ny_store_open(&handle, ctx, store), NY_OK);
        CHECK(ny_blob_get(handle, "joined", "bridges", bridges, count * sizeof(*bridges)));
        qsort(bridges, count, sizeof(*bridges), by_length);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(bridges[k].from, tree[k].from);
            assert_int_equal(bridges[k].to, tree[k].to);
            assert_true(fabs(bridges[k].length - tree[k].length) < 1e-9 * tree[k].length);
        }
    }
}

AROUND_ALL(make_points, remove_folder)
