/*
 * The upper nodes of a tree: hyperplanes at the medians of a sample, and all points routed by them
 * in one pass.
 */
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "columns/tiles.h"
#include "nearest/forest_private.h"
#include "nearest/knn_private.h"

/* Points of the sample to a bucket: a median of so many is off by a tenth of the node or less. */
enum { SAMPLE_POINTS = 64 };

struct upper {
    struct ny_plane plane;
    struct ny_item first; /* the first of those on its right */
};

struct route {
    struct ny_forest *forest;
    uint64_t tree;
    unsigned levels;
    struct upper *node; /* 1 … 2^levels − 1 */
    struct ny_columns *pivots;
    struct ny_tiles tiles;
    uint32_t *bucket; /* n */
};

/* Returns the levels of upper nodes with which buckets have at most 16 leaves on average. */
static unsigned levels_of(uint64_t n, size_t leaf)
{
    unsigned levels = 0;

    while (n >> levels > (uint64_t)NY_BUCKET_LEAVES * leaf)
        levels++;
    return levels;
}

/* Returns the points of the sample by whose medians the upper nodes cut. */
static size_t sample_of(unsigned levels)
{
    return (size_t)SAMPLE_POINTS << levels;
}

/* Buckets that are too large are cut into pieces that are not. */
size_t ny_forest_buckets_max(uint64_t n, size_t leaf)
{
    return ((size_t)1 << levels_of(n, leaf)) + (size_t)(n / ((size_t)NY_BUCKET_LEAVES * leaf)) + 1;
}

size_t ny_forest_route_bytes(const struct ny_knn *knn, size_t leaf)
{
    unsigned levels = levels_of(knn->n, leaf);
    size_t nodes = ((size_t)1 << levels) * (sizeof(struct upper) + sizeof(uint64_t));
    size_t sample = sample_of(levels) * (NY_PIVOTS * sizeof(float) + sizeof(struct ny_item) +
                                         2 * sizeof(uint32_t)) +
                    NY_STRIP_ROWS * NY_PIVOTS * sizeof(float) +
                    ny_columns_workspace_bytes(knn->spec, NY_STRIP_ROWS);
    size_t buckets = (size_t)knn->n * sizeof(uint32_t);
    size_t pass = buckets + knn->workers * ny_tiles_bytes(knn->spec, NY_PIVOTS, NY_PRECISION_F32);

    if (!levels) return nodes + buckets;
    return nodes + ny_columns_bytes(knn->spec, NY_PIVOTS) +
           2 * NY_PIVOTS * ny_raw_bytes(knn->spec) + (sample > pass ? sample : pass);
}

/* ---- planes --------------------------------------------------------------------------------- */

struct sample {
    size_t count;
    uint32_t *row, *at;
    float *V;
    struct ny_item *items;
};

/* Cuts a node at the median of its part of the sample, and then both of its halves. The point at
 * the median is kept, so that routing orders equal points in the same way. */
static void plant(struct route *route, const struct sample *sample, uint64_t node, uint32_t *at,
                  size_t count)
{
    struct upper *upper = &route->node[node];
    size_t left = count / 2;

    if (node >> route->levels) return;
    upper->plane = ny_plane_choose(route->forest, (route->tree << 44) + node, sample->V, at, count);
    for (size_t i = 0; i < count; i++)
        sample->items[i] =
            (struct ny_item){ny_plane_side(upper->plane, sample->V + (size_t)at[i] * NY_PIVOTS),
                             ny_forest_tie(route->forest, sample->row[at[i]]), at[i]};
    ny_items_sort(sample->items, count);
    for (size_t i = 0; i < count; i++)
        at[i] = sample->items[i].at;
    upper->first = sample->items[left];
    upper->first.at = 0;
    plant(route, sample, 2 * node, at, left);
    plant(route, sample, 2 * node + 1, at + left, count - left);
}

/* Values of the sample, as many rows at a time as are held. */
static int measure_sample(struct route *route, struct sample *sample)
{
    struct ny_forest *forest = route->forest;
    struct ny_columns_workspace *workspace = NULL;
    int err = ny_columns_workspace_new(&workspace, forest->knn->spec, NY_STRIP_ROWS);

    for (size_t first = 0; first < sample->count && err == NY_OK;) {
        size_t end = first;

        ny_held_clear(&forest->held);
        while (end < sample->count && ny_held_want(&forest->held, sample->row[end]))
            end++;
        if (end < sample->count) end -= (end - first) % NY_STRIP_ROWS;
        err = ny_held_load(&forest->held);
        if (err == NY_OK)
            err = ny_pivot_values(forest, route->pivots, workspace, sample->row + first,
                                  end - first, sample->V + first * NY_PIVOTS);
        first = end;
    }
    ny_columns_workspace_free(workspace);
    return err;
}

/* Draws the sample by hash, measures it against the pivots, and plants all upper nodes. */
static int plant_all(struct route *route)
{
    struct ny_forest *forest = route->forest;
    struct ny_context *ctx = forest->knn->spec->ctx;
    size_t count = sample_of(route->levels), padded = count + NY_STRIP_ROWS;
    struct sample sample = {.count = count};
    int err = NY_EBUDGET;

    sample.row = ny_calloc(ctx, NY_MEM_TILES, count, sizeof(uint32_t));
    sample.at = ny_calloc(ctx, NY_MEM_TILES, count, sizeof(uint32_t));
    sample.V = ny_calloc(ctx, NY_MEM_TILES, padded * NY_PIVOTS, sizeof(float));
    sample.items = ny_calloc(ctx, NY_MEM_TILES, count, sizeof(*sample.items));
    if (!sample.row || !sample.at || !sample.V || !sample.items) goto done;
    for (size_t i = 0; i < count; i++) {
        uint64_t index = ((2 * route->tree + 1) << 40) + i;

        sample.row[i] =
            (uint32_t)(ny_hash64(forest->seed, NY_STREAM_SAMPLE, index) % forest->knn->n);
        sample.at[i] = (uint32_t)i;
    }
    err = measure_sample(route, &sample);
    if (err == NY_OK) plant(route, &sample, 1, sample.at, count);
done:
    ny_free(ctx, sample.items);
    ny_free(ctx, sample.V);
    ny_free(ctx, sample.at);
    ny_free(ctx, sample.row);
    return err;
}

