/* Tests graph/pages.h: nodes in the numbers that they have in memory, paths of the same bits
 * through few pages, the bytes that are charged, and lists that are damaged or cannot be read. */
#include "support/context.h"
#include "support/net.h"

#include "base/random.h"
#include "graph/pages.h"
#include "graph/sweep.h"

OWNS(ny_edges, ny_edges_release(at))

enum { PIECE_ROWS = 700, SLACK_BYTES = 4096 };

/* Stands for a stored graph. */
struct stored {
    const struct net *net;
    bool damaged; /* it was said to be */
    uint64_t fails;   /* a read of this row fails */
};

static int read_piece(void *arg, uint64_t first, size_t count, uint32_t *row, float *distance)
{
    const struct stored *stored = arg;
    size_t t = stored->net->t;

    if (stored->fails >= first && stored->fails < first + count) return NY_ESTORE;
    memcpy(row, stored->net->row + first * t, count * t * sizeof(*row));
    memcpy(distance, stored->net->distance + first * t, count * t * sizeof(*distance));
    return NY_OK;
}

static int say_damaged(void *arg)
{
    ((struct stored *)arg)->damaged = true;
    return NY_ESTORE;
}

/* Makes pages of the largest component, for which the memory that is charged is what was told. */
static int page(struct stored *stored, const struct ny_components *components, uint64_t edges,
                struct ny_edges *graph)
{
    const struct net *net = stored->net;
    struct ny_list_source source = {.lists = net->lists,
                                    .piece_rows = PIECE_ROWS,
                                    .pages_bytes = ny_pages_held(edges),
                                    .folder = "/tmp",
                                    .read = read_piece,
                                    .damaged = say_damaged,
                                    .arg = stored};
    struct ny_layout counted = {0};
    struct ny_edges sizes = {0};
    size_t before = ny_memory_used(ctx);
    int err;

    *graph = (struct ny_edges){.own.ctx = ctx, .ctx = ctx};
    graph->node = ny_lay(&graph->own, NY_MEM_DICTIONARY, net->n, sizeof(uint32_t));
    graph->near = !!net->lists.order;
    for (uint64_t k = 0; k < net->n; k++) {
        uint64_t i = net->lists.order ? net->lists.order[k] : k;

        graph->node[i] = components->of[i] == 0 ? graph->n++ : NY_NO_ROW;
    }
    ny_memory_peak_reset(ctx);
    err = ny_pages_build(graph, &source);
    sizes.n = graph->n;
    ny_pages_lay(&counted, &sizes, net->n);
    assert_int_equal(ny_memory_used(ctx) - before, ny_layout_most(&counted));
    ny_pages_making_count(&counted, graph->n, &source);
    assert_true(ny_memory_peak(ctx) - before <= ny_layout_most(&counted));
    return err;
}

struct collected {
    float *distance; /* sources × nodes */
    uint32_t n;
};

static int collect(void *arg, const struct ny_swept *batch)
{
    struct collected *all = arg;

    for (size_t l = 0; l < batch->count; l++)
        for (uint32_t v = 0; v < all->n; v++)
            all->distance[(batch->first + l) * all->n + v] =
                batch->distances[(size_t)v * batch->lanes + l];
    return NY_OK;
}

static void sweep(const struct ny_edges *graph, size_t lanes, float *distance)
{
    enum { SOURCES = 21 };
    uint32_t sources[SOURCES];
    struct collected all = {distance, graph->n};

    for (size_t i = 0; i < SOURCES; i++)
        sources[i] = (uint32_t)(ny_hash64(5, NY_STREAM_DATA, i) % graph->n);
    CHECK(ny_sweep_run(&(struct ny_sweep){.graph = graph,
                                          .sources = sources,
                                          .count = SOURCES,
                                          .stage = "test",
                                          .workers = 2,
                                          .lanes = lanes,
                                          .fold = collect,
                                          .arg = &all}));
}

/* Paths of all lanes, through all pages, and through as few as a search can have. */
static void check_paths(const struct ny_edges *graph, struct ny_edges *paged)
{
    static const size_t lanes[] = {NY_LANES, NY_HALF_LANES, NY_FEW_LANES, 1};
    size_t bytes = 21 * (size_t)graph->n * sizeof(float);
    float *want = lend(bytes), *got = lend(bytes);

    sweep(graph, NY_LANES, want);
    for (size_t k = 0; k < 2 * sizeof(lanes) / sizeof(lanes[0]); k++) {
        if (k == sizeof(lanes) / sizeof(lanes[0])) paged->pages->bytes = paged->pages->largest;
        if (paged->pages->bytes < 16 << 10) paged->pages->bytes = 16 << 10;
        memset(got, 0, bytes);
        sweep(paged, lanes[k % (sizeof(lanes) / sizeof(lanes[0]))], got);
        assert_memory_equal(got, want, bytes);
    }
}

