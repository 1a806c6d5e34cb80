#include "graph/relax.h"

NY_CPU_FAMILIES(ny_relax_fn, ny_relax)

ny_relax_fn *ny_relax(void)
{
    return ny_relax_families[ny_cpu_family()];
}

void ny_patch_queue_clear(struct ny_patch_queue *queue)
{
    for (size_t b = 0; b < NY_PATCH_BUCKETS; b++)
        queue->head[b] = NY_NO_NEXT;
    for (size_t i = 0; i < NY_PATCH_NODES; i++)
        queue->before[i] = NY_IN_NONE;
}
