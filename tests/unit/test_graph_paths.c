/* graph/edges.h, graph/buckets.h, graph/paths.h and graph/sweep.h against a textbook Dijkstra on
 * the lists themselves. */
#include "support/context.h"

#include "base/random.h"
#include "graph/buckets.h"
#include "graph/sweep.h"

enum { STORED = 6 };

/* Points in a square with their nearest ones by brute force; or neighbours drawn anywhere. */
enum kind { SURFACE, SMALL_WORLD, ISLANDS };

struct cloud {
    uint32_t *row;
    float *distance;
    struct ny_lists lists;
};

static void place(enum kind kind, size_t i, double x[2])
{
    x[0] = ny_hash01(1, NY_STREAM_DATA, 2 * i);
    x[1] = ny_hash01(1, NY_STREAM_DATA, 2 * i + 1);
    if (kind == ISLANDS) x[0] += 10 * (double)(i % 3);
}

static void cloud_new(struct cloud *cloud, enum kind kind, size_t n, size_t t)
{
    cloud->row = lend(n * STORED * sizeof(uint32_t));
    cloud->distance = lend(n * STORED * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        double x[2], y[2];

        place(kind, i, x);
        for (size_t k = 0; k < STORED; k++) {
            double best = INFINITY;
            size_t at = 0;

            if (kind == SMALL_WORLD) {
                at = (i + 1 + ny_hash64(2, NY_STREAM_DATA, i) % (n / 8) * STORED + k) % n;
                best = ny_hash01(3, NY_STREAM_DATA, i < at ? i * n + at : at * n + i);
            }
            for (size_t j = 0; j < n && kind != SMALL_WORLD; j++) {
                double d;
                bool there = j == i;

                for (size_t l = 0; l < k; l++)
                    there = there || cloud->row[i * STORED + l] == j;
                if (there) continue;
                place(kind, j, y);
                d = hypot(x[0] - y[0], x[1] - y[1]);
                if (d < best) at = j;
                if (d < best) best = d;
            }
            cloud->row[i * STORED + k] = (uint32_t)at;
            cloud->distance[i * STORED + k] = (float)best;
        }
    }
    cloud->lists = (struct ny_lists){.n = n,
                                     .stored = STORED,
                                     .t = t,
                                     .row = cloud->row,
                                     .distance = cloud->distance,
                                     .limit = INFINITY};
}

/* O(n²), in float as the paths are: the nearest unsettled point is settled. */
static void dijkstra(const struct ny_lists *lists, uint32_t source, float *distance)
{
    bool *settled = lend_zeros(lists->n * sizeof(bool));

    for (size_t i = 0; i < lists->n; i++)
        distance[i] = INFINITY;
    distance[source] = 0;
    for (;;) {
        size_t nearest = SIZE_MAX;

        for (size_t i = 0; i < lists->n; i++)
            if (!settled[i] && distance[i] < INFINITY &&
                (nearest == SIZE_MAX || distance[i] < distance[nearest]))
                nearest = i;
        if (nearest == SIZE_MAX) break;
        settled[nearest] = true;
        for (size_t i = 0; i < lists->n; i++)
            for (size_t k = 0; k < lists->t; k++) {
                size_t j = lists->row[i * lists->stored + k];
                float length = lists->distance[i * lists->stored + k];

                if (i == nearest && distance[i] + length < distance[j])
                    distance[j] = distance[i] + length;
                if (j == nearest && distance[j] + length < distance[i])
                    distance[i] = distance[j] + length;
            }
    }
}

static void check_graph(const struct ny_lists *lists, const struct ny_components *components,
                        const struct ny_edges *graph, uint32_t component)
{
    uint32_t *degree = lend_zeros(lists->n * sizeof(uint32_t));
    uint32_t nodes = 0;

    ny_lists_degrees(lists, degree);
    for (size_t i = 0; i < lists->n; i++) {
        uint32_t v = graph->node[i];

        assert_int_equal(v != NY_NO_ROW, components->of[i] == component);
        if (v == NY_NO_ROW) continue;
        nodes++;
        assert_int_equal(graph->row[v], i);
        assert_int_equal(graph->head[v + 1] - graph->head[v], degree[i]);
        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
            size_t j = graph->row[graph->target[e]];
            bool listed = false;

            for (size_t k = 0; k < lists->t; k++) {
                if (lists->row[i * STORED + k] == j)
                    listed = graph->length[e] == lists->distance[i * STORED + k];
                if (lists->row[j * STORED + k] == i)
                    listed = graph->length[e] == lists->distance[j * STORED + k];
                if (listed) break;
            }
            assert_true(listed);
        }
    }
    assert_int_equal(nodes, graph->n);
}

struct collected {
    const struct ny_edges *graph;
    const uint32_t *sources;
    float *distance; /* sources × n points */
    uint64_t n;
    size_t seen;
};

static int collect(void *arg, const struct ny_swept *batch)
{
    struct collected *all = arg;

    assert_int_equal(batch->first, all->seen); /* in order */
    for (size_t l = 0; l < batch->count; l++)
        for (uint32_t v = 0; v < all->graph->n; v++)
            all->distance[(batch->first + l) * all->n + all->graph->row[v]] =
                batch->distances[(size_t)v * batch->lanes + l];
    all->seen += batch->count;
    return NY_OK;
}

