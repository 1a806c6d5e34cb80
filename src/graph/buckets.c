/*
 * Searches patch by patch (graph/buckets.h). Batches of paths (graph/paths.c), the forming of
 * batches (graph/batches.c), the path between two rows (results/path.c) and the selection maxmin
 * (maps/isomap.c) call it.
 *
 * A stretch is far enough that a patch is not fetched too often, and not so far that nodes are
 * passed by fronts that later ones put right. Which of both counts more was measured. A patch and
 * all that is known of its nodes is in cache meanwhile, so that a search takes less time than one
 * of buckets of the whole graph, also in small worlds, and reads few pages of a graph in a file:
 * those around the front.
 */
#include "graph/buckets.h"

#include <math.h>
#include <string.h>

#include "graph/relax.h"

/* Mean edges that a stretch is long. */
enum { STRETCH = 8 };

/* ---- patches that wait, by a key: a binary heap ---------------------------------------------- */

struct heap {
    uint32_t *patch; /* count */
    uint32_t *place; /* patches: where in it, or NY_NO_ROW */
    float *key;      /* patches: ∞ where it does not wait */
    uint32_t count;
};

static void heap_set(struct heap *heap, uint32_t at, uint32_t patch)
{
    heap->patch[at] = patch;
    heap->place[patch] = at;
}

/* The patch waits, by this key or a lower one that it has. */
static void heap_put(struct heap *heap, uint32_t patch, float key)
{
    uint32_t at = heap->place[patch];

    if (key >= heap->key[patch]) return;
    heap->key[patch] = key;
    if (at == NY_NO_ROW) at = heap->count++;
    for (; at > 0; at = (at - 1) / 2) {
        uint32_t above = heap->patch[(at - 1) / 2];

        if (heap->key[above] <= key) break;
        heap_set(heap, at, above);
    }
    heap_set(heap, at, patch);
}

/* Takes out the patch with the least key; there has to be one. */
static uint32_t heap_pop(struct heap *heap, float *key)
{
    uint32_t top = heap->patch[0], last = heap->patch[--heap->count], at = 0;

    *key = heap->key[top];
    heap->place[top] = NY_NO_ROW;
    heap->key[top] = INFINITY;
    if (!heap->count) return top;
    for (;;) {
        uint32_t below = 2 * at + 1;

        if (below + 1 < heap->count &&
            heap->key[heap->patch[below + 1]] < heap->key[heap->patch[below]])
            below++;
        if (below >= heap->count || heap->key[last] <= heap->key[heap->patch[below]]) break;
        heap_set(heap, at, heap->patch[below]);
        at = below;
    }
    heap_set(heap, at, last);
    return top;
}

static void lay_heap(struct ny_layout *l, struct heap *heap, const struct ny_edges *graph)
{
    const uint32_t patches = graph->patches.count;

    heap->count = 0;
    heap->patch = ny_lay(l, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->place = ny_lay(l, NY_MEM_TILES, patches, sizeof(uint32_t));
    heap->key = ny_lay(l, NY_MEM_TILES, patches, sizeof(float));
    for (uint32_t p = 0; p < patches && heap->key; p++) {
        heap->place[p] = NY_NO_ROW;
        heap->key[p] = INFINITY;
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

struct ny_buckets {
    const struct ny_edges *graph;
    struct ny_page_cache *pages; /* NULL: the graph is in memory */
    ny_relax_fn *relax;
    float stretch;
    uint8_t *waits; /* n: whether the edges of a node are to be tried */
    struct heap heap;
    struct ny_patch_queue queue;
};

void ny_buckets_wait(struct ny_buckets *buckets, uint32_t node, float key)
{
    buckets->waits[node] = 1;
    heap_put(&buckets->heap, ny_patch_of(&buckets->graph->patches, node), key);
}

bool ny_buckets_left(const struct ny_buckets *buckets)
{
    return buckets->heap.count;
}

void ny_buckets_forget(struct ny_buckets *buckets)
{
    const uint32_t *first = buckets->graph->patches.first;
    float key;

    while (buckets->heap.count) {
        uint32_t patch = heap_pop(&buckets->heap, &key);

        memset(buckets->waits + first[patch], 0, first[patch + 1] - first[patch]);
    }
}

static void wake(void *arg, uint32_t node, float key)
{
    ny_buckets_wait(arg, node, key);
}

int ny_buckets_go(struct ny_buckets *buckets, const struct ny_reach *reach, float until,
                  uint64_t most)
{
    const struct ny_edges *graph = buckets->graph;
    const uint32_t *first = graph->patches.first;
    struct heap *heap = &buckets->heap;
    struct ny_patch at = {.distance = reach->distance,
                          .stride = reach->stride,
                          .lanes = reach->lanes ? reach->lanes : 1,
                          .key = reach->key,
                          .within = reach->within,
                          .radius = reach->radius,
                          .waits = buckets->waits,
                          .queue = &buckets->queue,
                          .wake = wake,
                          .arg = buckets};
    int err = NY_OK;

    while (heap->count && heap->key[heap->patch[0]] <= until && at.relaxed <= most &&
           err == NY_OK) {
        uint32_t patch = heap_pop(heap, &at.from);

        at.first = first[patch];
        at.count = first[patch + 1] - at.first;
        at.until = fminf(at.from + buckets->stretch, until);
        at.edges = buckets->pages ? *ny_page_of(buckets->pages, patch)
                                  : ny_page_with(graph, NULL, at.first);
        buckets->relax(&at);
        if (at.rest < INFINITY) heap_put(heap, patch, at.rest);
        err = ny_check_interrupt(graph->ctx);
    }
    return err ? err : ny_page_cache_error(buckets->pages);
}

int ny_buckets_run(struct ny_buckets *buckets, const struct ny_reach *reach, uint32_t source)
{
    reach->distance[source * reach->stride] = 0;
    ny_buckets_wait(buckets, source, 0);
    return ny_buckets_go(buckets, reach, INFINITY, UINT64_MAX);
}

/* ---- room ----------------------------------------------------------------------------------- */

struct ny_page_cache *ny_buckets_pages(struct ny_buckets *buckets)
{
    return buckets->pages;
}

struct ny_buckets *ny_buckets_lay(struct ny_layout *l, const struct ny_edges *graph)
{
    struct ny_buckets spare, *buckets = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);

    *buckets = (struct ny_buckets){
        .graph = graph, .relax = ny_relax(), .stretch = (float)(STRETCH * graph->mean_length)};
    ny_patch_queue_clear(&buckets->queue);
    buckets->waits = ny_lay(l, NY_MEM_TILES, graph->n, sizeof(*buckets->waits));
    lay_heap(l, &buckets->heap, graph);
    buckets->pages = ny_page_cache_lay(l, graph);
    return ny_laid(l, buckets);
}
