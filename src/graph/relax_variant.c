/* Relaxing an edge for NY_LANES sources at once; compiled once for each CPU family. */
#include "graph/relax.h"

#include "base/cpu.h"

/* to ← min(to, from + length), lane by lane; the least of what changed, ∞ where nothing did. */
static inline float relax(const float *restrict from, float length, float *restrict to)
{
    float least = __builtin_inff();

    for (int l = 0; l < NY_LANES; l++) {
        float through = from[l] + length;
        float changed = through < to[l] ? through : __builtin_inff();

        to[l] = through < to[l] ? through : to[l];
        least = changed < least ? changed : least;
    }
    return least;
}

extern ny_relax_fn NY_VARIANT_NAME(ny_relax);

void NY_VARIANT_NAME(ny_relax)(const struct ny_patch *patch)
{
    const struct ny_edges *graph = patch->graph;
    uint32_t begin = 0, end = 0, *queue = patch->queue;

    for (uint32_t i = 0; i < patch->count; i++)
        if (patch->waits[patch->first + i]) queue[end++ % NY_PATCH_NODES] = patch->first + i;
    while (begin != end) {
        uint32_t v = queue[begin++ % NY_PATCH_NODES];
        const float *from = patch->distance + (size_t)v * NY_LANES;

        patch->waits[v] = 0;
        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
            uint32_t w = graph->target[e];
            float key = relax(from, graph->length[e], patch->distance + (size_t)w * NY_LANES);

            if (key == __builtin_inff()) continue;
            if (w - patch->first >= patch->count) {
                patch->wake(patch->arg, w, key);
            } else if (!patch->waits[w]) {
                patch->waits[w] = 1;
                queue[end++ % NY_PATCH_NODES] = w;
            }
        }
    }
}
