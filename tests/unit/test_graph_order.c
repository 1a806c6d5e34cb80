/* graph/order.h: patches of graphs whose regions are known, and paths over many patches. */
#include "support/context.h"

#include "base/random.h"
#include "graph/batches.h"
#include "graph/buckets.h"
#include "graph/order.h"
#include "graph/paths.h"

/* SIDE² points of a grid in any order; a hub that all others list; a line; neighbours
 * anywhere. */
enum { SIDE = 256, SPOKES = 5000, LINE = 5000, ANYWHERE = 30000, STORED = 6 };

/* Bytes by which all allocations together are rounded up. */
enum { SLACK_BYTES = 4096 };

struct made {
    uint32_t *row, *at; /* lists; of the grid: the place that a point is at, and the reverse */
    float *distance;
    struct ny_lists lists;
    struct ny_components components;
    struct ny_edges graph;
};

static void made_new(struct made *made, size_t n)
{
    made->row = lend(n * STORED * sizeof(uint32_t));
    made->distance = lend(n * STORED * sizeof(float));
    made->at = lend(2 * n * sizeof(uint32_t));
    for (size_t i = 0; i < n * STORED; i++) {
        made->row[i] = NY_NO_ROW;
        made->distance[i] = 1 + (float)ny_hash01(1, NY_STREAM_DATA, i);
    }
    made->lists = (struct ny_lists){.n = n,
                                    .stored = STORED,
                                    .t = STORED,
                                    .row = made->row,
                                    .distance = made->distance,
                                    .limit = INFINITY};
}

static void build(struct made *made)
{
    uint64_t n = made->lists.n, edges;
    struct ny_layout counted = {0};
    struct ny_edges alone, sizes = {.n = (uint32_t)n};
    size_t before;

    assert_int_equal(ny_components_find(&made->components, ctx, &made->lists), NY_OK);
    ny_context_set_threads(ctx, 1);
    assert_int_equal(ny_edges_new(&alone, ctx, &made->lists, &made->components, 0), NY_OK);
    ny_context_set_threads(ctx, 4); /* of more no more take part */
    before = ny_memory_used(ctx);
    ny_memory_peak_reset(ctx);
    assert_int_equal(ny_edges_new(&made->graph, ctx, &made->lists, &made->components, 0), NY_OK);
    assert_int_equal(made->graph.n, n);
    edges = made->graph.head[n] / 2;
    ny_edges_lay(&counted, &sizes, n, edges);
    assert_int_equal(ny_memory_used(ctx) - before, ny_layout_most(&counted));
    ny_edges_making_count(&counted, n);
    assert_int_equal(ny_memory_peak(ctx) - before, ny_layout_most(&counted));
    assert_memory_equal(made->graph.head, alone.head, (n + 1) * sizeof(*alone.head));
    assert_memory_equal(made->graph.target, alone.target, 2 * edges * sizeof(*alone.target));
    assert_memory_equal(made->graph.length, alone.length, 2 * edges * sizeof(*alone.length));
    ny_edges_release(&alone);
}

static void made_free(struct made *made)
{
    ny_edges_release(&made->graph);
    ny_components_release(&made->components);
}

/* Patches are all nodes, one after the other, none too large. */
static void check_patches(const struct ny_edges *graph)
{
    const struct ny_patches *patches = &graph->patches;

    assert_true(patches->count > 0 && patches->count <= ny_patches_most(graph->n));
    assert_int_equal(patches->first[0], 0);
    assert_int_equal(patches->first[patches->count], graph->n);
    for (uint32_t p = 0; p < patches->count; p++) {
        assert_true(patches->first[p] < patches->first[p + 1]);
        assert_true(patches->first[p + 1] - patches->first[p] <= NY_PATCH_NODES);
        for (uint32_t v = patches->first[p]; v < patches->first[p + 1]; v++)
            assert_int_equal(ny_patch_of(patches, v), p);
    }
}

