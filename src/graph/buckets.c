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

#include "graph/heap.h"
#include "graph/relax.h"

/* Mean edges that a stretch is long. */
enum { STRETCH = 8 };

struct ny_buckets {
    const struct ny_edges *graph;
    struct ny_page_cache *pages; /* NULL: the graph is in memory */
    ny_relax_fn *relax;
    float stretch;
    uint8_t *waits; /* n: whether the edges of a node are to be tried */
    struct ny_patch_heap heap;
    struct ny_patch_queue queue;
};

void ny_buckets_wait(struct ny_buckets *buckets, uint32_t node, float key)
{
    buckets->waits[node] = 1;
    ny_patch_heap_put(&buckets->heap, ny_patch_of(&buckets->graph->patches, node), key);
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
        uint32_t patch = ny_patch_heap_pop(&buckets->heap, &key);

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
    struct ny_patch_heap *heap = &buckets->heap;
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
        uint32_t patch = ny_patch_heap_pop(heap, &at.from);

        at.first = first[patch];
        at.count = first[patch + 1] - at.first;
        at.until = fminf(at.from + buckets->stretch, until);
        at.edges = buckets->pages ? *ny_page_of(buckets->pages, patch)
                                  : ny_page_with(graph, NULL, at.first);
        buckets->relax(&at);
        if (at.rest < INFINITY) ny_patch_heap_put(heap, patch, at.rest);
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
    ny_patch_heap_lay(l, &buckets->heap, graph);
    buckets->pages = ny_page_cache_lay(l, graph);
    return ny_laid(l, buckets);
}
