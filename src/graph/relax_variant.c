/* Relaxing a patch's edges for all sources of a batch at once; compiled once for each CPU family.
 */
#include <string.h>

#include "base/vector.h"
#include "graph/relax.h"

typedef float floats_t __attribute__((vector_size(NY_VECTOR_BYTES)));

typedef float few_t __attribute__((vector_size(NY_FEW_LANES * sizeof(float))));
typedef int32_t few_bits_t __attribute__((vector_size(NY_FEW_LANES * sizeof(float))));

/* A node's distances from NY_LANES sources are so many registers. */
enum { PARTS = NY_LANES * sizeof(float) / NY_VECTOR_BYTES };

static inline floats_t choose(ny_vector_bits where, floats_t a, floats_t b)
{
    return (floats_t)(((ny_vector_bits)a & where) | ((ny_vector_bits)b & ~where));
}

/* to ← min(to, from + length), lane by lane, without a branch. Tells whether that changed it. */
static inline bool relax(const floats_t *from, float length, floats_t *to)
{
    ny_vector_bits changed = {0};

    for (int i = 0; i < PARTS; i++) {
        floats_t through = from[i] + length;
        ny_vector_bits nearer = through < to[i];

        to[i] = choose(nearer, through, to[i]);
        changed |= nearer;
    }
    return ny_vector_any(changed);
}

/* Does for NY_FEW_LANES sources what relax() does for NY_LANES. */
static inline bool relax_few(few_t from, float length, few_t *to)
{
    few_t through = from + length;
    few_bits_t nearer = through < *to;
    uint64_t word[sizeof(nearer) / sizeof(uint64_t)];

    *to = (few_t)(((few_bits_t)through & nearer) | ((few_bits_t)*to & ~nearer));
    memcpy(word, &nearer, sizeof(word));
    return (word[0] | word[1]) != 0;
}

extern ny_relax_fn NY_VARIANT_NAME(ny_relax);

/* The nodes of a patch that wait, by their places in its order. */
enum { WORD = 64, WORDS = NY_PATCH_NODES / WORD };

struct waiting {
    uint64_t bits[WORDS + 1]; /* the last: an end */
    uint32_t word;            /* none in those before */
    uint16_t node[NY_PATCH_NODES];
};

static inline void wait_at(struct waiting *waiting, uint32_t place, bool waits)
{
    uint32_t word = place / WORD;

    waiting->bits[word] |= (uint64_t)waits << place % WORD;
    waiting->word = waits && word < waiting->word ? word : waiting->word;
}

/* Collects the nodes that wait, and prefetches the data that the stretch is about to read. */
static inline void gather(const struct ny_patch *patch, size_t lanes, struct waiting *waiting)
{
    const struct ny_edge_page *edges = &patch->edges;
    const uint16_t *place = patch->place + patch->first;

    memset(waiting->bits, 0, sizeof(waiting->bits));
    waiting->bits[WORDS] = 1;
    waiting->word = WORDS;
    for (uint32_t i = 0; i < patch->count; i++) {
        uint32_t v = patch->first + i;

        waiting->node[place[i]] = (uint16_t)i;
        wait_at(waiting, place[i], patch->waits[v]);
        if (patch->centre[v] < patch->from || patch->centre[v] > patch->until) continue;
        __builtin_prefetch(patch->distance + (size_t)v * lanes, 1, 3);
        __builtin_prefetch(edges->target + edges->head[v - edges->first], 0, 3);
        __builtin_prefetch(edges->length + edges->head[v - edges->first], 0, 3);
    }
}

/* `lanes` is a constant where this is compiled into its callers. */
static inline __attribute__((always_inline)) void relax_patch(struct ny_patch *patch, size_t lanes)
{
    /* Copies, as `waits` is of bytes, which may be anything's. */
    const struct ny_edge_page edges = patch->edges;
    const uint32_t first = patch->first, count = patch->count;
    const uint16_t *const place = patch->place;
    float *const distance = patch->distance;
    uint8_t *const waits = patch->waits;
    struct waiting waiting;
    uint64_t relaxed = 0;

    gather(patch, lanes, &waiting);
    for (;; relaxed++) {
        floats_t from[PARTS];
        few_t few;
        uint32_t v;

        while (!waiting.bits[waiting.word])
            waiting.word++;
        if (waiting.word == WORDS) break;
        v = first +
            waiting
                .node[waiting.word * WORD + (uint32_t)__builtin_ctzll(waiting.bits[waiting.word])];
        if (patch->centre[v] > patch->until) {
            patch->wake(patch->arg, v);
            break;
        }
        waiting.bits[waiting.word] &= waiting.bits[waiting.word] - 1;
        waits[v] = 0;
        if (lanes == NY_LANES)
            memcpy(from, distance + (size_t)v * lanes, sizeof(from));
        else
            memcpy(&few, distance + (size_t)v * lanes, sizeof(few));
        for (uint64_t e = edges.head[v - edges.first], stop = edges.head[v - edges.first + 1];
             e < stop; e++) {
            uint32_t w = edges.target[e];
            float *to = distance + (size_t)w * lanes;
            bool nearer = lanes == NY_LANES ? relax(from, edges.length[e], (floats_t *)to)
                                            : relax_few(few, edges.length[e], (few_t *)to);

            if (w - first < count) {
                waits[w] |= nearer;
                wait_at(&waiting, place[w], nearer);
            } else if (nearer) {
                patch->wake(patch->arg, w);
            }
        }
    }
    patch->relaxed += relaxed;
}

void NY_VARIANT_NAME(ny_relax)(struct ny_patch *patch)
{
    if (patch->lanes == NY_LANES)
        relax_patch(patch, NY_LANES);
    else
        relax_patch(patch, NY_FEW_LANES);
}