static void grid_new(struct made *grid)
{
    size_t n = SIDE * SIDE;
    uint32_t *place;

    made_new(grid, n);
    place = grid->at + n;
    for (uint32_t i = 0; i < n; i++)
        grid->at[i] = i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = ny_hash64(2, NY_STREAM_DATA, i) % (i + 1);
        uint32_t swap = grid->at[i];

        grid->at[i] = grid->at[j];
        grid->at[j] = swap;
    }
    for (uint32_t i = 0; i < n; i++)
        place[grid->at[i]] = i;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = grid->at[i];

        if (at % SIDE + 1 < SIDE) grid->row[i * STORED] = place[at + 1];
        if (at + SIDE < n) grid->row[i * STORED + 1] = place[at + SIDE];
    }
    build(grid);
}

/* The area of the rectangle around `count` patches from p on, over that of the patches. */
static double spread(const struct made *grid, uint32_t p, uint32_t count)
{
    const struct ny_edges *graph = &grid->graph;
    uint32_t begin = graph->patches.first[p], end = graph->patches.first[p + count];
    uint32_t low[2] = {SIDE, SIDE}, high[2] = {0, 0};

    for (uint32_t v = begin; v < end; v++) {
        uint32_t at = grid->at[graph->row[v]], x[2] = {at % SIDE, at / SIDE};

        for (int k = 0; k < 2; k++) {
            low[k] = x[k] < low[k] ? x[k] : low[k];
            high[k] = x[k] > high[k] ? x[k] : high[k];
        }
    }
    return (double)(high[0] - low[0] + 1) * (high[1] - low[1] + 1) / (end - begin);
}

TEST(stretches_of_a_grid_are_regions)
{
    struct made grid;
    const struct ny_edges *graph = &grid.graph;
    uint32_t count, compact = 0;
    uint64_t inside = 0;

    grid_new(&grid);
    check_patches(graph);
    count = graph->patches.count;
    assert_true(graph->n / count >= NY_PATCH_NODES / 2);
    for (uint32_t v = 0; v < graph->n; v++)
        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++)
            inside += ny_patch_of(&graph->patches, v) ==
                      ny_patch_of(&graph->patches, graph->target[e]);
    assert_true((double)inside >= 0.9 * (double)graph->head[graph->n]);
    for (uint32_t p = 0; p + 8 <= count; p++)
        compact += spread(&grid, p, 8) <= 4;
    assert_true(compact >= 0.8 * (count - 7));
    made_free(&grid);
}

/* The batch together, and each of its sources alone. */
static void check_batch(const struct ny_edges *graph, const uint32_t *source, size_t count)
{
    struct ny_layout own = {.ctx = ctx};
    struct ny_paths *paths = ny_paths_lay(&own, graph, NY_LANES);
    struct ny_buckets *buckets = ny_buckets_lay(&own, graph);
    float *near = lend(graph->n * sizeof(float));
    const struct ny_reach reach = {.distance = near, .stride = 1};
    const float *got;

    assert_int_equal(own.err, NY_OK);
    for (int again = 0; again < 2; again++) /* nothing is left of the first time */
        assert_int_equal(ny_paths_from(paths, source, count, &got), NY_OK);
    for (size_t l = 0; l < count; l++) {
        for (uint32_t v = 0; v < graph->n; v++)
            near[v] = INFINITY;
        assert_int_equal(ny_buckets_run(buckets, &reach, source[l]), NY_OK);
        for (uint32_t v = 0; v < graph->n; v++)
            assert_true(got[(size_t)v * NY_LANES + l] == near[v]);
    }
    for (size_t i = 0; i < (size_t)graph->n * NY_LANES; i++)
        assert_true(i % NY_LANES < count || isinf(got[i]));
    ny_layout_free(&own);
}

/* Sources of one region, and anywhere; all that a batch takes, and fewer. */
TEST(paths_over_patches_are_those_from_each_source)
{
    struct made grid;

    grid_new(&grid);
    for (uint32_t step = 10; step <= 4000; step = step * 5) {
        uint32_t source[NY_LANES];

        for (uint32_t l = 0; l < NY_LANES; l++)
            source[l] = 1000 + l * step;
        check_batch(&grid.graph, source, NY_LANES);
        check_batch(&grid.graph, source, 3);
    }
    made_free(&grid);
}

/* Sources in a third of the numbering; and a node with those around it, which tell no direction
 * where neighbours are anywhere. */