/* ---- the pass ------------------------------------------------------------------------------- */

static uint32_t bucket_of(const struct route *route, uint64_t row, const float *v)
{
    uint64_t node = 1;

    while (!(node >> route->levels)) {
        const struct upper *upper = &route->node[node];
        struct ny_item item = {.side = ny_plane_side(upper->plane, v)};

        if (item.side == upper->first.side) item.tie = ny_forest_tie(route->forest, row);
        node = 2 * node + !ny_item_before(item, upper->first);
    }
    return (uint32_t)(node - ((uint64_t)1 << route->levels));
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct route *route = arg;
    struct ny_matrix32 V = ny_tiles_c32(&route->tiles, tile->worker);
    int err = ny_tiles_compute(&route->tiles, tile);

    for (size_t i = 0; i < tile->rows && err == NY_OK; i++)
        route->bucket[tile->first_row + i] =
            bucket_of(route, tile->first_row + i, V.at + i * V.stride);
    return err;
}

static int route_all(struct route *route)
{
    static const struct ny_pass_work work = {unit, NULL, NULL};
    struct ny_knn knn = *route->forest->knn;
    struct ny_source *points = NULL;
    int err = ny_tiles_new(&route->tiles, route->pivots, NULL, NY_PRECISION_F32, knn.workers);

    if (ny_held_all(&route->forest->held)) knn.held = &route->forest->held;
    if (err == NY_OK) err = ny_knn_source(&knn, &points);
    if (err == NY_OK)
        err = ny_pass_run(
            &(struct ny_pass){.ctx = knn.spec->ctx,
                              .source = points,
                              .stage = "trees: buckets",
                              .workers = knn.workers,
                              .flops_per_row = 2.0 * NY_PIVOTS * ny_entry_products(knn.spec)},
            &work, route);
    ny_source_free(points);
    ny_tiles_release(&route->tiles);
    return err;
}

/* ---- buckets -------------------------------------------------------------------------------- */

/* Sorts row numbers by bucket, ascending in each. first: where the 2^levels buckets begin. */
static void sort_rows(const struct route *route, uint64_t *first)
{
    struct ny_forest *forest = route->forest;
    size_t buckets = (size_t)1 << route->levels;
    uint64_t sum = 0;

    memset(first, 0, (buckets + 1) * sizeof(*first));
    for (uint64_t i = 0; i < forest->knn->n; i++)
        first[route->bucket[i]]++;
    for (size_t b = 0; b <= buckets; b++) {
        uint64_t count = b < buckets ? first[b] : 0;

        first[b] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < forest->knn->n; i++)
        forest->row[first[route->bucket[i]]++] = (uint32_t)i;
    memmove(first + 1, first, buckets * sizeof(*first));
    first[0] = 0;
}

/* One that has too few rows for a leaf goes with the next, or at the end with the one before; one
 * that has too many is cut. */
static void settle(struct ny_forest *forest, const uint64_t *first, size_t buckets)
{
    uint64_t begin = 0, most = ny_bucket_rows_max(forest->leaf), n = forest->knn->n;

    forest->buckets = 0;
    for (size_t b = 0; b < buckets; b++) {
        uint64_t end = first[b + 1], count = end - begin, pieces;

        if (count < forest->leaf && b + 1 < buckets) continue;
        if (n - end < forest->leaf) end = n;
        count = end - begin;
        pieces = (count + most - 1) / most;
        for (uint64_t p = 0; p < pieces; p++)
            forest->bucket[forest->buckets++] = begin + p * count / pieces;
        begin = end;
        if (end == n) break;
    }
    forest->bucket[forest->buckets] = n;
}

int ny_forest_route(struct ny_forest *forest, uint64_t tree)
{
    const struct ny_knn *knn = forest->knn;
    struct ny_context *ctx = knn->spec->ctx;
    struct route route = {
        .forest = forest, .tree = tree, .levels = levels_of(knn->n, forest->leaf)};
    size_t buckets = (size_t)1 << route.levels;
    uint64_t *first = ny_calloc(ctx, NY_MEM_TILES, buckets + 1, sizeof(*first));
    int err = NY_EBUDGET;

    route.node = ny_calloc(ctx, NY_MEM_TILES, buckets, sizeof(*route.node));
    if (!first || !route.node) goto done;
    err = NY_OK;
    if (route.levels) err = ny_pivots_new(&route.pivots, forest, NULL, knn->n, tree << 44);
    if (err == NY_OK && route.levels) err = plant_all(&route);
    if (err) goto done;
    /* The sample is gone by now: a large one takes as much as the buckets of all rows. */
    route.bucket = ny_calloc(ctx, NY_MEM_TILES, (size_t)knn->n, sizeof(uint32_t));
    err = !route.bucket ? NY_EBUDGET : route.levels ? route_all(&route) : NY_OK;
    if (err) goto done;
    sort_rows(&route, first);
    settle(forest, first, buckets);
done:
    ny_columns_free(route.pivots);
    ny_free(ctx, route.bucket);
    ny_free(ctx, route.node);
    ny_free(ctx, first);
    return err;
}