/* `order`: rows as nodes are numbered at first; NULL: ascending. */
static void check_in(const uint32_t *order, enum net_shape shape, size_t n, bool mutual,
                     double limit)
{
    struct net net = net_of(shape, n);
    struct stored stored = {&net, UINT64_MAX, UINT64_MAX};
    struct ny_components components;
    OWNED(ny_edges) graph, paged;
    struct ny_bridge bridge;

    net.lists.mutual = mutual;
    net.lists.limit = limit;
    net.lists.order = order;
    assert_int_equal(ny_components_find(&components, ctx, &net.lists), NY_OK);
    if (components.count > 1) { /* one bridge joins two of them */
        bridge = (struct ny_bridge){.length = 3};
        while (components.of[bridge.from] != 0)
            bridge.from++;
        while (components.of[bridge.to] == 0)
            bridge.to++;
        net.lists.bridge = &bridge;
        net.lists.bridges = 1;
        ny_components_release(&components);
        assert_int_equal(ny_components_find(&components, ctx, &net.lists), NY_OK);
    }
    assert_int_equal(ny_edges_new(&graph, ctx, &net.lists, &components, 0), NY_OK);
    assert_int_equal(page(&stored, &components, ny_edges_count(&graph), &paged), NY_OK);
    assert_int_equal(paged.n, graph.n);
    assert_int_equal(ny_edges_count(&paged), ny_edges_count(&graph));
    assert_int_equal(paged.patches.count, graph.patches.count);
    assert_true(paged.longest == graph.longest);
    assert_memory_equal(paged.node, graph.node, n * sizeof(*graph.node));
    check_paths(&graph, &paged);
    ny_components_release(&components);
}

/* With nodes that begin along their rows, and in an order that has nothing to do with these. */
static void check(enum net_shape shape, size_t n, bool mutual, double limit)
{
    uint32_t *order = lend(n * sizeof(*order));

    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(ny_hash64(6, NY_STREAM_DATA, i) % i);
        uint32_t other = order[k];

        order[k] = order[i - 1];
        order[i - 1] = other;
    }
    check_in(NULL, shape, n, mutual, limit);
    check_in(order, shape, n, mutual, limit);
}

TEST(pages_are_the_graph)
{
    check(SHEET, 5000, false, INFINITY);
    check(SHEET, 3000, true, INFINITY);
    check(SHEET, 3000, false, 0.02);
    check(DUMBBELL, 2500, true, 0.03);
    check(SMALL_WORLD, 3000, false, INFINITY);
    check(SMALL_WORLD, 3000, true, INFINITY);
    check(STAR, 4000, false, INFINITY);
    check(CYCLE, 2100, false, INFINITY);
    check(PATH, 2, false, INFINITY);
}

TEST(what_is_damaged_is_noticed)
{
    struct net net = net_of(DUMBBELL, 2400);
    struct stored stored = {&net, UINT64_MAX, UINT64_MAX};
    struct ny_components components;
    struct ny_edges graph;

    net.lists.limit = 0.1; /* the two sheets are apart */
    assert_int_equal(ny_components_find(&components, ctx, &net.lists), NY_OK);
    assert_int_equal(components.count, 2);
    for (size_t k = 0; k < 5; k++) {
        uint32_t row = net.row[7 * net.t];
        float distance = net.distance[7 * net.t];

        if (k == 0) net.row[7 * net.t] = 2400;
        if (k == 1) net.row[7 * net.t] = 7;
        if (k == 2) net.row[7 * net.t] = components.of[7] == components.of[0] ? 2399 : 0;
        if (k == 3) net.distance[7 * net.t] = NAN;
        if (k == 4) net.distance[7 * net.t] = -1;
        assert_int_equal(page(&stored, &components, 6000, &graph), NY_ESTORE);
        assert_true(stored.damaged);
        ny_edges_release(&graph);
        net.row[7 * net.t] = row;
        net.distance[7 * net.t] = distance;
        stored.damaged = false;
    }
    stored.fails = 2000;
    assert_int_equal(page(&stored, &components, 6000, &graph), NY_ESTORE);
    assert_false(stored.damaged);
    ny_edges_release(&graph);
    ny_components_release(&components);
}

AROUND_ALL(start, stop)
