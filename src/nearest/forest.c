/*
 * Makes the state of a forest, in the one block that a checkpoint saves, and grows a tree
 * (nearest/forest.h). After the points were routed to buckets, as many buckets as fit, and at most
 * 64, are read together; the threads take them from a queue, each with its own workspace for the
 * nodes below.
 */
#include "nearest/forest.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/thread.h"
#include "nearest/forest_private.h"

/* Buckets between two looks at the clock. */
enum { GROUP_BUCKETS = 64 };

/* ---- state ---------------------------------------------------------------------------------- */

/* Links of a list in a round of two steps; with 10, it compares a point with some 75 others. */
static size_t links_of(const struct ny_knn *knn)
{
    const size_t few = 10, many = 32; /* bits of `fresh` */
    size_t links = knn->neighbors > few ? knn->neighbors : few, width = ny_knn_width(knn);

    if (links > many) links = many;
    return links < width ? links : width;
}

static size_t image_bytes(const struct ny_knn *knn)
{
    struct ny_neighbors lists = {.rows = (size_t)knn->n, .width = ny_knn_width(knn)};

    return ny_neighbors_image_bytes(&lists) +
           (size_t)knn->n * (links_of(knn) + 1) * sizeof(uint32_t);
}

size_t ny_forest_image_bytes(const struct ny_forest *forest)
{
    return image_bytes(forest->knn);
}

const void *ny_forest_piece(const void *forest, size_t at, size_t count)
{
    return ny_neighbors_piece(&((const struct ny_forest *)forest)->lists, at, count);
}

void *ny_forest_image(struct ny_forest *forest)
{
    return forest->lists.bound;
}

bool ny_forest_plausible(const struct ny_forest *forest)
{
    size_t n = (size_t)forest->knn->n;

    return ny_rows_below(forest->lists.row, n * forest->lists.width, n) &&
           ny_rows_below(forest->link, n * forest->links, n);
}

static void place(struct ny_forest *forest, void *block)
{
    size_t n = (size_t)forest->knn->n;

    ny_neighbors_place(&forest->lists, n, ny_knn_width(forest->knn), block);
    forest->link = forest->lists.row + n * forest->lists.width;
    forest->fresh = forest->link + n * forest->links;
    for (size_t i = 0; i < n * forest->links; i++)
        forest->link[i] = NY_NO_ROW;
    memset(forest->fresh, 0, n * sizeof(uint32_t));
}

size_t ny_forest_held_least(const struct ny_knn *knn, size_t leaf)
{
    size_t links = links_of(knn), width = ny_knn_width(knn), most = ny_bucket_rows_max(leaf);

    if (most < 1 + links * links) most = 1 + links * links;
    if (most < 1 + width) most = 1 + width;
    return most < knn->n ? most : (size_t)knn->n;
}

size_t ny_forest_bytes(const struct ny_knn *knn, size_t leaf, size_t held)
{
    size_t n = (size_t)knn->n, workers = knn->workers;
    size_t route = ny_forest_route_bytes(knn, leaf), lower = workers * ny_lower_bytes(knn, leaf);
    size_t walk = ny_walk_bytes(knn);

    if (lower < walk) lower = walk;
    return image_bytes(knn) + n * sizeof(uint32_t) +
           (ny_forest_buckets_max(knn->n, leaf) + 1) * sizeof(uint64_t) +
           ny_held_bytes(knn->spec, knn->n, held, (unsigned)workers) +
           (route > lower ? route : lower);
}

int ny_forest_new(struct ny_forest *forest, const struct ny_knn *knn, size_t leaf, uint64_t seed,
                  size_t held)
{
    struct ny_context *ctx = knn->spec->ctx;
    void *block = ny_alloc(ctx, NY_MEM_DICTIONARY, image_bytes(knn));

    *forest = (struct ny_forest){
        .knn = knn, .leaf = leaf, .seed = seed, .links = links_of(knn), .checkpoint_s = ny_now()};
    for (size_t i = 0; i < NY_FOREST_LOCKS; i++)
        ny_mutex_init(&forest->lock[i]);
    if (!block) return NY_EBUDGET;
    place(forest, block);
    forest->row = ny_calloc(ctx, NY_MEM_DICTIONARY, (size_t)knn->n, sizeof(uint32_t));
    forest->bucket = ny_calloc(ctx, NY_MEM_DICTIONARY, ny_forest_buckets_max(knn->n, leaf) + 1,
                               sizeof(uint64_t));
    if (!forest->row || !forest->bucket) return NY_EBUDGET;
    ny_blas_serial();
    return ny_held_new(&forest->held, knn->X, knn->spec, knn->n, held, knn->workers);
}

