/*
 * Finds the distances of all nodes from one source by buckets of rising distance (graph/buckets.h).
 * Batches of paths (graph/paths.c), the forming of batches (graph/batches.c), the path between two
 * rows (results/path.c) and the selection maxmin (maps/isomap.c) call it.
 *
 * A bucket is a doubly linked list through `link`, so that a node whose distance falls leaves its
 * bucket and enters another in constant time. 16,384 buckets form a ring. A bucket is a quarter of
 * the mean edge wide, and wider where the longest edge would otherwise reach around the ring: so no
 * bucket ever holds nodes of two laps. A search that ends leaves every bucket empty, and the next
 * one may begin as soon as its caller has set the distances.
 */
#include "graph/buckets.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"

enum { BUCKETS = 1 << 14, CHECK_EVERY = 1 << 10 };

/* A node's place in the list of its bucket; before == itself where it is in none. */
struct link {
    uint32_t before, after;
};

struct ny_buckets {
    struct ny_context *ctx;
    const struct ny_edges *graph;
    double step;                 /* width of a bucket */
    struct ny_page_cache *pages; /* NULL: the graph is in memory */
    uint32_t *bucket;            /* the first node of each */
    struct link *link;
    uint32_t waiting; /* nodes in buckets */
};

/* Tells whether a node is in a bucket. */
static bool waits(const struct ny_buckets *buckets, uint32_t node)
{
    return buckets->link[node].before != node;
}

/* Returns the bucket of a distance; distances may go around the ring more than once. */
static uint32_t bucket_of(const struct ny_buckets *buckets, float distance)
{
    return (uint32_t)((uint64_t)((double)distance / buckets->step) % BUCKETS);
}

/* Takes a node out of the list of its bucket. */
static void leave(struct ny_buckets *buckets, uint32_t node, uint32_t bucket)
{
    struct link *link = &buckets->link[node];

    if (link->before == NY_NO_ROW)
        buckets->bucket[bucket] = link->after;
    else
        buckets->link[link->before].after = link->after;
    if (link->after != NY_NO_ROW) buckets->link[link->after].before = link->before;
    link->before = node;
    buckets->waiting--;
}

/* Puts a node in front of the list of a bucket. */
static void enter(struct ny_buckets *buckets, uint32_t node, uint32_t bucket)
{
    struct link *link = &buckets->link[node];

    *link = (struct link){NY_NO_ROW, buckets->bucket[bucket]};
    if (link->after != NY_NO_ROW) buckets->link[link->after].before = node;
    buckets->bucket[bucket] = node;
    buckets->waiting++;
}

/* *at, which is `node`'s, becomes less. */
static void come_nearer(struct ny_buckets *buckets, uint32_t node, float *at, float distance)
{
    uint32_t new = bucket_of(buckets, distance), old;

    if (waits(buckets, node)) {
        old = bucket_of(buckets, *at);
        if (old != new) leave(buckets, node, old);
    }
    if (!waits(buckets, node)) enter(buckets, node, new);
    *at = distance;
}

/* Prefetches the edges of the nodes that are next in the bucket of `node`. */
static void fetch(const struct ny_buckets *buckets, uint32_t node)
{
    const struct ny_edges *graph = buckets->graph;
    uint32_t next = buckets->link[node].after;

    if (next == NY_NO_ROW || buckets->pages) return;
    __builtin_prefetch(graph->target + graph->head[next]);
    __builtin_prefetch(graph->length + graph->head[next]);
    next = buckets->link[next].after;
    if (next == NY_NO_ROW) return;
    __builtin_prefetch(graph->head + next);
    __builtin_prefetch(buckets->link + next);
}

int ny_buckets_run(struct ny_buckets *buckets, const struct ny_reach *reach, uint32_t source)
{
    const struct ny_edges *graph = buckets->graph;
    const size_t stride = reach->stride;
    uint32_t now = 0, taken = 0;
    int err = NY_OK;

    come_nearer(buckets, source, &reach->distance[source * stride], 0);
    while (buckets->waiting && err == NY_OK) {
        uint32_t v = buckets->bucket[now];
        struct ny_edge_page page;
        float near;

        if (v == NY_NO_ROW) {
            now = (now + 1) % BUCKETS;
            continue;
        }
        fetch(buckets, v);
        leave(buckets, v, now);
        near = reach->distance[v * stride];
        page = ny_page_with(graph, buckets->pages, v);
        for (uint64_t e = page.head[v - page.first]; e < page.head[v - page.first + 1]; e++) {
            uint32_t w = page.target[e];
            float through = near + page.length[e], *at = &reach->distance[w * stride];

            if (through < *at && (!reach->within || reach->within[w]))
                come_nearer(buckets, w, at, through);
        }
        if (++taken % CHECK_EVERY == 0) err = ny_check_interrupt(buckets->ctx);
    }
    return err ? err : ny_page_cache_error(buckets->pages);
}

/* ---- room ----------------------------------------------------------------------------------- */

/* All edges reach less than once around the ring. */
static double step_of(const struct ny_edges *graph)
{
    double step = fmax(graph->mean_length / 4, graph->longest / (BUCKETS - 2));

    return step > 0 ? step : 1;
}

int ny_buckets_new(struct ny_buckets **out, const struct ny_edges *graph)
{
    struct ny_buckets *buckets = ny_calloc(graph->ctx, NY_MEM_TILES, 1, sizeof(*buckets));
    int err;

    *out = NULL;
    if (!buckets) return NY_EBUDGET;
    *buckets = (struct ny_buckets){.ctx = graph->ctx, .graph = graph, .step = step_of(graph)};
    buckets->link = ny_calloc(graph->ctx, NY_MEM_TILES, graph->n, sizeof(*buckets->link));
    buckets->bucket = ny_calloc(graph->ctx, NY_MEM_TILES, BUCKETS, sizeof(uint32_t));
    err = buckets->link && buckets->bucket ? ny_page_cache_new(&buckets->pages, graph) : NY_EBUDGET;
    if (err) {
        ny_buckets_free(buckets);
        return err;
    }
    ny_buckets_take_back(buckets);
    for (uint32_t b = 0; b < BUCKETS; b++)
        buckets->bucket[b] = NY_NO_ROW;
    *out = buckets;
    return NY_OK;
}

static_assert(sizeof(struct link) == NY_LENT_BYTES, "what is lent");

struct ny_page_cache *ny_buckets_pages(struct ny_buckets *buckets)
{
    return buckets->pages;
}

void *ny_buckets_lend(struct ny_buckets *buckets)
{
    return buckets->link;
}

void ny_buckets_take_back(struct ny_buckets *buckets)
{
    for (uint32_t v = 0; v < buckets->graph->n; v++)
        buckets->link[v].before = v;
}

void ny_buckets_free(struct ny_buckets *buckets)
{
    if (!buckets) return;
    ny_page_cache_free(buckets->pages);
    ny_free(buckets->ctx, buckets->link);
    ny_free(buckets->ctx, buckets->bucket);
    ny_free(buckets->ctx, buckets);
}

size_t ny_buckets_bytes(uint64_t nodes)
{
    const size_t small_bytes = 2048;

    return (size_t)nodes * sizeof(struct link) + BUCKETS * sizeof(uint32_t) + small_bytes;
}