static void check_batches(const struct ny_edges *graph)
{
    uint32_t source[NY_LANES], count = 1;

    for (uint32_t l = 0; l < NY_LANES; l++)
        source[l] = l * (graph->n / NY_LANES) / 3;
    check_batch(graph, source, NY_LANES);
    source[0] = graph->n / 2;
    for (uint32_t l = 0; l < count; l++)
        for (uint64_t e = graph->head[source[l]]; e < graph->head[source[l] + 1]; e++) {
            bool there = count == NY_LANES;

            for (uint32_t k = 0; k < count; k++)
                there |= source[k] == graph->target[e];
            if (!there) source[count++] = graph->target[e];
        }
    check_batch(graph, source, count);
}

/* Steps of the grid. */
static double between(const struct made *grid, uint32_t v, uint32_t w)
{
    uint32_t x = grid->at[grid->graph.row[v]], y = grid->at[grid->graph.row[w]];

    return fabs((double)(x % SIDE) - (double)(y % SIDE)) +
           fabs((double)(x / SIDE) - (double)(y / SIDE));
}

/* Each source comes once, in the same order however they are given; and batches are hardly larger
 * than they have to be. */
TEST(batches_are_regions)
{
    enum { SOURCES = 40 * NY_LANES + 5 };
    struct made grid;
    uint32_t source[SOURCES], order[SOURCES], other[SOURCES], again[SOURCES];
    bool seen[SOURCES] = {false};
    const double side = SIDE / sqrt(SOURCES / NY_LANES); /* of a batch that is a square */
    struct ny_layout counted = {0};
    double sum = 0;
    size_t before;

    grid_new(&grid);
    for (size_t i = 0; i < SOURCES; i++)
        source[i] = (uint32_t)(i * 7919 % (SIDE * SIDE));
    for (size_t i = 0; i < SOURCES; i++)
        other[i] = source[SOURCES - 1 - i];
    before = ny_memory_used(ctx);
    ny_memory_peak_reset(ctx);
    assert_int_equal(ny_batches_form(&grid.graph, source, SOURCES, order), NY_OK);
    assert_int_equal(ny_memory_used(ctx), before);
    ny_batches_lay(&counted, &grid.graph, SOURCES);
    assert_int_equal(ny_memory_peak(ctx) - before, ny_layout_most(&counted));
    assert_int_equal(ny_batches_form(&grid.graph, other, SOURCES, again), NY_OK);
    for (size_t i = 0; i < SOURCES; i++) {
        assert_int_equal(source[order[i]], other[again[i]]);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
    for (size_t b = 0; b < SOURCES / NY_LANES; b++) {
        double radius = 0;

        for (size_t l = 0; l < NY_LANES; l++)
            radius = fmax(radius, between(&grid, source[order[b * NY_LANES + l]],
                                          source[order[b * NY_LANES + NY_LANES / 2]]));
        assert_true(radius < 1.75 * side);
        sum += radius;
    }
    assert_true(sum / (SOURCES / NY_LANES) < 1.1 * side); /* from its middle to a corner: side */
    made_free(&grid);
}

TEST(any_graph_has_patches)
{
    struct made made;

    made_new(&made, SPOKES);
    for (size_t i = 1; i < SPOKES; i++)
        made.row[i * STORED] = 0;
    build(&made);
    check_patches(&made.graph);
    check_batches(&made.graph);
    made_free(&made);

    made_new(&made, LINE);
    for (size_t i = 0; i + 1 < LINE; i++)
        made.row[i * STORED] = (uint32_t)i + 1;
    build(&made);
    check_patches(&made.graph);
    assert_true(made.graph.patches.count <= 2 * LINE / NY_PATCH_NODES + 1);
    check_batches(&made.graph);
    made_free(&made);

    made_new(&made, ANYWHERE); /* its cells border on more than are noted */
    for (size_t i = 0; i < ANYWHERE; i++)
        for (size_t k = 0; k < STORED; k++)
            made.row[i * STORED + k] =
                (uint32_t)((i + 1 + ny_hash64(3, NY_STREAM_DATA, i * STORED + k) %
                                        (ANYWHERE / STORED) * STORED + k) % ANYWHERE);
    build(&made);
    check_patches(&made.graph);
    check_batches(&made.graph);
    made_free(&made);
}

AROUND_ALL(start, stop)
