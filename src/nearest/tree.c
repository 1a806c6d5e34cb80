/*
 * Makes a tree of boxes, and shares its leaves out to threads that look for the neighbours of their
 * rows (nearest/tree.h). How a walk goes is in nearest/tree_variant.c, and how the tree comes about
 * in nearest/tree_build.c.
 */
#include "nearest/tree.h"

#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/mutex.h"
#include "base/progress.h"
#include "base/thread.h"
#include "columns/vector.h"
#include "nearest/knn_private.h"
#include "nearest/tree_private.h"
#include "stream/rows.h"

/* Rows that a worker reads at a time, leaves that it takes at a time, and lists that it hands on at
 * a time. */
enum { READ_ROWS = 16384, TAKE_LEAVES = 512, FOUND_ROWS = 512 };

NY_CPU_FAMILIES(ny_tree_walk_fn, ny_tree_walk)

ny_tree_walk_fn *ny_tree_walk(void)
{
    return ny_tree_walk_families[ny_vector_family()];
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* Takes pieces of the rows in turn. */
struct reading {
    struct ny_box_tree *tree;
    struct ny_columns *columns;
};

static int read_pieces(void *arg, unsigned worker)
{
    const struct reading *reading = arg;
    struct ny_box_tree *tree = reading->tree;
    const struct ny_knn *knn = tree->knn;
    struct ny_context *ctx = knn->spec->ctx;
    const uint64_t step = (uint64_t)knn->workers * READ_ROWS;
    void *raw = ny_calloc(ctx, NY_MEM_STORE, READ_ROWS, ny_raw_bytes(knn->spec));
    int err = raw ? NY_OK : NY_EBUDGET;

    for (uint64_t row = (uint64_t)worker * READ_ROWS; row < knn->n && !err; row += step) {
        size_t count = knn->n - row < READ_ROWS ? (size_t)(knn->n - row) : READ_ROWS;

        err = ny_check_interrupt(ctx);
        if (err == NY_OK) err = knn->X->ops->read(knn->X, 0, row, count, raw);
        if (err) break;
        ny_columns_prepare(reading->columns, ny_raw_rows(raw), count, tree->x + row * tree->d);
        for (size_t i = 0; i < count; i++)
            tree->row[row + i] = (uint32_t)(row + i);
    }
    ny_free(ctx, raw);
    return err;
}

static void lay(struct ny_layout *l, struct ny_box_tree *tree, uint64_t n)
{
    size_t nodes = 2 * (size_t)tree->leaves - 1, row_bytes = tree->d * sizeof(double);

    tree->x = ny_lay(l, NY_MEM_TILES, (size_t)n, row_bytes);
    tree->row = ny_lay(l, NY_MEM_TILES, (size_t)n, sizeof(uint32_t));
    tree->box = ny_lay(l, NY_MEM_TILES, nodes, 2 * row_bytes);
    tree->least = ny_lay(l, NY_MEM_TILES, nodes, sizeof(uint32_t));
}

static uint64_t leaves_of(uint64_t n)
{
    return (n + NY_TREE_ROWS - 1) / NY_TREE_ROWS;
}

int ny_tree_new(struct ny_box_tree *tree, const struct ny_knn *knn)
{
    struct reading reading = {.tree = tree};
    int err;

    *tree = (struct ny_box_tree){.own.ctx = knn->spec->ctx,
                                 .knn = knn,
                                 .d = knn->spec->geometry->d,
                                 .leaves = (uint32_t)leaves_of(knn->n)};
    lay(&tree->own, tree, knn->n);
    err = tree->own.err;
    if (err == NY_OK) err = ny_columns_new(&reading.columns, knn->spec);
    if (err) return err;
    tree->gamma = ny_columns_gamma(reading.columns);
    err = ny_parallel(knn->spec->ctx, knn->workers, read_pieces, &reading);
    ny_columns_free(reading.columns);
    return err ? err : ny_tree_build(tree);
}

void ny_tree_release(struct ny_box_tree *tree)
{
    ny_layout_free(&tree->own);
    *tree = (struct ny_box_tree){0};
}

/* ---- packets -------------------------------------------------------------------------------- */

static void lay_packet(struct ny_layout *l, struct ny_tree_packet *packet, size_t d, size_t t)
{
    packet->x = ny_lay(l, NY_MEM_TILES, d, NY_TREE_ROWS * sizeof(double));
    packet->value = ny_lay(l, NY_MEM_TILES, t, NY_TREE_ROWS * sizeof(double));
    packet->row = ny_lay(l, NY_MEM_TILES, t, NY_TREE_ROWS * sizeof(int64_t));
}

int ny_tree_packet_init(struct ny_tree_packet *packet, const struct ny_box_tree *tree)
{
    *packet = (struct ny_tree_packet){.own.ctx = tree->knn->spec->ctx, .tree = tree};
    lay_packet(&packet->own, packet, tree->d, tree->knn->neighbors);
    return packet->own.err;
}

void ny_tree_packet_clear(struct ny_tree_packet *packet)
{
    size_t t = packet->tree->knn->neighbors;

    for (size_t k = 0; k < t; k++)
        for (size_t l = 0; l < NY_TREE_ROWS; l++) {
            packet->value[k * NY_TREE_ROWS + l] =
                l < packet->count ? (double)INFINITY : -(double)INFINITY;
            packet->row[k * NY_TREE_ROWS + l] = NY_NO_ROW;
        }
}

/* Finds the neighbours of the packet's rows. A lane without a row repeats the first. */
static void run_packet(struct ny_tree_packet *packet)
{
    const struct ny_box_tree *tree = packet->tree;
    size_t d = tree->d;

    for (size_t l = 0; l < NY_TREE_ROWS; l++) {
        const double *x = tree->x + packet->at[l < packet->count ? l : 0] * d;

        for (size_t k = 0; k < d; k++)
            packet->x[k * NY_TREE_ROWS + l] = x[k];
    }
    ny_tree_packet_clear(packet);
    ny_tree_walk()(packet);
}

/* Adds the lists of the packet's rows to those found. */
static void add_lists(const struct ny_tree_packet *packet, struct ny_tree_found *found)
{
    const struct ny_box_tree *tree = packet->tree;
    size_t t = tree->knn->neighbors;

    for (size_t l = 0; l < packet->count; l++) {
        size_t at = found->count * t;

        found->of[found->count++] = tree->row[packet->at[l]];
        for (size_t k = 0; k < t; k++) {
            double value = tree->gamma * packet->value[k * NY_TREE_ROWS + l];

            found->row[at + k] = (uint32_t)packet->row[k * NY_TREE_ROWS + l];
            found->distance[at + k] = (float)ny_near_distance(tree->knn->spec, value);
        }
    }
}

/* ---- the pilot ------------------------------------------------------------------------------ */

int ny_tree_pilot(const struct ny_box_tree *tree, uint32_t packets, struct ny_tree_work *work)
{
    struct ny_tree_packet packet;
    int err = ny_tree_packet_init(&packet, tree);

    for (uint32_t p = 0; p < packets && err == NY_OK; p++) {
        uint64_t leaf = (uint64_t)tree->leaves * p / packets, first = leaf * NY_TREE_ROWS;

        packet.count = 0;
        for (uint64_t i = first; i < first + NY_TREE_ROWS && i < tree->knn->n; i++)
            packet.at[packet.count++] = i;
        run_packet(&packet);
        err = ny_check_interrupt(tree->knn->spec->ctx);
    }
    *work = packet.work;
    ny_layout_free(&packet.own);
    return err;
}

/* ---- the search ----------------------------------------------------------------------------- */

struct search {
    const struct ny_box_tree *tree;
    uint64_t first; /* row */
    ny_tree_take_fn *take;
    void *arg;
    atomic_uint next; /* leaf */
    struct ny_mutex lock;
    struct ny_meter meter;
};

/* The room of a worker. */
struct searcher {
    struct ny_tree_packet packet;
    struct ny_tree_found found;
};

static void lay_found(struct ny_layout *l, struct ny_tree_found *found, size_t t)
{
    found->of = ny_lay(l, NY_MEM_TILES, FOUND_ROWS, sizeof(uint32_t));
    found->row = ny_lay(l, NY_MEM_TILES, FOUND_ROWS, t * sizeof(uint32_t));
    found->distance = ny_lay(l, NY_MEM_TILES, FOUND_ROWS, t * sizeof(float));
}

static int searcher_init(struct searcher *own, const struct ny_box_tree *tree)
{
    int err = ny_tree_packet_init(&own->packet, tree);

    lay_found(&own->packet.own, &own->found, tree->knn->neighbors);
    return err ? err : own->packet.own.err;
}

/* Hands on what was found. */
static int hand_on(struct search *search, struct ny_tree_found *found)
{
    size_t count = found->count;
    int err = count ? search->take(search->arg, found) : NY_OK;

    found->count = 0;
    ny_mutex_lock(&search->lock);
    ny_meter_add(&search->meter, count, 0, 0);
    ny_mutex_unlock(&search->lock);
    return err ? err : ny_check_interrupt(search->tree->knn->spec->ctx);
}

/* Looks for the neighbours of the rows of some leaves, of those that are wanted. */
static int search_leaves(struct search *search, struct searcher *own, uint64_t first, uint64_t end)
{
    struct ny_tree_packet *packet = &own->packet;
    int err = NY_OK;

    for (uint64_t i = first; i < end && err == NY_OK; i++) {
        if (search->tree->row[i] >= search->first) packet->at[packet->count++] = i;
        if (packet->count < NY_TREE_ROWS && (i + 1 < end || packet->count == 0)) continue;
        run_packet(packet);
        add_lists(packet, &own->found);
        packet->count = 0;
        if (own->found.count > FOUND_ROWS - NY_TREE_ROWS) err = hand_on(search, &own->found);
    }
    return err ? err : hand_on(search, &own->found);
}

static int search_some(void *arg, unsigned worker)
{
    struct search *search = arg;
    const struct ny_box_tree *tree = search->tree;
    struct searcher own = {0};
    unsigned leaf;
    int err = searcher_init(&own, tree);

    (void)worker;
    while (err == NY_OK && (leaf = atomic_fetch_add(&search->next, TAKE_LEAVES)) < tree->leaves) {
        uint64_t first = (uint64_t)leaf * NY_TREE_ROWS, end = first + TAKE_LEAVES * NY_TREE_ROWS;

        err = search_leaves(search, &own, first, end < tree->knn->n ? end : tree->knn->n);
    }
    ny_layout_free(&own.packet.own); /* and with it what was found */
    return err;
}

int ny_tree_search(const struct ny_box_tree *tree, uint64_t first, ny_tree_take_fn *take, void *arg)
{
    struct ny_context *ctx = tree->knn->spec->ctx;
    struct search search = {.tree = tree, .first = first, .take = take, .arg = arg};
    int err;

    ny_mutex_init(&search.lock);
    ny_meter_start(&search.meter, ctx, "neighbors", first, tree->knn->n);
    err = ny_parallel(ctx, tree->knn->workers, search_some, &search);
    ny_meter_finish(&search.meter);
    ny_mutex_release(&search.lock);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

void ny_tree_count(struct ny_layout *l, const struct ny_knn *knn)
{
    const size_t small_bytes = 64 << 10;
    struct ny_layout_mark mark;
    struct searcher searcher;
    struct ny_box_tree tree = {.d = knn->spec->geometry->d, .leaves = (uint32_t)leaves_of(knn->n)};

    lay(l, &tree, knn->n);
    ny_columns_count(l, knn->spec, 1);
    ny_lay(l, NY_MEM_TILES, knn->workers, small_bytes);
    mark = ny_layout_mark(l);
    for (unsigned w = 0; w < knn->workers; w++)
        ny_lay(l, NY_MEM_STORE, READ_ROWS, ny_raw_bytes(knn->spec));
    ny_layout_back(l, &mark);
    for (unsigned w = 0; w < knn->workers; w++) {
        lay_packet(l, &searcher.packet, knn->spec->geometry->d, knn->neighbors);
        lay_found(l, &searcher.found, knn->neighbors);
    }
}