/* Each source alone: in a batch of one, and by buckets. */
static void check_alone(const struct ny_edges *graph, const uint32_t *sources, size_t count,
                        const struct collected *all)
{
    const struct ny_edges planned = ny_edges_planned(graph->n, ny_edges_count(graph), NULL);
    struct ny_layout l = {.ctx = ctx}, counted = {0};
    float *near = lend(graph->n * sizeof(float));
    const struct ny_reach reach = {.distance = near, .stride = 1};
    size_t before = ny_memory_used(ctx);
    struct ny_buckets *buckets = ny_buckets_lay(&l, graph);
    struct ny_paths *paths = ny_paths_lay(&l, graph, NY_LANES);
    const float *got;

    ny_buckets_lay(&counted, &planned);
    ny_paths_lay(&counted, &planned, NY_LANES);
    assert_int_equal(l.err, NY_OK);
    assert_true(ny_memory_used(ctx) - before <= ny_layout_most(&counted));
    for (size_t i = 0; i < count; i++) {
        for (uint32_t v = 0; v < graph->n; v++)
            near[v] = INFINITY;
        assert_int_equal(ny_buckets_run(buckets, &reach, sources[i]), NY_OK);
        assert_int_equal(ny_paths_from(paths, sources + i, 1, &got), NY_OK);
        for (uint32_t v = 0; v < graph->n; v++) {
            assert_true(near[v] == all->distance[i * all->n + graph->row[v]]);
            assert_true(got[(size_t)v * NY_LANES] == near[v]);
            assert_true(isinf(got[(size_t)v * NY_LANES + 1]));
        }
    }
    ny_context_interrupt(ctx, 2);
    if (graph->n >= NY_PATCH_NODES)
        assert_int_equal(ny_paths_from(paths, sources, 1, &got), NY_EINTERRUPTED);
    ny_context_interrupt(ctx, 0);
    ny_error_clear(ctx);
    ny_layout_free(&l);
}

static int count_sources(void *arg, uint64_t sources)
{
    uint64_t *done = arg;

    assert_true(sources > *done);
    *done = sources;
    return NY_OK;
}

static int count_batch(void *arg, const struct ny_swept *batch)
{
    assert_int_equal(batch->first, *(uint64_t *)arg); /* each batch is followed by a checkpoint */
    return NY_OK;
}

/* A sweep goes on with any source, whatever the lanes were when it was interrupted. */
static void check_rest(const struct ny_sweep *sweep, struct collected *all)
{
    struct ny_sweep rest = *sweep;
    uint64_t done = sweep->count / 2;

    rest.first = all->seen = sweep->count / 2;
    rest.lanes = NY_FEW_LANES;
    assert_int_equal(ny_sweep_run(&rest), NY_OK);
    assert_int_equal(all->seen, sweep->count);
    rest.fold = count_batch;
    rest.checkpoint = count_sources;
    rest.arg = &done;
    ny_context_set_checkpoint(ctx, 0);
    assert_int_equal(ny_sweep_run(&rest), NY_OK);
    assert_int_equal(done, sweep->count);
}

static void check_paths(enum kind kind, size_t n, size_t t, size_t count)
{
    struct cloud cloud;
    struct ny_components components;
    struct ny_edges graph;
    struct ny_sweep sweep;
    uint32_t *sources = lend(count * sizeof(uint32_t));
    const size_t lanes[] = {1, NY_FEW_LANES, NY_HALF_LANES, NY_LANES};
    float *want = lend(count * n * sizeof(float));
    struct collected all = {&graph, sources, lend(count * n * sizeof(float)), n, 0};
    uint32_t component = 0;

    cloud_new(&cloud, kind, n, t);
    assert_int_equal(ny_components_find(&components, ctx, &cloud.lists), NY_OK);
    if (kind == ISLANDS) assert_true(components.count > 2);
    component = kind == ISLANDS ? 1 : 0;
    assert_int_equal(ny_edges_new(&graph, ctx, &cloud.lists, &components, component), NY_OK);
    check_graph(&cloud.lists, &components, &graph, component);
    for (size_t i = 0; i < count; i++)
        sources[i] = (uint32_t)(ny_hash64(5, NY_STREAM_DATA, i) % graph.n);
    for (size_t i = 0; i < count; i++)
        dijkstra(&cloud.lists, graph.row[sources[i]], want + i * n);
    for (size_t k = 0; k < sizeof(lanes) / sizeof(lanes[0]); k++) {
        all.seen = 0;
        sweep = (struct ny_sweep){.graph = &graph,
                                  .sources = sources,
                                  .count = count,
                                  .stage = "test",
                                  .workers = 2,
                                  .lanes = lanes[k],
                                  .fold = collect,
                                  .arg = &all};
        assert_int_equal(ny_sweep_run(&sweep), NY_OK);
        assert_int_equal(all.seen, count);
        for (size_t i = 0; i < count; i++)
            for (uint32_t v = 0; v < graph.n; v++)
                assert_true(all.distance[i * n + graph.row[v]] == want[i * n + graph.row[v]]);
    }
    check_rest(&sweep, &all);
    check_alone(&graph, sources, count, &all);
    ny_edges_release(&graph);
    ny_components_release(&components);
}

TEST(paths_are_dijkstras)
{
    check_paths(SURFACE, 3000, 6, 5);
    check_paths(SURFACE, 1500, 3, 40);
    check_paths(SMALL_WORLD, 1500, 4, 40);
    check_paths(SMALL_WORLD, 2500, 4, 5);
    check_paths(ISLANDS, 1200, 5, 3);
    check_paths(SURFACE, 10, 6, 1);
}

AROUND_ALL(start, stop)
