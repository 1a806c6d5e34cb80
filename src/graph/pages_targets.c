/* The other ends of edges by rows, from the file in which graph/pages_build.c has them while
 * graph/order.c finds the numbers of the nodes: a few at a time, as a node has few. */
#include <string.h>

#include "graph/pages.h"

uint32_t ny_pages_target(const struct ny_edges *graph, uint64_t e)
{
    struct ny_targets *targets = graph->pages->targets;

    if (e - targets->first >= targets->count) {
        uint64_t left = graph->head[graph->n] - e;

        targets->first = e;
        targets->count = left < NY_TARGETS ? left : NY_TARGETS;
        if (!targets->err)
            targets->err = ny_scratch_get(&targets->file, targets->window,
                                          targets->count * sizeof(uint32_t), e * sizeof(uint32_t));
        if (targets->err) memset(targets->window, 0, sizeof(targets->window));
    }
    return targets->window[e - targets->first];
}

int ny_pages_targets_error(const struct ny_edges *graph)
{
    return graph->pages->targets->err;
}