void ny_forest_release(struct ny_forest *forest)
{
    struct ny_context *ctx = forest->knn ? forest->knn->spec->ctx : NULL;

    if (!ctx) return;
    ny_held_release(&forest->held);
    ny_free(ctx, forest->bucket);
    ny_free(ctx, forest->row);
    ny_free(ctx, forest->lists.bound);
    for (size_t i = 0; i < NY_FOREST_LOCKS; i++)
        ny_mutex_release(&forest->lock[i]);
    *forest = (struct ny_forest){0};
}

/* ---- a tree --------------------------------------------------------------------------------- */

struct tree {
    struct ny_forest *forest;
    struct ny_lower **lower; /* one a worker */
    struct ny_queue queue;   /* buckets of the group */
    struct ny_meter meter;   /* under the queue's lock */
};

static int work(void *arg, unsigned worker)
{
    struct tree *tree = arg;
    const uint64_t *first = tree->forest->bucket;
    uint64_t bucket;
    int err = NY_OK;

    while (err == NY_OK && ny_queue_take(&tree->queue, 1, &bucket)) {
        err = ny_check_interrupt(tree->forest->knn->spec->ctx);
        if (err == NY_OK) err = ny_lower_bucket(tree->lower[worker], (size_t)bucket);
        if (err) break;
        ny_mutex_lock(&tree->queue.lock);
        ny_meter_add(&tree->meter, first[bucket + 1] - first[bucket], 0, 0);
        ny_mutex_unlock(&tree->queue.lock);
    }
    return err;
}

/* Wants the rows of as many buckets as there is room for; the first of those that come next. */
static uint64_t want_group(struct ny_forest *forest, uint64_t first)
{
    uint64_t bucket = first;

    ny_held_clear(&forest->held);
    for (; bucket < forest->buckets && bucket - first < GROUP_BUCKETS; bucket++)
        for (uint64_t i = forest->bucket[bucket]; i < forest->bucket[bucket + 1]; i++)
            if (!ny_held_want(&forest->held, forest->row[i])) return bucket;
    return bucket;
}

static int run_groups(struct tree *tree, struct ny_forest_progress progress)
{
    struct ny_forest *forest = tree->forest;
    const struct ny_knn *knn = forest->knn;
    int err = NY_OK;

    for (uint64_t first = progress.first; first < forest->buckets && err == NY_OK;) {
        uint64_t end = want_group(forest, first);
        double pairs = forest->pairs;

        tree->queue.next = first;
        tree->queue.end = end;
        err = ny_held_load(&forest->held);
        if (err == NY_OK) err = ny_parallel(knn->spec->ctx, knn->workers, work, tree);
        if (err) forest->pairs = pairs; /* they are compared again */
        err = ny_forest_pace(forest, &progress, first, end, err);
        first = end;
    }
    return err;
}

int ny_forest_tree(struct ny_forest *forest, uint64_t number, struct ny_forest_progress progress)
{
    const struct ny_knn *knn = forest->knn;
    struct ny_context *ctx = knn->spec->ctx;
    struct tree tree = {.forest = forest};
    int err = ny_forest_route(forest, number);

    if (err) return ny_forest_keep(forest, &progress, progress.first, err);
    ny_mutex_init(&tree.queue.lock);
    ny_meter_start(&tree.meter, ctx, "trees", 0, knn->n);
    tree.lower = ny_calloc(ctx, NY_MEM_TILES, knn->workers, sizeof(struct ny_lower *));
    if (!tree.lower) err = NY_EBUDGET;
    for (unsigned w = 0; w < knn->workers && err == NY_OK; w++)
        err = ny_lower_new(&tree.lower[w], forest, number);
    if (err == NY_OK) err = run_groups(&tree, progress);
    ny_meter_finish(&tree.meter);
    for (unsigned w = 0; w < knn->workers && tree.lower; w++)
        ny_lower_free(tree.lower[w]);
    ny_free(ctx, tree.lower);
    ny_mutex_release(&tree.queue.lock);
    return err;
}
