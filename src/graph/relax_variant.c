/* Relaxing a patch's edges for NY_LANES sources at once; compiled once for each CPU family. */
#include <string.h>

#include "base/vector.h"
#include "graph/relax.h"

typedef float floats_t __attribute__((vector_size(NY_VECTOR_BYTES)));

/* A node's distances are so many registers. */
enum { PARTS = NY_LANES * sizeof(float) / NY_VECTOR_BYTES };

static inline floats_t choose(ny_vector_bits where, floats_t a, floats_t b)
{
    return (floats_t)(((ny_vector_bits)a & where) | ((ny_vector_bits)b & ~where));
}

/* to ← min(to, from + length), lane by lane, without a branch: whether that changed it. `news` is
 * what came, ∞ where nothing did. */
static inline bool relax(const floats_t *from, float length, floats_t *to, floats_t *news)
{
    ny_vector_bits changed = {0};

    for (int i = 0; i < PARTS; i++) {
        floats_t through = from[i] + length;
        ny_vector_bits nearer = through < to[i];

        to[i] = choose(nearer, through, to[i]);
        news[i] = choose(nearer, through, (floats_t){0} + __builtin_inff());
        changed |= nearer;
    }
    return ny_vector_any(changed);
}

static inline float least(const floats_t *news)
{
    float lane[NY_LANES], low = __builtin_inff();

    memcpy(lane, news, sizeof(lane));
    for (int l = 0; l < NY_LANES; l++)
        low = lane[l] < low ? lane[l] : low;
    return low;
}

extern ny_relax_fn NY_VARIANT_NAME(ny_relax);

/* What the patch is about to read, from memory. */
static inline void fetch(const struct ny_patch *patch)
{
    const struct ny_edges *graph = patch->graph;
    uint64_t end = graph->head[patch->first + patch->count];

    for (uint32_t i = 0; i < patch->count; i++)
        __builtin_prefetch(patch->distance + (size_t)(patch->first + i) * NY_LANES, 1, 2);
    for (uint64_t e = graph->head[patch->first]; e < end; e += 16) {
        __builtin_prefetch(graph->target + e, 0, 2);
        __builtin_prefetch(graph->length + e, 0, 2);
    }
}

void NY_VARIANT_NAME(ny_relax)(const struct ny_patch *patch)
{
    /* Copies, as `waits` is of bytes, which may be anything's. */
    const struct ny_edges graph = *patch->graph;
    const uint32_t first = patch->first, count = patch->count;
    float *const distance = patch->distance;
    uint8_t *const waits = patch->waits;
    uint32_t begin = 0, end = 0, *const queue = patch->queue;

    fetch(patch);
    for (uint32_t v = first; v < first + count; v++)
        if (waits[v]) queue[end++ % NY_PATCH_NODES] = v;
    while (begin != end) {
        uint32_t v = queue[begin++ % NY_PATCH_NODES];
        floats_t from[PARTS], news[PARTS];

        memcpy(from, distance + (size_t)v * NY_LANES, sizeof(from));
        waits[v] = 0;
        for (uint64_t e = graph.head[v], stop = graph.head[v + 1]; e < stop; e++) {
            uint32_t w = graph.target[e];
            float *to = distance + (size_t)w * NY_LANES;
            bool nearer = relax(from, graph.length[e], (floats_t *)to, news);

            if (w - first < count) { /* it waits from now on, if it did not before */
                nearer &= !waits[w];
                waits[w] |= nearer;
                queue[end % NY_PATCH_NODES] = w;
                end += nearer;
            } else if (nearer) {
                patch->wake(patch->arg, w, least(news), to);
            }
        }
    }
}
