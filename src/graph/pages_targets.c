/* The other ends of edges, from the file in which graph/pages_build.c has them while graph/order.c
 * finds the numbers of the nodes. Nodes that are near one another mostly have their edges in the
 * same blocks of it, where the nodes begin in such an order (graph/near_rows.h). */
#include <string.h>

#include "graph/pages.h"

/* Reads a block into its window. */
static void load(const struct ny_edges *graph, uint64_t block)
{
    struct ny_targets *targets = graph->pages->targets;
    uint64_t first = block * NY_TARGETS, left = graph->head[graph->n] - first;
    size_t count = left < NY_TARGETS ? (size_t)left : NY_TARGETS;
    uint32_t *window = targets->window[block % NY_TARGET_WINDOWS];

    targets->block[block % NY_TARGET_WINDOWS] = block + 1;
    if (!targets->err)
        targets->err = ny_scratch_get(&targets->file, window, count * sizeof(uint32_t),
                                      first * sizeof(uint32_t));
    if (targets->err) memset(targets->window, 0, sizeof(targets->window));
}

uint32_t ny_pages_target(const struct ny_edges *graph, uint64_t e)
{
    const struct ny_targets *targets = graph->pages->targets;
    uint64_t block = e / NY_TARGETS;

    if (targets->block[block % NY_TARGET_WINDOWS] != block + 1) load(graph, block);
    return targets->window[block % NY_TARGET_WINDOWS][e % NY_TARGETS];
}

int ny_pages_targets_error(const struct ny_edges *graph)
{
    return graph->pages->targets->err;
}
