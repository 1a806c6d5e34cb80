#include "graph/relax.h"

#define DECLARE(variant, family) extern ny_relax_fn ny_relax_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

ny_relax_fn *ny_relax(void)
{
    static ny_relax_fn *const families[NY_CPU_COUNT] = {
#define ENTRY(variant, family) [family] = ny_relax_##variant,
        NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
    };

    return families[ny_cpu_family()];
}

void ny_patch_queue_clear(struct ny_patch_queue *queue)
{
    for (size_t b = 0; b < NY_PATCH_BUCKETS; b++)
        queue->head[b] = NY_NO_NEXT;
    for (size_t i = 0; i < NY_PATCH_NODES; i++)
        queue->before[i] = NY_IN_NONE;
}
